"""Positions of the game that belong to the nodes of a public tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mrjack_ai.game.state import State, new_game
from mrjack_ai.lab.expansion import PublicNode
from mrjack_ai.lab.public_tree import PublicTree
from mrjack_ai.setup.variant import Player


@dataclass(frozen=True)
class InformationState:
    """A node of the public tree where a player decides, with one private state of theirs.

    Attributes:
        node: index of the node.
        player: who decides.
        private: index of the private state (see `public_tree`).
        identities: mask of the seats that can be Jack as far as everybody knows.
    """

    node: int
    player: int
    private: int
    identities: int


def private_cards(tree: PublicTree, player: int, draws: int, private: int) -> tuple[int, ...]:
    """The cards behind a private state: for Jack who he is, then what he drew, in order."""
    seats = tree.seats
    digits = draws + (player == Player.JACK)
    return tuple(private // seats**place % seats for place in reversed(range(digits)))


def information_states(tree: PublicTree, player: int | None = None) -> Iterator[InformationState]:
    """All information states that can occur, of one player or of both, level by level."""
    nodes = tree.nodes
    players = (Player.DETECTIVE, Player.JACK) if player is None else (player,)
    for at in np.flatnonzero(nodes["kind"] <= PublicNode.JACK_DECIDES).tolist():
        node = nodes[at]
        mover, identities = int(node["kind"]), int(node["identities"])
        if mover not in players:
            continue
        draws = int(node["draws"][mover])
        for private in range(tree.private_states(mover, draws)):
            found = InformationState(at, mover, private, identities)
            if complete(tree, found) is not None:
                yield found


def complete(
    tree: PublicTree, information: InformationState
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Private cards of the Detective and of Jack that fit an information state.

    Returns:
        cards the Detective drew; who Jack is, then the cards he drew. None when nothing fits: the
        information state cannot occur.
    """
    draws = tree.nodes[information.node]["draws"]
    player = information.player
    own = private_cards(tree, player, int(draws[player]), information.private)
    if len(set(own)) < len(own):
        return None
    others = [seat for seat in range(tree.seats) if seat not in own]
    if player == Player.JACK:
        if not information.identities >> own[0] & 1:
            return None
        needed = int(draws[Player.DETECTIVE])
        return (tuple(others[:needed]), own) if needed <= len(others) else None
    fitting = [seat for seat in others if information.identities >> seat & 1]
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


def state_at(tree: PublicTree, information: InformationState) -> State:
    """A state in which the player is in this information state; what they cannot know is made up.

    Raises:
        ValueError: when the information state cannot occur.
    """
    completed = complete(tree, information)
    if completed is None:
        raise ValueError(f"{information} cannot occur")
    held, (jack, *jack_held) = completed
    cards: dict[int, list[int]] = {Player.DETECTIVE: list(held), Player.JACK: jack_held}
    state = new_game(tree.variant)
    state.apply_action(jack)
    path = path_to(tree, information.node)
    for before, after in pairwise(path):
        if tree.nodes[before]["kind"] == PublicNode.CARD_DRAWN:
            state.apply_action(cards[int(tree.nodes[before]["mover"])].pop(0))
        else:
            state.apply_action(int(tree.nodes[after]["action"]))
    return state


def actions_at(tree: PublicTree, node: int) -> npt.NDArray[np.int64]:
    """Ids of the actions of a node, in the order of the slots."""
    first, count = int(tree.nodes[node]["first"]), int(tree.nodes[node]["children"])
    children = tree.nodes[first : first + count]
    return children["action"][np.unique(children["slot"], return_index=True)[1]].astype(np.int64)
