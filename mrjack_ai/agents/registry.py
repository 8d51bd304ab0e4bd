"""Agents by name: specification strings such as `greedy` or `ismcts:sims=1000,c=0.7`.

What follows the colon sets parameters of the agent's `__init__`. A class that wants to read it
in a way of its own defines the class method `from_spec(text)`, which is given all of it (empty
when there is no colon) and returns an agent; its class attribute `usage` then says in one line
what it reads, for `mrjack agents`, and the class method `spec_parameters(text)`, if there is one,
gives everything it reads, defaults included, by name, for the results of tournaments.
"""

from __future__ import annotations

from collections.abc import Container
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.installed import installed_agent, installed_names, package_of
from mrjack_ai.agents.parameters import Parameter, parse_values, plain_parameters, spelled
from mrjack_ai.common.text import shown
from mrjack_ai.errors import AgentError

_LONGEST_COMPARED = 40
"""Longer names are cut before near misses are looked for, which takes time."""

_AGENTS: dict[str, type[Agent] | str] = {}
"""Every known agent: its class, or where it stands (`module:class`) until somebody asks for it."""

_BUILT_IN: dict[str, str] = {}
"""The library's own agents that keep to the rules, and where their classes stand."""


def register_agent(name: str, agent: type[Agent], replace: bool = False) -> None:
    """Make an agent known by name.

    Its parameters are those of its `__init__`; each needs a default of type int, float, bool or
    str, which also says how its text is read. None of this holds for a class with `from_spec`.

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
    if not replace and name in _AGENTS and agent_class(name) is not agent:
        raise AgentError(f"there is an agent {name!r} already")
    _parameters(name, agent)
    _AGENTS[name] = agent


def register_agent_at(name: str, place: str, built_in: bool = False) -> None:
    """Make an agent of the library known by name without importing its module.

    Args:
        name: as for `register_agent`; not taken yet.
        place: where its class stands, as `module:class`.
        built_in: whether `is_built_in` holds for it.
    """
    _AGENTS[name] = place
    if built_in:
        _BUILT_IN[name] = place


def _class_at(place: str) -> type[Agent]:
    module, _, name = place.partition(":")
    found: type[Agent] = getattr(import_module(module), name)
    return found


def forget_agents(modules: Container[str]) -> None:
    """Forget the agents whose classes stand in any of these modules, given by name."""
    for name, agent in list(_AGENTS.items()):
        module = agent.partition(":")[0] if isinstance(agent, str) else agent.__module__
        if module in modules:
            del _AGENTS[name]


def agent_names() -> tuple[str, ...]:
    """Known agents, in the order of registration."""
    return tuple(_AGENTS)


def agent_class(name: str) -> type[Agent]:
    """The class of a known agent, or of one that an installed package offers under this name.

    Raises:
        AgentError: for an unknown name, listing the known ones; for an installed agent that
            cannot be loaded.
    """
    if name not in _AGENTS and not _register_installed(name):
        known = list(dict.fromkeys([*_AGENTS, *installed_names()]))
        near = get_close_matches(name[:_LONGEST_COMPARED], known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AgentError(f"unknown agent {shown(name)}; known are {', '.join(known)}{hint}")
    agent = _AGENTS[name]
    if isinstance(agent, str):
        agent = _AGENTS[name] = _class_at(agent)
    return agent


def _register_installed(name: str) -> bool:
    """Register the agent that an installed package offers under a name; False for none."""
    agent = installed_agent(name)
    if agent is None:
        return False
    try:
        register_agent(name, agent)
    except AgentError as error:
        raise AgentError(f"agent {name!r} of {package_of(name)}: {error}") from None
    return True


def register_all_installed() -> dict[str, str]:
    """Register every agent that installed packages offer.

    Returns:
        Why it cannot be used, for the name of each that cannot.
    """
    broken = {}
    for name in installed_names():
        try:
            _register_installed(name)
        except AgentError as error:
            broken[name] = str(error)
    return broken


def is_built_in(name: str) -> bool:
    """True when the agent of this name is one of the library's own, which keep to the rules.

    A program (`cmd:`) is foreign, and so is a class that has taken a built-in agent's name.

    Raises:
        AgentError: for an unknown name.
    """
    agent = agent_class(name)
    # By identity: a class can say of itself that it stands where another does.
    place = f"{agent.__module__}:{agent.__qualname__}"
    return place in _BUILT_IN.values() and _class_at(place) is agent


def agent_usage(name: str) -> str:
    """What may follow the colon in the specification of a known agent: defaults and ranges.

    Raises:
        AgentError: for an unknown name.
    """
    agent = agent_class(name)
    if hasattr(agent, "from_spec"):
        return str(getattr(agent, "usage", "")) or "see its documentation"
    return ", ".join(map(str, _parameters(name, agent))) or "none"


def agent_parameters(name: str) -> tuple[Parameter, ...]:
    """Parameters of a known agent; none when its class has `from_spec`.

    Raises:
        AgentError: for an unknown name.
    """
    return _parameters(name, agent_class(name))


def _parameters(name: str, agent: type[Agent]) -> tuple[Parameter, ...]:
    if hasattr(agent, "from_spec"):
        return ()
    return plain_parameters(name, agent)


def name_of(spec: str) -> str:
    """The agent's name in a specification, known or not."""
    return spec.partition(":")[0].strip()


def parse_agent(spec: str) -> tuple[str, dict[str, Any]]:
    """Name and all parameters, defaults included, of a specification (see `make_agent`).

    What a class with `from_spec` reads is not taken apart: it is one parameter, `spec`.

    Raises:
        AgentError: for an unknown agent or parameter (listing the known ones), or a value that
            is not of the parameter's type.
    """
    if not isinstance(spec, str):
        raise AgentError(f"agent {shown(spec)} must be a text such as ismcts:sims=1000")
    name, colon, text = spec.strip().partition(":")
    if hasattr(agent_class(name), "from_spec"):
        return name, {"spec": text}
    parameters = agent_parameters(name)
    values = {parameter.name: parameter.default for parameter in parameters}
    return name, values | (parse_values(spec, text, parameters) if colon else {})


def described_parameters(spec: str) -> dict[str, Any]:
    """All parameters of a specification by name, as results keep them: plain values.

    As `parse_agent`, but what a class with `from_spec` reads is taken apart where the class has
    `spec_parameters`.

    Raises:
        AgentError: as `make_agent`.
    """
    name, values = parse_agent(spec)
    own = getattr(agent_class(name), "spec_parameters", None)
    if own is None:
        return values
    found: dict[str, Any] = own(values["spec"])
    return found


def canonical_spec(spec: str) -> str:
    """A specification in the one spelling that results are kept under.

    What is given stays, in the order of the agent's parameters and with plain numbers: `sims=050`
    is `sims=50`. What a class with `from_spec` reads stays as it is.

    Raises:
        AgentError: as `parse_agent`.
    """
    name, colon, text = spec.strip().partition(":")
    if hasattr(agent_class(name), "from_spec"):
        return f"{name}:{text}" if colon else name
    if not colon:
        return name
    values = parse_values(spec, text, agent_parameters(name))
    return f"{name}:{','.join(f'{key}={spelled(value)}' for key, value in values.items())}"


def is_same_agent(one: str, other: str) -> bool:
    """True when two specifications describe one agent: the same name and the same parameters.

    Raises:
        AgentError: as `described_parameters`.
    """
    same_name = name_of(one) == name_of(other)
    return same_name and described_parameters(one) == described_parameters(other)


def make_agent(spec: str) -> Agent:
    """Build an agent from a specification: `name` or `name:key=value,key=value`.

    What follows the colon is read by the class itself where it defines `from_spec(text)`.

    Raises:
        AgentError: as `parse_agent`, and for values that the agent refuses.
    """
    name, values = parse_agent(spec)
    agent = agent_class(name)
    own = getattr(agent, "from_spec", None)
    try:
        made: Agent = agent(**values) if own is None else own(values["spec"])
    except ValueError as error:
        if own is not None and str(error).startswith("agent "):
            raise  # it says itself what was read
        raise AgentError(f"agent {shown(spec, 120)}: {error}") from None
    return made
