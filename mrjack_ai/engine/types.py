"""The words of the engine: players, kinds of node and of action, endings; types of its records.

Each enum is an `IntEnum`, which numba takes for its number wherever a kernel names a member;
tables and records hold the numbers.

To a type checker a record is a `TypedDict`, since kernels read and write `s["field"]`: it knows the
fields, and whether one is a number, a set or an array. numba looks at none of this; the layouts are
`STATE` and `GENERATOR` in `mrjack_ai.engine.layout` and `TABLES` in `mrjack_ai.engine.tables`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol, TypedDict, TypeVar, overload

import numpy as np
import numpy.typing as npt

from mrjack_ai.setup.variant import Player

__all__ = [
    "ACTION_KINDS",
    "NODE_NAMES",
    "ActionKind",
    "Bytes",
    "EndingKind",
    "Floats",
    "GeneratorRecord",
    "Integers",
    "NodeKind",
    "Player",
    "Records",
    "StateRecord",
    "TablesRecord",
    "Words",
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


Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]


class StateRecord(TypedDict):
    """A position: one record of `STATE`, where the fields are explained."""

    occupied: np.uint64
    covered: np.uint64
    lit: np.uint64
    cordons: np.uint64
    position: Bytes
    tile_place: Bytes
    node: int
    player: int
    turn: int
    play: int
    jack: int
    seen: int
    light: int
    cleared: int
    exonerated: int
    drawn: Bytes
    draws: Bytes
    dealt: int
    remaining: int
    seat: int
    moved: int
    ability: int
    steps: int
    whistled: int
    accused: int
    ending: int
    reserved: Bytes


class TablesRecord(TypedDict):
    """The tables of a variant: one record of `TABLES`, where the fields are explained."""

    neighbours: Words
    ball: Words
    beam: Words
    lamp_light: Words
    whistle: Words
    exit_bit: Words
    manholes: np.uint64
    lamps: np.uint64
    exits: np.uint64
    start_lit: np.uint64
    start_covered: np.uint64
    start_cordons: np.uint64
    hexes: int
    seats: int
    lamp_places: int
    exit_places: int
    turns: int
    deals: int
    actions: int
    base: Integers
    manhole_rank: Integers
    manhole_places: int
    start_position: Bytes
    start_tile_place: Bytes
    start_light: int
    light_seat: int
    cast: int
    seat_range: Bytes
    seat_walk: Bytes
    seat_ability: Bytes
    play_order: Bytes
    deal_mask: Bytes
    kind: Bytes
    argument: Bytes


class GeneratorRecord(TypedDict):
    """A random generator: one record of `GENERATOR`."""

    state: np.uint64
    padding: Words


Record = TypeVar("Record")


class Records(Protocol[Record]):
    """An array of records, shape `(n,)`; to assign to an element copies the whole record."""

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Records[Record]: ...
    def __setitem__(self, index: int, value: Record) -> None: ...
    def __len__(self) -> int: ...
