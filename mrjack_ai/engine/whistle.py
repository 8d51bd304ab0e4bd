"""Goodley's whistle, compiled: 5.6 and 5.7."""

from __future__ import annotations

import numpy as np

from mrjack_ai.engine.bits import ONE, ZERO, bit, has, integer, lowest
from mrjack_ai.engine.compile import helper
from mrjack_ai.engine.geometry import whistle_ends
from mrjack_ai.engine.tables import WHISTLE_STEPS
from mrjack_ai.engine.types import ActionKind, Integers, StateRecord, TablesRecord

# One function for each number of steps left: a function that calls itself crashes the process
# when numba loads its callers from the cache (numba 0.68.1).


@helper
def spend_one(s: StateRecord, t: TablesRecord, goodley: int, occupied: np.uint64, free: int) -> int:
    """Most steps spendable (0 or 1) with one left; `free` masks the seats not yet whistled."""
    for seat in range(t["seats"]):
        if free >> seat & 1:
            if whistle_ends(s, t, goodley, s["position"][seat], 1) & ~occupied != ZERO:
                return 1
    return 0


@helper
def spend_two(s: StateRecord, t: TablesRecord, goodley: int, occupied: np.uint64, free: int) -> int:
    """Most steps spendable (0 to 2) with two left."""
    for seat in range(t["seats"]):
        if free >> seat & 1:
            if whistle_ends(s, t, goodley, s["position"][seat], 2) & ~occupied != ZERO:
                return 2
    best = 0
    for seat in range(t["seats"]):
        if free >> seat & 1:
            here = s["position"][seat]
            ends = whistle_ends(s, t, goodley, here, 1) & ~occupied
            while ends != ZERO:
                best = 1
                moved = (occupied & ~bit(here)) | bit(lowest(ends))
                if spend_one(s, t, goodley, moved, free & ~(1 << seat)) == 1:
                    return 2
                ends &= ends - ONE
    return best


@helper
def spend_three(
    s: StateRecord, t: TablesRecord, goodley: int, occupied: np.uint64, free: int
) -> int:
    """Most steps spendable (0 to 3) with three left."""
    for seat in range(t["seats"]):
        if free >> seat & 1:
            if whistle_ends(s, t, goodley, s["position"][seat], 3) & ~occupied != ZERO:
                return 3
    best = 0
    for steps in range(2, 0, -1):
        for seat in range(t["seats"]):
            if free >> seat & 1:
                here = s["position"][seat]
                ends = whistle_ends(s, t, goodley, here, steps) & ~occupied
                while ends != ZERO:
                    moved = (occupied & ~bit(here)) | bit(lowest(ends))
                    rest = free & ~(1 << seat)
                    if steps == 2:
                        total = 2 + spend_one(s, t, goodley, moved, rest)
                    else:
                        total = 1 + spend_two(s, t, goodley, moved, rest)
                    if total == 3:
                        return 3
                    best = max(best, total)
                    ends &= ends - ONE
    return best


@helper
def spendable(
    s: StateRecord, t: TablesRecord, goodley: int, occupied: np.uint64, free: int, steps: int
) -> int:
    """Most steps that walks can spend with `steps` left."""
    if steps >= 3:
        return spend_three(s, t, goodley, occupied, free)
    if steps == 2:
        return spend_two(s, t, goodley, occupied, free)
    if steps == 1:
        return spend_one(s, t, goodley, occupied, free)
    return 0


@helper
def not_whistled(s: StateRecord, t: TablesRecord) -> int:
    """Mask of the seats that may still be whistled in this play: never Goodley himself."""
    return integer(t["cast"]) & ~(integer(s["whistled"]) | (1 << integer(s["seat"])))


@helper
def whistle_spendable(s: StateRecord, t: TablesRecord, steps: int) -> int:
    """Most of `steps` steps that can be spent from the present position."""
    goodley = s["position"][s["seat"]]
    return spendable(s, t, goodley, s["occupied"], not_whistled(s, t), steps)


@helper
def list_whistles(s: StateRecord, t: TablesRecord, steps: int, out: Integers, count: int) -> int:
    """Append the legal walks: those after which the most steps can still be spent (5.7)."""
    goodley = s["position"][s["seat"]]
    occupied = s["occupied"]
    free = not_whistled(s, t)
    most = spendable(s, t, goodley, occupied, free, steps)
    base = t["base"][ActionKind.WHISTLE]
    for seat in range(t["seats"]):
        if free >> seat & 1:
            here = s["position"][seat]
            rest = free & ~(1 << seat)
            left_behind = occupied & ~bit(here)
            ends = ZERO
            for walked in range(1, most + 1):
                ends |= whistle_ends(s, t, goodley, here, walked)
            ends &= ~occupied
            while ends != ZERO:
                end = lowest(ends)
                ends &= ends - ONE
                for walked in range(1, most + 1):
                    if not has(whistle_ends(s, t, goodley, here, walked), end):
                        continue
                    need = most - walked
                    if need == 0 or (
                        spendable(s, t, goodley, left_behind | bit(end), rest, need) == need
                    ):
                        out[count] = base + (seat * t["hexes"] + end) * WHISTLE_STEPS + walked - 1
                        count += 1
    return count
