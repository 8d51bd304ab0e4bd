"""The kinds of character (docs/rules.md, section 1).

A *kind* says what a character can do; a *seat* (see `mrjack_ai.setup.variant`) is a place in the
cast of one game. Engine code never asks which kind sits where: it reads the seat's range, its way
of walking and its ability from the tables, so further kinds only need a row here and, where the
ability is new, a branch in the engine.
"""

from __future__ import annotations

from dataclasses import dataclass

from mrjack_ai.errors import NotationError

ABILITY_NONE = 0
ABILITY_DRAW = 1
"""Draw an alibi card after moving (5.1)."""
ABILITY_AIM = 2
"""Aim the lantern after moving (5.2)."""
ABILITY_LAMP = 3
"""Move a lit gaslight tile before or after moving (5.4)."""
ABILITY_CORDON = 4
"""Move a police cordon before or after moving (5.4)."""
ABILITY_COVER = 5
"""Move a manhole cover before or after moving (5.4)."""
ABILITY_WHISTLE = 6
"""Whistle others closer before or after moving (5.6, 5.7)."""
ABILITY_SWAP = 7
"""Swap places with another character instead of moving (5.5)."""

WALK_STREETS = 0
"""Walks on street hexes only (4.2)."""
WALK_ANYWHERE = 1
"""Crosses obstacles and gaslights on the way (4.5)."""


@dataclass(frozen=True)
class Kind:
    """One kind of character.

    Attributes:
        code: two capital letters, as in the notation (section 9).
        name: name in full.
        range: most steps of a move; the fewest are always 1 (4.1).
        walk: `WALK_STREETS` or `WALK_ANYWHERE`.
        ability: one of the `ABILITY_` constants.
    """

    code: str
    name: str
    range: int
    walk: int
    ability: int


KINDS: tuple[Kind, ...] = (
    Kind("SH", "Sherlock Holmes", 3, WALK_STREETS, ABILITY_DRAW),
    Kind("JW", "John H. Watson", 3, WALK_STREETS, ABILITY_AIM),
    Kind("JS", "John Smith", 3, WALK_STREETS, ABILITY_LAMP),
    Kind("IL", "Inspector Lestrade", 3, WALK_STREETS, ABILITY_CORDON),
    Kind("MS", "Miss Stealthy", 4, WALK_ANYWHERE, ABILITY_NONE),
    Kind("SG", "Sergeant Goodley", 3, WALK_STREETS, ABILITY_WHISTLE),
    Kind("WG", "Sir William Gull", 3, WALK_STREETS, ABILITY_SWAP),
    Kind("JB", "Jeremy Bert", 3, WALK_STREETS, ABILITY_COVER),
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
        raise NotationError(f"unknown character {code!r}; the characters are {known}") from None
