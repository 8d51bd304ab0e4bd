"""Shapes of the drawn board: hexes, characters, lamps, manholes, exits and arrows.

Hexes are flat-topped and north is up, as in the terminal picture. What differs in colour differs in
shape, lightness or text as well. Nothing has an `id`, so any number of pictures can stand in one
page.
"""

from __future__ import annotations

import math
from functools import lru_cache

from mrjack_ai.render.colours import (
    BLACK,
    BLUE,
    BUILDING,
    CORDON,
    DEEP_GREEN,
    DEEP_PURPLE,
    DEEP_VERMILLION,
    EXIT,
    GLOW,
    INK,
    INNOCENT,
    INNOCENT_INK,
    JACK_EDGE,
    MUTED,
    OUT,
    PALE,
    POST,
    ROOF,
    SHADE,
    WHITE,
)
from mrjack_ai.render.html import Markup, element, join
from mrjack_ai.setup.board import DIRECTION_STEPS, hex_coordinates

RADIUS = 30.0
"""Pixels from the middle of a hex to its corners."""
PITCH = math.sqrt(3) * RADIUS
"""Pixels from the middle of a hex to that of its northern neighbour."""

Point = tuple[float, float]


def number(value: float) -> str:
    """A coordinate for an attribute, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def text(
    at: Point,
    words: str,
    size: float,
    fill: str = INK,
    *,
    anchor: str = "middle",
    bold: bool = False,
) -> Markup:
    """A line of text; `at` is on its base line."""
    return element(
        "text",
        words,
        x=number(at[0]),
        y=number(at[1]),
        font_size=f"{size:g}",
        fill=fill,
        text_anchor=None if anchor == "start" else anchor,
        font_weight="bold" if bold else None,
    )


# -- places -------------------------------------------------------------------------------


def middle(hex: str) -> Point:
    """The middle of a hex."""
    column, row = hex_coordinates(hex)
    return 1.5 * RADIUS * column, PITCH * (column / 2 - row)


def towards(direction: str) -> Point:
    """From the middle of a hex to that of its neighbour in a direction."""
    column, row = DIRECTION_STEPS[direction]
    return 1.5 * RADIUS * column, PITCH * (column / 2 - row)


def corners(at: Point, share: float = 1.0) -> list[Point]:
    """The six corners of a hex around a point; `share` of its size."""
    r, h = RADIUS * share, PITCH / 2 * share
    x, y = at
    return [
        *((x + r, y), (x + r / 2, y + h), (x - r / 2, y + h)),
        *((x - r, y), (x - r / 2, y - h), (x + r / 2, y - h)),
    ]


def polygon(points: list[Point], fill: str, stroke: str = "none", **more: str) -> Markup:
    """A closed shape."""
    joined = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return element("polygon", points=joined, fill=fill, stroke=stroke, **more)


def line(start: Point, end: Point, stroke: str, width: float, **more: str) -> Markup:
    """A straight line."""
    (x1, y1), (x2, y2) = start, end
    ends = {"x1": number(x1), "y1": number(y1), "x2": number(x2), "y2": number(y2)}
    return element("line", stroke=stroke, stroke_width=f"{width:g}", **ends, **more)


def circle(at: Point, radius: float, fill: str, stroke: str = "none", **more: str) -> Markup:
    """A circle."""
    place = {"cx": number(at[0]), "cy": number(at[1]), "r": f"{radius:g}"}
    return element("circle", fill=fill, stroke=stroke, **place, **more)


def box(at: Point, width: float, height: float, fill: str, stroke: str, **more: str) -> Markup:
    """A rectangle around a point."""
    place = {"x": number(at[0] - width / 2), "y": number(at[1] - height / 2)}
    size = {"width": f"{width:g}", "height": f"{height:g}"}
    return element("rect", fill=fill, stroke=stroke, rx="4", **place, **size, **more)


# -- the ground ---------------------------------------------------------------------------


def street(at: Point, fill: str) -> Markup:
    """The ground of a street hex."""
    return polygon(corners(at), fill, POST)


def building(at: Point) -> Markup:
    """A building or garden: a roof seen from above."""
    outer, inner = corners(at), corners(at, 0.5)
    ridges = [line(a, b, POST, 0.8) for a, b in zip(outer, inner, strict=True)]
    return join(polygon(outer, BUILDING, POST), *ridges, polygon(inner, ROOF, POST))


def hex_label(hex: str, on: str = INK) -> Markup:
    """The name of a hex, in its upper part."""
    x, y = middle(hex)
    return text((x, y - 15.5), hex, 8, on)


def gaslight(at: Point, lit: bool, tile: int | None = None) -> Markup:
    """A gaslight, with the number of its tile when it is lit and has one."""
    ground = polygon(corners(at), POST, INK)
    x, y = at
    y += 3
    if not lit:
        off = circle((x, y), 9, "none", OUT, stroke_dasharray="2 2")
        return join(ground, off, text((x, y + 3), "out", 8.5, PALE))
    rays = []
    for turn in range(12):
        sine, cosine = math.sin(turn * math.pi / 6), math.cos(turn * math.pi / 6)
        start, end = ((x + r * cosine, y + r * sine) for r in (12, 17))
        rays.append(line(start, end, GLOW, 2))
    name = None if tile is None else text((x, y + 5.5), str(tile), 15, INK, bold=True)
    return join(ground, *rays, circle((x, y), 10.5, GLOW, INK), name)


def manhole(at: Point, covered: bool, taken: bool) -> Markup:
    """A manhole: in the middle of its hex, or small at the side when somebody stands there."""
    x, y = at
    radius = 12.0
    if taken:
        x, y, radius = x + 17.5, y + 12, 5.6
    else:
        y += 4
    half = 0.62 * radius
    if not covered:
        rim = circle((x, y), radius, WHITE, INK)
        return join(rim, circle((x, y), 0.72 * radius, BLACK))
    bars = [
        line((x - half, y - half), (x + half, y + half), INK, 1.6),
        line((x - half, y + half), (x + half, y - half), INK, 1.6),
    ]
    return join(circle((x, y), radius, SHADE, INK, stroke_width="1.6"), *bars)


def beam(start: Point, end: Point) -> Markup:
    """The cone of a lantern, out to the far side of the last hex it lights."""
    (x, y), (to_x, to_y) = start, end
    length = math.hypot(to_x - x, to_y - y)
    dx, dy = (to_x - x) / length, (to_y - y) / length
    reach = length + PITCH / 2

    def point(along: float, aside: float) -> Point:
        return x + along * dx - aside * dy, y + along * dy + aside * dx

    shape = [point(12, -5), point(reach, -17), point(reach, 17), point(12, 5)]
    return polygon(
        shape, WHITE, BLUE, fill_opacity="0.55", stroke_width="1.6", stroke_dasharray="7 3"
    )


# -- exits --------------------------------------------------------------------------------


def exit_sign(hex: str, sign: Point, name: str, closed: bool) -> Markup:
    """An exit: a sign beside its hex, and an arrow or a barrier between the two."""
    x, y = middle(hex)
    dx, dy = sign[0] - x, sign[1] - y
    length = math.hypot(dx, dy)
    dx, dy = dx / length, dy / length

    def point(along: float, aside: float) -> Point:
        return x + along * dx - aside * dy, y + along * dy + aside * dx

    edge = PITCH / 2
    if closed:
        way = join(
            line(point(edge, -15), point(edge, 15), INK, 7),
            line(point(edge, -15), point(edge, 15), WHITE, 3.5, stroke_dasharray="5 5"),
        )
    else:
        head = [point(edge - 11, -6.5), point(edge + 9, 0), point(edge - 11, 6.5)]
        way = polygon(head, DEEP_GREEN, WHITE, stroke_width="1.4")
    ground, edging, ink = (CORDON, INK, WHITE) if closed else (EXIT, DEEP_GREEN, INK)
    size = min(13.0, 62 / len(name))
    return join(
        polygon(corners(sign, 0.86), ground, edging, stroke_width="2"),
        way,
        text((sign[0], sign[1] + 2), name, round(size, 1), ink, bold=True),
        text((sign[0], sign[1] + 12), "cordon" if closed else "exit", 8.5, ink),
    )


# -- characters ---------------------------------------------------------------------------


def token(
    at: Point, code: str, word: str, *, visible: bool = True, playing: bool = False
) -> Markup:
    """A character: a disc for a suspect, a grey square for an innocent, a diamond for Jack.

    Args:
        at: where its middle is.
        code: two letters.
        word: what is known of it (see `facts.standing`).
        visible: a full edge, else a broken one.
        playing: with a ring around it.
    """
    x, y = at
    edge: dict[str, str] = {"stroke_width": "2"}
    if not visible:
        edge["stroke_dasharray"] = "3.2 2.6"
    ink = INK
    if word == "Jack":
        shape = polygon(
            [(x, y - 19), (x + 19, y), (x, y + 19), (x - 19, y)], BLACK, JACK_EDGE, **edge
        )
        ink = WHITE
    elif word == "suspect":
        shape = circle(at, 13.5, WHITE, INK, **edge)
    else:
        shape = box(at, 25, 22, INNOCENT, MUTED, **edge)
        ink = INNOCENT_INK
    ring = None
    if playing:
        ring = join(
            circle(at, 20.5, "none", WHITE, stroke_width="6"),
            circle(at, 20.5, "none", BLUE, stroke_width="3.2"),
        )
    return join(ring, shape, text((x, y + 4.3), code, 12, ink, bold=True))


def lantern(at: Point, direction: str) -> Markup:
    """Where a lantern points: a small wedge beside who holds it."""
    dx, dy = (share / PITCH for share in towards(direction))
    x, y = at[0] + 16.5 * dx, at[1] + 16.5 * dy
    tip = [(x + 8 * dx, y + 8 * dy), (x - 5.5 * dy, y + 5.5 * dx), (x + 5.5 * dy, y - 5.5 * dx)]
    return polygon(tip, WHITE, BLUE, stroke_width="1.8")


def arrow(start: Point, end: Point, *, both: bool = False) -> Markup:
    """An arrow for the last action, clear of what stands at its ends."""
    (x, y), (to_x, to_y) = start, end
    length = math.hypot(to_x - x, to_y - y) or 1.0
    dx, dy = (to_x - x) / length, (to_y - y) / length

    def point(along: float, aside: float = 0.0) -> Point:
        return x + along * dx - aside * dy, y + along * dy + aside * dx

    first, last = 15.0, length - 23
    shaft = point(first + 8 if both else first), point(last - 8)
    heads = [[point(last), point(last - 11, 6.5), point(last - 11, -6.5)]]
    if both:
        heads.append([point(first), point(first + 11, 6.5), point(first + 11, -6.5)])
    return join(
        line(*shaft, WHITE, 6.5),
        line(*shaft, DEEP_VERMILLION, 3.4),
        *(polygon(head, DEEP_VERMILLION, WHITE, stroke_width="1.2") for head in heads),
    )


def spot(at: Point) -> Markup:
    """Where the last action began, or happened."""
    return join(
        circle(at, 12.5, "none", WHITE, stroke_width="5"),
        circle(at, 12.5, "none", DEEP_VERMILLION, stroke_width="2.6", stroke_dasharray="5 3"),
    )


def mark(at: Point) -> Markup:
    """A hex that the caller marks."""
    dots = [circle(point, 2.6, DEEP_PURPLE, WHITE) for point in corners(at, 0.9)]
    return join(polygon(corners(at, 0.9), "none", DEEP_PURPLE, stroke_width="2.4"), *dots)


# -- a heat map ---------------------------------------------------------------------------

_LOW, _HIGH = (0.28, 0.0, -0.11), (0.93, -0.02, 0.15)
"""Ends of the ramp, dark blue and yellow, in OKLab."""


@lru_cache(maxsize=256)
def ramp(share: float) -> str:
    """Colour of a value between the least (0) and the greatest (1).

    A straight line in OKLab (Ottosson, A perceptual color space for image processing, 2020): equal
    steps look equal, and lightness grows all the way, so it can be read without seeing hues.
    """
    lightness, a, b = (low + share * (high - low) for low, high in zip(_LOW, _HIGH, strict=True))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    parts = []
    for part in linear:
        part = min(max(part, 0.0), 1.0)
        shown = 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
        parts.append(f"{round(255 * shown):02x}")
    return "#" + "".join(parts)


def heat(hex: str, share: float, words: str) -> Markup:
    """A value on a hex: its colour, and its number below the name."""
    ink = WHITE if share < 0.55 else BLACK
    x, y = at = middle(hex)
    return join(
        polygon(corners(at, 0.86), ramp(round(share, 2)), INK, stroke_width="0.8"),
        hex_label(hex, ink),
        text((x, y + 19.5), words, 7.5, ink, bold=True),
    )
