"""Certain wins and avoidable losses of the player to move, within one play."""

from __future__ import annotations

import numpy as np

from mrjack_ai.agents.greedy import TIE
from mrjack_ai.engine import tactics
from mrjack_ai.engine.greedy import rate_actions
from mrjack_ai.engine.layout import STATE
from mrjack_ai.observation import Observation
from mrjack_ai.tables import build_tables
from mrjack_ai.variant import DETECTIVE, JACK


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
    ratings = np.empty(len(observation.actions))
    tables = build_tables(observation.variant)
    rate_actions(observation.position_words(), tables, possible, ratings)
    if ratings.max() < 1.0 - TIE:
        return []
    return [observation.actions[n] for n in np.flatnonzero(ratings >= 1.0 - TIE)]


def avoidable_losses(observation: Observation, possible: int) -> list[int]:
    """Actions after which the opponent certainly wins with his next card, if others are better.

    Looked for where the player to move knows who Jack is: always as Jack (who is caught for
    certain only when everybody else is cleared), as the Detective when one suspect is left.

    Args:
        observation: of the player to move.
        possible: mask of the identities he holds possible.

    Returns:
        The losing actions; empty when all lose, or none.
    """
    if possible.bit_count() != 1:
        return []
    if observation.player == JACK and len(observation.suspects()) > 4:
        return []  # no single call for witnesses is likely to clear so many
    words = observation.position_words()
    record = words.view(STATE)[0]
    record["jack"] = possible.bit_length() - 1
    judged = np.empty(len(observation.actions), np.int64)
    tactics.judge_actions(words, build_tables(observation.variant), judged)
    losing = [observation.actions[n] for n in np.flatnonzero(judged == tactics.LOSING)]
    return [] if len(losing) == len(observation.actions) else losing
