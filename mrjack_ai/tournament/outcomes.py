"""Who won which game of a schedule so far, and when a sequential test of a match has ended.

A test is asked about the unbroken beginning of the schedule only, pair by pair in its order. So it
ends after the same game whatever the number of workers, and after an interruption.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from mrjack_ai.game.record import GameRecord
from mrjack_ai.setup.variant import DETECTIVE, JACK, PLAYER_NAMES
from mrjack_ai.stats.scores import PairCounts
from mrjack_ai.stats.sprt import SprtStatus
from mrjack_ai.tournament.schedule import GameResult, Settings

NOT_PLAYED, DETECTIVE_WON, JACK_WON = 0, 1, 2

_BLOCK = 65_536
"""About so many games are noted together."""


def winner_of(record: GameRecord) -> int:
    """Player id of the winner of a game that is over; a forfeited one is lost for the forfeiter."""
    if "forfeit" in record.details:
        return 1 - PLAYER_NAMES.index(record.details["forfeit"]["by"])
    return DETECTIVE if record.ending == "caught" else JACK


class _Winners:
    """Who won which game of a schedule, one byte a game; takes room for those played only.

    Args:
        games: games of the schedule.
        together: games of a deal, which a block never parts.
    """

    def __init__(self, games: int, together: int) -> None:
        self._games = games
        self._size = together * max(1, _BLOCK // together)
        self._blocks: dict[int, bytearray] = {}

    def __getitem__(self, number: int) -> int:
        block = self._blocks.get(number // self._size)
        return NOT_PLAYED if block is None else block[number % self._size]

    def __setitem__(self, number: int, value: int) -> None:
        place = number // self._size
        if place not in self._blocks:
            self._blocks[place] = bytearray(min(self._size, self._games - place * self._size))
        self._blocks[place][number % self._size] = value

    def first_missing(self, number: int) -> int:
        """The first game from here on that has not been played; the number of games if none."""
        while number < self._games:
            place, start = divmod(number, self._size)
            block = self._blocks.get(place)
            if block is None:
                return number
            found = block.find(NOT_PLAYED, start)
            if found >= 0:
                return place * self._size + found
            number = place * self._size + len(block)
        return self._games

    def span(self, start: int, end: int) -> npt.NDArray[np.uint8]:
        """The winners of games that were all played, uint8, shape (end - start,)."""
        parts = []
        while start < end:
            place, first = divmod(start, self._size)
            part = self._blocks[place][first : first + end - start]
            parts.append(part)
            start += len(part)
        return np.frombuffer(b"".join(parts), np.uint8)

    def cut(self, end: int) -> None:
        """Forget the games from here on."""
        place, first = divmod(end, self._size)
        self._blocks = {key: block for key, block in self._blocks.items() if key <= place}
        if (block := self._blocks.get(place)) is not None:
            block[first:] = bytes(len(block) - first)

    def played(self) -> npt.NDArray[np.uint8]:
        """The winners of all blocks in which a game was played, in order, uint8, one axis."""
        return np.frombuffer(b"".join(block for _, block in sorted(self._blocks.items())), np.uint8)


class Outcomes:
    """The winners of the games played so far.

    Args:
        settings: the tournament.

    Attributes:
        settings: the tournament.
        count: number of games played.
        stop: number of games after which the sequential test ended; None without a test, or while
            it is undecided. Later games do not count.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._winners = _Winners(settings.total_games, 2 * len(settings.pairings))
        self.count = 0
        self.stop: int | None = None
        self._judged = np.zeros(3, np.int64)
        """Lost, split and won pairs that the test has been asked about, shape (3,)."""

    @classmethod
    def of_records(cls, settings: Settings, records: Iterable[GameRecord]) -> Outcomes:
        """The outcomes of some records of a tournament, in the order of the schedule."""
        outcomes = cls(settings)
        for record in records:
            outcomes.put(outcomes.number(record), winner_of(record))
        outcomes.judge()
        return outcomes

    def add(self, results: Iterable[GameResult]) -> None:
        """Note games, in any order, and ask the sequential test if there is one."""
        for result in results:
            if self.stop is None or result.number < self.stop:
                self.put(result.number, PLAYER_NAMES.index(result.winner))
        self.judge()

    def put(self, number: int, winner: int) -> None:
        """Note the winner, 0 (Detective) or 1 (Jack), of a game of the schedule."""
        self.count += self._winners[number] == NOT_PLAYED
        self._winners[number] = 1 + winner

    def number(self, record: GameRecord) -> int:
        """Place in the schedule of a game that is not yet among the winners."""
        pairing: int = record.details["pairing"]
        one, other = self.settings.pairings[pairing]
        deal: int = record.details["deal"]
        first: int = 2 * (deal * len(self.settings.pairings) + pairing)
        if one == other:  # only their order tells the two games of a deal apart
            return first + (self._winners[first] != NOT_PLAYED)
        return first + int(record.agents[DETECTIVE] != self.settings.agents[one])

    def missing(self) -> Iterator[int]:
        """Numbers of the games still to be played, in order."""
        if self.stop is not None:
            return
        number = self._winners.first_missing(0)
        while number < self.settings.total_games:
            yield number
            number = self._winners.first_missing(number + 1)

    def table(self) -> npt.NDArray[np.uint8]:
        """The winners: 0 (not played), 1 (the Detective won) or 2 (Jack); uint8; a copy.

        In the first game of each two the first agent of the pairing plays the Detective.

        Returns:
            An array of shape (deals, pairings, 2), of the deals of which some game was played.
        """
        table = self._winners.played().reshape(-1, len(self.settings.pairings), 2)
        begun: npt.NDArray[np.uint8] = table[(table != NOT_PLAYED).any(axis=(1, 2))]
        return begun

    def pair_counts(self) -> list[PairCounts]:
        """How the pairs of each pairing ended, seen from its first agent; none in self-play."""
        table = self.table()
        found = []
        for pairing, (one, other) in enumerate(self.settings.pairings):
            lost, split, won = (0, 0, 0) if one == other else _count(table[:, pairing])
            found.append(PairCounts(lost, split, won))
        return found

    # -- the sequential test --------------------------------------------------------------

    def judge(self) -> None:
        """Ask the test about every pair of the unbroken beginning; drop games behind its end."""
        test = self.settings.sprt
        if test is None or self.stop is not None:
            return
        start = 2 * int(self._judged.sum())
        end = self._winners.first_missing(start)
        end -= end % 2
        if end == start:
            return
        pairs = self._winners.span(start, end).reshape(-1, 2)
        counts = self._judged + np.cumsum(np.eye(3, dtype=np.int64)[_scores(pairs)], axis=0)
        ratios = test.log_likelihood_ratio(counts)
        lower, upper = test.bounds
        ended = np.flatnonzero((ratios <= lower) | (ratios >= upper))
        last = int(ended[0]) if ended.size else len(pairs) - 1
        self._judged = counts[last]
        if ended.size:
            self.stop = start + 2 * (last + 1)
            self._winners.cut(self.stop)
            self.count = self.stop

    @property
    def judged(self) -> PairCounts:
        """The pairs that the test has been asked about, seen from the first agent."""
        lost, split, won = (int(count) for count in self._judged)
        return PairCounts(lost, split, won)

    def sprt_status(self) -> SprtStatus | None:
        """Where the test stands; None when there is none."""
        test = self.settings.sprt
        return None if test is None else test.decide(self.judged)


def _scores(pairs: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Games won of each pair by the first agent, who plays the Detective first, shape (pairs,)."""
    return np.asarray((pairs == (DETECTIVE_WON, JACK_WON)).sum(axis=1))


def _count(pairs: npt.NDArray[np.uint8]) -> tuple[int, int, int]:
    whole = pairs[(pairs != NOT_PLAYED).all(axis=1)]
    lost, split, won = np.bincount(_scores(whole), minlength=3).tolist()
    return lost, split, won
