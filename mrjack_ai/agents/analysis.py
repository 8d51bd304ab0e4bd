"""What a searching agent thinks of a position, as data frames."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mrjack_ai.agents.registry import make_agent
from mrjack_ai.agents.search import SearchAgent
from mrjack_ai.errors import AgentError, NotationError
from mrjack_ai.game.actions import action_space
from mrjack_ai.game.belief import identity_probabilities
from mrjack_ai.game.observation import Observation, event_text
from mrjack_ai.game.state import State
from mrjack_ai.search.tree import RootStatistics

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Analysis:
    """A position as the player to move sees it, searched.

    Attributes:
        observation: what he knows.
        statistics: what the search found.
        identity_probabilities: exact, of each seat to be Jack; float64, shape `(seats,)`.
        suspicion: the same with Jack's plays so far taken as evidence, as the Detective (or, at
            Jack's turn, anybody) would see it; None when the agent's belief is `exact`.
        principal_variation: texts of the actions, deals and answers expected to follow.
        seconds: how long the search took.
    """

    observation: Observation
    statistics: RootStatistics
    identity_probabilities: npt.NDArray[np.float64]
    suspicion: npt.NDArray[np.float64] | None
    principal_variation: tuple[str, ...]
    seconds: float

    def actions_frame(self) -> pandas.DataFrame:
        """The legal actions, the most visited first.

        Returns:
            Columns `action` (text), `visits`, `share` (of all visits), `value` (mean return of
            the player to move, -1 to 1; NaN without visits).
        """
        import pandas  # not at the top: it takes longer to import than we do

        found = self.statistics
        frame = pandas.DataFrame(
            {
                "action": [self.observation.action_to_string(int(a)) for a in found.actions],
                "visits": found.visits,
                "share": found.visits / max(1, found.visits.sum()),
                "value": found.values,
            }
        )
        return frame.sort_values("visits", ascending=False, kind="stable", ignore_index=True)

    def identities_frame(self) -> pandas.DataFrame:
        """Who can be Jack.

        Returns:
            Columns `character` (code), `probability`, and `suspicion` where the agent has one.
        """
        import pandas

        columns = {
            "character": self.observation.variant.cast,
            "probability": self.identity_probabilities,
        }
        if self.suspicion is not None:
            columns["suspicion"] = self.suspicion
        return pandas.DataFrame(columns)


def analyse(
    position: State | Observation, agent: str = "ismcts:sims=20000", seed: int = 0
) -> Analysis:
    """Search a position and say what was found.

    Args:
        position: a state (seen by the player to move, except by an agent that cheats) or an
            observation of the player to move.
        agent: specification of a searching agent.
        seed: of the agent's random generator; equal seeds give equal results.

    Raises:
        NotationError: when nobody is to move.
        AgentError: when the specification is wrong, the agent does not search, or it cheats and
            there is only an observation.
    """
    searching = make_agent(agent)
    if not isinstance(searching, SearchAgent):
        raise AgentError(f"agent {agent!r} does not search; try ismcts:sims=20000")
    state = position if isinstance(position, State) else None
    if state is not None and state.current_player() < 0:
        raise NotationError(f"nobody is to move at a {state.node} node; choose another moment")
    view = position if isinstance(position, Observation) else position.observation()
    if not view.actions:
        raise NotationError("the observation is not of the player to move")
    searching.start(view.variant, view.player, np.random.default_rng(seed))
    if type(searching).cheats:
        if state is None:
            raise AgentError(f"agent {agent!r} needs the state, not an observation")
        searching.see(state)
    started = time.perf_counter()
    found = searching.search(view)
    seconds = time.perf_counter() - started
    space = action_space(view.variant)
    return Analysis(
        observation=view,
        statistics=found,
        identity_probabilities=identity_probabilities(view),
        suspicion=searching.suspicion(view),
        principal_variation=tuple(event_text(space, code) for code in found.principal_variation),
        seconds=seconds,
    )
