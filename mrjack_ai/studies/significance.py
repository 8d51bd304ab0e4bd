"""Shares by group with intervals, tests of differences, and corrections for many tests.

The unit of everything is the deal: games of one deal share all chance and are not independent.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mrjack_ai.errors import ArgumentError
from mrjack_ai.stats.scores import PairCounts, Rate, mean_score, wilson

if TYPE_CHECKING:
    import pandas

Floats = npt.NDArray[np.float64]

LEVEL = 0.05
"""Tests are called significant below it, after the correction for their family."""


def share_of(deal: Sequence[int], success: Sequence[bool]) -> Rate:
    """A share of games with a 95 % interval in which the deal is the unit.

    Where every deal has two games, the score interval of pairs (`PairCounts.score`); where every
    deal has one, Wilson's; else every deal counts once (`mean_score`).

    Args:
        deal: the deal of each game.
        success: whether the game counts, such as whether the Detective won it.
    """
    deals, place, sizes = np.unique(np.asarray(deal), return_inverse=True, return_counts=True)
    hits = np.bincount(place, weights=np.asarray(success, np.float64), minlength=len(deals))
    if len(deals) and (sizes == 1).all():
        return wilson(int(hits.sum()), len(deals))
    if len(deals) and (sizes == 2).all():
        return PairCounts(*(int((hits == count).sum()) for count in range(3))).score()
    scores = (hits / np.maximum(sizes, 1)).tolist()
    rate = mean_score(scores)
    return Rate(int(sizes.sum()), rate.value, rate.low, rate.high)


def rates(
    games: pandas.DataFrame, by: Sequence[str], success: Sequence[bool] | None = None
) -> pandas.DataFrame:
    """Shares of games by group.

    Args:
        games: one row a game, with the columns `deal`, those of `by`, and `winner`.
        by: columns that make the groups.
        success: what is counted, one entry a row; by default that the Detective won.

    Returns:
        The columns of `by`, in the order of their first appearance, then `games`, `deals`,
        `share`, `low`, `high` (see `share_of`).
    """
    import pandas  # not at the top: it takes longer to import than we do

    counted = games["winner"] == "detective" if success is None else np.asarray(success)
    rows = []
    table = games.assign(success=np.asarray(counted, bool))
    for key, group in table.groupby(list(by), sort=False, observed=True):
        rate = share_of(group["deal"].to_numpy(), group["success"].to_numpy())
        deals = group["deal"].nunique()
        rows.append((*key, rate.games, deals, rate.value, rate.low, rate.high))
    return pandas.DataFrame(rows, columns=[*by, "games", "deals", "share", "low", "high"])


def deal_scores(games: pandas.DataFrame) -> pandas.Series:
    """The Detective's mean score on each deal, 0 to 1, indexed by deal in ascending order."""
    won = (games["winner"] == "detective").astype(float)
    return won.groupby(games["deal"].to_numpy()).mean().sort_index()


@dataclass(frozen=True)
class Difference:
    """A difference of two mean scores with its 95 % interval and test.

    Attributes:
        deals: number of deals it rests on.
        value: difference, -1 to 1; NaN when there are too few deals to say.
        low: lower end of the interval.
        high: upper end of the interval.
        p: two-sided probability of such a difference, or a greater one, if there were none.
    """

    deals: int
    value: float
    low: float
    high: float
    p: float


_NOTHING = (np.nan, np.nan, np.nan, 1.0)


def paired_difference(one: pandas.Series, other: pandas.Series) -> Difference:
    """How much higher one score is than another on the same deals.

    Student's interval and test of the mean of the differences by deal (Student, The probable error
    of a mean, Biometrika 6, 1908). Where all differences are equal there is no spread to judge by,
    and the interval is the point; p is 1 if they are all 0, else 2^(1 - n), as by the signs alone.

    Args:
        one: scores indexed by deal (`deal_scores`).
        other: likewise; deals that only one of them has are left out.
    """
    change = (one - other).dropna()
    if len(change) < 2:
        return Difference(len(change), *_NOTHING)
    return ratio_by_deals(change.index, change)


def group_difference(one: Sequence[float], other: Sequence[float]) -> Difference:
    """How much higher the mean score of some deals is than that of other deals.

    Welch's interval and test (The generalization of Student's problem when several different
    population variances are involved, Biometrika 34, 1947).
    """
    first, second = np.asarray(one, float), np.asarray(other, float)
    deals = len(first) + len(second)
    if min(len(first), len(second)) < 2:
        return Difference(deals, *_NOTHING)
    value = float(first.mean() - second.mean())
    if np.ptp(first) == np.ptp(second) == 0:  # no spread to judge by
        return Difference(deals, value, np.nan, np.nan, 1.0)
    from scipy.stats import ttest_ind

    with warnings.catch_warnings():
        # SciPy warns of a group without spread; that of the other is enough.
        warnings.simplefilter("ignore", RuntimeWarning)
        test = ttest_ind(first, second, equal_var=False)
    return Difference(deals, value, *_interval_and_p(test))


def ratio_by_deals(
    deal: npt.ArrayLike, above: npt.ArrayLike, below: npt.ArrayLike | None = None
) -> Difference:
    """A ratio of two sums over rows that come in deals, such as bits a call or time a decision.

    How many rows a deal has may depend on what they hold, so means of the deals would be another
    quantity, and a biased one. Error by linearisation with the deal as the unit (Cochran, Sampling
    Techniques, 1977, section 6.3), Student's t.

    Args:
        deal: the deal of each row.
        above: what is added up above the line.
        below: what is below it; by default each row counts once, so it is the mean of the rows.

    Returns:
        The ratio as a difference from 0, with its test.
    """
    above = np.asarray(above, np.float64)
    below = np.ones_like(above) if below is None else np.asarray(below, np.float64)
    total = float(below.sum())
    value = float(above.sum()) / total if total else np.nan
    return _by_deals(deal, (above - value * below) / (total or np.nan), value)


def contrast_by_deals(
    deal: npt.ArrayLike, score: npt.ArrayLike, first: npt.ArrayLike
) -> Difference:
    """How much higher the mean score of some games is than that of the others.

    Games of one deal may be on either side, or on both; the deal is the unit of the error, as in
    `ratio_by_deals`.

    Args:
        deal: the deal of each game.
        score: its score.
        first: whether it is one of the former.
    """
    score, first = np.asarray(score, np.float64), np.asarray(first, bool)
    deals = len(np.unique(np.asarray(deal)))
    if not 0 < first.sum() < len(first):
        return Difference(deals, *_NOTHING)
    one, other = score[first].mean(), score[~first].mean()
    shares = np.where(first, (score - one) / first.sum(), (other - score) / (~first).sum())
    return _by_deals(deal, shares, float(one - other))


def _by_deals(deal: npt.ArrayLike, shares: Floats, value: float) -> Difference:
    """Interval and test of a value from what each row adds to its error."""
    place = np.unique(np.asarray(deal), return_inverse=True)[1]
    sums = np.bincount(place, weights=shares)
    deals = len(sums)
    if deals < 2 or not np.isfinite(value):
        return Difference(deals, value, np.nan, np.nan, 1.0)
    # Student's test of one number a deal: the value and what the deal adds to its error.
    scatter = deals * sums
    if np.abs(scatter).max() <= 1e-9 * abs(value):  # no spread to judge by
        return Difference(deals, value, value, value, 1.0 if value == 0 else 2.0 ** (1 - deals))
    from scipy.stats import ttest_1samp

    return Difference(deals, value, *_interval_and_p(ttest_1samp(value + scatter, 0)))


def _interval_and_p(test: Any) -> tuple[float, float, float]:
    """The 95 % interval and the p-value of one of SciPy's t-tests."""
    low, high = test.confidence_interval(0.95)
    return float(low), float(high), float(test.pvalue)


def holm(p_values: Sequence[float]) -> Floats:
    """P-values corrected for their number: none of them errs with more than the level.

    Holm, A simple sequentially rejective multiple test procedure (Scandinavian Journal of
    Statistics 6, 1979): the k-th smallest of m is multiplied by m - k + 1, no result is less than
    that of a smaller one, and none exceeds 1.

    Returns:
        float64, in the order given.
    """
    values = np.asarray(p_values, np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(len(values), 0, -1)
    found = np.empty_like(values)
    found[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return found


def benjamini_hochberg(p_values: Sequence[float]) -> Floats:
    """P-values corrected so that of those below the level about that share is wrong.

    Benjamini and Hochberg, Controlling the false discovery rate (Journal of the Royal Statistical
    Society B 57, 1995), as in SciPy.

    Returns:
        float64, in the order given.
    """
    values = np.asarray(p_values, np.float64)
    if not len(values):
        return values
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(values))


CORRECTIONS = {"Holm": holm, "Benjamini-Hochberg": benjamini_hochberg}
"""By name: the first for few planned tests, the second for a look at many things."""


def family(
    differences: Mapping[str, Difference], name: str = "what", correction: str = "Holm"
) -> pandas.DataFrame:
    """A family of tests as a table.

    Args:
        differences: the tests by what is compared.
        name: heading of the first column.
        correction: one of `CORRECTIONS`.

    Returns:
        Columns `name`, `deals`, `value`, `low`, `high`, `p`, `corrected` (p after the correction
        for the whole table), `significant` (below `LEVEL`).
    """
    import pandas

    rows = [(what, *vars(found).values()) for what, found in differences.items()]
    table = pandas.DataFrame(rows, columns=[name, "deals", "value", "low", "high", "p"])
    table["corrected"] = CORRECTIONS[correction](table["p"].to_numpy())
    table["significant"] = table["corrected"] < LEVEL
    return table


def by_group(
    games: pandas.DataFrame, column: str, correction: str = "Benjamini-Hochberg"
) -> pandas.DataFrame:
    """Whether the Detective's score in each group of deals differs from that in all the others.

    Args:
        games: one row a game; all games of a deal must be in one group.
        column: column that makes the groups.
        correction: one of `CORRECTIONS`.

    Returns:
        As `family`, the first column being `column`.

    Raises:
        ArgumentError: when a deal is in several groups.
    """
    groups = games.groupby("deal")[column]
    if (groups.nunique() > 1).any():
        raise ArgumentError(f"column {column!r} must be the same in all games of a deal")
    scores, group = deal_scores(games), groups.first().sort_index()
    found = {
        str(name): group_difference(scores[group == name], scores[group != name])
        for name in sorted(group.unique())
    }
    return family(found, column, correction)


def by_dealt_card(games: pandas.DataFrame) -> pandas.DataFrame:
    """Whether the Detective's score differs with the cards that are face up in turn 1.

    The cards of turn 1 are those that whoever starts chooses from first; the others follow in
    turn 2.

    Args:
        games: one row a game: `deal`, `winner`, `identity`, `dealt` (codes, joined by commas).

    Returns:
        As `family`, the first column being `card`: a row for each character, how much higher the
        score is where his card is among them, and one for `Jack's own`.
    """
    scores = deal_scores(games)
    first = games.groupby("deal")[["identity", "dealt"]].first().sort_index()
    dealt = first["dealt"].str.split(",")
    among = {code: [code in codes for codes in dealt] for code in sorted(set(dealt.explode()))}
    own = zip(first["identity"], dealt, strict=True)
    among["Jack's own"] = [identity in codes for identity, codes in own]
    found = {
        name: group_difference(scores[np.array(there)], scores[~np.array(there)])
        for name, there in among.items()
    }
    return family(found, "card", "Benjamini-Hochberg")


def nearest_to_half(
    scores: Mapping[str, pandas.Series], resamples: int = 2000, seed: int = 0
) -> pandas.DataFrame:
    """Which of several games is the fairest, and how sure that is.

    Args:
        scores: the Detective's scores of each game by deal (`deal_scores`), on the same deals.
        resamples: how often the deals are drawn anew, with replacement (Efron, Bootstrap methods:
            another look at the jackknife, Annals of Statistics 7, 1979); all games take the same
            draws, so what their deals share is kept.
        seed: of those draws.

    Returns:
        Columns `variant`, `deals`, `distance` (of the mean from 1/2), `nearest` (share of the
        draws in which it is the nearest, ties shared), the nearest first.
    """
    import pandas

    table = pandas.DataFrame(dict(scores)).dropna()
    values = table.to_numpy()
    rng = np.random.default_rng(seed)
    nearest = np.zeros(values.shape[1])
    for _ in range(resamples):
        drawn = values[rng.integers(len(values), size=len(values))]
        distance = np.abs(drawn.mean(axis=0) - 0.5)
        best = distance <= distance.min() + 1e-12
        nearest += best / best.sum()
    found = pandas.DataFrame(
        {
            "variant": list(table.columns),
            "deals": len(values),
            "distance": np.abs(values.mean(axis=0) - 0.5),
            "nearest": nearest / resamples,
        }
    )
    return found.sort_values("distance", kind="stable", ignore_index=True)
