"""What numba does not offer: functions with the same bits on every machine, and vector code."""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .compile import kernel

LN2_HIGH = 6.93147180369123816490e-01  # ln 2 with 21 zero bits at the end: k * LN2_HIGH is exact
LN2_LOW = 1.90821492927058770002e-10
FACTORIALS = tuple(float(math.factorial(n)) for n in range(12, -1, -1))
FOUR = 4  # neighbouring numbers that `add_rows_of_four` adds at once
LANES = 32  # numbers that `add_multiples` adds at once, and needs at least
ODD = tuple(float(n) for n in range(23, 0, -2))


@kernel
def exp(x):
    """Return e to the power x, within 2 ulp; 0 below -700, and no greater beyond 700."""
    # No early return, so that loops that call this become vector code.
    y = 700.0 if x > 700.0 else -700.0 if x < -700.0 else x
    k = np.floor(y * 1.4426950408889634 + 0.5)
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    p = 1.0 / 6227020800.0
    for c in FACTORIALS:
        p = p * r + 1.0 / c
    return 0.0 if x < -700.0 else p * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@kernel
def log(x):
    """Return ln x of a positive normal x, within 3 ulp."""
    bits = np.float64(x).view(np.int64)
    k = ((bits >> 52) & 0x7FF) - 1023
    m = np.int64((bits & 0xFFFFFFFFFFFFF) | (np.int64(1023) << 52)).view(np.float64)
    if m > 1.4142135623730951:
        m *= 0.5
        k += 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.0 / 25.0
    for n in ODD:
        p = p * z + 1.0 / n
    return k * LN2_HIGH + (2.0 * s * p + k * LN2_LOW)


@kernel
def tanh(x):
    """Return the hyperbolic tangent of x, absolute error below 3e-16."""
    e = exp(-2.0 * abs(x))
    t = (1.0 - e) / (1.0 + e)
    return t if x >= 0.0 else -t


@intrinsic
def prefetch(typingctx, array, i):
    """Begin to load ``array[i]`` into the caches; `i` is a valid index of the first axis."""

    def codegen(context, builder, signature, values):
        data = context.make_array(signature.args[0])(context, builder, values[0])
        row = builder.mul(values[1], builder.extract_value(data.strides, 0))
        address = cgutils.pointer_add(builder, data.data, row, ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag]),
            "llvm.prefetch.p0",
        )
        # Only the caches beyond the first are filled. The first has room for 500 lines and waits
        # for few of them at a time, while a choice among 17 actions fetches 2,000.
        to_read = flag(0)
        without_first_cache = flag(2)
        of_data = flag(1)
        builder.call(function, [address, to_read, without_first_cache, of_data])
        return context.get_dummy_value()

    return types.void(array, types.uint64), codegen


@intrinsic
def copy_state(typingctx, target, source, n):
    """Copy the first `n` numbers of a state."""
    # Not a loop over int32: rules read bitboards as 64 bits, and the processor would have to wait
    # for two copies of 32 bits each.

    def codegen(context, builder, signature, values):
        target_type, source_type, _ = signature.args
        target_data = context.make_array(target_type)(context, builder, values[0]).data
        source_data = context.make_array(source_type)(context, builder, values[1]).data
        cgutils.raw_memcpy(builder, target_data, source_data, values[2], 4, 4)
        return context.get_dummy_value()

    return types.void(target, source, types.int64), codegen


@intrinsic
def add_multiples(typingctx, result, start, matrix, rows, factors, n):
    """Write ``start[f] + sum over k < n of factors[k] * matrix[rows[k], f]`` into ``result[f]``."""
    # All arrays are uint32. The sums of 32 neighbouring f stay in registers. The last block may
    # overlap the one before it, so `result` is not `start`, and has at least LANES elements.

    def codegen(context, builder, signature, values):
        i64 = ir.IntType(64)
        vector = ir.VectorType(ir.IntType(32), 8)
        undefined = ir.Constant(vector, ir.Undefined)
        arrays = []
        for array_type, value in zip(signature.args, values[:5]):
            arrays.append(context.make_array(array_type)(context, builder, value))
        result_data, start_data, matrix_data, rows_data, factors_data = [a.data for a in arrays]
        width = builder.extract_value(arrays[0].shape, 0)
        last_begin = builder.sub(width, i64(LANES))

        def vector_at(pointer, position):
            return builder.bitcast(builder.gep(pointer, [position]), vector.as_pointer())

        def load(pointer, position):
            return builder.load(vector_at(pointer, position), align=4)

        num_blocks = builder.udiv(builder.add(width, i64(LANES - 1)), i64(LANES))
        with cgutils.for_range(builder, num_blocks, intp=i64) as block:
            begin = builder.mul(block.index, i64(LANES))
            begin = builder.select(builder.icmp_unsigned("<", begin, last_begin), begin, last_begin)
            positions = [builder.add(begin, i64(8 * k)) for k in range(LANES // 8)]
            sums = []
            for position in positions:
                sums.append(cgutils.alloca_once_value(builder, load(start_data, position)))
            with cgutils.for_range(builder, values[5], intp=i64) as k:
                row = builder.load(builder.gep(rows_data, [k.index]))
                row_begin = builder.mul(builder.zext(row, i64), width)
                factor = builder.load(builder.gep(factors_data, [k.index]))
                first_lane = builder.insert_element(undefined, factor, ir.IntType(32)(0))
                all_lanes = ir.Constant(vector, [0] * 8)
                factor_vector = builder.shuffle_vector(first_lane, first_lane, all_lanes)
                for total, position in zip(sums, positions):
                    summand = load(matrix_data, builder.add(row_begin, position))
                    multiple = builder.mul(factor_vector, summand)
                    builder.store(builder.add(builder.load(total), multiple), total)
            for total, position in zip(sums, positions):
                place = vector_at(result_data, position)
                builder.store(builder.load(total), place, align=4)
        return context.get_dummy_value()

    return types.void(result, start, matrix, rows, factors, types.int64), codegen


@intrinsic
def four_sums(typingctx, array, first, n):
    """Return four sums of every fourth of ``array[first : first + n]``, without the last n % 4.

    They are float64, also of a float32 `array`.
    """

    def codegen(context, builder, signature, values):
        i64 = ir.IntType(64)
        four_doubles = ir.VectorType(ir.DoubleType(), 4)
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        element = data.type.pointee
        total = cgutils.alloca_once_value(builder, ir.Constant(four_doubles, [0.0] * 4))
        with cgutils.for_range(builder, builder.udiv(values[2], i64(4)), intp=i64) as k:
            position = builder.add(values[1], builder.mul(k.index, i64(4)))
            pointer = builder.gep(data, [position])
            vector_pointer = builder.bitcast(pointer, ir.VectorType(element, 4).as_pointer())
            summand = builder.load(vector_pointer, align=4)
            if element != ir.DoubleType():
                summand = builder.fpext(summand, four_doubles)
            builder.store(builder.fadd(builder.load(total), summand), total)
        totals = builder.load(total)
        sums = [builder.extract_element(totals, ir.IntType(32)(k)) for k in range(4)]
        return context.make_tuple(builder, signature.return_type, sums)

    return types.UniTuple(types.float64, 4)(array, types.int64, types.int64), codegen


@intrinsic
def add_rows_of_four(typingctx, table, base, index, first, n, sums):
    """Write sums of the FOUR numbers from ``table[base + i]`` on, over i in some indices.

    These are ``index[first : first + n]``. Every one of the `sums` (float64) has four partial sums,
    of every fourth number, and the first of them also has the last n % 4. `table` may be float32.
    """

    def codegen(context, builder, signature, values):
        i64 = ir.IntType(64)
        four_doubles = ir.VectorType(ir.DoubleType(), FOUR)
        _, base_value, _, first_value, n_value, _ = values
        pointers = {}
        for k in (0, 2, 5):
            array = context.make_array(signature.args[k])(context, builder, values[k])
            pointers[k] = array.data
        table_data, index_data, sums_data = pointers.values()
        element = table_data.type.pointee
        zeros = ir.Constant(four_doubles, [0.0] * FOUR)
        totals = [cgutils.alloca_once_value(builder, zeros) for _ in range(4)]

        def add(place, total):
            i = builder.load(builder.gep(index_data, [builder.add(first_value, place)]))
            pointer = builder.gep(table_data, [builder.add(base_value, builder.zext(i, i64))])
            vector_pointer = builder.bitcast(pointer, ir.VectorType(element, FOUR).as_pointer())
            summand = builder.load(vector_pointer, align=context.get_abi_alignment(element))
            if element != ir.DoubleType():
                summand = builder.fpext(summand, four_doubles)
            builder.store(builder.fadd(builder.load(total), summand), total)

        num_rounds = builder.udiv(n_value, i64(4))
        with cgutils.for_range(builder, num_rounds, intp=i64) as k:
            for part, total in enumerate(totals):
                add(builder.add(builder.mul(k.index, i64(4)), i64(part)), total)
        last = builder.mul(num_rounds, i64(4))
        with cgutils.for_range(builder, builder.sub(n_value, last), intp=i64) as k:
            add(builder.add(last, k.index), totals[0])
        s0, s1, s2, s3 = map(builder.load, totals)
        result = builder.fadd(builder.fadd(s0, s1), builder.fadd(s2, s3))
        place = builder.bitcast(sums_data, four_doubles.as_pointer())
        builder.store(result, place, align=8)
        return context.get_dummy_value()

    u64 = types.uint64
    return types.void(table, u64, index, u64, u64, sums), codegen
