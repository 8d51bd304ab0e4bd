"""`Variant`: which game is played (docs/rules.md, section 11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from mrjack_ai.common.numbers import COUNTS, WholeNumbers
from mrjack_ai.common.text import shown
from mrjack_ai.errors import ArgumentError, MrJackError, VariantError
from mrjack_ai.setup.board import Board, board_from_dict, built_in_boards, load_board
from mrjack_ai.setup.characters import KINDS, TABLE_ORDER, Ability, Kind, kind_of


class Player(IntEnum):
    """Who decides, by the ids that OpenSpiel has for them (docs/rules.md, section 9)."""

    DETECTIVE = 0
    JACK = 1
    CHANCE = -1
    TERMINAL = -4


DETECTIVE = Player.DETECTIVE
"""Player id of the Detective."""
JACK = Player.JACK
"""Player id of Jack."""
PLAYER_NAMES: tuple[str, str] = ("detective", "jack")

MAX_SEATS = 8
MAX_TURNS = 8
TURNS = WholeNumbers(1, MAX_TURNS)
"""Numbers of turns a game can have."""
CAST_SIZES: tuple[int, ...] = (2, 4, 8)

FULL_CAST: tuple[str, ...] = tuple(kind.code for kind in KINDS[:8])


_PLAYERS = WholeNumbers(DETECTIVE, JACK)


def checked_player(player: object, name: str = "player") -> int:
    """The id of a player: the one place that says what counts as one.

    Args:
        player: 0 or 1, as any kind of integer, but no `bool`.
        name: what it is called, for the message.

    Raises:
        ArgumentError: when it is anything else.
    """
    try:
        return _PLAYERS.read(player, name)
    except ArgumentError:
        told = f"{name} {shown(player)} must be 0 (Detective) or 1 (Jack)"
        raise ArgumentError(told) from None


def _parse_cast(cast: str | Iterable[str]) -> tuple[str, ...]:
    if not isinstance(cast, Iterable):
        raise VariantError(f"cast {shown(cast)} must be character codes")
    codes = cast.replace(",", "+").split("+") if isinstance(cast, str) else list(cast)
    for code in codes:
        try:
            kind_of(code)
        except (MrJackError, TypeError) as error:
            raise VariantError(f"cast: {error}") from None
    if len(set(codes)) != len(codes):
        raise VariantError(f"cast {shown('+'.join(codes))} names a character twice")
    if len(codes) not in CAST_SIZES:
        raise VariantError(
            f"cast {'+'.join(codes)!r} has {len(codes)} characters; 2, 4 or 8 can play"
        )
    return tuple(sorted(codes, key=TABLE_ORDER.__getitem__))


@dataclass(frozen=True)
class Variant:
    """A board, a cast, a number of turns and who starts the odd turns.

    Immutable and hashable. A *seat* is an index into `cast`; the *kind* in a seat says what the
    character can do.

    Args:
        board: a `Board`; `make_variant` also takes the name or file of one.
        cast: 2, 4 or 8 character codes; kept in table order.
        turns: number of turns, 1 to 8.
        first: who plays first on odd turns, `detective` or `jack`.

    Raises:
        VariantError: for a cast, number of turns or starter that cannot be played.
    """

    board: Board = field(default_factory=lambda: load_board("whitechapel"))
    cast: tuple[str, ...] = FULL_CAST
    turns: int = MAX_TURNS
    first: str = "detective"

    def __post_init__(self) -> None:
        if not isinstance(self.board, Board):
            raise VariantError(
                f"board {shown(self.board)} is no Board; make_variant takes the name or file of one"
            )
        object.__setattr__(self, "cast", _parse_cast(self.cast))
        object.__setattr__(self, "turns", TURNS.read(self.turns, "turns", VariantError))
        if not isinstance(self.first, str) or self.first not in PLAYER_NAMES:
            raise VariantError(f"first {shown(self.first)} must be 'detective' or 'jack'")
        placed = dict(self.board.start)
        for code in self.cast:
            if code not in placed:
                raise VariantError(f"board {self.board.name!r} has no start hex for {code}")

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.board, self.cast, self.turns, self.first))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Variant):
            return NotImplemented
        return (self._hash, self.cast, self.turns, self.first, self.board) == (
            other._hash,
            other.cast,
            other.turns,
            other.first,
            other.board,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # String hashes differ between processes, so the cached hash must not travel.
        return (Variant, (self.board, self.cast, self.turns, self.first))

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """Kind of each seat."""
        return tuple(kind_of(code) for code in self.cast)

    @cached_property
    def seat_of(self) -> dict[str, int]:
        """Seat of each character code in the cast."""
        return {code: seat for seat, code in enumerate(self.cast)}

    @property
    def cards_per_turn(self) -> int:
        """Half of the cast is dealt each turn (11.1)."""
        return len(self.cast) // 2

    def play_order(self, turn: int) -> tuple[int, ...]:
        """Player id for each card of a turn (3.2, 11.1).

        Args:
            turn: turn number, counted from 1; whether the game lasts so long does not matter.

        Raises:
            VariantError: when it is no whole number, or negative.
        """
        turn = COUNTS.read(turn, "turn", VariantError)
        first = PLAYER_NAMES.index(self.first)
        starter = first if turn % 2 == 1 else 1 - first
        other = 1 - starter
        return {
            1: (starter,),
            2: (starter, other),
            4: (starter, other, other, starter),
        }[self.cards_per_turn]

    @cached_property
    def max_chance_nodes(self) -> int:
        """Most chance nodes in one game: the identity, a deal each odd turn, alibi draws."""
        draws = 0
        if any(kind.ability == Ability.DRAW for kind in self.kinds):
            draws = min((self.turns + 1) // 2, len(self.cast) - 1)
        return 1 + (self.turns + 1) // 2 + draws

    def is_default(self) -> bool:
        """True for the standard game."""
        return self == DEFAULT_VARIANT

    def to_dict(self) -> dict[str, Any]:
        """JSON form, kept in every record.

        A built-in board is given by its name, any other board in full.
        """
        board: str | dict[str, Any] = self.board.name
        if self.board.name not in built_in_boards() or load_board(self.board.name) != self.board:
            board = self.board.to_dict()
        return {
            "board": board,
            "cast": list(self.cast),
            "turns": self.turns,
            "first": self.first,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Variant:
        """Inverse of `to_dict`; missing keys take their defaults.

        Raises:
            VariantError: when a value is of the wrong type or cannot be played.
            BoardError: when the board is wrong.
        """
        board = data.get("board", "whitechapel")
        if isinstance(board, Mapping):
            board = board_from_dict(board)
        elif not isinstance(board, (str, Board)):
            raise VariantError(f"board {shown(board)} must be a name or a board object")
        cast = data.get("cast", FULL_CAST)
        if not isinstance(cast, (str, list, tuple)):
            raise VariantError(f"cast {shown(cast)} must be a list of codes")
        return make_variant(
            board=board,
            cast=cast,
            turns=data.get("turns", MAX_TURNS),
            first=data.get("first", "detective"),
        )


def make_variant(
    board: Board | str | Path = "whitechapel",
    cast: str | Iterable[str] = FULL_CAST,
    turns: int = MAX_TURNS,
    first: str = "detective",
) -> Variant:
    """A `Variant` from loose arguments: board name or file, cast as text or list.

    Raises:
        VariantError, BoardError: as `Variant`.
    """
    loaded = board if isinstance(board, Board) else load_board(board)
    return Variant(board=loaded, cast=_parse_cast(cast), turns=turns, first=first)


DEFAULT_VARIANT = Variant()
"""The standard game: Whitechapel, all eight characters, 8 turns, the Detective starts."""
