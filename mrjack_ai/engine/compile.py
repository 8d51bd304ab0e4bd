"""How kernels are compiled and where their machine code is kept.

numba stamps a cached kernel with its own file only, so editing a helper in another file would
leave stale callers. Our cache folder is therefore named after a hash of every source the kernels
are built from; an edit anywhere starts a fresh folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import numba
import numba.core.config
from numba.core import caching

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba.core.config

JIT_DISABLED = bool(config.DISABLE_JIT)
"""True under NUMBA_DISABLE_JIT=1, when kernels run as plain Python."""

_PACKAGE = Path(__file__).resolve().parent.parent


def source_hash(package: Path = _PACKAGE) -> str:
    """Hash of the sources and settings that decide the machine code of every kernel."""
    digest = hashlib.sha256()
    folders = ("setup", "engine", "search", "lab")
    for path in sorted(path for folder in folders for path in (package / folder).glob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    settings = (numba.__version__, sys.version_info[:2], config.BOUNDSCHECK, config.OPT)
    digest.update(repr(settings).encode())
    return digest.hexdigest()[:16]


def _cache_base() -> Path:
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "mrjack_ai"


def _cache_folder() -> Path | None:
    """Folder of the compiled kernels; None when there is none to write to or to read from."""
    # numba's entries also depend on where the sources lie.
    place = hashlib.sha256(str(_PACKAGE).encode()).hexdigest()[:8]
    try:
        folder = _cache_base() / f"kernels-{source_hash()}-{place}"
        with contextlib.suppress(PermissionError):
            folder.mkdir(parents=True, exist_ok=True)
        if not folder.is_dir():
            return None
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        return None
    return folder


CACHE_FOLDER = None if JIT_DISABLED else _cache_folder()
"""Where compiled kernels are kept; None when nothing can be kept."""

CACHE_READ_ONLY = CACHE_FOLDER is not None and not os.access(CACHE_FOLDER, os.W_OK)
"""True when kernels can be read there, but none can be added."""


_caching: Any = caching
# Private in older versions of numba.
_Locator: Any = getattr(caching, "UserProvidedCacheLocator", None) or getattr(
    caching, "_UserProvidedCacheLocator", object
)


class _ReadOnlyLocator(_Locator):  # type: ignore[misc]
    """Takes the folder as it is; numba's own refuses one that it cannot write to."""

    def ensure_cache_path(self) -> None:
        pass


class _ReadOnlyImplementation(_caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes: ClassVar = [_ReadOnlyLocator]


class _ReadOnlyCache(_caching.FunctionCache):  # type: ignore[misc]
    """numba's cache of a function, for a folder that somebody else has filled."""

    _impl_class = _ReadOnlyImplementation

    def save_overload(self, signature: Any, data: Any) -> None:
        pass


def kernel(function: Function) -> Function:
    """Compile a function with numba: no Python objects, no GIL, cached on disk."""
    if JIT_DISABLED:
        return function
    previous = config.CACHE_DIR
    try:
        if CACHE_FOLDER is not None:
            # Read by numba while the decorator runs; put back so that kernels of other
            # packages keep their own place.
            config.CACHE_DIR = str(CACHE_FOLDER)
        if CACHE_READ_ONLY:
            compiled: Any = numba.njit(nogil=True)(function)
            compiled._cache = _ReadOnlyCache(function)
            return cast(Function, compiled)
        return cast(Function, numba.njit(nogil=True, cache=CACHE_FOLDER is not None)(function))
    finally:
        config.CACHE_DIR = previous


def helper(function: Function) -> Function:
    """Compile a function that only other kernels call: part of their machine code, not cached."""
    if JIT_DISABLED:
        return function
    return cast(Function, numba.njit(nogil=True)(function))
