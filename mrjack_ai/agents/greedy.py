"""`greedy`: takes what the heuristic rates best."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.base import Agent, uniform_over
from mrjack_ai.game.belief import possible_identities, public_identities
from mrjack_ai.game.observation import Observation
from mrjack_ai.search.heuristic_ratings import TIE, heuristic_ratings
from mrjack_ai.search.warmup import HEURISTIC
from mrjack_ai.setup.variant import DETECTIVE, Variant


class GreedyAgent(Agent):
    """Finishes each card in the way that looks best, without asking what the other will do.

    The Detective halves the suspects at each call for witnesses, keeps exits closed and suspects
    in reach, and takes the certain accusation; Jack keeps himself in the larger group, stays out
    of reach, and leaves when he can.
    """

    @classmethod
    def load(cls) -> None:
        HEURISTIC.load()

    def start(self, variant: Variant, player: int, rng: np.random.Generator) -> None:
        super().start(variant, player, rng)
        HEURISTIC.ensure()

    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        ratings = self.ratings(observation)
        return uniform_over(ratings >= ratings.max() - TIE)

    def ratings(self, observation: Observation) -> npt.NDArray[np.float64]:
        """Rated chance to win after each legal action: float64, in the order of `actions`."""
        detective = observation.player == DETECTIVE
        candidates = (possible_identities if detective else public_identities)(observation)
        return heuristic_ratings(observation, candidates)
