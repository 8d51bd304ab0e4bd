"""Compile kernels once, group by group, and say so while the user waits."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable

import numpy as np

from mrjack_ai.engine import compile as compiling
from mrjack_ai.engine import features, kernels
from mrjack_ai.engine.layout import GENERATOR, game_words
from mrjack_ai.engine.tables import MAX_ACTIONS, Words, build_tables
from mrjack_ai.setup.variant import Variant

_MOST_FEATURES = 4096


class KernelGroup:
    """Kernels that are compiled together, when something first needs them.

    Args:
        what: what they are for, as the user reads it while they are compiled.
        marker: name of the file that marks a cache that holds them all.
        run: calls each kernel once, with the types of arguments that the library uses.
    """

    def __init__(self, what: str, marker: str, run: Callable[[Variant, Words], None]) -> None:
        self._what = what
        self._marker = marker
        self._run = run
        self._ready = compiling.JIT_DISABLED

    def is_compiled(self) -> bool:
        """True when the kernels are in the cache, or compiled in this process."""
        folder = compiling.CACHE_FOLDER
        return self._ready or (folder is not None and (folder / self._marker).exists())

    def ensure(self, variant: Variant) -> None:
        """Compile the kernels unless that has been done, with a line on standard error.

        The cost of later calls is one comparison.
        """
        if self._ready:
            return
        if not self.is_compiled():
            self._compile(variant)
        self._ready = True

    def load(self, variant: Variant) -> None:
        """Bring every kernel into this process, so that no first call counts as thinking."""
        self.ensure(variant)
        if not compiling.JIT_DISABLED:
            self._run(variant, build_tables(variant))

    def _compile(self, variant: Variant) -> None:
        folder = compiling.CACHE_FOLDER
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
        self._run(variant, build_tables(variant))
        print(f"mrjack_ai: compiled in {time.perf_counter() - started:.0f} s", file=sys.stderr)
        if folder is not None:
            # Where it cannot be written it is compiled again next time; that is all.
            with contextlib.suppress(OSError):
                (folder / self._marker).touch()


def game_to_move(variant: Variant, tables: Words) -> Words:
    """A game in which a player has just chosen the first card: what kernels are first run on."""
    game = np.zeros(game_words(variant), np.uint64)
    scratch = np.empty(MAX_ACTIONS, np.int64)
    kernels.start_game(game, tables)
    for _ in range(3):  # identity, deal, card
        kernels.legal_actions(game, tables, scratch)
        kernels.apply_action(game, tables, int(scratch[0]), scratch)
    return game


def _run_engine(variant: Variant, tables: Words) -> None:
    game = game_to_move(variant, tables)
    kernels.visible(game, tables)
    kernels.lit(game, tables)
    kernels.reachable(game, tables, 0, 1)
    kernels.exits_in_reach(game, tables, 0)
    features.features(game, tables, 0, np.zeros(_MOST_FEATURES, np.float32))
    kernels.mask_state(game.copy(), 0)


def _run_counting(variant: Variant, tables: Words) -> None:
    game = game_to_move(variant, tables)
    kernels.count_sequences(game, tables, 1)
    kernels.random_games(game, tables, 1, np.uint64(0), np.zeros(6, np.int64))


def _run_batch(variant: Variant, tables: Words) -> None:
    from mrjack_ai.engine import batch  # its kernels are built when imported: 10 ms

    games = np.zeros((1, batch.row_words(variant)), np.uint64)
    generators = np.zeros(1, GENERATOR)
    actions = np.full(1, batch.RESTART)
    lists = np.zeros((1, MAX_ACTIONS), np.int16)
    counts = np.zeros(1, np.int64)
    batch.advance(
        games,
        tables,
        generators,
        actions,
        0,
        1,
        False,
        True,
        lists,
        counts,
        np.zeros(1, np.int8),
        np.zeros((1, MAX_ACTIONS), np.bool_),
        np.zeros((1, _MOST_FEATURES), np.float32),
        np.zeros((1, 2), np.float32),
        np.zeros(1, np.bool_),
        np.zeros(1, np.uint8),
        np.zeros((0, 2, 0), np.float32),
    )
    batch.sample_actions(lists, counts, generators, actions)
    batch.find_illegal(lists, counts, actions)


ENGINE = KernelGroup("engine", "complete-engine", _run_engine)
"""What every game needs: starting, legal actions, playing, what is visible."""
COUNTING = KernelGroup("counting of games", "complete-counting", _run_counting)
"""Perft and random games in one compiled call."""
BATCH = KernelGroup("environments", "complete-batch", _run_batch)
"""Many games at once."""
