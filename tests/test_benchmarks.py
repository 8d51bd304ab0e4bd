"""The speed benchmarks run and report what they measured. No test asks for a speed."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspiel
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

import measuring
import rows
import speed
import tournaments
from measuring import Result, Row, Settings, measure

from mrjack_ai.engine.compile import JIT_DISABLED

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="only compiled code has a speed")

TINY = Settings(pairs=2, seconds=1e-4, cold_runs=1)
HEAD = "commit dirty date python numpy numba open_spiel mrjack_ai cpu cores seed pairs quick rows"
ROW = "name label unit samples ours other_name other ratio ratio_min ratio_max must good must_holds"


def scripted(*columns: list[float]) -> rows.Prepare:
    """Sides that report given figures."""
    iterators = [iter(column) for column in columns]
    return lambda _: tuple([lambda i=i: next(i) for i in iterators])


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "QUICK_SECONDS", TINY.seconds)


@pytest.mark.parametrize("row", rows.ROWS, ids=lambda row: row.name)
def test_row_measures_finite_positive_figures(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "FIRST_GAME", "pass")  # compiling from nothing takes too long
    monkeypatch.setattr(rows, "DECISION", 5)
    result = measure(row, TINY)
    if result is None:
        assert row.name == "first-game"
        pytest.skip("no cache of compiled code here")
    assert result.samples == (1 if row.cold else 2)
    figures = [result.ours]
    assert bool(row.other) == (result.other is not None) == (result.ratio is not None)
    if row.other:
        figures += [result.other, result.ratio_min, result.ratio, result.ratio_max]
        assert result.ratio_min <= result.ratio <= result.ratio_max
    assert all(math.isfinite(figure) and figure > 0 for figure in figures)


def test_row_names_are_unique() -> None:
    assert len({row.name for row in rows.ROWS}) == len(rows.ROWS)


def test_sides_are_measured_in_turns() -> None:
    calls = []

    def prepare(_: Settings) -> tuple[measuring.Side, ...]:
        return lambda: calls.append("A") or 1.0, lambda: calls.append("B") or 1.0

    measure(Row("x", "x", "us", prepare, other="y"), Settings(pairs=3))
    assert calls == list("ABABAB")


def test_ratio_is_the_median_of_the_ratios() -> None:
    sides = scripted([1.0, 20.0, 6.0], [1.0, 2.0, 3.0])
    result = measure(Row("x", "x", "us", sides, other="y"), Settings(pairs=3))
    assert (result.ours, result.other) == (6.0, 2.0)
    assert (result.ratio_min, result.ratio, result.ratio_max) == (1.0, 2.0, 10.0)


@pytest.mark.parametrize(
    ("unit", "ratio", "verdict"),
    [
        ("games/s", 2.0, "good"),
        ("games/s", 1.5, "must"),
        ("games/s", 0.5, "FAILS"),
        ("us", 2.5, "FAILS"),
    ],
)
def test_more_is_better_for_rates_only(unit: str, ratio: float, verdict: str) -> None:
    row = Row("x", "x", unit, scripted(), other="y", must=1.0, good=2.0)
    result = Result(row, 7, 1.0, 1.0, ratio, ratio, ratio)
    assert result.verdict == verdict
    assert result.must_holds == (verdict != "FAILS")


def test_absolute_goal_is_for_the_figure() -> None:
    row = Row("x", "x", "s", scripted(), must=1.5, good=1.0)
    assert [Result(row, 7, seconds).verdict for seconds in (0.9, 1.2, 2.0)] == [
        "good",
        "must",
        "FAILS",
    ]


class FakeMachine:
    """A clock, and work that takes so long a unit by it."""

    def __init__(self, first_call: float = 0.0, pause_at_call: int = 0) -> None:
        self.now = 0.0
        self.counts: list[int] = []
        self._first_call, self._pause_at_call = first_call, pause_at_call

    def perf_counter(self) -> float:
        return self.now

    def work(self, count: int) -> int:
        self.now += count * 1e-5
        if not self.counts:
            self.now += self._first_call
        self.counts.append(count)
        if len(self.counts) == self._pause_at_call:
            self.now += 5.0
        return count


@pytest.mark.parametrize("seconds", [0.08, 0.3])
@pytest.mark.parametrize(
    "machine", [{}, {"first_call": 5.0}, *({"pause_at_call": n} for n in (2, 5))]
)
def test_neither_the_first_call_nor_a_pause_shortens_the_measurements(
    machine: dict[str, Any], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeMachine(**machine)
    monkeypatch.setattr(measuring, "time", fake)
    side = measuring.rate(fake.work, Settings(seconds=seconds))
    assert side() == pytest.approx(1e5)
    assert fake.counts[-1] == pytest.approx(seconds * 1e5, rel=0.01)


def test_simulations_are_those_of_whole_trees() -> None:
    assert rows.our_simulations(TINY)(2) == 2 * rows.DECISION
    assert rows.hearts_simulations(TINY, cpp=True)(2) == 2 * rows.DECISION


def test_work_counts_what_it_did() -> None:
    assert rows.our_games(TINY)(5) == 5
    assert rows.our_games(TINY, threads=2)(700) == 700
    assert rows.our_games(TINY, decisions=True)(5) > 5
    assert rows.cpp_games(rows.hex_starts(), TINY)(3) == 3
    assert rows.cpp_games(rows.hearts_starts(TINY), TINY, 61)(3) == 3 * 4 * 61
    assert rows.spiel_play("python_tic_tac_toe", TINY)(4) in range(4 * 5, 4 * 9 + 1)


@pytest.mark.parametrize("games", [1, 7, 50])
def test_cpp_rollouts_are_as_many_as_asked(games: int) -> None:
    """Hex returns 1 or -1, so the sum over n games is whole, odd or even as n is."""
    (start,) = rows.hex_starts()
    sums = [games * rows.cpp_rollouts(start, games, seed) for seed in range(60)]
    assert all(total == pytest.approx(round(total)) for total in sums)
    assert {(round(total) - games) % 2 for total in sums} == {0}
    # Fewer games, scaled up, would leave the sums further from 0.
    assert sum(total**2 for total in sums) / 60 < 2 * games


def test_hearts_decisions_a_game() -> None:
    lengths = []
    for state in rows.hearts_starts(TINY):
        assert state.current_player() >= 0
        before = len(state.history())
        while not state.is_terminal():
            assert state.current_player() != pyspiel.PlayerId.CHANCE
            state.apply_action(state.legal_actions()[0])
        lengths.append(len(state.history()) - before)
    assert sum(lengths) / len(lengths) == rows.HEARTS_DECISIONS


@pytest.mark.usefixtures("tiny")
def test_record_has_every_key_and_is_appended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results.jsonl"
    arguments = ["--quick", "--only", "spiel-clone", "native-clone", "--out", str(out)]
    assert speed.main(arguments) == 0
    assert speed.main([*arguments, "--seed", "3", "--markdown"]) == 0
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [record["seed"] for record in records] == [0, 3]
    for record in records:
        assert list(record) == HEAD.split()
        assert [row["name"] for row in record["rows"]] == ["spiel-clone", "native-clone"]
        assert all(list(row) == ROW.split() for row in record["rows"])
        assert record["pairs"] == record["rows"][0]["samples"] == 7
    table = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(table) == 4
    assert len({line.count("|") for line in table}) == 1


def test_missed_goal_is_marked_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results.jsonl"
    monkeypatch.setattr(speed, "ROWS", [Row("x", "slow", "s", scripted([9.0] * 7), must=1.0)])
    assert speed.main(["--out", str(out)]) == 0
    assert "FAILS" in capsys.readouterr().out
    assert json.loads(out.read_text())["rows"][0]["must_holds"] is False


def test_row_that_cannot_be_measured_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(speed, "ROWS", [Row("x", "x", "s", lambda _: None)])
    assert speed.main(["--out", str(tmp_path / "results.jsonl")]) == 0
    assert "cannot be measured" in capsys.readouterr().err


def test_interrupt_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Settings) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "results.jsonl"
    monkeypatch.setattr(speed, "ROWS", [Row("x", "x", "s", interrupted)])
    assert speed.main(["--out", str(out)]) == 130
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--pairs", "6"],
        ["--pairs", "many"],
        ["--seed", "-1"],
        ["--only", "nothing"],
        ["--only"],
        ["--fast"],
        ["--out", "no/such/folder/results.jsonl"],
        ["--out", "."],
        ["more"],
    ],
)
def test_bad_options_end_in_one_line_and_exit_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        speed.main(arguments)
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_script_runs_from_any_folder(tmp_path: Path) -> None:
    command = [sys.executable, speed.__file__, "--pairs", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_tournament_benchmark_prints_its_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert tournaments.main(["--games", "20", "--pairs", "1", "--growth", "20"]) == 0
    output = capsys.readouterr().out
    for words in ("bare loop", "of the bare loop", "times one worker", "coordinator MB", "at rest"):
        assert words in output
    with pytest.raises(SystemExit):
        tournaments.main(["--games", "0"])
