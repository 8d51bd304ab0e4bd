"""Positions of the game that belong to the nodes of a public tree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mrjack_ai.game.state import State, new_game
from mrjack_ai.lab.expansion import PublicNode
from mrjack_ai.lab.public_tree import PublicTree
from mrjack_ai.setup.variant import Player


def private_cards(tree: PublicTree, player: int, draws: int, private: int) -> tuple[int, ...]:
    """The cards behind a private state: for Jack who he is, then what he drew, in order."""
    seats = tree.seats
    digits = draws + (player == Player.JACK)
    return tuple(private // seats**place % seats for place in reversed(range(digits)))


def information_states(
    tree: PublicTree, player: int | None = None
) -> Iterator[tuple[int, int, int]]:
    """All information states that can occur, of one player or of both, level by level.

    Yields:
        the node of the public tree, who decides there, and their private state.
    """
    nodes = tree.nodes
    players = (Player.DETECTIVE, Player.JACK) if player is None else (player,)
    for at in np.flatnonzero(np.isin(nodes["kind"], players)).tolist():
        mover = int(nodes[at]["kind"])
        for private in range(tree.private_states(mover, int(nodes[at]["draws"][mover]))):
            if complete(tree, at, private) is not None:
                yield at, mover, private


def complete(
    tree: PublicTree, at: int, private: int
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Private cards of both players that fit a private state of the one who decides at a node.

    Returns:
        cards the Detective drew; who Jack is, then the cards he drew. None when nothing fits: the
        information state cannot occur.
    """
    draws, player = tree.nodes[at]["draws"], int(tree.nodes[at]["kind"])
    identities = int(tree.nodes[at]["identities"])
    own = private_cards(tree, player, int(draws[player]), private)
    if len(set(own)) < len(own):
        return None
    others = [seat for seat in range(tree.seats) if seat not in own]
    if player == Player.JACK:
        if not identities >> own[0] & 1:
            return None
        needed = int(draws[Player.DETECTIVE])
        return (tuple(others[:needed]), own) if needed <= len(others) else None
    fitting = [seat for seat in others if identities >> seat & 1]
    if not fitting:
        return None
    rest = [seat for seat in others if seat != fitting[0]]
    needed = int(draws[Player.JACK])
    return (own, (fitting[0], *rest[:needed])) if needed <= len(rest) else None


def path_to(tree: PublicTree, node: int) -> list[int]:
    """Nodes from the root to a node, both included."""
    path = [node]
    while (parent := int(tree.nodes[path[-1]]["parent"])) >= 0:
        path.append(parent)
    return path[::-1]


def state_at(tree: PublicTree, at: int, private: int) -> State:
    """A state at a node, with a private state of who decides; what they cannot know is made up.

    Raises:
        ValueError: when the information state cannot occur.
    """
    completed = complete(tree, at, private)
    if completed is None:
        raise ValueError(f"private state {private} cannot occur at node {at}")
    held, (jack, *jack_held) = completed
    cards: dict[int, list[int]] = {Player.DETECTIVE: list(held), Player.JACK: jack_held}
    state = new_game(tree.variant)
    state.apply_action(jack)
    for before, after in pairwise(path_to(tree, at)):
        if tree.nodes[before]["kind"] == PublicNode.CARD_DRAWN:
            state.apply_action(cards[int(tree.nodes[before]["mover"])].pop(0))
        else:
            state.apply_action(int(tree.nodes[after]["action"]))
    return state


def actions_at(tree: PublicTree, node: int) -> npt.NDArray[np.int64]:
    """Ids of the actions of a node, in the order of the slots."""
    below = tree.children(node)
    children = tree.nodes[below.start : below.stop]
    return children["action"][np.unique(children["slot"], return_index=True)[1]].astype(np.int64)
