"""The command `mrjack bench`."""

from __future__ import annotations

import os
import time
from typing import Any

import click

from mrjack_ai.cli.options import (
    Command,
    Number,
    Options,
)
from mrjack_ai.game.perft import random_games
from mrjack_ai.game.state import new_game


def _bench(options: Options) -> int:
    state = new_game()
    random_games(state, 1000, seed=0)
    signature = random_games(state, 10_000, seed=1)
    print(f"signature {signature.decisions} {signature.detective_wins}")
    for threads in sorted({1, options.threads}):
        started = time.perf_counter()
        totals = random_games(state, options.games, seed=2, threads=threads)
        seconds = time.perf_counter() - started
        print(
            f"{threads} thread{'s' if threads > 1 else ''}: "
            f"{options.games / seconds:,.0f} random games/s, "
            f"{totals.decisions / seconds / 1e6:.1f} million decisions/s"
        )
    return 0


@click.command("bench", cls=Command)
@click.option(
    "--games", type=Number(1, 10**9), default=100_000, show_default=True, help="random games"
)
@click.option(
    "--threads",
    type=Number(1, 1024),
    default=os.cpu_count() or 1,
    show_default=True,
    help="threads",
)
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Play random games in compiled code; print speeds and a signature that only changes when
    the rules or the random generator do.
    """
    return _bench(Options.of(context))
