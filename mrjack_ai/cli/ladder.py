"""The command `mrjack ladder`."""

from __future__ import annotations

import sys
from typing import Any

import click

from mrjack_ai.cli.console import (
    progress_bar,
)
from mrjack_ai.cli.options import (
    AGENT,
    Command,
    Number,
    Options,
    code_option,
    many_option,
    option_variant,
    seed_option,
    variant_options,
    workers_option,
)
from mrjack_ai.errors import EXIT_INTERRUPTED
from mrjack_ai.game.state import new_game
from mrjack_ai.tournament import MOST_GAMES
from mrjack_ai.tournament.ladder import RUNGS, games_of, ladder_pairs, markdown_table, run_ladder


def _ladder(options: Options) -> int:
    variant = option_variant(options)
    new_game(variant)  # compiles, if need be, before the bar appears and workers start
    rungs = None if options.rungs is None else [rung.strip() for rung in options.rungs]
    pairs = ladder_pairs(rungs)
    games = [games_of(pair, options.games) for pair in pairs]
    with progress_bar() as advance:

        def report(agent: str, against: str, done: int, total: int) -> None:
            before = sum(games[: pairs.index((agent, against))])
            advance(before + done, sum(games))

        steps = run_ladder(
            rungs,
            games=options.games,
            seed=options.seed,
            workers=options.workers,
            variant=variant,
            out=options.out,
            progress=report,
        )
    print(markdown_table(steps))
    if len(steps) == len(pairs):
        return 0
    print(f"interrupted after {len(steps)} of {len(pairs)} pairings", file=sys.stderr)
    return EXIT_INTERRUPTED


@click.command("ladder", cls=Command)
@many_option(
    "--rungs",
    type=AGENT,
    metavar="AGENT...",
    help=f"the agents, the weakest first  [default: {' '.join(RUNGS)}]",
)
@click.option(
    "--games",
    type=Number(1, MOST_GAMES),
    default=1000,
    show_default=True,
    help=(
        "games of each pairing; a half from 2000 simulations on, a tenth from 10000 or on a clock"
    ),
)
@seed_option
@workers_option
@click.option(
    "--out",
    metavar="FOLDER",
    help=("keep the games of each pairing there; run again to carry on an interrupted ladder"),
)
@code_option
@variant_options
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Each rung plays the one below it, and those above greedy also play greedy, on paired deals
    from both sides; without --rungs then also ismcts at doubled budgets. Prints a Markdown
    table.
    """
    return _ladder(Options.of(context))
