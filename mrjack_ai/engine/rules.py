"""The rules as compiled helpers on records: `s` is a `STATE`, `t` a `TABLES` record.

Numbers in comments are those of RULES.md. Functions here change `s` in place and trust their
arguments; the checked entry points are in `mrjack_ai.engine.kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mrjack_ai.engine.bits import ONE, ZERO, bit, has, integer, lowest
from mrjack_ai.engine.compile import helper
from mrjack_ai.engine.layout import (
    CAUGHT,
    CHANCE,
    DAWN,
    DETECTIVE,
    ESCAPE,
    JACK,
    NODE_AIM,
    NODE_ALIBI,
    NODE_DEAL,
    NODE_JACK,
    NODE_PICK,
    NODE_TERMINAL,
    NODE_USE,
    NODE_WHISTLE,
    NOT_ENDED,
    TERMINAL,
    WRONG_ACCUSATION,
)
from mrjack_ai.engine.tables import ACCUSE as DO_ACCUSE
from mrjack_ai.engine.tables import CORDON as DO_CORDON
from mrjack_ai.engine.tables import COVER as DO_COVER
from mrjack_ai.engine.tables import ESCAPE as DO_ESCAPE
from mrjack_ai.engine.tables import LAMP as DO_LAMP
from mrjack_ai.engine.tables import LIGHT as DO_LIGHT
from mrjack_ai.engine.tables import MOVE as DO_MOVE
from mrjack_ai.engine.tables import NO_SEAT, WHISTLE_STEPS
from mrjack_ai.engine.tables import PICK as DO_PICK
from mrjack_ai.engine.tables import STAY as DO_STAY
from mrjack_ai.engine.tables import SWAP as DO_SWAP
from mrjack_ai.engine.tables import WHISTLE as DO_WHISTLE
from mrjack_ai.setup.board import DIRECTIONS
from mrjack_ai.setup.characters import (
    ABILITY_AIM,
    ABILITY_CORDON,
    ABILITY_COVER,
    ABILITY_DRAW,
    ABILITY_LAMP,
    ABILITY_NONE,
    ABILITY_SWAP,
    ABILITY_WHISTLE,
)
from mrjack_ai.setup.variant import MAX_SEATS, MAX_TURNS

Record = Any
N_DIRECTIONS = len(DIRECTIONS)


# --- geometry -------------------------------------------------------------------------------


@helper
def reach(s: Record, t: Record, walk: int, hex: int, steps: int) -> np.uint64:
    """Street hexes within `steps` steps, open manholes used, `hex` included (4.2-4.5).

    One step leads from any open manhole to any other, so nothing is gained by entering a second
    one: the nearest open manhole is entered, and the rest is walked from all of them.
    """
    steps = integer(steps)
    within = t["ball"][walk, hex, steps]
    open_holes = t["manholes"] & ~s["covered"]
    for entered in range(steps):
        if t["ball"][walk, hex, entered] & open_holes != ZERO:
            left = steps - entered - 1
            holes = open_holes
            while holes != ZERO:
                within |= t["ball"][walk, lowest(holes), left]
                holes &= holes - ONE
            break
    return within


@helper
def lit_hexes(s: Record, t: Record) -> np.uint64:
    """Street hexes next to a lit gaslight or in Watson's beam (6.1)."""
    lit = ZERO
    lamps = s["lit"]
    while lamps != ZERO:
        lit |= t["lamp_light"][lowest(lamps)]
        lamps &= lamps - ONE
    if t["light_seat"] != NO_SEAT:
        lit |= t["beam"][s["position"][t["light_seat"]], s["light"]]
    return lit


@helper
def visible_seats(s: Record, t: Record) -> int:
    """Mask of the seats that are visible now (6.1)."""
    return visible_by(s, t, lit_hexes(s, t))


@helper
def visible_by(s: Record, t: Record, lit: np.uint64) -> int:
    """Mask of the seats that are visible by the light of these hexes."""
    occupied = s["occupied"]
    visible = 0
    for seat in range(t["seats"]):
        hex = s["position"][seat]
        if has(lit, hex) or t["neighbours"][hex] & occupied != ZERO:
            visible |= 1 << seat
    return visible


@helper
def open_exits(s: Record, t: Record, seat: int) -> np.uint64:
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


# --- the whistle (5.6, 5.7) -----------------------------------------------------------------
# One function for each number of steps left: a function that calls itself crashes the process
# when numba loads its callers from the cache (numba 0.68.1).


@helper
def spend_one(s: Record, t: Record, goodley: int, occupied: np.uint64, free: int) -> int:
    """Most steps spendable (0 or 1) with one left; `free` masks the seats not yet whistled."""
    for seat in range(t["seats"]):
        if free >> seat & 1:
            if t["whistle"][goodley, s["position"][seat], 0] & ~occupied != ZERO:
                return 1
    return 0


@helper
def spend_two(s: Record, t: Record, goodley: int, occupied: np.uint64, free: int) -> int:
    """Most steps spendable (0 to 2) with two left."""
    for seat in range(t["seats"]):
        if free >> seat & 1:
            if t["whistle"][goodley, s["position"][seat], 1] & ~occupied != ZERO:
                return 2
    best = 0
    for seat in range(t["seats"]):
        if free >> seat & 1:
            here = s["position"][seat]
            ends = t["whistle"][goodley, here, 0] & ~occupied
            while ends != ZERO:
                best = 1
                moved = (occupied & ~bit(here)) | bit(lowest(ends))
                if spend_one(s, t, goodley, moved, free & ~(1 << seat)) == 1:
                    return 2
                ends &= ends - ONE
    return best


@helper
def spend_three(s: Record, t: Record, goodley: int, occupied: np.uint64, free: int) -> int:
    """Most steps spendable (0 to 3) with three left."""
    for seat in range(t["seats"]):
        if free >> seat & 1:
            if t["whistle"][goodley, s["position"][seat], 2] & ~occupied != ZERO:
                return 3
    best = 0
    for steps in range(2, 0, -1):
        for seat in range(t["seats"]):
            if free >> seat & 1:
                here = s["position"][seat]
                ends = t["whistle"][goodley, here, steps - 1] & ~occupied
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
    s: Record, t: Record, goodley: int, occupied: np.uint64, free: int, steps: int
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
def not_whistled(s: Record, t: Record) -> int:
    """Mask of the seats that may still be whistled in this play: never Goodley himself."""
    return integer(t["cast"]) & ~(integer(s["whistled"]) | (1 << integer(s["seat"])))


@helper
def whistle_spendable(s: Record, t: Record, steps: int) -> int:
    """Most of `steps` steps that can be spent from the present position."""
    goodley = s["position"][s["seat"]]
    return spendable(s, t, goodley, s["occupied"], not_whistled(s, t), steps)


@helper
def list_whistles(s: Record, t: Record, steps: int, out: np.ndarray, count: int) -> int:
    """Append the legal walks: those after which the most steps can still be spent (5.7)."""
    goodley = s["position"][s["seat"]]
    occupied = s["occupied"]
    free = not_whistled(s, t)
    most = spendable(s, t, goodley, occupied, free, steps)
    base = t["base"][DO_WHISTLE]
    for seat in range(t["seats"]):
        if free >> seat & 1:
            here = s["position"][seat]
            rest = free & ~(1 << seat)
            left_behind = occupied & ~bit(here)
            ends = ZERO
            for walked in range(1, most + 1):
                ends |= t["whistle"][goodley, here, walked - 1]
            ends &= ~occupied
            while ends != ZERO:
                end = lowest(ends)
                ends &= ends - ONE
                for walked in range(1, most + 1):
                    if not has(t["whistle"][goodley, here, walked - 1], end):
                        continue
                    need = most - walked
                    if need == 0 or (
                        spendable(s, t, goodley, left_behind | bit(end), rest, need) == need
                    ):
                        out[count] = base + (seat * t["hexes"] + end) * WHISTLE_STEPS + walked - 1
                        count += 1
    return count


# --- legal actions --------------------------------------------------------------------------


@helper
def ability_usable(s: Record, t: Record) -> bool:
    """True when the open ability of the character being played has something to do now."""
    ability = t["seat_ability"][s["seat"]]
    if ability == ABILITY_LAMP:
        return s["lit"] != ZERO and s["lit"] != t["lamps"]
    if ability == ABILITY_CORDON:
        return s["cordons"] != ZERO and s["cordons"] != t["exits"]
    if ability == ABILITY_COVER:
        return s["covered"] != ZERO and s["covered"] != t["manholes"]
    if ability == ABILITY_WHISTLE:
        return whistle_spendable(s, t, WHISTLE_STEPS) > 0
    if ability == ABILITY_DRAW:
        # Cards are never put back (5.1); Jack's own card is not in the pile.
        return integer(s["draws"][0]) + integer(s["draws"][1]) < t["seats"] - 1
    return True


@helper
def list_pairs(
    sources: np.uint64, targets: np.uint64, base: int, places: int, out: np.ndarray, count: int
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
def list_covers(s: Record, t: Record, out: np.ndarray, count: int) -> int:
    """Append the moves of one cover to an open manhole; pairs count manholes, not hexes."""
    sources = s["covered"]
    base, places = t["base"][DO_COVER], t["manhole_places"]
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
def list_moves(s: Record, t: Record, out: np.ndarray, count: int) -> int:
    """Append moves, accusations (7.2) and escapes (7.1) of the character being played."""
    seat = s["seat"]
    here = s["position"][seat]
    within = reach(s, t, t["seat_walk"][seat], here, t["seat_range"][seat])
    if s["player"] == DETECTIVE:
        base = t["base"][DO_ACCUSE]
        for other in range(t["seats"]):
            if other != seat and has(within, s["position"][other]):
                out[count] = base + other
                count += 1
    elif seat == s["jack"] and s["seen"] == 0:
        exits = open_exits(s, t, seat)
        while exits != ZERO:
            out[count] = t["base"][DO_ESCAPE] + lowest(exits)
            count += 1
            exits &= exits - ONE
    ends = within & ~s["occupied"]
    base = t["base"][DO_MOVE]
    while ends != ZERO:
        out[count] = base + lowest(ends)
        count += 1
        ends &= ends - ONE
    return count


@helper
def list_ability(s: Record, t: Record, out: np.ndarray, count: int) -> int:
    """Append the uses of the open ability of the character being played."""
    ability = t["seat_ability"][s["seat"]]
    if ability == ABILITY_SWAP:
        for other in range(t["seats"]):
            if other != s["seat"]:
                out[count] = t["base"][DO_SWAP] + other
                count += 1
    elif ability == ABILITY_LAMP:
        lit, lamps = s["lit"], t["lamps"]
        count = list_pairs(lit, lamps & ~lit, t["base"][DO_LAMP], t["lamp_places"], out, count)
    elif ability == ABILITY_CORDON:
        cordons, exits = s["cordons"], t["exits"]
        base = t["base"][DO_CORDON]
        count = list_pairs(cordons, exits & ~cordons, base, t["exit_places"], out, count)
    elif ability == ABILITY_COVER:
        count = list_covers(s, t, out, count)
    elif ability == ABILITY_WHISTLE:
        count = list_whistles(s, t, WHISTLE_STEPS, out, count)
    return count


@helper
def list_legal(s: Record, t: Record, out: np.ndarray) -> int:
    """Write the legal actions (outcome ids at chance nodes) in ascending order.

    Returns:
        How many there are; 0 exactly at the end of the game.
    """
    node = s["node"]
    count = 0
    if node == NODE_PICK:
        for seat in range(t["seats"]):
            if integer(s["remaining"]) >> seat & 1:
                out[count] = t["base"][DO_PICK] + seat
                count += 1
    elif node == NODE_USE:
        if s["moved"] == 0:
            count = list_moves(s, t, out, count)
        if s["ability"] == 1:
            count = list_ability(s, t, out, count)
        if count == 0:
            out[0] = t["base"][DO_STAY]  # 4.6
            count = 1
    elif node == NODE_WHISTLE:
        count = list_whistles(s, t, s["steps"], out, count)
    elif node == NODE_AIM:
        for direction in range(N_DIRECTIONS):
            out[count] = t["base"][DO_LIGHT] + direction
            count += 1
    elif node == NODE_JACK:
        for seat in range(t["seats"]):
            out[count] = seat
            count += 1
    elif node == NODE_DEAL:
        for outcome in range(t["deals"]):
            out[count] = outcome
            count += 1
    elif node == NODE_ALIBI:
        pile = alibi_pile(s, t)
        for seat in range(t["seats"]):
            if pile >> seat & 1:
                out[count] = seat
                count += 1
    return count


@helper
def alibi_pile(s: Record, t: Record) -> int:
    """Mask of the seats whose alibi cards are still in the pile."""
    drawn = integer(s["drawn"][0] | s["drawn"][1])
    return integer(t["cast"]) & ~(drawn | (1 << integer(s["jack"])))


@helper
def public_suspects(s: Record, t: Record) -> int:
    """Mask of the seats that everybody holds possible: not cleared, not exonerated by a `stay`."""
    return integer(t["cast"]) & ~integer(s["cleared"] | s["ruled_out"])


@helper
def detective_suspects(s: Record, t: Record) -> int:
    """Mask of the seats the Detective holds possible: his alibi cards count too."""
    return public_suspects(s, t) & ~integer(s["drawn"][DETECTIVE])


@helper
def plays_left(s: Record, t: Record, player: int, first: int) -> int:
    """Cards `player` plays this turn from the play with index `first` on."""
    plays = 0
    for play in range(first, t["seats"] // 2):
        plays += t["play_order"][s["turn"] & 1, play] == player
    return plays


# --- applying actions -----------------------------------------------------------------------


@helper
def set_up(s: Record, t: Record) -> None:
    """Section 2: the position before Jack draws his card. `s` must hold zeroes only."""
    for seat in range(MAX_SEATS):
        s["position"][seat] = t["start_position"][seat]
        if seat < t["seats"]:
            s["occupied"] |= bit(t["start_position"][seat])
    for number in range(MAX_TURNS):
        s["tile_place"][number] = t["start_tile_place"][number]
    s["covered"] = t["start_covered"]
    s["lit"] = t["start_lit"]
    s["cordons"] = t["start_cordons"]
    s["node"] = NODE_JACK
    s["player"] = CHANCE
    s["jack"] = NO_SEAT
    s["seen"] = 1
    s["light"] = t["start_light"]
    s["seat"] = NO_SEAT
    s["accused"] = NO_SEAT


@helper
def end_game(s: Record, ending: int) -> None:
    s["node"] = NODE_TERMINAL
    s["player"] = TERMINAL
    s["ending"] = ending


@helper
def start_turn(s: Record, t: Record) -> None:
    """3.1: cards are dealt on odd turns; on even turns the other half is face up."""
    s["turn"] += 1
    s["play"] = 0
    if s["turn"] & 1:
        s["dealt"] = 0
        s["remaining"] = 0
        s["node"] = NODE_DEAL
        s["player"] = CHANCE
    else:
        s["remaining"] = integer(t["cast"]) & ~integer(s["dealt"])
        start_play(s, t)


@helper
def start_play(s: Record, t: Record) -> None:
    s["node"] = NODE_PICK
    s["player"] = t["play_order"][s["turn"] & 1, s["play"]]


@helper
def call_witnesses(s: Record, t: Record) -> None:
    """6.2, 6.3: clear those who do not match Jack, and turn the witness card."""
    visible = visible_seats(s, t)
    if visible >> s["jack"] & 1:
        s["seen"] = 1
        s["cleared"] |= integer(t["cast"]) & ~visible
    else:
        s["seen"] = 0
        s["cleared"] |= visible


@helper
def end_turn(s: Record, t: Record) -> None:
    """3.4, 7.3."""
    if s["turn"] == t["turns"]:
        end_game(s, DAWN)
        return
    call_witnesses(s, t)
    number = s["turn"] - 1
    place = s["tile_place"][number]
    if place != NO_SEAT:
        s["lit"] &= ~bit(place)
        s["tile_place"][number] = NO_SEAT
    start_turn(s, t)


@helper
def end_play(s: Record, t: Record) -> None:
    s["remaining"] &= ~(1 << s["seat"])
    s["seat"] = NO_SEAT
    s["moved"] = 0
    s["ability"] = 0
    s["steps"] = 0
    s["whistled"] = 0
    s["play"] += 1
    if s["remaining"] == 0:
        end_turn(s, t)
    else:
        start_play(s, t)


@helper
def go_on(s: Record, t: Record) -> None:
    """Find the next node of the play in progress, or end it."""
    if s["steps"] > 0:
        if whistle_spendable(s, t, s["steps"]) > 0:
            s["node"] = NODE_WHISTLE
            return
        s["steps"] = 0
    s["whistled"] = 0
    if s["moved"] == 0:
        s["node"] = NODE_USE
        return
    if s["ability"] == 1 and ability_usable(s, t):
        ability = t["seat_ability"][s["seat"]]
        if ability == ABILITY_DRAW:
            s["node"] = NODE_ALIBI
            s["player"] = CHANCE
        elif ability == ABILITY_AIM:
            s["node"] = NODE_AIM
        else:
            s["node"] = NODE_USE
        return
    end_play(s, t)


@helper
def go_on_after(s: Record, t: Record, carried: int) -> None:
    """As `go_on`, but first aim the lantern when its bearer was just whistled or swapped (5.3)."""
    if carried == t["light_seat"]:
        s["node"] = NODE_AIM
    else:
        go_on(s, t)


@helper
def place(s: Record, seat: int, hex: int) -> None:
    s["occupied"] = (s["occupied"] & ~bit(s["position"][seat])) | bit(hex)
    s["position"][seat] = hex


@helper
def apply_chance(s: Record, t: Record, outcome: int) -> None:
    """Apply the outcome of a chance node."""
    if s["node"] == NODE_JACK:
        s["jack"] = outcome
        start_turn(s, t)
    elif s["node"] == NODE_DEAL:
        s["dealt"] = t["deal_mask"][outcome]
        s["remaining"] = s["dealt"]
        start_play(s, t)
    else:
        player = drawing_player(s, t)
        s["drawn"][player] |= 1 << outcome
        s["draws"][player] += 1
        s["ability"] = 0
        end_play(s, t)


@helper
def drawing_player(s: Record, t: Record) -> int:
    """Who draws the alibi card at an alibi node: whoever plays the card (5.1)."""
    return integer(t["play_order"][s["turn"] & 1, s["play"]])


@helper
def apply_player(s: Record, t: Record, action: int) -> None:
    """Apply a legal action of a player."""
    kind = t["kind"][action]
    first = t["argument"][action, 0]
    second = t["argument"][action, 1]
    if kind == DO_PICK:
        s["seat"] = first
        s["ability"] = t["seat_ability"][first] != ABILITY_NONE
        s["node"] = NODE_USE
    elif kind == DO_MOVE:
        place(s, s["seat"], first)
        s["moved"] = 1
        if t["seat_ability"][s["seat"]] == ABILITY_SWAP:
            s["ability"] = 0  # 5.5: moves or swaps, never both
        go_on(s, t)
    elif kind == DO_LIGHT:
        s["light"] = first
        if t["seat_ability"][s["seat"]] == ABILITY_AIM:
            s["ability"] = 0
        go_on(s, t)
    elif kind == DO_LAMP:
        s["lit"] = (s["lit"] & ~bit(first)) | bit(second)
        for number in range(MAX_TURNS):
            if s["tile_place"][number] == first:
                s["tile_place"][number] = second
        s["ability"] = 0
        go_on(s, t)
    elif kind == DO_CORDON:
        s["cordons"] = (s["cordons"] & ~bit(first)) | bit(second)
        s["ability"] = 0
        go_on(s, t)
    elif kind == DO_COVER:
        s["covered"] = (s["covered"] & ~manhole_bit(t, first)) | manhole_bit(t, second)
        s["ability"] = 0
        go_on(s, t)
    elif kind == DO_WHISTLE:
        if s["steps"] == 0:
            s["steps"] = WHISTLE_STEPS
        s["ability"] = 0
        s["steps"] -= t["argument"][action, 2]
        s["whistled"] |= 1 << first
        place(s, first, second)
        go_on_after(s, t, first)
    elif kind == DO_SWAP:
        here, there = s["position"][s["seat"]], s["position"][first]
        s["position"][s["seat"]] = there
        s["position"][first] = here
        s["ability"] = 0
        s["moved"] = 1
        go_on_after(s, t, first)
    elif kind == DO_ACCUSE:
        s["accused"] = first
        end_game(s, CAUGHT if first == s["jack"] else WRONG_ACCUSATION)
    elif kind == DO_ESCAPE:
        end_game(s, ESCAPE)
    elif kind == DO_STAY:
        if s["player"] == JACK and s["seen"] == 0 and open_exits(s, t, s["seat"]) != ZERO:
            # He could have left, were he Jack, and would have had to.
            s["ruled_out"] |= 1 << s["seat"]
        s["moved"] = 1
        go_on(s, t)


@helper
def manhole_bit(t: Record, rank: int) -> np.uint64:
    """Hex set of one manhole, given its index among the manholes."""
    holes = t["manholes"]
    for _ in range(rank):
        holes &= holes - ONE
    return holes & (~holes + ONE)


@helper
def apply(s: Record, t: Record, action: int) -> None:
    """Apply a legal action or a chance outcome."""
    if s["player"] == CHANCE:
        apply_chance(s, t, action)
    else:
        apply_player(s, t, action)


@helper
def detective_return(s: Record) -> int:
    """+1, -1, or 0 before the end (7.4)."""
    if s["ending"] == NOT_ENDED:
        return 0
    return 1 if s["ending"] == CAUGHT else -1
