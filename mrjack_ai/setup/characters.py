"""The kinds of character (docs/rules.md, section 1).

A *kind* says what a character can do; a *seat* (see `mrjack_ai.setup.variant`) is a place in the
cast of one game. Engine code never asks which kind sits where: it reads the seat's range, its way
of walking and its ability from the tables, so further kinds only need a row here and, where the
ability is new, a branch in the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from mrjack_ai.common.text import shown
from mrjack_ai.errors import NotationError


class Ability(IntEnum):
    """What a character can do besides moving.

    | ability | |
    |---|---|
    | DRAW | draw an alibi card after moving (5.1) |
    | AIM | aim the lantern after moving (5.2) |
    | LAMP | move a lit gaslight tile before or after moving (5.4) |
    | CORDON | move a police cordon before or after moving (5.4) |
    | COVER | move a manhole cover before or after moving (5.4) |
    | WHISTLE | whistle others closer before or after moving (5.6, 5.7) |
    | SWAP | swap places with another character instead of moving (5.5) |
    """

    NONE = 0
    DRAW = 1
    AIM = 2
    LAMP = 3
    CORDON = 4
    COVER = 5
    WHISTLE = 6
    SWAP = 7


class Walk(IntEnum):
    """Where a character can walk: on street hexes only (4.2), or across any hex (4.5)."""

    STREETS = 0
    ANYWHERE = 1


@dataclass(frozen=True)
class Kind:
    """One kind of character.

    Attributes:
        code: two capital letters, as in the notation (section 9).
        name: name in full.
        range: most steps of a move; the fewest are always 1 (4.1).
        walk: where they can walk.
        ability: what else they can do.
    """

    code: str
    name: str
    range: int
    walk: Walk
    ability: Ability


KINDS: tuple[Kind, ...] = (
    Kind("SH", "Sherlock Holmes", 3, Walk.STREETS, Ability.DRAW),
    Kind("JW", "John H. Watson", 3, Walk.STREETS, Ability.AIM),
    Kind("JS", "John Smith", 3, Walk.STREETS, Ability.LAMP),
    Kind("IL", "Inspector Lestrade", 3, Walk.STREETS, Ability.CORDON),
    Kind("MS", "Miss Stealthy", 4, Walk.ANYWHERE, Ability.NONE),
    Kind("SG", "Sergeant Goodley", 3, Walk.STREETS, Ability.WHISTLE),
    Kind("WG", "Sir William Gull", 3, Walk.STREETS, Ability.SWAP),
    Kind("JB", "Jeremy Bert", 3, Walk.STREETS, Ability.COVER),
)
"""All kinds in table order, the order in which the notation lists codes."""

KIND_BY_CODE: dict[str, Kind] = {kind.code: kind for kind in KINDS}
TABLE_ORDER: dict[str, int] = {kind.code: index for index, kind in enumerate(KINDS)}

MAX_RANGE = 4
"""Most steps any kind can move; sizes the reach tables."""


def kind_of(code: str) -> Kind:
    """The kind with this code.

    Raises:
        NotationError: for an unknown code, listing the known ones.
    """
    try:
        return KIND_BY_CODE[code]
    except KeyError:
        known = ", ".join(KIND_BY_CODE)
        raise NotationError(
            f"unknown character {shown(code)}; the characters are {known}"
        ) from None
