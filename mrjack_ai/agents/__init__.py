"""Agents: what plays the game. See `base.Agent` for how to write one."""

from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.greedy import GreedyAgent
from mrjack_ai.agents.registry import (
    Parameter,
    agent_class,
    agent_names,
    agent_parameters,
    make_agent,
    register_agent,
)
from mrjack_ai.agents.search import (
    ISMCTSAgent,
    MultipleObserverISMCTSAgent,
    OmniscientAgent,
    PIMCAgent,
    RootStatistics,
    SearchAgent,
)
from mrjack_ai.agents.simple import CautiousAgent, RandomAgent

__all__ = [
    "Agent",
    "CautiousAgent",
    "GreedyAgent",
    "ISMCTSAgent",
    "MultipleObserverISMCTSAgent",
    "OmniscientAgent",
    "PIMCAgent",
    "Parameter",
    "RandomAgent",
    "RootStatistics",
    "SearchAgent",
    "agent_class",
    "agent_names",
    "agent_parameters",
    "make_agent",
    "register_agent",
]
