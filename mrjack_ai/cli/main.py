"""The `mrjack` command."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from mrjack_ai.agents import (
    agent_class,
    agent_names,
    agent_usage,
    analyse,
    load_code,
    register_all_installed,
)
from mrjack_ai.cli.console import (
    MOST_FORFEITS,
    TABLE_STYLE,
    live_table,
    print_forfeits,
    print_summary,
    progress_bar,
)
from mrjack_ai.cli.options import PERFT_START, build_parser
from mrjack_ai.common.files import write_whole
from mrjack_ai.errors import EXIT_BAD_INPUT, EXIT_INTERRUPTED, MrJackError, NotationError
from mrjack_ai.game.notation import variant_of
from mrjack_ai.game.perft import perft, perft_divide, random_games
from mrjack_ai.game.record import GameRecord
from mrjack_ai.game.state import State, new_game
from mrjack_ai.render.svg import board_svg
from mrjack_ai.render.terminal import board_text
from mrjack_ai.reports import write_report
from mrjack_ai.reports.replay import replay_page
from mrjack_ai.setup.board import load_board
from mrjack_ai.setup.variant import DEFAULT_VARIANT, DETECTIVE, PLAYER_NAMES, Variant, make_variant
from mrjack_ai.tournament import (
    DealError,
    Settings,
    TournamentError,
    connect_cluster,
    export,
    forfeit_text,
    load_results,
    log_texts,
    make_settings,
    read_game,
    read_games,
    recover,
    run_tournament,
    seeded_deal,
    summarize,
    write_deals,
)
from mrjack_ai.tournament.config import read_description
from mrjack_ai.tournament.ladder import games_of, ladder_pairs, markdown_table, run_ladder
from mrjack_ai.tournament.standings import ENDING_NAMES
from mrjack_ai.tournament.store import ResultsReader, changed_code, is_results_file

EXIT_FAILED = 1


def _variant(options: argparse.Namespace) -> Variant:
    return make_variant(options.board, options.cast, options.turns, options.first)


# -- tournament ---------------------------------------------------------------------------


def tournament_settings(options: argparse.Namespace) -> Settings:
    """The tournament that parsed options describe."""
    return make_settings(
        agents=options.agents,
        games=options.games,
        seed=options.seed,
        format=options.format,
        deals=options.deals,
        move_time_limit=options.move_time_limit,
        sprt=options.sprt,
        board=options.board,
        cast=options.cast,
        turns=options.turns,
        first=options.first,
        key=options.key,
    )


def _tournament(options: argparse.Namespace) -> int:
    if options.settings is not None:
        described = read_description(options.settings)
        for file in described.pop("code", ()):
            load_code(file)
        options = build_parser(described).parse_args(options.command_line, options)
    settings = tournament_settings(options)
    if options.key is not None:  # agents in this process, and in workers, see the command line
        sys.argv = ["KEY" if options.key in word else word for word in sys.argv]
    new_game(settings.variant)  # compiles, if need be, before the bar appears and workers start
    if options.out is not None:
        for file in changed_code(options.out, settings):
            print(
                f"{file} has changed since games in {options.out} were played; those games are "
                "kept, and the others are played by the file as it is now",
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


def _deals(options: argparse.Namespace) -> int:
    if options.count < 1 or options.seed < 0:
        raise DealError("--count must be at least 1 and --seed not negative")
    if os.path.exists(options.file):
        raise DealError(f"{options.file!r} exists already; deals in use are not overwritten")
    variant = _variant(options)
    deals = [seeded_deal(variant, options.seed, number) for number in range(options.count)]
    write_deals(options.file, deals, variant)
    print(f"{len(deals)} deals are in {options.file}")
    return 0


def _results(options: argparse.Namespace) -> int:
    """Show, export or recover a results file."""
    words = options.words
    if len(words) > 1 and words[0] == "export":
        if len(words) < 3:
            raise TournamentError("export needs a file to write: mrjack results export FILE OUT")
        for out in words[2:]:
            print(f"{export(words[1], out)} games are in {out}")
    elif len(words) == 3 and words[0] == "recover":
        print(f"{recover(words[1], words[2])} games are in {words[2]}")
    elif len(words) == 1:
        _print_file(words[0], options.tracebacks)
    else:
        raise TournamentError(
            f"cannot make sense of {' '.join(words)!r}; it is either mrjack results FILE, or "
            "export FILE OUT, or recover FILE NEW_FILE"
        )
    return 0


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
            print(f"run {run}: {started}, workers {workers}, {software}")
    print(f"played: {len(results.records)} of {settings.total_games} games\n")
    print_summary(summarize(results))
    print_forfeits(results, most=settings.total_games if tracebacks else MOST_FORFEITS)
    if tracebacks:
        with ResultsReader(path) as reader:
            for result in reader.results():
                logs = log_texts(result, settings) if result.forfeit_by is not None else []
                if result.forfeit_traceback or logs:
                    print(f"\ngame {result.number + 1}:\n{result.forfeit_traceback or ''}", end="")
                for title, text in logs:
                    print(f"{title}:\n{text}")


def _report(options: argparse.Namespace) -> int:
    out = options.out or os.path.splitext(options.file)[0] + ".html"
    games = write_report(options.file, out)
    print(f"the report of {games} games is in {out}")
    return 0


def _ladder(options: argparse.Namespace) -> int:
    variant = _variant(options)
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
    if options.svg is not None:
        write_whole(options.svg, board_svg(view), options.what, options.board)
        print(f"the picture is in {options.svg}")
        return 0
    print(board_text(view, color=_color(options), unicode=_unicode(options)))
    return 0


def _color(options: argparse.Namespace) -> bool:
    return options.color == "always" or (
        options.color == "auto" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    )


def _unicode(options: argparse.Namespace) -> bool:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return not options.ascii and encoding == "utf8"


def _play(options: argparse.Namespace) -> int:
    # Not at the top: no other command needs the terminal's libraries.
    from mrjack_ai.cli.play import play_command

    finished = play_command(
        options, _variant(options), color=_color(options), unicode=_unicode(options)
    )
    return 0 if finished else EXIT_INTERRUPTED


def _moment(options: argparse.Namespace) -> State:
    what = options.what
    if what is None or ("=" in what and not os.path.exists(what)):
        if options.at is not None or options.game is not None:
            raise NotationError("--at and --game need a file of records")
        return new_game(_variant(options)) if what is None else _typed_position(what, options)
    record = read_game(what, options.game)
    at: int = len(record.actions) if options.at is None else options.at
    if not 0 <= at <= len(record.actions):
        raise NotationError(f"--at {at} must be from 0 to {len(record.actions)}")
    return next(islice(record.states(), at, None))


def _analyse(options: argparse.Namespace) -> int:
    if options.seed < 0 or options.best < 1:
        raise NotationError("--seed must not be negative and --best at least 1")
    analysis = analyse(_moment(options), options.agent, options.seed)
    view, found = analysis.observation, analysis.statistics
    print(f"Turn {view.turn}, {PLAYER_NAMES[view.player]} to move, {view.node} node")
    print(f"Jack can be: {_percentages(view.variant, analysis.weights)}")
    if analysis.suspicion is not None and not np.allclose(analysis.suspicion, analysis.weights):
        who = "by his plays" if view.player == DETECTIVE else "as everybody sees it, by his plays"
        print(f"  {who}: {_percentages(view.variant, analysis.suspicion)}")
    table = Table(title="Best actions", **TABLE_STYLE)
    table.add_column("action")
    for name in ("visits", "share", "value"):
        table.add_column(name, justify="right")
    for row in analysis.actions_frame().head(options.best).itertuples(index=False):
        value = f"{row.value:+.3f}" if row.visits else "-"
        table.add_row(row.action, str(row.visits), f"{100 * row.share:.1f} %", value)
    Console().print(table)
    print(f"Expected: {'; '.join(analysis.line)}")
    print(f"{found.simulations} simulations, {found.nodes} nodes, {analysis.seconds:.2f} s")
    return 0


def _percentages(variant: Variant, weights: npt.NDArray[np.float64]) -> str:
    pairs = zip(variant.cast, weights, strict=True)
    return ", ".join(f"{code} {100 * weight:.1f} %" for code, weight in pairs if weight > 0)


def _replay(options: argparse.Namespace) -> int:
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


def _replay_page(options: argparse.Namespace) -> int:
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


def _agents(options: argparse.Namespace) -> int:
    table = Table(title="Agents", **TABLE_STYLE)
    for name in ("name", "parameters (default)", "how it plays"):
        table.add_column(name, overflow="fold")
    broken = register_all_installed()
    for name in agent_names():
        description = (agent_class(name).__doc__ or "").strip().partition("\n")[0]
        table.add_row(name, agent_usage(name), description)
    for name, why in broken.items():
        table.add_row(name, "", f"cannot be used: {why}")
    Console(markup=False).print(table)
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


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "tournament": _tournament,
    "results": _results,
    "report": _report,
    "deals": _deals,
    "ladder": _ladder,
    "perft": _perft,
    "show": _show,
    "play": _play,
    "analyse": _analyse,
    "replay": _replay,
    "agents": _agents,
    "bench": _bench,
}


def _prepare_streams() -> None:
    """Survive closed streams, and characters that the terminal's encoding does not have."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - as long as we run
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
    try:
        for file in getattr(options, "code", ()):
            load_code(file)
        code = _COMMANDS[options.command](options)
        sys.stdout.flush()
        return code
    except MrJackError as error:
        for note in getattr(error, "__notes__", ()):
            print(note, file=sys.stderr)  # the traceback of an agent
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
