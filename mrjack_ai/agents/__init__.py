"""Agents: what plays the game. See `base.Agent` for how to write one."""

from mrjack_ai.agents.analyse import Analysis, analyse
from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.behaviour import PlayEvidence
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
    SearchAgent,
)
from mrjack_ai.agents.simple import CautiousAgent, RandomAgent
from mrjack_ai.agents.tree import RootStatistics

__all__ = [
    "Agent",
    "Analysis",
    "CautiousAgent",
    "GreedyAgent",
    "ISMCTSAgent",
    "MultipleObserverISMCTSAgent",
    "OmniscientAgent",
    "PIMCAgent",
    "Parameter",
    "PlayEvidence",
    "RandomAgent",
    "RootStatistics",
    "SearchAgent",
    "agent_class",
    "agent_names",
    "agent_parameters",
    "analyse",
    "make_agent",
    "register_agent",
]
