"""`greedy`: plays by rule of thumb."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.base import Agent, uniform_over
from mrjack_ai.belief import possible_identities
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
        if observation.player == DETECTIVE:
            suspects = possible_identities(observation)
        else:
            record = observation._record
            everybody = (1 << len(observation.variant.cast)) - 1
            suspects = everybody & ~(int(record["cleared"]) | int(record["ruled_out"]))
        ratings = np.empty(len(observation.actions))
        tables = build_tables(observation.variant)
        rate_actions(observation.position_words(), tables, suspects, ratings)
        return ratings
