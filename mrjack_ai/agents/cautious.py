"""`cautious`: rolls dice, but accuses only when it is certain or has its last chance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.base import Agent, uniform_over
from mrjack_ai.game.actions import accusation_ids
from mrjack_ai.game.belief import possible_identities
from mrjack_ai.game.observation import Observation
from mrjack_ai.setup.variant import DETECTIVE


class CautiousAgent(Agent):
    """Chooses uniformly, but accuses only when it is certain, or when it is now or never.

    As the Detective it accuses the only suspect left, and a suspect in reach on the last card it
    plays in the game; otherwise it never accuses unless nothing else is legal.
    """

    plays_policy = True

    def act(self, observation: Observation) -> int:
        chosen = self._chosen(observation)
        return chosen[int(self.rng.integers(len(chosen)))]

    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        chosen = set(self._chosen(observation))
        return uniform_over(np.array([action in chosen for action in observation.actions]))

    def _chosen(self, observation: Observation) -> tuple[int, ...]:
        actions = observation.actions
        if observation.player != DETECTIVE:
            return actions
        low, high = accusation_ids(observation.variant)
        if not (actions[0] < high and actions[-1] >= low):
            return actions  # no accusation is legal; the common case
        accusations = [action for action in actions if low <= action < high]
        if not accusations:
            return actions
        possible = possible_identities(observation)
        if possible.bit_count() == 1 or observation.is_last_chance():
            wanted = tuple(action for action in accusations if possible >> (action - low) & 1)
            if wanted:
                return wanted
        quiet = tuple(action for action in actions if not low <= action < high)
        return quiet or actions
