"""Results of tournaments on the terminal: tables, and a live one while the games are played."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from mrjack_ai.setup.variant import Variant
from mrjack_ai.stats.scores import mean_score
from mrjack_ai.tournament import Results, Summary, forfeit_text
from mrjack_ai.tournament.outcomes import NOT_PLAYED, Outcomes
from mrjack_ai.tournament.tables import (
    ResultTable,
    endings_table,
    pairings_table,
    percent,
    standings_table,
)

TABLE_STYLE: dict[str, Any] = {"title_justify": "left", "box": box.SIMPLE_HEAD}

MOST_FORFEITS = 5
"""So many forfeited games are listed after a tournament."""

_INTERVALS = {"rating", "score", "as Detective", "as Jack", "Elo difference"}
_INTERVALS |= {"Detective wins"}
_NARROW = 110
"""On terminals of fewer columns the tables move closer together."""
_NARROW_INTERVAL = len("100.0 [100.0,") - 1

_UPDATES_PER_SECOND = 4
_PAUSE = 2e-6
"""Scores are counted again after so many seconds for each game; counting one takes 1e-7."""
_LINES_AROUND = 8
"""Lines of the live view besides the agents', and what is left of the shell's."""


def identities_text(variant: Variant, probabilities: npt.NDArray[np.float64]) -> str:
    """Who can be Jack and how likely, by seat; those who cannot are left out."""
    pairs = zip(variant.cast, probabilities, strict=True)
    return ", ".join(f"{code} {100 * share:.1f} %" for code, share in pairs if share > 0)


# -- results ------------------------------------------------------------------------------


def _table(title: str, results: ResultTable) -> Table:
    table = Table(title=title, **TABLE_STYLE)
    for name in results.names:
        table.add_column(name, overflow="fold", min_width=8)
    for name in results.numbers:
        # A narrow terminal breaks an interval behind its comma, and loses no digit.
        width = _NARROW_INTERVAL if name in _INTERVALS else None
        table.add_column(name, justify="right", overflow="fold", min_width=width)
    for row in results.rows:
        table.add_row(*map(Text, row))
    if results.total is not None:
        table.add_section()
        table.add_row(*map(Text, results.total))
    return table


def print_summary(summary: Summary) -> None:
    """Print standings, pairings and endings."""
    console = Console()
    if not console.is_terminal:
        console.width = 160  # a file or pipe has no width of its own
    tables = [
        _table("Standings: games won in %, 95 % intervals", standings_table(summary)),
        _table("Pairings: in %, 95 % intervals by pairs", pairings_table(summary)),
        _table("Games by side and ending", endings_table(summary)),
    ]
    if console.width < _NARROW:
        for table in tables:
            table.padding = (0, 0)
    console.print(tables[0])
    if summary.ratings is not None:
        side = summary.ratings.side_advantage().text()
        print(f"Ratings are Elo points around the mean; playing the Detective is worth {side}.\n")
    else:
        print(f"No ratings: {summary.unrated}.\n")
    console.print(*tables[1:])
    if summary.sprt is not None:
        print(summary.sprt_text())


def print_forfeits(results: Results, most: int = MOST_FORFEITS) -> None:
    """How many games were forfeited, and why the first ones were."""
    forfeits = [record for record in results.records if "forfeit" in record.details]
    if not forfeits:
        return
    games = "1 game was" if len(forfeits) == 1 else f"{len(forfeits)} games were"
    print(f"{games} forfeited:")
    for record in forfeits[:most]:
        print(f"  game {record.details['game']}: {forfeit_text(record)}")
    if len(forfeits) > most:
        print("  ...")


# -- while games are played ---------------------------------------------------------------


def _progress(console: Console, disable: bool = False) -> Progress:
    return Progress(
        TextColumn("games"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[left]}"),
        console=console,
        disable=disable,
    )


class _Bar:
    """The bar of a `Progress`, with games/s of this run alone."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("games", total=None, rate="", left="left")
        self._started = time.perf_counter()
        self._before: int | None = None

    def advance(self, done: int, total: int) -> None:
        if self._before is None:
            self._before = done  # games of an earlier run do not count for the rate
        seconds = time.perf_counter() - self._started
        pace = (done - self._before) / seconds if seconds > 0.5 else 0.0
        rate = f"{pace:.{0 if pace >= 10 else 1}f}/s" if pace else ""
        self._progress.update(self._task, completed=done, total=total, rate=rate)

    def say(self, left: str) -> None:
        """What to write behind the time left."""
        self._progress.update(self._task, left=left)


def _watched(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal


@contextlib.contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error for games played and games in all; silent where nobody watches."""
    console = Console(stderr=True)
    with _progress(console, disable=not _watched(console)) as progress:
        yield _Bar(progress).advance


class _Scores:
    """The scores so far, as a table that renders itself anew whenever it is drawn.

    Of millions of games it is counted less often, so that counting takes no time from playing.
    """

    def __init__(self) -> None:
        self.outcomes: Outcomes | None = None
        self._counted: list[RenderableType] = []
        self._next = 0.0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        now = time.perf_counter()
        if self.outcomes is not None and now >= self._next:
            self._next = now + _PAUSE * self.outcomes.count
            most = max(1, console.height - _LINES_AROUND)
            self._counted = list(self._count(self.outcomes, most))
        yield from self._counted

    def _count(self, outcomes: Outcomes, most: int) -> Iterator[RenderableType]:
        if len(outcomes.settings.pairings) == 1 and outcomes.settings.format != "self-play":
            yield _match_table(outcomes)
            if (status := outcomes.sprt_status()) is not None:
                yield Text(
                    f"  log-likelihood ratio {status.llr:+.2f}, "
                    f"ends at {status.lower:+.2f} or {status.upper:+.2f}"
                )
        else:
            yield _agents_table(outcomes, most)


def _match_table(outcomes: Outcomes) -> Table:
    (counts,) = outcomes.pair_counts()
    (pair,) = outcomes.settings.pairings
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("so far", overflow="ellipsis", no_wrap=True)
    for name in ("games", "score %", "Elo difference", "better %"):
        table.add_column(name, justify="right", no_wrap=True)
    for agent, mine in zip(pair, (counts, counts.mirrored()), strict=True):
        better = percent(mine.likelihood_of_superiority())
        score = mine.score()
        table.add_row(
            Text(outcomes.settings.agents[agent]),
            str(score.games),
            score.percent(),
            score.elo().text(),
            better,
        )
    return table


def _agents_table(outcomes: Outcomes, most: int) -> Table:
    settings, winners = outcomes.settings, outcomes.table()
    pairings = np.array(settings.pairings)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("so far", overflow="ellipsis", no_wrap=True)
    for name in ("games", "score %", "as Detective %", "as Jack %"):
        table.add_column(name, justify="right", no_wrap=True)
    rows = []
    for number, agent in enumerate(settings.agents):
        # The Detective is the first agent in the first game of a deal, the second in the other.
        detective = np.argwhere(pairings == number)
        as_detective = winners[:, detective[:, 0], detective[:, 1]]
        as_jack = winners[:, detective[:, 0], 1 - detective[:, 1]]
        both = np.concatenate([as_detective == 1, as_jack == 2], axis=1)
        played = np.concatenate([as_detective, as_jack], axis=1) != NOT_PLAYED
        whole = both[played.all(axis=1)]
        score = mean_score(whole.mean(axis=1).tolist() if len(whole) else [], both.shape[1])
        sides = [
            f"{100 * (side == won).sum() / max(1, (side != NOT_PLAYED).sum()):.1f}"
            for side, won in ((as_detective, 1), (as_jack, 2))
        ]
        rows.append((np.nan_to_num(score.value), agent, int(played.sum()), score.percent(), sides))
    rows.sort(key=lambda row: -row[0])
    for _, agent, games, share, sides in rows[:most]:
        table.add_row(Text(agent), str(games), share, *sides)
    if len(rows) > most:
        table.add_row(f"and {len(rows) - most} more")
    return table


@contextlib.contextmanager
def live_table() -> Iterator[Callable[[Outcomes], None]]:
    """Progress, games/s, time left and scores on standard error; silent where nobody watches.

    Yields:
        What `run_tournament` takes as `watch`.
    """
    console = Console(stderr=True)
    if not _watched(console):
        yield lambda outcomes: None
        return
    progress = _progress(console)
    bar, scores = _Bar(progress), _Scores()

    def watch(outcomes: Outcomes) -> None:
        scores.outcomes = outcomes
        bar.advance(outcomes.count, outcomes.settings.total_games)
        if outcomes.settings.sprt is not None:
            bar.say("left at most")

    view = Table.grid()
    view.add_row(scores)
    view.add_row(progress)
    # Gone at the end: the final tables take its place.
    with Live(view, console=console, refresh_per_second=_UPDATES_PER_SECOND, transient=True):
        yield watch
