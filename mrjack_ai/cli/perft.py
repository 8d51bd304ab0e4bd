"""The command `mrjack perft`."""

from __future__ import annotations

import time
from typing import Any

import click

from mrjack_ai.cli.options import (
    PERFT_START,
    Command,
    Number,
    Options,
    position_state,
    variant_options,
)
from mrjack_ai.common.interrupts import interruptible
from mrjack_ai.game.perft import MOST_DEPTH, perft, perft_divide


def _perft(options: Options) -> int:
    state = position_state(options, PERFT_START)
    started = time.perf_counter()
    if options.divide:
        divide = interruptible(perft_divide, state, options.depth)
        total = sum(divide.values())
        width = max((len(name) for name in divide), default=0)
        for name, count in divide.items():
            print(f"{name:<{width}}  {count}")
    else:
        total = interruptible(perft, state, options.depth)
    seconds = time.perf_counter() - started
    print(f"depth {options.depth}: {total} sequences in {seconds:.2f} s")
    return 0


@click.command("perft", cls=Command)
@click.option("--depth", type=Number(0, MOST_DEPTH), default=4, show_default=True, help="plies")
@click.option("--divide", is_flag=True, help="also by first action")
@click.option("--position", metavar="TEXT", help="start from a position text")
@click.option(
    "--actions",
    metavar="TEXT",
    help=(
        f"start after these actions, joined by ';'  [default: {PERFT_START!r} in the standard game]"
    ),
)
@variant_options
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Count the action sequences of exactly DEPTH plies; chance outcomes count."""
    return _perft(Options.of(context))
