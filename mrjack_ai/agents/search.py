"""Agents that search: `pimc`, `ismcts`, `mo-ismcts` and the cheating `omniscient`."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.base import Agent
from mrjack_ai.belief import determinize, possible_identities
from mrjack_ai.engine import search as engine
from mrjack_ai.game import State
from mrjack_ai.observation import Observation
from mrjack_ai.tables import Words, build_tables
from mrjack_ai.variant import DETECTIVE

ROLLOUTS = {
    "none": engine.ROLLOUT_NONE,
    "random": engine.ROLLOUT_RANDOM,
    "cautious": engine.ROLLOUT_CAUTIOUS,
    "greedy": engine.ROLLOUT_GREEDY,
    "heuristic": engine.ROLLOUT_HEURISTIC,
    "turn": engine.ROLLOUT_TURN,
}
FINAL_CHOICES = ("visits", "value")
_FIRST_NODES = 4096
_MOST_NODES = 4_000_000
_SECONDS_A_CALL = 0.002


@dataclass(frozen=True)
class RootStatistics:
    """What a search found at its root.

    Attributes:
        actions: ids of the legal actions, ascending; shape `(n,)`, int64.
        visits: simulations through each; shape `(n,)`, int64.
        values: mean return of the searching player after each, -1 to 1, NaN without visits;
            shape `(n,)`, float64.
        simulations: simulations run.
        nodes: nodes of the tree.
    """

    actions: npt.NDArray[np.int64]
    visits: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    simulations: int
    nodes: int


class Tree:
    """One search: settings, nodes and counters; grows as it needs to.

    Args:
        observation: what the root player may know.
        world: a state to take for true, or None to sample from the observation.
    """

    def __init__(
        self,
        observation: Observation,
        kind: int,
        exploration: float,
        rollout: int,
        widening: float,
        widening_power: float,
        seed: int,
        ordered: bool = True,
        world: State | None = None,
    ) -> None:
        self._observation = observation
        self._tables = build_tables(observation.variant)
        position = observation if world is None else world
        self._position: Words = position.position_words().copy()
        self._settings_words = np.zeros(engine.SETTINGS.itemsize // 8, np.uint64)
        self._settings = self._settings_words.view(engine.SETTINGS)[0]
        self._settings["exploration"] = exploration
        self._settings["widening"] = widening
        self._settings["widening_power"] = widening_power
        self._settings["kind"] = kind
        self._settings["ordered"] = ordered
        self._settings["rollout"] = rollout
        self._settings["player"] = observation.player
        self._settings["possible"] = possible_identities(observation)
        self._settings["generator"] = seed
        self._nodes = np.zeros(_FIRST_NODES * engine.NODE_WORDS, np.uint64)

    def run(self, simulations: int) -> int:
        """Run simulations; returns how many were run, fewer only when memory is used up."""
        done = 0
        while done < simulations:
            done += engine.search(
                self._position,
                self._tables,
                self._settings_words,
                self._nodes,
                simulations - done,
            )
            if done < simulations and not self._grow():
                break
        return done

    def _grow(self) -> bool:
        if len(self._nodes) >= _MOST_NODES * engine.NODE_WORDS:
            return False
        larger = np.zeros(2 * len(self._nodes), np.uint64)
        larger[: len(self._nodes)] = self._nodes
        self._nodes = larger
        return True

    def statistics(self) -> RootStatistics:
        """Visits and values of the legal actions."""
        nodes = self._nodes.view(engine.NODE)
        actions = np.array(self._observation.actions, np.int64)
        index = {int(action): n for n, action in enumerate(actions)}
        visits = np.zeros(len(actions), np.int64)
        values = np.full(len(actions), np.nan)
        sign = 1.0 if self._observation.player == DETECTIVE else -1.0
        child = int(nodes[0]["first_child"])
        while child >= 0:
            node = nodes[child]
            at = index[int(node["edge"])]
            visits[at] = node["visits"]
            if node["visits"]:
                values[at] = sign * node["value"] / node["visits"]
            child = int(node["next_sibling"])
        return RootStatistics(
            actions=actions,
            visits=visits,
            values=values,
            simulations=int(self._settings["simulations"]),
            nodes=int(self._settings["nodes"]),
        )


class SearchAgent(Agent):
    """Shared by the agents that search; see its subclasses."""

    kind: int

    def __init__(
        self,
        sims: int = 1000,
        time: int = 0,
        c: float = 0.7,
        rollout: str = "greedy",
        widening: float = 4.0,
        power: float = 0.5,
        final: str = "visits",
        ordered: bool = True,
    ) -> None:
        if sims < 1 or time < 0:
            raise ValueError("sims must be at least 1 and time (ms) not negative")
        if rollout not in ROLLOUTS:
            raise ValueError(f"rollout {rollout!r} must be one of {', '.join(ROLLOUTS)}")
        if final not in FINAL_CHOICES:
            raise ValueError(f"final {final!r} must be one of {', '.join(FINAL_CHOICES)}")
        if c < 0 or widening <= 0 or not 0 <= power <= 1:
            raise ValueError("c must not be negative, widening positive, power from 0 to 1")
        self._simulations = sims
        self._seconds = time / 1000
        self._exploration = c
        self._rollout = ROLLOUTS[rollout]
        self._widening = widening
        self._power = power
        self._final = final
        self._ordered = ordered

    def act(self, observation: Observation) -> int:
        if len(observation.actions) == 1:
            return observation.actions[0]
        return int(observation.actions[self._best(self.search(observation))])

    def _best(self, found: RootStatistics) -> int:
        values = np.nan_to_num(found.values, nan=-2.0)
        keys = (values, found.visits) if self._final == "visits" else (found.visits, values)
        return int(np.lexsort(keys)[-1])

    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        """Share of visits of each legal action."""
        found = self.search(observation)
        policy: npt.NDArray[np.float64] = found.visits / found.visits.sum()
        return policy

    def search(self, observation: Observation) -> RootStatistics:
        """Search from an observation within the budget.

        Args:
            observation: of the player to move.
        """
        return self._spend(self._tree(observation), self._simulations, self._seconds)

    def _tree(self, observation: Observation, world: State | None = None) -> Tree:
        return Tree(
            observation,
            kind=self.kind if world is None else engine.FIXED_WORLD,
            exploration=self._exploration,
            rollout=self._rollout,
            widening=self._widening,
            widening_power=self._power,
            seed=int(self.rng.integers(2**63)),
            ordered=self._ordered,
            world=world,
        )

    def _spend(self, tree: Tree, simulations: int, seconds: float) -> RootStatistics:
        if seconds == 0:
            tree.run(simulations)
            return tree.statistics()
        started = time.perf_counter()
        batch = 8
        while True:
            before = time.perf_counter()
            if tree.run(batch) < batch:
                break
            now = time.perf_counter()
            # The clock is looked at every few milliseconds, whatever a simulation costs.
            batch = max(1, int(batch * min(2.0, _SECONDS_A_CALL / max(now - before, 1e-6))))
            if now - started + (now - before) / 2 >= seconds:
                break
        return tree.statistics()


class ISMCTSAgent(SearchAgent):
    """Information-set Monte Carlo tree search, one tree (Cowling, Powley, Whitehouse 2012)."""

    kind = engine.SINGLE_OBSERVER


class MultipleObserverISMCTSAgent(SearchAgent):
    """Information-set Monte Carlo tree search with one tree a player: neither tree sees what only
    the other player knows."""

    kind = engine.MULTIPLE_OBSERVER


class PIMCAgent(SearchAgent):
    """Perfect-information Monte Carlo: searches sampled worlds one by one and adds up the votes."""

    kind = engine.FIXED_WORLD

    def __init__(
        self,
        sims: int = 1000,
        time: int = 0,
        worlds: int = 16,
        c: float = 0.7,
        rollout: str = "greedy",
        widening: float = 4.0,
        power: float = 0.5,
        final: str = "visits",
    ) -> None:
        super().__init__(sims, time, c, rollout, widening, power, final)
        if worlds < 1:
            raise ValueError("worlds must be at least 1")
        self._worlds = worlds

    def search(self, observation: Observation) -> RootStatistics:
        """Search each sampled world with an equal share of the budget."""
        worlds = min(self._worlds, self._simulations)
        found = [
            self._spend(
                self._tree(observation, determinize(observation, self.rng)),
                max(1, self._simulations // worlds),
                self._seconds / worlds,
            )
            for _ in range(worlds)
        ]
        visits = np.sum([one.visits for one in found], axis=0)
        totals = np.sum([np.nan_to_num(one.values) * one.visits for one in found], axis=0)
        with np.errstate(invalid="ignore"):
            values = totals / visits
        return RootStatistics(
            actions=found[0].actions,
            visits=visits,
            values=values,
            simulations=sum(one.simulations for one in found),
            nodes=sum(one.nodes for one in found),
        )
