"""What numba does not write by itself: mathematics with the same bits everywhere, vector code."""

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
LANES = 32  # numbers that add_multiples handles at once, at least
ODD = tuple(float(n) for n in range(23, 0, -2))


@kernel
def exp(x):
    """Return e to the power x, within 2 ulp; 0 below -700, and no greater beyond 700."""
    # no early return: loops that call this become vector code
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
    """Ask the processor to bring ``array[i]`` (first axis, a valid index) near, and go on."""

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
        # to read, into all caches but the first, data. The first has room for 500 lines, where a
        # choice among 17 actions fetches 2,000, and waits for few of them at a time
        builder.call(function, [address, flag(0), flag(2), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), codegen


@intrinsic
def copy_state(typingctx, target, source, n):
    """Copy the first `n` numbers of a state."""
    # a bitboard is read as 64 bits: of a copy made by 32 bits each, that has to wait

    def codegen(context, builder, signature, values):
        arrays = zip(signature.args, values[:2])
        to, of = (context.make_array(t)(context, builder, v).data for t, v in arrays)
        cgutils.raw_memcpy(builder, to, of, values[2], 4, 4)
        return context.get_dummy_value()

    return types.void(target, source, types.int64), codegen


@intrinsic
def add_multiples(typingctx, result, start, matrix, rows, factors, n):
    """Write ``start[f] + sum over k < n of factors[k] * matrix[rows[k], f]`` into ``result[f]``."""
    # all uint32; sums of 32 neighbouring f stay in registers, the last 32 may overlap those before;
    # `result` is not `start`, and has at least LANES elements

    def codegen(context, builder, signature, values):
        i64, vector = ir.IntType(64), ir.VectorType(ir.IntType(32), 8)
        undefined = ir.Constant(vector, ir.Undefined)
        arrays = [
            context.make_array(t)(context, builder, v) for t, v in zip(signature.args, values[:5])
        ]
        to, source, table, which, scale = (a.data for a in arrays)
        width = builder.extract_value(arrays[0].shape, 0)
        last = builder.sub(width, i64(LANES))

        def load(pointer, at):
            return builder.load(
                builder.bitcast(builder.gep(pointer, [at]), vector.as_pointer()), align=4
            )

        blocks = builder.udiv(builder.add(width, i64(LANES - 1)), i64(LANES))
        with cgutils.for_range(builder, blocks, intp=i64) as block:
            begin = builder.mul(block.index, i64(LANES))
            begin = builder.select(builder.icmp_unsigned("<", begin, last), begin, last)
            places = [builder.add(begin, i64(8 * k)) for k in range(LANES // 8)]
            sums = [cgutils.alloca_once_value(builder, load(source, at)) for at in places]
            with cgutils.for_range(builder, values[5], intp=i64) as k:
                number = builder.load(builder.gep(which, [k.index]))
                row = builder.mul(builder.zext(number, i64), width)
                factor = builder.load(builder.gep(scale, [k.index]))
                one = builder.insert_element(undefined, factor, ir.IntType(32)(0))
                factors = builder.shuffle_vector(one, one, ir.Constant(vector, [0] * 8))
                for total, at in zip(sums, places):
                    multiple = builder.mul(factors, load(table, builder.add(row, at)))
                    builder.store(builder.add(builder.load(total), multiple), total)
            for total, at in zip(sums, places):
                place = builder.bitcast(builder.gep(to, [at]), vector.as_pointer())
                builder.store(builder.load(total), place, align=4)
        return context.get_dummy_value()

    return types.void(result, start, matrix, rows, factors, types.int64), codegen


@intrinsic
def four_sums(typingctx, array, first, n):
    """Return four sums of every fourth of ``array[first : first + n]``, without the last n % 4."""

    def codegen(context, builder, signature, values):
        i64, lanes = ir.IntType(64), ir.VectorType(ir.DoubleType(), 4)
        own = context.make_array(signature.args[0])(context, builder, values[0])
        element = own.data.type.pointee
        total = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * 4))
        with cgutils.for_range(builder, builder.udiv(values[2], i64(4)), intp=i64) as k:
            at = builder.gep(own.data, [builder.add(values[1], builder.mul(k.index, i64(4)))])
            term = builder.load(
                builder.bitcast(at, ir.VectorType(element, 4).as_pointer()), align=4
            )
            if element != ir.DoubleType():
                term = builder.fpext(term, lanes)
            builder.store(builder.fadd(builder.load(total), term), total)
        found = builder.load(total)
        return context.make_tuple(
            builder,
            signature.return_type,
            [builder.extract_element(found, ir.IntType(32)(k)) for k in range(4)],
        )

    return types.UniTuple(types.float64, 4)(array, types.int64, types.int64), codegen
