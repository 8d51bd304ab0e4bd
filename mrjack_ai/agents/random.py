"""`random`: rolls dice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.base import Agent
from mrjack_ai.game.observation import Observation


class RandomAgent(Agent):
    """Chooses uniformly among the legal actions."""

    plays_policy = True

    def act(self, observation: Observation) -> int:
        return observation.actions[int(self.rng.integers(len(observation.actions)))]

    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        return np.full(len(observation.actions), 1.0 / len(observation.actions))
