"""Agents: what plays the game. See `base.Agent` for how to write one."""

from mrjack_ai.agents.analyse import Analysis, analyse
from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.command import CommandAgent
from mrjack_ai.agents.greedy import GreedyAgent
from mrjack_ai.agents.plugins import load_code, register_all_installed
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
    SearchAgent,
)
from mrjack_ai.agents.simple import CautiousAgent, RandomAgent
from mrjack_ai.search.evidence import PlayEvidence
from mrjack_ai.search.tree import RootStatistics

__all__ = [
    "Agent",
    "Analysis",
    "CautiousAgent",
    "CommandAgent",
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
    "agent_usage",
    "analyse",
    "load_code",
    "make_agent",
    "register_agent",
    "register_all_installed",
]
