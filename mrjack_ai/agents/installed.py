"""Agents that installed packages offer by entry points, in their `pyproject.toml`:

    [project.entry-points."mrjack_ai.agents"]
    first = "my_package.agents:First"

They are loaded when they are asked for, so one that is broken does no harm to the others.
"""

from __future__ import annotations

from importlib import metadata

from mrjack_ai.agents.base import Agent
from mrjack_ai.common.text import said
from mrjack_ai.errors import AgentError

GROUP = "mrjack_ai.agents"
"""Entry point group of agents: name -> subclass of `Agent`."""


def _installed() -> dict[str, list[metadata.EntryPoint]]:
    found: dict[str, list[metadata.EntryPoint]] = {}
    for point in metadata.entry_points(group=GROUP):
        same = found.setdefault(point.name, [])
        if all(point.value != other.value for other in same):
            same.append(point)
    return found


def installed_names() -> tuple[str, ...]:
    """Names under which installed packages offer agents, usable or not, sorted."""
    return tuple(sorted(_installed()))


def installed_agent(name: str) -> type[Agent] | None:
    """The agent that an installed package offers under a name, or None when there is none.

    Raises:
        AgentError: when it cannot be loaded, is no agent, or several packages offer one.
    """
    points = _installed().get(name)
    if points is None:
        return None
    place = f"agent {name!r} of {' and '.join(sorted({_package(point) for point in points}))}"
    if len(points) > 1:
        raise AgentError(f"{place}: more than one has this name; uninstall all but one")
    try:
        agent = points[0].load()
    except (Exception, SystemExit) as error:
        raise AgentError(f"{place} cannot be loaded: {said(error)}") from error
    if not (isinstance(agent, type) and issubclass(agent, Agent)):
        raise AgentError(f"{place}: {points[0].value} is no subclass of mrjack_ai.Agent")
    return agent


def package_of(name: str) -> str:
    """The package that offers an agent under a name."""
    return _package(_installed()[name][0])


def _package(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
