"""What an agent is.

An agent sees an `Observation` and returns the id of a legal action. The smallest one:

    class First(Agent):
        def act(self, observation):
            return observation.legal_actions()[0]
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from mrjack_ai.game.observation import Observation
from mrjack_ai.game.state import State
from mrjack_ai.setup.variant import Variant


class Agent(ABC):
    """One player of one game at a time. Subclasses override `act` or `policy`, or both.

    Everything random must come from `self.rng`: then games can be repeated from their seed.

    Attributes:
        rng: the agent's own random generator; set by `start`.
        variant: the variant of the game in progress; set by `start`.
        player: 0 (Detective) or 1 (Jack); set by `start`.
        time_limit: most seconds a decision may take, or None; set by whoever runs the game,
            before `start`.
    """

    cheats: ClassVar[bool] = False
    """True for an agent that is shown the true state before each of its decisions (`see`).

    Read of the class, once, before `start`; setting it on an agent, or later, changes nothing.
    """

    plays_policy: ClassVar[bool] = False
    """True where `act` is overridden but draws from `policy` all the same."""

    rng: np.random.Generator
    variant: Variant
    player: int
    time_limit: float | None = None

    @classmethod  # noqa: B027 - most have nothing to load
    def load(cls) -> None:
        """Called once a process before its first game: load what takes time, off the clock."""

    def start(self, variant: Variant, player: int, rng: np.random.Generator) -> None:
        """Called before each game; override to prepare, and call this one first."""
        self.variant = variant
        self.player = player
        self.rng = rng

    def see(self, state: State) -> None:  # noqa: B027 - only a cheat overrides it
        """Called before `act` with the true state, if the agent cheats."""

    def act(self, observation: Observation) -> int:
        """The id of a legal action. By default drawn from `policy`.

        Args:
            observation: what the player to move may know.
        """
        probabilities = self.policy(observation)
        return observation.actions[int(self.rng.choice(len(observation.actions), p=probabilities))]

    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        """Probability of each legal action.

        Returns:
            float64 of the length of `observation.actions`, in that order, adding up to 1.

        Raises:
            NotImplementedError: by an agent that only acts.
        """
        raise NotImplementedError(f"{type(self).__name__} has no policy")

    def log(self) -> str:
        """What the agent has said beside the game in progress, for whoever looks into it later.

        Of an agent that is a program of its own this is what it wrote to standard error. It may
        be asked for at any time, also after the agent has raised an error. By default empty.
        """
        return ""


def uniform_over(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The uniform policy over the actions marked True (at least one)."""
    policy: npt.NDArray[np.float64] = chosen / chosen.sum()
    return policy
