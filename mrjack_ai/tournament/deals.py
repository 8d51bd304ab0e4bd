"""Deals: everything chance decides in a game, fixed beforehand.

Two games on one deal differ only in what the players do, so playing each deal twice with the
sides swapped takes the luck of the cards out of a comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mrjack_ai.game import State
from mrjack_ai.tables import deal_outcomes
from mrjack_ai.variant import Variant


@dataclass(frozen=True)
class Deal:
    """What chance decides, independent of the players.

    Attributes:
        identity: seat of Jack.
        deals: outcome of the deal of each odd turn, in order.
        pile: seats on the alibi cards, top card first (2.2).
    """

    identity: int
    deals: tuple[int, ...]
    pile: tuple[int, ...]

    def outcome(self, state: State) -> int:
        """The outcome of the chance node a game on this deal has reached.

        Raises:
            ValueError: when the state is at no chance node.
        """
        if state.node == "jack":
            return self.identity
        if state.node == "deal":
            return self.deals[state.turn // 2]
        if state.node == "alibi":
            return self.pile[state.alibi_count(0) + state.alibi_count(1)]
        raise ValueError(f"a {state.node} node is no chance node")


def make_deal(variant: Variant, rng: np.random.Generator) -> Deal:
    """A deal with the probabilities of the rules (2.2, 3.1).

    Args:
        variant: the variant.
        rng: source of randomness.
    """
    seats = len(variant.cast)
    cards = [int(seat) for seat in rng.permutation(seats)]
    outcomes = len(deal_outcomes(seats))
    return Deal(
        identity=cards[0],
        deals=tuple(int(n) for n in rng.integers(outcomes, size=(variant.turns + 1) // 2)),
        pile=tuple(cards[1:]),
    )
