"""From the options of `mrjack play` to the game."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import click

from mrjack_ai.cli.options import (
    AGENT,
    PLAY_AGAINST,
    Command,
    Number,
    Options,
    code_option,
    drawing_options,
    option_variant,
    uses_color,
    uses_unicode,
    variant_options,
)
from mrjack_ai.common.files import reason_of
from mrjack_ai.errors import EXIT_INTERRUPTED, RecordError
from mrjack_ai.play.dialogue import Dialogue, Drawing, hint_agent
from mrjack_ai.play.session import Session
from mrjack_ai.play.terminal import play, terminal_width
from mrjack_ai.setup.variant import PLAYER_NAMES, Variant, make_variant
from mrjack_ai.tournament import MOST_SEED


def play_command(options: Options, variant: Variant, *, color: bool, unicode: bool) -> bool:
    """Play the game that parsed options describe.

    Args:
        options: options of `mrjack play`.
        variant: the variant they describe.
        color: use ANSI escape codes.
        unicode: use more than ASCII.

    Returns:
        False when the human interrupted the game.

    Raises:
        RecordError: for options that exclude each other, files that exist or cannot be read or
            written.
        AgentError: for a wrong agent, or one that fails.
    """
    _refuse_existing("--record", options.record)
    if options.resume is None:
        _refuse_existing("--save", options.save)
        seed = secrets.randbits(128) if options.seed is None else options.seed
        side = PLAYER_NAMES.index(options.side or "detective")
        session = Session(variant, side, options.against or PLAY_AGAINST, seed, options.tracebacks)
        file = options.save
    else:
        given = (options.side, options.against, options.seed)
        if any(value is not None for value in given) or variant != make_variant():
            raise RecordError(
                "--resume takes sides, agent, seed and variant from the saved game; "
                "do not give them again"
            )
        session = Session.from_save(options.resume, options.tracebacks)
        file = options.resume
        if options.save is not None and Path(options.save) != Path(file):
            _refuse_existing("--save", options.save)
            file = options.save
    hints = hint_agent(options.hint_agent, session.opponent)
    if options.record is not None and file is not None:
        if os.path.realpath(options.record) == os.path.realpath(file):
            raise RecordError(f"--record {options.record!r} is where the game is saved, too")
    dialogue = Dialogue(
        session,
        Drawing(color, unicode, terminal_width),
        hints,
        None if file is None else Path(file),
        options.code,
    )
    dialogue.keep()  # a file that cannot be written is better known before the game
    return play(dialogue, None if options.record is None else Path(options.record))


def _refuse_existing(option: str, name: str | None) -> None:
    if name is None:
        return
    try:
        there = Path(name).exists()
        placed = bool(name) and "\0" not in name and Path(name).parent.is_dir()
    except (OSError, ValueError) as error:
        raise RecordError(f"{option} {name!r}: {reason_of(error)}") from None
    if not placed:
        raise RecordError(f"{option}: cannot write {name!r}: there is no such folder")
    if there:
        raise RecordError(
            f"{option} {name!r} exists already and is not overwritten; give another name, or carry "
            "on with a saved game by --resume"
        )


@click.command("play", cls=Command)
@click.option(
    "--as", "side", type=click.Choice(PLAYER_NAMES), help="whom you play  [default: detective]"
)
@click.option(
    "--against", type=AGENT, metavar="AGENT", help=f"the other player  [default: {PLAY_AGAINST}]"
)
@click.option(
    "--seed",
    type=Number(0, MOST_SEED),
    help="decides the cards and the agent's randomness  [default: any]",
)
@click.option(
    "--save",
    metavar="FILE",
    help=("keep the game there after every action; the file holds the secrets, so do not look"),
)
@click.option("--resume", metavar="FILE", help="carry on with a saved game")
@click.option("--record", metavar="FILE", help="write the record of the finished game, as text")
@click.option(
    "--hint-agent",
    type=AGENT,
    metavar="AGENT",
    help=("who gives hints  [default: the opponent if it searches, else ismcts:sims=2000]"),
)
@click.option(
    "--tracebacks", is_flag=True, help="if the agent fails, show its error, which may tell secrets"
)
@drawing_options
@code_option
@variant_options
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Play a game against an agent in this terminal. `help` in the game
    explains the rules and the commands. A saved game holds the secrets of both sides.
    """
    options = Options.of(context)
    finished = play_command(
        options, option_variant(options), color=uses_color(options), unicode=uses_unicode(options)
    )
    return 0 if finished else EXIT_INTERRUPTED
