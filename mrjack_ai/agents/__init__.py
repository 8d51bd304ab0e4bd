"""Agents: what plays the game. See `base.Agent` for how to write one."""

from typing import TYPE_CHECKING

from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.parameters import Parameter, ranges
from mrjack_ai.agents.registry import (
    agent_class,
    agent_names,
    agent_parameters,
    agent_usage,
    make_agent,
    register_agent,
    register_agent_at,
    register_all_installed,
)
from mrjack_ai.common.lazy import names_on_demand

if TYPE_CHECKING:
    from mrjack_ai.agents.analysis import Analysis, analyse
    from mrjack_ai.agents.cautious import CautiousAgent
    from mrjack_ai.agents.command import CommandAgent
    from mrjack_ai.agents.greedy import GreedyAgent
    from mrjack_ai.agents.ismcts import ISMCTSAgent
    from mrjack_ai.agents.mo_ismcts import MultipleObserverISMCTSAgent
    from mrjack_ai.agents.omniscient import OmniscientAgent
    from mrjack_ai.agents.pimc import PIMCAgent
    from mrjack_ai.agents.plugins import load_code
    from mrjack_ai.agents.random import RandomAgent
    from mrjack_ai.agents.search import SearchAgent
    from mrjack_ai.search.evidence import PlayEvidence
    from mrjack_ai.search.tree import RootStatistics

BUILT_IN = {
    "random": "mrjack_ai.agents.random:RandomAgent",
    "cautious": "mrjack_ai.agents.cautious:CautiousAgent",
    "greedy": "mrjack_ai.agents.greedy:GreedyAgent",
    "pimc": "mrjack_ai.agents.pimc:PIMCAgent",
    "ismcts": "mrjack_ai.agents.ismcts:ISMCTSAgent",
    "mo-ismcts": "mrjack_ai.agents.mo_ismcts:MultipleObserverISMCTSAgent",
    "omniscient": "mrjack_ai.agents.omniscient:OmniscientAgent",
}
"""The library's own agents and where their classes stand, as `module:class`."""

for _name, _place in BUILT_IN.items():
    register_agent_at(_name, _place, built_in=True)
register_agent_at("cmd", "mrjack_ai.agents.command:CommandAgent")
register_agent_at("equilibrium", "mrjack_ai.lab.agent:EquilibriumAgent", built_in=True)

# A program that only plays games or asks OpenSpiel for them need not load the search.
__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        **{place.partition(":")[2]: place.partition(":")[0] for place in BUILT_IN.values()},
        "Analysis": "mrjack_ai.agents.analysis",
        "analyse": "mrjack_ai.agents.analysis",
        "CommandAgent": "mrjack_ai.agents.command",
        "load_code": "mrjack_ai.agents.plugins",
        "SearchAgent": "mrjack_ai.agents.search",
        "PlayEvidence": "mrjack_ai.search.evidence",
        "RootStatistics": "mrjack_ai.search.tree",
    },
)

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
    "ranges",
    "register_agent",
    "register_all_installed",
]
