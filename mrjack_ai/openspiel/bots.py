"""Bots both ways: our agents as `pyspiel.Bot`, OpenSpiel's bots as our agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from mrjack_ai.agents.base import Agent
from mrjack_ai.common.numbers import SEEDS, WholeNumbers
from mrjack_ai.common.text import shown
from mrjack_ai.errors import ArgumentError, IllegalChoiceError
from mrjack_ai.game.belief import determinize
from mrjack_ai.game.observation import Observation
from mrjack_ai.openspiel.game import MrJackGame, MrJackState, load_game
from mrjack_ai.setup.variant import Variant, checked_player

_WHOLE_NUMBERS = WholeNumbers(0, 2**63)


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """One of our agents as an OpenSpiel bot.

    Args:
        game: the loaded game, `pyspiel.load_game("mrjack")`.
        player_id: 0 (Detective) or 1 (Jack).
        agent: the agent; it sees observations only.
        seed: seed of the agent's generator; equal seeds play equal games.

    Raises:
        ArgumentError: when the player is neither 0 nor 1, `agent` is no `Agent`, or the seed is
            out of range.
    """

    def __init__(self, game: MrJackGame, player_id: int, agent: Agent, seed: int = 0) -> None:
        pyspiel.Bot.__init__(self)
        if not isinstance(agent, Agent):
            raise ArgumentError(
                f"{shown(agent)} is no Agent; make_agent(...) builds one from its name"
            )
        self._game = game
        self._player_id = checked_player(player_id, "player_id")
        self._agent = agent
        self._seeds = np.random.SeedSequence(SEEDS.read(seed, "seed"))
        self.restart()

    def player_id(self) -> int:
        """The player this bot plays."""
        return self._player_id

    def restart(self) -> None:
        """Start a new game with fresh randomness."""
        rng = np.random.default_rng(self._seeds.spawn(1)[0])
        self._agent.start(self._game.variant, self._player_id, rng)

    def restart_at(self, state: MrJackState) -> None:
        """Go on from a state: agents keep nothing that an observation does not tell them."""
        self.restart()

    def provides_force_action(self) -> bool:
        """True: an action chosen from outside does not disturb the agent."""
        return True

    def force_action(self, state: MrJackState, action: int) -> None:
        """Nothing to do: the next observation tells."""

    def provides_policy(self) -> bool:
        """True when the agent can say its policy."""
        return type(self._agent).policy is not Agent.policy

    def step(self, state: MrJackState) -> int:
        """The agent's action."""
        return self._agent.act(state.observation(self._player_id))

    def get_policy(self, state: MrJackState) -> list[tuple[int, float]]:
        """Actions and their probabilities.

        Raises:
            NotImplementedError: by an agent that only acts.
        """
        observation = state.observation(self._player_id)
        policy = self._agent.policy(observation)
        return list(zip(observation.actions, map(float, policy), strict=True))

    def step_with_policy(self, state: MrJackState) -> tuple[list[tuple[int, float]], int]:
        """The policy and an action."""
        return self.get_policy(state), self.step(state)


class BotAgent(Agent):
    """An OpenSpiel bot as one of our agents.

    The bot is shown a state that is sampled, with its exact weight, from those its player cannot
    tell apart. A bot that looks only at its information state plays as it would in OpenSpiel; one
    that looks at the whole state plays against that sample, and never sees the truth.

    A bot that wants to be told every action (`inform_action`) is told, before each of its
    decisions, what others and chance have done since the last one. What its player cannot know of
    that - Jack's card, the other's alibi cards - is told as it is in the sample of that decision,
    and samples of later decisions may differ.

    The bot and its game belong to the game in progress: they are left out when the agent is
    pickled or copied.

    Args:
        make_bot: called at the start of each game with the OpenSpiel game, the player and a seed;
            returns the bot.
    """

    def __init__(self, make_bot: Callable[[MrJackGame, int, int], Any]) -> None:
        self._make_bot = make_bot

    def start(self, variant: Variant, player: int, rng: np.random.Generator) -> None:
        super().start(variant, player, rng)
        self._game = load_game(variant)
        self._bot = self._make_bot(self._game, player, int(rng.integers(2**31)))
        inform = getattr(type(self._bot), "inform_action", None)
        # What it inherits does nothing.
        self._informs = inform not in (None, pyspiel.Bot.inform_action)
        self._told = 0

    def act(self, observation: Observation) -> int:
        state = self._game.new_initial_state()
        history = determinize(observation, self.rng).history()
        for number, action in enumerate(history):
            mover = state.current_player()
            if self._informs and number >= self._told and mover != self.player:
                self._bot.inform_action(state, mover, action)
            state.apply_action(action)
        self._told = len(history)
        chosen = self._bot.step(state)
        action = _WHOLE_NUMBERS.read(
            chosen, f"{type(self._bot).__name__}: its action", IllegalChoiceError
        )
        if action not in observation.actions:
            raise IllegalChoiceError(
                f"{type(self._bot).__name__} chose {action}, which is not legal"
            )
        return action

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_bot", "_game")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}
