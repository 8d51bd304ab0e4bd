"""Figures: points with intervals, stacked bars, lines, and hex boards coloured by values.

All functions return a `matplotlib.figure.Figure`, which notebooks show and `savefig` writes. Values
on boards go from light to dark in one hue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mrjack_ai.render.colours import ENDINGS, SERIES
from mrjack_ai.render.shapes import RADIUS, middle
from mrjack_ai.setup.board import Board
from mrjack_ai.stats.scores import Z95
from mrjack_ai.tournament.standings import ENDING_NAMES

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mrjack_ai.studies.strength import Line

Floats = npt.NDArray[np.float64]

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""One for each colour of a series, so that figures can be read without any."""

_HATCHES = {"wrong": "//", "escape": "\\\\", "dawn": "..", "forfeit": "xx"}
_DPI = 100


def new_figure(
    width: float = 8.0, height: float = 4.0, columns: int = 1, share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """An empty figure, of inches, with some panels side by side."""
    from matplotlib.figure import Figure  # not at the top: an extra, and slow to import

    figure = Figure(figsize=(width, height), dpi=_DPI, layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(1, columns, sharey=share_y)))
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(True, color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
    return figure, axes


def interval_plot(
    table: pandas.DataFrame,
    label: str,
    title: str,
    xlabel: str,
    *,
    columns: tuple[str, str, str] = ("share", "low", "high"),
    group: str | None = None,
    scale: float = 100.0,
    reference: float | None = None,
    height: float | None = None,
) -> Figure:
    """Points with horizontal 95 % intervals, one line a row, from the top down.

    Args:
        table: one row a point.
        label: column with what stands at the left.
        title: of the figure.
        xlabel: what the axis shows, and its unit.
        columns: value and ends of the interval.
        group: column of what is told apart by colour and marker, drawn on the same line.
        scale: what values are multiplied by.
        reference: where a dashed line stands, in scaled units.
        height: inches; by default by the number of lines.
    """
    names = list(dict.fromkeys(table[label].astype(str)))
    groups = [None] if group is None else list(dict.fromkeys(table[group]))
    if height is None:
        height = 1.3 + len(names) * (0.32 + 0.1 * (len(groups) - 1))
    figure, (ax,) = new_figure(8.0, height)
    drawn = scale * table[list(columns)].to_numpy(float)
    limits = _finite_range(np.append(drawn, np.nan if reference is None else reference))
    beyond = (2 * limits[0] - limits[1], 2 * limits[1] - limits[0])
    for number, one in enumerate(groups):
        rows = table if group is None else table[table[group] == one]
        shift = (number - (len(groups) - 1) / 2) * 0.55 / len(groups)
        y = np.array([names.index(str(name)) for name in rows[label]]) + shift
        value, low, high = (
            np.clip(scale * rows[column].to_numpy(float), *beyond) for column in columns
        )
        ax.errorbar(
            value,
            y,
            xerr=_whiskers(value, low, high),
            fmt=MARKERS[number],
            color=SERIES[number],
            capsize=3,
            markersize=5,
            label=None if one is None else str(one),
        )
    if reference is not None:
        ax.axvline(reference, color="0.3", linestyle="--", linewidth=1)
    if np.isinf(drawn).any():
        ax.set_xlim(*limits)  # what is infinite runs out of the picture
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    _label(ax, title, xlabel, legend=group is not None)
    return figure


def _label(ax: Axes, title: str, xlabel: str, ylabel: str = "", legend: bool = False) -> None:
    """Title and names of the axes; the legend beside the panel, where it hides nothing."""
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if legend:
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _whiskers(value: Floats, low: Floats, high: Floats) -> Floats:
    """Lengths of both halves of the intervals, shape `(2, n)`; 0 where there is none."""
    return np.asarray(np.nan_to_num(np.abs(np.array([value - low, high - value]))))


def _finite_range(values: Floats) -> tuple[float, float]:
    """The least and greatest finite value and some room; -1 to 1 when there is none."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return -1.0, 1.0
    room = 0.08 * float(np.ptp(finite)) or 1.0
    return float(finite.min()) - room, float(finite.max()) + room


def ending_bars(table: pandas.DataFrame, label: str, title: str) -> Figure:
    """Shares of the endings as stacked horizontal bars, in per cent.

    Args:
        table: one row a game: column `label`, and `ending`.
        label: column with what makes a bar; bars in the order of their first appearance.
        title: of the figure.
    """
    names = list(dict.fromkeys(table[label].astype(str)))
    figure, (ax,) = new_figure(8.0, 1.6 + 0.36 * len(names))
    left = np.zeros(len(names))
    for word, ending in ENDING_NAMES.items():
        ended = table["ending"] == ending
        if not ended.any():
            continue
        share = np.array([100 * ended[table[label].astype(str) == name].mean() for name in names])
        options: dict[str, Any] = {"hatch": _HATCHES.get(word), "edgecolor": "white"}
        bars = ax.barh(names, share, left=left, color=ENDINGS[word], label=ending, **options)
        texts = [f"{value:.0f}" if value >= 5 else "" for value in share]
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85}
        for text in ax.bar_label(bars, labels=texts, label_type="center", fontsize=8):
            if text.get_text():
                text.set_bbox(box)
        left += share
    ax.axvline(50, color="0.3", linestyle="--", linewidth=1)
    ax.invert_yaxis()
    ax.set_xlim(0, 100)
    _label(ax, title, "games, % (only “caught” is won by the Detective)", legend=True)
    return figure


def series_plot(
    table: pandas.DataFrame,
    x: str,
    title: str,
    xlabel: str,
    ylabel: str,
    *,
    columns: tuple[str, str, str],
    group: str | None = None,
    scale: float = 1.0,
    log_x: bool = False,
    log_y: bool = False,
    connect: bool = True,
    reference: float | None = None,
) -> Figure:
    """Points with vertical 95 % intervals against a number, joined by lines.

    Args:
        table: one row a point.
        x: column of the abscissa.
        title: of the figure.
        xlabel: what is to the right, and its unit.
        ylabel: what is upwards, and its unit.
        columns: value and ends of the interval; the ends may be missing (NaN).
        group: column of what is told apart by colour and marker.
        scale: what values are multiplied by.
        log_x: a logarithmic axis, with a tick at each abscissa.
        log_y: likewise, with the usual ticks.
        connect: join the points.
        reference: where a dashed line stands, in scaled units.
    """
    figure, (ax,) = new_figure()
    groups = [None] if group is None else list(dict.fromkeys(table[group]))
    for number, one in enumerate(groups):
        rows = table if group is None else table[table[group] == one]
        value, low, high = (scale * rows[column].to_numpy(float) for column in columns)
        # Side by side, so that intervals do not hide each other.
        shift = 0.0 if log_x else (number - (len(groups) - 1) / 2) * 0.08
        ax.errorbar(
            rows[x].to_numpy(float) + shift,
            value,
            yerr=_whiskers(value, low, high),
            fmt=MARKERS[number] + ("-" if connect else ""),
            color=SERIES[number],
            capsize=3,
            markersize=5,
            label=None if one is None else str(one),
        )
    if reference is not None:
        ax.axhline(reference, color="0.3", linestyle="--", linewidth=1)
    if log_x:
        ax.set_xscale("log", base=2)
        ticks = sorted(set(table[x]))
        ax.set_xticks(ticks, [f"{tick:.3g}" if tick < 10 else f"{tick:.0f}" for tick in ticks])
        ax.minorticks_off()
    if log_y:
        from matplotlib.ticker import LogLocator

        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_minor_locator(LogLocator(subs=()))
        ax.yaxis.set_major_formatter(_plain_numbers())
    _label(ax, title, xlabel, ylabel, legend=group is not None)
    return figure


def _plain_numbers() -> Any:
    """Ticks as 0.5, 1, 2 instead of powers."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, place: f"{value:g}")


def add_line(figure: Figure, line: Line, x: Floats, shown: Any, text: str) -> None:
    """A fitted line with the band of its 95 % intervals, into a figure that is there.

    Args:
        figure: of one panel.
        line: from `strength.fit_line`.
        x: where the line is drawn, in the units it was fitted in, shape `(n,)`.
        shown: the same places in the units of the figure, shape `(n,)`.
        text: what the legend says.
    """
    (ax,) = figure.axes
    value, error = line.at(x)
    ax.plot(shown, value, color=SERIES[1], linestyle="--", label=text)
    band = Z95 * error
    ax.fill_between(shown, value - band, value + band, color=SERIES[1], alpha=0.15, linewidth=0)
    ax.legend(frameon=False, loc="best")


def distribution_plot(
    counts: Mapping[str, pandas.Series], title: str, xlabel: str, ylabel: str, log_x: bool = False
) -> Figure:
    """How many are at most so large: cumulative shares in per cent, a colour and line style each.

    Args:
        counts: by name, the numbers themselves (one entry an observation).
        title: of the figure.
        xlabel: what the numbers are, and their unit.
        ylabel: of what the shares are.
        log_x: a logarithmic axis with base 2.
    """
    figure, (ax,) = new_figure(8.0, 3.6)
    styles = ("-", "--", ":", "-.")
    for number, (name, values) in enumerate(counts.items()):
        ordered = np.sort(values.to_numpy(float))
        share = np.arange(1, len(ordered) + 1) * 100 / len(ordered)
        start = np.concatenate([ordered[:1], ordered])
        style: dict[str, Any] = {"color": SERIES[number], "linestyle": styles[number % 4]}
        ax.step(start, np.concatenate([[0.0], share]), where="post", label=name, **style)
    if log_x:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter(_plain_numbers())
    ax.set_ylim(0, 101)
    _label(ax, title, xlabel, ylabel, legend=True)
    return figure


def histogram(values: pandas.Series, title: str, xlabel: str, ylabel: str) -> Figure:
    """A histogram in per cent, of about forty bars.

    Args:
        values: one entry an observation, finite.
        title: of the figure.
        xlabel: what the numbers are, and their unit.
        ylabel: of what the bars are shares.
    """
    figure, (ax,) = new_figure(8.0, 3.0)
    weights = np.full(len(values), 100 / len(values))
    ax.hist(values.to_numpy(float), bins=40, weights=weights, color=SERIES[0])
    _label(ax, title, xlabel, ylabel)
    return figure


def heat_maps(
    board: Board, panels: Mapping[str, Mapping[str, float]], title: str, unit: str
) -> Figure:
    """Boards side by side, their hexes coloured by values, each with its own scale.

    Args:
        board: the board; hexes without a value are drawn without a colour.
        panels: by caption, values by hex name.
        title: of the figure.
        unit: of the values.
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import RegularPolygon

    figure, axes = new_figure(4.6 * len(panels), 5.0, len(panels))
    for ax, (caption, values) in zip(axes, panels.items(), strict=True):
        ax.set_axis_off()
        ax.set_aspect("equal")
        centres = {
            hex: _centre(hex) for hex in (*board.streets, *board.obstacles, *board.gaslights)
        }

        def shapes(hexes: Sequence[str], centres: Any = centres) -> list[RegularPolygon]:
            # A flat top: corners to the east and west.
            return [
                RegularPolygon(centres[hex], 6, radius=0.97, orientation=np.pi / 6) for hex in hexes
            ]

        blocked = [hex for hex in centres if hex not in board.street_index]
        ax.add_collection(PatchCollection(shapes(blocked), facecolor="0.85", edgecolor="white"))
        lamps = np.array([centres[hex] for hex in board.gaslights]).reshape(-1, 2)
        ax.scatter(lamps[:, 0], lamps[:, 1], marker="*", s=36, color="0.45", zorder=3)
        empty = [hex for hex in board.streets if hex not in values]
        ax.add_collection(PatchCollection(shapes(empty), facecolor="white", edgecolor="0.7"))
        filled = [hex for hex in board.streets if hex in values]
        coloured = PatchCollection(shapes(filled), cmap="Blues", edgecolor="0.7")
        numbers = np.array([values[hex] for hex in filled])
        coloured.set_array(numbers)
        coloured.set_clim(0, float(numbers.max()) if len(numbers) else 1.0)
        ax.add_collection(coloured)
        for hex in board.streets:
            dark = values.get(hex, 0.0) > 0.5 * (numbers.max() if len(numbers) else 1.0)
            place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6}
            ax.text(*centres[hex], hex, color="white" if dark else "black", **place)
        ax.autoscale_view()
        ax.set_title(caption, fontsize=10)
        bar = figure.colorbar(coloured, ax=ax, orientation="horizontal", shrink=0.7, pad=0.02)
        bar.set_label(unit)
    figure.suptitle(title, x=0.01, ha="left")
    return figure


def _centre(hex: str) -> tuple[float, float]:
    """As in the drawn board, in sides of a hex; here y goes up."""
    x, y = middle(hex)
    return x / RADIUS, -y / RADIUS
