"""Statistics of tournaments: worked values, symmetries, and how often intervals are right.

Where chance enters, what is measured has to lie within four standard errors of what is claimed.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, gammaln, xlogy
from scipy.stats import binom, norm, t

from mrjack_ai.stats.ratings import Ratings, bradley_terry
from mrjack_ai.stats.scores import (
    Z95,
    elo_difference,
    expected_score,
    mean_score,
    most_likely_splits,
    pair_log_likelihood,
    redundancy,
    wilson,
)
from mrjack_ai.stats.sprt import Sprt
from mrjack_ai.tournament import PairCounts, Rate, TournamentError

ELO = 400 / np.log(10)

some_pairs = st.builds(PairCounts, *[st.integers(0, 300)] * 3).filter(lambda counts: counts.pairs)


def shares_of(mean: float, splits: float) -> npt.NDArray[np.float64]:
    """Shares of lost, split and won pairs; `splits` from 0 to 1, the largest share possible."""
    split = splits * 2 * min(mean, 1 - mean)
    return np.clip([1 - mean - split / 2, split, mean - split / 2], 0, 1)


@cache
def score_of(lost: int, split: int, won: int) -> Rate:
    return PairCounts(lost, split, won).score()


# -- shares -------------------------------------------------------------------------------


def test_wilson_refuses_impossible_counts() -> None:
    for wins, games in ((-1, 5), (6, 5), (1, 0)):
        with pytest.raises(ValueError, match="must be a whole number from 0 to"):
            wilson(wins, games)


@given(st.integers(0, 12), st.integers(1, 12), st.integers(1, 60))
def test_deals_that_score_alike_leave_the_doubt_of_wilson(won: int, each: int, deals: int) -> None:
    """Whatever the share of its games that every deal was won: rounding is no spread."""
    won = min(won, each)
    rate = mean_score([won / each] * deals, each)
    few, many = wilson(won * deals // each, deals), wilson(-(-won * deals // each), deals)
    assert (rate.low, rate.high) == (few.low, many.high)
    assert rate.low <= rate.value <= rate.high
    assert rate.high - rate.low > 1 / (1 + deals)


def test_wilson_ends_at_exactly_nothing_and_everything() -> None:
    for games in range(1, 300):
        assert wilson(0, games).low == 0
        assert wilson(games, games).high == 1


def test_wilson_covers_as_often_as_it_claims() -> None:
    """Exact: over all results of 100 games, the mean coverage of shares from 0.05 to 0.95."""
    rates = [wilson(wins, 100) for wins in range(101)]
    found = []
    for share in np.linspace(0.05, 0.95, 181):
        covers = [rate.low <= share <= rate.high for rate in rates]
        found.append(binom.pmf(np.arange(101), 100, share) @ covers)
    assert np.mean(found) == pytest.approx(0.95, abs=0.005)
    assert min(found) > 0.92


# -- pairs --------------------------------------------------------------------------------


def test_pairs_are_counted_deal_by_deal() -> None:
    games = [(1, True), (2, True), (1, True), (3, False), (4, False), (3, False), (2, False)]
    counts = PairCounts.from_games(games)
    assert counts == PairCounts(lost=1, split=1, won=1)  # deal 4 is half played
    assert PairCounts.from_games([]) == PairCounts()
    with pytest.raises(ValueError, match="deal 1 has 3 games"):
        PairCounts.from_games([*games, (1, False)])
    with pytest.raises(ValueError, match="split pairs -1"):
        PairCounts(1, -1, 0)


def test_mean_and_variance_by_hand() -> None:
    """Scores 0, 1/2, 1/2, 1, 1: mean 3/5, squares 2.5 - 5 * 9/25 = 0.7, variance 0.7 / 4."""
    counts = PairCounts(1, 2, 2)
    assert counts.pairs == 5
    assert counts.mean == pytest.approx(0.6)
    assert counts.variance == pytest.approx(0.175)
    assert np.isnan(PairCounts().mean)
    assert np.isnan(PairCounts(0, 0, 1).variance)


def test_score_interval_against_a_published_value() -> None:
    """Fagerland, Lydersen and Laake, Statistics in Medicine 33 (2014), 2850: 21 children, of whom
    1 and 7 changed; Tango's interval for the difference is -0.517 to -0.026."""
    rate = PairCounts(lost=7, split=13, won=1).score()
    assert rate.games == 42
    assert rate.value == pytest.approx((1 - 6 / 21) / 2)
    assert 2 * rate.low - 1 == pytest.approx(-0.517, abs=0.0005)
    assert 2 * rate.high - 1 == pytest.approx(-0.026, abs=0.0005)


@pytest.mark.parametrize(("won", "pairs"), [(0, 20), (81, 263), (5, 5), (1, 1)])
def test_score_interval_without_split_pairs_is_that_of_wilson(won: int, pairs: int) -> None:
    rate, expected = PairCounts(pairs - won, 0, won).score(), wilson(won, pairs)
    assert (rate.low, rate.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert rate.games == 2 * pairs


def test_score_interval_of_split_pairs_by_hand() -> None:
    """n split pairs: V(m) = m (1/2 - m), so the lower end is 1/2 / (1 + z^2 / n)."""
    for pairs in (1, 16, 10_000):
        rate = PairCounts(0, pairs, 0).score()
        assert rate.low == pytest.approx(0.5 / (1 + Z95**2 / pairs))
        assert rate.high == pytest.approx(1 - rate.low)
    assert PairCounts(0, 16, 0).score().low == pytest.approx(0.403196, abs=1e-6)


def test_no_pairs() -> None:
    rate = PairCounts().score()
    assert rate.games == 0
    assert np.isnan([rate.value, rate.low, rate.high]).all()
    assert rate.percent() == PairCounts().elo().text() == "-"
    assert PairCounts().likelihood_of_superiority() == 0.5


@given(some_pairs, st.floats(0.01, 0.99))
def test_most_likely_shares_are_most_likely(counts: PairCounts, mean: float) -> None:
    """No share of split pairs on a fine grid is more likely, and one beside it is as likely."""
    array = np.array([counts.lost, counts.split, counts.won])
    grid = np.linspace(0, 2 * min(mean, 1 - mean), 2001)
    tried = np.stack([1 - mean - grid / 2, grid, mean - grid / 2], axis=-1)
    best = xlogy(array, np.maximum(tried, 0)).sum(axis=-1)
    found = float(pair_log_likelihood(array, mean))
    assert found >= best.max() - 1e-9 * counts.pairs
    nearest = grid[np.argmax(best)]
    assert float(most_likely_splits(array, mean)) == pytest.approx(nearest, abs=grid[1] * 1.01)


def test_rounding_leaves_no_negative_shares() -> None:
    """All pairs are split: the most likely share of split pairs is the largest possible."""
    for mean in np.linspace(0.01, 0.99, 999):
        share = float(most_likely_splits(np.array([0, 7, 0]), float(mean)))
        assert min(1 - mean - share / 2, mean - share / 2) >= 0
        assert share == pytest.approx(2 * min(mean, 1 - mean))


def test_likelihoods_of_many_counts_at_once() -> None:
    counts = np.random.default_rng(1).integers(1, 9, (4, 5, 3))
    found = pair_log_likelihood(counts, 0.6)
    assert found.shape == (4, 5)
    assert found[2, 3] == pytest.approx(float(pair_log_likelihood(counts[2, 3], 0.6)))


@given(some_pairs)
def test_score_interval_is_sensible(counts: PairCounts) -> None:
    rate, mirror = counts.score(), counts.mirrored().score()
    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    assert rate.high - rate.low > 0.4 / counts.pairs  # far from certain, also when all are alike
    assert (mirror.low, mirror.high) == pytest.approx((1 - rate.high, 1 - rate.low))
    assert mirror.value == pytest.approx(1 - rate.value)


@given(some_pairs)
def test_a_pair_done_better_raises_everything(counts: PairCounts) -> None:
    assume(counts.lost > 0)
    better = PairCounts(counts.lost - 1, counts.split + 1, counts.won)
    one, other = counts.score(), better.score()
    assert one.value < other.value
    assert one.low <= other.low + 1e-9
    assert one.high <= other.high + 1e-9
    assert counts.likelihood_of_superiority() <= better.likelihood_of_superiority()


@given(some_pairs)
def test_more_of_the_same_is_more_certain(counts: PairCounts) -> None:
    rate = counts.score()
    more = PairCounts(3 * counts.lost, 3 * counts.split, 3 * counts.won).score()
    assert more.high - more.low < rate.high - rate.low


@pytest.mark.parametrize("pairs", [10, 30, 100])
def test_score_interval_covers_as_often_as_it_claims(pairs: int) -> None:
    """Exact, over all results of so many pairs, for scores and shares of split pairs of all kinds;
    split pairs are rare where deals favour an agent, frequent where they favour a side."""
    counts = np.array(
        [(pairs - n - won, n, won) for n in range(pairs + 1) for won in range(pairs + 1 - n)]
    )
    rates = [score_of(*row) for row in counts.tolist()]
    low = np.array([rate.low for rate in rates])
    high = np.array([rate.high for rate in rates])
    ways = gammaln(pairs + 1) - gammaln(counts + 1).sum(axis=1)
    found = []
    for mean in (0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95):
        for splits in (0.05, 0.3, 0.6, 0.9):
            chance = np.exp(ways + xlogy(counts, shares_of(mean, splits)).sum(axis=1))
            assert chance.sum() == pytest.approx(1)
            found.append(chance[(low <= mean) & (mean <= high)].sum())
    assert min(found) > 0.92
    assert np.mean(found) == pytest.approx(0.955, abs=0.008)


@pytest.mark.parametrize("strength", [0.0, 0.8])
@pytest.mark.parametrize("by_deal", [0.0, 0.7])
def test_pairs_cover_where_single_games_do_not(strength: float, by_deal: float) -> None:
    """4000 matches of 200 deals played out game by game: deals favour a side more or less.

    The games of a deal share a normal variable of variance `by_deal` that helps the Detective;
    where it matters, single games claim an interval that is too wide.
    """
    rng = np.random.default_rng([1, int(10 * strength), int(10 * by_deal)])
    deal = np.sqrt(by_deal) * rng.standard_normal((4000, 200, 1))
    own = np.sqrt(1 - by_deal) * rng.standard_normal((4000, 200, 2))
    won = deal * [1, -1] + own + [strength + 0.3, strength - 0.3] > 0
    true = norm.cdf([strength + 0.3, strength - 0.3]).mean()
    pairs = won.sum(axis=2)
    covers, naive = [], []
    for row in pairs:
        counts = np.bincount(row, minlength=3)
        rate, single = score_of(*counts.tolist()), wilson(int(row.sum()), 400)
        covers.append(rate.low <= true <= rate.high)
        naive.append(single.low <= true <= single.high)
    assert abs(np.mean(covers) - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 4000)
    if by_deal:
        assert np.mean(naive) > 0.97


# -- Elo and superiority ------------------------------------------------------------------


def test_expected_score_against_worked_values() -> None:
    """10/11 at 400 points (Elo 1978); the two functions are each other's inverse."""
    assert expected_score(400) == pytest.approx(10 / 11)
    assert expected_score(-400) == pytest.approx(1 / 11)
    for elo in (-700.0, -3.0, 0.0, 20.0):
        assert elo_difference(expected_score(elo)) == pytest.approx(elo)


def test_elo_of_pairs() -> None:
    """30 of 40 pairs' points: 400 log10(3) = 190.85; ends are those of the score."""
    counts = PairCounts(5, 10, 25)
    estimate, rate = counts.elo(), counts.score()
    assert estimate.value == pytest.approx(190.85, abs=0.005)
    assert expected_score(estimate.low) == pytest.approx(rate.low)
    assert expected_score(estimate.high) == pytest.approx(rate.high)
    mirror = counts.mirrored().elo()
    assert (mirror.low, mirror.high) == pytest.approx((-estimate.high, -estimate.low))
    # Ten pairs won: Wilson's lower end is 1 / (1 + z^2 / 10), so 400 log10(10 / z^2) = 166.2.
    assert PairCounts(0, 0, 10).elo().text() == "+inf [+166, +inf]"
    assert PairCounts(10, 0, 0).elo().text() == "-inf [-inf, -166]"


def test_superiority_by_hand() -> None:
    """20 won, 10 lost: Phi(10 / sqrt(30)) = Phi(1.825742) = 0.966055, however many are split."""
    for split in (0, 70):
        found = PairCounts(10, split, 20).likelihood_of_superiority()
        assert found == pytest.approx(0.966055, abs=1e-6)
    assert PairCounts(0, 9, 0).likelihood_of_superiority() == 0.5
    assert PairCounts(0, 0, 1).likelihood_of_superiority() == pytest.approx(0.841345, abs=1e-6)


@given(some_pairs)
def test_superiority_agrees_with_the_interval(counts: PairCounts) -> None:
    sure = counts.likelihood_of_superiority()
    assert sure + counts.mirrored().likelihood_of_superiority() == pytest.approx(1)
    assume(abs(sure - 0.975) > 1e-6)
    assert (sure > 0.975) == (counts.score().low > 0.5)


def test_superiority_is_as_often_wrong_as_it_says() -> None:
    """Between equals, 20000 matches of 300 pairs: more than 95 % sure in 5 % of them."""
    rng = np.random.default_rng(2)
    counts = rng.multinomial(300, shares_of(0.5, 0.6), 20_000)
    sure = [PairCounts(*row).likelihood_of_superiority() > 0.95 for row in counts.tolist()]
    # The statistic takes steps of 1 / sqrt(120), so 5 % is met only to half a step's chance.
    assert abs(np.mean(sure) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 20_000) + 0.005


# -- redundancy ---------------------------------------------------------------------------


def test_redundancy_by_hand() -> None:
    games = [["a", "b"], ["a", "c"], ["a", "b"], ["a"], ["a", "b"]]
    assert redundancy(games) == pytest.approx(2 / 5)
    assert redundancy(iter(games[:2])) == 0
    assert redundancy([()] * 4) == 0.75
    assert np.isnan(redundancy([]))


# -- sequential test ----------------------------------------------------------------------

TEST = Sprt(0, 20, 0.05, 0.05)


def test_the_option_is_read_in_any_order() -> None:
    assert Sprt.parse(["elo0=0", "elo1=20", "alpha=0.05", "beta=0.05"]) == TEST
    assert Sprt.parse(["beta=.1", "elo1=1e1", "alpha=0.01", "elo0=-5"]) == Sprt(-5, 10, 0.01, 0.1)
    assert Sprt.parse(str(TEST).split()) == TEST


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("elo0=0 elo1=20 alpha=0.05", "beta missing"),
        ("", "elo0 and elo1 and alpha and beta missing"),
        ("elo0=0 elo1=20 alpha=0.05 beta=0.05 gamma=1", "unknown word 'gamma=1'"),
        ("elo0=0 elo1=20 alpha=0.05 0.05", "unknown word '0.05'"),
        ("elo0=0 elo1=20 alpha=0.05 beta=0.05 elo1=30", "elo1 is given twice"),
        ("elo0=0 elo1=x alpha=0.05 beta=0.05", "elo1 'x' must be a number from -2000 to 2000"),
        ("elo0=0 elo1 alpha=0.05 beta=0.05", "elo1 '' must be a number"),
        ("elo0=0 elo1=nan alpha=0.05 beta=0.05", "elo1 'nan' must be a number"),
        ("elo0=0 elo1=2__0 alpha=0.05 beta=0.05", "elo1 '2__0' must be a number"),
        ("elo0=0 elo1=1e999 alpha=0.05 beta=0.05", "elo1 inf must be a number"),
        ("elo0=20 elo1=20 alpha=0.05 beta=0.05", "elo0=20 must be smaller than elo1=20"),
        ("elo0=20 elo1=0 alpha=0.05 beta=0.05", "swap the agents"),
        ("elo0=-3000 elo1=0 alpha=0.05 beta=0.05", "elo0 -3000.0 must be a number"),
        ("elo0=0 elo1=20 alpha=0 beta=0.05", "alpha 0.0 must be a number above 0 and below 0.5"),
        ("elo0=0 elo1=20 alpha=0.05 beta=0.5", "beta 0.5 must be a number above 0 and below 0.5"),
    ],
)
def test_a_wrong_option_is_one_clear_error(words: str, message: str) -> None:
    with pytest.raises(TournamentError, match=message):
        Sprt.parse(words.split())


def test_not_a_number_is_refused() -> None:
    with pytest.raises(TournamentError, match="elo1 nan must be a number"):
        Sprt(0, float("nan"), 0.05, 0.05)


def test_log_likelihood_ratio_by_hand() -> None:
    """Scores 1/2 and 10/11. Without split pairs it is the ratio of two coins. One split pair is
    most likely when all are split at 1/2, and when 2/11 are at 10/11."""
    test = Sprt(0, 400, 0.05, 0.05)
    status = test.decide(PairCounts(3, 0, 7))
    assert status.llr == pytest.approx(7 * np.log(20 / 11) + 3 * np.log(2 / 11))
    assert test.decide(PairCounts(0, 1, 0)).llr == pytest.approx(np.log(2 / 11))
    assert test.decide(PairCounts(0, 0, 1)).llr == pytest.approx(np.log(20 / 11))
    assert test.decide(PairCounts()).llr == 0


def test_bounds_and_decisions() -> None:
    """Wald: log(0.1 / 0.95) = -2.251292, log(0.9 / 0.05) = 2.890372; either ends the test."""
    test = Sprt(0, 100, 0.05, 0.1)
    assert test.bounds == pytest.approx((-2.251292, 2.890372), abs=1e-6)
    seen = []
    for won in range(60):
        status = test.decide(PairCounts(20, 10, won))
        assert (status.lower, status.upper) == test.bounds
        for name, over in (
            ("elo0", status.llr <= -2.251292),
            ("elo1", status.llr >= 2.890372),
            ("undecided", -2.251292 < status.llr < 2.890372),
        ):
            assert (status.decision == name) == over
        assert status.decided == (status.decision != "undecided")
        seen.append(status.decision)
    # More pairs won lead from one to the next, and never back.
    assert seen == sorted(seen, key=["elo0", "undecided", "elo1"].index)
    assert len(set(seen)) == 3


@given(some_pairs)
def test_the_test_is_symmetric_and_knows_more_by_a_won_pair(counts: PairCounts) -> None:
    test, mirror = Sprt(-10, 30, 0.05, 0.1), Sprt(-30, 10, 0.1, 0.05)
    status, mirrored = test.decide(counts), mirror.decide(counts.mirrored())
    assert mirrored.llr == pytest.approx(-status.llr, abs=1e-9)
    assert (mirrored.lower, mirrored.upper) == pytest.approx((-status.upper, -status.lower))
    assume(counts.lost > 0)
    better = PairCounts(counts.lost - 1, counts.split, counts.won + 1)
    assert test.decide(better).llr > status.llr


@pytest.mark.parametrize("splits", [0.2, 0.5, 0.8])
@pytest.mark.parametrize(("elo0", "elo1"), [(0, 60), (-30, 30), (300, 380)])
def test_errors_and_lengths_of_the_sequential_test(elo0: int, elo1: int, splits: float) -> None:
    """2000 matches under each hypothesis. Wald's rates are approximate: the last pair overshoots
    the bound, which makes errors rarer, and the share of split pairs is estimated.

    Mean lengths are Wald's (1945), 0.9 log(19) over the mean ratio of a pair, within a tenth.
    """
    test = Sprt(elo0, elo1, 0.05, 0.05)
    rng = np.random.default_rng([3, elo1, int(10 * splits)])
    lower, upper = test.bounds
    for elo, wrong in ((elo0, "elo1"), (elo1, "elo0")):
        score = expected_score(elo)
        pairs = rng.choice(3, p=shares_of(score, splits), size=(2000, 1000))
        counts = np.cumsum(pairs[..., None] == np.arange(3), axis=1)
        llr = test.log_likelihood_ratio(counts)
        over = (llr <= lower) | (llr >= upper)
        assert over.any(axis=1).mean() > 0.99
        length = np.where(over.any(axis=1), over.argmax(axis=1) + 1, 1000)
        rows = np.arange(2000)
        last = counts[rows, length - 1]
        errors = sum(test.decide(PairCounts(*row)).decision == wrong for row in last.tolist())
        assert 0.02 < errors / 2000 < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 2000)
        drift = abs(float(test.log_likelihood_ratio(shares_of(score, splits))))
        assert length.mean() == pytest.approx(0.9 * np.log(19) / drift, rel=0.1)


# -- ratings ------------------------------------------------------------------------------


def round_robin(agents: int, deals: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Indices of the Detective, Jack and the deal of each game."""
    pairs = list(combinations(range(agents), 2))
    games = np.array([sides for one, two in pairs for sides in ((one, two), (two, one))])
    detective, jack = np.tile(games, (deals, 1)).T
    return detective, jack, np.repeat(np.arange(deals), len(games))


def play(
    ratings: npt.ArrayLike, side: float, deals: int, by_deal: float, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], ...]:
    """Games of a round robin; those of a deal share a variable that helps the Detective, and each
    by itself is won with exactly the probability of the model."""
    strength = np.asarray(ratings, float)
    detective, jack, deal = round_robin(len(strength), deals)
    chance = expit((strength[detective] - strength[jack] + side) / ELO)
    luck = np.sqrt(by_deal) * rng.standard_normal(deals)[deal]
    luck += np.sqrt(1 - by_deal) * rng.standard_normal(len(deal))
    return detective, jack, luck < norm.ppf(chance), deal


def test_ratings_of_two_agents_by_hand() -> None:
    """A wins 15 of 20 as the Detective, B 8 of 20. With two ratings for two kinds of games, the
    prior adds half a game won and lost to each kind: logits log(15.5 / 5.5) = 1.036092 and
    log(8.5 / 12.5) = -0.385662. Half their difference is r_A - r_B = 0.710877, times 173.7178
    points; half their sum the advantage, 0.325215."""
    detective, jack, deal = round_robin(2, 20)
    won = np.where(detective == 0, deal < 15, deal >= 12)
    found = bradley_terry(detective, jack, won, deal)
    assert found.difference(0, 1).value == pytest.approx(123.492, abs=0.001)
    assert found.ratings == pytest.approx([61.746, -61.746], abs=0.001)
    assert found.side == found.side_advantage().value == pytest.approx(56.496, abs=0.001)
    assert (found.games, found.deals) == (40, 20)

    # The sandwich, kind of game by kind of game: residuals of each deal, half a game of the prior.
    share = np.array([15.5, 8.5]) / 21
    rest = np.stack([won[detective == 0], won[detective == 1]], axis=1) - share
    middle = 20 / 19 * rest.T @ rest + np.diag((share**2 + (1 - share) ** 2) / 2)
    spread = middle / np.outer(20 * share * (1 - share), 20 * share * (1 - share))
    of_difference = (spread[0, 0] + spread[1, 1] - 2 * spread[0, 1]) / 4
    of_side = (spread[0, 0] + spread[1, 1] + 2 * spread[0, 1]) / 4
    for estimate, variance in (
        (found.difference(0, 1), of_difference),
        (found.side_advantage(), of_side),
    ):
        margin = t.ppf(0.975, 19) * np.sqrt(variance) * ELO
        assert estimate.high - estimate.value == pytest.approx(margin)
        assert estimate.value - estimate.low == pytest.approx(margin)
    # Ratings about their mean are half the difference.
    assert found.standard_errors == pytest.approx([np.sqrt(of_difference) * ELO / 2] * 2)


def test_many_games_give_the_plain_maximum_likelihood() -> None:
    detective, jack, won, deal = play([0, 60, 250, -90], 70, 4000, 0.3, np.random.default_rng(5))
    found = bradley_terry(detective, jack, won, deal)

    def loss(point: npt.NDArray[np.float64]) -> float:
        strength = np.append(0, point[:3])
        odds = strength[detective] - strength[jack] + point[3]
        return float(np.logaddexp(0, np.where(won, -odds, odds)).sum())

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-3}).x * ELO
    assert found.ratings - found.ratings[0] == pytest.approx(np.append(0, best[:3]), abs=0.1)
    assert found.side == pytest.approx(best[3], abs=0.1)


def random_games(seed: int) -> tuple[npt.NDArray[np.int64], ...]:
    rng = np.random.default_rng(seed)
    return play(rng.normal(0, 150, 4), rng.normal(0, 100), 12, 0.3, rng)


def same(one: Ratings, other: Ratings, order: list[int] | None = None) -> None:
    order = order or [0, 1, 2, 3]
    assert one.ratings == pytest.approx(other.ratings[order], abs=1e-4)
    assert one.covariance[:4, :4] == pytest.approx(
        other.covariance[np.ix_(order, order)], rel=1e-4, abs=1e-4
    )


@given(st.integers(0, 10**6), st.permutations(range(4)))
@settings(max_examples=30)
def test_ratings_do_not_depend_on_names_order_or_anchor(seed: int, order: list[int]) -> None:
    detective, jack, won, deal = random_games(seed)
    found = bradley_terry(detective, jack, won, deal)
    assert found.ratings.mean() == pytest.approx(0, abs=1e-6)
    named = np.array(order)
    renamed = bradley_terry(named[detective], named[jack], won, 7 - 3 * deal)
    same(found, renamed, order)
    mixed = np.random.default_rng(seed).permutation(len(deal))
    same(found, bradley_terry(*(array[mixed] for array in (detective, jack, won, deal))))

    anchored = bradley_terry(detective, jack, won, deal, anchor=2)
    assert anchored.ratings[2] == anchored.standard_errors[2] == 0
    zero = anchored.rating(2)
    assert (zero.value, zero.low, zero.high) == (0, 0, 0)
    for one, other in combinations(range(4), 2):
        expected, estimate = found.difference(one, other), anchored.difference(one, other)
        assert estimate.value == pytest.approx(expected.value, abs=1e-4)
        assert estimate.low == pytest.approx(expected.low, abs=1e-3)
        back = found.difference(other, one)
        assert (back.low, back.high) == pytest.approx((-expected.high, -expected.low))
    assert anchored.rating(0).high == pytest.approx(found.difference(0, 2).high, abs=1e-3)
    same_agent = found.difference(1, 1)
    assert (same_agent.value, same_agent.low, same_agent.high) == (0, 0, 0)


@given(st.integers(0, 10**6))
@settings(max_examples=30)
def test_swapped_sides_turn_the_advantage_round(seed: int) -> None:
    detective, jack, won, deal = random_games(seed)
    found, swapped = (
        bradley_terry(detective, jack, won, deal),
        bradley_terry(jack, detective, ~won, deal),
    )
    same(found, swapped)
    assert swapped.side == pytest.approx(-found.side, abs=1e-4)


@given(st.integers(0, 10**6))
@settings(max_examples=30)
def test_a_game_won_instead_of_lost_raises_the_rating(seed: int) -> None:
    detective, jack, won, deal = random_games(seed)
    before = bradley_terry(detective, jack, won, deal)
    assume(not won.all())
    game = int(np.flatnonzero(~won)[0])
    won[game] = True
    after = bradley_terry(detective, jack, won, deal)
    one, other = detective[game], jack[game]
    assert after.difference(one, other).value > before.difference(one, other).value + 0.1
    assert after.side > before.side + 0.1


def test_an_agent_that_won_everything_is_rated_with_caution() -> None:
    detective, jack, won, deal = play([0, 0, 0], 50, 40, 0.3, np.random.default_rng(6))
    won = np.where(detective == 2, True, np.where(jack == 2, False, won))
    found = bradley_terry(detective, jack, won, deal)
    lead, rest = found.difference(2, 0), found.difference(1, 0)
    assert np.isfinite([lead.low, lead.value, lead.high]).all()
    assert 300 < lead.low < lead.value < 1500
    assert lead.high - lead.low > 4 * (rest.high - rest.low)
    # More of the same says that it is stronger still.
    twice = bradley_terry(
        *(np.tile(a, 2) for a in (detective, jack, won)), np.append(deal, 40 + deal)
    )
    assert twice.difference(2, 0).value > lead.value + 50


def test_a_side_that_won_everything_is_no_trouble() -> None:
    detective, jack, deal = round_robin(3, 30)
    found = bradley_terry(detective, jack, np.full(len(deal), True), deal)
    assert found.ratings == pytest.approx([0, 0, 0], abs=1e-6)
    advantage = found.side_advantage()
    assert 300 < advantage.low < advantage.high < np.inf


@pytest.mark.parametrize("agents", [2, 3, 15])
@pytest.mark.parametrize("deals", [1, 2, 3])
def test_few_deals_and_wide_gaps_are_fitted_and_one_deal_says_nothing(
    agents: int, deals: int
) -> None:
    for seed in range(20):
        rng = np.random.default_rng([seed, agents, deals])
        games = play(rng.normal(0, 5000, agents), 300, deals, 0.3, rng)
        found = bradley_terry(*games)
        assert np.isfinite(found.ratings).all()
        assert np.isfinite(found.covariance).all()
        estimates = [found.difference(0, 1), found.side_advantage(), found.rating(0)]
        for estimate in estimates:
            assert np.isinf(estimate.high - estimate.low) == (deals == 1)
            assert estimate.high - estimate.low > 100
        zero = bradley_terry(*games, anchor=0).rating(0)
        assert (zero.value, zero.low, zero.high) == (0, 0, 0)


def test_agents_that_never_met_are_named() -> None:
    with pytest.raises(TournamentError, match=r"\[0, 2\] and \[1, 3\] never met"):
        bradley_terry(
            np.array([0, 2, 1, 3]), np.array([2, 0, 3, 1]), np.full(4, True), np.arange(4)
        )
    with pytest.raises(TournamentError, match=r"\[0, 2\] and \[1\] never met"):
        bradley_terry(np.array([0, 2]), np.array([2, 0]), np.full(2, True), np.arange(2))


def test_one_sided_games_cannot_be_rated() -> None:
    with pytest.raises(TournamentError, match="play both sides"):
        bradley_terry(np.zeros(4, int), np.ones(4, int), np.arange(4) < 2, np.arange(4))
    # Who starts as which side does not matter as long as the sides can be told apart.
    found = bradley_terry(
        np.array([0, 1, 2]), np.array([1, 2, 0]), np.array([True, True, False]), np.arange(3)
    )
    assert np.isfinite(found.ratings).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"detective": []}, "one entry for each game"),
        ({"deal": [0]}, "one entry for each game"),
        ({"detective": [[0, 1]]}, "one entry for each game"),
        ({"jack": [1, -1]}, "agents are counted from 0"),
        ({"anchor": 2}, "anchor 2 must be a whole number from 0 to 1"),
        ({"anchor": -1}, "anchor -1"),
        ({name: [] for name in ("detective", "jack", "detective_won", "deal")}, "no games"),
    ],
)
def test_bad_games(change: dict[str, object], message: str) -> None:
    good = {"detective": [0, 1], "jack": [1, 0], "detective_won": [True, True], "deal": [0, 0]}
    with pytest.raises(ValueError, match=message):
        bradley_terry(**{**good, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ratings", "side", "deals", "by_deal"),
    [
        ([0, 100, 300], 60, 100, 0.0),
        ([0, 100, 300], 60, 100, 0.8),
        ([0, 100, 300], 60, 20, 0.4),
        ([0, 0], -150, 50, 0.5),
        ([0, 400, 1000], 100, 50, 0.3),
        ([0, 50, 100, 150, 200], 80, 60, 0.4),
    ],
)
def test_ratings_find_the_truth_and_cover_it(
    ratings: list[float], side: float, deals: int, by_deal: float
) -> None:
    """1000 tournaments: no bias, standard errors as large as the spread, 95 % covered. Games of
    a deal counted as independent would miss the side's advantage where deals matter."""
    rng = np.random.default_rng([7, deals, int(10 * by_deal)])
    centred = np.array(ratings) - np.mean(ratings)
    true = np.append(centred, side)
    found, errors, covers, leads, naive = [], [], [], [], []
    for number in range(1000):
        games = play(ratings, side, deals, by_deal, rng)
        result = bradley_terry(*games)
        found.append([*result.ratings, result.side])
        errors.append(np.sqrt(np.diag(result.covariance)))
        estimates = [*map(result.rating, range(len(ratings))), result.side_advantage()]
        covers.append([e.low <= value <= e.high for e, value in zip(estimates, true, strict=True)])
        lead = result.difference(-1, 0)
        leads.append(lead.low <= true[-2] - true[0] <= lead.high)
        if by_deal > 0.7 and number < 200:
            alone = bradley_terry(*games[:3], np.arange(len(games[3]))).side_advantage()
            naive.append(alone.low <= side <= alone.high)
    spread = np.std(found, axis=0)
    # A tenth of a standard error is left to what the prior does not take away.
    assert (np.abs(np.mean(found, axis=0) - true) < 4 * spread / np.sqrt(1000) + spread / 10).all()
    assert np.mean(errors, axis=0) == pytest.approx(spread, rel=0.12)
    allowed = 4 * np.sqrt(0.95 * 0.05 / 1000)
    assert (np.abs(np.mean(covers, axis=0) - 0.95) < allowed).all()
    assert abs(np.mean(leads) - 0.95) < allowed
    if naive:
        assert np.mean(naive) < 0.85
