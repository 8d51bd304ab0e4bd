"""Compile every kernel once, and say so while the user waits."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable

import numpy as np

from mrjack_ai.engine import behaviour, entry, greedy, observe, search, tactics, value
from mrjack_ai.engine import compile as compiling
from mrjack_ai.engine.layout import GENERATOR, STATE_WORDS, game_words
from mrjack_ai.tables import MAX_ACTIONS, Words, build_tables
from mrjack_ai.variant import Variant

_MARKER = "complete"
_BATCH_MARKER = "complete-batch"
_MOST_FEATURES = 4096
_ready = compiling.JIT_DISABLED
_batch_ready = compiling.JIT_DISABLED


def is_compiled() -> bool:
    """True when every kernel is in the cache, or compiled in this process."""
    return _ready or _is_marked(_MARKER)


def _is_marked(marker: str) -> bool:
    folder = compiling.CACHE_FOLDER
    return folder is not None and (folder / marker).exists()


def ensure_compiled(variant: Variant) -> None:
    """Compile all kernels unless that has been done, with a line on standard error.

    Called before the first game of a process; the cost of later calls is one comparison.
    """
    global _ready
    if _ready:
        return
    _compile("engine", 20, _MARKER, _run_all, variant)
    _ready = True


def ensure_batch_compiled(variant: Variant) -> None:
    """As `ensure_compiled`, with the kernels of batches too, which ordinary use does not need."""
    global _batch_ready
    ensure_compiled(variant)
    if _batch_ready:
        return
    _compile("environments", 4, _BATCH_MARKER, _run_batch, variant)
    _batch_ready = True


def _compile(
    what: str, seconds: int, marker: str, run: Callable[[Variant, Words], None], variant: Variant
) -> None:
    """Call some kernels once, unless the cache is marked to hold them, and mark it."""
    if _is_marked(marker):
        return
    _announce(what, seconds)
    started = time.perf_counter()
    run(variant, build_tables(variant))
    print(f"mrjack_ai: compiled in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if compiling.CACHE_FOLDER is not None:
        # Where it cannot be written it is compiled again next time; that is all.
        with contextlib.suppress(OSError):
            (compiling.CACHE_FOLDER / marker).touch()


def load_kernels(variant: Variant) -> None:
    """Bring every kernel into this process (0.1 s), so that no first call counts as thinking."""
    ensure_compiled(variant)
    if not compiling.JIT_DISABLED:
        _run_all(variant, build_tables(variant))


def _announce(what: str, seconds: int) -> None:
    if compiling.CACHE_FOLDER is not None:
        message = f"compiling the {what}, once (about {seconds} s) ..."
    else:
        message = (
            f"compiling the {what} (about {seconds} s); it cannot be kept, since no cache folder "
            "can be written: set NUMBA_CACHE_DIR to one that can ..."
        )
    print(f"mrjack_ai: {message}", file=sys.stderr, flush=True)


def _run_all(variant: Variant, tables: Words) -> None:
    """Call every entry point with the argument types the library uses."""
    game = np.zeros(game_words(variant), np.uint64)
    scratch = np.empty(MAX_ACTIONS, np.int64)
    entry.start_game(game, tables)
    for _ in range(3):  # identity, deal, card: then it is a player's turn
        entry.legal_actions(game, tables, scratch)
        entry.apply_action(game, tables, int(scratch[0]), scratch)
    entry.visible(game, tables)
    entry.lit(game, tables)
    entry.reachable(game, tables, 0, 1)
    entry.exits_in_reach(game, tables, 0)
    entry.count_sequences(game, tables, 1)
    observe.features(game, tables, 0, np.zeros(_MOST_FEATURES, np.float32))
    greedy.rate_actions(game, tables, 1, np.empty(MAX_ACTIONS))
    entry.mask_state(game.copy(), 0)
    tactics.judge_actions(game, tables, scratch)
    settings = np.zeros(search.SETTINGS.itemsize // 8, np.uint64)
    settings.view(search.SETTINGS)["chances"] = np.inf
    weights = np.zeros(value.WEIGHTS, np.float32)
    nodes = np.zeros(4096 * search.NODE_WORDS, np.uint64)
    search.search(game, tables, weights, settings, nodes, 1)
    search.extract_subtree(nodes, 0, nodes.copy())
    events = np.zeros(1, np.int64)
    start = np.zeros(game_words(variant), np.uint64)
    entry.start_game(start, tables)
    behaviour.weigh_plays(start, tables, weights, events[:0], 0, 1, 1.0, np.zeros(8))
    behaviour.model_choices(game, tables, weights, 1, 1.0, np.zeros((8, MAX_ACTIONS)))
    described = np.zeros((1, value.ACTIVE), np.int64)
    value.describe_positions(game[None, :STATE_WORDS].copy(), tables, described)
    entry.random_games(game, tables, 1, np.uint64(0), np.zeros(6, np.int64))


def _run_batch(variant: Variant, tables: Words) -> None:
    """Call every kernel of batches with the argument types the library uses."""
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
