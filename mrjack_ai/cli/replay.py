"""The command `mrjack replay`."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from mrjack_ai.cli.options import (
    Command,
    Options,
    game_option,
)
from mrjack_ai.common.files import write_whole
from mrjack_ai.errors import MrJackError, NotationError
from mrjack_ai.game.record import GameRecord
from mrjack_ai.reports.replay import replay_page
from mrjack_ai.tournament import (
    forfeit_text,
    read_game,
    read_games,
)
from mrjack_ai.tournament.contents import is_results_file
from mrjack_ai.tournament.standings import ENDING_NAMES


def _replay(options: Options) -> int:
    if options.html is not None:
        return _replay_page(options)
    if options.game is not None:
        raise NotationError("--game needs --html: without it all games of the file are checked")
    records = read_games(options.file)
    ours = is_results_file(options.file)
    for place, record in enumerate(records, start=1):
        # Games of a results file have numbers of their own, and some may be missing.
        number = record.details["game"] if ours else place
        _check(options.file, number, record)
        if options.text:
            print(record.to_text())
    counts = Counter(record.ending for record in records)
    endings = [f"{name} {counts[word]}" for word, name in ENDING_NAMES.items() if word != "forfeit"]
    forfeited = sum("forfeit" in record.details for record in records)
    if forfeited:
        endings.append(f"forfeited {forfeited}")
    unfinished = sum(record.ending is None for record in records) - forfeited
    if unfinished:
        endings.append(f"unfinished {unfinished}")
    games = "1 game keeps" if len(records) == 1 else f"{len(records)} games keep"
    print(f"{options.file}: {games} the rules ({', '.join(endings)})")
    return 0


def _replay_page(options: Options) -> int:
    record = read_game(options.file, options.game)
    if options.text:
        print(record.to_text())
    note = forfeit_text(record) if "forfeit" in record.details else None
    try:
        page = replay_page(record, note)
    except MrJackError as error:
        raise type(error)(f"{options.file}: {error}") from None
    write_whole(options.html, page, options.file)
    print(f"the game is in {options.html}")
    return 0


def _check(file: str, number: int, record: GameRecord) -> None:
    try:
        record.replay()
    except MrJackError as error:
        raise type(error)(f"{file}, game {number}: {error}") from None


@click.command("replay", cls=Command)
@click.argument("file")
@click.option("--text", is_flag=True, help="also print each game in the readable text form")
@click.option("--html", metavar="FILE", help="write one game to this file, as a page of its own")
@game_option
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Replay every game of a results file, of records as text, or of one JSON record a line, and
    check it against the rules; or write one game as a web page to step through.
    """
    return _replay(Options.of(context))
