"""Compile kernels once, group by group, and say so while the user waits."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numba
import numpy as np

from mrjack_ai.engine import compile as compiling
from mrjack_ai.engine import features, kernels
from mrjack_ai.engine.layout import GENERATOR, game_words
from mrjack_ai.engine.tables import MAX_ACTIONS, build_tables
from mrjack_ai.engine.types import Words
from mrjack_ai.setup.variant import DEFAULT_VARIANT

_MOST_FEATURES = 4096

_type_of: Any = numba.typeof

Call = tuple[Any, tuple[Any, ...]]
"""A kernel, and arguments of the types with which the library calls it."""


class KernelGroup:
    """Kernels that are compiled together, when something first needs them.

    Args:
        place: where the group is found, as `module:name`.
        what: what they are for, as the user reads it while they are compiled.
        calls: the kernels, and arguments for each. Two processes compile those at even and at odd
            places, so their order balances the work.
    """

    def __init__(self, place: str, what: str, calls: Callable[[Words], list[Call]]) -> None:
        self._place = place
        self._what = what
        self._calls = calls
        self._ready = compiling.JIT_DISABLED
        self._loaded = compiling.JIT_DISABLED

    @property
    def _marker(self) -> str:
        """Name of the file that marks a cache which holds them all."""
        return f"complete-{self._place.partition(':')[2].lower()}"

    def is_compiled(self) -> bool:
        """True when the kernels are in the cache, or compiled in this process."""
        folder = compiling.CACHE_FOLDER
        return self._ready or (folder is not None and (folder / self._marker).exists())

    def ensure(self) -> None:
        """Compile the kernels unless that has been done, with a line on standard error.

        The cost of later calls is one comparison.
        """
        if self._ready:
            return
        if not self.is_compiled():
            self._compile()
        self._ready = True

    def load(self) -> None:
        """Bring every kernel into this process, so that no first call counts as thinking."""
        self.ensure()
        if not self._loaded:
            self.compile_share(0, 1)
            self._loaded = True

    def compile_share(self, first: int, step: int) -> None:
        """Compile every `step`-th kernel, or read it from the cache."""
        for kernel, arguments in self._calls(build_tables(DEFAULT_VARIANT))[first::step]:
            kernel.compile(tuple(map(_type_of, arguments)))

    def _compile(self) -> None:
        folder = None if compiling.CACHE_READ_ONLY else compiling.CACHE_FOLDER
        message = f"compiling the {self._what}"
        if folder is not None:
            message += ", once ..."
        else:
            message += (
                "; it cannot be kept, since no cache folder can be written: set NUMBA_CACHE_DIR "
                "to one that can ..."
            )
        print(f"mrjack_ai: {message}", file=sys.stderr, flush=True)
        started = time.perf_counter()
        if folder is not None and _processors() > 1:
            with _helper_process(self._place):
                self.compile_share(0, 2)
        self.compile_share(0, 1)  # all there is to do where there was no helper, or it failed
        self._loaded = True
        print(f"mrjack_ai: compiled in {time.perf_counter() - started:.0f} s", file=sys.stderr)
        if folder is not None:
            # Where it cannot be written it is compiled again next time; that is all.
            with contextlib.suppress(OSError):
                (folder / self._marker).touch()


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def _helper_process(place: str) -> Iterator[None]:
    """While the block runs, another process compiles every second kernel into the same cache.

    numba compiles on one thread at a time, so only a process can help. That it fails is no error:
    what is not in the cache then is compiled here.
    """
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    program = f"from {__name__} import compile_second_share; compile_second_share({place!r})"
    try:
        helper = subprocess.Popen(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, ValueError, TypeError):  # no interpreter to start, or none is allowed
        yield
        return
    try:
        yield
        helper.wait()
    finally:
        helper.kill()
        helper.wait()


def compile_second_share(place: str) -> None:
    """Compile the kernels at odd places of a group, given as `module:name`."""
    module, _, name = place.partition(":")
    group: KernelGroup = getattr(import_module(module), name)
    group.compile_share(1, 2)


def empty_game() -> Words:
    """A game of the standard variant with nothing in it: for the types of arguments alone."""
    return np.zeros(game_words(DEFAULT_VARIANT), np.uint64)


def _engine_calls(tables: Words) -> list[Call]:
    game, actions = empty_game(), np.empty(MAX_ACTIONS, np.int64)
    return [
        (kernels.legal_actions, (game, tables, actions)),
        (kernels.apply_action, (game, tables, 0, actions)),
        (kernels.start_game, (game, tables)),
        (features.features, (game, tables, 0, np.zeros(1, np.float32))),
        (kernels.visible, (game, tables)),
        (kernels.lit, (game, tables)),
        (kernels.reachable, (game, tables, 0, 1)),
        (kernels.exits_in_reach, (game, tables, 0)),
        (kernels.remaining_plays, (game, tables, 0)),
        (kernels.last_chance, (game, tables)),
        (kernels.mask_state, (game, 0)),
    ]


def _counting_calls(tables: Words) -> list[Call]:
    game = empty_game()
    return [
        (kernels.count_sequences, (game, tables, 1)),
        (kernels.random_games, (game, tables, 1, np.uint64(0), np.zeros(6, np.int64))),
    ]


def _batch_calls(tables: Words) -> list[Call]:
    from mrjack_ai.engine import batch  # its kernels are built when imported: 10 ms

    games = np.zeros((1, batch.row_words(DEFAULT_VARIANT)), np.uint64)
    generators = np.zeros(1, GENERATOR)
    actions = np.full(1, batch.RESTART)
    lists = np.zeros((1, MAX_ACTIONS), np.int16)
    counts = np.zeros(1, np.int64)
    advance = (
        *(games, tables, generators, actions, 0, 1, False, True, lists, counts),
        np.zeros(1, np.int8),
        np.zeros((1, MAX_ACTIONS), np.bool_),
        np.zeros((1, _MOST_FEATURES), np.float32),
        np.zeros((1, 2), np.float32),
        np.zeros(1, np.bool_),
        np.zeros(1, np.uint8),
        np.zeros((0, 2, 0), np.float32),
    )
    return [
        (batch.advance, advance),
        (batch.sample_actions, (lists, counts, generators, actions)),
        (batch.find_illegal, (lists, counts, actions)),
    ]


ENGINE = KernelGroup(f"{__name__}:ENGINE", "engine", _engine_calls)
"""What every game needs: starting, legal actions, playing, what is visible."""
COUNTING = KernelGroup(f"{__name__}:COUNTING", "counting of games", _counting_calls)
"""Perft and random games in one compiled call."""
BATCH = KernelGroup(f"{__name__}:BATCH", "environments", _batch_calls)
"""Many games at once."""
