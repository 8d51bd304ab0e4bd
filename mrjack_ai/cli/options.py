"""The options of the `mrjack` command."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any, NoReturn

from mrjack_ai.errors import EXIT_BAD_INPUT
from mrjack_ai.setup.board import built_in_boards
from mrjack_ai.setup.variant import FULL_CAST, PLAYER_NAMES
from mrjack_ai.tournament import FORMATS
from mrjack_ai.tournament.config import DEFAULT_AGENTS, DEFAULT_GAMES, DEFAULT_SPRT_GAMES
from mrjack_ai.tournament.ladder import RUNGS
from mrjack_ai.version import RULES_VERSION, __version__

PERFT_START = "jack JS; deal SH,JW,JS,IL"
PLAY_AGAINST = "ismcts:time=500"

_GAME_HELP = (
    "which game: of a results file its number in the schedule, as in the report and in messages, "
    "else its place in the file (default: the first)"
)


class _Parser(argparse.ArgumentParser):
    """Bad options end in one line and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: {message} (try {self.prog} --help)\n")


def build_parser(described: Mapping[str, Any] | None = None) -> argparse.ArgumentParser:
    """The command's options.

    Args:
        described: values of options of `mrjack tournament` to take when they are not given.
    """
    parser = _Parser(
        prog="mrjack", description="Play, check and study the board game Mr. Jack with AI agents."
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"mrjack_ai {__version__} (rules version {RULES_VERSION})",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    command = commands.add_parser(
        "tournament",
        help="let agents play each other",
        description="Let agents play each other. Each deal - Jack's identity, the cards of every "
        "turn, the alibi pile - is played twice, with the sides swapped.",
    )
    command.add_argument(
        "--settings",
        metavar="FILE",
        help="TOML file with any of the options up to --sprt, those of the variant, and code, "
        "as in agents = ['greedy', 'random']; options given here come first",
    )
    command.add_argument(
        "--format",
        choices=tuple(FORMATS),
        default="round-robin",
        help="; ".join(f"{name}: {meaning}" for name, meaning in FORMATS.items())
        + " (default: %(default)s)",
    )
    command.add_argument(
        "--agents",
        nargs="+",
        metavar="AGENT",
        default=list(DEFAULT_AGENTS),
        help="the agents, name or name:key=value,... or 'cmd:PROGRAM ARGUMENTS' (default: "
        "%(default)s)",
    )
    command.add_argument(
        "--games",
        type=int,
        help="games of each pairing, even "
        f"(default: {DEFAULT_GAMES}, or all there are with --deals)",
    )
    command.add_argument(
        "--seed",
        type=int,
        default=1,
        help="seed; the same seed gives the same games of built-in agents (default: %(default)s)",
    )
    command.add_argument(
        "--key",
        metavar="HEX",
        help="repeat a tournament with agents from outside: the key it told at its end; without, "
        "such a tournament has a random key, so that no agent can compute the deals from the seed",
    )
    command.add_argument(
        "--deals", metavar="FILE", help="play these deals, as written by mrjack deals"
    )
    command.add_argument(
        "--move-time-limit",
        type=float,
        metavar="MS",
        help="milliseconds for a decision; an agent that takes longer forfeits the game",
    )
    command.add_argument(
        "--sprt",
        nargs="+",
        metavar="WORD",
        help="stop a match of two agents when a sequential test has decided between two Elo "
        "differences of the first one: elo0=0 elo1=20 alpha=0.05 beta=0.05; --games is then the "
        f"most that are played (default: {DEFAULT_SPRT_GAMES})",
    )
    command.add_argument(
        "--workers",
        type=int,
        default=1,
        help="processes; the games are the same with any number (default: %(default)s)",
    )
    command.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="play on the workers of a Dask cluster, whose scheduler is at ADDRESS, such as "
        "tcp://192.168.0.5:8786; results are written here (needs the extra distributed)",
    )
    command.add_argument(
        "--out",
        metavar="FILE",
        help="keep every game in FILE (an SQLite database); run again to carry on after a break",
    )
    command.add_argument(
        "--allow-cheats",
        action="store_true",
        help="let agents play that look at what they may not know, such as omniscient",
    )
    command.add_argument(
        "--strict",
        action="store_true",
        help="stop when an agent raises, acts illegally or is too slow, instead of going on with "
        "that game lost",
    )
    _add_code(command)
    _add_variant(command)
    command.set_defaults(**(described or {}))

    command = commands.add_parser(
        "results",
        usage="mrjack results FILE [--tracebacks]\n"
        "       mrjack results export FILE OUT [OUT ...]\n"
        "       mrjack results recover FILE NEW_FILE",
        help="show, export or recover the results of a tournament",
        description="Show a results file: what was to be played, by what software, the standings, "
        "and why games were forfeited. export writes the games as a table (OUT.csv, OUT.parquet) "
        "or as records (OUT.jsonl, OUT.txt). recover copies what can be read of a damaged file.",
    )
    command.add_argument("words", nargs="+", metavar="FILE", help="results file of a tournament")
    command.add_argument(
        "--tracebacks",
        action="store_true",
        help="all forfeited games, with Python's "
        "tracebacks and what the agents wrote to their logs, as programs to standard error",
    )

    command = commands.add_parser(
        "report",
        help="write a results file as a web page",
        description="Write one self-contained page: standings, cross table, pairings, balance of "
        "sides, endings, lengths, rating against thinking time, and some games move by move. It "
        "works from disk and without a network.",
    )
    command.add_argument("file", metavar="FILE", help="results file of a tournament")
    command.add_argument(
        "-o", "--out", metavar="PAGE", help="the page (default: FILE with the ending .html)"
    )

    command = commands.add_parser(
        "deals",
        help="write a file of deals",
        description="Draw deals and write them to a file, which can be kept and played by any "
        "number of tournaments (mrjack tournament --deals FILE). A deal holds Jack's identity, "
        "the cards of every odd turn and the alibi pile.",
    )
    command.add_argument("file", help="the file to write; it must not exist yet")
    command.add_argument(
        "--count", type=int, default=DEFAULT_GAMES // 2, help="how many (default: %(default)s)"
    )
    command.add_argument(
        "--seed",
        type=int,
        default=1,
        help="seed; a tournament of this seed without a key has the same deals "
        "(default: %(default)s)",
    )
    _add_variant(command)

    command = commands.add_parser(
        "ladder",
        help="measure how strong the agents are",
        description="Each rung plays the one below it, and those above greedy also play greedy, "
        "on paired deals from both sides; without --rungs then also ismcts at doubled budgets. "
        "Prints a Markdown table.",
    )
    command.add_argument(
        "--rungs",
        nargs="+",
        metavar="AGENT",
        help=f"the agents, the weakest first (default: {' '.join(RUNGS)})",
    )
    command.add_argument(
        "--games",
        type=int,
        default=1000,
        help="games of each pairing; a half from 2000 simulations on, a tenth from 10000 or on a "
        "clock (default: %(default)s)",
    )
    command.add_argument("--seed", type=int, default=1, help="seed (default: %(default)s)")
    command.add_argument("--workers", type=int, default=1, help="processes (default: %(default)s)")
    command.add_argument(
        "--out",
        metavar="FOLDER",
        help="keep the games of each pairing there; run again to carry on an interrupted ladder",
    )
    _add_code(command)
    _add_variant(command)

    command = commands.add_parser(
        "perft",
        help="count action sequences",
        description="Count the action sequences of exactly DEPTH plies; chance outcomes count.",
    )
    command.add_argument("--depth", type=int, default=4, help="plies (default: %(default)s)")
    command.add_argument("--divide", action="store_true", help="also by first action")
    command.add_argument("--position", metavar="TEXT", help="start from a position text")
    command.add_argument(
        "--actions",
        metavar="TEXT",
        help="start after these actions, joined by ';' "
        f"(default: {PERFT_START!r} in the standard game)",
    )
    _add_variant(command)

    command = commands.add_parser(
        "show",
        help="draw a position or a moment of a record",
        description="Draw a position, or the moment of a recorded game, as a board.",
    )
    command.add_argument(
        "what", nargs="?", help="position text or file of games (default: a new game)"
    )
    command.add_argument("--game", type=int, metavar="N", help=_GAME_HELP)
    command.add_argument(
        "--at", type=int, metavar="N", help="after the first N actions (default: all)"
    )
    command.add_argument(
        "--player",
        choices=("all", *PLAYER_NAMES),
        default="all",
        help="whose knowledge to show (default: %(default)s)",
    )
    _add_drawing(command)
    command.add_argument("--svg", metavar="FILE", help="write a drawn picture to this file instead")
    _add_variant(command)

    _add_play(
        commands.add_parser(
            "play",
            help="play against an agent",
            description="Play a game against an agent in this terminal. `help` in the game "
            "explains the rules and the commands. A saved game holds the secrets of both sides.",
        )
    )

    command = commands.add_parser(
        "analyse",
        help="what a searching agent thinks of a position",
        description="Who can be Jack and how likely, the best actions with visits and values, and "
        "the line expected to follow, as the player to move sees the position.",
    )
    command.add_argument("what", help="position text or file of games")
    command.add_argument(
        "--agent",
        default="ismcts:sims=20000",
        help="an agent that searches (default: %(default)s)",
    )
    command.add_argument("--game", type=int, metavar="N", help=_GAME_HELP)
    command.add_argument("--at", type=int, metavar="N", help="after the first N actions")
    command.add_argument("--seed", type=int, default=1, help="seed (default: %(default)s)")
    command.add_argument(
        "--best", type=int, default=10, help="how many actions to show (default: %(default)s)"
    )
    _add_code(command)
    _add_variant(command)

    command = commands.add_parser(
        "replay",
        help="check a file of records against the rules, or make a page of a game",
        description="Replay every game of a file and check it against the rules; or write one game "
        "as a web page to step through.",
    )
    command.add_argument("file", help="results file, records as text, or one JSON record a line")
    command.add_argument(
        "--text", action="store_true", help="also print each game in the readable text form"
    )
    command.add_argument(
        "--html", metavar="FILE", help="write one game to this file, as a page of its own"
    )
    command.add_argument("--game", type=int, metavar="N", help=_GAME_HELP)

    command = commands.add_parser(
        "agents",
        help="list the agents",
        description="List the agents and their parameters, those of code files and installed "
        "packages too.",
    )
    _add_code(command)

    command = commands.add_parser(
        "bench",
        help="measure the speed of this machine",
        description="Play random games in compiled code; print speeds and a signature that "
        "only changes when the rules or the random generator do.",
    )
    command.add_argument(
        "--games", type=int, default=100_000, help="random games (default: %(default)s)"
    )
    command.add_argument(
        "--threads", type=int, default=os.cpu_count() or 1, help="(default: %(default)s)"
    )
    return parser


def _add_play(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as",
        dest="side",
        choices=PLAYER_NAMES,
        help="whom you play (default: detective)",
    )
    parser.add_argument(
        "--against", metavar="AGENT", help=f"the other player (default: {PLAY_AGAINST})"
    )
    parser.add_argument(
        "--seed", type=int, help="decides the cards and the agent's randomness (default: any)"
    )
    parser.add_argument(
        "--save",
        metavar="FILE",
        help="keep the game there after every action; the file holds the secrets, so do not look",
    )
    parser.add_argument("--resume", metavar="FILE", help="carry on with a saved game")
    parser.add_argument(
        "--record", metavar="FILE", help="write the record of the finished game, as text"
    )
    parser.add_argument(
        "--hint-agent",
        metavar="AGENT",
        help="who gives hints (default: the opponent if it searches, else ismcts:sims=2000)",
    )
    parser.add_argument(
        "--tracebacks",
        action="store_true",
        help="if the agent fails, show its error, which may tell secrets",
    )
    _add_drawing(parser)
    _add_code(parser)
    _add_variant(parser)


def _add_drawing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="(default: auto)"
    )
    parser.add_argument("--ascii", action="store_true", help="plain ASCII characters only")


def _add_code(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--code",
        action="append",
        default=[],
        metavar="FILE",
        help="Python file that registers agents of your own; can be given several times",
    )


def _add_variant(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("variant")
    group.add_argument(
        "--board",
        default="whitechapel",
        help=f"built-in board ({', '.join(built_in_boards())}) or board file "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--cast",
        default="+".join(FULL_CAST),
        help="2, 4 or 8 characters (default: %(default)s)",
    )
    group.add_argument("--turns", type=int, default=8, help="1 to 8 (default: %(default)s)")
    group.add_argument(
        "--first",
        choices=PLAYER_NAMES,
        default="detective",
        help="who plays first on odd turns (default: %(default)s)",
    )
