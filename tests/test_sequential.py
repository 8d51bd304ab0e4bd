"""A sequential test stops a match, at the same game whoever plays and whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import misbehaving
import numpy as np
import pytest

from mrjack_ai.cli.main import main
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import (
    PairCounts,
    Results,
    Settings,
    Sprt,
    TournamentError,
    load_results,
    load_settings,
    make_settings,
    run_tournament,
    summarize,
)
from mrjack_ai.tournament.outcomes import Outcomes
from mrjack_ai.tournament.recovery import recover
from mrjack_ai.tournament.store import ResultsReader

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
WORDS = "elo0=0 elo1=40 alpha=0.05 beta=0.05"
TEST = Sprt.parse(WORDS.split())
SETTINGS = Settings(("greedy", "cautious"), 4000, 3, SMALL, sprt=TEST)


@pytest.fixture(scope="module")
def alone() -> Results:
    """The match as one worker plays it."""
    return run_tournament(SETTINGS)


def numbers(path: Path) -> list[int]:
    with ResultsReader(path) as reader:
        return [result.number for result in reader.results()]


def test_the_match_ends_with_the_pair_that_decides(alone: Results) -> None:
    """The test is asked pair by pair here, by hand."""
    pairs: list[tuple[int, bool]] = []
    whole = run_tournament(replace(SETTINGS, sprt=None, games=600))
    for number, record in enumerate(whole.records):
        caught = record.ending == "caught"
        pairs.append((record.details["deal"], record.agents[1 - caught] == "greedy"))
        if number % 2 and TEST.decide(PairCounts.from_games(pairs)).decided:
            break
    else:
        raise AssertionError("choose a test that is decided in 600 games")
    assert alone.complete
    assert len(alone.records) == len(pairs)
    assert 20 < len(pairs) < 400
    summary = summarize(alone)
    assert summary.judged == PairCounts.from_games(pairs) == summary.pairings[0].pairs
    assert summary.sprt == alone.sprt == TEST.decide(summary.judged)
    assert summary.sprt.decision == "elo1"


@pytest.mark.parametrize("agents", [("greedy", "cautious"), ("cautious", "greedy")])
def test_two_workers_stop_at_the_same_game(tmp_path: Path, agents: tuple[str, str]) -> None:
    settings = replace(SETTINGS, agents=agents)
    path = tmp_path / "r.db"
    results = run_tournament(settings, workers=2, out=path)
    assert results == load_results(path) == run_tournament(settings)
    assert numbers(path) == list(range(len(results.records)))
    assert results.sprt is not None
    assert results.sprt.decision == ("elo1" if agents[0] == "greedy" else "elo0")
    # Nothing is added to a decided match.
    assert run_tournament(settings, workers=2, out=path) == results


def test_games_are_judged_in_the_order_of_the_schedule() -> None:
    """Whatever the order they end in; those that ended behind the end do not count."""
    settings = replace(SETTINGS, agents=("first-in-tests", "greedy"), games=1000)
    misbehaving.register()
    results = [settings.game(number).result(settings) for number in range(300)]
    expected = Outcomes(settings)
    expected.add(results)
    assert expected.stop is not None
    rng = np.random.default_rng(1)
    for _ in range(5):
        outcomes = Outcomes(settings)
        for number in rng.permutation(300):
            outcomes.add([results[number]])
        assert outcomes.stop == expected.stop
        np.testing.assert_array_equal(outcomes.table(), expected.table())
        assert outcomes.judged == expected.judged
        assert list(outcomes.missing()) == []
    late = Outcomes(settings)
    late.add(results[1:])
    assert late.stop is None
    assert late.judged == PairCounts()
    assert next(late.missing()) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_and_resumed_stops_at_the_same_game(
    tmp_path: Path, workers: int, alone: Results
) -> None:
    path = tmp_path / "r.db"
    command = [sys.executable, "-m", "mrjack_ai.cli.main", "tournament", "--agents", "greedy"]
    command += ["cautious", "--games", "4000", "--seed", "3", "--board", "mews", "--turns", "4"]
    command += ["--cast", "SH+JW+SG+WG", "--workers", str(workers), "--out", str(path)]
    command += ["--sprt", *WORDS.split()]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with ResultsReader(path) as reader:
                if reader.count() >= 8:
                    break
        except TournamentError:
            pass
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert run_tournament(SETTINGS, workers=3 - workers, out=path) == alone
    assert numbers(path) == list(range(len(alone.records)))


def test_a_hole_in_a_decided_match_is_filled(tmp_path: Path, alone: Results) -> None:
    """As after recovering a damaged file."""
    import sqlite3

    path = tmp_path / "r.db"
    run_tournament(SETTINGS, out=path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE games SET actions = 'pick SH' WHERE number = 5")
    database.close()
    new = tmp_path / "new.db"
    assert recover(path, new) == len(alone.records) - 1
    assert not load_results(new).complete
    assert run_tournament(SETTINGS, out=new) == alone


def test_too_few_games_leave_it_undecided(tmp_path: Path) -> None:
    settings = replace(SETTINGS, games=10)
    results = run_tournament(settings, out=tmp_path / "r.db")
    assert results.complete
    assert len(results.records) == 10
    assert results.sprt is not None
    assert not results.sprt.decided
    assert "undecided after 5 pairs" in summarize(results).sprt_text()


def test_the_settings_hold_the_test(tmp_path: Path) -> None:
    assert Settings.from_dict(SETTINGS.to_dict()) == SETTINGS
    data = SETTINGS.to_dict()
    del data["sprt"]  # a file of an earlier version
    assert Settings.from_dict(data) == replace(SETTINGS, sprt=None)
    path = tmp_path / "r.db"
    run_tournament(replace(SETTINGS, games=4), out=path)
    with pytest.raises(TournamentError, match=r"another tournament \(sprt differ\)"):
        run_tournament(replace(SETTINGS, games=4, sprt=None), out=path)
    described = tmp_path / "t.toml"
    described.write_text(f'agents = ["greedy", "cautious"]\nsprt = "{WORDS}"\n')
    settings = load_settings(described)
    assert (settings.sprt, settings.games) == (TEST, 20_000)
    assert make_settings(("greedy", "cautious"), sprt=WORDS.split()) == settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agents": ("greedy", "cautious", "random")}, "for a match of two agents, not for 3"),
        ({"format": "self-play"}, "for a match of two agents, not for self-play"),
    ],
)
def test_only_a_match_can_be_stopped(change: dict[str, object], message: str) -> None:
    with pytest.raises(TournamentError, match=message):
        replace(SETTINGS, **change)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    arguments = ["tournament", "--agents", "greedy", "cautious", "--board", "mews", "--turns", "4"]
    arguments += ["--cast", "SH+JW+SG+WG", "--out", str(path), "--sprt"]
    assert main([*arguments, *WORDS.split()]) == 0
    output = capsys.readouterr().out
    assert "decided for elo1, a difference of +40 after" in output
    assert main(["results", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "sprt: elo0=0.0 elo1=40.0 alpha=0.05 beta=0.05\n" in shown
    line = next(line for line in output.splitlines() if line.startswith("Sequential test"))
    assert line in shown
    for words, message in (
        (["elo0=0"], "elo1 and alpha and beta missing in a sequential test"),
        ([*WORDS.split()[:3], "beta=2"], "beta 2.0 must be a number above 0 and below 0.5"),
    ):
        assert main([*arguments, *words]) == 2
        assert message in capsys.readouterr().err
    assert os.path.exists(path)
