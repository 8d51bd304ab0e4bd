"""What came of a tournament: standings, pairings and ratings, in one pass over its games."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mrjack_ai.errors import TournamentError
from mrjack_ai.game.endings import ENDINGS
from mrjack_ai.game.record import GameRecord
from mrjack_ai.setup.variant import DETECTIVE, JACK
from mrjack_ai.stats.ratings import Ratings, bradley_terry
from mrjack_ai.stats.scores import EloEstimate, PairCounts, Rate, mean_score, redundancy, wilson
from mrjack_ai.stats.sprt import SprtStatus
from mrjack_ai.tournament.outcomes import DETECTIVE_WON, NOT_PLAYED, Outcomes, winner_of
from mrjack_ai.tournament.runner import Results
from mrjack_ai.tournament.schedule import Settings

ENDING_NAMES = {ending.word: ending.name for ending in ENDINGS} | {"forfeit": "forfeit"}
"""How a game of a tournament can end: the words of records, and what people are shown."""

ALL_ENDINGS = tuple(ENDING_NAMES)
"""The words alone."""


@dataclass(frozen=True)
class Standing:
    """One agent's results.

    Attributes:
        agent: specification string.
        score: share of all its games won.
        as_detective: share of its games as the Detective won.
        as_jack: share of its games as Jack won.
        won_by: games won, by ending; `forfeit` is one too.
        lost_by: games lost, by ending.
        rating: Bradley-Terry rating with its interval, relative to the mean of all agents; None
            when there is none (see `Summary.unrated`).
    """

    agent: str
    score: Rate
    as_detective: Rate
    as_jack: Rate
    won_by: dict[str, int]
    lost_by: dict[str, int]
    rating: EloEstimate | None = None

    @property
    def games(self) -> int:
        """Number of games; one against itself counts for both sides."""
        return self.as_detective.games + self.as_jack.games


@dataclass(frozen=True)
class Lengths:
    """How long games were, in actions and chance outcomes; NaN when there are none.

    Attributes:
        mean: mean length.
        median: median length.
        shortest: least length.
        longest: greatest length.
    """

    mean: float
    median: float
    shortest: float
    longest: float

    @classmethod
    def of(cls, lengths: Sequence[int] | array[int]) -> Lengths:
        """Of some games."""
        if not len(lengths):
            return cls(np.nan, np.nan, np.nan, np.nan)
        sizes = np.asarray(lengths)
        values = (sizes.mean(), np.median(sizes), sizes.min(), sizes.max())
        return cls(*map(float, values))

    def text(self) -> str:
        """Mean, shortest and longest; `-` when there are no games."""
        if np.isnan(self.mean):
            return "-"
        return f"{self.mean:.1f} ({self.shortest:.0f} to {self.longest:.0f})"


@dataclass(frozen=True)
class PairingResult:
    """Results of one pairing, seen from its first agent.

    Attributes:
        agents: the two specification strings; the same one twice in self-play.
        games: number of games, those without their pair included.
        pairs: how the pairs ended; none in self-play, where score and Elo difference mean nothing.
        score: share of games of whole pairs the first one won, the pair being the unit of the
            interval (`PairCounts.score`).
        as_detective: share of its games as the Detective the first one won.
        as_jack: share of its games as Jack the first one won; in self-play what is left.
        endings: games by ending, `forfeit` included; those in which the first one played the
            Detective, and those in which it played Jack.
        lengths: how long they were.
        redundancy: share of games that repeat an earlier one of this pairing, 0 to 1.
    """

    agents: tuple[str, str]
    games: int
    pairs: PairCounts
    score: Rate
    as_detective: Rate
    as_jack: Rate
    endings: tuple[dict[str, int], dict[str, int]]
    lengths: Lengths
    redundancy: float

    @property
    def self_play(self) -> bool:
        """Whether an agent played itself."""
        return self.agents[0] == self.agents[1]

    @property
    def elo(self) -> EloEstimate:
        """Elo difference of the first to the second agent, with the interval of the score."""
        return self.score.elo()

    @property
    def superiority(self) -> float:
        """Likelihood that the first agent is the better one, 0 to 1; NaN without pairs."""
        return self.pairs.likelihood_of_superiority() if self.pairs.pairs else np.nan


@dataclass(frozen=True, eq=False)
class Summary:
    """What came of a tournament.

    Attributes:
        settings: what was to be played.
        games: number of games.
        standings: each agent's results, the best rating, or score, first.
        pairings: the result of each pairing, in the order of `Settings.pairings`.
        detective: share of all games the Detective won.
        lengths: how long games were.
        redundancy: share of games that repeat an earlier one of their pairing, 0 to 1.
        ratings: Bradley-Terry ratings of all agents, in the order of the settings, and what playing
            the Detective is worth; None when they cannot be told.
        unrated: why there are no ratings; empty when there are.
        sprt: where the sequential test stands; None when there is none.
        judged: the pairs the sequential test has counted.
    """

    settings: Settings
    games: int
    standings: list[Standing]
    pairings: list[PairingResult]
    detective: Rate
    lengths: Lengths
    redundancy: float
    ratings: Ratings | None
    unrated: str
    sprt: SprtStatus | None
    judged: PairCounts

    def sprt_text(self) -> str:
        """The sequential test in one line; empty when there is none."""
        status = self.sprt
        if status is None:
            return ""
        outcome = "undecided"
        if status.decided:
            elo = getattr(self.settings.sprt, status.decision)
            outcome = f"decided for {status.decision}, a difference of {elo:+g}"
        return (
            f"Sequential test {self.settings.sprt}: {outcome} after {self.judged.pairs} pairs; "
            f"log-likelihood ratio {status.llr:+.2f}, bounds {status.lower:+.2f} and "
            f"{status.upper:+.2f}"
        )


class Tally:
    """Collects the games of a tournament one by one, in the order of the schedule.

    Args:
        settings: the tournament.
    """

    def __init__(self, settings: Settings) -> None:
        self._outcomes = Outcomes(settings)
        count = len(settings.pairings)
        self._endings: Counter[tuple[int, int, int, str]] = Counter()
        """Games by pairing, which of the two games of a deal, winner, and ending."""
        self._lengths = [array("i") for _ in range(count)]
        # Hashes, since the games of a long tournament need not fit into memory. That two of a
        # million different games share one of 64 bits happens with probability 3e-8.
        self._keys = [array("q") for _ in range(count)]

    def add(self, record: GameRecord) -> None:
        """Count a game."""
        outcomes = self._outcomes
        number, winner = outcomes.number(record), winner_of(record)
        outcomes.put(number, winner)
        pairing = record.details["pairing"]
        self._endings[pairing, number % 2, winner, record.ending or "forfeit"] += 1
        self._lengths[pairing].append(len(record.actions))
        self._keys[pairing].append(hash(record.actions))

    def summary(self) -> Summary:
        """What came of the games so far."""
        outcomes = self._outcomes
        outcomes.judge()
        settings, table = outcomes.settings, outcomes.table()
        ratings: Ratings | None = None
        unrated = ""
        try:
            ratings = rate(settings, table)
        except TournamentError as error:
            unrated = str(error)
        standings = [
            self._standing(number, table, ratings) for number in range(len(settings.agents))
        ]
        standings.sort(
            key=lambda standing: (
                -(standing.rating.value if standing.rating is not None else 0),
                -np.nan_to_num(standing.score.value),
            )
        )
        pairs = outcomes.pair_counts()
        games = outcomes.count
        distinct = sum(len(set(keys)) for keys in self._keys)
        return Summary(
            settings=settings,
            games=games,
            standings=standings,
            pairings=[self._pairing(number, counts) for number, counts in enumerate(pairs)],
            detective=wilson(int((table == DETECTIVE_WON).sum()), games),
            lengths=Lengths.of(array("i", [n for lengths in self._lengths for n in lengths])),
            redundancy=1 - distinct / games if games else np.nan,
            ratings=ratings,
            unrated=unrated,
            sprt=outcomes.sprt_status(),
            judged=outcomes.judged,
        )

    def _standing(
        self, agent: int, table: npt.NDArray[np.uint8], ratings: Ratings | None
    ) -> Standing:
        settings = self._outcomes.settings
        places = [
            (pairing, place, side)
            for pairing, pair in enumerate(settings.pairings)
            for place, players in enumerate((pair, pair[::-1]))
            for side in (DETECTIVE, JACK)
            if players[side] == agent
        ]
        won_by: Counter[str] = Counter()
        lost_by: Counter[str] = Counter()
        for pairing, place, side in places:
            for (*where, winner, ending), count in self._endings.items():
                if where == [pairing, place]:
                    (won_by if winner == side else lost_by)[ending] += count
        played = np.stack([table[:, pairing, place] for pairing, place, _ in places], axis=1)
        won = played == 1 + np.array([side for *_, side in places])
        score = self._pair_score(agent)
        if score is None:
            whole = (played != NOT_PLAYED).all(axis=1)
            score = mean_score(won[whole].mean(axis=1).tolist(), len(places))
        by_side = []
        for side in (DETECTIVE, JACK):
            mine = [number for number, place in enumerate(places) if place[2] == side]
            games = int((played[:, mine] != NOT_PLAYED).sum())
            by_side.append(wilson(int(won[:, mine].sum()), games))
        return Standing(
            agent=settings.agents[agent],
            score=score,
            as_detective=by_side[DETECTIVE],
            as_jack=by_side[JACK],
            won_by=dict(won_by),
            lost_by=dict(lost_by),
            rating=None if ratings is None else ratings.rating(agent),
        )

    def _pair_score(self, agent: int) -> Rate | None:
        """The score of an agent with a single opponent, which is that of the pairing."""
        mine = [
            counts if pair[0] == agent else counts.mirrored()
            for counts, pair in zip(
                self._outcomes.pair_counts(), self._outcomes.settings.pairings, strict=True
            )
            if agent in pair
        ]
        return mine[0].score() if len(mine) == 1 and mine[0].pairs else None

    def _pairing(self, number: int, pairs: PairCounts) -> PairingResult:
        settings = self._outcomes.settings
        one, other = settings.pairings[number]
        endings: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        wins, games = [0, 0], [0, 0]
        for (pairing, place, winner, ending), count in self._endings.items():
            if pairing != number:
                continue
            side = DETECTIVE if one == other else place  # the first agent's
            endings[side][ending] += count
            games[side] += count
            wins[side] += count * (winner == side)
        as_detective, as_jack = map(wilson, wins, games)
        if one == other:
            as_jack = wilson(games[0] - wins[0], games[0])
        return PairingResult(
            agents=(settings.agents[one], settings.agents[other]),
            games=sum(games),
            pairs=pairs,
            score=pairs.score(),
            as_detective=as_detective,
            as_jack=as_jack,
            endings=(dict(endings[0]), dict(endings[1])),
            lengths=Lengths.of(self._lengths[number]),
            redundancy=redundancy((key,) for key in self._keys[number]),
        )


def rate(settings: Settings, table: npt.NDArray[np.uint8]) -> Ratings:
    """Bradley-Terry ratings of all agents, relative to their mean.

    Args:
        settings: the tournament.
        table: who won, shape (deals, pairings, 2), as `Outcomes.table`.

    Raises:
        TournamentError: when the games do not tell them (see `bradley_terry`), or an agent has
            played none.
    """
    deal, pairing, place = np.nonzero(table)
    players = np.array(settings.pairings)
    detective, jack = players[pairing, place], players[pairing, 1 - place]
    if settings.format == "self-play" and len(settings.agents) > 1:
        raise TournamentError("agents that only play themselves cannot be compared")
    for number, agent in enumerate(settings.agents):
        if number not in detective and number not in jack:
            raise TournamentError(f"{agent!r} has played no game yet")
    return bradley_terry(detective, jack, table[deal, pairing, place] == DETECTIVE_WON, deal)


def summarize(results: Results) -> Summary:
    """What came of a tournament, in one pass over its games."""
    tally = Tally(results.settings)
    for record in results.records:
        tally.add(record)
    return tally.summary()


def standings(results: Results) -> list[Standing]:
    """Each agent's results, the best first.

    The interval of the score counts all games of one deal as one observation; a deal of which
    not all games were played is left out of it.
    """
    return summarize(results).standings


def pairing_results(results: Results) -> list[PairingResult]:
    """The result of each pairing."""
    return summarize(results).pairings


def mean_length(records: Sequence[GameRecord]) -> float:
    """Mean number of actions and chance outcomes of a game; NaN when there are none."""
    return float(np.mean([len(record.actions) for record in records])) if records else np.nan
