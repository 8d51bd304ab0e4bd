"""`pimc`: perfect-information Monte Carlo."""

from __future__ import annotations

from typing import Any

from mrjack_ai.agents.parameters import ranges
from mrjack_ai.agents.search import SearchAgent
from mrjack_ai.common.numbers import WholeNumbers
from mrjack_ai.game.belief import determinize
from mrjack_ai.game.observation import Observation
from mrjack_ai.search.kernels import FIXED_WORLD
from mrjack_ai.search.tree import RootStatistics, add_up, split


@ranges(worlds=WholeNumbers(1, 10_000))
class PIMCAgent(SearchAgent):
    """Perfect-information Monte Carlo: searches sampled worlds one by one and adds up the votes.

    Args:
        worlds: how many worlds share the budget; the others as `SearchAgent`.
    """

    kind = FIXED_WORLD

    def __init__(self, worlds: int = 16, **settings: Any) -> None:
        super().__init__(**settings)
        self._worlds = worlds

    def _find(self, observation: Observation) -> RootStatistics:
        """Search each sampled world with an equal share of the budget."""
        shares = split(self._simulations, self._worlds)
        if self._seconds:
            shares = [0] * self._worlds
        belief = self._belief(observation)
        parts: list[RootStatistics] = []
        for number, share in enumerate(shares, start=1):
            if parts and self._seconds and self._left(self._seconds) == 0:
                break
            world = determinize(observation, self.rng, belief)
            # On a clock each world is searched until its share of the decision's time has passed.
            until = self._seconds * number / len(shares)
            parts.append(self._search(observation, world, share, until))
        return add_up(parts)
