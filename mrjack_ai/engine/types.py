"""The words of the engine: whose turn, kinds of node and of action, endings.

Each is an `IntEnum`, which numba takes for its number wherever a kernel names a member; tables and
records hold the numbers.
"""

from __future__ import annotations

from enum import IntEnum

from mrjack_ai.setup.variant import Player

__all__ = [
    "ACTION_KINDS",
    "NODE_NAMES",
    "ActionKind",
    "EndingKind",
    "NodeKind",
    "Player",
]


class NodeKind(IntEnum):
    """Kinds of node of the game tree (docs/rules.md, section 9)."""

    JACK = 0
    DEAL = 1
    PICK = 2
    USE = 3
    WHISTLE = 4
    AIM = 5
    ALIBI = 6
    TERMINAL = 7


NODE_NAMES: tuple[str, ...] = tuple(kind.name.lower() for kind in NodeKind)
"""Name of each kind of node in position texts."""


class EndingKind(IntEnum):
    """How a game ended (section 7); `mrjack_ai.game.endings` has their names."""

    NOT_ENDED = 0
    CAUGHT = 1
    WRONG_ACCUSATION = 2
    ESCAPE = 3
    DAWN = 4


class ActionKind(IntEnum):
    """Kinds of player action, in the order of their ids (section 9)."""

    PICK = 0
    LIGHT = 1
    STAY = 2
    ACCUSE = 3
    ESCAPE = 4
    MOVE = 5
    SWAP = 6
    LAMP = 7
    CORDON = 8
    COVER = 9
    WHISTLE = 10


ACTION_KINDS: tuple[str, ...] = tuple(kind.name.lower() for kind in ActionKind)
"""First word of an action's text, by kind."""
