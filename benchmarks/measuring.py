"""How things are measured: rows, sides and the figures that come out.

A machine may drift by a factor of two between minutes. Whatever is compared is therefore measured
in turns, A B A B, and the median of the ratios of neighbours is reported.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

FEWEST_PAIRS = 7

Work = Callable[[int], int]
"""Repeats something so many times and returns how many units were done."""

Side = Callable[[], float]
"""Takes one measurement; its figure is in the unit of the row."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Settings:
    """How long and how often to measure.

    Attributes:
        pairs: measurements of each side.
        seconds: aim for the length of one measurement.
        cold_runs: measurements with an empty cache of compiled code.
        seed: seed of everything random.
    """

    pairs: int = FEWEST_PAIRS
    seconds: float = 0.3
    cold_runs: int = 3
    seed: int = 0


Prepare = Callable[[Settings], tuple[Side, ...] | None]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: short name, as in `--only` and in the record.
        label: what is measured, in words.
        unit: of the figures; more is better exactly if it is a rate (`.../s`).
        prepare: returns our side and, for a comparison, the other; None when this cannot be
            measured here.
        other: what it is compared with; empty for an absolute figure.
        must: goal that has to hold for the ratio, or for our figure if it is absolute.
        good: goal that would be good to reach.
        cold: takes `cold_runs` measurements instead of `pairs`.
    """

    name: str
    label: str
    unit: str
    prepare: Prepare
    other: str = ""
    must: float | None = None
    good: float | None = None
    cold: bool = False

    def reaches(self, value: float, goal: float) -> bool:
        """Whether a ratio or figure is as good as a goal."""
        return value >= goal if self.unit.endswith("/s") else value <= goal


@dataclass(frozen=True)
class Result:
    """Medians of a row; `other` and the ratios are None for an absolute figure."""

    row: Row
    samples: int
    ours: float
    other: float | None = None
    ratio: float | None = None
    ratio_min: float | None = None
    ratio_max: float | None = None

    @property
    def must_holds(self) -> bool | None:
        """Whether the goal holds; None without one."""
        return self._reaches(self.row.must)

    @property
    def verdict(self) -> str:
        """`good`, `must` or `FAILS`; empty without a goal."""
        if self.must_holds is None:
            return ""
        if not self.must_holds:
            return "FAILS"
        return "good" if self._reaches(self.row.good) else "must"

    def _reaches(self, goal: float | None) -> bool | None:
        value = self.ours if self.ratio is None else self.ratio
        return None if goal is None else self.row.reaches(value, goal)

    def record(self) -> dict[str, Any]:
        """As it is written to the results file."""
        return {
            "name": self.row.name,
            "label": self.row.label,
            "unit": self.row.unit,
            "samples": self.samples,
            "ours": self.ours,
            "other_name": self.row.other or None,
            "other": self.other,
            "ratio": self.ratio,
            "ratio_min": self.ratio_min,
            "ratio_max": self.ratio_max,
            "must": self.row.must,
            "good": self.row.good,
            "must_holds": self.must_holds,
        }


def measure(row: Row, settings: Settings) -> Result | None:
    """Measure a row, its sides in turns; None when it cannot be measured here."""
    sides = row.prepare(settings)
    if sides is None:
        return None
    samples = settings.cold_runs if row.cold else settings.pairs
    figures = [[side() for side in sides] for _ in range(samples)]
    medians = [statistics.median(column) for column in zip(*figures, strict=True)]
    if len(sides) == 1:
        return Result(row, samples, medians[0])
    ratios = [ours / other for ours, other in figures]
    ratio = statistics.median(ratios)
    return Result(row, samples, medians[0], medians[1], ratio, min(ratios), max(ratios))


# -- sides ------------------------------------------------------------------------------------


def _stopwatch(work: Work, count: int) -> tuple[int, float]:
    started = time.perf_counter()
    done = work(count)
    return done, time.perf_counter() - started


def _sized(work: Work, seconds: float) -> int:
    """How often to repeat `work` to last about so long.

    The first call is for nothing but to load code and data. Each count is timed twice, since a
    pause of the machine would pass for long work and leave the measurements too short.
    """
    work(1)
    count = 1
    while (elapsed := min(_stopwatch(work, count)[1] for _ in range(2))) < seconds / 4:
        count *= 4
    return max(1, round(count * seconds / elapsed))


def rate(work: Work, settings: Settings) -> Side:
    """Units a second."""
    count = _sized(work, settings.seconds)

    def side() -> float:
        done, elapsed = _stopwatch(work, count)
        return done / elapsed

    return side


def cost(work: Work, settings: Settings, units_a_second: float) -> Side:
    """Time a unit; 1e6 units of time a second gives microseconds."""
    a_second = rate(work, settings)
    return lambda: units_a_second / a_second()


def for_each(items: Sequence[Item], call: Callable[[Item], object]) -> Work:
    """Call something with each of the items, as often as asked."""

    def work(count: int) -> int:
        for _ in range(count):
            for item in items:
                call(item)
        return count * len(items)

    return work


def _python(code: str, **more: Any) -> subprocess.CompletedProcess[str]:
    # -P: the current folder may hold modules of the same names. In a session of its own the
    # child gets no Ctrl-C from the terminal, to which it would answer with a traceback; it is
    # killed when we are interrupted.
    command = [sys.executable, "-P", "-c", code]
    return subprocess.run(command, check=True, text=True, start_new_session=True, **more)


def python_process(code: str, cache: str | None = None) -> float:
    """Run code in a new Python; returns the seconds from launch to exit.

    Args:
        code: what to run.
        cache: folder for compiled code, if not the usual one.
    """
    environment = os.environ if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    started = time.perf_counter()
    _python(code, env=environment)
    return time.perf_counter() - started


def import_seconds(module: str) -> float:
    """Seconds to import a module in a new Python, whose own start does not count.

    Python may keep bytecode, as it does when a package is installed.
    """
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return float(_python(code, stdout=subprocess.PIPE, env=environment).stdout)
