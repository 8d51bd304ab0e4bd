"""A sequential test between two Elo differences, to stop a match when it is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import numpy.typing as npt

from mrjack_ai.common.numbers import RealNumbers
from mrjack_ai.common.text import shown
from mrjack_ai.errors import TournamentError
from mrjack_ai.stats.scores import PairCounts, expected_score, pair_log_likelihood

_LARGEST_ELO = 2000
"""Beyond this an expected score cannot be told from 0 or 1 by any number of games one can play."""

_RANGES = {
    "elo0": RealNumbers(-_LARGEST_ELO, _LARGEST_ELO),
    "elo1": RealNumbers(-_LARGEST_ELO, _LARGEST_ELO),
    "alpha": RealNumbers(0, 0.5, above=True, below=True),
    "beta": RealNumbers(0, 0.5, above=True, below=True),
}


@dataclass(frozen=True)
class SprtStatus:
    """Where a sequential test stands.

    Attributes:
        llr: log-likelihood ratio of the two hypotheses, natural logarithm; positive for `elo1`.
        lower: at or below this the test ends for `elo0`.
        upper: at or above this the test ends for `elo1`.
        decision: the hypothesis accepted, or "undecided".
    """

    llr: float
    lower: float
    upper: float
    decision: Literal["elo0", "elo1", "undecided"]

    @property
    def decided(self) -> bool:
        """Whether the match can stop."""
        return self.decision != "undecided"


@dataclass(frozen=True)
class Sprt:
    """Sequential probability ratio test between two differences of strength.

    It is asked after every pair and ends when the log-likelihood ratio leaves an interval given
    by the error rates: Wald, Sequential tests of statistical hypotheses (Annals of Mathematical
    Statistics 16, 1945). An Elo difference fixes the expected score alone and leaves the share of
    split pairs open; each hypothesis takes the value most likely under it, which makes it a
    generalized test: Van den Bergh, A practical introduction to the GSPRT
    (http://hardy.uhasselt.be/Fishtest/GSPRT_approximation.pdf). With three outcomes of a pair the
    maximum has a closed form (`most_likely_splits`), so the ratio is exact and needs neither a
    normal approximation nor made-up counts for outcomes that have not been seen.

    The pairs must count in the order of the schedule. If those are counted first that end first,
    short games are over-represented. A score and its interval read off when the test
    has ended are biased, since it ends when they are extreme.

    Attributes:
        elo0: Elo difference that is to be accepted with an error of at most `beta`.
        elo1: Elo difference that is to be accepted with an error of at most `alpha`; larger.
        alpha: probability, about, to accept `elo1` when `elo0` is true.
        beta: probability, about, to accept `elo0` when `elo1` is true.

    Raises:
        TournamentError: when the two differences are not in order or larger than 2000 points, or
            an error rate is not between 0 and 1/2.
    """

    elo0: float
    elo1: float
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        for name, numbers in _RANGES.items():
            number = numbers.read(getattr(self, name), name, TournamentError)
            object.__setattr__(self, name, number)
        if not self.elo0 < self.elo1:
            raise TournamentError(
                f"elo0={self.elo0:g} must be smaller than elo1={self.elo1:g}; to ask whether an "
                "agent has become weaker, swap the agents"
            )

    @classmethod
    def parse(cls, words: Sequence[str]) -> Sprt:
        """Read the words `elo0=0 elo1=20 alpha=0.05 beta=0.05`, in any order.

        Raises:
            TournamentError: for an unknown, missing, repeated or malformed word, and as the class.
        """
        names = [field.name for field in fields(cls)]
        form = "elo0=0 elo1=20 alpha=0.05 beta=0.05"
        values: dict[str, float] = {}
        for word in words:
            name, _, number = word.partition("=")
            if name not in names:
                raise TournamentError(
                    f"unknown word {shown(word)} in a sequential test; write {form}"
                )
            if name in values:
                raise TournamentError(f"{name} is given twice in a sequential test; write {form}")
            values[name] = _RANGES[name].parse(number, name, TournamentError)
        missing = [name for name in names if name not in values]
        if missing:
            raise TournamentError(
                f"{' and '.join(missing)} missing in a sequential test; write {form}"
            )
        return cls(**values)

    def __str__(self) -> str:
        """The words that `parse` reads."""
        return " ".join(f"{field.name}={getattr(self, field.name)}" for field in fields(self))

    @property
    def bounds(self) -> tuple[float, float]:
        """Wald's bounds of the log-likelihood ratio: log(b / (1 - a)) and log((1 - b) / a)."""
        lower = np.log(self.beta / (1 - self.alpha))
        return float(lower), float(np.log((1 - self.beta) / self.alpha))

    def log_likelihood_ratio(self, counts: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """Log-likelihood of the counts under `elo1` less that under `elo0`.

        Args:
            counts: lost, split and won pairs, shape (..., 3).

        Returns:
            Natural logarithms, shape (...), float64.
        """
        one, other = (
            pair_log_likelihood(counts, expected_score(elo)) for elo in (self.elo1, self.elo0)
        )
        return one - other

    def decide(self, counts: PairCounts) -> SprtStatus:
        """Where the test stands after these pairs."""
        array = np.array([counts.lost, counts.split, counts.won])
        llr = float(self.log_likelihood_ratio(array))
        lower, upper = self.bounds
        decision: Literal["elo0", "elo1", "undecided"] = "undecided"
        if llr <= lower:
            decision = "elo0"
        elif llr >= upper:
            decision = "elo1"
        return SprtStatus(llr, lower, upper, decision)
