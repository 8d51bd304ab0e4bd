"""Certain wins and avoidable losses of the player to move, within one play."""

from __future__ import annotations

import numpy as np

from mrjack_ai.engine.tables import build_tables
from mrjack_ai.game.actions import accusation_ids
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.position import state_record
from mrjack_ai.search import forced_outcomes
from mrjack_ai.search.heuristic_ratings import TIE, heuristic_ratings
from mrjack_ai.setup.variant import DETECTIVE, JACK, MAX_SEATS


def certain_wins(observation: Observation, possible: int) -> list[int]:
    """Actions that begin a play which wins for certain: an escape, a certain accusation.

    Args:
        observation: of the player to move.
        possible: mask of the identities he holds possible.
    """
    if observation.player == DETECTIVE:
        if possible.bit_count() != 1:
            return []
    elif observation.witness_seen:
        return []
    ratings = heuristic_ratings(observation, possible)
    if ratings.max() < 1.0 - TIE:
        return []
    return [observation.actions[n] for n in np.flatnonzero(ratings >= 1.0 - TIE)]


def avoidable_losses(observation: Observation, possible: int) -> list[int]:
    """Actions that lose for certain, if others do not.

    These are: an accusation of somebody who cannot be Jack; on the Detective's last card, every
    action after which nobody who can be Jack can be accused any more; and where the player to
    move knows who Jack is, every action after which the opponent certainly wins with his next
    card: always as Jack (who is caught for certain only when everybody else is cleared), as the
    Detective when one suspect is left.

    Args:
        observation: of the player to move.
        possible: mask of the identities he holds possible.

    Returns:
        The losing actions; empty when all lose, or none.
    """
    if observation.player == DETECTIVE and possible.bit_count() != 1:
        losing = _hopeless(observation, possible)
    elif observation.player == JACK and len(observation.suspects()) > 4:
        losing = []  # no single call for witnesses is likely to clear so many
    else:
        losing = _judged(observation, possible)
    return [] if len(losing) == len(observation.actions) else losing


def _hopeless(observation: Observation, possible: int) -> list[int]:
    """Accusations of the innocent; on the last card also what leaves nobody to accuse."""
    actions = np.array(observation.actions)
    if observation.is_last_chance():
        # An accusation of one of n suspects is rated 1 / n, and nothing else has any hope.
        losing = heuristic_ratings(observation, possible) < 1 / MAX_SEATS - TIE
    else:
        low, high = accusation_ids(observation.variant)
        accused = np.clip(actions - low, 0, MAX_SEATS)
        losing = (actions >= low) & (actions < high) & (possible >> accused & 1 == 0)
    return [int(action) for action in actions[losing]]


def _judged(observation: Observation, possible: int) -> list[int]:
    """Actions after which the opponent certainly wins with his next card; Jack is known."""
    words = observation.position_words()
    state_record(words)["jack"] = possible.bit_length() - 1
    judged = np.empty(len(observation.actions), np.int64)
    forced_outcomes.judge_actions(words, build_tables(observation.variant), judged)
    return [observation.actions[n] for n in np.flatnonzero(judged == forced_outcomes.LOSING)]
