"""The agent that plays a solution."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.base import Agent
from mrjack_ai.errors import AgentError, LabError
from mrjack_ai.game.observation import Observation
from mrjack_ai.lab.solution import Solution
from mrjack_ai.setup.variant import Variant


def _load(file: str) -> Solution:
    """A solution with its tree, kept as long as its file is the same."""
    try:
        found = os.stat(file)
        version = found.st_ino, found.st_size, found.st_mtime_ns
    except (OSError, ValueError):
        version = 0, 0, 0  # reading it says what is wrong
    return _load_version(file, version)


@lru_cache(maxsize=4)  # tournaments make an agent for each game
def _load_version(file: str, _version: tuple[int, int, int]) -> Solution:
    return Solution.load(file)


class EquilibriumAgent(Agent):
    """Plays a solution of the variant: `equilibrium:FILE`, a file of `mrjack lab solve`.

    Args:
        file: the solution.

    Raises:
        ValueError: when no file is named.
        LabError: when it cannot be read.
    """

    usage = "FILE, as `mrjack lab solve --out FILE` writes it"

    def __init__(self, file: str = "") -> None:
        if not file:
            raise ValueError("name a file of `mrjack lab solve`, as in equilibrium:micro.npz")
        self._solution = _load(file)

    @classmethod
    def from_spec(cls, text: str) -> EquilibriumAgent:
        """The agent of a specification; `text` is what follows the colon."""
        return cls(text)

    @classmethod
    def spec_parameters(cls, text: str) -> dict[str, Any]:
        """The file, as results keep it."""
        return {"file": text}

    def start(self, variant: Variant, player: int, rng: np.random.Generator) -> None:
        super().start(variant, player, rng)
        if variant != self._solution.variant:
            raise AgentError(
                "agent equilibrium: its solution is for another variant; solve this one with "
                "mrjack lab solve"
            )
        self._solution.evaluator  # noqa: B018 - enumerates the tree before the first decision

    def policy(self, observation: Observation) -> npt.NDArray[np.float64]:
        """The solution's probabilities of the legal actions."""
        at, private = self._solution.node_of(observation)
        by_action = dict(
            zip(
                self._solution.actions(at).tolist(),
                self._solution.probabilities(at, private).tolist(),
                strict=True,
            )
        )
        found = np.array([by_action[action] for action in observation.actions])
        total = found.sum()
        if not 0.5 < total < 1.5:
            raise LabError("the solution does not fit this position; solve the variant again")
        policy: npt.NDArray[np.float64] = found / total
        return policy
