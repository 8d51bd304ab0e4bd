"""Boards: loading, validation, hex names and hex geometry.

A hex is a column letter and a number, `e5` (docs/file-formats.md). With X the index of the
column letter (a = 1), the neighbours of (X, n) are N (X, n+1), NE (X+1, n+1), SE (X+1, n),
S (X, n-1), SW (X-1, n-1) and NW (X-1, n).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from mrjack_ai.common.numbers import WholeNumbers
from mrjack_ai.common.reading import parse_json, read_text
from mrjack_ai.common.text import shown
from mrjack_ai.errors import BoardError
from mrjack_ai.setup.characters import KIND_BY_CODE

DIRECTIONS: tuple[str, ...] = ("N", "NE", "SE", "S", "SW", "NW")
"""The six directions in the order used for action ids (section 9)."""

DIRECTION_STEPS: dict[str, tuple[int, int]] = {
    "N": (0, 1),
    "NE": (1, 1),
    "SE": (1, 0),
    "S": (0, -1),
    "SW": (-1, -1),
    "NW": (-1, 0),
}
"""Step (dX, dn) of each direction."""

MAX_STREETS = 64
"""A set of street hexes is one 64-bit word."""
MAX_PLACES = 64
"""Most gaslight hexes, and most exits, for the same reason."""
MAX_TILE_NUMBER = 8
"""Numbered gaslight tiles go out at the end of the turn of their number; there are 8 turns."""
_TILES = WholeNumbers(1, MAX_TILE_NUMBER)
_COLUMNS, _NUMBERS = WholeNumbers(1, 26), WholeNumbers(0, 99)

_HEX = re.compile(r"[a-z](?:0|[1-9][0-9]?)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_EXIT = re.compile(r"[A-Za-z0-9]{1,12}")
_FIELDS = (
    "name",
    "streets",
    "obstacles",
    "gaslights",
    "lit_gaslights",
    "manholes",
    "covered_manholes",
    "exits",
    "cordons",
    "start",
    "watson_light",
)
_COMMENT_FIELDS = ("coordinates", "comment")


def hex_coordinates(name: str) -> tuple[int, int]:
    """Column index (a = 1) and number of a well-formed hex name.

    Raises:
        BoardError: when the text is not a column letter followed by a number.
    """
    if not isinstance(name, str) or not _HEX.fullmatch(name):
        raise BoardError(
            f"{shown(name)} is no hex name; write a column letter and a number, e.g. 'e5'"
        )
    return ord(name[0]) - ord("a") + 1, int(name[1:])


def hex_name(column: int, number: int) -> str:
    """Name of the hex at a column index (a = 1) and number; inverse of `hex_coordinates`.

    Raises:
        BoardError: when no such hex can be named (column outside a..z, number outside 0..99).
    """
    column = _COLUMNS.read(column, "hex column", BoardError)
    number = _NUMBERS.read(number, "hex number", BoardError)
    return f"{chr(ord('a') + column - 1)}{number}"


def _sorted_hexes(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=hex_coordinates))


@dataclass(frozen=True)
class Board:
    """A validated board. Build one with `load_board` or `board_from_dict`.

    All hex tuples are sorted by column, then number; the index of a hex in `streets` (of a
    gaslight hex in `gaslights`, of an exit in `exit_names`) is the index used by the engine.

    Attributes:
        name: identifier of the board.
        streets: street hexes, 2 to 64 of them, manholes included.
        obstacles: buildings and gardens.
        gaslights: hexes a gaslight tile can stand on; obstacles too.
        lit_gaslights: (hex, number) of each lit tile at the start; the number is 1..8, or None
            for a plain tile that never goes out.
        manholes: street hexes with a manhole.
        covered_manholes: manholes that start covered.
        exits: (name, street hex) of each exit, in file order.
        cordons: names of the exits that start with a police cordon.
        start: (character code, street hex) of each character, in file order.
        watson_light: direction Watson's lantern starts in, or None if he is not in `start`.
    """

    name: str
    streets: tuple[str, ...]
    obstacles: tuple[str, ...]
    gaslights: tuple[str, ...]
    lit_gaslights: tuple[tuple[str, int | None], ...]
    manholes: tuple[str, ...]
    covered_manholes: tuple[str, ...]
    exits: tuple[tuple[str, str], ...]
    cordons: tuple[str, ...]
    start: tuple[tuple[str, str], ...]
    watson_light: str | None

    @cached_property
    def street_index(self) -> dict[str, int]:
        """Index of each street hex in `streets`."""
        return {name: index for index, name in enumerate(self.streets)}

    @cached_property
    def gaslight_index(self) -> dict[str, int]:
        """Index of each gaslight hex in `gaslights`."""
        return {name: index for index, name in enumerate(self.gaslights)}

    @cached_property
    def exit_names(self) -> tuple[str, ...]:
        """Exit names in file order."""
        return tuple(name for name, _ in self.exits)

    @cached_property
    def exit_index(self) -> dict[str, int]:
        """Index of each exit name in `exit_names`."""
        return {name: index for index, name in enumerate(self.exit_names)}

    def neighbour(self, hex: str, direction: str) -> str | None:
        """The hex one step from `hex` in a direction, or None where no hex can be named."""
        column, number = hex_coordinates(hex)
        d_column, d_number = DIRECTION_STEPS[direction]
        try:
            return hex_name(column + d_column, number + d_number)
        except BoardError:
            return None

    def neighbours(self, hex: str) -> tuple[str, ...]:
        """The up to six hexes of the map around one of its hexes.

        Raises:
            BoardError: when `hex` is not on the map.
        """
        try:
            return self._neighbours[hex]
        except KeyError:
            raise BoardError(f"{shown(hex)} is no hex of board {self.name!r}") from None

    @cached_property
    def _neighbours(self) -> dict[str, tuple[str, ...]]:
        on_map = {*self.streets, *self.obstacles, *self.gaslights}
        return {
            hex: tuple(
                other
                for direction in DIRECTIONS
                if (other := self.neighbour(hex, direction)) is not None and other in on_map
            )
            for hex in on_map
        }

    def street_distance(self, start: str, end: str) -> int:
        """Steps from one street hex to another over streets, without manholes.

        Raises:
            BoardError: when either is no street hex of this board.
        """
        for hex in (start, end):
            if hex not in self.street_index:
                raise BoardError(f"{shown(hex)} is no street hex of board {self.name!r}")
        return self.street_distances(start)[end]

    def street_neighbours(self, hex: str) -> tuple[str, ...]:
        """Street hexes one step from a street hex, manholes not used.

        The one place that decides which steps there are between streets: a board with a closed
        side would differ here and nowhere else.
        """
        return tuple(other for other in self.neighbours(hex) if other in self.street_index)

    def street_distances(self, start: str) -> dict[str, int]:
        """Steps from one street hex to every street hex that can be reached, without manholes."""
        distances = {start: 0}
        queue = [start]
        for hex in queue:
            for other in self.street_neighbours(hex):
                if other not in distances:
                    distances[other] = distances[hex] + 1
                    queue.append(other)
        return distances

    def to_dict(self) -> dict[str, Any]:
        """The board in the form of a board file; `board_from_dict` inverts it."""
        return {
            "name": self.name,
            "streets": list(self.streets),
            "obstacles": list(self.obstacles),
            "gaslights": list(self.gaslights),
            "lit_gaslights": dict(self.lit_gaslights),
            "manholes": list(self.manholes),
            "covered_manholes": list(self.covered_manholes),
            "exits": dict(self.exits),
            "cordons": list(self.cordons),
            "start": dict(self.start),
            "watson_light": self.watson_light,
        }


class _Reader:
    """Reads fields of a board file and complains by field and hex."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        name = data.get("name")
        self.label = name if isinstance(name, str) else "?"

    def fail(self, field: str, message: str) -> BoardError:
        return BoardError(f"board {shown(self.label)}, field {shown(field)}: {message}")

    def hex(self, field: str, value: object) -> str:
        try:
            hex_coordinates(value)  # type: ignore[arg-type]
        except BoardError as error:
            raise self.fail(field, str(error)) from None
        assert isinstance(value, str)
        return value

    def strings(self, field: str) -> list[str]:
        values = self.data[field]
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self.fail(field, "must be a list of strings")
        seen = set()
        for value in values:
            if value in seen:
                raise self.fail(field, f"{shown(value)} is listed twice")
            seen.add(value)
        return values

    def hexes(self, field: str) -> tuple[str, ...]:
        return _sorted_hexes(self.hex(field, value) for value in self.strings(field))

    def mapping(self, field: str) -> dict[str, Any]:
        values = self.data[field]
        if not isinstance(values, dict):
            raise self.fail(field, "must be an object")
        return values

    def subset(
        self, field: str, values: Iterable[str], whole: Iterable[str], whole_field: str
    ) -> None:
        allowed = set(whole)
        for value in values:
            if value not in allowed:
                raise self.fail(field, f"{shown(value)} is not in {whole_field!r}")


def board_from_dict(data: Mapping[str, Any]) -> Board:
    """Validate the content of a board file.

    Raises:
        BoardError: naming the field and the hex, for anything that would make the rules
            ambiguous or the board unplayable.
    """
    if not isinstance(data, Mapping):
        raise BoardError("a board file holds one JSON object")
    reader = _Reader(data)
    for field in _FIELDS:
        if field not in data and field != "watson_light":
            raise reader.fail(field, f"is missing; a board has {', '.join(_FIELDS)}")
    for field in data:
        if field not in _FIELDS and field not in _COMMENT_FIELDS:
            raise reader.fail(str(field), f"is unknown; a board has {', '.join(_FIELDS)}")
    if not isinstance(data["name"], str) or not _NAME.fullmatch(data["name"]):
        raise reader.fail("name", f"{shown(data['name'])} must be lower-case letters, digits and _")

    streets = reader.hexes("streets")
    if not 2 <= len(streets) <= MAX_STREETS:
        raise reader.fail("streets", f"{len(streets)} street hexes; 2 to {MAX_STREETS} are allowed")
    obstacles = reader.hexes("obstacles")
    gaslights = reader.hexes("gaslights")
    if len(gaslights) > MAX_PLACES:
        raise reader.fail("gaslights", f"{len(gaslights)} gaslight hexes; at most {MAX_PLACES}")
    used = dict.fromkeys(streets, "streets")
    for field, hexes in (("obstacles", obstacles), ("gaslights", gaslights)):
        for hex in hexes:
            if hex in used:
                raise reader.fail(field, f"{hex!r} is also in {used[hex]!r}")
            used[hex] = field

    lit: list[tuple[str, int | None]] = []
    numbers: dict[int, str] = {}
    for hex, number in reader.mapping("lit_gaslights").items():
        reader.subset("lit_gaslights", [reader.hex("lit_gaslights", hex)], gaslights, "gaslights")
        if number is not None:
            try:
                number = _TILES.read(number, f"the tile on {hex!r}", BoardError)
            except BoardError as error:
                raise reader.fail("lit_gaslights", f"{error}, or null") from None
            if number in numbers:
                raise reader.fail(
                    "lit_gaslights", f"tile {number} is on {numbers[number]!r} and on {hex!r}"
                )
            numbers[number] = hex
        lit.append((hex, number))
    lit.sort(key=lambda item: hex_coordinates(item[0]))

    manholes = reader.hexes("manholes")
    reader.subset("manholes", manholes, streets, "streets")
    covered = reader.hexes("covered_manholes")
    reader.subset("covered_manholes", covered, manholes, "manholes")

    exits: list[tuple[str, str]] = []
    exit_at: dict[str, str] = {}
    for name, value in reader.mapping("exits").items():
        if not _EXIT.fullmatch(name):
            raise reader.fail("exits", f"exit name {shown(name)} must be letters and digits")
        hex = reader.hex("exits", value)
        reader.subset("exits", [hex], streets, "streets")
        if hex in exit_at:
            raise reader.fail("exits", f"{exit_at[hex]!r} and {name!r} are both at {hex!r}")
        exit_at[hex] = name
        exits.append((name, hex))
    cordons = tuple(reader.strings("cordons"))
    reader.subset("cordons", cordons, (name for name, _ in exits), "exits")

    start: list[tuple[str, str]] = []
    stands_at: dict[str, str] = {}
    for code, value in reader.mapping("start").items():
        if code not in KIND_BY_CODE:
            known = ", ".join(KIND_BY_CODE)
            raise reader.fail("start", f"unknown character {shown(code)}; known are {known}")
        hex = reader.hex("start", value)
        reader.subset("start", [hex], streets, "streets")
        if hex in stands_at:
            raise reader.fail("start", f"{stands_at[hex]} and {code} both stand on {hex!r}")
        stands_at[hex] = code
        start.append((code, hex))
    light = data.get("watson_light")
    if light is None and "JW" in dict(start):
        raise reader.fail("watson_light", "is missing although JW is on the board")
    if light is not None and light not in DIRECTIONS:
        raise reader.fail("watson_light", f"{shown(light)} is none of {', '.join(DIRECTIONS)}")

    board = Board(
        name=data["name"],
        streets=streets,
        obstacles=obstacles,
        gaslights=gaslights,
        lit_gaslights=tuple(lit),
        manholes=manholes,
        covered_manholes=covered,
        exits=tuple(exits),
        cordons=cordons,
        start=tuple(start),
        watson_light=light,
    )
    reachable = board.street_distances(streets[0])
    for hex in streets:
        if hex not in reachable:
            raise reader.fail("streets", f"{hex!r} cannot be reached from {streets[0]!r} on foot")
    return board


@lru_cache(maxsize=1)
def built_in_boards() -> tuple[str, ...]:
    """Names of the boards shipped with the package, the default first."""
    files = resources.files("mrjack_ai.setup").joinpath("boards").iterdir()
    names = sorted(path.name[:-5] for path in files if path.name.endswith(".json"))
    return tuple(sorted(names, key=lambda name: name != "whitechapel"))


@lru_cache(maxsize=64)
def _load_built_in(name: str) -> Board:
    text = resources.files("mrjack_ai.setup").joinpath("boards", f"{name}.json").read_text("utf-8")
    return board_from_dict(parse_json(text, BoardError))


def load_board(name_or_path: str | Path) -> Board:
    """Load a built-in board by name, or any board from a JSON file.

    Text with a path separator or ending in `.json` is a file; other text is a built-in name.

    Raises:
        BoardError: for an unknown name (listing the known ones), a file that cannot be read or
            is not JSON, or content that is no valid board.
    """
    text = str(name_or_path)
    if not isinstance(name_or_path, Path) and not text.endswith(".json") and "/" not in text:
        if text not in built_in_boards():
            known = ", ".join(built_in_boards())
            raise BoardError(
                f"unknown board {shown(text)}; built in are {known}, or give a .json file"
            )
        return _load_built_in(text)
    content = read_text(name_or_path, BoardError, "board file")
    try:
        return board_from_dict(parse_json(content, BoardError))
    except BoardError as error:
        raise BoardError(f"board file {text!r}: {error}") from None
