"""The set of games is the same on any executor."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import misbehaving
import pytest

from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import Settings, load_results, run_tournament
from mrjack_ai.tournament import workers as workers_module

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
SETTINGS = Settings(("random", "first-in-tests", "greedy"), 10, 5, SMALL, key="5a" * 32)


@pytest.fixture(autouse=True, scope="module")
def _register() -> None:
    misbehaving.register()


class Immediate(Executor):
    """Plays at once, in this process."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


EXECUTORS = {
    "immediate": Immediate,
    "threads": lambda: ThreadPoolExecutor(2),
    "spawned": lambda: ProcessPoolExecutor(2, multiprocessing.get_context("spawn")),
    "forked": lambda: ProcessPoolExecutor(2, multiprocessing.get_context("fork")),
}


@pytest.mark.parametrize("name", EXECUTORS)
def test_any_executor_plays_the_same_games(tmp_path: Path, name: str) -> None:
    """With an agent of ours, which lives in a module that can be imported."""
    path = tmp_path / "r.db"
    with EXECUTORS[name]() as executor:
        results = run_tournament(SETTINGS, executor=executor, out=path)
        assert results == run_tournament(SETTINGS)
        assert executor.submit(len, "open").result() == 4  # it stays open


@pytest.mark.parametrize("name", ["threads", "forked"])
def test_an_interrupted_run_is_carried_on_elsewhere(tmp_path: Path, name: str) -> None:
    def stop(done: int, total: int) -> None:
        if done == 7:
            raise KeyboardInterrupt

    path = tmp_path / "r.db"
    settings = replace(SETTINGS, games=100)
    with EXECUTORS[name]() as executor:
        results = run_tournament(settings, executor=executor, out=path, progress=stop)
        assert not results.complete
        assert 7 <= len(results.records) == len(load_results(path).records)
    assert run_tournament(settings, out=path) == run_tournament(settings)


def test_games_a_batch_has_no_time_for_are_played_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "BATCH_SECONDS", 0.002)
    monkeypatch.setattr(workers_module._Pace, "games", lambda self: 8)
    sizes: list[int] = []
    play_batch = workers_module.play_batch

    def watched(*arguments: Any) -> Any:
        results = play_batch(*arguments)
        sizes.append(len(results))
        return results

    monkeypatch.setattr(workers_module, "play_batch", watched)
    assert run_tournament(SETTINGS, executor=Immediate()) == run_tournament(SETTINGS)
    assert sum(sizes) == SETTINGS.total_games
    assert min(sizes) < 8


def test_what_goes_wrong_outside_agents_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> Any:
        raise RuntimeError("out of order")

    monkeypatch.setattr(workers_module, "play_batch", broken)
    with pytest.raises(RuntimeError, match="out of order"):
        run_tournament(SETTINGS, executor=Immediate())
