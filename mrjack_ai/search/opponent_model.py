"""How likely a model of Jack's play makes the plays that were seen, compiled.

The model looks one action ahead: it rates each of Jack's actions by the fitted value function and
chooses with probability proportional to exp(inverse_temperature * rating), but always takes an
open exit; except for a share of the cases in which it chooses uniformly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mrjack_ai.engine.bits import integer, lowest
from mrjack_ai.engine.compile import helper, kernel
from mrjack_ai.engine.layout import (
    EVENT_ALIBI,
    EVENT_DEAL,
    EVENT_HIDDEN_SEAT,
    EVENT_JACK,
    EVENT_WITNESS,
)
from mrjack_ai.engine.records import new_states, state_of, tables_of
from mrjack_ai.engine.tables import MAX_ACTIONS
from mrjack_ai.engine.turn import alibi_pile, apply_chance, apply_player, list_legal
from mrjack_ai.engine.types import ActionKind, Integers, NodeKind, Player, TablesRecord, Words
from mrjack_ai.search.value_network import ACTIVE, rate_by_value

UNIFORM_SHARE = 0.1
"""How often the model chooses uniformly: no play is ever taken for a proof."""


@helper
def _choice_probabilities(
    work: Any,
    t: TablesRecord,
    jack: int,
    inverse_temperature: float,
    weights: Any,
    rows: Integers,
    actions: Integers,
    probabilities: Any,
) -> int:
    """Write the legal actions at `work[0]` and the model's chance of each, were Jack `jack`.

    Args:
        work: three `STATE` records; the first is left alone.

    Returns:
        How many there are.
    """
    work[1] = work[0]
    s = work[1]
    s["jack"] = jack
    s["drawn"][Player.DETECTIVE] = 0  # Jack does not know those cards
    count = list_legal(s, t, actions)
    escapes = 0
    for n in range(count):
        escapes += t["kind"][actions[n]] == ActionKind.ESCAPE
    if escapes > 0:
        # Nobody lets an open exit go by: that he did says more than any rating.
        for n in range(count):
            probabilities[n] = UNIFORM_SHARE / count
            if t["kind"][actions[n]] == ActionKind.ESCAPE:
                probabilities[n] += (1.0 - UNIFORM_SHARE) / escapes
        return count
    best = -1e300
    for n in range(count):
        probabilities[n] = inverse_temperature * rate_by_value(
            s, t, work[2:], actions[n], weights, rows
        )
        best = max(best, probabilities[n])
    total = 0.0
    for n in range(count):
        probabilities[n] = np.exp(probabilities[n] - best)
        total += probabilities[n]
    for n in range(count):
        probabilities[n] = UNIFORM_SHARE / count + (1.0 - UNIFORM_SHARE) * probabilities[n] / total
    return count


@kernel
def model_choices(
    position: Words,
    tables: Words,
    weights: Any,
    possible: int,
    inverse_temperature: float,
    out: Any,
) -> None:
    """The model's chance of each action legal now, were Jack each of the possible characters.

    Args:
        position: a decision of Jack's, his identity known; left alone.
        weights: of the fitted value function, float32, shape `(WEIGHTS,)`.
        possible: mask of identities.
        inverse_temperature: of the model, per unit of return.
        out: float64, shape `(seats, actions)`, actions in ascending order of their ids; receives
            the probabilities, the least that the model gives where an action would not be legal.
    """
    t = tables_of(tables)
    work = new_states(3)
    work[0] = state_of(position)
    rows = np.empty(ACTIVE, np.int64)
    legal = np.empty(MAX_ACTIONS, np.int64)
    actions = np.empty(MAX_ACTIONS, np.int64)
    probabilities = np.empty(MAX_ACTIONS)
    listed = list_legal(work[0], t, legal)
    for jack in range(t["seats"]):
        if possible >> jack & 1 == 0:
            continue
        count = _choice_probabilities(
            work, t, jack, inverse_temperature, weights, rows, actions, probabilities
        )
        at = 0
        for n in range(listed):
            while at < count and actions[at] < legal[n]:
                at += 1
            if at < count and actions[at] == legal[n]:
                out[jack, n] = probabilities[at]
            else:
                out[jack, n] = UNIFORM_SHARE / count


@kernel
def weigh_plays(
    root: Words,
    tables: Words,
    weights: Any,
    events: Any,
    first: int,
    possible: int,
    inverse_temperature: float,
    logarithms: Any,
) -> None:
    """Add the logarithm of each of Jack's choices, were he each of the possible characters.

    Args:
        root: the position the game began in, masked for the Detective; left alone.
        weights: of the fitted value function, float32, shape `(WEIGHTS,)`.
        events: int64, the event codes of the game as the Detective sees them.
        first: index of the first event to weigh; those before are only played.
        possible: mask of the identities that agree with all events.
        inverse_temperature: of the model, per unit of return.
        logarithms: float64, by seat; added to.
    """
    t = tables_of(tables)
    work = new_states(3)
    work[0] = state_of(root)
    s = work[0]
    rows = np.empty(ACTIVE, np.int64)
    actions = np.empty(MAX_ACTIONS, np.int64)
    probabilities = np.empty(MAX_ACTIONS)
    # The calls for witnesses went the same way for each of them.
    somebody = lowest(np.uint64(possible))
    if s["node"] != NodeKind.JACK:
        s["jack"] = somebody
    for index in range(len(events)):
        code = events[index]
        if code >= EVENT_WITNESS:
            continue
        if code >= EVENT_ALIBI:
            drawer = (code - EVENT_ALIBI) // 16
            before = s["drawn"][drawer]
            seat = code % 16
            if seat == EVENT_HIDDEN_SEAT:
                apply_chance(s, t, lowest(np.uint64(alibi_pile(s, t))))
                s["drawn"][drawer] = before
            else:
                apply_chance(s, t, seat)
            continue
        if code >= EVENT_DEAL:
            apply_chance(s, t, code - EVENT_DEAL)
            continue
        if code >= EVENT_JACK:
            apply_chance(s, t, somebody)
            continue
        if index >= first and s["player"] == Player.JACK:
            for jack in range(t["seats"]):
                if possible >> jack & 1 == 0:
                    continue
                count = _choice_probabilities(
                    work, t, jack, inverse_temperature, weights, rows, actions, probabilities
                )
                chance = UNIFORM_SHARE / count
                for n in range(count):
                    if actions[n] == code:
                        chance = probabilities[n]
                logarithms[jack] += np.log(chance)
        apply_player(s, t, integer(code))
