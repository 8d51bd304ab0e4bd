"""Agents: what plays the game. See `base.Agent` for how to write one."""

from typing import TYPE_CHECKING

from mrjack_ai.agents import registry
from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.registry import (
    Parameter,
    agent_class,
    agent_names,
    agent_parameters,
    agent_usage,
    make_agent,
    register_agent,
)
from mrjack_ai.common.lazy import names_on_demand

if TYPE_CHECKING:
    from mrjack_ai.agents.analysis import Analysis, analyse
    from mrjack_ai.agents.command import CommandAgent
    from mrjack_ai.agents.greedy import GreedyAgent
    from mrjack_ai.agents.plugins import load_code, register_all_installed
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

# A program that only plays games or asks OpenSpiel for them need not load the search.
__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "Analysis": "mrjack_ai.agents.analysis",
        "analyse": "mrjack_ai.agents.analysis",
        "CommandAgent": "mrjack_ai.agents.command",
        "GreedyAgent": "mrjack_ai.agents.greedy",
        "load_code": "mrjack_ai.agents.plugins",
        "register_all_installed": "mrjack_ai.agents.plugins",
        "ISMCTSAgent": "mrjack_ai.agents.search",
        "MultipleObserverISMCTSAgent": "mrjack_ai.agents.search",
        "OmniscientAgent": "mrjack_ai.agents.search",
        "PIMCAgent": "mrjack_ai.agents.search",
        "SearchAgent": "mrjack_ai.agents.search",
        "CautiousAgent": "mrjack_ai.agents.simple",
        "RandomAgent": "mrjack_ai.agents.simple",
        "PlayEvidence": "mrjack_ai.search.evidence",
        "RootStatistics": "mrjack_ai.search.tree",
    },
)

registry.register_agent_at("cmd", "mrjack_ai.agents.command:CommandAgent")

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
