"""The command `mrjack show`."""

from __future__ import annotations

from typing import Any

import click

from mrjack_ai.cli.options import (
    Command,
    Number,
    Options,
    drawing_options,
    game_option,
    moment,
    uses_color,
    uses_unicode,
    variant_options,
)
from mrjack_ai.common.files import write_whole
from mrjack_ai.render.svg import board_svg
from mrjack_ai.render.terminal import board_text
from mrjack_ai.setup.variant import PLAYER_NAMES
from mrjack_ai.tournament import MOST_GAMES


def _show(options: Options) -> int:
    state = moment(options)
    view = state
    if options.player != "all":
        view = state.observation(PLAYER_NAMES.index(options.player))  # type: ignore[assignment]
    if options.svg is not None:
        write_whole(options.svg, board_svg(view), options.what, options.board)
        print(f"the picture is in {options.svg}")
        return 0
    print(board_text(view, color=uses_color(options), unicode=uses_unicode(options)))
    return 0


@click.command("show", cls=Command)
@click.argument("what", required=False)
@game_option
@click.option("--at", type=Number(0, MOST_GAMES), help="after the first N actions  [default: all]")
@click.option(
    "--player",
    type=click.Choice(("all", *PLAYER_NAMES)),
    default="all",
    show_default=True,
    help="whose knowledge to show",
)
@drawing_options
@click.option("--svg", metavar="FILE", help="write a drawn picture to this file instead")
@variant_options
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Draw a position text, or the moment of a recorded game in a file, as a board; without WHAT
    a new game.
    """
    return _show(Options.of(context))
