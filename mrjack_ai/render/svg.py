"""The picture of a position as SVG: the board, and beside it what there is to know.

    open("board.svg", "w").write(board_svg(state, player=0))

The board is drawn in layers, each a list of parts. What does not change during a game is drawn
once a variant; a page that shows many moments (see `mrjack_ai.reports.replay`) exchanges the rest.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from mrjack_ai.common.numbers import FINITE, RealNumbers
from mrjack_ai.common.text import lines_of, printable, shown
from mrjack_ai.errors import ArgumentError, BoardError
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.position import PositionView
from mrjack_ai.game.state import State
from mrjack_ai.render import panel as side
from mrjack_ai.render import shapes
from mrjack_ai.render.actions import LastAction, last_action
from mrjack_ai.render.colours import BEAM, INK, LIT, MUTED, PALE, PAPER, UNLIT
from mrjack_ai.render.facts import PLAYERS, light, standing, what_now
from mrjack_ai.render.html import Markup, element, join
from mrjack_ai.render.shapes import PITCH, RADIUS, Point, middle, text
from mrjack_ai.render.terminal import describe
from mrjack_ai.setup.board import DIRECTIONS, Board
from mrjack_ai.setup.characters import KIND_BY_CODE
from mrjack_ai.setup.variant import Variant, checked_player

_MARGIN, _GAP = 10.0, 18.0
_FONT = "system-ui, 'DejaVu Sans', Verdana, sans-serif"
_PIXELS = RealNumbers(0, 10**6, above=True)
_BAR = 34.0
"""Height of the legend of a heat map."""

LAYERS = ("light", "names", "values", "pieces", "last", "characters", "panel")
"""Layers that change during a game, from the lowest up."""


def board_svg(
    view: PositionView,
    *,
    player: int | None = None,
    size: float | None = None,
    panel: bool = True,
    last: bool = True,
    marks: Iterable[str] = (),
    values: Mapping[str, float] | None = None,
    value_range: tuple[float, float] | None = None,
    caption: str | None = None,
) -> str:
    """The picture of a position as an SVG image.

    It has a background of its own, so it can be read in light and dark surroundings; it refers to
    nothing outside and has no ids, so many can stand in one page; and equal arguments give equal
    text.

    Args:
        view: a `State`, of which everything is shown, or an `Observation`, of which only what
            the observer knows is.
        player: with a state, 0 or 1: show only what this player knows.
        size: width in pixels; by default about 45 for each column of hexes, and 300 for the panel.
        panel: also draw what stands beside the board: turn, cards, suspects, legend.
        last: mark the last action of a player.
        marks: names of hexes to mark, such as those of `view.reachable("JW")`.
        values: numbers by hex name, drawn as a heat map with a legend; hexes without are left.
        value_range: least and greatest value of the scale, so that pictures can be compared; by
            default those of `values`. Values outside have the colours of the ends.
        caption: text below the picture, wrapped to its width.

    Raises:
        BoardError: when a mark or value is on no hex of the board.
        ArgumentError: for a player that is not 0 or 1, or not the observer of an observation; a
            size that is not positive; a value that is no finite number; an empty range.
    """
    if player is not None:
        player = checked_player(player)
        if isinstance(view, State):
            view = view.observation(player)
        elif isinstance(view, Observation) and view.player != player:
            raise ArgumentError(
                f"an observation of player {view.player} cannot show player {player}"
            )
    if size is not None:
        size = _PIXELS.read(size, "size in pixels")
    frame = layout(view.variant)
    marked, scale = tuple(marks), None
    _check_hexes(frame.board, marked)
    if values:
        _check_hexes(frame.board, values)
        values = {hex: FINITE.read(value, f"value of {hex!r}") for hex, value in values.items()}
        scale = _range(values, value_range)
    layers = moving_layers(view, last=last, crowded=values or ())
    if scale is not None and values is not None:
        layers["values"] = [_heat(hex, value, scale) for hex, value in values.items()]
    layers["values"] += [shapes.mark(middle(hex)) for hex in dict.fromkeys(marked)]
    if not panel:
        layers["panel"] = []
    content = [join(*static_ground(frame.variant))]
    content += [element("g", *layers[name]) for name in LAYERS if name != "panel"]
    width = frame.full_width if panel else frame.board_width
    height = frame.height if panel else frame.board_height
    board = element("g", *content, transform=frame.board_place(height))
    parts = [board]
    if panel:
        beside = [*layers["panel"], *side.legend(frame.variant)]
        parts.append(element("g", *beside, transform=frame.panel_place()))
    if scale is not None:
        parts.append(_scale_legend(scale, height))
        height += _BAR
    for words in lines_of(caption or ""):
        for row in textwrap.wrap(printable(words), max(12, int(width / 7.5))):
            height += 20
            parts.append(text((_MARGIN, height - 6), row, 13, anchor="start"))
    return svg(parts, width, height, size, title(view), "\n".join(describe(view)))


def svg(
    parts: Iterable[Markup],
    width: float,
    height: float,
    size: float | None,
    title: str,
    description: str | None = None,
) -> Markup:
    """The outer element around the parts of a picture."""
    pixels = width if size is None else size
    head = [element("title", title)]
    if description is not None:
        head.append(element("desc", description))
    paper = element("rect", width="100%", height="100%", fill=PAPER)
    return element(
        "svg",
        *head,
        paper,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{pixels:g}",
        height=f"{pixels * round(height) / round(width):.0f}",
        role="img",
        font_family=_FONT,
        style="max-width:100%;height:auto",
    )


def title(view: PositionView) -> str:
    """What a picture shows, in a line."""
    whose = ""
    if isinstance(view, Observation):
        whose = f", as {PLAYERS[view.player]} sees it"
    return f"Mr. Jack, turn {view.turn} of {view.variant.turns}: {what_now(view)}{whose}"


def _check_hexes(board: Board, hexes: Iterable[str]) -> None:
    known = {*board.streets, *board.obstacles, *board.gaslights}
    for hex in hexes:
        if hex not in known:
            raise BoardError(f"{shown(hex)} is no hex of board {board.name!r}")


# -- layout -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Where things stand in the picture of a variant, in pixels.

    Attributes:
        variant: the variant.
        left: least x of the board, in the coordinates of `shapes.middle`.
        top: least y of the board.
        board_width: width of a picture of the board alone.
        board_height: its height.
        signs: middle of the sign of each exit, by name.
    """

    variant: Variant
    left: float
    top: float
    board_width: float
    board_height: float
    signs: Mapping[str, Point]

    @property
    def board(self) -> Board:
        """The board."""
        return self.variant.board

    @property
    def full_width(self) -> float:
        """Width of a picture with the panel."""
        return self.board_width + _GAP + side.WIDTH + _MARGIN

    @property
    def height(self) -> float:
        """Height of a picture with the panel."""
        return max(self.board_height, side.height(self.variant) + 2 * _MARGIN)

    def board_place(self, height: float) -> str:
        """Transformation of the board, in the middle of a height."""
        down = (height - self.board_height) / 2
        return f"translate({-self.left:.1f} {down - self.top:.1f})"

    def panel_place(self) -> str:
        """Transformation of the panel."""
        return f"translate({self.board_width + _GAP:.1f} {_MARGIN:g})"


@lru_cache(maxsize=64)
def layout(variant: Variant) -> Layout:
    """The layout of a variant's pictures."""
    board = variant.board
    places = [middle(hex) for hex in (*board.streets, *board.obstacles, *board.gaslights)]
    signs = _signs(board)
    xs = [x for x, _ in (*places, *signs.values())]
    ys = [y for _, y in (*places, *signs.values())]
    left, top = min(xs) - RADIUS - _MARGIN, min(ys) - PITCH / 2 - _MARGIN
    return Layout(
        variant,
        left,
        top,
        max(xs) + RADIUS + _MARGIN - left,
        max(ys) + PITCH / 2 + _MARGIN - top,
        signs,
    )


def _signs(board: Board) -> dict[str, Point]:
    """Where the sign of each exit stands: off the map, on the side away from its middle."""
    hexes = (*board.streets, *board.obstacles, *board.gaslights)
    places = [middle(hex) for hex in hexes]
    centre_x = sum(x for x, _ in places) / len(places)
    centre_y = sum(y for _, y in places) / len(places)
    taken = {(round(x), round(y)) for x, y in places}
    signs = {}
    for name, hex in board.exits:
        x, y = middle(hex)

        def outwards(step: Point, x: float = x, y: float = y) -> float:
            return (x - centre_x) * step[0] + (y - centre_y) * step[1]

        steps = sorted(map(shapes.towards, DIRECTIONS), key=outwards, reverse=True)
        free = [s for s in steps if (round(x + s[0]), round(y + s[1])) not in taken]
        # An exit amid the map has its sign on the neighbouring hex.
        dx, dy = (free or steps)[0]
        taken.add((round(x + dx), round(y + dy)))
        signs[name] = (x + dx, y + dy)
    return signs


# -- layers -------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def static_ground(variant: Variant) -> tuple[Markup, ...]:
    """Streets in the dark, and buildings: what no action changes."""
    board = variant.board
    streets = [shapes.street(middle(hex), UNLIT) for hex in board.streets]
    return (*streets, *(shapes.building(middle(hex)) for hex in board.obstacles))


@lru_cache(maxsize=64)
def _names(variant: Variant) -> tuple[Markup, ...]:
    return tuple(shapes.hex_label(hex) for hex in variant.board.streets)


def moving_layers(
    view: PositionView, *, last: bool = True, crowded: Iterable[str] = ()
) -> dict[str, list[Markup]]:
    """The parts of each layer that can change during a game.

    Args:
        view: of an observation only what the observer knows is drawn.
        last: mark the last action.
        crowded: hexes with something else in their middle, so that a manhole makes room for it.

    Returns:
        A list of parts for each of `LAYERS`.
    """
    lit, holder, beam = light(view)
    action = last_action(view)
    ground = [shapes.street(middle(hex), BEAM) for hex in beam if hex not in lit]
    ground += [shapes.street(middle(hex), LIT) for hex in view.variant.board.streets if hex in lit]
    if holder is not None and beam:
        ground.append(shapes.beam(middle(holder), middle(beam[-1])))
    return {
        "light": ground,
        "names": list(_names(view.variant)),
        "values": [],
        "pieces": _pieces(view, {*crowded, *view.positions.values()}),
        "last": _last(view.variant, action) if last and action is not None else [],
        "characters": _characters(view, holder),
        "panel": side.panel(view, action),
    }


def _pieces(view: PositionView, taken: set[str]) -> list[Markup]:
    """Gaslights, manholes and exits."""
    board, lamps, covered = view.variant.board, view.lit_gaslights, view.covered_manholes
    parts = [
        join(
            shapes.gaslight(middle(hex), hex in lamps, lamps.get(hex)),
            shapes.hex_label(hex, PALE),
        )
        for hex in board.gaslights
    ]
    parts += [shapes.manhole(middle(hex), hex in covered, hex in taken) for hex in board.manholes]
    signs = layout(view.variant).signs
    parts += [
        shapes.exit_sign(hex, signs[name], name, name in view.cordons) for name, hex in board.exits
    ]
    return parts


def _last(variant: Variant, action: LastAction) -> list[Markup]:
    signs = layout(variant).signs

    def place(name: str) -> Point:
        return signs[name] if name in signs else middle(name)

    ends = [place(name) for name in (action.start, action.end) if name is not None]
    if len(ends) < 2:
        return [shapes.spot(end) for end in ends]
    parts = [shapes.arrow(ends[0], ends[1], both=action.kind == "swap")]
    if action.kind in ("move", "whistle"):
        parts.append(shapes.spot(ends[0]))
    return parts


def _characters(view: PositionView, holder: str | None) -> list[Markup]:
    visible = view.visible()
    parts = []
    for code, hex in view.positions.items():
        at, word, seen = middle(hex), standing(view, code), code in visible
        chip = shapes.token(at, code, word, visible=seen, playing=code == view.playing)
        wedge = None
        if hex == holder and view.watson_light is not None:
            wedge = shapes.lantern(at, view.watson_light)
        name = KIND_BY_CODE[code].name
        told = element("title", f"{name}, {hex}: {word}, {'visible' if seen else 'hidden'}")
        parts.append(element("g", told, chip, wedge))
    return parts


# -- heat map -----------------------------------------------------------------------------


def _range(values: Mapping[str, float], given: tuple[float, float] | None) -> tuple[float, float]:
    if given is None:
        return min(values.values()), max(values.values())
    try:
        low, high = (FINITE.read(end, "end of value_range") for end in given)
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high:
        raise ArgumentError(
            f"value_range {shown(given)} must be two finite numbers, the lower one first"
        )
    return low, high


def _heat(hex: str, value: float, scale: tuple[float, float]) -> Markup:
    low, high = scale
    # Halves, since the difference of two numbers can be too large for a number.
    span = high / 2 - low / 2
    share = 1.0 if not span else min(max((value / 2 - low / 2) / span, 0.0), 1.0)
    return shapes.heat(hex, share, f"{value:.3g}")


def _scale_legend(scale: tuple[float, float], top: float) -> Markup:
    """A bar of the colours with the numbers at its ends."""
    low, high = scale
    steps, wide = 25, 8.0
    parts = [text((_MARGIN, top + 20), f"{low:.4g}", 12, anchor="start", bold=True)]
    start = _MARGIN + 60
    shares = [1.0] if low == high else [step / (steps - 1) for step in range(steps)]
    for number, share in enumerate(shares):
        fill = shapes.ramp(round(share, 2))
        at = (start + wide * (number + 0.5), top + 16)
        parts.append(
            element(
                "rect",
                x=f"{at[0] - wide / 2:g}",
                y=f"{at[1] - 8:g}",
                width=f"{wide + 0.3:g}",
                height="16",
                fill=fill,
            )
        )
    end = start + wide * len(shares)
    if low != high:
        parts.append(text((end + 8, top + 20), f"{high:.4g}", 12, INK, anchor="start", bold=True))
    parts.append(text((end + 68, top + 20), "values of hexes", 11, MUTED, anchor="start"))
    return join(*parts)
