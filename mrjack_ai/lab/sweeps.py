"""Passes over a public tree, compiled: reach downwards, values upwards.

A pass goes level by level; within a level every node reads only its parent, or its children, and
writes only its own entries. So a level can be cut among threads, and the sums come out the same to
the last bit whatever their number.

Arrays, all flat, float64:

- `reach[p]`, `values[p]`: entries `vector_at[p][node] + private state`; reach is the player's own
  part of the probability of getting there, values are counterfactual: weighted with chance and
  with the opponent's reach, in returns of that player.
- `policy`, `regrets`, `sums`, `action_values`: entries
  `policy_at[node] + slot * private states + private state` for nodes where a player decides.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from mrjack_ai.engine.bits import integer
from mrjack_ai.engine.compile import helper, kernel
from mrjack_ai.lab.expansion import PublicNode


class Task(IntEnum):
    """What a pass upwards does at the nodes of the player it is for."""

    EXPECT = 0  # value of the policy
    BEST = 1  # value of the best response
    UPDATE = 2  # value of the policy; adds to the regrets


class Minimiser(IntEnum):
    """How regrets are treated."""

    CFR = 0
    CFR_PLUS = 1
    DISCOUNTED = 2
    PREDICTIVE = 3


_NO = -1e300


@helper
def _power(base: int, exponent: int) -> int:
    result = 1
    for _ in range(exponent):
        result *= base
    return result


@helper
def _states(node: Any, seats: int, player: int) -> int:
    """How many private states a player has at a node."""
    return _power(seats, integer(node["draws"][player]) + player)


@helper
def _allowed(identities: int, state: int, scale: int) -> bool:
    """Whether a private state of Jack's has one of these identities; `scale`: states for each."""
    return (identities >> (state // scale)) & 1 == 1


@kernel
def reach_level(
    nodes: Any, low: int, high: int, seats: int, vector_at: Any, policy_at: Any, policy: Any,
    detective_reach: Any, jack_reach: Any,
) -> None:  # fmt: skip
    """Reach of the nodes `low` to `high`, from that of their parents (not for the root)."""
    for at in range(low, high):
        node = nodes[at]
        up = integer(node["parent"])
        parent = nodes[up]
        here, there = vector_at[0, at], vector_at[0, up]
        states = _states(parent, seats, 0)
        start = policy_at[up] + node["slot"] * states
        decides = parent["kind"] == PublicNode.DETECTIVE_DECIDES
        draws = parent["kind"] == PublicNode.CARD_DRAWN and parent["mover"] == 0
        for state in range(states):
            reach = detective_reach[there + state]
            if decides:
                reach *= policy[start + state]
            if draws:
                for card in range(seats):
                    detective_reach[here + state * seats + card] = reach
            else:
                detective_reach[here + state] = reach
        here, there = vector_at[1, at], vector_at[1, up]
        scale = _power(seats, integer(parent["draws"][1]))
        states = seats * scale
        start = policy_at[up] + node["slot"] * states
        decides = parent["kind"] == PublicNode.JACK_DECIDES
        draws = parent["kind"] == PublicNode.CARD_DRAWN and parent["mover"] == 1
        identities = integer(node["identities"])
        for state in range(states):
            reach = jack_reach[there + state]
            if not _allowed(identities, state, scale):
                reach = 0.0
            elif decides:
                reach *= policy[start + state]
            if draws:
                for card in range(seats):
                    jack_reach[here + state * seats + card] = reach
            else:
                jack_reach[here + state] = reach


@helper
def _end_values(
    node: Any, seats: int, player: int, weights: Any, weights_at: Any, reach: Any, at: int,
    values: Any, to: int,
) -> None:  # fmt: skip
    """Counterfactual values of `player` where the game is over; `reach` is the opponent's."""
    detective_draws, jack_draws = integer(node["draws"][0]), integer(node["draws"][1])
    scale = _power(seats, jack_draws)
    ours, theirs = _power(seats, detective_draws), seats * scale
    start = weights_at[detective_draws, jack_draws]
    accused = integer(node["accused"]) if node["kind"] == PublicNode.ACCUSED else -1
    identities = integer(node["identities"])
    if player == 0:
        for state in range(ours):
            total = 0.0
            for other in range(theirs):
                sign = 1.0 if other // scale == accused else -1.0
                total += sign * weights[start + state * theirs + other] * reach[at + other]
            values[to + state] = total
    else:
        for other in range(theirs):
            total = 0.0
            if _allowed(identities, other, scale):
                for state in range(ours):
                    total += weights[start + state * theirs + other] * reach[at + state]
                if other // scale == accused:
                    total = -total
            values[to + other] = total


@helper
def _chance_values(
    nodes: Any, at: int, seats: int, player: int, vector_at: Any, values: Any
) -> None:
    """At a deal or a draw; and where the other player decides: sums over the children."""
    node = nodes[at]
    scale = _power(seats, integer(node["draws"][player]))
    states = _states(node, seats, player)
    here = vector_at[player, at]
    for state in range(states):
        values[here + state] = 0.0
    draws = node["kind"] == PublicNode.CARD_DRAWN and node["mover"] == player
    share = 1.0 / integer(node["slots"]) if node["kind"] == PublicNode.CARDS_DEALT else 1.0
    for child in range(node["first"], node["first"] + node["children"]):
        there = vector_at[player, child]
        identities = integer(nodes[child]["identities"])
        for state in range(states):
            if player == 1 and not _allowed(identities, state, scale):
                continue
            if draws:
                for card in range(seats):
                    values[here + state] += values[there + state * seats + card]
            else:
                values[here + state] += share * values[there + state]


@helper
def _action_values(
    nodes: Any, at: int, seats: int, player: int, vector_at: Any, values: Any, start: int,
    action_values: Any,
) -> None:  # fmt: skip
    """Counterfactual values of each action of `player`, who decides; `_NO` where it is illegal."""
    node = nodes[at]
    scale = _power(seats, integer(node["draws"][player]))
    states = _states(node, seats, player)
    empty = _NO if player == 1 else 0.0
    for entry in range(start, start + node["slots"] * states):
        action_values[entry] = empty
    for child in range(node["first"], node["first"] + node["children"]):
        there = vector_at[player, child]
        to = start + nodes[child]["slot"] * states
        identities = integer(nodes[child]["identities"])
        for state in range(states):
            if player == 0:
                action_values[to + state] += values[there + state]
            elif _allowed(identities, state, scale):
                action_values[to + state] = values[there + state]


@kernel
def value_level(
    nodes: Any, low: int, high: int, seats: int, vector_at: Any, policy_at: Any, player: int,
    task: int, variant: int, weights: Any, weights_at: Any, reach: Any, values: Any, policy: Any,
    action_values: Any, regrets: Any, latest: Any, discounts: Any,
) -> None:  # fmt: skip
    """Counterfactual values of `player` at the nodes `low` to `high`, from those of their children.

    Args:
        task: `EXPECT`, `BEST` or `UPDATE`.
        variant: of regret minimisation, for `UPDATE`.
        weights, weights_at: chance weights, flat, and where those of `[draws, draws]` begin.
        reach: the opponent's.
        latest: regrets of this iteration alone, for `PREDICTIVE`.
        discounts: factors for positive and negative regrets, for `DISCOUNTED`.
    """
    for at in range(low, high):
        node = nodes[at]
        here = vector_at[player, at]
        if node["kind"] == PublicNode.ACCUSED or node["kind"] == PublicNode.JACK_GONE:
            _end_values(
                node, seats, player, weights, weights_at, reach, vector_at[1 - player, at], values,
                here,
            )  # fmt: skip
            continue
        if node["kind"] != player:
            _chance_values(nodes, at, seats, player, vector_at, values)
            continue
        states = _states(node, seats, player)
        start = policy_at[at]
        _action_values(nodes, at, seats, player, vector_at, values, start, action_values)
        for state in range(states):
            best, expected = _NO, 0.0
            for slot in range(node["slots"]):
                entry = start + slot * states + state
                value = action_values[entry]
                best = max(best, value)
                if value != _NO:
                    expected += policy[entry] * value
            if best == _NO:
                best = 0.0  # an identity that has been ruled out
            values[here + state] = best if task == Task.BEST else expected
            if task != Task.UPDATE:
                continue
            for slot in range(node["slots"]):
                entry = start + slot * states + state
                if action_values[entry] == _NO:
                    continue
                regret = action_values[entry] - expected
                old = regrets[entry]
                if variant == Minimiser.DISCOUNTED:
                    old *= discounts[0] if old > 0 else discounts[1]
                new = old + regret
                if variant == Minimiser.CFR_PLUS or variant == Minimiser.PREDICTIVE:
                    new = max(new, 0.0)
                regrets[entry] = new
                if variant == Minimiser.PREDICTIVE:
                    latest[entry] = regret


@kernel
def match_level(
    nodes: Any, low: int, high: int, seats: int, policy_at: Any, player: int, variant: int,
    regrets: Any, latest: Any, policy: Any,
) -> None:  # fmt: skip
    """Policy of `player` at the nodes `low` to `high`, in proportion to positive regrets.

    Uniform where there are none. With `CFR` also the average policy, from sums in their place.
    """
    for at in range(low, high):
        node = nodes[at]
        if node["kind"] != player:
            continue
        scale = _power(seats, integer(node["draws"][player]))
        states = _states(node, seats, player)
        start = policy_at[at]
        for state in range(states):
            total = 0.0
            for slot in range(node["slots"]):
                entry = start + slot * states + state
                weight = regrets[entry]
                if variant == Minimiser.PREDICTIVE:
                    weight += latest[entry]
                weight = max(weight, 0.0)
                policy[entry] = weight
                total += weight
            if total > 0:
                for slot in range(node["slots"]):
                    policy[start + slot * states + state] /= total
            else:
                _spread(nodes, at, player, start, states, state, scale, policy)


@helper
def _spread(
    nodes: Any, at: int, player: int, start: int, states: int, state: int, scale: int, policy: Any
) -> None:
    """The uniform policy over what is legal in a private state."""
    node = nodes[at]
    for slot in range(node["slots"]):
        policy[start + slot * states + state] = 0.0
    legal = 0
    last = -1
    for child in range(node["first"], node["first"] + node["children"]):
        slot = integer(nodes[child]["slot"])
        identities = integer(nodes[child]["identities"])
        if player == 0:
            if slot != last:
                policy[start + slot * states + state] = 1.0
                legal += 1
        elif _allowed(identities, state, scale):
            policy[start + slot * states + state] = 1.0
            legal += 1
        last = slot
    for slot in range(node["slots"]):
        policy[start + slot * states + state] /= max(legal, 1)


@kernel
def average_level(
    nodes: Any, low: int, high: int, seats: int, policy_at: Any, vector_at: Any, player: int,
    keep: float, weight: float, reach: Any, policy: Any, sums: Any,
) -> None:  # fmt: skip
    """`sums = keep * sums + weight * reach * policy` at the nodes of `player`."""
    for at in range(low, high):
        node = nodes[at]
        if node["kind"] != player:
            continue
        states = _states(node, seats, player)
        start, here = policy_at[at], vector_at[player, at]
        for slot in range(node["slots"]):
            for state in range(states):
                entry = start + slot * states + state
                sums[entry] = keep * sums[entry] + weight * reach[here + state] * policy[entry]
