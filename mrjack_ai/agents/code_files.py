"""Code files on their way to other processes: sources, not paths, so that all play the same."""

from __future__ import annotations

import hashlib
import importlib
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType

from mrjack_ai.agents.registry import forget_agents
from mrjack_ai.common.text import said
from mrjack_ai.errors import AgentError


@dataclass(frozen=True)
class SourceModule:
    """A module as it was when it was loaded: its name, file and source."""

    name: str
    file: str
    source: bytes


@dataclass(frozen=True)
class CodeFile:
    """A code file and the modules beside it that it imports.

    Attributes:
        modules: that of the file itself, and the others.
    """

    modules: tuple[SourceModule, ...]

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return Path(self.modules[0].file).name

    @property
    def hash(self) -> str:
        """Hash of all its sources."""
        digest = hashlib.sha256()
        for module in self.modules:
            digest.update(f"{module.name} {len(module.source)} ".encode() + module.source)
        return digest.hexdigest()[:16]


def read_code_file(name: str, file: Path, source: bytes) -> CodeFile:
    """A code file of this process that has just been imported.

    Args:
        name: name of its module.
        file: the file.
        source: what stood in it when it was imported.
    """
    found = [SourceModule(name, str(file), source)]
    for other, module in sorted(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if other in (name, "__main__") or "." in other or path is None:
            continue
        beside = Path(path).resolve()
        if beside.parent == file.parent and beside.suffix == ".py" and beside.is_file():
            if beside.name != "__init__.py":
                found.append(SourceModule(other, str(beside), beside.read_bytes()))
    return CodeFile(tuple(found))


class _Sources(MetaPathFinder, SourceLoader):  # type: ignore[misc]  # as typeshed has it
    """Imports the modules that were sent to this process."""

    def __init__(self) -> None:
        self.modules: dict[str, SourceModule] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        sent = self.modules.get(fullname)
        return None if sent is None else spec_from_loader(fullname, self, origin=sent.file)

    def get_filename(self, fullname: str) -> str:
        return self.modules[fullname].file

    def get_data(self, path: str) -> bytes:
        for module in self.modules.values():
            if module.file == path:
                return module.source
        raise OSError(f"{path} was not sent")


_sources = _Sources()
_here: dict[str, SourceModule] = {}
"""Modules of code files in this process, wherever they came from, by name."""
_guard = threading.Lock()


def note(code: CodeFile) -> None:
    """Remember that this process has loaded a code file from disk."""
    _here.update({module.name: module for module in code.modules})


def load_sent(files: Iterable[CodeFile]) -> None:
    """Load code files that another process has sent, unless they are here already.

    Files of an earlier run are replaced, with the agents they registered.

    Raises:
        AgentError: when one cannot be run here.
    """
    files = tuple(files)
    with _guard:  # a worker of a cluster may have several threads
        modules = {module.name: module for code in files for module in code.modules}
        if all(_loaded(module) for module in modules.values()):
            return
        forget_agents(modules)
        for name in modules:
            sys.modules.pop(name, None)
            _here.pop(name, None)
        if _sources not in sys.meta_path:
            sys.meta_path.insert(0, _sources)
        _sources.modules.update(modules)
        for code in files:
            try:
                importlib.import_module(code.modules[0].name)
            except (Exception, SystemExit) as error:
                raise AgentError(
                    f"code {code.name!r} cannot be run by a worker: {said(error)}"
                ) from None
        _here.update(modules)


def _loaded(module: SourceModule) -> bool:
    return _here.get(module.name) == module and module.name in sys.modules
