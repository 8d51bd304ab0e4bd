"""Parts of a self-contained web page: elements that escape their text, tables, and charts.

Charts are SVG without a view box: horizontal positions are percentages, vertical ones pixels, so
that a chart fills any width and its text keeps its size. What a chart shows by colour it shows by
shape or text too, and a table near it holds its figures.
"""

from __future__ import annotations

import base64
import hashlib
import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from mrjack_ai.common.text import printable
from mrjack_ai.render import colours

ROW_HEIGHT = 24
"""Pixels of one line of a chart of intervals."""
_PLOT_HEIGHT = 320
_LABEL_GAP = 15
"""Least pixels between two labels of a scatter plot, one above the other."""
_LABEL_SHARE = 8
"""Least per cent of its width between two labels side by side."""


class Markup(str):
    """Text that is HTML already."""


Child = str | int | None
_Attributes = dict[str, str | int | float | None]


def element(name: str, *children: Child, **attributes: str | int | float | None) -> Markup:
    """An element.

    Args:
        name: its name.
        children: what is in it; text that is no `Markup` is escaped, None is left out.
        attributes: written with - for _, without a _ at the end; escaped; None is left out.
    """
    words = [name]
    for key, value in attributes.items():
        if value is not None:
            words.append(f'{key.rstrip("_").replace("_", "-")}="{_escaped(value)}"')
    return Markup(f"<{' '.join(words)}>{join(*children)}</{name}>")


def join(*children: Child) -> Markup:
    """Several children one after the other, escaped as in `element`."""
    texts = (child for child in children if child is not None)
    return Markup("".join(text if isinstance(text, Markup) else _escaped(text) for text in texts))


def _escaped(value: object) -> str:
    return html.escape(printable(str(value), lines=True))


def table(
    name: str,
    caption: str,
    headers: Sequence[str],
    rows: Sequence[Sequence[Child]],
    names: int = 1,
) -> Markup:
    """A table that scrolls sideways where it is too wide.

    Args:
        name: its `id`.
        caption: what it shows.
        headers: names of the columns.
        rows: the cells.
        names: how many columns, from the left, hold names; the others hold numbers.
    """
    head = element("tr", *(element("th", header, scope="col") for header in headers))
    body = []
    for row in rows:
        cells = [element("th", row[0], scope="row")]
        cells += [
            element("td", cell, class_="name" if number < names else None)
            for number, cell in enumerate(row[1:], start=1)
        ]
        body.append(element("tr", *cells))
    inner = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", head),
        element("tbody", *body),
        id=name,
        class_=f"names-{names}",
    )
    # Focusable, so that it can be scrolled without a mouse.
    return element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=caption)


# -- axes ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """A scale from left to right.

    Attributes:
        low: value at the left end.
        high: value at the right end.
        ticks: values that are marked.
        label: text of a tick.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    label: Callable[[float], str] = "{:g}".format

    @classmethod
    def around(cls, values: Sequence[float], label: Callable[[float], str] = "{:g}".format) -> Axis:
        """An axis with round ends around the finite ones of some values."""
        finite = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(finite), max(finite)
        span = (high - low) or 1.0
        size = 10.0 ** math.floor(math.log10(span / 4))
        step = next(size * factor for factor in (1, 2, 5, 10) if span / (size * factor) <= 5)
        first, last = math.floor(low / step), math.ceil(high / step)
        if first == last:
            last += 1
        ticks = tuple(round(number * step, 10) for number in range(first, last + 1))
        return cls(ticks[0], ticks[-1], ticks, label)

    @classmethod
    def logarithmic(cls, values: Sequence[float], label: Callable[[float], str]) -> Axis:
        """An axis of decimal logarithms with ticks at powers of ten.

        Args:
            values: the logarithms it is around.
            label: text of a tick, from the power itself.
        """
        first, last = math.floor(min(values)), math.ceil(max(values))
        if first == last:
            last += 1
        ticks = tuple(float(number) for number in range(first, last + 1))
        return cls(ticks[0], ticks[-1], ticks, lambda power: label(10.0**power))

    def at(self, value: float) -> float:
        """Place of a value in per cent; those outside are at the ends."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return 100 * share

    def x(self, value: float) -> str:
        """The same for an attribute."""
        return f"{self.at(value):.2f}%"


def _line(x1: str, y1: float, x2: str, y2: float, kind: str) -> Markup:
    return element("line", x1=x1, y1=f"{y1:g}", x2=x2, y2=f"{y2:g}", class_=kind)


def _grid(axis: Axis, height: float) -> Markup:
    return join(*(_line(axis.x(tick), 0, axis.x(tick), height, "grid") for tick in axis.ticks))


def _anchor(share: float) -> str:
    """Text at the ends of an axis stays inside."""
    return "start" if share < 4 else "end" if share > 96 else "middle"


def _axis_labels(axis: Axis, y: float) -> Markup:
    return join(
        *(
            element(
                "text",
                axis.label(tick),
                x=axis.x(tick),
                y=f"{y:g}",
                class_="tick",
                text_anchor=_anchor(axis.at(tick)),
            )
            for tick in axis.ticks
        )
    )


def _marker(x: str, y: float, kind: str, shape: str) -> Markup:
    if shape == "circle":
        return element("circle", cx=x, cy=f"{y:g}", r=5, class_=f"marker {kind}")
    diamond = element("path", d="M-6 0L0-6L6 0L0 6Z", class_=f"marker {kind}")
    return element("svg", diamond, x=x, y=f"{y:g}", class_="point")


# -- charts -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    """A value with its interval, and how it is drawn.

    Attributes:
        value: the value; nothing is drawn for NaN.
        low: lower end of the interval.
        high: upper end of the interval.
        kind: name of its colour.
        shape: `circle` or `diamond`.
    """

    value: float
    low: float
    high: float
    kind: str = "plain"
    shape: str = "circle"


def interval_chart(
    label: str,
    rows: Sequence[tuple[str, Sequence[Interval]]],
    axis: Axis,
    reference: float | None = None,
) -> Markup:
    """A line for each row: its intervals, one below the other.

    Args:
        label: what it shows, for those who cannot see it.
        rows: name and intervals of each.
        axis: the common scale.
        reference: a value to be marked in all rows.
    """
    lines = []
    for name, intervals in rows:
        height = ROW_HEIGHT + 14 * (len(intervals) - 1)
        parts = [_grid(axis, height)]
        if reference is not None:
            parts.append(_line(axis.x(reference), 0, axis.x(reference), height, "reference"))
        for number, one in enumerate(intervals):
            if math.isnan(one.value):
                continue
            y = ROW_HEIGHT / 2 + 14 * number
            low, high = axis.x(one.low), axis.x(one.high)
            parts.append(_line(low, y, high, y, f"whisker {one.kind}"))
            parts += [_line(x, y - 4, x, y + 4, f"whisker {one.kind}") for x in (low, high)]
            parts.append(_marker(axis.x(one.value), y, one.kind, one.shape))
        lines.append(_chart_row(name, element("svg", *parts, height=height, aria_hidden="true")))
    lines.append(_chart_row("", element("svg", _axis_labels(axis, 12), height=18)))
    return element("div", *lines, class_="chart", role="img", aria_label=label)


def _chart_row(name: str, picture: Markup) -> Markup:
    return element("div", element("span", name, class_="label"), picture, class_="row")


def stacked_chart(
    label: str, rows: Sequence[tuple[str, Sequence[int]]], kinds: Sequence[tuple[str, str]]
) -> Markup:
    """A bar of shares for each row.

    Args:
        label: what it shows, for those who cannot see it.
        rows: name of each, and a count for each kind.
        kinds: name of each kind, and of its colour.
    """
    lines = []
    for name, counts in rows:
        total, left = sum(counts), 0
        parts = []
        for count, (_, kind) in zip(counts, kinds, strict=True):
            if not count:
                continue
            x, width = 100 * left / total, 100 * count / total
            left += count
            parts.append(
                element(
                    "rect",
                    x=f"{x:.2f}%",
                    width=f"{width:.2f}%",
                    y=2,
                    height=ROW_HEIGHT - 4,
                    class_=f"bar {kind}",
                )
            )
            if width >= 9:  # room for the text on a narrow screen, too
                at: _Attributes = {"x": f"{x + width / 2:.2f}%", "y": ROW_HEIGHT / 2 + 4}
                text = f"{width:.0f}"
                parts.append(element("text", text, class_=f"on {kind}", text_anchor="middle", **at))
        lines.append(
            _chart_row(name, element("svg", *parts, height=ROW_HEIGHT, aria_hidden="true"))
        )
    return join(
        legend([(name, kind, "square") for name, kind in kinds]),
        element("div", *lines, class_="chart", role="img", aria_label=label),
    )


def legend(entries: Sequence[tuple[str, str, str]]) -> Markup:
    """What colours and shapes mean: name, colour and shape of each."""
    items = []
    for name, kind, shape in entries:
        if shape == "square":
            key = element("rect", x=2, y=2, width=12, height=12, class_=f"bar {kind}")
        else:
            key = _marker("8", 8, kind, shape)
        picture = element("svg", key, width=16, height=16, aria_hidden="true")
        items.append(element("li", picture, name))
    return element("ul", *items, class_="legend")


def histogram(label: str, bins: Sequence[tuple[float, float, int]], axis: Axis) -> Markup:
    """Bars over an axis.

    Args:
        label: what it shows, for those who cannot see it.
        bins: lower end, upper end and count of each.
        axis: the scale.
    """
    height = 160
    most = max((count for *_, count in bins), default=1)
    parts = [_grid(axis, height)]
    for low, high, count in bins:
        size = (height - 20) * count / most
        parts.append(
            element(
                "rect",
                element("title", f"{low:g} to {high - 1:g}: {count}"),
                x=axis.x(low),
                width=f"{max(axis.at(high) - axis.at(low) - 0.3, 0.1):.2f}%",
                y=f"{height - size:.1f}",
                height=f"{size:.1f}",
                class_="bar plain",
            )
        )
    parts += [_line("0%", height, "100%", height, "axis"), _axis_labels(axis, height + 16)]
    picture = element("svg", *parts, height=height + 22, aria_hidden="true")
    return element("div", picture, class_="chart plot", role="img", aria_label=label)


def scatter(
    label: str, points: Sequence[tuple[str, float, Interval]], across: Axis, upwards: Axis
) -> Markup:
    """Points with intervals upwards, each with its name, a short one, beside it.

    Args:
        label: what it shows, for those who cannot see it.
        points: name, value across, and value upwards of each.
        across: the scale from left to right.
        upwards: the scale from the bottom to the top.
    """
    height = _PLOT_HEIGHT

    def y(value: float) -> float:
        return 8 + (height - 16) * (1 - upwards.at(value) / 100)

    parts = [_grid(across, height)]
    for tick in upwards.ticks:
        parts.append(_line("0%", y(tick), "100%", y(tick), "grid"))
        text = upwards.label(tick)
        parts.append(element("text", text, x=2, y=f"{y(tick) - 3:.1f}", class_="tick"))
    taken: list[tuple[float, float]] = []
    for name, value, interval in sorted(points, key=lambda point: y(point[2].value)):
        x, share = across.x(value), across.at(value)
        parts.append(_line(x, y(interval.low), x, y(interval.high), "whisker plain"))
        parts.append(_marker(x, y(interval.value), "plain", "circle"))
        place = y(interval.value) + 4
        # Downwards, until it is on no other's label.
        while any(abs(share - a) < _LABEL_SHARE and abs(place - b) < _LABEL_GAP for a, b in taken):
            place += 1
        taken.append((share, place))
        side: _Attributes = {"dx": 9, "text_anchor": "start"}
        if share > 90:
            side = {"dx": -9, "text_anchor": "end"}
        parts.append(element("text", name, x=x, y=f"{place:.1f}", class_="point-name", **side))
    parts += [_line("0%", height, "100%", height, "axis"), _axis_labels(across, height + 16)]
    picture = element("svg", *parts, height=height + 22, aria_hidden="true")
    return element("div", picture, class_="chart plot", role="img", aria_label=label)


# -- the page -----------------------------------------------------------------------------


@cache
def static(name: str) -> str:
    """The text of a style sheet or script of the pages, with a line break before it.

    Args:
        name: a file in the folder `static` of this package.
    """
    return "\n" + resources.files(__package__).joinpath("static", name).read_text("utf-8")


def page(title: str, *children: Child, style: str = "", script: str = "") -> str:
    """A whole page, which needs nothing from anywhere and may load nothing.

    Args:
        title: its title.
        children: its content.
        style: rules that come after those of `page.css`.
        script: a program; no other can run on the page.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        element("title", title),
        f"<style>{colours.variables()}{static('page.css')}{style}</style>",
    ]
    body = [element("main", *children)]
    if script:
        body.append(Markup(f"<script>{script}</script>"))
    lines = [*head, element("body", *body), "</html>", ""]
    return "\n".join(["<!DOCTYPE html>", '<html lang="en">', *lines])
