"""Agents that break their contract lose that game and no other; dead processes are replaced."""

from __future__ import annotations

import re
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import misbehaving
import pytest

from mrjack_ai import AgentError
from mrjack_ai.agents import register_agent
from mrjack_ai.cli.main import main
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import (
    Deal,
    GameResult,
    Settings,
    TournamentError,
    load_results,
    run_tournament,
    standings,
)
from mrjack_ai.tournament import workers as workers_module
from mrjack_ai.tournament.store import ResultsReader

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)


@pytest.fixture(autouse=True, scope="module")
def _register() -> None:
    misbehaving.register()


def match(agent: str, games: int = 8, limit: float | None = None) -> Settings:
    return Settings((agent, "first-in-tests"), games, 5, SMALL, "match", None, limit, key="5a" * 32)


def stored(path: Path) -> list[GameResult]:
    with ResultsReader(path) as reader:
        return list(reader.results())


KINDS = [
    ("raises-in-tests", None, "exception", "ZeroDivisionError: half a surrogate"),
    ("fails-to-start-in-tests", None, "exception", "RuntimeError: no engine"),
    ("leaves-in-tests", None, "exception", "SystemExit: 3"),
    ("illegal-in-tests", None, "illegal action", "action -1 is not legal here"),
    ("illegal-in-tests:what=huge", None, "illegal action", "is not legal here"),
    ("illegal-in-tests:what=none", None, "illegal action", "None .NoneType. is no action"),
    ("illegal-in-tests:what=float", None, "illegal action", "1.5 .float. is no action"),
    ("illegal-in-tests:what=list", None, "illegal action", r"\[1\] .list. is no action"),
    ("slow-in-tests", 20, "time", "ms for a decision; the limit is 20 ms"),
]


@pytest.mark.parametrize(("agent", "limit", "kind", "message"), KINDS)
def test_forfeits_of_either_side(
    tmp_path: Path, agent: str, limit: float | None, kind: str, message: str
) -> None:
    path = tmp_path / "r.db"
    results = run_tournament(match(agent, 4, limit), out=path)
    assert results.complete
    for result, record in zip(stored(path), results.records, strict=True):
        side = record.agents.index(agent)
        name = ("detective", "jack")[side]
        assert (result.forfeit_by, result.winner) == (name, ("jack", "detective")[side])
        assert (result.forfeit_kind, result.ending) == (kind, None)
        assert re.search(message, result.forfeit_message or "")
        assert "\n" not in (result.forfeit_message or "")
        assert ("Traceback" in (result.forfeit_traceback or "")) == (kind == "exception")
        assert record.details["forfeit"]["by"] == name
        assert record.ending is None
        assert not record.replay().is_terminal()
        decisions = (result.detective_decisions, result.jack_decisions)[side]
        assert decisions == {"raises": 3, "fails-to-start": 0}.get(
            agent[: agent.index("-in-tests")], 1
        )
        assert (result.length == 0) == agent.startswith("fails")
    table = {standing.agent: standing for standing in standings(results)}
    assert table[agent].score.value == 0
    assert table[agent].as_detective.value == table[agent].as_jack.value == 0
    assert table[agent].lost_by == {"forfeit": 4}
    assert table["first-in-tests"].won_by == {"forfeit": 4}


def test_forfeits_are_the_same_in_workers_and_on_executors(tmp_path: Path) -> None:
    settings = match("raises-in-tests")
    expected = run_tournament(settings)
    assert run_tournament(settings, workers=2) == expected
    with ThreadPoolExecutor(2) as executor:
        assert run_tournament(settings, executor=executor) == expected


def test_strict_stops_at_the_first_forfeit_and_does_not_keep_it(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    settings = Settings(("first-in-tests", "random", "raises-in-tests"), 2, 5, SMALL)
    for workers in (1, 2):
        message = r"game [3-6]: raises-in-tests as \w+ forfeits"
        with pytest.raises(AgentError, match=message) as error:
            run_tournament(settings, workers=workers, out=path, strict=True)
        assert error.value.__notes__[0].startswith("Traceback")
        assert {result.forfeit_by for result in stored(path)} == {None}
        assert len(load_results(path).records) == 2
    assert run_tournament(settings, out=path).complete


def test_the_command_shows_forfeits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["tournament", "--agents", "raises-in-tests", "first-in-tests", "--games", "4"]
    arguments += ["--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4"]
    assert main([*arguments, "--strict"]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert errors[0].startswith("Traceback")
    assert errors[-1].startswith("mrjack tournament: game 1: raises-in-tests as Detective forfeits")
    path = str(tmp_path / "r.db")
    assert main([*arguments, "--out", path]) == 0
    captured = capsys.readouterr()
    assert re.search(r"^ +all +4( +0){4} +4 ", captured.out, re.M)
    assert "4 games were forfeited" in captured.out
    assert "game 2: raises-in-tests as Jack forfeits (exception): Zero" in captured.out
    assert main(["replay", path]) == 0
    assert "forfeited 4" in capsys.readouterr().out


# -- processes that die -------------------------------------------------------------------


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_a_worker_that_dies_is_replaced_and_its_game_played_again(tmp_path: Path, how: str) -> None:
    counter = tmp_path / "deaths"
    agent = f"dies-in-tests:count=2,how={how},file={counter}"
    results = run_tournament(match(agent), workers=2)
    assert counter.read_text() == "xx"
    assert results.complete
    assert all("forfeit" not in record.details for record in results.records)
    assert results == run_tournament(match(agent))  # by now it lives on


def test_a_game_that_kills_its_process_again_and_again_is_forfeited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "MOST_DEATHS", 2)
    path, counter = tmp_path / "r.db", tmp_path / "deaths"
    settings = match(f"dies-in-tests:count=4,file={counter}")
    results = run_tournament(settings, workers=2, out=path)
    assert results.complete
    assert counter.read_text() == "xxxx"
    forfeits = [result for result in stored(path) if result.forfeit_by]
    assert 1 <= len(forfeits) <= 2
    for result in forfeits:
        assert result.forfeit_kind == "crash"
        assert "died 2 times during this game (exit code 7)" in (result.forfeit_message or "")
        agent = (result.detective, result.jack)[("detective", "jack").index(result.forfeit_by)]
        assert settings.agents[agent].startswith("dies")
        # The actions up to its second decision are known though the process is gone.
        assert 2 < result.length < 20
        state = results.records[result.number].replay()
        assert state.current_player() == ("detective", "jack").index(result.forfeit_by)


def test_an_agent_that_never_returns_is_stopped_in_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "HANG_SECONDS", 0.3)
    path = tmp_path / "r.db"
    settings = match("slow-in-tests:ms=100000", 2, limit=100)
    results = run_tournament(settings, workers=2, out=path)
    assert results.complete
    for result in stored(path):
        agent = (result.detective, result.jack)[("detective", "jack").index(result.forfeit_by)]
        assert settings.agents[agent].startswith("slow")
        assert result.forfeit_kind == "time"
        assert "no decision after" in (result.forfeit_message or "")
        assert 2 <= result.length == len(results.records[result.number].actions)


def test_preparing_for_a_game_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "HANG_SECONDS", 0.05)
    results = run_tournament(match("slow-to-start-in-tests", 2, limit=60), workers=2)
    assert results.complete
    assert all("forfeit" not in record.details for record in results.records)


def test_agents_that_cannot_be_sent_to_workers_are_named() -> None:
    class Local(misbehaving.First):
        """Lives in a function."""

    register_agent("local-in-tests", Local)
    settings = match("local-in-tests", 2)
    with pytest.raises(TournamentError, match="agent 'local-in-tests' cannot be given to worker"):
        run_tournament(settings, workers=2)
    assert run_tournament(settings).complete


def test_an_executor_that_breaks_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    executor = ProcessPoolExecutor(1)
    with executor, pytest.raises(TournamentError, match="the executor broke"):
        run_tournament(match("dies-in-tests"), out=path, executor=executor)
    assert len(load_results(path).records) < 8


def test_what_goes_wrong_outside_agents_stops_the_tournament() -> None:
    """A deal that does not fit fails in the worker, and is told with its traceback."""
    deals = (Deal(identity=7, deals=(0, 0), pile=(1, 2, 3)),) * 2
    settings = Settings(("random", "first-in-tests"), 4, 5, SMALL, deals=deals)
    with pytest.raises(TournamentError, match="a worker process failed") as error:
        run_tournament(settings, workers=2)
    assert "Traceback" in error.value.__notes__[0]
