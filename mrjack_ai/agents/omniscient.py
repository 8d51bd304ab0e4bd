"""`omniscient`: the search that looks at the truth, a cheat."""

from __future__ import annotations

import numpy as np

from mrjack_ai.agents.search import SearchAgent
from mrjack_ai.errors import AgentError
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.position import state_record
from mrjack_ai.game.state import State
from mrjack_ai.search.kernels import FIXED_WORLD
from mrjack_ai.search.tree import RootStatistics
from mrjack_ai.setup.variant import Variant


class OmniscientAgent(SearchAgent):
    """Monte Carlo tree search on the true state: a cheat, for upper bounds only.

    It takes part in a tournament only where cheats are allowed.
    """

    kind = FIXED_WORLD
    cheats = True

    def start(self, variant: Variant, player: int, rng: np.random.Generator) -> None:
        super().start(variant, player, rng)
        self._seen: State | None = None

    def see(self, state: State) -> None:
        """Look at the truth."""
        self._seen = state.clone()

    @property
    def _truth(self) -> State:
        if self._seen is None:
            raise AgentError("an omniscient agent must be shown the state (`see`) before it acts")
        return self._seen

    def _possible(self, observation: Observation) -> int:
        return 1 << int(state_record(self._truth.position_words())["jack"])

    def _find(self, observation: Observation) -> RootStatistics:
        """Search the state seen last."""
        return self._search(observation, self._truth, self._simulations, self._seconds)
