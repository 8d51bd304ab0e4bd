"""The `mrjack` command."""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NoReturn

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from mrjack_ai.agents import agent_class, agent_names, agent_parameters
from mrjack_ai.board import built_in_boards, load_board
from mrjack_ai.errors import MrJackError, NotationError
from mrjack_ai.game import State, new_game
from mrjack_ai.notation import variant_of
from mrjack_ai.record import GameRecord, read_records
from mrjack_ai.render.terminal import board_text
from mrjack_ai.simulate import perft, perft_divide, random_games
from mrjack_ai.tournament import (
    Rate,
    Results,
    Settings,
    mean_length,
    run_tournament,
    standings,
)
from mrjack_ai.tournament.ladder import RUNGS, ladder_pairs, markdown_table, run_ladder
from mrjack_ai.variant import DEFAULT_VARIANT, FULL_CAST, PLAYER_NAMES, Variant, make_variant
from mrjack_ai.version import RULES_VERSION, __version__

_TABLE_STYLE: dict[str, Any] = {"title_justify": "left", "box": box.SIMPLE_HEAD}

DEFAULT_AGENTS = ("greedy", "cautious", "random")
PERFT_START = "jack JS; deal SH,JW,JS,IL"
EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """Bad options end in one line and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: {message} (try {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """The command's options."""
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
        description="Round robin between agents. Each deal - Jack's identity, the cards of every "
        "turn, the alibi pile - is played twice, with the sides swapped.",
    )
    command.add_argument(
        "--agents",
        nargs="+",
        metavar="AGENT",
        default=list(DEFAULT_AGENTS),
        help="two or more agents, name or name:key=value,... (default: %(default)s)",
    )
    command.add_argument(
        "--games", type=int, default=200, help="games of each pairing, even (default: %(default)s)"
    )
    command.add_argument("--seed", type=int, default=1, help="seed (default: %(default)s)")
    command.add_argument(
        "--workers",
        type=int,
        default=1,
        help="processes; the games are the same with any number (default: %(default)s)",
    )
    command.add_argument(
        "--out",
        metavar="FILE",
        help="write every game to FILE as a JSON line; run again to carry on an interrupted one",
    )
    command.add_argument(
        "--allow-cheats",
        action="store_true",
        help="let agents play that look at what they may not know, such as omniscient",
    )
    _add_variant(command)
    command.set_defaults(run=_tournament)

    command = commands.add_parser(
        "ladder",
        help="measure how strong the agents are",
        description="Each rung plays the one below it, and those above greedy also play greedy, "
        "on paired deals from both sides. Prints a Markdown table.",
    )
    command.add_argument(
        "--rungs",
        nargs="+",
        metavar="AGENT",
        default=list(RUNGS),
        help="the agents, the weakest first (default: %(default)s)",
    )
    command.add_argument(
        "--games", type=int, default=1000, help="games of each pairing (default: %(default)s)"
    )
    command.add_argument("--seed", type=int, default=1, help="seed (default: %(default)s)")
    command.add_argument("--workers", type=int, default=1, help="processes (default: %(default)s)")
    command.add_argument(
        "--out",
        metavar="FOLDER",
        help="keep the games of each pairing there; run again to carry on an interrupted ladder",
    )
    _add_variant(command)
    command.set_defaults(run=_ladder)

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
    command.set_defaults(run=_perft)

    command = commands.add_parser(
        "show",
        help="draw a position or a moment of a record",
        description="Draw a position, or the moment of a recorded game, as a board.",
    )
    command.add_argument(
        "what", nargs="?", help="position text or file of records (default: a new game)"
    )
    command.add_argument(
        "--game", type=int, metavar="N", help="which game of the file (default: the first)"
    )
    command.add_argument(
        "--at", type=int, metavar="N", help="after the first N actions (default: all)"
    )
    command.add_argument(
        "--player",
        choices=("all", *PLAYER_NAMES),
        default="all",
        help="whose knowledge to show (default: %(default)s)",
    )
    command.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="(default: auto)"
    )
    command.add_argument("--ascii", action="store_true", help="plain ASCII characters only")
    _add_variant(command)
    command.set_defaults(run=_show)

    command = commands.add_parser(
        "replay",
        help="check a file of records against the rules",
        description="Replay every game of a file and check it against the rules.",
    )
    command.add_argument("file", help="one record as text, or one JSON record a line")
    command.add_argument(
        "--text", action="store_true", help="also print each game in the readable text form"
    )
    command.set_defaults(run=_replay)

    command = commands.add_parser(
        "agents", help="list the agents", description="List the agents and their parameters."
    )
    command.set_defaults(run=_agents)

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
    command.set_defaults(run=_bench)
    return parser


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


def _variant(options: argparse.Namespace) -> Variant:
    return make_variant(options.board, options.cast, options.turns, options.first)


# -- tournament ---------------------------------------------------------------------------


def _tournament(options: argparse.Namespace) -> int:
    settings = Settings(
        agents=tuple(agent.strip() for agent in options.agents),
        games=options.games,
        seed=options.seed,
        variant=_variant(options),
    )
    new_game(settings.variant)  # compiles, if need be, before the bar appears and workers start
    started = time.perf_counter()
    with _progress_bar("games") as advance:
        results = run_tournament(
            settings,
            workers=options.workers,
            out=options.out,
            progress=advance,
            allow_cheats=options.allow_cheats,
        )
    seconds = time.perf_counter() - started
    _print_results(results)
    played = len(results.records)
    print(f"{played} games, seed {settings.seed}, {seconds:.1f} s", end="")
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


@contextlib.contextmanager
def _progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error; silent where nobody watches."""
    console = Console(stderr=True)
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None, rate="")
        started = time.perf_counter()
        done_before: int | None = None

        def advance(done: int, total: int) -> None:
            nonlocal done_before
            if done_before is None:
                done_before = done  # games of an earlier run do not count for the rate
            seconds = time.perf_counter() - started
            rate = f"{(done - done_before) / seconds:.0f}/s" if seconds > 0.5 else ""
            progress.update(task, completed=done, total=total, rate=rate)

        yield advance


def _percent(rate: Rate) -> str:
    if math.isnan(rate.value):
        return "-"
    return f"{100 * rate.value:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


_ENDINGS = (
    ("caught", "caught"),
    ("wrong accusation", "wrong"),
    ("escape", "escape"),
    ("dawn", "dawn"),
)


def _count_endings(records: Sequence[GameRecord]) -> list[int]:
    return [sum(record.ending == word for record in records) for _, word in _ENDINGS]


def _print_results(results: Results) -> None:
    console = Console()
    if not console.is_terminal:
        console.width = 120  # a file or pipe has no width of its own
    table = Table(title="Standings: games won in %, 95 % intervals", **_TABLE_STYLE)
    table.add_column("agent", overflow="fold", min_width=10)
    for name in ("games", "all", "as Detective", "as Jack"):
        table.add_column(name, justify="right", no_wrap=True)
    for standing in standings(results):
        table.add_row(
            standing.agent,
            str(standing.as_detective.games + standing.as_jack.games),
            _percent(standing.score),
            _percent(standing.as_detective),
            _percent(standing.as_jack),
        )
    console.print(table)

    table = Table(title="Games by pairing and ending", **_TABLE_STYLE)
    table.add_column("Detective", overflow="fold", min_width=10)
    table.add_column("Jack", overflow="fold", min_width=10)
    for name in ("games", "caught", "wrong accusation", "escape", "dawn", "actions"):
        table.add_column(name, justify="right")
    for one, other in results.settings.pairings:
        for players in ((one, other), (other, one)):
            names = tuple(results.settings.agents[player] for player in players)
            records = [record for record in results.records if record.agents == names]
            counts = [str(count) for count in _count_endings(records)]
            table.add_row(*names, str(len(records)), *counts, f"{mean_length(records):.1f}")
    counts = [str(count) for count in _count_endings(results.records)]
    length = f"{mean_length(results.records):.1f}"
    table.add_section()
    table.add_row("all", "", str(len(results.records)), *counts, length)
    console.print(table)


def _ladder(options: argparse.Namespace) -> int:
    variant = _variant(options)
    new_game(variant)  # compiles, if need be, before the bar appears and workers start
    rungs = [rung.strip() for rung in options.rungs]
    pairs = ladder_pairs(rungs)
    with _progress_bar("games") as advance:

        def report(agent: str, against: str, done: int, total: int) -> None:
            advance(pairs.index((agent, against)) * total + done, len(pairs) * total)

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


# -- the others ---------------------------------------------------------------------------


def _start(options: argparse.Namespace, default_actions: str) -> State:
    """The state that --position, --actions and the variant options describe."""
    if options.position is not None and options.actions is not None:
        raise NotationError("--position and --actions exclude each other")
    if options.position is not None:
        return _typed_position(options.position, options)
    state = new_game(_variant(options))
    actions = options.actions
    if actions is None and state.variant.is_default():
        actions = default_actions
    for action in (actions or "").split(";"):
        if action.strip():
            state.apply_action(action)
    return state


def _typed_position(text: str, options: argparse.Namespace) -> State:
    """A position text says its variant itself, but for a board of the user's own."""
    board = load_board(options.board)
    return State(text, variant_of(text, None if board == DEFAULT_VARIANT.board else board))


def _perft(options: argparse.Namespace) -> int:
    least, most = (1 if options.divide else 0), 1000  # no game is nearly as long
    if not least <= options.depth <= most:
        raise NotationError(f"--depth {options.depth} must be from {least} to {most}")
    state = _start(options, PERFT_START)
    started = time.perf_counter()
    if options.divide:
        divide = perft_divide(state, options.depth)
        total = sum(divide.values())
        width = max((len(name) for name in divide), default=0)
        for name, count in divide.items():
            print(f"{name:<{width}}  {count}")
    else:
        total = perft(state, options.depth)
    seconds = time.perf_counter() - started
    print(f"depth {options.depth}: {total} sequences in {seconds:.2f} s")
    return 0


def _show(options: argparse.Namespace) -> int:
    state = _moment(options)
    view = state
    if options.player != "all":
        view = state.observation(PLAYER_NAMES.index(options.player))  # type: ignore[assignment]
    color = options.color == "always" or (
        options.color == "auto" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    )
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    print(board_text(view, color=color, unicode=not options.ascii and encoding == "utf8"))
    return 0


def _moment(options: argparse.Namespace) -> State:
    what = options.what
    if what is None or ("=" in what and not os.path.exists(what)):
        if options.at is not None or options.game is not None:
            raise NotationError("--at and --game need a file of records")
        return new_game(_variant(options)) if what is None else _typed_position(what, options)
    records = read_records(what)
    number: int = 1 if options.game is None else options.game
    if not 1 <= number <= len(records):
        raise NotationError(f"--game {number} must be from 1 to {len(records)}")
    record = records[number - 1]
    at: int = len(record.actions) if options.at is None else options.at
    if not 0 <= at <= len(record.actions):
        raise NotationError(f"--at {at} must be from 0 to {len(record.actions)}")
    return next(islice(record.states(), at, None))


def _replay(options: argparse.Namespace) -> int:
    records = read_records(options.file)
    for number, record in enumerate(records, start=1):
        _check(options.file, number, record)
        if options.text:
            print(record.to_text())
    counts = zip(_ENDINGS, _count_endings(records), strict=True)
    endings = [f"{name} {count}" for (name, _), count in counts]
    unfinished = sum(record.ending is None for record in records)
    if unfinished:
        endings.append(f"unfinished {unfinished}")
    games = "1 game keeps" if len(records) == 1 else f"{len(records)} games keep"
    print(f"{options.file}: {games} the rules ({', '.join(endings)})")
    return 0


def _check(file: str, number: int, record: GameRecord) -> None:
    try:
        record.replay()
    except MrJackError as error:
        raise type(error)(f"{file}, game {number}: {error}") from None


def _agents(options: argparse.Namespace) -> int:
    table = Table(title="Agents", **_TABLE_STYLE)
    for name in ("name", "parameters (default)", "how it plays"):
        table.add_column(name, overflow="fold")
    for name in agent_names():
        parameters = ", ".join(f"{p.name}={p.default}" for p in agent_parameters(name))
        description = (agent_class(name).__doc__ or "").strip().partition("\n")[0]
        table.add_row(name, parameters or "none", description)
    Console().print(table)
    return 0


def _bench(options: argparse.Namespace) -> int:
    if not 1 <= options.games <= 10**9 or not 1 <= options.threads <= 1024:
        raise NotationError("--games must be from 1 to 1000000000 and --threads from 1 to 1024")
    state = new_game()
    random_games(state, 1000, seed=0)
    signature = random_games(state, 10_000, seed=1)
    print(f"signature {signature.decisions} {signature.detective_wins}")
    for threads in sorted({1, options.threads}):
        started = time.perf_counter()
        totals = random_games(state, options.games, seed=2, threads=threads)
        seconds = time.perf_counter() - started
        print(
            f"{threads} thread{'s' if threads > 1 else ''}: "
            f"{options.games / seconds:,.0f} random games/s, "
            f"{totals.decisions / seconds / 1e6:.1f} million decisions/s"
        )
    return 0


def _prepare_streams() -> None:
    """Survive closed streams, and characters that the terminal's encoding does not have."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as we run
            setattr(sys, name, nowhere)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line without the program's name; by default `sys.argv`.

    Returns:
        Exit code: 0 success, 1 the output cannot be written, 2 bad input, 130 interrupted.
    """
    command_line = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_streams()
    options = build_parser().parse_args(command_line)
    options.command_line = command_line
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        code = run(options)
        sys.stdout.flush()
        return code
    except MrJackError as error:
        message = " ".join(str(error).split())
        print(f"mrjack {options.command}: {message}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough, as with `mrjack show | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"mrjack {options.command}: cannot write the output: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED


if __name__ == "__main__":
    raise SystemExit(main())
