"""The policy of any agent on a public tree, and how exploitable it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.registry import make_agent
from mrjack_ai.errors import AgentError, LabError
from mrjack_ai.game.observation import Observation
from mrjack_ai.lab import sweeps
from mrjack_ai.lab.information_states import actions_at, complete, state_at
from mrjack_ai.lab.public_tree import PublicTree
from mrjack_ai.lab.solver import TreeEvaluator, Vector
from mrjack_ai.setup.variant import Player


@dataclass(frozen=True)
class AskedPolicy:
    """What an agent does in every information state of one player that it can reach.

    Attributes:
        player: the player.
        counts: how often each action was chosen, or its probability, by half of the samples:
            float64, shape `(2, entries)`, as `TreeEvaluator` lays policies out. The halves are
            equal where the agent told its policy.
        asked: how many information states.
        exact: True when the agent told its policy in each of them.
    """

    player: int
    counts: npt.NDArray[np.float64]
    asked: int
    exact: bool


@dataclass(frozen=True)
class SideExploitability:
    """What the best response to an agent on one side gets.

    Returns are those of the agent's opponent, -1 to 1. Where the agent was sampled, the true value
    lies between `low` and `high` in expectation: a response chosen on half of the samples and
    valued on the other half cannot do better than the best one, and the best response to all
    samples also exploits their noise.

    Attributes:
        player: the agent's side.
        low, high: the two estimates; equal when the policy was told.
        asked: in how many information states the agent was asked.
        samples: how often in each; 0 when it told its policy.
    """

    player: int
    low: float
    high: float
    asked: int
    samples: int


def ask_agent(
    evaluator: TreeEvaluator,
    agent: str | Agent,
    player: int,
    samples: int = 16,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> AskedPolicy:
    """Ask an agent for its choice in every information state it can reach.

    An agent that only acts is started anew each time, `samples` times; so what it would remember
    of its own earlier searches in a game does not count.

    Args:
        evaluator: of the public tree.
        agent: a specification, or an agent.
        player: the side to ask for.
        samples: how often an agent is asked that only acts; even.
        seed: of the agent's generators.
        progress: called with the level reached and the number of levels.

    Raises:
        AgentError: for an unknown agent, one that cheats, or one that chooses what is illegal.
        LabError: for an odd number of samples.
    """
    if samples < 2 or samples % 2:
        raise LabError(f"samples {samples} must be even, so that it has halves")
    made = make_agent(agent) if isinstance(agent, str) else agent
    if type(made).cheats:
        raise AgentError(f"agent {agent!r} is shown the truth; its policy is not one of this game")
    tells = type(made).act is Agent.act or type(made).plays_policy
    tree = evaluator.tree
    counts = np.zeros((2, evaluator.entries))
    policy = evaluator.uniform()
    asked = 0
    levels = len(tree.levels) - 1
    type(made).load()

    def sample(
        observation: Observation, at: int, private: int, number: int
    ) -> npt.NDArray[np.float64]:
        chosen = np.zeros(len(observation.actions))
        made.start(tree.variant, player, np.random.default_rng([seed, at, private, number]))
        if tells:
            return made.policy(observation)
        try:
            chosen[observation.actions.index(made.act(observation))] = 1
        except ValueError:
            raise AgentError(f"agent {agent!r} chose an action that is not legal") from None
        return chosen

    for level in range(levels):
        low, high = int(tree.levels[level]), int(tree.levels[level + 1])
        evaluator.reach_range(low, high, policy)
        for at in (low + np.flatnonzero(tree.nodes[low:high]["kind"] == player)).tolist():
            table = evaluator.table(counts, at)
            actions = actions_at(tree, at)
            for private in np.flatnonzero(evaluator.reach_of(player, at) > 0).tolist():
                if complete(tree, at, private) is None:
                    continue
                asked += 1
                observation = state_at(tree, at, private).observation(player)
                slots = np.searchsorted(actions, observation.actions)
                if len(slots) == 1:
                    table[:, slots, private] = 1
                elif tells:
                    table[:, slots, private] = sample(observation, at, private, 0)
                else:
                    for number in range(samples):
                        table[number % 2, slots, private] += sample(
                            observation, at, private, number
                        )
            total = table.sum(axis=0)
            with np.errstate(invalid="ignore"):
                shares = total / total.sum(axis=0)
            known = total.sum(axis=0) > 0
            evaluator.table(policy, at)[:, known] = shares[:, known]
        if progress is not None:
            progress(level + 1, levels)
    return AskedPolicy(player, counts, asked, tells)


def policy_of(evaluator: TreeEvaluator, asked: AskedPolicy, half: int | None = None) -> Vector:
    """The policy that an agent's choices amount to; uniform where it was not asked.

    Args:
        half: of one half of the samples only.
    """
    sums = asked.counts.sum(axis=0) if half is None else asked.counts[half]
    return evaluator.normalise(sums)


def side_exploitability(
    evaluator: TreeEvaluator, asked: AskedPolicy, samples: int
) -> SideExploitability:
    """What the best response to the agent gets."""
    opponent = 1 - asked.player
    high, _ = evaluator.best_response(opponent, policy_of(evaluator, asked))
    low = high
    if not asked.exact:
        found = []
        for half in (0, 1):
            _, response = evaluator.best_response(opponent, policy_of(evaluator, asked, half))
            other = policy_of(evaluator, asked, 1 - half)
            mixed = evaluator.combine(other, response, opponent)
            evaluator.pass_down(mixed)
            found.append(evaluator.pass_up(opponent, sweeps.Task.EXPECT, mixed))
        low = sum(found) / 2
    return SideExploitability(asked.player, low, high, asked.asked, 0 if asked.exact else samples)


def exploit(
    tree: PublicTree,
    agent: str | Agent,
    samples: int = 16,
    seed: int = 1,
    players: tuple[int, ...] = (Player.DETECTIVE, Player.JACK),
    progress: Callable[[int, int], None] | None = None,
) -> list[SideExploitability]:
    """The exact best response to an agent, on each side.

    Args:
        tree: the public tree of a variant.
        agent: its specification, or an agent.
        samples, seed: see `ask_agent`.
        players: the sides to examine.
        progress: called with the levels done, over both sides, and their number.

    Raises:
        AgentError, LabError: as `ask_agent`.
    """
    evaluator = TreeEvaluator(tree)
    found = []
    for number, player in enumerate(players):

        def report(done: int, levels: int, number: int = number) -> None:
            if progress is not None:
                progress(number * levels + done, levels * len(players))

        asked = ask_agent(evaluator, agent, player, samples, seed, report)
        found.append(side_exploitability(evaluator, asked, samples))
    return found
