"""A report of a tournament: one web page that needs nothing else."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mrjack_ai.common.files import write_whole
from mrjack_ai.errors import TournamentError
from mrjack_ai.render import colours, html
from mrjack_ai.render.html import Axis, Interval, Markup, element, join
from mrjack_ai.render.phrases import capital
from mrjack_ai.reports.tournament_games import GameChoice, games_section
from mrjack_ai.stats.scores import EloEstimate, Rate
from mrjack_ai.tournament.schedule import Settings
from mrjack_ai.tournament.standings import ENDING_NAMES, Standing, Summary, Tally
from mrjack_ai.tournament.store import ResultsReader
from mrjack_ai.tournament.tables import (
    ResultTable,
    ending_words,
    endings_table,
    games_by_side,
    pairings_table,
    standings_table,
)

_MOST_ROWS = 40
"""Most rows of a chart; the tables have all."""


@dataclass
class _Contents:
    """What the report is made of, from one pass over the games."""

    path: Path
    settings: Settings
    runs: list[tuple[str, str]]
    summary: Summary
    thinking: dict[str, tuple[float, int]]
    """Seconds and number of decisions of each agent."""
    lengths: Counter[int]
    choice: GameChoice


def _collect(path: Path, reader: ResultsReader) -> _Contents:
    settings = reader.settings
    tally = Tally(settings)
    seconds, decisions = np.zeros(len(settings.agents)), np.zeros(len(settings.agents), np.int64)
    lengths: Counter[int] = Counter()
    choice = GameChoice(settings)
    for result in reader.results():
        tally.add(result.record(settings))
        for agent, time, count in (
            (result.detective, result.detective_seconds, result.detective_decisions),
            (result.jack, result.jack_seconds, result.jack_decisions),
        ):
            seconds[agent] += time
            decisions[agent] += count
        lengths[result.length] += 1
        choice.add(result)
    runs = []
    for run, started, workers, versions in reader.table("runs")[1]:
        software = ", ".join(" ".join(pair) for pair in json.loads(versions).items())
        when = f"{str(started)[:16].replace('T', ' ')} UTC"
        processes = "1 worker" if workers == 1 else f"{workers or 'other'} workers"
        runs.append((f"Run {run}", f"{when}; {processes}; {software}"))
    times = {
        agent: (float(seconds[number]), int(decisions[number]))
        for number, agent in enumerate(settings.agents)
    }
    return _Contents(path, settings, runs, tally.summary(), times, lengths, choice)


def write_report(path: str | Path, out: str | Path) -> int:
    """Write the report of a results file as one self-contained HTML page.

    The page works from disk and without a network. It appears when it is complete; one that was
    there is replaced.

    Args:
        path: the results file; it may be written meanwhile.
        out: the page.

    Returns:
        Number of games it is about.

    Raises:
        TournamentError: when the results cannot be read, or the page cannot be written.
    """
    with ResultsReader(path) as reader:
        reader.hold()
        contents = _collect(Path(path), reader)
        text = _report(contents, reader)
    write_whole(out, text, path, error=TournamentError)
    return contents.summary.games


# -- sections -----------------------------------------------------------------------------


def _report(contents: _Contents, reader: ResultsReader) -> str:
    settings, summary = contents.settings, contents.summary
    sections: list[tuple[str, str, Markup]] = []
    if summary.games:
        sections = [
            ("standings", "Standings", _standings(summary)),
            ("cross-table", "Cross table", _cross_table(contents)),
            ("pairings-section", "Pairings", _pairings(contents)),
            ("sides-section", "Balance of sides", _sides(summary)),
            ("endings-section", "Endings", _endings(summary)),
            ("lengths-section", "Lengths", _lengths(contents)),
            ("thinking-section", "Rating against thinking time", _thinking(contents)),
            ("games-section", "Games", games_section(contents.choice, reader)),
        ]
    links = [element("a", title, href=f"#{name}") for name, title, _ in sections]
    blocks = [
        element("section", element("h2", title, id=name), body) for name, title, body in sections
    ]
    title = f"{settings.format.capitalize()} of {len(settings.agents)} agents"
    if len(settings.agents) == 2:
        title = f"{settings.agents[0]} against {settings.agents[1]}"
    return html.page(
        f"{title} - Mr. Jack",
        element("h1", title),
        _facts(contents),
        element("nav", *links, aria_label="Sections") if links else None,
        *blocks,
    )


def _facts(contents: _Contents) -> Markup:
    settings, summary = contents.settings, contents.summary
    limit = settings.move_time_limit
    deals = settings.deals
    facts = [
        ("Games", f"{summary.games} of {settings.total_games}"),
        ("Agents", ", ".join(settings.agents)),
        ("Format", settings.format),
        ("Deals", f"drawn from seed {settings.seed}" if deals is None else f"{len(deals)} given"),
        ("Board", f"{settings.variant.board.name}, {settings.variant.turns} turns"),
        ("Characters", ", ".join(settings.variant.cast)),
        ("Time limit", "none" if limit is None else f"{limit:g} ms a decision"),
        *contents.runs,
        ("File", contents.path.name),
    ]
    notices = []
    if summary.sprt is not None:
        notices.append(element("p", summary.sprt_text(), class_="notice", id="sprt"))
    decided = summary.sprt is not None and summary.sprt.decided
    if summary.games == 0:
        notices.append(element("p", "No game has been played yet.", class_="notice"))
    elif summary.games < settings.total_games and not decided:
        text = "The tournament is not complete; figures are of the games played so far."
        notices.append(element("p", text, class_="notice"))
    terms = [join(element("dt", name), element("dd", value)) for name, value in facts]
    return join(element("dl", *terms), *notices)


def _interval(estimate: Rate | EloEstimate, kind: str = "plain", shape: str = "circle") -> Interval:
    return Interval(estimate.value, estimate.low, estimate.high, kind, shape)


def _share_axis() -> Axis:
    ticks = (0.0, 0.25, 0.5, 0.75, 1.0)
    return Axis(0, 1, ticks, lambda share: f"{100 * share:.0f} %")


def _elo_label(points: float) -> str:
    return f"{points:+.0f}" if points else "0"


def _rating_axis(standings: Sequence[Standing]) -> Axis:
    values = []
    for standing in standings:
        if standing.rating is not None:
            rating = standing.rating
            values += [rating.value, rating.low, rating.high]
    return Axis.around(values, _elo_label)


def _standings(summary: Summary) -> Markup:
    if summary.ratings is not None:
        text = (
            "Ratings are Elo points of a Bradley-Terry model with a term for the side played; the "
            "mean of all agents is 0. Everywhere on this page, figures in brackets and bars are "
            "95 % intervals; those of ratings and scores take the games of one deal as one "
            "observation."
        )
        chart = html.interval_chart(
            "Rating of each agent with its 95 % interval",
            [
                (standing.agent, [_interval(standing.rating)])
                for standing in summary.standings[:_MOST_ROWS]
                if standing.rating is not None
            ],
            _rating_axis(summary.standings),
            reference=0,
        )
    else:
        text = (
            f"There are no ratings: {summary.unrated}. Figures in brackets and bars are 95 % "
            "intervals, everywhere on this page."
        )
        chart = html.interval_chart(
            "Score of each agent with its 95 % interval",
            [(s.agent, [_interval(s.score)]) for s in summary.standings[:_MOST_ROWS]],
            _share_axis(),
            reference=0.5,
        )
    caption = "Ratings in Elo points, games won in per cent, 95 % intervals"
    return join(
        element("p", text), chart, _table("standings-table", caption, standings_table(summary))
    )


def _table(name: str, caption: str, table: ResultTable) -> Markup:
    """A table of results; its total is the last row."""
    rows = table.rows if table.total is None else [*table.rows, table.total]
    headings = [capital(heading) for heading in table.headings]
    return html.table(name, caption, headings, rows, names=len(table.names))


def _cross_table(contents: _Contents) -> Markup:
    summary, shown = contents.summary, contents.choice.chosen()
    order = [standing.agent for standing in summary.standings]
    cells: dict[tuple[str, str], tuple[int, Rate]] = {}
    for number, pairing in enumerate(summary.pairings):
        score = pairing.as_detective if pairing.self_play else pairing.score
        cells[pairing.agents] = (number, score)
        if not pairing.self_play:
            cells[pairing.agents[::-1]] = (number, score.complement())
    rows = []
    for place, agent in enumerate(order, start=1):
        row = []
        for other in order:
            found = cells.get((agent, other))
            if found is None or np.isnan(found[1].value):
                row.append(element("td", "-" if found else ""))
                continue
            number, score = found
            low, high = f"{100 * score.low:.1f}", f"{100 * score.high:.1f}"
            text = join(f"{100 * score.value:.1f}", element("small", f"[{low}, {high}]"))
            if number in shown:
                text = element("a", text, href=f"#pairing-{number}")
            # Blue above one half, orange below, the stronger the farther; the text stays readable.
            strength = round(1.1 * abs(score.value - 0.5), 3)
            colour = colours.BLUE if score.value > 0.5 else colours.ORANGE
            style = f"background: {colours.faded(colour, strength)}"
            row.append(element("td", text, style=style))
        rows.append(element("tr", element("th", f"{place} {agent}", scope="row"), *row))
    heads = [
        element("th", str(place), scope="col", title=agent)
        for place, agent in enumerate(order, start=1)
    ]
    caption = "Games won in per cent by the agent of the row against that of the column"
    if summary.settings.format == "self-play":
        caption = "Games won in per cent by the Detective when an agent plays itself"
    inner = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", element("th", "Agent", scope="col"), *heads)),
        element("tbody", *rows),
        id="cross",
    )
    intro = "Columns have the numbers of the rows. A cell leads to the games of its pairing."
    scroll = element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=caption)
    return join(element("p", intro), scroll)


def _pairings(contents: _Contents) -> Markup:
    shown = contents.choice.chosen()
    table = pairings_table(contents.summary).without("actions")
    rows: list[list[str]] = [list(row) for row in table.rows]
    for number, row in enumerate(rows):
        if number in shown:
            row[0] = element("a", row[0], href=f"#pairing-{number}")
    text = (
        "Seen from the first agent. Better: how sure it is that it is the better one. Repeated: "
        "share of games that are identical to an earlier one; where it is large, intervals claim "
        "more than they know."
    )
    caption = "Each pairing in per cent, 95 % intervals by pairs of games on one deal"
    linked = replace(table, rows=[tuple(row) for row in rows])
    return join(element("p", text), _table("pairings", caption, linked))


def _sides(summary: Summary) -> Markup:
    text = f"The Detective won {summary.detective.percent()} % of all games."
    if summary.ratings is not None:
        side = summary.ratings.side_advantage().text()
        text += f" Between equals, playing the Detective is worth {side} Elo points."
    rows = [
        (
            standing.agent,
            [
                _interval(standing.as_detective, "detective"),
                _interval(standing.as_jack, "jack", "diamond"),
            ],
        )
        for standing in summary.standings[:_MOST_ROWS]
    ]
    chart = html.interval_chart(
        "Games won by each agent as Detective and as Jack, with 95 % intervals",
        rows,
        _share_axis(),
        reference=0.5,
    )
    entries = [("as Detective", "detective", "circle"), ("as Jack", "jack", "diamond")]
    table = replace(endings_table(summary).only("games", "Detective wins"), total=None)
    caption = "Games won by the Detective in per cent, 95 % Wilson intervals"
    return join(
        element("p", text, id="side"), html.legend(entries), chart, _table("sides", caption, table)
    )


def _endings(summary: Summary) -> Markup:
    words = ending_words(summary)
    bars = [
        (f"{detective} vs {jack}", [counts.get(word, 0) for word in words])
        for (detective, jack), counts, _ in games_by_side(summary.pairings)
        if counts
    ]
    total = [sum(column) for column in zip(*(counts for _, counts in bars), strict=True)]
    chart = html.stacked_chart(
        "Share of each ending, by Detective and Jack",
        [*bars[: _MOST_ROWS - 1], ("all", total)],
        [(ENDING_NAMES[word], word) for word in words],
    )
    text = "Bars are in per cent of the games of one Detective (named first) against one Jack."
    table = endings_table(summary).without("Detective wins")
    return join(element("p", text), chart, _table("endings", "Games by ending", table))


def _lengths(contents: _Contents) -> Markup:
    summary, counts = contents.summary, contents.lengths
    width = max(1, -(-(max(counts) - min(counts) + 1) // 30))  # about 30 bars
    first = min(counts) // width
    bins = [
        (
            float(number * width),
            float((number + 1) * width),
            sum(counts[length] for length in range(number * width, (number + 1) * width)),
        )
        for number in range(first, max(counts) // width + 1)
    ]
    ticks = Axis.around([bins[0][0], bins[-1][1]]).ticks
    axis = Axis(min(ticks[0], bins[0][0]), max(ticks[-1], bins[-1][1]), ticks)
    chart = html.histogram("How many games were how long", bins, axis)
    rows = [
        [
            *pairing.agents,
            f"{pairing.lengths.mean:.1f}",
            f"{pairing.lengths.median:g}",
            f"{pairing.lengths.shortest:.0f}",
            f"{pairing.lengths.longest:.0f}",
        ]
        for pairing in summary.pairings
        if pairing.games
    ]
    text = (
        f"Actions and chance outcomes of a game: {summary.lengths.mean:.1f} on average, "
        f"{summary.lengths.shortest:.0f} to {summary.lengths.longest:.0f}. "
        f"The bars are {width} wide, their heights numbers of games; the highest stands for "
        f"{max(count for *_, count in bins)}."
    )
    headers = ["Agent", "Against", "Mean", "Median", "Shortest", "Longest"]
    caption = "Lengths of the games of each pairing"
    return join(
        element("p", text, id="length"),
        chart,
        html.table("lengths", caption, headers, rows, names=2),
    )


def _milliseconds(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _thinking(contents: _Contents) -> Markup:
    summary = contents.summary
    points, rows = [], []
    for place, standing in enumerate(summary.standings, start=1):
        seconds, decisions = contents.thinking[standing.agent]
        mean = 1000 * seconds / decisions if decisions else np.nan
        rating = standing.rating
        rows.append(
            [
                f"{place} {standing.agent}",
                str(decisions),
                "-" if np.isnan(mean) else _milliseconds(mean),
                "-" if rating is None else rating.text(),
            ]
        )
        if rating is not None and mean > 0:
            points.append((str(place), math.log10(mean), _interval(rating)))
    chart = None
    if points:
        chart = html.scatter(
            "Rating of each agent against its mean time for a decision",
            points,
            Axis.logarithmic([power for _, power, _ in points], lambda ms: f"{ms:g} ms"),
            _rating_axis(summary.standings),
        )
    text = (
        "Mean time for a decision across, on a scale of powers of ten; rating upwards. Numbers are "
        "those of the table. Times are those of the machine the games were played on, whatever "
        "else it did."
    )
    headers = ["Agent", "Decisions", "Milliseconds each", "Rating"]
    caption = "Mean thinking time and rating of each agent"
    return join(element("p", text), chart, html.table("thinking", caption, headers, rows))
