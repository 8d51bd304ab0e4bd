"""Counterfactual regret minimisation along the public tree of a variant.

Sources: Zinkevich et al. 2007 (CFR); Tammelin 2014 (CFR+); Johanson et al. 2011 (vectors of private
states along the public tree); Brown and Sandholm 2019 (discounted CFR, alpha 1.5, beta 0, gamma 2);
Farina, Kroer and Sandholm 2021 (predictive CFR+, quadratic averaging).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mrjack_ai.errors import LabError
from mrjack_ai.lab import sweeps
from mrjack_ai.lab.expansion import PublicNode
from mrjack_ai.lab.public_tree import PublicTree
from mrjack_ai.setup.variant import Player

Vector = npt.NDArray[np.float64]

METHODS: dict[str, int] = {
    "cfr": sweeps.Minimiser.CFR,
    "cfr+": sweeps.Minimiser.CFR_PLUS,
    "dcfr": sweeps.Minimiser.DISCOUNTED,
    "pcfr+": sweeps.Minimiser.PREDICTIVE,
}
"""Variants of regret minimisation by name."""

RANGE = 2.0
"""Returns lie between -1 and 1."""

_SMALL_LEVEL = 2048
"""Levels of fewer nodes are not worth a second thread."""


@dataclass(frozen=True)
class Exploitability:
    """How far a pair of policies is from an equilibrium, in returns of -1 to 1.

    Attributes:
        value: what the Detective gets when both follow their policies.
        detective_best: what a Detective gets who answers Jack's policy best.
        jack_best: what a Jack gets who answers the Detective's policy best.
    """

    value: float
    detective_best: float
    jack_best: float

    @property
    def nash_conv(self) -> float:
        """What both can gain together by leaving their policies; 0 at an equilibrium."""
        return self.detective_best + self.jack_best

    @property
    def exploitability(self) -> float:
        """Half of that: the gain of each on average, as OpenSpiel's `exploitability`."""
        return self.nash_conv / 2

    @property
    def detective_gain(self) -> float:
        """What the Detective gains by answering best."""
        return self.detective_best - self.value

    @property
    def jack_gain(self) -> float:
        """What Jack gains by answering best."""
        return self.jack_best + self.value


class TreeEvaluator:
    """Room for vectors along a public tree, and the passes over it.

    Args:
        tree: the tree.
        threads: how many threads share a level; the results do not depend on it.
    """

    def __init__(self, tree: PublicTree, threads: int = 1) -> None:
        if threads < 1:
            raise LabError(f"threads {threads} must be at least 1")
        self.tree = tree
        nodes, seats = tree.nodes, tree.seats
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        draws = nodes["draws"].astype(np.int64)
        sizes = (seats ** draws[:, Player.DETECTIVE], seats ** (draws[:, Player.JACK] + 1))
        self._vector_at = np.stack([np.cumsum(size) - size for size in sizes])
        lengths = [int(size.sum()) for size in sizes]
        states = np.where(
            nodes["kind"] == PublicNode.JACK_DECIDES, sizes[Player.JACK], sizes[Player.DETECTIVE]
        )
        decides = nodes["kind"] <= PublicNode.JACK_DECIDES
        entries = np.where(decides, nodes["slots"] * states, 0)
        self.policy_at: npt.NDArray[np.int64] = np.cumsum(entries) - entries
        self.entries = int(entries.sum())
        self.states: npt.NDArray[np.int64] = states
        self._reach = [np.zeros(length) for length in lengths]
        self._values = [np.zeros(length) for length in lengths]
        self.action_values = np.zeros(self.entries)
        self._weights, self._weights_at = self._flat_weights()
        self._none = np.zeros(0)
        self._no_discounts = np.ones(2)

    def _flat_weights(self) -> tuple[Vector, npt.NDArray[np.int64]]:
        detective, jack = self.tree.most_draws
        parts: list[Vector] = []
        at = np.zeros((detective + 1, jack + 1), np.int64)
        length = 0
        for ours in range(detective + 1):
            for theirs in range(jack + 1):
                at[ours, theirs] = length
                if ours + theirs < self.tree.seats:
                    parts.append(self.tree.chance_weights(ours, theirs).ravel())
                    length += len(parts[-1])
        return np.concatenate(parts), at

    @property
    def bytes(self) -> int:
        """Memory of the tree and of the vectors along it."""
        arrays = [*self._reach, *self._values, self.action_values, self._vector_at, self.states]
        return sum(array.nbytes for array in arrays) + self.tree.nodes.nbytes

    def each_level(self, function: Callable[..., None], upwards: bool = False) -> None:
        """Call a function with the bounds of each level, or of parts of it on several threads."""
        levels = self.tree.levels
        order = range(len(levels) - 1)
        for level in reversed(order) if upwards else order:
            low, high = int(levels[level]), int(levels[level + 1])
            if self._pool is None or high - low < _SMALL_LEVEL:
                function(low, high)
                continue
            cuts = np.linspace(low, high, self.threads + 1).astype(int).tolist()
            for done in self._pool.map(function, cuts[:-1], cuts[1:]):
                assert done is None

    def pass_down(self, policy: Vector) -> None:
        """Compute both players' reach under a policy."""
        self.each_level(lambda low, high: self.reach_range(low, high, policy))

    def reach_range(self, low: int, high: int, policy: Vector) -> None:
        """`pass_down` for the nodes `low` to `high` alone, those above having been done."""
        if low == 0:
            for player, size in ((Player.DETECTIVE, 1), (Player.JACK, self.tree.seats)):
                self._reach[player][:size] = 1.0
            return
        sweeps.reach_level(
            *(self.tree.nodes, low, high, self.tree.seats, self._vector_at, self.policy_at),
            *(policy, self._reach[Player.DETECTIVE], self._reach[Player.JACK]),
        )

    def reach_of(self, player: int, at: int) -> Vector:
        """A player's own part of the probability of reaching a node, by their private state."""
        start = int(self._vector_at[player, at])
        size = self.tree.private_states(player, int(self.tree.nodes[at]["draws"][player]))
        return self._reach[player][start : start + size]

    def combine(self, policy: Vector, other: Vector, player: int) -> Vector:
        """A policy with the part of one player replaced by that of another policy."""
        combined = policy.copy()
        for at in np.flatnonzero(self.tree.nodes["kind"] == player).tolist():
            block = self.block(at)
            combined[block] = other[block]
        return combined

    def pass_up(
        self,
        player: int,
        task: int,
        policy: Vector,
        method: int = sweeps.Minimiser.CFR,
        regrets: Vector | None = None,
        latest: Vector | None = None,
        discounts: Vector | None = None,
    ) -> float:
        """Compute the values of a player, after `pass_down`; returns that of the game."""

        def level(low: int, high: int) -> None:
            sweeps.value_level(
                *(self.tree.nodes, low, high, self.tree.seats, self._vector_at, self.policy_at),
                *(player, task, method, self._weights, self._weights_at),
                *(self._reach[1 - player], self._values[player], policy, self.action_values),
                self._none if regrets is None else regrets,
                self._none if latest is None else latest,
                self._no_discounts if discounts is None else discounts,
            )

        self.each_level(level, upwards=True)
        size = self.tree.seats if player == Player.JACK else 1
        return float(self._values[player][:size].sum())

    def average(
        self, player: int, keep: float, weight: float, policy: Vector, sums: Vector
    ) -> None:
        """`sums = keep * sums + weight * reach * policy` for a player, after `pass_down`."""

        def level(low: int, high: int) -> None:
            sweeps.average_level(
                *(self.tree.nodes, low, high, self.tree.seats, self.policy_at, self._vector_at),
                *(player, keep, weight, self._reach[player], policy, sums),
            )

        self.each_level(level)

    def normalise(self, sums: Vector) -> Vector:
        """Policies in proportion to sums; uniform where these are 0."""
        policy = np.zeros(self.entries)
        for player in (Player.DETECTIVE, Player.JACK):
            self.match(player, sweeps.Minimiser.CFR, sums, self._none, policy)
        return policy

    def match(
        self, player: int, method: int, regrets: Vector, latest: Vector, policy: Vector
    ) -> None:
        """Make a player's part of a policy proportional to positive regrets."""

        def level(low: int, high: int) -> None:
            sweeps.match_level(
                *(self.tree.nodes, low, high, self.tree.seats, self.policy_at),
                *(player, method, regrets, latest, policy),
            )

        self.each_level(level)

    def uniform(self) -> Vector:
        """The policy that chooses uniformly among what is legal."""
        return self.normalise(np.zeros(self.entries))

    def evaluate(self, policy: Vector) -> Exploitability:
        """Value of a policy for both players, and of the best responses to it.

        Args:
            policy: float64, shape `(entries,)`.
        """
        self.pass_down(policy)
        return Exploitability(
            value=self.pass_up(Player.DETECTIVE, sweeps.Task.EXPECT, policy),
            detective_best=self.pass_up(Player.DETECTIVE, sweeps.Task.BEST, policy),
            jack_best=self.pass_up(Player.JACK, sweeps.Task.BEST, policy),
        )

    def best_response(self, player: int, policy: Vector) -> tuple[float, Vector]:
        """The best response of a player to the other's part of a policy.

        Returns:
            its value to that player, and the policy with the player's part replaced by it: a pure
            one, the first of the best actions.
        """
        self.pass_down(policy)
        value = self.pass_up(player, sweeps.Task.BEST, policy)
        best = policy.copy()
        for at in np.flatnonzero(self.tree.nodes["kind"] == player).tolist():
            values = self.table(self.action_values, at)
            self.table(best, at)[:] = np.arange(len(values))[:, None] == values.argmax(axis=0)
        return value, best

    def block(self, at: int) -> slice:
        """Entries of a policy at a node."""
        start = int(self.policy_at[at])
        return slice(start, start + int(self.tree.nodes[at]["slots"]) * int(self.states[at]))

    def table(self, vector: Vector, at: int) -> Vector:
        """The entries at a node of a policy, or of what is laid out like one.

        Args:
            vector: float64, shape `(..., entries)`.

        Returns:
            a view of them, shape `(..., slots, states)`.
        """
        return vector[..., self.block(at)].reshape(*vector.shape[:-1], -1, int(self.states[at]))


class Solver:
    """Regret minimisation for both players in turn.

    Args:
        tree: the public tree.
        method: `cfr`, `cfr+`, `dcfr` or `pcfr+`.
        threads: see `TreeEvaluator`.

    Attributes:
        iterations: how many there have been.
    """

    def __init__(self, tree: PublicTree, method: str = "pcfr+", threads: int = 1) -> None:
        if method not in METHODS:
            raise LabError(f"method {method!r} must be one of {', '.join(METHODS)}")
        self.evaluator = TreeEvaluator(tree, threads)
        self.method = method
        self.iterations = 0
        entries = self.evaluator.entries
        self._regrets = np.zeros(entries)
        self._latest = np.zeros(entries if method == "pcfr+" else 0)
        self._sums = np.zeros(entries)
        self._policy = self.evaluator.uniform()

    @property
    def bytes(self) -> int:
        """Memory of all arrays."""
        own = (self._regrets, self._latest, self._sums, self._policy)
        return self.evaluator.bytes + sum(array.nbytes for array in own)

    def iterate(self, iterations: int = 1) -> None:
        """Iterate so often; each iteration updates the Detective, then Jack."""
        for _ in range(iterations):
            self.iterations += 1
            for player in (Player.DETECTIVE, Player.JACK):
                self._update(player)

    def _update(self, player: int) -> None:
        now = self.iterations
        method = METHODS[self.method]
        evaluator = self.evaluator
        evaluator.pass_down(self._policy)
        keep, weight = self._averaging(now)
        evaluator.average(player, keep, weight, self._policy, self._sums)
        discounts = np.ones(2)
        if self.method == "dcfr" and now > 1:
            discounts[:] = (now - 1) ** 1.5 / ((now - 1) ** 1.5 + 1), 0.5
        evaluator.pass_up(
            player, sweeps.Task.UPDATE, self._policy, method, self._regrets, self._latest, discounts
        )
        evaluator.match(player, method, self._regrets, self._latest, self._policy)

    def _averaging(self, now: int) -> tuple[float, float]:
        """How much the sums keep, and what the new policy weighs."""
        if self.method == "cfr":
            return 1.0, 1.0
        if self.method == "cfr+":
            return 1.0, float(now)
        return ((now - 1) / now) ** 2, 1.0

    def average_policy(self) -> Vector:
        """The average policy of both players: float64, shape `(entries,)`."""
        return self.evaluator.normalise(self._sums)

    def exploitability(self) -> Exploitability:
        """Of the average policy."""
        return self.evaluator.evaluate(self.average_policy())

    def state(self) -> dict[str, Any]:
        """Everything that goes on changing, as arrays; `restore` takes it back."""
        return {
            "method": np.array(self.method),
            "iterations": np.array(self.iterations),
            "regrets": self._regrets,
            "latest": self._latest,
            "sums": self._sums,
            "policy": self._policy,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state()` of a solver of the same tree and method.

        Raises:
            LabError: when it belongs to another.
        """
        if str(state["method"]) != self.method or len(state["sums"]) != self.evaluator.entries:
            raise LabError("this checkpoint belongs to another variant or method")
        self.iterations = int(state["iterations"])
        self._regrets = np.array(state["regrets"])
        self._latest = np.array(state["latest"])
        self._sums = np.array(state["sums"])
        self._policy = np.array(state["policy"])
