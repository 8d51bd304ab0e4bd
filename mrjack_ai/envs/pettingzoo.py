"""The game as a PettingZoo environment of two agents in turn (AEC): `env()`.

from mrjack_ai.envs.pettingzoo import env
game = env(render_mode="ansi")
game.reset(seed=1)
for agent in game.agent_iter():
    observation, reward, termination, truncation, info = game.last()
    action = None
    if not (termination or truncation):
        action = game.action_space(agent).sample(observation["action_mask"])
    game.step(action)
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mrjack_ai.common.numbers import SEEDS, WholeNumbers, Words
from mrjack_ai.common.text import shown
from mrjack_ai.errors import ArgumentError, NotResetError, VariantError
from mrjack_ai.game.actions import action_space
from mrjack_ai.game.observation import Observation, tensor_size
from mrjack_ai.game.state import State, new_game
from mrjack_ai.render import board_text
from mrjack_ai.setup.board import Board
from mrjack_ai.setup.variant import FULL_CAST, MAX_TURNS, PLAYER_NAMES, Variant, make_variant

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError as error:
    raise ImportError(
        f"mrjack_ai.envs.pettingzoo needs PettingZoo ({error}): pip install 'pettingzoo>=1.24', or "
        "install mrjack_ai with its extra, as in pip install '.[envs]'"
    ) from error

RENDER_MODES = ("human", "ansi", "svg")
VIEWS = ("player", "all", *PLAYER_NAMES)
_AGENTS = Words(PLAYER_NAMES)
_MADE_BY_RESET = (
    "state_of_game",
    "agent_selection",
    "rewards",
    "terminations",
    "truncations",
    "infos",
    "_cumulative_rewards",
)


def env(**settings: Any) -> Any:
    """The environment in the wrappers that PettingZoo recommends for a game of this kind.

    They complain about actions outside the action space and calls out of order. An action that is
    not legal raises `IllegalActionError` and changes nothing.

    Args:
        settings: as `raw_env`.
    """
    wrapped = wrappers.AssertOutOfBoundsWrapper(raw_env(**settings))
    return wrappers.OrderEnforcingWrapper(wrapped)


class raw_env(AECEnv):  # type: ignore[misc]
    """Agents `detective` and `jack`; chance is drawn by the environment, seeded by `reset`.

    An observation is a dict: `observation`, float32 0s and 1s of shape (tensor_size,), is
    `Observation.observation_tensor`; `action_mask`, int8 of shape (num_actions,), has the legal
    actions, none for the agent who is not to move. Rewards are 0 until the game ends, then +1 for
    the winner and -1 for the loser.

    Args:
        variant: the variant; or describe it by `board`, `cast`, `turns`, `first` (see `Variant`).
        render_mode: "ansi", `render` returns text for a terminal; "human", it prints that text;
            "svg", it returns a picture as SVG text; None, nothing is rendered.
        view: what `render` shows: "player", what the agent to move may know, and at the end
            everything (the default: nobody looking on learns a secret); "detective" or "jack", what
            he may know; "all", the truth.

    Attributes:
        state_of_game: the `State`, which holds the truth; not part of any observation.

    Raises:
        ArgumentError: for an unknown render mode or view.
        VariantError, BoardError: when there is no such variant.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "mrjack_v1",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        variant: Variant | None = None,
        *,
        board: Board | str | Path = "whitechapel",
        cast: str | Iterable[str] = FULL_CAST,
        turns: int = MAX_TURNS,
        first: str = "detective",
        render_mode: str | None = None,
        view: str = "player",
    ) -> None:
        super().__init__()
        if render_mode is not None:
            render_mode = Words(RENDER_MODES).read(render_mode, "render_mode")
        if variant is None:
            variant = make_variant(board, cast, turns, first)
        if not isinstance(variant, Variant):
            raise VariantError(f"{shown(variant)} is no Variant; make_variant(...) builds one")
        self.variant = variant
        self.render_mode = render_mode
        self.view = Words(VIEWS).read(view, "view")
        self.possible_agents = list(PLAYER_NAMES)
        self.agents: list[str] = []
        actions = action_space(self.variant).num_actions
        size = tensor_size(self.variant)
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0.0, 1.0, (size,), np.float32),
                    "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self._actions = WholeNumbers(0, actions - 1)
        self._chance: np.random.Generator | None = None
        """Made by the first reset: copies of an environment that is new differ."""
        self.state_of_game: State

    def __getattr__(self, name: str) -> Any:
        """Only asked for what is not there."""
        if name in _MADE_BY_RESET:
            raise NotResetError(f"call reset() first: there is no {name} before")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def observation_space(self, agent: str) -> Any:
        """The space of an agent's observations; always the same object.

        Raises:
            ArgumentError: when there is no such agent.
        """
        return self.observation_spaces[_AGENTS.read(agent, "agent")]

    def action_space(self, agent: str) -> Any:
        """The space of an agent's actions: ids, legal or not; always the same object.

        Raises:
            ArgumentError: when there is no such agent.
        """
        return self.action_spaces[_AGENTS.read(agent, "agent")]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game.

        Args:
            seed: of all chance, 0 to 2^128-1; None goes on with the generator as it is, which is
                seeded by the operating system at first.
            options: not used.

        Raises:
            ArgumentError: for another seed.
        """
        if seed is not None:
            seed = SEEDS.read(seed, "seed")
        if seed is not None or self._chance is None:
            self._chance = np.random.default_rng(seed)
        self.state_of_game = new_game(self.variant)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._go_on()

    def _go_on(self) -> None:
        """Let chance decide until it is a player's turn or the game is over."""
        state, chance = self.state_of_game, self._chance
        assert chance is not None
        while state.is_chance_node():
            outcomes = state.legal_actions()
            state.apply_action(outcomes[int(chance.integers(len(outcomes)))])
        if state.is_terminal():
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = PLAYER_NAMES[state.current_player()]

    def step(self, action: int | None) -> None:
        """Play an action of the agent whose turn it is; None for one whose game is over.

        Raises:
            IllegalActionError: when it is not legal; nothing has changed.
            ArgumentError: when it is no id of an action, or one is given to an agent whose game
                is over.
            NotResetError: when there was no `reset` yet.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise ArgumentError(f"the game of {agent} is over: the only action left is None")
            self._was_dead_step(action)
            return
        self.state_of_game.apply_action(self._actions.read(action, "action"))
        self._cumulative_rewards[agent] = 0.0
        self._go_on()
        returns = self.state_of_game.returns()
        self.rewards = dict(zip(PLAYER_NAMES, returns, strict=True))
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, Any]:
        """What an agent may know; arrays are fresh ones.

        Raises:
            ArgumentError: when there is no such agent.
            NotResetError: when there was no `reset` yet.
        """
        view = self._seen_by(agent)
        return {
            "observation": view.observation_tensor(),
            "action_mask": view.legal_actions_mask().astype(np.int8),
        }

    def _seen_by(self, agent: str) -> Observation:
        return self.state_of_game.observation(PLAYER_NAMES.index(_AGENTS.read(agent, "agent")))

    def render(self) -> str | None:
        """The position as text or picture, as `render_mode` and `view` say; else None.

        Raises:
            NotResetError: when there was no `reset` yet.
        """
        state = self.state_of_game
        shown: State | Observation = state
        if self.view in PLAYER_NAMES:
            shown = self._seen_by(self.view)
        elif self.view == "player" and not state.is_terminal():
            shown = self._seen_by(self.agent_selection)
        if self.render_mode == "ansi":
            return board_text(shown)
        if self.render_mode == "human":
            print(board_text(shown))
        if self.render_mode == "svg":
            from mrjack_ai.render import board_svg  # only here: the picture is seldom wanted

            return board_svg(shown)
        return None

    def close(self) -> None:
        """Nothing to be released."""
