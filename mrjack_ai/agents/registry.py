"""Agents by name: specification strings such as `greedy` or `ismcts:sims=1000,c=0.7`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.greedy import GreedyAgent
from mrjack_ai.agents.search import (
    ISMCTSAgent,
    MultipleObserverISMCTSAgent,
    OmniscientAgent,
    PIMCAgent,
)
from mrjack_ai.agents.simple import CautiousAgent, RandomAgent
from mrjack_ai.errors import AgentError

_AGENTS: dict[str, type[Agent]] = {}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an agent: its name, type (int, float, bool or str) and default."""

    name: str
    type: type
    default: Any


def register_agent(name: str, agent: type[Agent], replace: bool = False) -> None:
    """Make an agent known by name.

    Its parameters are those of its `__init__`; each needs a default of type int, float, bool or
    str, which also says how its text is read.

    Args:
        name: lower-case letters, digits, - and _.
        agent: its class.
        replace: take the place of another agent of this name.

    Raises:
        AgentError: when the name is malformed, or taken and not to be replaced, or a parameter has
            no such default.
    """
    if not name.replace("-", "").replace("_", "").isalnum() or name != name.lower():
        raise AgentError(f"agent name {name!r} must be lower-case letters, digits, - and _")
    if not replace and _AGENTS.get(name, agent) is not agent:
        raise AgentError(f"there is an agent {name!r} already")
    _parameters(name, agent)
    _AGENTS[name] = agent


def agent_names() -> tuple[str, ...]:
    """Known agents, in the order of registration."""
    return tuple(_AGENTS)


def agent_class(name: str) -> type[Agent]:
    """The class of a known agent.

    Raises:
        AgentError: for an unknown name, listing the known ones.
    """
    if name not in _AGENTS:
        near = get_close_matches(name, _AGENTS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AgentError(f"unknown agent {name!r}; known are {', '.join(_AGENTS)}{hint}")
    return _AGENTS[name]


def agent_parameters(name: str) -> tuple[Parameter, ...]:
    """Parameters of a known agent.

    Raises:
        AgentError: for an unknown name.
    """
    return _parameters(name, agent_class(name))


def _parameters(name: str, agent: type[Agent]) -> tuple[Parameter, ...]:
    if agent.__init__ is object.__init__:
        return ()
    found = []
    for parameter in list(inspect.signature(agent).parameters.values()):
        if type(parameter.default) not in (int, float, bool, str):
            raise AgentError(f"agent {name!r}: parameter {parameter.name!r} needs a plain default")
        found.append(Parameter(parameter.name, type(parameter.default), parameter.default))
    return tuple(found)


def parse_agent(spec: str) -> tuple[str, dict[str, Any]]:
    """Name and all parameters, defaults included, of a specification (see `make_agent`).

    Raises:
        AgentError: for an unknown agent or parameter (listing the known ones), or a value that
            is not of the parameter's type.
    """
    name, colon, text = spec.strip().partition(":")
    parameters = {parameter.name: parameter for parameter in agent_parameters(name)}
    values: dict[str, Any] = {}
    for item in text.split(",") if colon else []:
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not value:
            raise AgentError(f"agent {spec!r}: {item!r} must read key=value")
        if key not in parameters:
            known = ", ".join(parameters) or "it has none"
            raise AgentError(f"agent {spec!r}: unknown parameter {key!r}; known are {known}")
        if key in values:
            raise AgentError(f"agent {spec!r}: {key!r} is given twice")
        values[key] = _parse(spec, parameters[key], value)
    defaults = {parameter.name: parameter.default for parameter in parameters.values()}
    return name, defaults | values


def make_agent(spec: str) -> Agent:
    """Build an agent from a specification: `name` or `name:key=value,key=value`.

    Raises:
        AgentError: as `parse_agent`, and for values that the agent refuses.
    """
    name, values = parse_agent(spec)
    try:
        return agent_class(name)(**values)
    except ValueError as error:
        raise AgentError(f"agent {spec!r}: {error}") from None


def _parse(spec: str, parameter: Parameter, text: str) -> Any:
    if parameter.type is bool:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise AgentError(f"agent {spec!r}: {parameter.name}={text} must be true or false")
    try:
        return parameter.type(text)
    except ValueError:
        kind = {"int": "a whole number", "float": "a number"}[parameter.type.__name__]
        raise AgentError(f"agent {spec!r}: {parameter.name}={text} must be {kind}") from None


register_agent("random", RandomAgent)
register_agent("cautious", CautiousAgent)
register_agent("greedy", GreedyAgent)
register_agent("pimc", PIMCAgent)
register_agent("ismcts", ISMCTSAgent)
register_agent("mo-ismcts", MultipleObserverISMCTSAgent)
register_agent("omniscient", OmniscientAgent)
