r"""The picture of a position for a terminal: a hex board, with lines of text beside it.

Hexes are flat-topped and north is up; a hex of column X and number n stands at x = 1.5 X,
y = n - X / 2, so hexes that share a side are neighbours. One hex is drawn as

      ____
     /e5 O\      name, manhole
    />[IL] \     character; > marks the one being played
    \ <NE> /     exit; direction of Watson's lantern
     \____/

and its blank places are filled with what it is: a lit street, the beam, a building. Colour and
Unicode only repeat what the plain ASCII picture says.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, zip_longest

from mrjack_ai.game.position import PositionView
from mrjack_ai.render.facts import (
    INNOCENT,
    SIDES,
    alibi_cards,
    cards_of_turn,
    codes_text,
    light,
    standing,
    what_now,
)
from mrjack_ai.setup.board import DIRECTIONS, hex_coordinates
from mrjack_ai.setup.characters import KIND_BY_CODE

MAX_WIDTH = 120
"""By default the text stands beside the board where both fit in so many columns, else below."""
PANEL_WIDTH = 37
"""Columns of the text."""
_GAP = 3
_PITCH = 6
"""Columns from one column of hexes to the next; interior lines are 4, 6 and 6 wide."""

Cell = tuple[str, str]
"""A character and the name of its style, a key of `_STYLES`."""

# Foreground and background are always set together, so that neither a dark nor a light terminal
# spoils the contrast; the pairs differ in lightness, not only in hue.
_STYLES: dict[str, str] = {
    "": "",
    "edge": "38;5;244",
    "title": "1",
    "dark": "38;5;254;48;5;18",
    "lit": "38;5;16;48;5;228",
    "beam": "38;5;16;48;5;123",
    "building": "38;5;238;48;5;244",
    "lamp lit": "1;38;5;16;48;5;220",
    "lamp out": "38;5;252;48;5;235",
    "exit": "1;38;5;16;48;5;231",
    "cordon": "1;38;5;231;48;5;16",
    "suspect": "1;38;5;16;48;5;215",
    "innocent": "38;5;238;48;5;251",
    "jack": "1;38;5;231;48;5;126",
}


@dataclass(frozen=True)
class _Glyphs:
    rising: str
    falling: str
    building: str
    lit: str
    beam: str
    open: str
    covered: str
    lamp: str
    arrows: tuple[str, ...]


_ASCII = _Glyphs("/", "\\", "#", ".", "~", "O", "X", "*", DIRECTIONS)
_UNICODE = _Glyphs("╱", "╲", "▒", "·", "≈", "○", "●", "☼", ("↑", "↗", "↘", "↓", "↙", "↖"))  # noqa: RUF001


def board_text(
    view: PositionView, *, color: bool = False, unicode: bool = True, width: int = MAX_WIDTH
) -> str:
    """The board, and beside it what there is to know about the position.

    Args:
        view: a `State`, of which everything is shown, or an `Observation`, of which only what
            the observer knows is.
        color: add ANSI escape codes (256 colours); without them the text is the same.
        unicode: use box, arrow and shade characters; otherwise pure ASCII.
        width: columns there are for the text to stand beside the board.

    Returns:
        Lines joined by newlines, without one at the end and without blanks at the ends of lines.
    """
    glyphs = _UNICODE if unicode else _ASCII
    board = _Picture(view, glyphs).rows()
    panel = _panel(view, glyphs)
    board_columns = max(map(len, board))
    if board_columns + _GAP + PANEL_WIDTH <= width:
        blank: list[Cell] = [(" ", "")] * board_columns
        rows = [
            left + blank[:_GAP] + right
            for left, right in zip_longest(board, panel, fillvalue=blank)
        ]
    else:
        rows = [*board, [], *panel]
    return "\n".join(_encode(row, color) for row in rows)


def board_width(view: PositionView) -> int:
    """Columns of the board in `board_text`, without the text."""
    return max(map(len, _Picture(view, _ASCII).rows()))


def _encode(row: list[Cell], color: bool) -> str:
    """Text of a line; neighbouring characters of one style share their escape codes."""
    length = len("".join(character for character, _ in row).rstrip())
    parts = []
    for style, cells in groupby(row[:length], key=lambda cell: cell[1]):
        text = "".join(character for character, _ in cells)
        code = _STYLES[style]
        parts.append(f"\x1b[{code}m{text}\x1b[0m" if color and code else text)
    return "".join(parts)


# --- the board ------------------------------------------------------------------------------


class _Picture:
    """Draws the hexes of a position into a grid of cells."""

    def __init__(self, view: PositionView, glyphs: _Glyphs) -> None:
        self.view, self.glyphs, self.board = view, glyphs, view.variant.board
        self.code_at = {hex: code for code, hex in view.positions.items()}
        self.exit_at = {hex: name for name, hex in self.board.exits}
        self.lamps = view.lit_gaslights
        self.covered, self.cordons = view.covered_manholes, view.cordons
        self.lit, holder, beam = light(view)
        self.beam = set(beam)
        self.arrow_at: dict[str, str] = {}
        if holder is not None and view.watson_light is not None:
            self.arrow_at[holder] = glyphs.arrows[DIRECTIONS.index(view.watson_light)]

    def rows(self) -> list[list[Cell]]:
        """The lines of the board, all of one length."""
        board = self.board
        place = {}
        for hex in (*board.streets, *board.obstacles, *board.gaslights):
            column, number = hex_coordinates(hex)
            # Two lines for half a hex: neighbouring columns are shifted by that much.
            place[hex] = (2 * (column - 2 * number), _PITCH * column)
        top = min(row for row, _ in place.values())
        left = min(column for _, column in place.values())
        height = max(row for row, _ in place.values()) - top + 5
        width = max(column for _, column in place.values()) - left + _PITCH + 2
        grid: list[list[Cell]] = [[(" ", "")] * width for _ in range(height)]
        # From south to north: the floor of a hex is drawn over the ceiling of the one below.
        for hex in sorted(place, key=place.__getitem__, reverse=True):
            self.draw(grid, hex, place[hex][0] - top, place[hex][1] - left)
        return grid

    def draw(self, grid: list[list[Cell]], hex: str, row: int, column: int) -> None:
        """Draw a hex whose ceiling is on a line, and whose leftmost point is in a column."""
        rising, falling = (self.glyphs.rising, "edge"), (self.glyphs.falling, "edge")
        lines, floor = self.inside(hex)
        _write(grid[row], column + 2, "_" * 4, "edge")
        for down, inset, start, content, end in (
            (1, 1, rising, lines[0], falling),
            (2, 0, rising, lines[1], falling),
            (3, 0, falling, lines[2], rising),
            (4, 1, falling, [("_", floor)] * 4, rising),
        ):
            at = column + inset
            grid[row + down][at : at + len(content) + 2] = [start, *content, end]

    def inside(self, hex: str) -> tuple[list[list[Cell]], str]:
        """The three lines of cells inside a hex, and the style of the line below them."""
        if hex in self.board.street_index:
            return self.street(hex)
        style, glyph = "building", self.glyphs.building
        lines = [[(glyph, style)] * width for width in (4, 6, 6)]
        if hex in self.board.gaslight_index:
            style, mark = "lamp out", "out"
            if hex in self.lamps:
                style, mark = "lamp lit", _lamp_mark(self.glyphs, self.lamps[hex])
            _write(lines[0], 0, f"{hex:<4}", style)
            _write(lines[1], 0, f"{mark:^6}", style)
            _write(lines[2], 0, glyph * 6, style)
        return lines, style

    def street(self, hex: str) -> tuple[list[list[Cell]], str]:
        """As `inside`, for a street hex."""
        fills = [
            (glyph, style)
            for glyph, style, hexes in (
                (self.glyphs.lit, "lit", self.lit),
                (self.glyphs.beam, "beam", self.beam),
            )
            if hex in hexes
        ] or [(" ", "dark")]
        ground = fills[0][1]
        lines = [
            [fills[(row + column) % len(fills)] for column in range(width)]
            for row, width in enumerate((4, 6, 6))
        ]
        _write(lines[0], 0, hex, ground)
        if hex in self.board.manholes:
            mark = self.glyphs.covered if hex in self.covered else self.glyphs.open
            _write(lines[0], 3, mark, ground)
        code = self.code_at.get(hex)
        if code is not None:
            _write(lines[1], 1, *_standing(self.view, code)[:2])
            if code == self.view.playing:
                _write(lines[1], 0, ">", ground)
        room = 6
        if hex in self.arrow_at:
            arrow = self.arrow_at[hex]
            room = 6 - len(arrow)
            _write(lines[2], room if hex in self.exit_at else 2, arrow, ground)
        if hex in self.exit_at:
            name = self.exit_at[hex]
            text, style = _exit_mark(name[: room - 2], name in self.cordons)
            _write(lines[2], (room - len(text)) // 2, text, style)
        return lines, ground


def _write(line: list[Cell], at: int, text: str, style: str) -> None:
    line[at : at + len(text)] = [(character, style) for character in text]


def _lamp_mark(glyphs: _Glyphs, number: int | None) -> str:
    return f"{glyphs.lamp}{number or glyphs.lamp}{glyphs.lamp}"


def _exit_mark(name: str, closed: bool) -> tuple[str, str]:
    return (f"|{name}|", "cordon") if closed else (f"<{name}>", "exit")


def _standing(view: PositionView, code: str) -> tuple[str, str, str]:
    """What is known of a character: his code marked so, the style of that, and a word."""
    word = standing(view, code)
    if word in INNOCENT:
        return f"-{code}-", "innocent", word
    return (f"!{code}!", "jack", word) if word == "Jack" else (f"[{code}]", "suspect", word)


# --- the text -------------------------------------------------------------------------------


def describe(view: PositionView) -> list[str]:
    """What there is to know about a position, in lines of at most `PANEL_WIDTH` characters.

    Of an `Observation` it tells only what the observer knows; what he does not know is `?`.
    Manholes and the lit hexes are not told: they are on the board.
    """
    variant = view.variant
    lines = _wrap(f"Turn {view.turn} of {variant.turns} on {variant.board.name}")
    lines += _wrap(what_now(view))
    lines.append(f"Witness card: {'seen' if view.witness_seen else 'unseen'}")
    unknown = "not drawn yet" if view.node == "jack" else "?"
    jack = view.identity
    lines += _wrap(f"Jack: {unknown if jack is None else f'{jack} {KIND_BY_CODE[jack].name}'}")
    lines += ["", *_cards(view)]
    alibis = ", ".join(
        f"{SIDES[player]} {codes_text(alibi_cards(view, player))}" for player in (0, 1)
    )
    lines += _wrap(f"Alibis: {alibis}")
    candidates = view.candidates()
    lines += _wrap(f"May be Jack ({len(candidates)}): {codes_text(candidates)}")
    if view.exonerated():
        lines += _wrap(f"Exonerated by a stay: {codes_text(view.exonerated())}")
    lines += ["", *_characters(view), ""]
    exits = (
        f"{name} {hex} {'cordon' if name in view.cordons else 'open'}"
        for name, hex in variant.board.exits
    )
    lines += _listed("Exits:", exits)
    if view.watson_light is not None:
        lines.append(f"Watson's lantern: {view.watson_light}")
    # Tiles of the last turn or later never go out (7.3).
    tiles = sorted(
        (number, hex)
        for hex, number in view.lit_gaslights.items()
        if number is not None and number < variant.turns
    )
    lines += _listed("To go out:", (f"{hex} after turn {number}" for number, hex in tiles))
    return lines


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, PANEL_WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _listed(title: str, items: Iterable[str]) -> list[str]:
    """As `_wrap`, without breaking an item: meanwhile its blanks are no-break spaces."""
    text = ", ".join(item.replace(" ", "\xa0") for item in items) or "none"
    return [line.replace("\xa0", " ") for line in _wrap(f"{title} {text}")]


def _cards(view: PositionView) -> list[str]:
    """The cards face up, and who plays them in what order."""
    cards = cards_of_turn(view)
    if cards is None:
        return ["Cards: not dealt"]
    text = f"Cards: played {codes_text(cards.played)}"
    if cards.now is not None:
        text += f", now {cards.now}"
    lines = _wrap(f"{text}, left {codes_text(cards.waiting)}")
    if cards.next:
        lines += _wrap(f"Next turn: {codes_text(cards.next)}")
    order = (
        f"{'>' if index == cards.play else ''}{SIDES[player]}"
        for index, player in enumerate(cards.order)
    )
    return [*lines, *_wrap(f"Order: {' '.join(order)}")]


def _characters(view: PositionView) -> list[str]:
    """A table of the characters."""
    visible, positions = view.visible(), view.positions
    lines = []
    for code in view.variant.cast:
        marked, _, word = _standing(view, code)
        playing = ">" if code == view.playing else " "
        name = KIND_BY_CODE[code].name.split()[-1]
        seen = "visible" if code in visible else "hidden"
        lines.append(f"{playing}{marked} {name:<8} {positions[code]:<3} {seen:<7} {word}")
    return lines


def _panel(view: PositionView, glyphs: _Glyphs) -> list[list[Cell]]:
    """The lines of `describe` and the legend, in cells."""
    chips = dict(_standing(view, code)[:2] for code in view.variant.cast)
    lines: list[list[Cell]] = []
    for row, text in enumerate(describe(view)):
        line: list[Cell] = []
        _write(line, 0, text, "title" if row == 0 else "")
        for chip, style in chips.items():
            at = text.find(chip)
            if at >= 0:
                _write(line, at, chip, style)
        lines.append(line)
    lines.append([])
    legend = [
        ("[XX]", "suspect", "suspect"),
        ("-XX-", "innocent", "innocent"),
        ("!XX!", "jack", "Jack"),
        (">", "", "being played"),
        (f"a1 {glyphs.open}", "dark", "manhole"),
        (f"a1 {glyphs.covered}", "dark", "covered"),
        (_lamp_mark(glyphs, 1), "lamp lit", "lit gaslight"),
        ("out", "lamp out", "gaslight out"),
        (glyphs.lit * 4, "lit", "lit street"),
        (glyphs.beam * 4, "beam", "Watson's beam"),
        (_exit_mark("NE", False)[0], "exit", "exit"),
        (_exit_mark("NE", True)[0], "cordon", "cordon"),
        (glyphs.building * 4, "building", "building"),
        (f" {glyphs.arrows[1]}", "", "lantern aim"),
    ]
    for first, second in zip(legend[::2], legend[1::2], strict=True):
        line = []
        for at, (sample, style, meaning) in ((0, first), (19, second)):
            line += [(" ", "")] * (at - len(line))
            _write(line, at, sample, style)
            _write(line, len(line), f"{'':{at + 5 - len(line)}}{meaning}", "")
        lines.append(line)
    return lines
