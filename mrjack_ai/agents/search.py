"""Agents that search: `pimc`, `ismcts`, `mo-ismcts`, and the cheating `omniscient`."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.greedy import TIE
from mrjack_ai.belief import determinize, possible_identities
from mrjack_ai.engine import search as engine
from mrjack_ai.engine import tactics
from mrjack_ai.engine.greedy import rate_actions
from mrjack_ai.engine.layout import STATE
from mrjack_ai.game import State
from mrjack_ai.observation import Observation
from mrjack_ai.tables import Words, build_tables
from mrjack_ai.variant import DETECTIVE, JACK

ROLLOUTS: dict[str, int] = {
    "none": engine.ROLLOUT_NONE,
    "random": engine.ROLLOUT_RANDOM,
    "cautious": engine.ROLLOUT_CAUTIOUS,
    "greedy": engine.ROLLOUT_GREEDY,
}
FINAL_CHOICES: tuple[str, ...] = ("visits", "value")
_FIRST_NODES = 4096
_MOST_NODES = 4_000_000
_SECONDS_A_CALL = 0.001


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
        line: event codes (see `engine.layout`) of what is expected to follow: the edges visited
            most, as the searching player perceives them; of the first tree where there are more.
    """

    actions: npt.NDArray[np.int64]
    visits: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    simulations: int
    nodes: int
    line: tuple[int, ...]


@dataclass(frozen=True)
class SearchSettings:
    """Settings of a search; see `SearchAgent` for what they mean."""

    exploration: float
    rollout: int
    horizon: int
    widening: float
    power: float
    ordered: bool


class Tree:
    """One search in progress: nodes and counters. Grows as it needs to.

    Args:
        observation: what the root player may know; he is to move.
        kind: `engine.SINGLE_OBSERVER`, `MULTIPLE_OBSERVER`, or `FIXED_WORLD`.
        settings: settings.
        seed: seed of the search's own generator; equal seeds give equal trees.
        world: the state that is searched as if it were known, for `FIXED_WORLD`.
    """

    def __init__(
        self,
        observation: Observation,
        kind: int,
        settings: SearchSettings,
        seed: int,
        world: State | None = None,
    ) -> None:
        self._observation = observation
        self._tables = build_tables(observation.variant)
        position = observation if world is None else world
        self._position: Words = position.position_words().copy()
        self._settings_words = np.zeros(engine.SETTINGS.itemsize // 8, np.uint64)
        self._settings = self._settings_words.view(engine.SETTINGS)[0]
        self._settings["exploration"] = settings.exploration
        self._settings["widening"] = settings.widening
        self._settings["widening_power"] = settings.power
        self._settings["ordered"] = settings.ordered
        self._settings["kind"] = kind
        self._settings["rollout"] = settings.rollout
        self._settings["horizon"] = settings.horizon
        self._settings["player"] = observation.player
        self._settings["possible"] = possible_identities(observation)
        self._settings["generator"] = seed
        self._nodes = np.zeros(_FIRST_NODES * engine.NODE_WORDS, np.uint64)

    def run(self, simulations: int) -> int:
        """Run simulations; returns how many were run, fewer only when the tree is full."""
        done = 0
        while True:
            done += engine.search(
                self._position,
                self._tables,
                self._settings_words,
                self._nodes,
                simulations - done,
            )
            if done == simulations or len(self._nodes) >= _MOST_NODES * engine.NODE_WORDS:
                return done
            larger = np.zeros(2 * len(self._nodes), np.uint64)
            larger[: len(self._nodes)] = self._nodes
            self._nodes = larger

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
            line=self._line(),
        )

    def _line(self) -> tuple[int, ...]:
        """The edges visited most, as long as a fair share of the simulations went there."""
        nodes = self._nodes.view(engine.NODE)
        least = max(2, int(self._settings["simulations"]) // 50)
        line: list[int] = []
        at = 0
        while True:
            best, child = -1, int(nodes[at]["first_child"])
            while child >= 0:
                if best < 0 or nodes[child]["visits"] > nodes[best]["visits"]:
                    best = child
                child = int(nodes[child]["next_sibling"])
            if best < 0 or nodes[best]["visits"] < least:
                return tuple(line)
            line.append(int(nodes[best]["edge"]))
            at = best


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
        line=parts[0].line,
    )


class SearchAgent(Agent):
    """What the searching agents share.

    Args:
        sims: simulations a decision; not used when `time` is given.
        time: milliseconds a decision; 0 counts simulations instead.
        c: exploration constant of UCB, for returns of -1 to 1.
        rollout: how a new leaf is played out: `none`, `random`, `cautious` or `greedy` (takes a
            certain accusation and an escape at once, and accuses in no other case).
        horizon: calls for witnesses to play through before the rule of thumb guesses the value;
            8 plays every game to its end.
        widening, power: a node has at most `widening * visits ** power` actions under
            consideration.
        ordered: consider actions in the order of the rule of thumb instead of at random.
        final: choose the action with the most `visits`, or the best `value`.
        threads: search so many trees at once and add them up (root parallelism).

    Raises:
        ValueError: when a setting makes no sense.
    """

    kind: int

    def __init__(
        self,
        sims: int = 1000,
        time: int = 0,
        c: float = 0.7,
        rollout: str = "greedy",
        horizon: int = 1,
        widening: float = 1.0,
        power: float = 0.5,
        ordered: bool = True,
        final: str = "visits",
        threads: int = 1,
    ) -> None:
        if sims < 1 or time < 0 or threads < 1:
            raise ValueError("sims and threads must be at least 1 and time (ms) not negative")
        if rollout not in ROLLOUTS:
            raise ValueError(f"rollout {rollout!r} must be one of {', '.join(ROLLOUTS)}")
        if final not in FINAL_CHOICES:
            raise ValueError(f"final {final!r} must be one of {', '.join(FINAL_CHOICES)}")
        if not 0 <= c < 1000 or not 0 < widening < 1e9 or not 0 <= power <= 1 or horizon < 1:
            raise ValueError(
                "c must not be negative, widening must be positive, power from 0 to 1, and "
                "horizon at least 1"
            )
        self._simulations = sims
        self._seconds = time / 1000
        self._final = final
        self._threads = threads
        self._settings = SearchSettings(c, ROLLOUTS[rollout], horizon, widening, power, ordered)

    def act(self, observation: Observation) -> int:
        if len(observation.actions) == 1:
            return observation.actions[0]
        possible = self._possible(observation)
        wins = certain_wins(observation, possible)
        if wins:
            return wins[int(self.rng.integers(len(wins)))]
        found = self.search(observation)
        losses = avoidable_losses(observation, possible)
        allowed = np.isin(found.actions, losses, invert=True)
        values = np.nan_to_num(found.values, nan=-2.0)
        keys = (values, found.visits) if self._final == "visits" else (found.visits, values)
        return int(found.actions[np.lexsort((*keys, allowed))[-1]])

    def _possible(self, observation: Observation) -> int:
        return possible_identities(observation)

    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        """Share of the simulations that went through each legal action."""
        found = self.search(observation)
        policy: npt.NDArray[np.float64] = found.visits / found.visits.sum()
        return policy

    def search(self, observation: Observation) -> RootStatistics:
        """Search from an observation of the player to move, within the budget."""
        return self._search(observation, None, self._simulations, self._seconds)

    def _search(
        self, observation: Observation, world: State | None, simulations: int, seconds: float
    ) -> RootStatistics:
        trees = [
            Tree(observation, self.kind, self._settings, int(self.rng.integers(2**63)), world)
            for _ in range(self._threads)
        ]
        share = max(1, simulations // self._threads)

        def run(tree: Tree) -> RootStatistics:
            if seconds:
                tree.run_for(seconds)
            else:
                tree.run(share)
            return tree.statistics()

        if len(trees) == 1:
            return run(trees[0])
        with ThreadPoolExecutor(len(trees)) as pool:
            return add_up(list(pool.map(run, trees)))


class ISMCTSAgent(SearchAgent):
    """Information-set Monte Carlo tree search with one tree (single observer).

    Cowling, Powley, Whitehouse: Information Set Monte Carlo Tree Search, 2012.
    """

    kind = engine.SINGLE_OBSERVER


class MultipleObserverISMCTSAgent(SearchAgent):
    """Information-set Monte Carlo tree search with a tree for each player (multiple observers).

    What the Detective's tree expects of Jack comes from Jack's own tree, which begins with who he
    is; so his identity never leaks into the Detective's decisions. Source as `ISMCTSAgent`.
    """

    kind = engine.MULTIPLE_OBSERVER


class PIMCAgent(SearchAgent):
    """Perfect-information Monte Carlo: searches sampled worlds one by one and adds up the votes.

    Args:
        worlds: how many worlds share the budget; the others as `SearchAgent`.
    """

    kind = engine.FIXED_WORLD

    def __init__(
        self,
        sims: int = 1000,
        time: int = 0,
        worlds: int = 16,
        c: float = 0.7,
        rollout: str = "greedy",
        horizon: int = 1,
        widening: float = 1.0,
        power: float = 0.5,
        ordered: bool = True,
        final: str = "visits",
        threads: int = 1,
    ) -> None:
        super().__init__(sims, time, c, rollout, horizon, widening, power, ordered, final, threads)
        if worlds < 1:
            raise ValueError("worlds must be at least 1")
        self._worlds = worlds

    def search(self, observation: Observation) -> RootStatistics:
        """Search each sampled world with an equal share of the budget."""
        worlds = min(self._worlds, self._simulations)
        parts = [
            self._search(
                observation,
                determinize(observation, self.rng),
                self._simulations // worlds,
                self._seconds / worlds,
            )
            for _ in range(worlds)
        ]
        return add_up(parts)


class OmniscientAgent(SearchAgent):
    """Monte Carlo tree search on the true state: a cheat, for upper bounds only.

    It takes part in a tournament only where cheats are allowed.
    """

    kind = engine.FIXED_WORLD
    cheats = True

    def see(self, state: State) -> None:
        """Look at the truth."""
        self._truth = state.clone()

    def _possible(self, observation: Observation) -> int:
        return 1 << int(self._truth.position_words().view(STATE)[0]["jack"])

    def search(self, observation: Observation) -> RootStatistics:
        """Search the state seen last."""
        return self._search(observation, self._truth, self._simulations, self._seconds)


def certain_wins(observation: Observation, possible: int) -> list[int]:
    """Actions that begin a play which wins for certain: an escape, a certain accusation.

    Args:
        observation: of the player to move.
        possible: mask of the identities he holds possible.
    """
    if observation.player == DETECTIVE:
        if possible.bit_count() != 1:
            return []
    elif observation.witness_seen:
        return []
    ratings = np.empty(len(observation.actions))
    tables = build_tables(observation.variant)
    rate_actions(observation.position_words(), tables, possible, ratings)
    if ratings.max() < 1.0 - TIE:
        return []
    return [observation.actions[n] for n in np.flatnonzero(ratings >= 1.0 - TIE)]


def avoidable_losses(observation: Observation, possible: int) -> list[int]:
    """Actions after which the opponent certainly wins with his next card, if others are better.

    Looked for where the player to move knows who Jack is: always as Jack (who is caught for
    certain only when everybody else is cleared), as the Detective when one suspect is left.

    Args:
        observation: of the player to move.
        possible: mask of the identities he holds possible.

    Returns:
        The losing actions; empty when all lose, or none.
    """
    if possible.bit_count() != 1:
        return []
    if observation.player == JACK and len(observation.suspects()) > 4:
        return []  # no single call for witnesses is likely to clear so many
    words = observation.position_words()
    record = words.view(STATE)[0]
    record["jack"] = possible.bit_length() - 1
    judged = np.empty(len(observation.actions), np.int64)
    tactics.judge_actions(words, build_tables(observation.variant), judged)
    losing = [observation.actions[n] for n in np.flatnonzero(judged == tactics.LOSING)]
    return [] if len(losing) == len(observation.actions) else losing
