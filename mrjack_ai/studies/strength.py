"""Strength against simulations and time: ratings, thinking times and lines through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.registry import parse_agent
from mrjack_ai.errors import ArgumentError
from mrjack_ai.stats.ratings import Ratings, bradley_terry
from mrjack_ai.stats.scores import Z95, PairCounts
from mrjack_ai.studies.significance import ratio_by_deals

if TYPE_CHECKING:
    import pandas

Floats = npt.NDArray[np.float64]


def simulations(agent: str) -> int:
    """Simulations a decision of an agent's specification; 0 where it has none."""
    return int(parse_agent(agent)[1].get("sims", 0))


def milliseconds(agent: str) -> int:
    """Milliseconds a decision of an agent's specification; 0 where it has no clock."""
    return int(parse_agent(agent)[1].get("time", 0))


def rate_agents(games: pandas.DataFrame) -> tuple[list[str], Ratings]:
    """Bradley-Terry ratings of all agents in some games, the first one's being 0.

    Args:
        games: one row a game: `detective`, `jack`, `winner`, `deal`.

    Returns:
        The agents, by simulations, then milliseconds, then name, and their ratings.
    """
    names = {*games["detective"], *games["jack"]}
    agents = sorted(names, key=lambda name: (simulations(name), milliseconds(name), name))
    number = {agent: index for index, agent in enumerate(agents)}
    ratings = bradley_terry(
        games["detective"].map(number).to_numpy(int),
        games["jack"].map(number).to_numpy(int),
        (games["winner"] == "detective").to_numpy(),
        games["deal"].to_numpy(int),
        anchor=0,
    )
    return agents, ratings


def ratings_frame(agents: list[str], ratings: Ratings) -> pandas.DataFrame:
    """Columns `agent`, `simulations`, `milliseconds` (a decision), `rating`, `low`, `high`."""
    import pandas  # not at the top: it takes longer to import than we do

    estimates = [ratings.rating(index) for index in range(len(agents))]
    return pandas.DataFrame(
        {
            "agent": agents,
            "simulations": [simulations(agent) for agent in agents],
            "milliseconds": [milliseconds(agent) for agent in agents],
            "rating": [estimate.value for estimate in estimates],
            "low": [estimate.low for estimate in estimates],
            "high": [estimate.high for estimate in estimates],
        }
    )


def matches(games: pandas.DataFrame) -> pandas.DataFrame:
    """The results of each two agents that met, seen from the one with more to think.

    Returns:
        Columns `agent`, `against`, `pairs`, `share`, `low`, `high` (share of games won, by pairs),
        `elo`, `elo_low`, `elo_high`, `p` (two-sided, that they are equally strong: McNemar's test
        of the pairs, see `PairCounts.likelihood_of_superiority`), and `as_detective`, `as_jack`
        (shares of games).
    """
    import pandas

    rows = []
    swapped = games["detective"].map(simulations) + games["detective"].map(milliseconds) < (
        games["jack"].map(simulations) + games["jack"].map(milliseconds)
    )
    agent = games["jack"].where(swapped, games["detective"])
    against = games["detective"].where(swapped, games["jack"])
    table = games.assign(agent=agent, against=against, is_detective=~swapped)
    table["won"] = (table["winner"] == "detective") == table["is_detective"]
    for (one, other), group in table.groupby(["agent", "against"], sort=False, observed=True):
        pairs = PairCounts.from_games(zip(group["deal"], group["won"], strict=True))
        score, elo = pairs.score(), pairs.elo()
        sides = [group.loc[group["is_detective"] == side, "won"].mean() for side in (True, False)]
        superiority = pairs.likelihood_of_superiority()
        p = 2 * min(superiority, 1 - superiority)
        values = (score.value, score.low, score.high, elo.value, elo.low, elo.high, p)
        rows.append((one, other, pairs.pairs, *values, *sides))
    columns = ["agent", "against", "pairs", "share", "low", "high", "elo", "elo_low", "elo_high"]
    return pandas.DataFrame(rows, columns=[*columns, "p", "as_detective", "as_jack"])


def thinking_times(games: pandas.DataFrame) -> pandas.DataFrame:
    """Milliseconds a decision of each agent, both sides together.

    Returns:
        Columns `agent`, `simulations`, `decisions`, `milliseconds` (mean), `low`, `high` (95 %
        interval of the mean, the deal being the unit: its decisions are alike). Where an agent has
        one legal action it does not think, and that counts as a decision too.
    """
    import pandas

    parts = [
        pandas.DataFrame(
            {
                "agent": games[side].astype(str),
                "deal": games["deal"],
                "seconds": games[f"{side}_seconds"],
                "decisions": games[f"{side}_decisions"],
            }
        )
        for side in ("detective", "jack")
    ]
    rows = []
    for agent, group in pandas.concat(parts).groupby("agent", sort=False):
        total = group["decisions"].sum()
        if not total:
            continue
        mean = ratio_by_deals(group["deal"], group["seconds"], group["decisions"])
        values = [1000 * x for x in (mean.value, mean.low, mean.high)]
        rows.append((agent, simulations(str(agent)), int(total), *values))
    columns = ["agent", "simulations", "decisions", "milliseconds", "low", "high"]
    return pandas.DataFrame(rows, columns=columns).sort_values("simulations", ignore_index=True)


@dataclass(frozen=True)
class Line:
    """A polynomial through points whose errors may be correlated.

    Attributes:
        coefficients: constant first; float64, shape `(degree + 1,)`.
        covariance: of the coefficients, shape `(degree + 1, degree + 1)`.
        misfit: sum of the squared residuals in units of their errors (chi-squared).
        freedom: points less coefficients.
    """

    coefficients: Floats
    covariance: Floats
    misfit: float
    freedom: int

    def interval(self, index: int) -> tuple[float, float, float]:
        """A coefficient with the ends of its 95 % interval."""
        value = float(self.coefficients[index])
        margin = Z95 * float(np.sqrt(self.covariance[index, index]))
        return value, value - margin, value + margin

    def p(self, index: int) -> float:
        """Two-sided probability of such a coefficient, or a greater one, if it were 0."""
        from scipy.special import ndtr  # not at the top: it takes longer to import than we do

        error = float(np.sqrt(self.covariance[index, index]))
        return float(2 * ndtr(-abs(self.coefficients[index]) / error))

    def misfit_p(self) -> float:
        """Probability of so great a misfit, or a greater one, were the line right; 1 if exact."""
        from scipy.stats import chi2

        return float(chi2.sf(self.misfit, self.freedom)) if self.freedom else 1.0

    def at(self, x: Floats) -> tuple[Floats, Floats]:
        """Values at some places and their standard errors, both of the shape of `x`."""
        design = np.vander(np.asarray(x, float), len(self.coefficients), increasing=True)
        errors = np.sqrt(np.einsum("ij,jk,ik->i", design, self.covariance, design))
        return design @ self.coefficients, errors


def fit_line(x: Floats, y: Floats, covariance: Floats, degree: int = 1) -> Line:
    """Generalised least squares (Aitken, On least squares and linear combination, 1935).

    Args:
        x: places, shape `(n,)`.
        y: values, shape `(n,)`.
        covariance: of the values, shape `(n, n)`; or their variances, shape `(n,)`.
        degree: of the polynomial, less than n.

    Raises:
        ArgumentError: when there are too few points.
    """
    x, y, errors = (np.asarray(array, np.float64) for array in (x, y, covariance))
    if len(x) <= degree:
        raise ArgumentError(f"{len(x)} points do not decide a polynomial of degree {degree}")
    if errors.ndim == 1:
        errors = np.diag(errors)
    design = np.vander(x, degree + 1, increasing=True)
    # A solve, not an inverse: neighbours on a chain of matches have nearly equal errors.
    weighted = np.linalg.solve(errors, design)
    spread = np.linalg.inv(design.T @ weighted)
    coefficients = spread @ weighted.T @ y
    residual = y - design @ coefficients
    misfit = float(residual @ np.linalg.solve(errors, residual))
    return Line(coefficients, spread, misfit, len(x) - degree - 1)


def doubling_line(agents: list[str], ratings: Ratings, degree: int = 1) -> Line:
    """The ratings against log2 of the simulations: coefficient 1 is Elo points a doubling.

    The anchor's rating is 0 by definition and has no error, so the line is fitted to what the
    others are ahead of it, against the doublings since, and goes through the anchor: what is
    fitted is the slope (and with degree 2 the bend), and coefficient 0 is 0.
    """
    doublings = np.log2([simulations(agent) for agent in agents])
    x = doublings[1:] - doublings[0]
    # Rating = x * (slope + bend * x): divided by x it is a polynomial of one degree less.
    spread = ratings.covariance[1:-1, 1:-1] / np.outer(x, x)
    line = fit_line(x, ratings.ratings[1:] / x, spread, degree - 1)
    coefficients = np.concatenate([[0.0], line.coefficients])
    covariance = np.zeros((degree + 1, degree + 1))
    covariance[1:, 1:] = line.covariance
    return Line(coefficients, covariance, line.misfit, line.freedom)
