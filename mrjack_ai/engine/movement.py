"""Where a character can walk and who is seen, compiled: sections 4, 6.1 and 7.

Like the other modules of the rules it works on records: `s` is a `STATE`, `t` a `TABLES` record.
Numbers in comments are those of docs/rules.md.
"""

from __future__ import annotations

import numpy as np

from mrjack_ai.engine.bits import ONE, ZERO, bit, has, integer, lowest
from mrjack_ai.engine.compile import helper
from mrjack_ai.engine.geometry import beam, one_step, within_steps
from mrjack_ai.engine.tables import NO_SEAT
from mrjack_ai.engine.types import ActionKind, Integers, Player, StateRecord, TablesRecord


@helper
def reach(s: StateRecord, t: TablesRecord, walk: int, hex: int, steps: int) -> np.uint64:
    """Street hexes within `steps` steps, open manholes used, `hex` included (4.2-4.5).

    One step leads from any open manhole to any other, so nothing is gained by entering a second
    one: the nearest open manhole is entered, and the rest is walked from all of them.
    """
    steps = integer(steps)
    within = within_steps(s, t, walk, hex, steps)
    open_holes = t["manholes"] & ~s["covered"]
    for entered in range(steps):
        if within_steps(s, t, walk, hex, entered) & open_holes != ZERO:
            left = steps - entered - 1
            holes = open_holes
            while holes != ZERO:
                within |= within_steps(s, t, walk, lowest(holes), left)
                holes &= holes - ONE
            break
    return within


@helper
def lit_hexes(s: StateRecord, t: TablesRecord) -> np.uint64:
    """Street hexes next to a lit gaslight or in Watson's beam (6.1)."""
    lit = ZERO
    lamps = s["lit"]
    while lamps != ZERO:
        lit |= t["lamp_light"][lowest(lamps)]
        lamps &= lamps - ONE
    if t["light_seat"] != NO_SEAT:
        lit |= beam(s, t, s["position"][t["light_seat"]], s["light"])
    return lit


@helper
def visible_seats(s: StateRecord, t: TablesRecord) -> int:
    """Mask of the seats that are visible now (6.1)."""
    return visible_by(s, t, lit_hexes(s, t))


@helper
def visible_by(s: StateRecord, t: TablesRecord, lit: np.uint64) -> int:
    """Mask of the seats that are visible by the light of these hexes."""
    occupied = s["occupied"]
    visible = 0
    for seat in range(t["seats"]):
        hex = s["position"][seat]
        if has(lit, hex) or one_step(s, t, hex) & occupied != ZERO:
            visible |= 1 << seat
    return visible


@helper
def open_exits(s: StateRecord, t: TablesRecord, seat: int) -> np.uint64:
    """Exits without a cordon that the character in `seat` could walk out of now (7.1)."""
    within = reach(s, t, t["seat_walk"][seat], s["position"][seat], t["seat_range"][seat] - 1)
    found = ZERO
    free = t["exits"] & ~s["cordons"]
    while free != ZERO:
        exit = lowest(free)
        if t["exit_bit"][exit] & within != ZERO:
            found |= bit(exit)
        free &= free - ONE
    return found


@helper
def list_moves(s: StateRecord, t: TablesRecord, out: Integers, count: int) -> int:
    """Append moves, accusations (7.2) and escapes (7.1) of the character being played."""
    seat = s["seat"]
    here = s["position"][seat]
    within = reach(s, t, t["seat_walk"][seat], here, t["seat_range"][seat])
    if s["player"] == Player.DETECTIVE:
        base = t["base"][ActionKind.ACCUSE]
        for other in range(t["seats"]):
            if other != seat and has(within, s["position"][other]):
                out[count] = base + other
                count += 1
    elif seat == s["jack"] and s["seen"] == 0:
        exits = open_exits(s, t, seat)
        while exits != ZERO:
            out[count] = t["base"][ActionKind.ESCAPE] + lowest(exits)
            count += 1
            exits &= exits - ONE
    ends = within & ~s["occupied"]
    base = t["base"][ActionKind.MOVE]
    while ends != ZERO:
        out[count] = base + lowest(ends)
        count += 1
        ends &= ends - ONE
    return count
