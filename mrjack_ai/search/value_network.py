"""A fitted value function: the Detective's chance to win in a known world, compiled.

A position is described by `ACTIVE` categorical features, each a small tuple of what decides the
game: candidates and how the next call for witnesses would split them, turns and plays left, Jack's
way out, who stands near him, whose card is still to come. No feature names a hex or a seat, so one
set of weights serves every board and cast. The value is a network with one hidden layer: every
feature adds its row of weights to the hidden units, which are clipped to 0..1 and weighed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mrjack_ai.engine.bits import ONE, ZERO, bit, has, integer, lowest, popcount
from mrjack_ai.engine.compile import helper, kernel
from mrjack_ai.engine.geometry import one_step, within_steps
from mrjack_ai.engine.movement import lit_hexes, open_exits, reach, visible_by
from mrjack_ai.engine.records import states_of, tables_of
from mrjack_ai.engine.tables import NO_SEAT
from mrjack_ai.engine.turn import (
    apply_player,
    detective_candidates,
    detective_return,
    plays_left,
    public_candidates,
)
from mrjack_ai.engine.types import (
    ActionKind,
    Integers,
    NodeKind,
    Player,
    StateRecord,
    TablesRecord,
    Words,
)
from mrjack_ai.setup.characters import MAX_RANGE

SIZES: tuple[tuple[int, ...], ...] = (
    (8, 3, 3, 3),  # later turns, plays left of either side, who decides
    (9, 9, 2),  # candidates, those who look like Jack now, Jack visible
    (9, 8, 2),  # candidates, later turns, witness card
    (9, 3, 3, 3),  # those who look like Jack, plays left, who decides
    (2, 5, 3, 3, 2, 3),  # witness card, Jack's card now and next turn, Jack's plays, exit, decides
    (2, 2, 7, 8, 2),  # Jack visible, exit in reach, distance to exits, later turns, next starter
    (8, 9, 3),  # characters near Jack, candidates, the Detective's plays
    (5, 3, 9, 3),  # near Jack with a card to come, the Detective's plays, look alike, decides
    (4, 2, 9, 2),  # next to Jack, Jack's hex lit, look alike, odd turn
    (5, 5, 5),  # alibi cards of either side, candidates that only the Detective has cleared
    (9, 8, 2),  # gaslights lit, later turns, Jack visible
    (7, 3, 2, 2),  # stage of the play, who decides, Jack is being played, ability open
    (10, 2, 3),  # ability of the character being played, moved, who decides
    (5, 3, 2, 7, 2),  # Jack's card now and next turn, exit in reach, distance, next starter
    (8, 3, 2, 8),  # near Jack, Jack's card next turn, next starter, later turns
    (9, 9, 2),  # candidates, those on lit hexes, Jack visible
    (5, 3, 3, 3),  # candidates with a card to come, plays left, who decides
    (256, 3),  # abilities of the cards to come, who decides
    (2, 2, 5, 9, 2),  # Jack can walk into the dark, into view, his card, look alike, visible
)
"""Number of values of each part of each feature."""

ACTIVE = len(SIZES)
"""Features of a position."""

_COUNTS = np.array([np.prod(size) for size in SIZES], np.int64)
OFFSETS = np.concatenate([np.zeros(1, np.int64), np.cumsum(_COUNTS)])
"""First row of each feature's weights, and the number of rows."""

ROWS = int(OFFSETS[-1])
HIDDEN = 8
"""Hidden units."""
WEIGHTS = ROWS * HIDDEN + HIDDEN + HIDDEN + 1
"""Number of weights: a row each feature value, hidden biases, output weights, output bias."""

_NEAR = 3


@helper
def _distance_to_exits(s: StateRecord, t: TablesRecord, seat: int) -> int:
    """Steps over open ground from a character to the nearest exit without a cordon, at most 6."""
    goals = ZERO
    free = t["exits"] & ~s["cordons"]
    while free != ZERO:
        goals |= t["exit_bit"][lowest(free)]
        free &= free - ONE
    walk, here = t["seat_walk"][seat], s["position"][seat]
    for steps in range(MAX_RANGE + 1):
        if within_steps(s, t, walk, here, steps) & goals != ZERO:
            return steps
    return 6


@helper
def active_rows(s: StateRecord, t: TablesRecord, rows: Integers) -> None:
    """Write the row of each feature of a position whose identity is known.

    Args:
        rows: at least `ACTIVE` integers.
    """
    jack = integer(s["jack"])
    node = s["node"]
    here = s["position"][jack]
    turn = integer(s["turn"])
    left = min(t["turns"] - turn, 7)
    play = integer(s["play"])
    detective_plays = min(plays_left(s, t, Player.DETECTIVE, play), 2)
    jack_plays = min(plays_left(s, t, Player.JACK, play), 2)
    decides = 2 if s["player"] == Player.CHANCE else integer(s["player"])
    candidates = detective_candidates(s, t)
    everybody = public_candidates(s, t)
    n = popcount(np.uint64(candidates))
    lit = lit_hexes(s, t)
    occupied = s["occupied"]
    visible = visible_by(s, t, lit)
    jack_visible = visible >> jack & 1
    alike = popcount(np.uint64(candidates & (visible if jack_visible else ~visible)))
    seen = integer(s["seen"])
    remaining = integer(s["remaining"])
    if node == NodeKind.DEAL:
        card = 4
    elif s["seat"] == jack:
        card = 0 if t["play_order"][turn & 1, play] == Player.JACK else 1
    else:
        card = 2 if remaining >> jack & 1 else 3
    if turn & 1 and node != NodeKind.DEAL:
        later_card = 1 if integer(s["dealt"]) >> jack & 1 else 0
    else:
        later_card = 2
    leaves = 1 if open_exits(s, t, jack) != ZERO else 0
    distance = _distance_to_exits(s, t, jack)
    next_starter = integer(t["play_order"][(turn + 1) & 1, 0])
    around = reach(s, t, 0, here, _NEAR) & occupied & ~bit(here)
    near = popcount(around)
    near_cards = 0
    candidate_cards = 0
    abilities = 0
    beside_others = ZERO
    on_light = 0
    for seat in range(t["seats"]):
        if remaining >> seat & 1:
            candidate_cards += candidates >> seat & 1
            abilities |= 1 << integer(t["seat_ability"][seat])
            if seat != jack and has(around, s["position"][seat]):
                near_cards += 1
        if has(lit, s["position"][seat]):
            on_light += candidates >> seat & 1
        if seat != jack:
            beside_others |= one_step(s, t, s["position"][seat])
    within = reach(s, t, t["seat_walk"][jack], here, t["seat_range"][jack])
    ends = within & (~occupied | bit(here))
    in_view = lit | beside_others
    can_hide = 1 if ends & ~in_view != ZERO else 0
    can_show = 1 if ends & in_view != ZERO else 0
    beside = popcount(one_step(s, t, here) & occupied)
    if s["seat"] == NO_SEAT:
        ability = 9
    else:
        ability = integer(t["seat_ability"][s["seat"]])
    moved = integer(s["moved"])
    if node == NodeKind.PICK:
        stage = 0
    elif node == NodeKind.USE:
        stage = 1 + moved
    elif node == NodeKind.AIM:
        stage = 3
    elif node == NodeKind.ALIBI:
        stage = 5
    elif node == NodeKind.DEAL:
        stage = 6
    else:
        stage = 4
    lamps = min(popcount(s["lit"]), 8)
    own = min(integer(s["draws"][Player.DETECTIVE]), 4)
    others = min(integer(s["draws"][Player.JACK]), 4)
    secret = min(popcount(np.uint64(everybody)) - n, 4)
    at_jack = 1 if s["seat"] == jack else 0
    sides = (detective_plays * 3 + jack_plays) * 3 + decides
    way_out = leaves * 7 + distance
    rows[0] = OFFSETS[0] + left * 27 + sides
    rows[1] = OFFSETS[1] + (n * 9 + alike) * 2 + jack_visible
    rows[2] = OFFSETS[2] + (n * 8 + left) * 2 + seen
    rows[3] = OFFSETS[3] + alike * 27 + sides
    when = card * 3 + later_card
    rows[4] = OFFSETS[4] + (((seen * 15 + when) * 3 + jack_plays) * 2 + leaves) * 3 + decides
    rows[5] = OFFSETS[5] + ((jack_visible * 14 + way_out) * 8 + left) * 2 + next_starter
    rows[6] = OFFSETS[6] + (near * 9 + n) * 3 + detective_plays
    rows[7] = OFFSETS[7] + ((near_cards * 3 + detective_plays) * 9 + alike) * 3 + decides
    jack_lit = 1 if has(lit, here) else 0
    rows[8] = OFFSETS[8] + ((min(beside, 3) * 2 + jack_lit) * 9 + alike) * 2 + (turn & 1)
    rows[9] = OFFSETS[9] + (own * 5 + others) * 5 + secret
    rows[10] = OFFSETS[10] + (lamps * 8 + left) * 2 + jack_visible
    rows[11] = OFFSETS[11] + ((stage * 3 + decides) * 2 + at_jack) * 2 + integer(s["ability"])
    rows[12] = OFFSETS[12] + (ability * 2 + moved) * 3 + decides
    rows[13] = OFFSETS[13] + (when * 14 + way_out) * 2 + next_starter
    rows[14] = OFFSETS[14] + ((near * 3 + later_card) * 2 + next_starter) * 8 + left
    rows[15] = OFFSETS[15] + (n * 9 + on_light) * 2 + jack_visible
    rows[16] = OFFSETS[16] + candidate_cards * 27 + sides
    rows[17] = OFFSETS[17] + abilities * 3 + decides
    ways = can_hide * 2 + can_show
    rows[18] = OFFSETS[18] + ((ways * 5 + card) * 9 + alike) * 2 + jack_visible


@helper
def _clip(x: Any) -> Any:
    return min(max(x, np.float32(0)), np.float32(1))


@helper
def fitted_value(s: StateRecord, t: TablesRecord, weights: Any, rows: Integers) -> float:
    """The Detective's expected return in a known world, -1 to 1.

    Args:
        weights: float32, `WEIGHTS` of them.
        rows: scratch, at least `ACTIVE` int64.
    """
    if s["node"] == NodeKind.TERMINAL:
        return float(detective_return(s))
    active_rows(s, t, rows)
    # Eight sums in registers: written out, since a loop over an array of sums takes four times as
    # long.
    at = ROWS * HIDDEN
    a, b, c, d = weights[at], weights[at + 1], weights[at + 2], weights[at + 3]
    e, f, g, h = weights[at + 4], weights[at + 5], weights[at + 6], weights[at + 7]
    for feature in range(ACTIVE):
        # An unsigned index: a signed one is checked for counting from the end, each time.
        row = np.uint64(rows[feature] * HIDDEN)
        a += weights[row]
        b += weights[row + np.uint64(1)]
        c += weights[row + np.uint64(2)]
        d += weights[row + np.uint64(3)]
        e += weights[row + np.uint64(4)]
        f += weights[row + np.uint64(5)]
        g += weights[row + np.uint64(6)]
        h += weights[row + np.uint64(7)]
    at = ROWS * HIDDEN + HIDDEN
    total = weights[at + HIDDEN]
    total += _clip(a) * weights[at] + _clip(b) * weights[at + 1]
    total += _clip(c) * weights[at + 2] + _clip(d) * weights[at + 3]
    total += _clip(e) * weights[at + 4] + _clip(f) * weights[at + 5]
    total += _clip(g) * weights[at + 6] + _clip(h) * weights[at + 7]
    return float(total) / np.sqrt(1.0 + float(total) * float(total))


@helper
def rate_by_value(
    s: StateRecord, t: TablesRecord, child: Any, action: int, weights: Any, rows: Integers
) -> float:
    """Expected return of the player to move after one action, by the fitted value function.

    The Detective's is the mean over the candidates: it does not look at the sampled identity.

    Args:
        s: the position in the sampled world.
        child: one-element array of `STATE`, overwritten.
    """
    kind = t["kind"][action]
    if kind == ActionKind.ESCAPE:
        return 1.0
    if s["player"] == Player.JACK:
        child[0] = s
        apply_player(child[0], t, action)
        return -fitted_value(child[0], t, weights, rows)
    candidates = detective_candidates(s, t)
    if kind == ActionKind.ACCUSE:
        if candidates >> t["argument"][action, 0] & 1:
            return 2.0 / popcount(np.uint64(candidates)) - 1.0
        return -1.0
    total = 0.0
    for seat in range(t["seats"]):
        if candidates >> seat & 1:
            child[0] = s
            child[0]["jack"] = seat
            apply_player(child[0], t, action)
            total += fitted_value(child[0], t, weights, rows)
    return total / popcount(np.uint64(candidates))


@kernel
def describe_positions(positions: Any, tables: Words, out: Any) -> None:
    """The active rows of many positions, for fitting.

    Args:
        positions: uint64, shape `(n, STATE_WORDS)`, identities known, at no end of a game.
        out: int64, shape `(n, ACTIVE)`.
    """
    t = tables_of(tables)
    states = states_of(positions)
    for index in range(len(states)):
        active_rows(states[index], t, out[index])
