"""Agents: what plays the game. See `base.Agent` for how to write one."""

from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.command import CommandAgent
from mrjack_ai.agents.greedy import GreedyAgent
from mrjack_ai.agents.outside import load_code, register_all_installed
from mrjack_ai.agents.registry import (
    Parameter,
    agent_class,
    agent_names,
    agent_parameters,
    agent_usage,
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
    "CommandAgent",
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
    "agent_usage",
    "load_code",
    "make_agent",
    "register_agent",
    "register_all_installed",
]
