"""Speed of the library, side by side with known yardsticks.

    python benchmarks/speed.py [--pairs 7] [--quick] [--markdown]

Prints a table and appends a record to `benchmarks/results.jsonl`; see `benchmarks/README.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

from measuring import FEWEST_PAIRS, Result, Row, Settings, measure
from rows import ROWS

import mrjack_ai
from mrjack_ai.engine.compile import config

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results.jsonl"
QUICK_SECONDS = 0.08
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
HEADINGS = ("what", "unit", "ours", "other", "compared with", "ratio", "must", "good", "reached")
LEFT = (0, 1, 4, 8)
"""Columns of text; the others are numbers and stand to the right."""


class _Parser(argparse.ArgumentParser):
    """Bad options end in one line and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: {message} (try {self.prog} --help)\n")


def _number_from(least: int) -> Callable[[str], int]:
    """Type of an option: a whole number not below `least`."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from {least}")
        return int(text)

    return parse


def build_parser() -> argparse.ArgumentParser:
    """The script's options."""
    names = [row.name for row in ROWS]
    parser = _Parser(description="Measure the speed of mrjack_ai, side by side with yardsticks.")
    parser.add_argument(
        "--pairs",
        type=_number_from(FEWEST_PAIRS),
        default=FEWEST_PAIRS,
        help=f"measurements of each side, at least {FEWEST_PAIRS} (default: %(default)s)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="shorter measurements, one run with an empty cache"
    )
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="ROW", help=f"some of: {', '.join(names)}"
    )
    parser.add_argument(
        "--seed", type=_number_from(0), default=0, help="seed of the games (default: %(default)s)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=RESULTS,
        help="file to append the record to (default: results.jsonl beside this script)",
    )
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    return parser


def check_writable(path: Path) -> None:
    """Fail before the measurements rather than after them.

    Raises:
        OSError: when no record can be appended to the file.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise OSError(f"{path} is no file in an existing folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise OSError(f"{path} cannot be written")


def environment() -> dict[str, Any]:
    """What the figures depend on besides the settings."""
    commit, dirty = _commit()
    return {
        "commit": commit,
        "dirty": dirty,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "open_spiel": version("open_spiel"),
        "mrjack_ai": mrjack_ai.__version__,
        "cpu": _cpu(),
        "cores": os.cpu_count(),
    }


def _commit() -> tuple[str | None, bool | None]:
    """Commit measured and whether files differ from it; None when that is not known."""
    if Path(mrjack_ai.__file__).resolve().parent.parent != ROOT:
        return None, None  # an installed copy, not this checkout
    commands = (
        ["rev-parse", "HEAD"],
        # The results of this very script do not make the code another one.
        ["status", "--porcelain", "-uall", "--", ".", ":(exclude)benchmarks/results.jsonl"],
    )
    try:
        commit, changes = (
            subprocess.run(
                ["git", "-C", str(ROOT), *command], check=True, capture_output=True, text=True
            ).stdout.strip()
            for command in commands
        )
    except (OSError, subprocess.CalledProcessError):
        return None, None
    return commit, bool(changes)


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # only Linux has it
    return platform.processor() or platform.machine()


def number(value: float | None) -> str:
    """A figure with three digits or as a whole number; empty for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def cells(result: Result) -> tuple[str, ...]:
    """The columns of a row, as headed by `HEADINGS`."""
    row, ratio = result.row, ""
    if result.ratio is not None:
        low, high = number(result.ratio_min), number(result.ratio_max)
        ratio = f"{number(result.ratio)} ({low}-{high})"
    figures = (number(result.ours), number(result.other))
    goals = (number(row.must), number(row.good))
    return (row.label, row.unit, *figures, row.other, ratio, *goals, result.verdict)


def table(results: Sequence[Result], markdown: bool) -> str:
    """The results as a text or Markdown table."""
    lines = [HEADINGS, *(cells(result) for result in results)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    text = [
        [
            cell.ljust(width) if i in LEFT else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]
    if not markdown:
        return "\n".join("  ".join(line).rstrip() for line in text)
    rule = ["-" * width if i in LEFT else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (text[0], rule, *text[1:]))


def header(record: dict[str, Any]) -> str:
    """What was measured, and a warning how to read it."""
    commit = record["commit"][:12] if record["commit"] else "unknown commit"
    commit += " with changes" * bool(record["dirty"])
    text = (
        "Figures come from this machine at this time; only the ratios can be compared: medians of "
        f"{record['pairs']} pairs measured in turns (least-most).\n"
        f"{record['date']}, mrjack_ai {record['mrjack_ai']} ({commit}), "
        f"Python {record['python']}, numpy {record['numpy']}, numba {record['numba']}, "
        f"open_spiel {record['open_spiel']}, {record['cpu']}, {record['cores']} cores."
    )
    if config.DISABLE_JIT or config.BOUNDSCHECK:
        text += "\nNUMBA_DISABLE_JIT or NUMBA_BOUNDSCHECK is set: the engine is slower than usual."
    return text


def measure_all(rows: Sequence[Row], settings: Settings) -> list[Result]:
    """Measure the rows, with a line of progress for each on standard error."""
    results = []
    for index, row in enumerate(rows, 1):
        print(f"[{index}/{len(rows)}] {row.name} ...", file=sys.stderr, flush=True)
        started = time.perf_counter()
        result = measure(row, settings)
        outcome = "cannot be measured here" if result is None else "done"
        print(f"    {outcome}, {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
        if result is not None:
            results.append(result)
    return results


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Measure, append the record and print the table.

    Raises:
        OSError: when the record cannot be written; the table is printed all the same.
    """
    record = environment()
    rows = [row for row in ROWS if not options.only or row.name in options.only]
    results = measure_all(rows, settings)
    record |= {
        "seed": settings.seed,
        "pairs": settings.pairs,
        "quick": options.quick,
        "rows": [result.record() for result in results],
    }
    try:
        # One line in one go: whoever interrupts gets all of it or nothing.
        line = json.dumps(record) + "\n"
        with options.out.open("a", encoding="utf-8") as file:
            file.write(line)
    finally:
        print(header(record), table(results, options.markdown), sep="\n\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script; the exit code does not depend on how fast anything is."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    settings = Settings(pairs=options.pairs, seed=options.seed)
    if options.quick:
        settings = replace(settings, seconds=QUICK_SECONDS, cold_runs=1)
    try:
        check_writable(options.out)
        run(options, settings)
    except OSError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("interrupted; nothing was recorded", file=sys.stderr)
        return EXIT_INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
