"""One game between two agents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mrjack_ai.agents.base import Agent
from mrjack_ai.errors import AgentError, IllegalActionError, NotationError
from mrjack_ai.game import State, new_game
from mrjack_ai.tournament.deals import Deal
from mrjack_ai.variant import PLAYER_NAMES, Variant


def play_game(
    variant: Variant,
    agents: Sequence[Agent],
    deal: Deal,
    generators: Sequence[np.random.Generator],
) -> State:
    """Play one game to the end.

    Args:
        variant: the variant.
        agents: who plays the Detective and who plays Jack.
        deal: what chance decides.
        generators: a random generator for each of them.

    Returns:
        The last state, with the whole history.

    Raises:
        AgentError: when an agent returns an action that is not legal.
    """
    state = new_game(variant)
    for player, (agent, rng) in enumerate(zip(agents, generators, strict=True)):
        agent.start(variant, player, rng)
    while not state.is_terminal():
        player = state.current_player()
        if player < 0:
            state.apply_action(deal.outcome(state))
            continue
        if agents[player].cheats:
            agents[player].see(state)
        action = agents[player].act(state.observation(player))
        try:
            state.apply_action(action)
        except (IllegalActionError, NotationError, TypeError) as error:
            name = type(agents[player]).__name__
            raise AgentError(f"{name}, playing the {PLAYER_NAMES[player]}: {error}") from None
    return state
