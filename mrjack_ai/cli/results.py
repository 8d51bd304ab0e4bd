"""The commands `mrjack results`, `results export` and `results recover`."""

from __future__ import annotations

import json
import shlex

import click

from mrjack_ai.cli.console import (
    MOST_FORFEITS,
    print_forfeits,
    print_summary,
)
from mrjack_ai.cli.options import (
    Command,
)
from mrjack_ai.common.text import printable
from mrjack_ai.tournament import (
    export,
    load_results,
    log_texts,
    recover,
    summarize,
)
from mrjack_ai.tournament.store import ResultsReader


def _print_file(path: str, tracebacks: bool) -> None:
    results = load_results(path)
    settings = results.settings
    words = {**settings.to_dict(), "board": settings.variant.board.name}
    words["agents"] = shlex.join(settings.agents)
    words["cast"] = "+".join(settings.variant.cast)
    source = "seed" if settings.key is None else "seed and the key"
    words["deals"] = f"drawn from the {source}" if settings.deals is None else len(settings.deals)
    words["key"] = settings.key or "none"
    limit = settings.move_time_limit
    words["sprt"] = settings.sprt or "none"
    words["move_time_limit"] = "none" if limit is None else f"{limit:g} ms"
    for name, value in words.items():
        print(f"{name.replace('_', ' ')}: {value}")
    with ResultsReader(path) as reader:
        for run, started, workers, versions in reader.table("runs")[1]:
            software = " ".join(" ".join(pair) for pair in json.loads(versions).items())
            software = printable(software)  # names of code files among it
            print(f"run {run}: {started}, workers {workers}, {software}")
    print(f"played: {len(results.records)} of {settings.total_games} games\n")
    print_summary(summarize(results))
    print_forfeits(results, most=settings.total_games if tracebacks else MOST_FORFEITS)
    if tracebacks:
        with ResultsReader(path) as reader:
            for result in reader.results():
                logs = log_texts(result, settings) if result.forfeit_by is not None else []
                if result.forfeit_traceback or logs:
                    trace = printable(result.forfeit_traceback or "", lines=True)
                    print(f"\ngame {result.number + 1}:\n{trace}", end="")
                for title, text in logs:
                    print(f"{title}:\n{text}")


class _Results(click.Group):
    """Shows a file when the first word is no command of its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in ("--help", *self.commands):
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group(
    "results",
    cls=_Results,
    no_args_is_help=False,
    subcommand_metavar="FILE [--tracebacks] | export FILE OUT... | recover FILE NEW_FILE",
)
def command() -> None:
    """Show a results file: what was to be played, by what software, the standings, and why games
    were forfeited. --tracebacks adds all forfeited games, with Python's tracebacks and what
    the agents wrote to their logs.
    """


@command.command("show", cls=Command, hidden=True)
@click.argument("file", metavar="FILE")
@click.option(
    "--tracebacks",
    is_flag=True,
    help=(
        "all forfeited games, with Python's tracebacks and what the agents "
        "wrote to their logs, as programs to standard error"
    ),
)
def _show(file: str, tracebacks: bool) -> int:
    """Show a results file of a tournament."""
    _print_file(file, tracebacks)
    return 0


@command.command("export", cls=Command)
@click.argument("file", metavar="FILE")
@click.argument("outs", metavar="OUT...", nargs=-1, required=True)
def _export(file: str, outs: tuple[str, ...]) -> int:
    """Write the games as a table (OUT.csv, OUT.parquet) or as records (OUT.jsonl, OUT.txt); all
    files or, after an error, none.
    """
    games = export(file, *outs)
    for out in outs:
        print(f"{games} games are in {out}")
    return 0


@command.command("recover", cls=Command)
@click.argument("file", metavar="FILE")
@click.argument("new_file", metavar="NEW_FILE")
def _recover(file: str, new_file: str) -> int:
    """Copy what can be read of a damaged file."""
    print(f"{recover(file, new_file)} games are in {new_file}")
    return 0
