"""The results of a tournament as rows of text, for a terminal, a web page or anything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mrjack_ai.tournament.standings import ENDING_NAMES, PairingResult, Summary


@dataclass(frozen=True)
class ResultTable:
    """Rows of text under headings.

    Attributes:
        names: headings of the first columns, which hold names.
        numbers: headings of the other columns, which hold numbers.
        rows: the cells of each row.
        total: a last row about all the others; None when there is none.
    """

    names: tuple[str, ...]
    numbers: tuple[str, ...]
    rows: list[tuple[str, ...]]
    total: tuple[str, ...] | None = None

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of all columns."""
        return (*self.names, *self.numbers)

    def only(self, *numbers: str) -> ResultTable:
        """The same with some of the columns of numbers alone.

        Raises:
            ValueError: when there is no such column.
        """
        unknown = [name for name in numbers if name not in self.numbers]
        if unknown:
            raise ValueError(f"no column {unknown[0]!r}; there are {', '.join(self.numbers)}")
        places = [self.headings.index(name) for name in (*self.names, *numbers)]

        def cut(row: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(row[place] for place in places)

        total = None if self.total is None else cut(self.total)
        return ResultTable(self.names, numbers, [cut(row) for row in self.rows], total)

    def without(self, number: str) -> ResultTable:
        """The same without one of the columns of numbers."""
        return self.only(*(name for name in self.numbers if name != number))


def percent(share: float) -> str:
    """A share in per cent; `-` when it is not known."""
    return "-" if np.isnan(share) else f"{100 * share:.1f}"


def standings_table(summary: Summary) -> ResultTable:
    """Agents, the best first: games, rating where there are any, and games won, in per cent."""
    table = ResultTable(
        ("agent",),
        ("games", "rating", "score", "as Detective", "as Jack"),
        [
            (
                standing.agent,
                str(standing.games),
                "-" if standing.rating is None else standing.rating.text(),
                standing.score.percent(),
                standing.as_detective.percent(),
                standing.as_jack.percent(),
            )
            for standing in summary.standings
        ],
    )
    return table.without("rating") if summary.ratings is None else table


def pairings_table(summary: Summary) -> ResultTable:
    """Pairings, seen from the first agent."""
    return ResultTable(
        ("agent", "against"),
        ("games", "score", "Elo difference", "better", "actions", "repeated"),
        [
            (
                *pairing.agents,
                str(pairing.games),
                pairing.score.percent(),
                pairing.elo.text(),
                percent(pairing.superiority),
                pairing.lengths.text(),
                percent(pairing.redundancy),
            )
            for pairing in summary.pairings
        ],
    )


def games_by_side(
    pairings: Sequence[PairingResult],
) -> list[tuple[tuple[str, str], dict[str, int], str]]:
    """For each Detective against each Jack: games by ending, and how often the Detective won."""
    found = []
    for pairing in pairings:
        found.append((pairing.agents, pairing.endings[0], pairing.as_detective.percent()))
        if not pairing.self_play:
            wins = pairing.as_jack.complement().percent()
            found.append((pairing.agents[::-1], pairing.endings[1], wins))
    return found


def ending_words(summary: Summary) -> list[str]:
    """The endings to show: `forfeit` only where a game was forfeited."""
    forfeited = any("forfeit" in counts for one in summary.pairings for counts in one.endings)
    return [word for word in ENDING_NAMES if forfeited or word != "forfeit"]


def endings_table(summary: Summary) -> ResultTable:
    """Games by Detective, Jack and ending, and how often the Detective won; all of them last."""
    words, sides = ending_words(summary), games_by_side(summary.pairings)

    def row(names: tuple[str, str], counts: Sequence[int], wins: str) -> tuple[str, ...]:
        return (*names, str(sum(counts)), *map(str, counts), wins)

    rows = [
        row(names, [counts.get(word, 0) for word in words], wins) for names, counts, wins in sides
    ]
    totals = [sum(counts.get(word, 0) for _, counts, _ in sides) for word in words]
    return ResultTable(
        ("Detective", "Jack"),
        ("games", *(ENDING_NAMES[word] for word in words), "Detective wins"),
        rows,
        row(("all", ""), totals, summary.detective.percent()),
    )
