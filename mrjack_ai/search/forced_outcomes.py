"""Certain wins and certain losses within one play, compiled.

A play is one card, from its choice to its last action. Where the identity is known for certain,
the player to move can win at once by an accusation of Jack (7.2) or an escape (7.1); both may come
after an ability that is used before moving.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mrjack_ai.engine.bits import ZERO, has, popcount
from mrjack_ai.engine.compile import helper, kernel
from mrjack_ai.engine.movement import open_exits, reach
from mrjack_ai.engine.records import new_states, state_of, tables_of
from mrjack_ai.engine.turn import apply, apply_player, list_legal, public_candidates
from mrjack_ai.engine.types import (
    ActionKind,
    Integers,
    NodeKind,
    Player,
    StateRecord,
    TablesRecord,
    Words,
)

_MOST_DEPTH = 9
_MOST_LEAVES = 2000
"""Ends of a play looked at for one action; beyond that it is taken for safe."""

SAFE, LOSING = range(2)


@helper
def wins_now(s: StateRecord, t: TablesRecord) -> bool:
    """True when the character being played can accuse Jack, or escape as Jack, right now."""
    seat = s["seat"]
    if s["node"] != NodeKind.USE or s["moved"] == 1:
        return False
    if s["player"] == Player.DETECTIVE:
        if seat == s["jack"]:
            return False
        within = reach(s, t, t["seat_walk"][seat], s["position"][seat], t["seat_range"][seat])
        return has(within, s["position"][s["jack"]])
    return seat == s["jack"] and s["seen"] == 0 and open_exits(s, t, seat) != ZERO


@helper
def known_to_all(s: StateRecord, t: TablesRecord) -> bool:
    """True when everybody but one is cleared, so that the Detective is certain."""
    return popcount(np.uint64(public_candidates(s, t))) == 1


@helper
def can_win_play(
    s: StateRecord, t: TablesRecord, stack: Any, lists: Integers, counts: Integers, index: Integers
) -> bool:
    """True when the player to move at a card's choice has a play that wins for certain.

    Tries each card, and each way to use its ability before moving.

    Args:
        s: a position in the known world, at a pick node.
        stack: scratch `STATE` records; lists, counts, index: scratch for `_MOST_DEPTH` levels.
    """
    stack[0] = s
    counts[0] = list_legal(stack[0], t, lists[0])
    index[0] = 0
    level = 0
    player = s["player"]
    while level >= 0:
        if index[level] == counts[level]:
            level -= 1
            continue
        action = lists[level, index[level]]
        index[level] += 1
        kind = t["kind"][action]
        if level > 0 and kind < ActionKind.SWAP and kind != ActionKind.LIGHT:
            continue  # moving ends the chance to accuse or escape
        stack[level + 1] = stack[level]
        below = stack[level + 1]
        apply_player(below, t, action)
        if below["player"] != player or below["moved"] == 1 or below["node"] == NodeKind.PICK:
            continue
        if wins_now(below, t):
            return True
        if below["node"] == NodeKind.USE and below["ability"] == 0:
            continue
        if (
            below["node"] in (NodeKind.USE, NodeKind.WHISTLE, NodeKind.AIM)
            and level + 2 < _MOST_DEPTH
        ):
            level += 1
            counts[level] = list_legal(below, t, lists[level])
            index[level] = 0
    return False


@kernel
def judge_actions(game: Words, tables: Words, out: Any) -> int:
    """Judge each legal action: does every way to finish the play let the opponent win at once?

    Args:
        game: a position at a player's node in a world that the player to move knows: `jack` is
            set. Left alone.
        out: int64; receives SAFE when some way to finish the play leaves the opponent no certain
            win in his next play (or nobody can know: cards are dealt first, or the search was
            cut short), LOSING otherwise.

    Returns:
        Number of legal actions.
    """
    t = tables_of(tables)
    width = t["actions"]
    stack = new_states(_MOST_DEPTH + 1)
    inner = new_states(_MOST_DEPTH + 1)
    lists = np.empty((_MOST_DEPTH + 1, width), np.int64)
    inner_lists = np.empty((_MOST_DEPTH + 1, width), np.int64)
    counts = np.zeros(_MOST_DEPTH + 1, np.int64)
    inner_counts = np.zeros(_MOST_DEPTH + 1, np.int64)
    index = np.zeros(_MOST_DEPTH + 1, np.int64)
    inner_index = np.zeros(_MOST_DEPTH + 1, np.int64)
    stack[0] = state_of(game)
    player = stack[0]["player"]
    jack = stack[0]["jack"]
    counts[0] = list_legal(stack[0], t, lists[0])
    level = 0
    leaves = 0
    while True:
        if index[level] == counts[level]:
            if level == 0:
                break
            level -= 1
            continue
        action = lists[level, index[level]]
        index[level] += 1
        if level == 0:
            out[index[0] - 1] = LOSING
            leaves = 0
        stack[level + 1] = stack[level]
        s = stack[level + 1]
        kind = t["kind"][action]
        if (
            kind == ActionKind.ACCUSE
            and player == Player.DETECTIVE
            and t["argument"][action, 0] != jack
        ):
            continue  # a wrong accusation loses at once
        apply(s, t, action)
        if s["node"] == NodeKind.ALIBI:
            # Which card is drawn decides nothing here: everybody knows who Jack is.
            list_legal(s, t, inner_lists[0])
            apply(s, t, inner_lists[0, 0])
        leaf = (
            s["node"] == NodeKind.PICK
            or s["player"] == Player.CHANCE
            or s["node"] == NodeKind.TERMINAL
        )
        if not leaf and level + 2 < _MOST_DEPTH:
            level += 1
            counts[level] = list_legal(s, t, lists[level])
            index[level] = 0
            continue
        leaves += 1
        safe = True
        if s["node"] == NodeKind.TERMINAL:
            # Dawn is Jack's; an accusation of Jack or an escape wins.
            safe = player == Player.JACK or s["accused"] == jack
        elif leaf and leaves <= _MOST_LEAVES and s["player"] == 1 - player:
            # Who plays next has to know who Jack is, and to have a card that wins.
            safe = (player == Player.JACK and not known_to_all(s, t)) or not can_win_play(
                s, t, inner, inner_lists, inner_counts, inner_index
            )
        if safe:
            # One way to finish is enough: on to the next action at the root.
            out[index[0] - 1] = SAFE
            level = 0
    return counts[0]
