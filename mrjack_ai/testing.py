"""A conformance kit for agents: does an agent keep its contract?

    from mrjack_ai.testing import check_agent
    check_agent(MyAgent)

Use it in the tests of your own agent; the built-in agents are checked with it too.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from unittest import mock

import numpy as np

from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.random import RandomAgent
from mrjack_ai.errors import AgentError
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import PLAYER_NAMES, Variant, make_variant
from mrjack_ai.tournament.deals import make_deal

GLOBAL_RANDOMNESS: tuple[tuple[object, str], ...] = (
    *((random, name) for name in ("random", "randint", "randrange", "choice", "choices")),
    *((random, name) for name in ("sample", "shuffle", "uniform", "gauss", "seed")),
    *((np.random, name) for name in ("random", "rand", "randint", "randn", "choice")),
    *((np.random, name) for name in ("shuffle", "permutation", "uniform", "normal", "seed")),
)
"""Module-level functions whose hidden state would make games unrepeatable."""


def default_variants() -> tuple[Variant, ...]:
    """The standard game, and small ones with casts of 8, 4 and 2."""
    return (
        Variant(),
        make_variant("mews", turns=4),
        make_variant("mews", "SH+JW+SG+WG", 5, "jack"),
        make_variant("mews", "SH+JB", 3),
        make_variant("mews", "JW+SG", 4),
    )


@dataclass(frozen=True)
class AgentReport:
    """What a check found out about an agent that keeps its contract.

    Attributes:
        games: games played.
        decisions: decisions it made.
        slowest: seconds its slowest decision took.
        has_policy: whether it can say its policy.
    """

    games: int
    decisions: int
    slowest: float
    has_policy: bool


def check_agent(
    factory: Callable[[], Agent],
    variants: Sequence[Variant] | None = None,
    games: int = 2,
    seconds: float | None = None,
    seed: int = 1,
) -> AgentReport:
    """Play an agent from both sides against `random` and check its contract.

    Checked are: it returns legal actions and nothing else; equal generators give equal games; it
    uses no global randomness (`random`, `numpy.random`); it leaves observations alone; it can be
    pickled before a game; its policy, if it has one, is a distribution over the legal actions;
    and, if `seconds` is given, that no decision takes longer.

    Args:
        factory: builds the agent; called several times.
        variants: what to play; `default_variants()` if None.
        games: deals a variant; each is played from both sides, twice.
        seconds: limit a decision, or None.
        seed: seed of the deals and generators.

    Returns:
        What was measured on the way.

    Raises:
        AgentError: naming what is wrong, the variant, and the position.
    """
    agent = factory()
    if not isinstance(agent, Agent):
        raise AgentError(f"the factory returns {agent!r}, which is no Agent")
    try:
        pickle.loads(pickle.dumps(agent))
    except Exception as error:
        raise AgentError(f"{type(agent).__name__} cannot be pickled: {error}") from error
    check = _Check(factory, seconds)
    for variant in default_variants() if variants is None else variants:
        for number in range(games):
            for player in (0, 1):
                with _no_global_randomness(type(agent).__name__):
                    first = check.play(variant, player, (seed, number))
                    again = check.play(variant, player, (seed, number))
                if first != again:
                    raise AgentError(
                        f"{type(agent).__name__} plays two games differently with equal generators "
                        f"({PLAYER_NAMES[player]}, {variant.board.name}, {variant.cast}): "
                        f"{first} and {again}"
                    )
    return AgentReport(check.games, check.decisions, check.slowest, check.has_policy)


@contextlib.contextmanager
def _no_global_randomness(name: str) -> Iterator[None]:
    def forbidden(*arguments: object, **keywords: object) -> None:
        raise AgentError(f"{name} uses global randomness; take what is random from self.rng")

    with contextlib.ExitStack() as stack:
        for module, function in GLOBAL_RANDOMNESS:
            stack.enter_context(mock.patch.object(module, function, forbidden))
        yield


class _Check:
    def __init__(self, factory: Callable[[], Agent], seconds: float | None) -> None:
        self.factory = factory
        self.seconds = seconds
        self.games = self.decisions = 0
        self.slowest = 0.0
        self.has_policy = False

    def play(self, variant: Variant, player: int, seed: tuple[int, int]) -> list[str]:
        """One game against `random`; returns its history."""
        generators = [np.random.default_rng((*seed, who)) for who in (0, 1)]
        deal = make_deal(variant, np.random.default_rng((*seed, 2)))
        agents: list[Agent] = [RandomAgent(), RandomAgent()]
        agents[player] = self.factory()
        for who, agent in enumerate(agents):
            agent.start(variant, who, generators[who])
        state = new_game(variant)
        while not state.is_terminal():
            mover = state.current_player()
            if mover < 0:
                state.apply_action(deal.outcome(state))
            elif mover != player:
                state.apply_action(agents[mover].act(state.observation()))
            else:
                state.apply_action(self.decide(agents[player], state))
        self.games += 1
        return state.history_strings()

    def decide(self, agent: Agent, state: State) -> int:
        name, observation = type(agent).__name__, state.observation()
        before = copy.deepcopy((observation.position, observation.actions, observation.events))
        if type(agent).cheats:
            agent.see(state.clone())
        started = time.perf_counter()
        action = agent.act(observation)
        took = time.perf_counter() - started
        self.decisions += 1
        self.slowest = max(self.slowest, took)
        if isinstance(action, bool) or not isinstance(action, (int, np.integer)):
            raise AgentError(f"{name} returns {action!r}, which is no action id, in {observation}")
        if action not in observation.actions:
            raise AgentError(f"{name} returns {action}, which is not legal, in {observation}")
        if self.seconds is not None and took > self.seconds:
            raise AgentError(f"{name} took {took:.2f} s for a decision in {observation}")
        if before != (observation.position, observation.actions, observation.events):
            raise AgentError(f"{name} changed the observation it was given: {observation}")
        if self.decisions % 7 == 1:
            self.check_policy(agent, observation)
        return int(action)

    def check_policy(self, agent: Agent, observation: Observation) -> None:
        """On a copy, so that what the agent draws for it does not change the game."""
        try:
            policy = copy.deepcopy(agent).policy(observation)
        except NotImplementedError:
            return
        self.has_policy = True
        policy = np.asarray(policy)
        if policy.shape != (len(observation.actions),):
            raise AgentError(f"policy has shape {policy.shape}, not one entry a legal action")
        if not np.all(policy >= 0) or not np.isclose(policy.sum(), 1.0):
            raise AgentError(f"policy {policy} is no distribution, in {observation}")
