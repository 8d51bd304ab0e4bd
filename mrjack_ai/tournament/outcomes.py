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


def winner_of(record: GameRecord) -> int:
    """Player id of the winner of a game that is over; a forfeited one is lost for the forfeiter."""
    if "forfeit" in record.details:
        return 1 - PLAYER_NAMES.index(record.details["forfeit"]["by"])
    return DETECTIVE if record.ending == "caught" else JACK


class Outcomes:
    """The winners of the games played so far, one byte a game.

    Args:
        settings: the tournament.

    Attributes:
        settings: the tournament.
        winners: for each game of the schedule 0 (not played), 1 (the Detective won) or 2 (Jack).
        count: number of games played.
        stop: number of games after which the sequential test ended; None without a test, or while
            it is undecided. Later games do not count: they are not among the winners.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.winners = bytearray(settings.total_games)
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
        self.count += self.winners[number] == NOT_PLAYED
        self.winners[number] = 1 + winner

    def number(self, record: GameRecord) -> int:
        """Place in the schedule of a game that is not yet among the winners."""
        pairing: int = record.details["pairing"]
        one, other = self.settings.pairings[pairing]
        deal: int = record.details["deal"]
        first: int = 2 * (deal * len(self.settings.pairings) + pairing)
        if one == other:  # only their order tells the two games of a deal apart
            return first + (self.winners[first] != NOT_PLAYED)
        return first + int(record.agents[DETECTIVE] != self.settings.agents[one])

    def missing(self) -> Iterator[int]:
        """Numbers of the games still to be played, in order."""
        if self.stop is not None:
            return
        number = self.winners.find(NOT_PLAYED)
        while number >= 0:
            yield number
            number = self.winners.find(NOT_PLAYED, number + 1)

    def table(self) -> npt.NDArray[np.uint8]:
        """Winners as in `winners`, shape (deals, pairings, 2), uint8; a copy.

        In the first game of each two the first agent of the pairing plays the Detective.
        """
        shape = (self.settings.games // 2, len(self.settings.pairings), 2)
        return np.frombuffer(bytes(self.winners), np.uint8).reshape(shape)

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
        end = self.winners.find(NOT_PLAYED, start)
        end = len(self.winners) if end < 0 else end - end % 2
        if end == start:
            return
        pairs = np.frombuffer(bytes(self.winners[start:end]), np.uint8).reshape(-1, 2)
        counts = self._judged + np.cumsum(np.eye(3, dtype=np.int64)[_scores(pairs)], axis=0)
        ratios = test.log_likelihood_ratio(counts)
        lower, upper = test.bounds
        ended = np.flatnonzero((ratios <= lower) | (ratios >= upper))
        last = int(ended[0]) if ended.size else len(pairs) - 1
        self._judged = counts[last]
        if ended.size:
            self.stop = start + 2 * (last + 1)
            self.winners[self.stop :] = bytes(len(self.winners) - self.stop)
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
