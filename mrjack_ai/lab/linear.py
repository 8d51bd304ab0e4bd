"""Equilibria by linear programming, and the best pure policy by integer programming.

The sequence form of Koller, Megiddo and von Stengel 1996 along the public tree: a player's
realisation plan has an entry for each action in each private state, and the other player's best
answer is a system of linear inequalities. Solved by HiGHS through SciPy; for trees of up to some
ten thousand nodes.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from mrjack_ai.errors import LabError
from mrjack_ai.lab.expansion import PublicNode
from mrjack_ai.lab.public_tree import PublicTree
from mrjack_ai.lab.solver import TreeEvaluator, Vector
from mrjack_ai.setup.variant import Player

MOST_NODES = 50_000
"""Larger trees are refused."""

Terms = Counter[int]
"""A linear expression: coefficients by variable."""


class _SequenceForm:
    """The program of one player: maximise what the other's best answer leaves."""

    def __init__(self, tree: PublicTree, player: int) -> None:
        self.tree, self.player, self.other = tree, player, 1 - player
        self.variables = 1  # the first is the constant 1: the empty sequence
        self.plan: dict[tuple[int, int, int], int] = {}
        self.equalities: list[Terms] = []
        self.inequalities: list[Terms] = []  # each at most 0
        self.free: list[int] = []
        self._weights: dict[tuple[int, int], Vector] = {}
        ours, theirs = self._states(0, player), self._states(0, self.other)
        values = self._visit(0, [0] * ours, theirs, 1.0)
        self.objective = _added(values)

    def _states(self, at: int, player: int) -> int:
        return self.tree.private_states(player, int(self.tree.nodes[at]["draws"][player]))

    def _variable(self) -> int:
        self.variables += 1
        return self.variables - 1

    def _can_be(self, node: np.void, player: int, state: int) -> bool:
        if player == Player.DETECTIVE:
            return True
        scale = self.tree.seats ** int(node["draws"][Player.JACK])
        return bool(int(node["identities"]) >> state // scale & 1)

    def _visit(self, at: int, sequences: list[int], theirs: int, chance: float) -> list[Terms]:
        """Value to the player, by the other's private state, of a node.

        Args:
            sequences: the player's last variable in each of their private states.
            theirs: how many private states the other has.
            chance: probability of the deals so far.
        """
        tree, node = self.tree, self.tree.nodes[at]
        kind, seats = int(node["kind"]), tree.seats
        if kind in (PublicNode.ACCUSED, PublicNode.JACK_GONE):
            return self._end(at, sequences, theirs, chance)
        children = tree.children(at)
        total = [Counter[int]() for _ in range(theirs)]
        if kind == self.player:
            made: dict[tuple[int, int], int] = {}
            for child in children:
                slot = int(tree.nodes[child]["slot"])
                below = [-1] * len(sequences)
                for state, sequence in enumerate(sequences):
                    if sequence < 0 or not self._can_be(tree.nodes[child], kind, state):
                        continue
                    if (slot, state) not in made:
                        made[slot, state] = self.plan[at, slot, state] = self._variable()
                    below[state] = made[slot, state]
                _add(total, self._visit(child, below, theirs, chance))
            for state, sequence in enumerate(sequences):
                entries = [name for (_, other), name in made.items() if other == state]
                if sequence >= 0 and entries:
                    self.equalities.append(Counter({sequence: -1, **dict.fromkeys(entries, 1)}))
            return total
        if kind == self.other:
            answer = [self._variable() for _ in range(theirs)]
            self.free += answer
            slots: dict[int, list[Terms]] = {}
            for child in children:
                slot = int(tree.nodes[child]["slot"])
                sums = slots.setdefault(slot, [Counter[int]() for _ in range(theirs)])
                _add(sums, self._visit(child, self._kept(sequences, child), theirs, chance))
            for slot, sums in slots.items():
                legal = [c for c in children if int(tree.nodes[c]["slot"]) == slot]
                for state in range(theirs):
                    if any(self._can_be(tree.nodes[c], kind, state) for c in legal):
                        bound = Counter({answer[state]: 1})
                        bound.subtract(sums[state])
                        self.inequalities.append(bound)
            return [
                Counter({name: 1}) if self._can_be(node, kind, state) else Counter()
                for state, name in enumerate(answer)
            ]
        share = 1 / int(node["slots"]) if kind == PublicNode.CARDS_DEALT else 1.0
        for child in children:
            ours, others = self._kept(sequences, child), theirs
            if kind == PublicNode.CARD_DRAWN and node["mover"] == self.player:
                ours = [sequence for sequence in ours for _ in range(seats)]
            elif kind == PublicNode.CARD_DRAWN:
                others = theirs * seats
            values = self._visit(child, ours, others, chance * share)
            if others != theirs:
                values = [
                    _added(values[state * seats : (state + 1) * seats]) for state in range(theirs)
                ]
            _add(total, values)
        return total

    def _kept(self, sequences: list[int], child: int) -> list[int]:
        node = self.tree.nodes[child]
        parent = self.tree.nodes[int(node["parent"])]
        if self.player == Player.DETECTIVE:
            return sequences
        scale = self.tree.seats ** int(parent["draws"][Player.JACK])
        return [
            sequence if int(node["identities"]) >> state // scale & 1 else -1
            for state, sequence in enumerate(sequences)
        ]

    def _end(self, at: int, sequences: list[int], theirs: int, chance: float) -> list[Terms]:
        tree, node = self.tree, self.tree.nodes[at]
        key = (int(node["draws"][Player.DETECTIVE]), int(node["draws"][Player.JACK]))
        if key not in self._weights:
            self._weights[key] = tree.chance_weights(*key)
        weights = self._weights[key]
        scale = tree.seats ** key[Player.JACK]
        values = [Counter[int]() for _ in range(theirs)]
        for ours, sequence in enumerate(sequences):
            if sequence < 0:
                continue
            for state in range(theirs):
                detective, jack = (
                    (ours, state) if self.player == Player.DETECTIVE else (state, ours)
                )
                weight = weights[detective, jack] * chance
                if weight == 0 or not self._can_be(node, Player.JACK, jack):
                    continue
                right = node["kind"] == PublicNode.ACCUSED and jack // scale == int(node["accused"])
                won = right == (self.player == Player.DETECTIVE)
                values[state][sequence] += weight if won else -weight
        return values

    def solve(self, pure: bool) -> tuple[float, Vector]:
        """The optimum, and the values of the variables."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        def matrix(rows: list[Terms]) -> Any:
            at = [(r, name, value) for r, row in enumerate(rows) for name, value in row.items()]
            data = np.array([value for _, _, value in at], float)
            where = np.array([[r for r, _, _ in at], [name for _, name, _ in at]])
            return csr_array((data, where), shape=(len(rows), self.variables))

        lower, upper = np.zeros(self.variables), np.ones(self.variables)
        lower[0] = 1
        lower[self.free], upper[self.free] = -1, 1
        goal = np.zeros(self.variables)
        for name, value in self.objective.items():
            goal[name] -= value
        whole = np.zeros(self.variables)
        if pure:
            whole[list(self.plan.values())] = 1
        result = milp(
            goal,
            integrality=whole,
            bounds=Bounds(lower, upper),
            constraints=[
                LinearConstraint(matrix(self.equalities), 0, 0),
                LinearConstraint(matrix(self.inequalities), -np.inf, 0),
            ],
        )
        if result.x is None:
            raise LabError(f"the linear program was not solved: {result.message}")
        return -float(result.fun), result.x


def _add(total: list[Terms], values: list[Terms]) -> None:
    for terms, value in zip(total, values, strict=True):
        terms.update(value)


def _added(values: list[Terms]) -> Terms:
    total = Counter[int]()
    for value in values:
        total.update(value)
    return total


def _program(tree: PublicTree, player: int) -> _SequenceForm:
    if len(tree.nodes) > MOST_NODES:
        raise LabError(
            f"linear programming takes trees of up to {MOST_NODES} public nodes; this one has "
            f"{len(tree.nodes)}: use regret minimisation"
        )
    return _SequenceForm(tree, player)


def solve_linear(tree: PublicTree) -> tuple[float, Vector]:
    """An equilibrium by linear programming.

    Args:
        tree: of at most `MOST_NODES` nodes.

    Returns:
        the Detective's value, and the policies: float64, as `TreeEvaluator` lays them out.

    Raises:
        LabError: for a larger tree.
    """
    evaluator = TreeEvaluator(tree)
    sums = np.zeros(evaluator.entries)
    values = []
    for player in (Player.DETECTIVE, Player.JACK):
        program = _program(tree, player)
        value, found = program.solve(pure=False)
        values.append(value)
        for (at, slot, state), name in program.plan.items():
            entry = int(evaluator.policy_at[at]) + slot * int(evaluator.states[at]) + state
            sums[entry] = max(0.0, found[name])
    return (values[Player.DETECTIVE] - values[Player.JACK]) / 2, evaluator.normalise(sums)


def best_pure_value(tree: PublicTree, player: int) -> float:
    """The most that a pure policy of a player is sure of, against the best answer to it.

    Args:
        tree: of at most `MOST_NODES` nodes; minutes for trees of thousands.

    Raises:
        LabError: for a larger tree.
    """
    return _program(tree, player).solve(pure=True)[0]
