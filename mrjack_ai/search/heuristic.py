"""The heuristic of the `greedy` agent, compiled.

A play is one card from its choice to its last action. `rate_actions` looks through every way to
finish the present play and rates each legal action by the best position it can lead to. Positions
are rated by the Detective's chance to win as a heuristic sees it: how many candidates the call
for witnesses would leave, whether Jack could walk out of an exit before that, and whether somebody
stands close enough to accuse him. The constants are judgement, not measurement.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mrjack_ai.engine.bits import ZERO, bit, integer, popcount
from mrjack_ai.engine.compile import helper, kernel
from mrjack_ai.engine.geometry import within_steps
from mrjack_ai.engine.movement import open_exits, visible_seats
from mrjack_ai.engine.records import new_states, state_of, tables_of
from mrjack_ai.engine.turn import (
    apply_player,
    detective_candidates,
    detective_return,
    detective_turns,
    list_legal,
    plays_left,
    public_candidates,
)
from mrjack_ai.engine.types import ActionKind, NodeKind, Player, StateRecord, TablesRecord, Words

# A play is at most: card, three walks with an aim between, move, second aim.
_MOST_DEPTH = 8

# Detective's chance to catch Jack in the end, by the number of candidates left after the call.
_CATCH = np.array([1.0, 0.92, 0.74, 0.6, 0.5, 0.42, 0.36, 0.3, 0.25])
# Nothing that is only hoped for is worth as much as a certain win, a drawn card included.
_MOST_HOPE = 0.95
_NEAR_BONUS = 0.06
_FAR_PENALTY = 0.06
_DRAW_BONUS = 0.03
_ESCAPE_THIS_TURN = 0.9
_ESCAPE_NEXT_TURN_FIRST = 0.8
_ESCAPE_NEXT_TURN_LATER = 0.45
_ALL_CARDS = 0xFF


@helper
def _next_turn_card(s: StateRecord, t: TablesRecord, seat: int) -> float:
    """Chance that a character's card is face up next turn."""
    if s["turn"] & 1:
        return 0.0 if s["dealt"] >> seat & 1 else 1.0
    return 0.5


@helper
def _escape_chance(
    s: StateRecord, t: TablesRecord, seat: int, visible: int, cards_left: int, jack_plays: int
) -> float:
    """Chance that Jack, if he is `seat`, walks out before he can be stopped."""
    if open_exits(s, t, seat) == ZERO:
        return 0.0
    if s["seen"] == 0 and jack_plays > 0 and cards_left >> seat & 1:
        return _ESCAPE_THIS_TURN
    if visible >> seat & 1 or s["turn"] >= t["turns"]:
        return 0.0
    starts = t["play_order"][(s["turn"] + 1) & 1, 0] == Player.JACK
    chance = _ESCAPE_NEXT_TURN_FIRST if starts else _ESCAPE_NEXT_TURN_LATER
    return chance * _next_turn_card(s, t, seat)


@helper
def _catch_probability(
    s: StateRecord,
    t: TablesRecord,
    seat: int,
    candidates: int,
    visible: int,
    cards_left: int,
    jack_plays: int,
) -> float:
    """Detective's chance to win if Jack is `seat`, at the end of a play."""
    turns_left = detective_turns(s, t)
    if popcount(np.uint64(cards_left)) == jack_plays and turns_left == 0:
        return 0.0  # the Detective plays no more cards before dawn
    same = visible if visible >> seat & 1 else ~visible
    group = popcount(np.uint64(same & candidates))
    catch = _CATCH[min(group, 8)]
    if group > 1 and turns_left < 3:
        catch *= 0.5 + 0.15 * turns_left
    here = s["position"][seat]
    around = within_steps(s, t, 0, here, 3) & s["occupied"] & ~bit(here)
    catch += _NEAR_BONUS if around != ZERO else -_FAR_PENALTY
    escape = _escape_chance(s, t, seat, visible, cards_left, jack_plays)
    return (1.0 - escape) * min(_MOST_HOPE, max(0.0, catch))


@helper
def _rate(
    s: StateRecord,
    t: TablesRecord,
    player: int,
    jack: int,
    candidates: int,
    cards_left: int,
    jack_plays: int,
) -> float:
    """Chance to win of `player`, who has just finished a play."""
    visible = visible_seats(s, t)
    if player == Player.JACK:
        return 1.0 - _catch_probability(s, t, jack, candidates, visible, cards_left, jack_plays)
    total = 0.0
    count = 0
    for seat in range(t["seats"]):
        if candidates >> seat & 1:
            total += _catch_probability(s, t, seat, candidates, visible, cards_left, jack_plays)
            count += 1
    return total / count


@helper
def heuristic_value(s: StateRecord, t: TablesRecord) -> float:
    """Detective's chance to win in a known world, by the same heuristic, at any node."""
    if s["node"] == NodeKind.TERMINAL:
        return 0.5 + 0.5 * detective_return(s)
    cards = integer(s["remaining"])
    jack_plays = plays_left(s, t, Player.JACK, integer(s["play"])) if cards != 0 else 0
    candidates = detective_candidates(s, t)
    dealing = s["node"] == NodeKind.DEAL
    if dealing:
        s["turn"] -= 1  # rated as the end of the turn before: the plays of this one are to come
    chance = _catch_probability(s, t, s["jack"], candidates, visible_seats(s, t), cards, jack_plays)
    if dealing:
        s["turn"] += 1
    return chance


@helper
def rate_child(s: StateRecord, t: TablesRecord, child: Any, action: int) -> float:
    """Chance to win of the player to move after one action, seen with his own knowledge.

    Args:
        s: the position in a known world; a Detective's rating does not look at the identity.
        child: a copy of `s`, overwritten.
    """
    player = s["player"]
    kind = t["kind"][action]
    candidates = (
        detective_candidates(s, t) if player == Player.DETECTIVE else public_candidates(s, t)
    )
    if kind == ActionKind.ACCUSE:
        if candidates >> t["argument"][action, 0] & 1:
            return 1.0 / popcount(np.uint64(candidates))
        return 0.0
    if kind == ActionKind.ESCAPE:
        return 1.0
    cards = integer(s["remaining"])
    seat = integer(s["seat"])
    jack_plays = plays_left(s, t, Player.JACK, integer(s["play"]) + 1)
    # With every card left the play never ends the turn, so no call is made.
    child["remaining"] = _ALL_CARDS
    apply_player(child, t, action)
    bonus = 0.0
    if child["node"] == NodeKind.PICK or child["node"] == NodeKind.ALIBI:
        cards &= ~(1 << seat)
        if child["node"] == NodeKind.ALIBI:
            bonus = _DRAW_BONUS
    return bonus + _rate(child, t, player, s["jack"], candidates, cards, jack_plays)


@kernel
def rate_actions(game: Words, tables: Words, candidates: int, out: Any) -> int:
    """Rate every legal action of the player to move by the best end of his present play.

    Args:
        game: the position; for the Detective its identity field is not looked at.
        candidates: mask of the seats that can be Jack as the Detective sees it.
        out: float64, at least as long as the list of legal actions; receives the ratings,
            estimates of the chance to win from 0 to 1.

    Returns:
        Number of legal actions.
    """
    t = tables_of(tables)
    stack = new_states(_MOST_DEPTH + 1)
    lists = np.empty((_MOST_DEPTH + 1, t["actions"]), np.int64)
    counts = np.zeros(_MOST_DEPTH + 1, np.int64)
    index = np.zeros(_MOST_DEPTH + 1, np.int64)
    stack[0] = state_of(game)
    root = stack[0]
    player = root["player"]
    jack = root["jack"]
    cards = root["remaining"]
    n_candidates = popcount(np.uint64(candidates))
    jack_plays = plays_left(root, t, Player.JACK, integer(root["play"]) + 1)
    counts[0] = list_legal(root, t, lists[0])
    # With every card left a play never ends the turn, so no call is made on the way.
    root["remaining"] = _ALL_CARDS
    level = 0
    best = 0.0
    while True:
        if index[level] == counts[level]:
            if level == 0:
                break
            level -= 1
            if level == 0:
                out[index[0] - 1] = best
            continue
        action = lists[level, index[level]]
        index[level] += 1
        if level == 0:
            best = -1.0
        stack[level + 1] = stack[level]
        s = stack[level + 1]
        kind = t["kind"][action]
        leaf = True
        if kind == ActionKind.ACCUSE:
            accused = t["argument"][action, 0]
            rating = 1.0 / n_candidates if candidates >> accused & 1 else 0.0
        elif kind == ActionKind.ESCAPE:
            rating = 1.0
        else:
            apply_player(s, t, action)
            if (
                s["node"] == NodeKind.PICK
                or s["node"] == NodeKind.ALIBI
                or s["node"] == NodeKind.TERMINAL
            ):
                seat = stack[level]["seat"]
                left = cards & ~(1 << seat)
                rating = _rate(s, t, player, jack, candidates, left, jack_plays)
                if s["node"] == NodeKind.ALIBI:
                    rating += _DRAW_BONUS
            else:
                rating = 0.0
                leaf = False
        if leaf:
            best = max(best, rating)
            if level == 0:
                out[index[0] - 1] = best
        else:
            level += 1
            counts[level] = list_legal(s, t, lists[level])
            index[level] = 0
    return counts[0]
