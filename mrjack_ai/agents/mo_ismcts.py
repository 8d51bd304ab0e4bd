"""`mo-ismcts`: information-set Monte Carlo tree search with a tree for each player."""

from __future__ import annotations

from mrjack_ai.agents.search import SearchAgent
from mrjack_ai.search.kernels import MULTIPLE_OBSERVER


class MultipleObserverISMCTSAgent(SearchAgent):
    """Information-set Monte Carlo tree search with a tree for each player (multiple observers).

    What the Detective's tree expects of Jack comes from Jack's own tree, which begins with who he
    is; so his identity never leaks into the Detective's decisions. (In Jack's own search he is
    Jack in every sample, and the Detective he expects comes to play as if he had an inkling.)
    Source as `ISMCTSAgent`.
    """

    kind = MULTIPLE_OBSERVER
