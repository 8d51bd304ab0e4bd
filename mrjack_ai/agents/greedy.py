"""`greedy`: plays by rule of thumb."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.base import Agent, uniform_over
from mrjack_ai.belief import possible_identities, public_identities
from mrjack_ai.engine.greedy import rate_actions
from mrjack_ai.observation import Observation
from mrjack_ai.tables import build_tables
from mrjack_ai.variant import DETECTIVE

TIE = 1e-9
"""Ratings closer than this are equal; equal actions are chosen among at random."""


class GreedyAgent(Agent):
    """Finishes each card in the way that looks best, without asking what the other will do.

    The Detective halves the suspects at each call for witnesses, keeps exits closed and suspects
    in reach, and takes the certain accusation; Jack keeps himself in the larger group, stays out
    of reach, and leaves when he can.
    """

    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        ratings = self.ratings(observation)
        return uniform_over(ratings >= ratings.max() - TIE)

    def ratings(self, observation: Observation) -> npt.NDArray[np.float64]:
        """Rated chance to win after each legal action: float64, in the order of `actions`."""
        detective = observation.player == DETECTIVE
        suspects = (possible_identities if detective else public_identities)(observation)
        return rate(observation, suspects)


def rate(observation: Observation, suspects: int) -> npt.NDArray[np.float64]:
    """Rated chance to win after each legal action, by the best end of the play in progress.

    Args:
        observation: of the player to move.
        suspects: mask of the seats that can be Jack as the Detective sees it.

    Returns:
        float64, in the order of `observation.actions`.
    """
    ratings = np.empty(len(observation.actions))
    tables = build_tables(observation.variant)
    rate_actions(observation.position_words(), tables, suspects, ratings)
    return ratings
