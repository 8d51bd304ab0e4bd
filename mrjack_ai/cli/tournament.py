"""The command `mrjack tournament`."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from typing import Any

import click

from mrjack_ai.agents import (
    load_code,
)
from mrjack_ai.cli.console import (
    live_table,
    print_forfeits,
    print_summary,
)
from mrjack_ai.cli.options import (
    AGENT,
    Command,
    Number,
    Options,
    RealNumber,
    code_option,
    many_option,
    variant_options,
)
from mrjack_ai.common.text import printable
from mrjack_ai.errors import EXIT_INTERRUPTED
from mrjack_ai.game.state import new_game
from mrjack_ai.tournament import (
    FORMATS,
    MOST_GAMES,
    MOST_SEED,
    Settings,
    connect_cluster,
    make_settings,
    run_tournament,
    summarize,
)
from mrjack_ai.tournament.config import (
    DEFAULT_AGENTS,
    DEFAULT_GAMES,
    DEFAULT_SPRT_GAMES,
    read_description,
)
from mrjack_ai.tournament.schedule import MOVE_TIME_LIMITS
from mrjack_ai.tournament.store import changed_code


def tournament_settings(options: Options) -> Settings:
    """The tournament that parsed options describe."""
    return make_settings(
        agents=options.agents,
        games=options.games,
        seed=options.seed,
        key=options.key,
        format=options.format,
        deals=options.deals,
        move_time_limit=options.move_time_limit,
        sprt=options.sprt,
        board=options.board,
        cast=options.cast,
        turns=options.turns,
        first=options.first,
    )


def _hide_key(options: Options) -> None:
    """Take the key from where agents of this process could read the command line."""
    sys.argv = ["KEY" if options.key in word else word for word in sys.argv]
    context: click.Context | None = options.context
    options.context = None
    while context is not None:
        context.params.pop("key", None)
        context.obj = None
        context = context.parent


def _tournament(options: Options) -> int:
    if options.settings is not None:
        described = read_description(options.settings)
        for file in described.pop("code", ()):
            load_code(file)
        options = options.over(described)
    settings = tournament_settings(options)
    if options.key is not None:
        _hide_key(options)
    new_game(settings.variant)  # compiles, if need be, before the bar appears and workers start
    if options.out is not None:
        for file in changed_code(options.out, settings):
            print(
                f"{printable(file)} has changed since games in {options.out} were played; those "
                "games are kept, and the others are played by the file as it is now",
                file=sys.stderr,
            )
    started = time.perf_counter()
    with contextlib.ExitStack() as stack:
        executor = None
        if options.cluster is not None:
            executor = stack.enter_context(connect_cluster(options.cluster))
        watch = stack.enter_context(live_table())
        results = run_tournament(
            settings,
            workers=options.workers,
            out=options.out,
            watch=watch,
            allow_cheats=options.allow_cheats,
            strict=options.strict,
            executor=executor,
        )
    seconds = time.perf_counter() - started
    print_summary(summarize(results))
    print_forfeits(results)
    played = len(results.records)
    print(f"{played} games, seed {settings.seed}, {seconds:.1f} s", end="")
    print(f"; key {results.settings.key}" if results.settings.key else "", end="")
    print(f"; every game is in {options.out}" if options.out else "")
    if results.complete:
        return 0
    print(f"\ninterrupted after {played} of {settings.total_games} games", file=sys.stderr)
    if options.out:
        command = shlex.join(["mrjack", *options.command_line])
        print(f"to carry on: {command}", file=sys.stderr)
    else:
        print("nothing was kept; with --out FILE it could be carried on", file=sys.stderr)
    return EXIT_INTERRUPTED


@click.command("tournament", cls=Command)
@click.option(
    "--settings",
    metavar="FILE",
    help=(
        "TOML file with any of the options up to --sprt, those of the variant, "
        "and code, as in agents = ['greedy', 'random']; options given here come "
        "first"
    ),
)
@click.option(
    "--format",
    type=click.Choice(tuple(FORMATS)),
    default="round-robin",
    show_default=True,
    help="; ".join(f"{name}: {meaning}" for name, meaning in FORMATS.items()),
)
@many_option(
    "--agents",
    type=AGENT,
    metavar="AGENT...",
    default=DEFAULT_AGENTS,
    show_default=True,
    help="the agents, name or name:key=value,... or 'cmd:PROGRAM ARGUMENTS'",
)
@click.option(
    "--games",
    type=Number(1, MOST_GAMES),
    help=(
        f"games of each pairing, even  [default: {DEFAULT_GAMES}, or all there are with --deals]"
    ),
)
@click.option(
    "--seed",
    type=Number(0, MOST_SEED),
    default=1,
    show_default=True,
    help="the same seed gives the same games of built-in agents",
)
@click.option(
    "--key",
    metavar="HEX",
    help=(
        "repeat a tournament with agents from outside: the key it told at its end; without, "
        "such a tournament has a random key, so that no agent can compute the deals from the seed"
    ),
)
@click.option("--deals", metavar="FILE", help="play these deals, as written by mrjack deals")
@click.option(
    "--move-time-limit",
    type=RealNumber(MOVE_TIME_LIMITS),
    metavar="MS",
    help="milliseconds for a decision; an agent that takes longer forfeits the game",
)
@many_option(
    "--sprt",
    metavar="WORD...",
    help=(
        f"stop a match of two agents when a sequential test has decided between "
        f"two Elo differences of the first one: elo0=0 elo1=20 alpha=0.05 "
        f"beta=0.05; --games is then the most that are played  [default: "
        f"{DEFAULT_SPRT_GAMES}]"
    ),
)
@click.option(
    "--workers",
    type=Number(1, 1024),
    default=1,
    show_default=True,
    help="processes; the games are the same with any number",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help=(
        "play on the workers of a Dask cluster, whose scheduler is at ADDRESS, "
        "such as tcp://192.168.0.5:8786; results are written here (needs the "
        "extra distributed)"
    ),
)
@click.option(
    "--out",
    metavar="FILE",
    help=("keep every game in FILE (an SQLite database); run again to carry on after a break"),
)
@click.option(
    "--allow-cheats",
    is_flag=True,
    help="let agents play that look at what they may not know, such as omniscient",
)
@click.option(
    "--strict",
    is_flag=True,
    help=(
        "stop when an agent raises, acts illegally or is too slow, instead of "
        "going on with that game lost"
    ),
)
@code_option
@variant_options
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Let agents play each other. Each deal - Jack's identity, the cards of every turn, the
    alibi pile - is played twice, with the sides swapped.
    """
    return _tournament(Options.of(context))
