"""Ratings of all agents at once, with a term for the side played."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mrjack_ai.common.numbers import WholeNumbers
from mrjack_ai.errors import ArgumentError, TournamentError
from mrjack_ai.stats.scores import EloEstimate

ELO_PER_LOGIT = 400 / np.log(10)
"""Elo points of one unit of log-odds."""

_MOST_STEPS = 1000
"""Steps of the fit; a dozen are usual, 30 agents up to 20,000 points apart took 140."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Bradley-Terry ratings in Elo points, with 95 % intervals.

    Attributes:
        ratings: rating of each agent, shape (agents,), float64; the anchor's is 0, or their mean
            is when there is none.
        side: points that playing the Detective is worth, negative when Jack has it easier. Between
            equals the Detective wins with probability `expected_score(side)`.
        covariance: of the ratings and, last, `side`, in points squared, shape
            (agents + 1, agents + 1), float64.
        quantile: what a standard error is multiplied by for the interval; infinite when there was
            one deal only, of which no error can be told.
        games: number of games.
        deals: number of deals.
    """

    ratings: Floats
    side: float
    covariance: Floats
    quantile: float
    games: int
    deals: int

    @property
    def standard_errors(self) -> Floats:
        """Standard error of each rating, shape (agents,), float64."""
        return np.asarray(np.sqrt(np.diag(self.covariance)[:-1]))

    def rating(self, agent: int) -> EloEstimate:
        """An agent's rating with its interval; relative to the anchor or the mean."""
        return self._estimate(float(self.ratings[agent]), float(self.standard_errors[agent] ** 2))

    def difference(self, one: int, other: int) -> EloEstimate:
        """Points by which one agent is ahead of another, with its interval.

        Not the difference of two intervals: ratings are correlated.
        """
        covariance = self.covariance[:-1, :-1]
        variance = covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
        return self._estimate(float(self.ratings[one] - self.ratings[other]), float(variance))

    def side_advantage(self) -> EloEstimate:
        """Points that playing the Detective is worth, with the interval."""
        return self._estimate(self.side, float(self.covariance[-1, -1]))

    def _estimate(self, value: float, variance: float) -> EloEstimate:
        # Rounding can leave a variance that is 0 just below it.
        margin = self.quantile * np.sqrt(max(variance, 0.0)) if variance else 0.0
        return EloEstimate(value, float(value - margin), float(value + margin))


def bradley_terry(
    detective: Integers,
    jack: Integers,
    detective_won: npt.NDArray[np.bool_],
    deal: Integers,
    anchor: int | None = None,
) -> Ratings:
    """Fit ratings and the advantage of a side to the games of a tournament.

    The model is P(Detective wins) = 1 / (1 + exp(-(r_detective - r_jack + s))): Bradley and Terry,
    Rank analysis of incomplete block designs (Biometrika 39, 1952), with the order effect of
    Davidson and Beaver, On extending the Bradley-Terry model to incorporate within-pair order
    effects (Biometrics 33, 1977).

    The likelihood is maximised with Jeffreys' prior as a penalty: Firth, Bias reduction of maximum
    likelihood estimates (Biometrika 80, 1993). It is worth about half a game won and half a game
    lost for each rating, so it does not matter where there are many games, and keeps the
    ratings finite where an agent, or a side, won or lost everything (Heinze and Schemper, A
    solution to the problem of separation in logistic regression, Statistics in Medicine 21, 2002).
    The rating of such an agent is a cautious guess; games like these say how much stronger it is
    at least, never at most, whatever the upper end of its interval.

    Games of one deal, in whatever pairing, share all chance and count as one cluster: the
    covariance is the sandwich H^-1 B H^-1 of Liang and Zeger, Longitudinal data analysis using
    generalized linear models (Biometrika 73, 1986), with H the information, B the sum over the
    D deals of the outer product of their scores, times D / (D - 1), and Student's quantile with
    D - 1 degrees of freedom. The games the prior is worth add to B as clusters of their own: for
    many games they do not matter, and without them an agent that won everything would seem to be
    rated precisely, since no deal of its then differs from any other.

    Args:
        detective: index of the agent that played the Detective, 0 to agents - 1, shape (games,).
        jack: index of the agent that played Jack, shape (games,).
        detective_won: whether the Detective won, shape (games,).
        deal: number of the deal, shape (games,); equal numbers are equal deals.
        anchor: index of the agent whose rating is 0; None makes the mean 0.

    Raises:
        TournamentError: when the games do not tell all ratings and the advantage of the side: no
            games, groups of agents that never met, or every agent playing one side only.
        ArgumentError: for arrays of different shapes, indices that are no whole numbers or
            negative, or an unknown anchor.
    """
    detective, jack, deal = (np.asarray(array) for array in (detective, jack, deal))
    won = np.asarray(detective_won)
    games = detective.size
    if not detective.shape == jack.shape == won.shape == deal.shape == (games,):
        raise ArgumentError(
            "detective, jack, detective_won and deal must have one entry for each game; their "
            f"shapes are {detective.shape}, {jack.shape}, {won.shape} and {deal.shape}"
        )
    if games == 0:
        raise TournamentError("there are no games to rate agents by")
    if any(array.dtype.kind not in "iu" for array in (detective, jack, deal)):
        raise ArgumentError("detective, jack and deal must be arrays of whole numbers")
    if min(detective.min(), jack.min()) < 0:
        raise ArgumentError("an agent's index is negative; agents are counted from 0")
    agents = int(max(detective.max(), jack.max())) + 1
    if anchor is not None:
        anchor = WholeNumbers(0, agents - 1).read(anchor, "anchor")
    _check_connected(detective, jack, agents)

    # Games between the same two agents on the same sides are one cell: they have equal odds.
    cells, cell = np.unique(detective * agents + jack, return_inverse=True)
    played = np.bincount(cell).astype(np.float64)
    wins = np.bincount(cell, weights=won).astype(np.float64)
    players = np.eye(agents)
    full = players[cells // agents] - players[cells % agents]
    # Ratings count from agent 0 within the fit; its column is left out, the side's comes last.
    design = np.column_stack([full[:, 1:], np.ones(len(cells))])
    if np.linalg.matrix_rank(design) < agents:
        raise TournamentError(
            "the advantage of the side cannot be told from the strength of the agents; let agents "
            "play both sides"
        )
    fitted = _fit(design, played, wins)
    covariance = _covariance(design, played, fitted, cell, won, deal)

    # From agent 0 to the anchor or the mean.
    origin = np.full(agents, 1 / agents) if anchor is None else players[anchor]
    change = np.eye(agents + 1)
    change[:agents, :agents] -= origin
    change = change[:, 1:] * ELO_PER_LOGIT
    *ratings, side = change @ fitted
    from scipy.stats import t  # not at the top: it takes longer to import than we do

    deals = len(np.unique(deal))
    quantile = float(t.ppf(0.975, deals - 1)) if deals > 1 else np.inf
    spread = change @ covariance @ change.T
    return Ratings(np.array(ratings), float(side), spread, quantile, games, deals)


def _check_connected(detective: Integers, jack: Integers, agents: int) -> None:
    from scipy.sparse import coo_array  # not at the top: it takes longer to import than we do
    from scipy.sparse.csgraph import connected_components

    met = coo_array((np.ones(detective.size), (detective, jack)), shape=(agents, agents))
    groups, group = connected_components(met, directed=False)
    if groups > 1:
        names = " and ".join(str(np.flatnonzero(group == one).tolist()) for one in range(groups))
        raise TournamentError(
            f"the agents {names} never met, not even through others; rate them apart, or let "
            "them play each other"
        )


def _fit(design: Floats, played: Floats, wins: Floats) -> Floats:
    """The estimates, in logits, shape (agents,): where the penalised likelihood has no slope.

    Fisher scoring. The prior's games count in the information too: without them steps overshoot
    and go back and forth where there are few games.
    """
    point = np.zeros(design.shape[1])
    for _ in range(_MOST_STEPS):
        share = _share(design @ point)
        prior = _prior_games(design, played, share)
        slope = design.T @ (wins + prior / 2 - (played + prior) * share)
        step = np.linalg.solve(_information(design, played + prior, share), slope)
        point = point + step
        if np.abs(step).max() < 1e-9:
            return np.asarray(point)
    raise TournamentError(
        f"the ratings of these games are not found in {_MOST_STEPS} steps; leave out agents that "
        "won or lost everything"
    )


def _covariance(
    design: Floats,
    played: Floats,
    fitted: Floats,
    cell: Integers,
    won: npt.NDArray[np.bool_],
    deal: Integers,
) -> Floats:
    """Covariance of the estimates, in logits squared, shape (agents, agents), by deals."""
    share = _share(design @ fitted)
    numbers, cluster = np.unique(deal, return_inverse=True)
    deals = len(numbers)
    scores = np.zeros((deals, design.shape[1]))
    np.add.at(scores, cluster, design[cell] * (won - share[cell])[:, None])
    correction = deals / (deals - 1) if deals > 1 else 1.0
    # Half of the prior's games are won, half are lost, whatever the share.
    square = _prior_games(design, played, share) * ((1 - share) ** 2 + share**2) / 2
    middle = correction * scores.T @ scores + design.T @ (design * square[:, None])
    inverse = np.linalg.inv(_information(design, played, share))
    return np.asarray(inverse @ middle @ inverse)


def _share(odds: Floats) -> Floats:
    """Probability that the Detective wins, from its logit."""
    from scipy.special import expit  # not at the top: it takes longer to import than we do

    return np.asarray(expit(odds))


def _information(design: Floats, played: Floats, share: Floats) -> Floats:
    """Information of the games about the estimates, shape (agents, agents)."""
    return np.asarray(design.T @ (design * (played * share * (1 - share))[:, None]))


def _prior_games(design: Floats, played: Floats, share: Floats) -> Floats:
    """Games the prior is worth in each cell: the leverages of its games, summed (Firth 1993)."""
    inverse = np.linalg.inv(_information(design, played, share))
    leverage = (design @ inverse * design).sum(axis=1)
    return np.asarray(played * share * (1 - share) * leverage)
