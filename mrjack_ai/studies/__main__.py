"""`python -m mrjack_ai.studies`: make the data of the notebooks, and run the notebooks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mrjack_ai.errors import EXIT_BAD_INPUT, EXIT_INTERRUPTED, MrJackError
from mrjack_ai.studies.data import make_data
from mrjack_ai.studies.execute import execute_all
from mrjack_ai.studies.plan import SIZES

PROGRAM = "python -m mrjack_ai.studies"


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    data = commands.add_parser(
        "data",
        help="play what the notebooks need and write it as small Parquet files",
        description="Play what the notebooks need and write it as small Parquet files. After "
        "Ctrl-C the same command carries on.",
    )
    data.add_argument("folder", help="where the data go, such as notebooks/data")
    data.add_argument("--size", choices=sorted(SIZES), default="small", help="how much is played")
    data.add_argument("--workers", type=int, default=1, metavar="N", help="number of processes")
    data.add_argument(
        "--cache",
        metavar="FOLDER",
        help="where results are kept, to carry on from (default: beside the data)",
    )
    run = commands.add_parser(
        "run",
        help="run notebooks and keep their outputs",
        description="Run notebooks from the first cell to the last and keep their outputs.",
    )
    run.add_argument("paths", nargs="+", help="notebooks, or folders of notebooks")
    run.add_argument(
        "--data", metavar="FOLDER", help="folder of the data (default: data beside each notebook)"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        Exit code: 0 success, 2 bad input, 130 interrupted.
    """
    options = build_parser().parse_args(arguments)
    commands = {"data": _data, "run": _run}
    try:
        return commands[options.command](options)
    except MrJackError as error:
        print(f"{PROGRAM} {options.command}: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED


def _data(options: argparse.Namespace) -> int:
    folder = Path(options.folder)
    if not folder.name:  # such as .
        folder = folder.resolve()
    if not folder.name:
        raise MrJackError(f"{options.folder!r} is no folder for data; give one with a name")
    cache = options.cache or folder.with_name(f"{folder.name}-{options.size}-games")
    live = sys.stderr.isatty()

    def report(text: str, finished: bool) -> None:
        if live:
            print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)
        elif finished:  # a line for each tournament, in a log
            print(text, file=sys.stderr, flush=True)

    try:
        size = SIZES[options.size]
        done = make_data(folder, size, options.size, cache, options.workers, report)
    except KeyboardInterrupt:
        done = False
    finally:
        if live:
            print(file=sys.stderr)
    if not done:
        print(f"interrupted; the same command carries on from {str(cache)!r}", file=sys.stderr)
        return EXIT_INTERRUPTED
    print(f"data of size {options.size} in {str(folder)!r}")
    return 0


def _run(options: argparse.Namespace) -> int:
    execute_all(options.paths, options.data, lambda text: print(text, file=sys.stderr, flush=True))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
