"""exp, log and tanh, written out so that they give the same bits on every machine."""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compile import kernel

LN2_HIGH = 6.93147180369123816490e-01  # ln 2 with 21 zero bits at the end: k * LN2_HIGH is exact
LN2_LOW = 1.90821492927058770002e-10
FACTORIALS = tuple(float(math.factorial(n)) for n in range(12, -1, -1))
ODD = tuple(float(n) for n in range(23, 0, -2))


def _reinterpreted(source, target, llvm_type):
    @intrinsic
    def bits_kept(typingctx, x):
        def codegen(context, builder, signature, values):
            return builder.bitcast(values[0], llvm_type)

        return target(source), codegen

    return bits_kept


_as_float = _reinterpreted(types.int64, types.float64, ir.DoubleType())
_as_bits = _reinterpreted(types.float64, types.int64, ir.IntType(64))


@kernel
def exp(x):
    """Return e to the power x, within 2 ulp, the same bits on every machine.

    The result is 0 below -700 and does not grow above 700.
    """
    # no early return: loops that call this become vector code
    y = 700.0 if x > 700.0 else -700.0 if x < -700.0 else x
    k = np.floor(y * 1.4426950408889634 + 0.5)
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    p = 1.0 / 6227020800.0
    for c in FACTORIALS:
        p = p * r + 1.0 / c
    return 0.0 if x < -700.0 else p * _as_float((np.int64(k) + 1023) << 52)


@kernel
def log(x):
    """Return ln x of a positive normal x, within 3 ulp, the same bits on every machine."""
    bits = _as_bits(np.float64(x))
    k = ((bits >> 52) & 0x7FF) - 1023
    m = _as_float((bits & 0xFFFFFFFFFFFFF) | (np.int64(1023) << 52))
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
    """Return the hyperbolic tangent, absolute error below 3e-16, the same bits on every machine."""
    e = exp(-2.0 * abs(x))
    t = (1.0 - e) / (1.0 + e)
    return t if x >= 0.0 else -t
