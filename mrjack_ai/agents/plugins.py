"""Agents of code files: Python files that register their agents themselves.

import mrjack_ai, mrjack_ai.agents
class First(mrjack_ai.Agent):
    def act(self, observation):
        return observation.legal_actions()[0]
mrjack_ai.agents.register_agent("first", First)
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterable
from importlib import util
from pathlib import Path

from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.code_files import CodeFile, note, read_code_file
from mrjack_ai.agents.registry import agent_class, agent_names
from mrjack_ai.common.text import said
from mrjack_ai.errors import AgentError

_loaded: dict[Path, tuple[str, ...]] = {}
"""Code files of this process and the agents they registered."""

_code: dict[Path, CodeFile] = {}
"""The same with their sources."""


def load_code(path: str | Path) -> tuple[str, ...]:
    """Run a code file, which registers agents; only once in a process.

    It is imported as a module of its name, and its folder is appended to `sys.path`, so it can
    import its neighbours. Worker processes and those of a cluster are given its source, and those
    of the neighbours it has imported when this returns.

    Args:
        path: the file, its name ending in `.py`.

    Returns:
        Names of the agents it registered.

    Raises:
        AgentError: when there is no such file, it cannot be run (naming file and line), its name
            is that of another module, or it registers no agent.
    """
    file = Path(path).resolve()
    if file in _loaded:
        return _loaded[file]
    if not file.is_file():
        raise AgentError(f"code {str(path)!r}: there is no such file")
    name = file.stem
    if file.suffix != ".py" or "." in name:
        raise AgentError(f"code {str(path)!r}: its name must read NAME.py, without further dots")
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    _check_module_name(name, file)
    before = set(agent_names())
    try:
        source = file.read_bytes()
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise AgentError(_where(file, error)) from error
    names = tuple(
        agent
        for agent in agent_names()
        if agent not in before or agent_class(agent).__module__ == name  # imported before
    )
    if not names:
        classes = [
            value.__name__
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Agent) and value.__module__ == name
        ]
        example = classes[0] if classes else "MyAgent"
        raise AgentError(
            f"code {str(path)!r} registers no agent; end it with a line such as "
            f"mrjack_ai.agents.register_agent({example.lower()!r}, {example})"
        )
    _loaded[file] = names
    _code[file] = read_code_file(name, file, source)
    note(_code[file])
    return names


def code_of(agents: Iterable[str]) -> tuple[CodeFile, ...]:
    """The code files of this process that registered any of these agents, given by name."""
    wanted = set(agents)
    return tuple(_code[file] for file, names in _loaded.items() if wanted & set(names))


def names_in_code() -> frozenset[str]:
    """Names of all agents that code files of this process registered."""
    return frozenset(name for names in _loaded.values() for name in names)


def _check_module_name(name: str, file: Path) -> None:
    importlib.invalidate_caches()  # the file may be younger than the last look at its folder
    try:
        found = util.find_spec(name)
    except (ValueError, ImportError):  # a module that was put together by hand
        found = None
    origin = getattr(found, "origin", None)
    if origin is None or not Path(origin).is_file() or Path(origin).resolve() != file:
        raise AgentError(
            f"code {str(file)!r}: there is another module {name!r} ({origin}); rename the file"
        )


def _where(file: Path, error: BaseException) -> str:
    """What went wrong in a code file, and where."""
    what = str(error) if isinstance(error, AgentError) else said(error)
    if isinstance(error, SyntaxError):
        return f"{error.filename or file}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(file)
    ]
    return f"{file}, line {lines[-1]}: {what}" if lines else f"{file}: {what}"
