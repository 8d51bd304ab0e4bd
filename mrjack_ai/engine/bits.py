"""64-bit sets and a small random generator for kernels.

Every constant that meets a `uint64` is written `np.uint64(...)`: mixed with a signed integer,
numba would go on in `int64` or `float64` and lose the upper bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from mrjack_ai.engine.compile import JIT_DISABLED, helper
from mrjack_ai.engine.types import GeneratorRecord

integer: Any = np.int64
"""Widens a byte of a record; without it NumPy in plain Python would go on in `uint8`."""

ZERO = np.uint64(0)
ONE = np.uint64(1)

if JIT_DISABLED:

    def popcount(word: np.uint64) -> int:
        return int(word).bit_count()

    def lowest(word: np.uint64) -> int:
        number = int(word)
        return (number & -number).bit_length() - 1

    def next_random(generator: GeneratorRecord) -> np.uint64:
        mask = (1 << 64) - 1
        state = (int(generator["state"]) + 0x9E3779B97F4A7C15) & mask
        generator["state"] = np.uint64(state)
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        return np.uint64(mixed ^ (mixed >> 31))

else:

    @intrinsic
    def popcount(typing_context: Any, word: Any) -> Any:
        """Number of set bits of a `uint64`, as `int64`."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate

    @intrinsic
    def lowest(typing_context: Any, word: Any) -> Any:
        """Index of the lowest set bit of a non-zero `uint64`, as `int64`."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            from llvmlite import ir

            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.uint64), generate

    @helper
    def next_random(generator: GeneratorRecord) -> np.uint64:
        """Advance the generator (record with a `uint64` field `state`) and return 64 bits.

        SplitMix64 (Steele, Lea, Flood 2014): equidistributed, one word of state, any seed is good.
        """
        state = generator["state"] + np.uint64(0x9E3779B97F4A7C15)
        generator["state"] = state
        mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


@helper
def bit(index: int) -> np.uint64:
    """The set that holds one index, 0 to 63."""
    return ONE << np.uint64(index)


@helper
def has(word: np.uint64, index: int) -> bool:
    """True when the index is in the set."""
    return (word >> np.uint64(index)) & ONE != ZERO


@helper
def nth_bit(word: np.uint64, n: int) -> int:
    """Index of the set bit with `n` set bits below it."""
    for _ in range(n):
        word &= word - ONE
    return lowest(word)


@helper
def random_below(generator: GeneratorRecord, n: int) -> int:
    """A number from 0 to n - 1; n is below 2**16, so the bias is below 2**-16."""
    high = next_random(generator) >> np.uint64(32)
    return integer((high * np.uint64(n)) >> np.uint64(32))
