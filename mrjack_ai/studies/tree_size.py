"""How large the game is: a bound on its positions, and sampled sizes of its tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, log, perm
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mrjack_ai.game.state import State
from mrjack_ai.setup.characters import Ability
from mrjack_ai.setup.variant import DETECTIVE, JACK, Variant
from mrjack_ai.studies.replay import kinds_of_actions

if TYPE_CHECKING:
    import pandas

Floats = npt.NDArray[np.float64]

_ENDING_ACTIONS = ("accuse", "escape")


def position_bound(variant: Variant) -> dict[str, int]:
    """Upper bound on the positions between two plays, as the numbers whose product it is.

    A position here is all that decides how the game can go on, hidden facts included, when a card
    is about to be chosen. Not every combination can be reached.

    Returns:
        `characters` (8 different street hexes), `gaslights` (places of the tiles that are there,
        summed over the turns), `covers`, `cordons`, `lantern`, `witness card`, `cards` (which are
        dealt, and which of them are left), `identity`, and `suspicion` (for each other character
        whether he is cleared and where his alibi card is: in the pile or with either player).
    """
    board, seats = variant.board, len(variant.cast)
    numbers = [number for _, number in board.lit_gaslights if number is not None]
    plain = len(board.lit_gaslights) - len(numbers)
    places = len(board.gaslights)
    lamps = 0
    for turn in range(1, variant.turns + 1):
        numbered = sum(number >= turn for number in numbers)
        lamps += perm(places, numbered) * comb(places - numbered, plain)
    abilities = {kind.ability for kind in variant.kinds}
    half = variant.cards_per_turn
    return {
        "characters": perm(len(board.streets), seats),
        "gaslights": lamps,
        "covers": comb(len(board.manholes), len(board.covered_manholes)),
        "cordons": comb(len(board.exits), len(board.cordons)),
        "lantern": 6 if Ability.AIM in abilities else 1,
        "witness card": 2,
        "cards": comb(seats, half) * (2**half - 1),
        "identity": seats,
        "suspicion": (2 * (3 if Ability.DRAW in abilities else 1)) ** (seats - 1),
    }


@lru_cache(maxsize=8)
def _ending_actions(variant: Variant) -> npt.NDArray[np.bool_]:
    return np.array([kind in _ENDING_ACTIONS for kind in kinds_of_actions(variant)])


def probe_tree(
    state: State, probes: int, rng: np.random.Generator, ending_weight: float = 0.05
) -> pandas.DataFrame:
    """Walk down the game tree at random, to estimate its size.

    Each walk takes action a with a known probability q(a); the product of the 1/q along it is an
    unbiased estimate of the number of ways to play the game (its leaves), and the sum of such
    products over the nodes on the way one of the number of nodes. With q uniform that is Knuth,
    Estimating the efficiency of backtrack programs (Mathematics of Computation 29, 1975). Here
    accusations and escapes are taken more seldom: nearly all of the tree lies behind other
    actions, and walks that end early tell nothing of it.

    Nodes a player cannot tell apart are one information set. How many nodes of the tree a set has
    follows from what the player does not know: who Jack is, and in which order the other player
    drew which alibi cards. A node counts as one divided by that number, so that each set counts as
    one.

    Args:
        state: the root; left alone.
        probes: number of walks.
        rng: source of randomness.
        ending_weight: how often an accusation or escape is taken, in units of another action.

    Returns:
        One row a walk: `length` (actions and chance outcomes), `decisions`, and the natural
        logarithms of the estimates `log_games`, `log_nodes` (the root and the ends included),
        `log_detective_sets`, `log_jack_sets` (minus infinity where the walk met none).
    """
    import pandas  # not at the top: it takes longer to import than we do

    ends = _ending_actions(state.variant)
    rows = []
    for _ in range(probes):
        walk = state.clone()
        length = decisions = 0
        weight, nodes, sets = 1.0, 1.0, [0.0, 0.0]  # of the standard game below 1e160
        while not walk.is_terminal():
            actions = walk.legal_actions()
            player = walk.current_player()
            if player >= 0:
                decisions += 1
                sets[player] += weight / information_set_size(walk, player)
                ending = ends[actions]
                chances = np.where(ending, ending_weight, 1.0)
                chances /= chances.sum()
                chosen = int(rng.choice(len(actions), p=chances))
                weight /= chances[chosen]
            else:
                chosen = int(rng.integers(len(actions)))
                weight *= len(actions)
            walk.apply_action(actions[chosen])
            length += 1
            nodes += weight
        logs = [log(x) if x else -np.inf for x in (weight, nodes, *sets)]
        rows.append((length, decisions, *logs))
    columns = ["length", "decisions", "log_games", "log_nodes"]
    columns += ["log_detective_sets", "log_jack_sets"]
    return pandas.DataFrame(rows, columns=columns)


def information_set_size(state: State, player: int) -> int:
    """Number of nodes of the tree that a player cannot tell from this one.

    The Detective does not know who Jack is, and neither knows which alibi cards the other has
    drawn, in which order. All else of the history is public, so these are all the ways to fill in
    what is hidden (see `mrjack_ai.game.belief`).
    """
    other = 1 - player
    own = state.alibi_count(player)
    unknown = len(state.variant.cast) - 1 - own
    if player == JACK:
        return perm(unknown, state.alibi_count(DETECTIVE))
    innocent = {*state.cleared(), *state.exonerated(), *state.alibis(DETECTIVE)}
    return (len(state.variant.cast) - len(innocent)) * perm(unknown, state.alibi_count(other))


@dataclass(frozen=True)
class TreeSize:
    """An estimated size with its 95 % interval, as decimal logarithms.

    Attributes:
        value: log10 of the mean estimate.
        low: lower end of the interval.
        high: upper end of the interval.
        effective: how many walks of equal weight would tell as much: (sum w)^2 / sum w^2. Where
            it is small the mean hangs on few walks, and the interval claims too much.
    """

    value: float
    low: float
    high: float
    effective: float


def tree_size(logs: Floats, resamples: int = 1000, seed: int = 0) -> TreeSize:
    """The mean of estimates given by their natural logarithms.

    The interval is that of the bootstrap: the walks are drawn anew, with replacement.

    Args:
        logs: from `probe_tree`; float64, shape `(walks,)`, at least one of them finite.
        resamples: how often.
        seed: of those draws.
    """
    logs = np.asarray(logs, np.float64)
    top = logs.max()
    weights = np.exp(logs - top)
    rng = np.random.default_rng(seed)
    means = [
        weights[rng.integers(len(weights), size=len(weights))].mean() for _ in range(resamples)
    ]
    low, high = np.quantile(means, [0.025, 0.975])
    with np.errstate(divide="ignore"):
        ends = [float((top + np.log(x)) / np.log(10)) for x in (weights.mean(), low, high)]
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    return TreeSize(ends[0], ends[1], ends[2], effective)


def log10_product(factors: dict[str, int]) -> float:
    """Decimal logarithm of a product."""
    return sum(log(factor) for factor in factors.values()) / log(10)
