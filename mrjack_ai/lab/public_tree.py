"""The public tree of a variant: everything that both players see, enumerated once.

All moves are public, so two histories differ for an observer only in who Jack is and in which
alibi cards were drawn. A node of the public tree is a sequence of public events; the hidden facts
are *private states*, a vector along the tree for each player:

- the Detective's private state is the sequence of alibi cards they have drawn,
- Jack's is who he is, then the sequence of alibi cards he has drawn.

With `n` seats, `d` cards drawn by the Detective and `j` by Jack these are `n ** d` and
`n ** (j + 1)` private states; the index of a sequence is its digits in base `n`, the first card (or
the identity) the most significant. Sequences that cannot occur have weight 0 (`chance_weights`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import perm
from typing import Any

import numpy as np
import numpy.typing as npt

from mrjack_ai.engine import kernels
from mrjack_ai.engine.layout import STATE_WORDS
from mrjack_ai.engine.tables import build_tables
from mrjack_ai.errors import LabError
from mrjack_ai.game.state import new_game
from mrjack_ai.lab.expansion import MOST_CHILDREN, NODE, PublicNode, expand
from mrjack_ai.lab.warmup import LAB
from mrjack_ai.setup.variant import Player, Variant

_FIRST_NODES = 1 << 12
MOST_NODES = 1 << 27

Nodes = npt.NDArray[np.void]


@dataclass(frozen=True)
class PublicTree:
    """The public tree of a variant, after Jack's card was drawn.

    Attributes:
        variant: the variant.
        nodes: `NODE[n]`, level by level; the root is the first.
        levels: `int64[depth + 1]`: where each level begins, then the number of nodes.
    """

    variant: Variant
    nodes: Nodes
    levels: npt.NDArray[np.int64]

    @property
    def seats(self) -> int:
        """Size of the cast."""
        return len(self.variant.cast)

    @cached_property
    def most_draws(self) -> tuple[int, int]:
        """Most alibi cards each player draws on any path."""
        most = self.nodes["draws"].max(axis=0)
        return int(most[Player.DETECTIVE]), int(most[Player.JACK])

    @cached_property
    def histories(self) -> int:
        """How many histories the game has: nodes of its game tree, chance and ends included."""
        seats = self.seats
        total = 1  # before Jack's card is drawn
        identities = np.bitwise_count(self.nodes["identities"]).astype(np.int64)
        draws = self.nodes["draws"].sum(axis=1)
        for count in range(int(draws.max()) + 1):
            # Cards drawn in sequence from the pile of the rest of the cast.
            total += int(identities[draws == count].sum()) * perm(seats - 1, count)
        return total

    def children(self, at: int) -> range:
        """Indices of the children of a node, in the order of their slots."""
        first = int(self.nodes[at]["first"])
        return range(first, first + int(self.nodes[at]["children"]))

    def private_states(self, player: int, draws: int) -> int:
        """How many private states a player has who has drawn so many cards."""
        return int(self.seats ** (draws + (player == Player.JACK)))

    def chance_weights(self, detective_draws: int, jack_draws: int) -> npt.NDArray[np.float64]:
        """Probability that chance gives both players their private states.

        Returns:
            float64, shape `(private states of the Detective, private states of Jack)`; adds up
            to 1.
        """
        seats = self.seats
        weights = np.zeros((seats**detective_draws, seats ** (jack_draws + 1)))
        total = detective_draws + jack_draws
        probability = 1 / seats / perm(seats - 1, total)
        for ours, held in enumerate(product(range(seats), repeat=detective_draws)):
            for theirs, other in enumerate(product(range(seats), repeat=jack_draws + 1)):
                if len({*held, *other}) == total + 1:
                    weights[ours, theirs] = probability
        return weights


def build_public_tree(variant: Variant, most: int = MOST_NODES) -> PublicTree:
    """Enumerate the public tree of a variant.

    Args:
        variant: a small one: the standard game's tree does not fit anywhere.
        most: give up beyond so many nodes.

    Raises:
        LabError: when the tree has more nodes.
    """
    LAB.ensure()
    tables = build_tables(variant)
    start = new_game(variant)
    start.apply_action(0)
    frontier = start.position_words().copy().reshape(1, STATE_WORDS)
    kernels.mask_state(frontier[0], Player.DETECTIVE)
    places = np.zeros(1, np.int64)
    nodes = np.zeros(_FIRST_NODES + MOST_CHILDREN, NODE)
    nodes[0]["parent"] = -1
    nodes[0]["kind"] = PublicNode.CARDS_DEALT
    nodes[0]["identities"] = (1 << len(variant.cast)) - 1
    nodes[0]["turn"] = 1
    levels = [0, 1]
    used = 1
    while len(frontier):
        out = np.zeros((4 * len(frontier) + MOST_CHILDREN, STATE_WORDS), np.uint64)
        out_places = np.zeros(len(out), np.int64)
        done = out_used = 0
        while True:
            done, used, out_used = expand(
                tables, frontier, places, done, len(frontier), nodes, used, out, out_places,
                out_used,
            )  # fmt: skip
            if done == len(frontier):
                break
            if used > most:
                raise LabError(
                    f"the public tree of this variant has more than {most} nodes; take a smaller "
                    "board, cast or number of turns"
                )
            if used + MOST_CHILDREN > len(nodes):
                nodes = _doubled(nodes)
            if out_used + MOST_CHILDREN > len(out):
                out, out_places = _doubled(out), _doubled(out_places)
        frontier, places = out[:out_used].copy(), out_places[:out_used].copy()
        if used > levels[-1]:
            levels.append(used)
    return PublicTree(variant, nodes[:used].copy(), np.array(levels))


def _doubled(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    larger = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
