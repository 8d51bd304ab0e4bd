"""What an ability can do now, compiled: section 5."""

from __future__ import annotations

import numpy as np

from mrjack_ai.engine.bits import ONE, ZERO, integer, lowest
from mrjack_ai.engine.compile import helper
from mrjack_ai.engine.tables import WHISTLE_STEPS
from mrjack_ai.engine.types import ActionKind, Integers, StateRecord, TablesRecord
from mrjack_ai.engine.whistle import list_whistles, whistle_spendable
from mrjack_ai.setup.characters import Ability


@helper
def ability_usable(s: StateRecord, t: TablesRecord) -> bool:
    """True when the open ability of the character being played has something to do now."""
    ability = t["seat_ability"][s["seat"]]
    if ability == Ability.LAMP:
        return s["lit"] != ZERO and s["lit"] != t["lamps"]
    if ability == Ability.CORDON:
        return s["cordons"] != ZERO and s["cordons"] != t["exits"]
    if ability == Ability.COVER:
        return s["covered"] != ZERO and s["covered"] != t["manholes"]
    if ability == Ability.WHISTLE:
        return whistle_spendable(s, t, WHISTLE_STEPS) > 0
    if ability == Ability.DRAW:
        # Cards are never put back (5.1); Jack's own card is not in the pile.
        return integer(s["draws"][0]) + integer(s["draws"][1]) < t["seats"] - 1
    return True


@helper
def list_pairs(
    sources: np.uint64, targets: np.uint64, base: int, places: int, out: Integers, count: int
) -> int:
    """Append the ids of 'from a to b' for each a in `sources` and b in `targets`."""
    while sources != ZERO:
        source = lowest(sources)
        sources &= sources - ONE
        left = targets
        while left != ZERO:
            target = lowest(left)
            left &= left - ONE
            rank = target if target < source else target - 1
            out[count] = base + source * (places - 1) + rank
            count += 1
    return count


@helper
def list_covers(s: StateRecord, t: TablesRecord, out: Integers, count: int) -> int:
    """Append the moves of one cover to an open manhole; pairs count manholes, not hexes."""
    sources = s["covered"]
    base, places = t["base"][ActionKind.COVER], t["manhole_places"]
    while sources != ZERO:
        source = t["manhole_rank"][lowest(sources)]
        sources &= sources - ONE
        left = t["manholes"] & ~s["covered"]
        while left != ZERO:
            target = t["manhole_rank"][lowest(left)]
            left &= left - ONE
            rank = target if target < source else target - 1
            out[count] = base + source * (places - 1) + rank
            count += 1
    return count


@helper
def list_ability(s: StateRecord, t: TablesRecord, out: Integers, count: int) -> int:
    """Append the uses of the open ability of the character being played."""
    ability = t["seat_ability"][s["seat"]]
    if ability == Ability.SWAP:
        for other in range(t["seats"]):
            if other != s["seat"]:
                out[count] = t["base"][ActionKind.SWAP] + other
                count += 1
    elif ability == Ability.LAMP:
        lit, lamps = s["lit"], t["lamps"]
        base = t["base"][ActionKind.LAMP]
        count = list_pairs(lit, lamps & ~lit, base, t["lamp_places"], out, count)
    elif ability == Ability.CORDON:
        cordons, exits = s["cordons"], t["exits"]
        base = t["base"][ActionKind.CORDON]
        count = list_pairs(cordons, exits & ~cordons, base, t["exit_places"], out, count)
    elif ability == Ability.COVER:
        count = list_covers(s, t, out, count)
    elif ability == Ability.WHISTLE:
        count = list_whistles(s, t, WHISTLE_STEPS, out, count)
    return count


@helper
def manhole_bit(t: TablesRecord, rank: int) -> np.uint64:
    """Hex set of one manhole, given its index among the manholes."""
    holes = t["manholes"]
    for _ in range(rank):
        holes &= holes - ONE
    return holes & (~holes + ONE)
