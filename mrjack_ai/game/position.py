"""What can be read off a position: shared by `State` and `Observation`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mrjack_ai.common.numbers import WholeNumbers
from mrjack_ai.common.text import shown
from mrjack_ai.engine import kernels
from mrjack_ai.engine.layout import STATE, STATE_WORDS
from mrjack_ai.engine.tables import NO_SEAT, build_tables
from mrjack_ai.engine.types import NODE_NAMES, EndingKind, NodeKind, Player, StateRecord, Words
from mrjack_ai.errors import ArgumentError
from mrjack_ai.game.endings import ENDING_BY_NUMBER
from mrjack_ai.setup.board import DIRECTIONS
from mrjack_ai.setup.characters import MAX_RANGE
from mrjack_ai.setup.variant import PLAYER_NAMES, Variant, checked_player

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

_STEPS = WholeNumbers(0, MAX_RANGE)


@dataclass(frozen=True)
class Outcome:
    """How a game ended (section 7).

    Attributes:
        winner: `Player.DETECTIVE` or `Player.JACK`.
        ending: `caught`, `wrong accusation`, `escape` or `dawn`.
    """

    winner: Player
    ending: str

    def __str__(self) -> str:
        return f"{PLAYER_NAMES[self.winner]} wins: {self.ending}"


def set_bits(word: int | np.integer) -> Iterator[int]:
    """Indices of the set bits, ascending."""
    word = int(word)
    while word:
        low = word & -word
        yield low.bit_length() - 1
        word ^= low


def state_record(words: Words) -> StateRecord:
    """The packed position at the front of words, to be read, and written to by whose they are.

    Args:
        words: `uint64`, at least `STATE_WORDS` of them; the record is a view of them.
    """
    record: StateRecord = words[:STATE_WORDS].view(STATE)[0]
    return record


def returns_of(record: StateRecord) -> list[float]:
    """Returns of the Detective and of Jack at a position (7.4)."""
    ending = int(record["ending"])
    if ending == EndingKind.NOT_ENDED:
        return [0.0, 0.0]
    return [1.0, -1.0] if ending == EndingKind.CAUGHT else [-1.0, 1.0]


class PositionView:
    """Readable facts of a position; subclasses say where its words are.

    Characters are named by code, hexes and exits by name; player ids are 0 for the Detective,
    1 for Jack, -1 for chance and -4 at the end.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def variant(self) -> Variant:
            """The variant played."""

    def position_words(self) -> Words:
        """The packed position: `uint64`, shape `(STATE_WORDS,)`; do not write to it."""
        raise NotImplementedError

    @property
    def _record(self) -> StateRecord:
        return state_record(self.position_words())

    def _codes(self, mask: int) -> tuple[str, ...]:
        cast = self.variant.cast
        return tuple(cast[seat] for seat in set_bits(mask))

    def _code(self, seat: int) -> str | None:
        return None if seat == NO_SEAT else self.variant.cast[seat]

    def _repr_svg_(self) -> str:
        """The picture a notebook shows; `mrjack_ai.render.board_svg` has options."""
        from mrjack_ai.render.svg import board_svg  # stands below the rules, and is rarely needed

        return board_svg(self)

    # -- the board ------------------------------------------------------------------------

    @property
    def positions(self) -> dict[str, str]:
        """Street hex of each character."""
        variant, where = self.variant, self._record["position"]
        return {
            code: variant.board.streets[int(where[seat])] for seat, code in enumerate(variant.cast)
        }

    @property
    def lit_gaslights(self) -> dict[str, int | None]:
        """Tile on each lit gaslight hex: its number, or None for a plain tile."""
        record, board = self._record, self.variant.board
        numbers = {int(place): n + 1 for n, place in enumerate(record["tile_place"])}
        return {board.gaslights[lamp]: numbers.get(lamp) for lamp in set_bits(record["lit"])}

    @property
    def covered_manholes(self) -> tuple[str, ...]:
        """Manhole hexes with a cover."""
        board = self.variant.board
        return tuple(board.streets[hex] for hex in set_bits(self._record["covered"]))

    @property
    def open_manholes(self) -> tuple[str, ...]:
        """Manhole hexes without a cover."""
        covered = self.covered_manholes
        return tuple(hex for hex in self.variant.board.manholes if hex not in covered)

    @property
    def cordons(self) -> tuple[str, ...]:
        """Exits with a police cordon."""
        names = self.variant.board.exit_names
        return tuple(names[exit] for exit in set_bits(self._record["cordons"]))

    @property
    def watson_light(self) -> str | None:
        """Direction of Watson's lantern, or None when he is not in the cast."""
        light = int(self._record["light"])
        return None if light == NO_SEAT else DIRECTIONS[light]

    def lit_hexes(self) -> tuple[str, ...]:
        """Street hexes next to a lit gaslight or in Watson's beam (6.1)."""
        streets = self.variant.board.streets
        lit = kernels.lit(self.position_words(), build_tables(self.variant))
        return tuple(streets[hex] for hex in set_bits(int(lit)))

    def visible(self) -> tuple[str, ...]:
        """Characters that are visible now (6.1)."""
        return self._codes(int(kernels.visible(self.position_words(), build_tables(self.variant))))

    def reachable(self, code: str, steps: int | None = None) -> tuple[str, ...]:
        """Street hexes a character could walk to now (section 4), occupied or not.

        Args:
            code: the character.
            steps: most steps; his range by default.

        Raises:
            ArgumentError: when he is not in the cast, or steps are not within 0..4.
        """
        seat = self._seat(code)
        most = self.variant.kinds[seat].range if steps is None else _STEPS.read(steps, "steps")
        tables = build_tables(self.variant)
        found = int(kernels.reachable(self.position_words(), tables, seat, most))
        streets = self.variant.board.streets
        here = int(self._record["position"][seat])
        return tuple(streets[hex] for hex in set_bits(found) if hex != here)

    def exits_in_reach(self, code: str) -> tuple[str, ...]:
        """Exits without a cordon that a character, were he Jack, could leave by (7.1).

        The witness card is not looked at.

        Raises:
            ArgumentError: when he is not in the cast.
        """
        tables = build_tables(self.variant)
        found = int(kernels.exits_in_reach(self.position_words(), tables, self._seat(code)))
        names = self.variant.board.exit_names
        return tuple(names[exit] for exit in set_bits(found))

    def _seat(self, code: str) -> int:
        try:
            return self.variant.seat_of[code]
        except (KeyError, TypeError):  # TypeError: what cannot be a key
            cast = ", ".join(self.variant.cast)
            raise ArgumentError(f"{shown(code)} is not in the cast {cast}") from None

    # -- suspicion ------------------------------------------------------------------------

    @property
    def witness_seen(self) -> bool:
        """True while the witness card shows *seen* (2.3, 6.3)."""
        return bool(self._record["seen"])

    def cleared(self) -> tuple[str, ...]:
        """Characters cleared by witnesses (6.2)."""
        return self._codes(int(self._record["cleared"]))

    def exonerated(self) -> tuple[str, ...]:
        """Characters whose forced `stay` shows that they are not Jack.

        Jack's player stays only where nothing is legal (4.6); as Jack, these could have escaped.
        """
        return self._codes(int(self._record["exonerated"]))

    def suspects(self) -> tuple[str, ...]:
        """The Detective's suspects: not cleared and not among the alibis they drew (section 8).

        A suspect may be exonerated; `candidates` leaves those out.
        """
        record = self._record
        innocent = int(record["cleared"]) | int(record["drawn"][Player.DETECTIVE])
        return tuple(
            code for seat, code in enumerate(self.variant.cast) if not innocent >> seat & 1
        )

    def candidates(self) -> tuple[str, ...]:
        """Characters who can still be Jack for the Detective: suspects who are not exonerated."""
        exonerated = self.exonerated()
        return tuple(code for code in self.suspects() if code not in exonerated)

    @property
    def identity(self) -> str | None:
        """Who Jack is; None before the draw and where it is hidden."""
        return self._code(int(self._record["jack"]))

    def alibis(self, player: int) -> tuple[str, ...]:
        """Alibi cards a player has drawn, as far as known, in table order.

        Raises:
            ArgumentError: when the player is neither 0 nor 1.
        """
        return self._codes(int(self._record["drawn"][checked_player(player)]))

    def alibi_count(self, player: int) -> int:
        """How many alibi cards a player has drawn (public).

        Raises:
            ArgumentError: when the player is neither 0 nor 1.
        """
        return int(self._record["draws"][checked_player(player)])

    # -- the turn -------------------------------------------------------------------------

    @property
    def turn(self) -> int:
        """Number of the turn, from 1; 0 before Jack's card is drawn."""
        return int(self._record["turn"])

    @property
    def node(self) -> str:
        """Kind of node: jack, deal, pick, use, whistle, aim, alibi or terminal (section 9)."""
        return NODE_NAMES[int(self._record["node"])]

    def current_player(self) -> int:
        """Who decides: 0 Detective, 1 Jack, -1 chance, -4 nobody."""
        return int(self._record["player"])

    def is_terminal(self) -> bool:
        """True when the game is over."""
        return int(self._record["node"]) == NodeKind.TERMINAL

    def is_chance_node(self) -> bool:
        """True when chance decides next."""
        return self.current_player() == Player.CHANCE

    @property
    def play(self) -> int:
        """Index in the turn of the play in progress, or about to begin."""
        return int(self._record["play"])

    def dealt(self) -> tuple[str, ...]:
        """Cards dealt on the odd turn of this pair of turns; the others are for the even one."""
        return self._codes(int(self._record["dealt"]))

    def cards(self) -> tuple[str, ...]:
        """Cards face up this turn that have not been played to their end."""
        return self._codes(int(self._record["remaining"]))

    @property
    def playing(self) -> str | None:
        """The character whose card is being played, or None between plays."""
        return self._code(int(self._record["seat"]))

    @property
    def accused(self) -> str | None:
        """The character whose accusation ended the game, or None."""
        return self._code(int(self._record["accused"]))

    @property
    def has_moved(self) -> bool:
        """True when the character being played has moved, stayed or swapped."""
        return bool(self._record["moved"])

    @property
    def ability_open(self) -> bool:
        """True while the ability of the character being played is still to be used."""
        return bool(self._record["ability"])

    def whistled(self) -> tuple[str, ...]:
        """Characters whistled in the play in progress."""
        return self._codes(int(self._record["whistled"]))

    @property
    def whistle_steps(self) -> int:
        """Steps of a whistle in progress still to be spent."""
        return int(self._record["steps"])

    def remaining_plays(self, player: int) -> int:
        """Plays a player still has this turn, the one in progress included.

        Raises:
            ArgumentError: when the player is neither 0 nor 1.
        """
        player, tables = checked_player(player), build_tables(self.variant)
        return int(kernels.remaining_plays(self.position_words(), tables, player))

    def is_last_chance(self) -> bool:
        """True when the play in progress, or about to begin, is the Detective's last of the game.

        After it they can accuse nobody any more, and dawn comes (7.3).
        """
        return bool(kernels.last_chance(self.position_words(), build_tables(self.variant)))

    def outcome(self) -> Outcome | None:
        """Winner and ending, or None while the game goes on."""
        ending = int(self._record["ending"])
        if ending == EndingKind.NOT_ENDED:
            return None
        winner = Player.DETECTIVE if ending == EndingKind.CAUGHT else Player.JACK
        return Outcome(winner, ENDING_BY_NUMBER[ending].name)

    def returns(self) -> list[float]:
        """Returns of the Detective and of Jack: 0 before the end, then +1 and -1 (7.4)."""
        return returns_of(self._record)
