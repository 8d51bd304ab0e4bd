"""Tournaments on a real Dask cluster on this machine: the same games, whatever happens there."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import misbehaving
import pytest

from mrjack_ai.agents import agent_class
from mrjack_ai.cli.main import main
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import (
    Settings,
    Sprt,
    TournamentError,
    cluster,
    connect_cluster,
    load_results,
    run_tournament,
)
from mrjack_ai.tournament.store import ResultsReader

distributed = pytest.importorskip("distributed")

CLIENT = Path(__file__).parent / "clients" / "random_agent.py"
SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
SETTINGS = Settings(("first-in-tests", "cautious", "ismcts:sims=100"), 60, 5, SMALL, key="5a" * 32)


@pytest.fixture(scope="module")
def two() -> Iterator[Any]:
    """A cluster of two worker processes."""
    misbehaving.register()
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    ) as found:
        yield found


def pids(two: Any) -> set[int]:
    with distributed.Client(two.scheduler_address, set_as_default=False) as client:
        return set(client.run(os.getpid).values())


def test_the_same_games_when_a_worker_is_killed_on_the_way(two: Any, tmp_path: Path) -> None:
    """The agents of the tests are made known there; only this process writes."""
    path = tmp_path / "r.db"
    before = pids(two)
    assert len(before) == 2
    assert os.getpid() not in before
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        if done >= 40 and not killed:
            killed.append(min(before))
            os.kill(killed[0], signal.SIGKILL)

    with connect_cluster(two.scheduler_address) as executor:
        results = run_tournament(SETTINGS, executor=executor, out=path, progress=kill)
    assert killed
    assert results.complete
    assert results == load_results(path) == run_tournament(SETTINGS)
    with ResultsReader(path) as reader:
        assert [run[2] for run in reader.table("runs")[1]] == [2]
        assert reader.count() == 180
    deadline = time.monotonic() + 20
    while len(after := pids(two)) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert killed[0] not in after


def test_an_interrupted_run_is_carried_on_here(two: Any, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done == 30:
            raise KeyboardInterrupt

    path = tmp_path / "r.db"
    with connect_cluster(two.scheduler_address) as executor:
        results = run_tournament(SETTINGS, executor=executor, out=path, progress=stop)
    assert not results.complete
    assert run_tournament(SETTINGS, out=path) == run_tournament(SETTINGS)


def test_a_sequential_test_stops_at_the_same_game(two: Any) -> None:
    test = Sprt(0, 40, 0.05, 0.05)
    settings = Settings(("greedy", "cautious"), 4000, 3, SMALL, sprt=test)
    with connect_cluster(two.scheduler_address) as executor:
        assert run_tournament(settings, executor=executor) == run_tournament(settings)


def test_an_agent_that_kills_workers_is_named_as_the_cause(two: Any, tmp_path: Path) -> None:
    settings = replace(SETTINGS, agents=("dies-in-tests", "random"), games=4)
    with (
        connect_cluster(two.scheduler_address) as executor,
        pytest.raises(TournamentError, match=r"died of the same games again .* --workers"),
    ):
        run_tournament(settings, executor=executor, out=tmp_path / "r.db")
    # Not by a client: one that connects while a worker comes back fails.
    deadline = time.monotonic() + 20
    while len(two.scheduler_info["workers"]) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)


def test_connecting_while_workers_come_and_go_is_tried_again(
    two: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, calls = distributed.Client, []

    def client(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        assert len(calls) % 3 == 0, "as distributed does"
        return connect(*arguments, **named)

    monkeypatch.setattr(distributed, "Client", client)
    with connect_cluster(two.scheduler_address) as executor:
        assert len(calls) == 3
        assert executor is not None
    monkeypatch.setattr(distributed, "Client", _always_fails)
    with (
        pytest.raises(TournamentError, match="come and go"),
        connect_cluster(two.scheduler_address),
    ):
        pass


def _always_fails(*_: Any, **__: Any) -> Any:
    raise AssertionError


def test_a_class_that_has_changed_plays_anew(two: Any) -> None:
    """As when a script that defines an agent is edited while the cluster stays."""
    settings = replace(SETTINGS, agents=("first-in-tests", "random"), games=10)
    kept = agent_class("first-in-tests")
    with connect_cluster(two.scheduler_address) as executor:
        run_tournament(settings, executor=executor)
        with pytest.MonkeyPatch.context() as patch:
            from mrjack_ai.agents import registry

            patch.setitem(registry._AGENTS, "first-in-tests", misbehaving.Raises)
            results = run_tournament(settings, executor=executor)
            assert any("forfeit" in record.details for record in results.records)
    assert agent_class("first-in-tests") is kept


def test_the_command(two: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.db"
    arguments = ["tournament", "--games", "10", "--board", "mews", "--turns", "4"]
    arguments += ["--cast", "SH+JW+SG+WG", "--seed", "5", "--agents", "greedy", "random"]
    assert main([*arguments, "--cluster", two.scheduler_address, "--out", str(path)]) == 0
    assert f"every game is in {path}" in capsys.readouterr().out
    assert load_results(path) == run_tournament(Settings(("greedy", "random"), 10, 5, SMALL))


@contextlib.contextmanager
def running_cluster(folder: Path) -> Iterator[str]:
    """The address of a scheduler with a worker that was started in a folder."""
    with scheduler_and_worker(folder) as (address, _):
        yield address


@contextlib.contextmanager
def scheduler_and_worker(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Address and process of a scheduler, which may be killed, and has a worker in a folder."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    scheduler = subprocess.Popen([*start, "--host", "127.0.0.1", "--port", str(port)], **quiet)
    start = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-dashboard"]
    worker = subprocess.Popen([*start, "--no-nanny", "--nthreads", "1"], cwd=folder, **quiet)
    try:
        yield address, scheduler
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


CODE = """
import mrjack_ai, mrjack_ai.agents, helper_for_cluster
class Mine(mrjack_ai.Agent):
    def act(self, observation):
        return helper_for_cluster.choose(observation.legal_actions())
mrjack_ai.agents.register_agent("mine-in-cluster", Mine)
"""


@pytest.mark.parametrize("elsewhere", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_code_files_reach_workers_as_they_are_now(tmp_path: Path, elsewhere: bool) -> None:
    """Workers of another folder have no such module, those of the same one perhaps an old one."""
    folder, other = tmp_path / "code", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (folder / "mine_for_cluster.py").write_text(CODE)
    words = ["--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4", "--seed", "5"]
    words += ["--agents", "mine-in-cluster", "random", "--games", "20", "--key", "5a" * 32]
    command = [sys.executable, "-m", "mrjack_ai.cli.main", "tournament", *words]
    command += ["--code", str(folder / "mine_for_cluster.py")]
    with running_cluster(other if elsewhere else folder) as address:
        for choice in ("actions[0]", "actions[-1]"):
            helper = f"def choose(actions):\n    return {choice}\n"
            (folder / "helper_for_cluster.py").write_text(helper)
            found = []
            for more in ([], ["--workers", "2"], ["--cluster", address]):
                out = tmp_path / f"{choice}{len(found)}.db"
                run = subprocess.run(
                    [*command, *more, "--out", str(out)],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                )
                assert run.returncode == 0, run.stderr
                found.append(load_results(out))
            assert found[0] == found[1] == found[2], choice
        (folder / "mine_for_cluster.py").write_text(
            f"import os\nif os.getcwd() == {str(other)!r}:\n    raise OSError('not here')\n{CODE}"
        )
        if elsewhere:
            run = subprocess.run(
                [*command, "--cluster", address], capture_output=True, text=True, check=False
            )
            assert run.returncode == 2
            assert run.stderr == (
                "mrjack tournament: code 'mine_for_cluster.py' cannot be run by a worker: "
                "OSError: not here\n"
            )


def test_a_program_that_is_not_on_the_workers_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    program = tmp_path / "here" / "program"
    program.write_text(f"#!{sys.executable}\n{CLIENT.read_text()}")
    program.chmod(0o755)
    words = ["--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4", "--games", "4"]
    command = [sys.executable, "-m", "mrjack_ai.cli.main", "tournament", *words]
    command += ["--agents", "cmd:./program", "random"]
    with running_cluster(tmp_path / "there") as address:
        run = subprocess.run(
            [*command, "--cluster", address],
            cwd=tmp_path / "here",
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert "a worker says: agent 'cmd:./program': command './program': there" in run.stderr


def test_the_software_is_all_of_the_package(tmp_path: Path) -> None:
    package = tmp_path / "mrjack_ai"
    for name in ("agents/greedy.py", "search/data/value.npz", "notes.txt"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("1")
    before = cluster._package_hash(package)
    (package / "notes.txt").write_text("2")
    assert cluster._package_hash(package) == before
    for name in ("agents/greedy.py", "search/data/value.npz"):
        (package / name).write_text("2")
        assert cluster._package_hash(package) != before
        before = cluster._package_hash(package)


# -- what can go wrong --------------------------------------------------------------------


def refused(address: str, capsys: pytest.CaptureFixture[str]) -> str:
    started = time.monotonic()
    assert main(["tournament", "--games", "2", "--cluster", address]) == 2
    assert time.monotonic() - started < 5
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    return errors


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler at 'tcp://127.0.0.1:1'"),
        ("tcp://nosuch.invalid:8786", "no Dask scheduler at 'tcp://nosuch.invalid:8786'"),
        ("127.0.0.1:8786", "'127.0.0.1:8786' must read tcp://HOST:PORT"),
        ("tcp://127.0.0.1:99999", "no Dask scheduler at"),
        ("foo://127.0.0.1:8786", "unknown address scheme 'foo'"),
    ],
)
def test_addresses_where_nobody_is(
    address: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    assert message in refused(address, capsys)


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH"])
def test_something_else_answers(
    greeting: bytes, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            connection.sendall(greeting)
            time.sleep(2)
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        assert "no Dask scheduler" in refused(f"tcp://127.0.0.1:{server.getsockname()[1]}", capsys)


def test_a_cluster_without_workers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    with distributed.LocalCluster(
        n_workers=0, dashboard_address=":0", processes=True, silence_logs=logging.CRITICAL
    ) as empty:
        assert "has no workers; start some there" in refused(empty.scheduler_address, capsys)


def test_workers_with_other_software_are_refused(
    two: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "__version__", "0.0.1")
    assert "install the same version" in refused(two.scheduler_address, capsys)


def test_the_extra_is_named_where_it_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "with its extra, as mrjack_ai[distributed]" in refused("tcp://127.0.0.1:8786", capsys)


def test_the_scheduler_dies_on_the_way(tmp_path: Path) -> None:
    """One line says so, what was played is kept, and another run carries on."""
    path = tmp_path / "r.db"
    words = ["--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4", "--seed", "5"]
    words += ["--agents", "ismcts:sims=100", "cautious", "--games", "2000"]
    command = [sys.executable, "-m", "mrjack_ai.cli.main", "tournament", *words]
    with scheduler_and_worker(tmp_path) as (address, scheduler):
        run = subprocess.Popen(
            [*command, "--cluster", address, "--out", str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and run.poll() is None:
            try:
                with ResultsReader(path) as reader:
                    if reader.count() >= 5:
                        break
            except TournamentError:
                pass
            time.sleep(0.05)
        scheduler.kill()
        errors = run.communicate(timeout=60)[1]
    assert run.returncode == 2
    assert errors.count("\n") == 1
    assert "its scheduler is gone" in errors
    kept = load_results(path).records
    assert 5 <= len(kept) < 2000
    settings = Settings(("ismcts:sims=100", "cautious"), 2000, 5, SMALL)
    for number in (0, 1):
        assert kept[number] == settings.game(number).play(settings)
