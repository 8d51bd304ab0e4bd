"""What a tournament costs besides its games, and how its memory and file grow.

    python benchmarks/tournaments.py [--games 3000] [--pairs 5] [--growth 100000]

Prints three tables: games/s of `cautious` against itself in a bare loop, in the runner with one
worker, and with two; then memory of the coordinator and size of the results file as a tournament
grows; then how long the file takes to read. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from mrjack_ai.agents import make_agent
from mrjack_ai.setup.variant import Variant
from mrjack_ai.tournament import (
    Settings,
    load,
    load_results,
    play_game,
    run_tournament,
    seeded_deal,
    standings,
)
from mrjack_ai.tournament.workers import load_all

VARIANT = Variant()
AGENT = "cautious"


def self_play(games: int) -> Settings:
    """The tournament that is measured."""
    return Settings((AGENT,), games, 1, VARIANT, format="self-play")


def bare_rate(games: int) -> float:
    """Games/s of a loop that does nothing but play."""
    agents = [make_agent(AGENT), make_agent(AGENT)]
    generators = [np.random.default_rng(seed) for seed in (0, 1)]
    deals = [seeded_deal(VARIANT, 1, number) for number in range(games)]
    started = time.perf_counter()
    for deal in deals:
        play_game(VARIANT, agents, deal, generators)
    return games / (time.perf_counter() - started)


def runner_rate(games: int, workers: int, folder: Path) -> tuple[float, float]:
    """Games/s of the runner, from its first result to its last, and seconds before that."""
    path = folder / f"{workers}.db"
    path.unlink(missing_ok=True)
    reports: list[tuple[float, int]] = []
    started = time.perf_counter()
    run_tournament(
        self_play(games),
        workers=workers,
        out=path,
        progress=lambda done, _: reports.append((time.perf_counter(), done)),
    )
    # The first tenth shows how long a game takes; only then do batches have their size.
    begun, done = reports[len(reports) // 10]
    return (games - done) / (reports[-1][0] - begun), reports[1][0] - started


def print_rates(games: int, pairs: int, folder: Path) -> None:
    """Bare loop, one worker and two, measured in turns."""
    load_all((AGENT,))
    bare, one, two, starts = [], [], [], []
    for _ in range(pairs):
        bare.append(bare_rate(games))
        one.append(runner_rate(games, 1, folder)[0])
        rate, start = runner_rate(2 * games, 2, folder)
        two.append(rate)
        starts.append(start)
    shares = [ours / theirs for ours, theirs in zip(one, bare, strict=True)]
    gains = [ours / theirs for ours, theirs in zip(two, one, strict=True)]
    print(f"{AGENT} against itself, medians of {pairs} (least-most)\n")
    print(f"bare loop            {statistics.median(bare):8,.0f} games/s")
    for name, rates, ratios, other in (
        ("runner, 1 worker", one, shares, "of the bare loop (goal 0.70)"),
        ("runner, 2 workers", two, gains, "times one worker (goal 1.70)"),
    ):
        ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f}) {other}"
        print(f"{name:20} {statistics.median(rates):8,.0f} games/s, {ratio}")
    print(f"first result of two workers after {statistics.median(starts):.1f} s\n")


def megabytes_in_use() -> float:
    """Most memory this process has held so far, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024 * 1024 if sys.platform == "darwin" else 1024)


def print_growth(games: int, workers: int, folder: Path) -> None:
    """Memory and file size at a tenth, a fifth, a half and the whole of a tournament."""
    path = folder / "growth.db"
    marks = sorted({max(2, int(games * share)) for share in (0.01, 0.1, 0.2, 0.5, 1)})
    print(f"{games:,} games with {workers} workers\n")
    print("    games   games/s   coordinator MB   file MB   bytes a game")
    started = time.perf_counter()

    def report(done: int, _: int) -> None:
        if done in marks:
            files = [path, Path(f"{path}-wal")]
            size = sum(file.stat().st_size for file in files if file.exists())
            print(
                f"{done:9,} {done / (time.perf_counter() - started):9,.0f} "
                f"{megabytes_in_use():16.0f} {size / 1e6:9.1f} {size / done:14.0f}",
                flush=True,
            )

    results = run_tournament(self_play(games), workers=workers, out=path, progress=report)
    print(f"at rest: {path.stat().st_size / 1e6:.1f} MB\n")
    for name, read in (
        ("standings", lambda: standings(results)),
        ("load_results (checks every game)", lambda: load_results(path)),
        ("load (data frames)", lambda: load(path)),
        ("run again, nothing left to play", lambda: run_tournament(self_play(games), out=path)),
    ):
        begun = time.perf_counter()
        read()
        print(f"{name}: {time.perf_counter() - begun:.1f} s, {megabytes_in_use():.0f} MB")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(description="What a tournament costs besides its games.")
    parser.add_argument("--games", type=int, default=3000, help="of a measurement (%(default)s)")
    parser.add_argument("--pairs", type=int, default=5, help="measurements (%(default)s)")
    parser.add_argument(
        "--growth",
        type=int,
        default=100_000,
        help="games of the long run, or 0 (%(default)s)",
    )
    parser.add_argument("--workers", type=int, default=2, help="of the long run (%(default)s)")
    options = parser.parse_args(arguments)
    if min(options.games, options.pairs, options.workers) < 1 or options.growth < 0:
        parser.error("numbers must be at least 1")
    even = options.games + options.games % 2
    with tempfile.TemporaryDirectory() as folder:
        print_rates(even, options.pairs, Path(folder))
        if options.growth:
            print_growth(options.growth + options.growth % 2, options.workers, Path(folder))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
