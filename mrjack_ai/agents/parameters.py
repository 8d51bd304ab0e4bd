"""Parameters of agents: what there are, within which ranges, and how their text is read.

An agent's parameters are those of its `__init__`; the type of a default says how a text is read.
What else a value must be is said once, in front of the class, and holds for specifications as for
calls from Python:

    @ranges(depth=WholeNumbers(1, 12), style=Words(("bold", "shy")))
    class MyAgent(Agent):
        def __init__(self, depth: int = 3, style: str = "bold") -> None:
            ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from mrjack_ai.common.numbers import FINITE, LONG_INTEGERS, RealNumbers, WholeNumbers, Words
from mrjack_ai.common.text import shown
from mrjack_ai.errors import AgentError, ArgumentError

Range = WholeNumbers | RealNumbers | Words
Made = TypeVar("Made", bound=type)

_RANGES = "_ranges_of_parameters"

_ANY: dict[type, Range] = {
    int: LONG_INTEGERS,
    float: FINITE,
}
"""Of parameters without a range of their own."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of an agent.

    Attributes:
        name: its name.
        type: int, float, bool or str.
        default: its value when none is given.
        range: what else a value must be; None when nothing is said.
    """

    name: str
    type: type
    default: Any
    range: Range | None = None

    def __str__(self) -> str:
        """As `mrjack agents` shows it."""
        told = f"{self.name}={spelled(self.default)}"
        if self.type is bool:
            return f"{told} (true | false)"
        return told if self.range is None else f"{told} ({self.range})"

    def parse(self, text: str) -> Any:
        """A value from its text.

        Raises:
            AgentError: when it is of another type or out of range.
        """
        if self.type is bool:
            if text.lower() in ("true", "false"):
                return text.lower() == "true"
            raise AgentError(f"{self.name} {shown(text)} must be true or false")
        if self.type is str and self.range is None:
            return text
        return (self.range or _ANY[self.type]).parse(text, self.name, AgentError)


def ranges(**by_name: Range) -> Callable[[Made], Made]:
    """Say what values of a class's parameters must be; its `__init__` gets no others.

    Whole numbers and numbers of any kind, NumPy's among them, arrive as plain `int` and `float`.
    Parameters of a class it derives from keep the ranges said there.

    Args:
        by_name: a range for each parameter that is to have one.
    """

    def decorate(made: Made) -> Made:
        plain: Callable[..., None] = made.__init__  # type: ignore[misc]
        signature = inspect.signature(plain)

        @functools.wraps(plain)
        def checked(self: Any, *values: Any, **named: Any) -> None:
            given = signature.bind(self, *values, **named)
            for name, value in given.arguments.items():
                if name in by_name:
                    given.arguments[name] = by_name[name].read(value, name)
                elif isinstance(signature.parameters[name].default, bool):
                    given.arguments[name] = _truth(value, name)
            plain(*given.args, **given.kwargs)

        setattr(checked, _RANGES, by_name)
        made.__init__ = checked  # type: ignore[misc]
        return made

    return decorate


def _truth(value: object, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name} {shown(value)} must be True or False")
    return bool(value)


def plain_parameters(name: str, made: type) -> tuple[Parameter, ...]:
    """Parameters of a class's `__init__`.

    Raises:
        AgentError: naming the agent and a parameter without a default of a plain type.
    """
    made_by: Callable[..., None] = made.__init__  # type: ignore[misc]
    if made_by is object.__init__:
        return ()
    by_name: Mapping[str, Range] = getattr(made_by, _RANGES, {})
    found: list[Parameter] = []
    for parameter in inspect.signature(made).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            # `**settings` stands for the parameters of the class it derives from.
            found += plain_parameters(name, made.__bases__[0])
            continue
        kind, default = type(parameter.default), parameter.default
        if kind not in (int, float, bool, str):
            raise AgentError(f"agent {name!r}: parameter {parameter.name!r} needs a plain default")
        found.append(Parameter(parameter.name, kind, default, by_name.get(parameter.name)))
    return tuple(found)


def parse_values(spec: str, text: str, known: Sequence[Parameter]) -> dict[str, Any]:
    """Read `key=value,key=value`.

    Args:
        spec: the whole specification, for the messages.
        text: what is to be read.
        known: the parameters there are.

    Returns:
        The values given, by name, in the order of `known`.

    Raises:
        AgentError: for an unknown parameter, or a value that is not of its type or out of range.
    """
    parameters = {parameter.name: parameter for parameter in known}
    values: dict[str, Any] = {}
    told = f"agent {shown(spec, _LONGEST_SPEC)}"
    for item in text.split(","):
        key, equals, value = (part.strip() for part in item.partition("="))
        if key not in parameters and key:
            names = f"known are {', '.join(parameters)}" if parameters else "it takes none"
            raise AgentError(f"{told}: unknown parameter {shown(key)}; {names}")
        if not equals or not value:
            raise AgentError(f"{told}: {shown(item)} must read key=value")
        if key in values:
            raise AgentError(f"{told}: {key!r} is given twice")
        try:
            values[key] = parameters[key].parse(value)
        except AgentError as error:
            raise AgentError(f"{told}: {error}") from None
    return {name: values[name] for name in parameters if name in values}


_LONGEST_SPEC = 120


def spelled(value: Any) -> str:
    """A value of a parameter as a specification has it, equal values alike."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)
