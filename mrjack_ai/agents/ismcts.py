"""`ismcts`: information-set Monte Carlo tree search with one tree."""

from __future__ import annotations

from mrjack_ai.agents.search import SearchAgent
from mrjack_ai.search.kernels import SINGLE_OBSERVER


class ISMCTSAgent(SearchAgent):
    """Information-set Monte Carlo tree search with one tree (single observer).

    Cowling, Powley, Whitehouse: Information Set Monte Carlo Tree Search, 2012.
    """

    kind = SINGLE_OBSERVER
