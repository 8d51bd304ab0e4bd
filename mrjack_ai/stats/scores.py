"""How sure a result is: intervals of shares, pair scores and Elo differences.

The unit of everything about two agents is the pair: the two games of one deal, with the sides
swapped. Its games share all chance and are not independent, so intervals from single games would
be wrong, mostly too wide. A pair scores 0, 1/2 or 1. (Chess engines count five outcomes of a pair
of games and call it pentanomial; where no game is drawn three of them remain.)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mrjack_ai.common.numbers import COUNTS, WholeNumbers
from mrjack_ai.common.text import shown
from mrjack_ai.errors import ArgumentError

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


@dataclass(frozen=True)
class Rate:
    """A share of games with its 95 % interval; all NaN when there were no games.

    Attributes:
        games: number of games.
        value: share, 0 to 1.
        low: lower end of the interval.
        high: upper end of the interval.
    """

    games: int
    value: float
    low: float
    high: float

    def percent(self) -> str:
        """In per cent with its interval; `-` when there were no games."""
        if np.isnan(self.value):
            return "-"
        return f"{100 * self.value:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"

    def complement(self) -> Rate:
        """The share of the other games: those lost where this one is those won."""
        return Rate(self.games, 1 - self.value, 1 - self.high, 1 - self.low)

    def elo(self) -> EloEstimate:
        """The Elo difference of this score, its interval that of the score."""
        return EloEstimate(*map(elo_difference, (self.value, self.low, self.high)))


@dataclass(frozen=True)
class EloEstimate:
    """A difference of Elo ratings with its 95 % interval; all NaN when there were no games.

    Attributes:
        value: points; infinite for a score of 0 or 1.
        low: lower end of the interval, may be minus infinity.
        high: upper end of the interval, may be infinity.
    """

    value: float
    low: float
    high: float

    def text(self) -> str:
        """In whole points with its interval; `-` when there were no games."""
        if np.isnan(self.value):
            return "-"
        # Adding 0 turns -0 into 0.
        value, low, high = (f"{np.round(x) + 0.0:+.0f}" for x in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"


def elo_difference(score: float) -> float:
    """Difference of Elo ratings at which a player scores so: 400 log10(s / (1 - s)).

    The logistic form of Elo (The Rating of Chessplayers, 1978); infinite at 0 and 1.
    """
    with np.errstate(divide="ignore"):
        return float(400 * np.log10(np.divide(score, 1 - score)))


def expected_score(elo: float) -> float:
    """Score expected at a difference of Elo ratings, 0 to 1; the inverse of `elo_difference`."""
    from scipy.special import expit  # not at the top: it takes longer to import than we do

    return float(expit(elo * np.log(10) / 400))


def wilson(wins: int, games: int) -> Rate:
    """A share with its score interval at 95 %.

    The interval holds every p with |wins - games p| <= z sqrt(games p (1 - p)): Wilson, Probable
    inference, the law of succession, and statistical inference (JASA 22, 1927).

    Args:
        wins: 0 to `games`.
        games: number of independent games.

    Raises:
        ArgumentError: for wins outside of that range, or a number of games that is none.
    """
    games = COUNTS.read(games, "games")
    wins = WholeNumbers(0, games).read(wins, "wins")
    if games == 0:
        return Rate(0, np.nan, np.nan, np.nan)
    from scipy.stats import binomtest  # not at the top: it takes longer to import than we do

    low, high = binomtest(wins, games).proportion_ci(method="wilson")
    return Rate(games, wins / games, float(low), float(high))


def mean_score(scores: Sequence[float], games_each: int = 2) -> Rate:
    """Mean of independent scores of any kind with a 95 % interval.

    For agents with several opponents, whose deals have more than two games; for one pairing
    `PairCounts.score` is better.

    The games of one deal are not independent, so the deal is the unit of the error: the interval
    is mean +- t s / sqrt(n), with s the standard deviation over n deals and t the quantile of
    Student's distribution with n - 1 degrees of freedom (Student, The probable error of a mean,
    Biometrika 6, 1908). Where all deals score alike (s = 0) that says nothing, and the Wilson
    interval of n games with this mean is given; when their wins are not whole, it reaches from
    the lower end of the next fewer to the upper end of the next more.

    Args:
        scores: mean score of each deal, 0 to 1.
        games_each: games of a deal.

    Raises:
        ArgumentError: when that is no number of games.
    """
    n, games_each = len(scores), COUNTS.read(games_each, "games_each")
    if n == 0:
        return Rate(0, np.nan, np.nan, np.nan)
    mean = float(np.mean(scores))
    if min(scores) == max(scores):
        wins = round(mean * n, 6)  # rounding must not make 3 of 2.9999999999999996
        low, high = wilson(math.floor(wins), n).low, wilson(math.ceil(wins), n).high
    else:
        from scipy.stats import ttest_1samp  # not at the top: it takes longer to import than we do

        low, high = ttest_1samp(scores, 0).confidence_interval(0.95)
    return Rate(games_each * n, mean, max(0.0, float(low)), min(1.0, float(high)))


@dataclass(frozen=True)
class PairCounts:
    """How the pairs of two agents ended, seen from one of them.

    Attributes:
        lost: pairs of which it lost both games (score 0).
        split: pairs of which it won one game (score 1/2).
        won: pairs of which it won both games (score 1).

    Raises:
        ArgumentError: when a count is no whole number, or negative.
    """

    lost: int = 0
    split: int = 0
    won: int = 0

    def __post_init__(self) -> None:
        for name in ("lost", "split", "won"):
            count = COUNTS.read(getattr(self, name), f"number of {name} pairs")
            object.__setattr__(self, name, count)

    @classmethod
    def from_games(cls, games: Iterable[tuple[Hashable, bool]]) -> PairCounts:
        """Count the pairs among some games of one pairing.

        Args:
            games: the deal of each game and whether this agent won it, in any order. A deal of
                which only one game is there is left out.

        Raises:
            ArgumentError: when a deal has more than two games.
        """
        deals: dict[Hashable, list[bool]] = {}
        for deal, won in games:
            deals.setdefault(deal, []).append(bool(won))
        counts = [0, 0, 0]
        for deal, pair in deals.items():
            if len(pair) > 2:
                raise ArgumentError(
                    f"deal {shown(deal)} has {len(pair)} games; give the games of one pairing "
                    "only, two a deal"
                )
            if len(pair) == 2:
                counts[sum(pair)] += 1
        return cls(*counts)

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return self.lost + self.split + self.won

    @property
    def mean(self) -> float:
        """Mean score of a pair, 0 to 1; NaN when there are none."""
        return (self.won + self.split / 2) / self.pairs if self.pairs else np.nan

    @property
    def variance(self) -> float:
        """Sample variance (n - 1) of the score of a pair; NaN for fewer than two pairs.

        Were the two games independent it would be about m (1 - m) / 2, with m the mean; it is
        smaller where deals favour a side.
        """
        if self.pairs < 2:
            return np.nan
        squares = self.won + self.split / 4
        return (squares - self.pairs * self.mean**2) / (self.pairs - 1)

    def mirrored(self) -> PairCounts:
        """The same pairs seen from the other agent."""
        return PairCounts(self.won, self.split, self.lost)

    def score(self) -> Rate:
        """Mean score with its score interval at 95 %, the pair being the unit.

        The interval holds every mean m with |mean - m| <= z sqrt(V(m) / pairs), where V(m) is the
        variance of the most likely distribution over 0, 1/2, 1 with mean m (`most_likely_splits`).
        Won and lost pairs being the two kinds of discordant pairs, this is the interval of
        Tango, Equivalence test and confidence interval for the difference in proportions for the
        paired-sample design (Statistics in Medicine 17, 1998), moved from -1..1 to 0..1; without
        split pairs it is Wilson's. It keeps its level for few pairs and scores near 0 or 1, where
        mean +- t s / sqrt(n) falls short, and has a width also when all pairs are alike.
        """
        if self.pairs == 0:
            return Rate(0, np.nan, np.nan, np.nan)
        low, high = self._lowest_mean(), 1 - self.mirrored()._lowest_mean()
        return Rate(2 * self.pairs, self.mean, low, high)

    def _lowest_mean(self) -> float:
        mean, pairs = self.mean, self.pairs
        if mean == 0:
            return 0.0
        from scipy.optimize import brentq  # not at the top: it takes longer to import than we do

        counts = np.array([self.lost, self.split, self.won])

        def excess(tried: float) -> float:
            if tried == mean:  # both terms may be 0 here, but this mean is never excluded
                return -1.0
            splits = float(most_likely_splits(counts, tried))
            variance = tried - splits / 4 - tried**2
            return (mean - tried) ** 2 - Z95**2 * variance / pairs

        return float(brentq(excess, 0, mean))

    def elo(self) -> EloEstimate:
        """Elo difference to the other agent, with the interval of `score` (`elo_difference`)."""
        return self.score().elo()

    def likelihood_of_superiority(self) -> float:
        """How sure it is that this agent is the better one, 0 to 1; 1/2 when nothing says so.

        Phi((won - lost) / sqrt(won + lost)), with Phi the normal distribution: the chess
        programmers' formula (https://www.chessprogramming.org/Match_Statistics), with pairs in
        place of games. The statistic is that of McNemar, Note on the sampling error of the
        difference between correlated proportions or percentages (Psychometrika 12, 1947), and
        belongs to `score`: it exceeds 97.5 % exactly when that interval lies above 1/2.
        """
        decided = self.won + self.lost
        if decided == 0:
            return 0.5
        from scipy.special import ndtr  # not at the top: it takes longer to import than we do

        return float(ndtr((self.won - self.lost) / np.sqrt(decided)))


def most_likely_splits(counts: npt.NDArray[np.integer], mean: float) -> npt.NDArray[np.float64]:
    """Most likely share of split pairs when the mean score of a pair is given.

    Of the distributions over 0, 1/2, 1 with mean m, those with shares 1 - m - x/2, x and m - x/2,
    the likelihood of the counts is largest at the smaller root of

        n x^2 - (2 split + 2 m lost + 2 (1 - m) won) x + 4 m (1 - m) split = 0,

    which is where its derivative in x is 0. That is the estimate restricted to the hypothesis on
    which both Tango's interval (see `PairCounts.score`) and the sequential test stand.

    Args:
        counts: lost, split and won pairs, shape (..., 3); not all 0.
        mean: mean score, 0 to 1.

    Returns:
        The share x of each, shape (...), float64.
    """
    lost, split, won = np.moveaxis(np.asarray(counts, np.float64), -1, 0)
    middle = 2 * split + 2 * mean * lost + 2 * (1 - mean) * won
    product = 4 * mean * (1 - mean) * split
    root = np.sqrt(np.maximum(middle**2 - 4 * (lost + split + won) * product, 0))
    # The smaller root in the form that does not subtract; both are 0 where middle is.
    below = middle + root
    share = np.divide(2 * product, below, out=np.zeros_like(below), where=below > 0)
    # Rounding must not leave less than nothing for the others.
    return np.asarray(np.minimum(share, 2 * min(mean, 1 - mean)))


def pair_log_likelihood(counts: npt.NDArray[np.integer], mean: float) -> npt.NDArray[np.float64]:
    """Largest log-likelihood of counts of pairs when the mean score is given.

    Args:
        counts: lost, split and won pairs, shape (..., 3).
        mean: mean score, more than 0 and less than 1.

    Returns:
        Natural logarithms, shape (...), float64; without the constant multinomial coefficient.
    """
    from scipy.special import xlogy  # not at the top: it takes longer to import than we do

    split = most_likely_splits(counts, mean)
    shares = np.stack([1 - mean - split / 2, split, mean - split / 2], axis=-1)
    return np.asarray(xlogy(counts, shares).sum(axis=-1))


def redundancy(games: Iterable[Sequence[Hashable]]) -> float:
    """Share of games that repeat an earlier one, 0 to 1; NaN when there are no games.

    Deterministic agents on few deals play the same game again and again, and then intervals claim
    more than they know. It is 1 - d / n, with d different games among n.

    Args:
        games: the actions of each game, chance outcomes included.
    """
    keys = [tuple(game) for game in games]
    return 1 - len(set(keys)) / len(keys) if keys else np.nan
