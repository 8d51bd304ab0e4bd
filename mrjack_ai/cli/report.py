"""The command `mrjack report`."""

from __future__ import annotations

import os
from typing import Any

import click

from mrjack_ai.cli.options import (
    Command,
    Options,
)
from mrjack_ai.reports import write_report


def _report(options: Options) -> int:
    out = options.out or os.path.splitext(options.file)[0] + ".html"
    games = write_report(options.file, out)
    print(f"the report of {games} games is in {out}")
    return 0


@click.command("report", cls=Command)
@click.argument("file", metavar="FILE")
@click.option("-o", "--out", metavar="PAGE", help="the page  [default: FILE with the ending .html]")
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Write one self-contained page: standings, cross table, pairings, balance of sides,
    endings, lengths, rating against thinking time, and some games move by move. It works from
    disk and without a network.
    """
    return _report(Options.of(context))
