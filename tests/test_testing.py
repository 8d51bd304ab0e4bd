"""The conformance kit: built-in agents pass, broken ones are found out."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from mrjack_ai import Agent, AgentError, Observation
from mrjack_ai.agents import agent_class, agent_names, make_agent
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.testing import check_agent

SEARCHERS = ("pimc", "ismcts", "mo-ismcts", "omniscient")
BUILT_IN = ("random", "cautious", "greedy", *(f"{name}:sims=40" for name in SEARCHERS))


@pytest.mark.parametrize("spec", BUILT_IN)
def test_built_in_agents_keep_the_contract(spec: str) -> None:
    report = check_agent(partial(make_agent, spec), games=1)
    assert report.games == 5 * 2 * 2
    assert report.decisions > 40
    assert report.slowest > 0
    assert report.has_policy


def test_every_built_in_agent_is_checked() -> None:
    checked = {spec.partition(":")[0] for spec in BUILT_IN}
    ours = {name for name in agent_names() if agent_class(name).__module__.startswith("mrjack_ai.")}
    assert ours == checked | {
        "cmd",
        "equilibrium",
        "openspiel",
    }  # see test_command, test_lab, test_bots


class First(Agent):
    def act(self, observation: Observation) -> int:
        return observation.actions[0]


class Illegal(First):
    def act(self, observation: Observation) -> int:
        return observation.actions[-1] + 1


class Text(First):
    def act(self, observation: Observation) -> int:
        return observation.action_to_string(observation.actions[0])  # type: ignore[return-value]


class PythonRandom(First):
    def act(self, observation: Observation) -> int:
        return random.choice(observation.actions)


class NumpyRandom(First):
    def act(self, observation: Observation) -> int:
        return observation.actions[np.random.randint(len(observation.actions))]  # noqa: NPY002


class OwnClock(First):
    def act(self, observation: Observation) -> int:
        rng = np.random.default_rng(time.perf_counter_ns())
        return observation.actions[rng.integers(len(observation.actions))]


class Unpicklable(First):
    def __init__(self) -> None:
        self.secret = lambda: 1


class Slow(First):
    def act(self, observation: Observation) -> int:
        time.sleep(0.05)
        return observation.actions[0]


class Meddler(First):
    def act(self, observation: Observation) -> int:
        object.__setattr__(observation, "actions", observation.actions[:1])
        return observation.actions[0]


class NoDistribution(First):
    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        return np.ones(len(observation.actions)) * 2


class WrongShape(First):
    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        return np.ones(1)


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        (Illegal, "not legal"),
        (Text, "no action id"),
        (PythonRandom, "global randomness"),
        (NumpyRandom, "global randomness"),
        (OwnClock, "differently with equal generators"),
        (Unpicklable, "cannot be pickled"),
        (Slow, "took 0"),
        (Meddler, "changed the observation"),
        (NoDistribution, "no distribution"),
        (WrongShape, "shape"),
        (lambda: "greedy", "no Agent"),
    ],
)
def test_broken_agents_are_found_out(factory: Callable[[], Agent], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        check_agent(factory, seconds=0.02 if factory is Slow else None)


def test_global_randomness_is_put_back() -> None:
    before = (random.random, np.random.randint)
    report = check_agent(First, variants=[make_variant("mews", "SH+JB", 2)], games=1)
    assert (random.random, np.random.randint) == before
    assert not report.has_policy
