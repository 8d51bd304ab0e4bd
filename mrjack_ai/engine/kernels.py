"""Entry points: the few compiled functions that Python calls.

Arguments are plain arrays: `game` is `uint64[game_words]` (see `layout`), `tables` is
`uint64[TABLES_WORDS]`; the first lines of each entry point turn them into records.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from mrjack_ai.engine.bits import integer, next_random, random_below
from mrjack_ai.engine.compile import helper, kernel
from mrjack_ai.engine.layout import (
    COUNT_WORD,
    EVENT_ALIBI,
    EVENT_DEAL,
    EVENT_JACK,
    EVENT_WITNESS,
    EVENTS_WORD,
    GENERATOR,
)
from mrjack_ai.engine.movement import lit_hexes, open_exits, reach, visible_seats
from mrjack_ai.engine.records import new_states, state_of, tables_of
from mrjack_ai.engine.tables import MAX_ACTIONS, NO_SEAT
from mrjack_ai.engine.turn import (
    apply,
    drawing_player,
    is_last_chance,
    list_legal,
    plays_left,
    set_up,
)
from mrjack_ai.engine.types import (
    GeneratorRecord,
    Integers,
    NodeKind,
    Player,
    StateRecord,
    TablesRecord,
    Words,
)


class _Scratch(threading.local):
    """Room for a list of actions; one a thread, since kernels run without the GIL."""

    def __init__(self) -> None:
        self.actions = np.empty(MAX_ACTIONS, np.int64)


scratch = _Scratch()


@helper
def _record_event(game: Words, code: int) -> None:
    count = integer(game[COUNT_WORD])
    word = EVENTS_WORD + count // 4
    game[word] |= np.uint64(code) << np.uint64(16 * (count % 4))
    game[COUNT_WORD] = np.uint64(count + 1)


@kernel
def start_game(game: Words, tables: Words) -> None:
    """Set `game` (all zero) up as section 2 says, before Jack's identity is drawn."""
    s = state_of(game)
    t = tables_of(tables)
    set_up(s, t)


@helper
def apply_recorded(game: Words, s: StateRecord, t: TablesRecord, action: int) -> None:
    """Apply a legal action or chance outcome to `s`, the position in `game`, and record it."""
    node = s["node"]
    if node == NodeKind.JACK:
        _record_event(game, EVENT_JACK + action)
    elif node == NodeKind.DEAL:
        _record_event(game, EVENT_DEAL + action)
    elif node == NodeKind.ALIBI:
        _record_event(game, EVENT_ALIBI + 16 * drawing_player(s, t) + action)
    else:
        _record_event(game, action)
    turn = s["turn"]
    apply(s, t, action)
    if turn > 0 and s["turn"] != turn:
        _record_event(game, EVENT_WITNESS + integer(s["seen"]))


@helper
def _is_legal(s: StateRecord, t: TablesRecord, action: int, scratch: Integers) -> bool:
    count = list_legal(s, t, scratch)
    for index in range(count):  # noqa: SIM110 - kernels have no generators
        if scratch[index] == action:
            return True
    return False


@kernel
def apply_action(game: Words, tables: Words, action: int, out: Any) -> int:
    """Apply a legal action or chance outcome, record it as an event, and list what is legal then.

    Args:
        out: `int64` array, written to as by `legal_actions`.

    Returns:
        How many actions are legal afterwards, or -1, with `game` left alone, when this one was
        not.
    """
    s = state_of(game)
    t = tables_of(tables)
    if not _is_legal(s, t, action, out):
        return -1
    apply_recorded(game, s, t, action)
    return list_legal(s, t, out)


@kernel
def legal_actions(game: Words, tables: Words, out: Any) -> int:
    """Write legal action ids (outcome ids at a chance node), ascending, into `out` (int64).

    Returns:
        How many; `out` must hold the variant's number of actions, and at least 70.
    """
    s = state_of(game)
    t = tables_of(tables)
    return list_legal(s, t, out)


@kernel
def visible(game: Words, tables: Words) -> int:
    """Mask of the seats that are visible now (6.1)."""
    s = state_of(game)
    t = tables_of(tables)
    return visible_seats(s, t)


@kernel
def lit(game: Words, tables: Words) -> np.uint64:
    """Set of the street hexes next to a lit gaslight or in the beam."""
    s = state_of(game)
    t = tables_of(tables)
    return lit_hexes(s, t)


@kernel
def reachable(game: Words, tables: Words, seat: int, steps: int) -> np.uint64:
    """Set of the street hexes the character in `seat` could reach, occupied ones included."""
    s = state_of(game)
    t = tables_of(tables)
    return reach(s, t, t["seat_walk"][seat], s["position"][seat], steps)


@kernel
def exits_in_reach(game: Words, tables: Words, seat: int) -> np.uint64:
    """Set of the exits without a cordon that the character in `seat` could leave by (7.1)."""
    s = state_of(game)
    t = tables_of(tables)
    return open_exits(s, t, seat)


@kernel
def remaining_plays(game: Words, tables: Words, player: int) -> int:
    """Plays `player` still has this turn, the one in progress included."""
    s = state_of(game)
    t = tables_of(tables)
    if s["node"] == NodeKind.TERMINAL or s["remaining"] == 0:
        return 0
    return plays_left(s, t, player, integer(s["play"]))


@kernel
def last_chance(game: Words, tables: Words) -> bool:
    """Whether the Detective decides now, in their last play of the game (7.3)."""
    s = state_of(game)
    t = tables_of(tables)
    if s["player"] != Player.DETECTIVE or s["remaining"] == 0:
        return False
    return is_last_chance(s, t)


@kernel
def count_sequences(game: Words, tables: Words, depth: int) -> int:
    """Number of action sequences of exactly `depth` plies (section 9, perft).

    Depth first with an explicit stack of positions; `game` is left alone.
    """
    t = tables_of(tables)
    if depth == 0:
        return 1
    stack = new_states(depth + 1)
    lists = np.zeros((depth + 1, MAX_ACTIONS), np.int64)
    counts = np.zeros(depth + 1, np.int64)
    index = np.zeros(depth + 1, np.int64)
    stack[0] = state_of(game)
    counts[0] = list_legal(stack[0], t, lists[0])
    level = 0
    total = 0
    while level >= 0:
        if level == depth - 1:
            # The last ply only needs counting.
            total += counts[level]
            level -= 1
        elif index[level] == counts[level]:
            level -= 1
        else:
            action = lists[level, index[level]]
            index[level] += 1
            stack[level + 1] = stack[level]
            level += 1
            apply(stack[level], t, action)
            counts[level] = list_legal(stack[level], t, lists[level])
            index[level] = 0
    return total


@helper
def _random_game(
    s: StateRecord, t: TablesRecord, generator: GeneratorRecord, actions: Integers
) -> int:
    """Play uniformly at random to the end; returns the number of decisions (chance excluded)."""
    decisions = 0
    while s["node"] != NodeKind.TERMINAL:
        count = list_legal(s, t, actions)
        if s["player"] != Player.CHANCE:
            decisions += 1
        apply(s, t, actions[random_below(generator, count)])
    return decisions


@kernel
def random_games(
    game: Words, tables: Words, games: int, seed: np.uint64, results: Integers
) -> None:
    """Play whole games from one position, every choice uniform over the legal actions.

    Args:
        game: the position to start from; left alone.
        games: how many games.
        seed: any 64-bit number; equal seeds give equal games.
        results: `int64[6]`, added to: games by ending (index 1 to 4) and decisions (5).
    """
    t = tables_of(tables)
    work = new_states(2)
    generators = np.zeros(1, GENERATOR)
    generators[0]["state"] = np.uint64(seed)
    next_random(generators[0])
    actions = np.zeros(MAX_ACTIONS, np.int64)
    work[0] = state_of(game)
    for _ in range(games):
        work[1] = work[0]
        decisions = _random_game(work[1], t, generators[0], actions)
        results[work[1]["ending"]] += 1
        results[5] += decisions


@kernel
def mask_state(game: Words, player: int) -> None:
    """Hide, in place, what `player` may not know of the position (section 8).

    The identity is hidden from the Detective, and the other's alibi cards from both.
    """
    s = state_of(game)
    if player == Player.DETECTIVE:
        s["jack"] = NO_SEAT
    s["drawn"][1 - player] = 0
