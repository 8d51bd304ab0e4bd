"""The command `mrjack deals`."""

from __future__ import annotations

import os
from typing import Any

import click

from mrjack_ai.cli.options import (
    Command,
    Number,
    Options,
    option_variant,
    variant_options,
)
from mrjack_ai.tournament import (
    MOST_SEED,
    DealError,
    seeded_deal,
    write_deals,
)
from mrjack_ai.tournament.config import (
    DEFAULT_GAMES,
)


def _deals(options: Options) -> int:
    if os.path.exists(options.file):
        raise DealError(f"{options.file!r} exists already; deals in use are not overwritten")
    variant = option_variant(options)
    deals = [seeded_deal(variant, options.seed, number) for number in range(options.count)]
    write_deals(options.file, deals, variant)
    print(f"{len(deals)} deals are in {options.file}")
    return 0


@click.command("deals", cls=Command)
@click.argument("file", metavar="FILE")
@click.option(
    "--count",
    type=Number(1, 10**6),
    default=DEFAULT_GAMES // 2,
    show_default=True,
    help="how many",
)
@click.option(
    "--seed",
    type=Number(0, MOST_SEED),
    default=1,
    show_default=True,
    help="seed; a tournament of this seed without a key has the same deals",
)
@variant_options
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Draw deals and write them to FILE, which must not exist yet; it can be kept and played by
    any number of tournaments (mrjack tournament --deals FILE). A deal holds Jack's identity,
    the cards of every odd turn and the alibi pile.
    """
    return _deals(Options.of(context))
