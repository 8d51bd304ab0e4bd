"""One search in progress, and what it found."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mrjack_ai.engine.layout import EVENT_ALIBI, EVENT_WITNESS
from mrjack_ai.engine.tables import build_tables
from mrjack_ai.engine.types import Words
from mrjack_ai.game.belief import identity_probabilities
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.state import State
from mrjack_ai.search import kernels as engine
from mrjack_ai.search.weights import FITTED, Weights, load_weights
from mrjack_ai.setup.variant import DETECTIVE

HEURISTIC = "heuristic"
"""`eval=` of the heuristic of `greedy`."""

_FIRST_NODES = 4096
_MOST_NODES = 4_000_000
_SECONDS_A_CALL = 0.001
_MOST_A_CALL = 20_000
"""Simulations a call: between calls Python sees to Ctrl-C."""


@dataclass(frozen=True)
class RootStatistics:
    """What a search found at its root.

    Attributes:
        actions: ids of the legal actions, ascending; int64, shape `(n,)`.
        visits: simulations through each; int64, shape `(n,)`.
        values: mean return of the searching player after each, -1 to 1, NaN without visits;
            float64, shape `(n,)`.
        simulations: simulations run.
        nodes: nodes of the tree, or of all trees.
        principal_variation: event codes (see `engine.layout`) of what is expected to follow: the
            edges visited most, as the searching player perceives them; of the first tree where
            there are more.
    """

    actions: npt.NDArray[np.int64]
    visits: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    simulations: int
    nodes: int
    principal_variation: tuple[int, ...]


@dataclass(frozen=True)
class SearchSettings:
    """Settings of a search; see `SearchAgent` for what they mean."""

    exploration: float
    rollout: int
    horizon: int
    widening: float
    power: float
    order: int
    refine: int = 1
    evaluation: str = HEURISTIC

    def weights(self) -> Weights:
        """Of the fitted value function, which may order and believe where the heuristic rates."""
        return load_weights(FITTED if self.evaluation == HEURISTIC else self.evaluation)


class Tree:
    """One search in progress: nodes and counters. Grows as it needs to.

    Args:
        observation: what the root player may know; he is to move.
        kind: `engine.SINGLE_OBSERVER`, `MULTIPLE_OBSERVER`, or `FIXED_WORLD`.
        settings: settings.
        seed: seed of the search's own generator; equal seeds give equal trees.
        world: the state that is searched as if it were known, for `FIXED_WORLD`.
        belief: probability of each seat to be Jack, float64, shape `(seats,)`; the exact weights
            by default.
    """

    def __init__(
        self,
        observation: Observation,
        kind: int,
        settings: SearchSettings,
        seed: int,
        world: State | None = None,
        belief: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self._observation = observation
        self._tables = build_tables(observation.variant)
        self._stopped = False
        position = observation if world is None else world
        self._position: Words = position.position_words().copy()
        self._settings_words = np.zeros(engine.SETTINGS.itemsize // 8, np.uint64)
        self._settings["exploration"] = settings.exploration
        self._settings["widening"] = settings.widening
        self._settings["widening_power"] = settings.power
        self._settings["order"] = settings.order
        self._settings["refine"] = settings.refine
        self._settings["evaluation"] = (
            engine.EVALUATION_HEURISTIC
            if settings.evaluation == HEURISTIC
            else engine.EVALUATION_FITTED
        )
        self._weights = settings.weights()
        self._settings["kind"] = kind
        self._settings["rollout"] = settings.rollout
        self._settings["horizon"] = settings.horizon
        self._settings["player"] = observation.player
        cumulative = np.cumsum(identity_probabilities(observation) if belief is None else belief)
        cumulative[cumulative >= cumulative[-1]] = np.inf  # nobody after the last possible one
        self._settings["cumulative_belief"][: len(cumulative)] = cumulative
        self._settings["generator"]["state"] = seed
        self._nodes = np.zeros(_FIRST_NODES * engine.NODE_WORDS, np.uint64)
        self._nodes.view(engine.NODE)[0]["first_child"] = -1  # a tree that was never run is empty

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_tables"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        # The shared ones, which are read-only: for an array of its own numba compiles anew.
        self._tables = build_tables(self._observation.variant)

    @property
    def _settings(self) -> npt.NDArray[np.void]:
        """Fields of the words; not kept, since a pickled copy would be no view of them."""
        settings: npt.NDArray[np.void] = self._settings_words.view(engine.SETTINGS)[0]
        return settings

    def carry_over(self, earlier: Tree) -> None:
        """Begin with what an earlier search of the same game found below this observation.

        Does nothing unless the earlier root lies on the way here and its tree reached this far.
        Only for one tree that is rooted in what its player perceives.
        """
        before, now = earlier._observation, self._observation
        known = len(before.events)
        if (
            before.variant != now.variant
            or before.player != now.player
            or known >= len(now.events)
            or before.events != now.events[:known]
        ):
            return
        nodes = earlier._nodes.view(engine.NODE)
        at = 0
        for code in now.events[known:]:
            if EVENT_ALIBI <= code < EVENT_WITNESS:
                code = EVENT_ALIBI + code % 16  # a tree does not tell who drew
            at = next((child for child in _children(nodes, at) if nodes[child]["edge"] == code), -1)
            if at < 0:
                return
        self._nodes = np.zeros_like(earlier._nodes)
        self._settings["nodes"] = engine.extract_subtree(earlier._nodes, at, self._nodes)
        self._settings["simulations"] = nodes[at]["visits"]

    def run(self, simulations: int) -> int:
        """Run simulations.

        Returns:
            How many were run: fewer when the tree is full, or another thread called `stop`.
        """
        done = 0
        while not self._stopped:
            share = min(simulations - done, _MOST_A_CALL)
            ran = engine.search(
                self._position,
                self._tables,
                self._weights,
                self._settings_words,
                self._nodes,
                share,
            )
            done += ran
            if done == simulations:
                return done
            if ran == share:
                continue
            if len(self._nodes) >= _MOST_NODES * engine.NODE_WORDS:
                return done
            larger = np.zeros(2 * len(self._nodes), np.uint64)
            larger[: len(self._nodes)] = self._nodes
            self._nodes = larger
        return done

    def stop(self) -> None:
        """Let `run` and `run_for` return soon; to be called from another thread."""
        self._stopped = True

    def run_for(self, seconds: float) -> None:
        """Run simulations for so long, to within a few milliseconds."""
        end = clock.perf_counter() + seconds
        batch = 1
        while True:
            started = clock.perf_counter()
            full = self.run(batch) < batch
            now = clock.perf_counter()
            # Look at the clock about once a millisecond, whatever a simulation costs.
            faster = min(2.0, _SECONDS_A_CALL / max(now - started, 1e-6))
            batch = max(1, int(batch * faster))
            if full or now >= end - _SECONDS_A_CALL / 2:
                return

    def nodes_in_use(self) -> bytes:
        """The tree as bytes: equal searches have equal ones."""
        return self._nodes[: int(self._settings["nodes"]) * engine.NODE_WORDS].tobytes()

    def statistics(self) -> RootStatistics:
        """Visits and values of the legal actions."""
        nodes = self._nodes.view(engine.NODE)
        actions = np.array(self._observation.actions, np.int64)
        index = {int(action): n for n, action in enumerate(actions)}
        visits = np.zeros(len(actions), np.int64)
        values = np.full(len(actions), np.nan)
        sign = 1.0 if self._observation.player == DETECTIVE else -1.0
        for child in _children(nodes, 0):
            node = nodes[child]
            at = index[int(node["edge"])]
            visits[at] = node["visits"]
            if node["visits"]:
                values[at] = sign * node["value"] / node["visits"]
        return RootStatistics(
            actions=actions,
            visits=visits,
            values=values,
            simulations=int(self._settings["simulations"]),
            nodes=int(self._settings["nodes"]),
            principal_variation=self._principal_variation(),
        )

    def _principal_variation(self) -> tuple[int, ...]:
        """The edges visited most, as long as a fair share of the simulations went there."""
        nodes = self._nodes.view(engine.NODE)
        least = max(2, int(self._settings["simulations"]) // 50)
        edges: list[int] = []
        at = 0
        while True:
            visited = {child: int(nodes[child]["visits"]) for child in _children(nodes, at)}
            at = max(visited, key=visited.__getitem__, default=-1)  # the first of equals
            if at < 0 or visited[at] < least:
                return tuple(edges)
            edges.append(int(nodes[at]["edge"]))


def _children(nodes: npt.NDArray[np.void], parent: int) -> Iterator[int]:
    """Indices of a node's children."""
    child = int(nodes[parent]["first_child"])
    while child >= 0:
        yield child
        child = int(nodes[child]["next_sibling"])


def split(simulations: int, parts: int) -> list[int]:
    """A budget in parts as equal as can be, none of them empty: fewer where it is too small."""
    parts = min(parts, simulations)
    return [simulations // parts + (part < simulations % parts) for part in range(parts)]


def add_up(parts: Sequence[RootStatistics]) -> RootStatistics:
    """Statistics of several searches of one root taken together."""
    visits = np.sum([part.visits for part in parts], axis=0)
    totals = np.sum([np.nan_to_num(part.values) * part.visits for part in parts], axis=0)
    values = np.full(len(visits), np.nan)
    np.divide(totals, visits, out=values, where=visits > 0)
    return RootStatistics(
        actions=parts[0].actions,
        visits=visits,
        values=values,
        simulations=sum(part.simulations for part in parts),
        nodes=sum(part.nodes for part in parts),
        principal_variation=parts[0].principal_variation,
    )
