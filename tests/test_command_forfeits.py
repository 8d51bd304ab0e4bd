"""Programs in tournaments: what they wrote to standard error is kept, and limits hold."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mrjack_ai.cli.main import main
from mrjack_ai.reports import write_report
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import Settings, run_tournament
from mrjack_ai.tournament.store import ResultsReader

CLIENT = Path(__file__).parent / "clients" / "misbehaving.py"
SMALL = make_variant("mews", "SH+JW+SG+WG", 4)


def results(tmp_path: Path, how: str, workers: int = 1) -> list:
    command = f"cmd:{shlex.join([sys.executable, str(CLIENT), how])}"
    settings = Settings((command, "random"), 4, 1, SMALL, move_time_limit=300)
    run_tournament(settings, workers=workers, out=tmp_path / f"{how}.db")
    with ResultsReader(tmp_path / f"{how}.db") as reader:
        return list(reader.results())


def test_standard_error_is_kept(tmp_path: Path) -> None:
    for result in results(tmp_path, "fine", workers=2):
        logs = [result.detective_log, result.jack_log]
        side = result.detective  # the program is agent 0
        assert logs[side] == f"new game as {('detective', 'jack')[side]}\n"
        assert logs[1 - side] is None
        assert result.forfeit_by is None


def test_time_limit_of_the_tournament_holds(tmp_path: Path) -> None:
    found = results(tmp_path, "slow")
    assert {result.forfeit_kind for result in found} <= {"time", None}
    assert any(result.forfeit_kind == "time" for result in found)


@pytest.mark.parametrize(
    ("how", "kind"),
    [("illegal", "illegal action"), ("list", "illegal action"), ("garbage", "exception")],
)
def test_kinds_of_wrong_answers(tmp_path: Path, how: str, kind: str) -> None:
    forfeited = [result for result in results(tmp_path, how) if result.forfeit_by is not None]
    assert {result.forfeit_kind for result in forfeited} == {kind}
    for result in forfeited:
        assert result.forfeit_message.startswith("program "), "no name of a class before it"


def programs(folder: Path, what: str) -> set[int]:
    return {int(path.name.partition("-")[2]) for path in folder.glob(f"{what}-*")}


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def all_end(pids: set[int]) -> bool:
    end = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(alive, pids))


def staying(folder: Path) -> str:
    return f"cmd:{shlex.join([sys.executable, str(CLIENT), 'stays', str(folder)])}"


def test_programs_of_workers_are_told_to_quit_and_do_not_outlive_them(tmp_path: Path) -> None:
    """Even one that takes no notice of the end of its input and of SIGTERM."""
    run_tournament(Settings((staying(tmp_path), "random"), 8, 1, SMALL), workers=2)
    started = programs(tmp_path, "hello")
    assert started
    assert programs(tmp_path, "quit") == started
    assert not any(map(alive, started))


@pytest.mark.parametrize("how", ["interrupted", "killed", "worker killed"])
def test_programs_of_killed_processes_end(tmp_path: Path, how: str) -> None:
    program = """
import multiprocessing, os, pathlib, signal, sys
from mrjack_ai.tournament import Settings, run_tournament
from mrjack_ai.setup.variant import make_variant
settings = Settings((sys.argv[1], "random"), 20000, 1, make_variant("mews", "SH+JW+SG+WG", 4))
to_kill = sys.argv[2] == "worker killed"
def progress(done, total):
    global to_kill
    started = len(list(pathlib.Path(__file__).parent.glob("hello-*")))
    if done >= 20 and started >= 2 and to_kill:  # both workers have a program by now
        to_kill = False
        os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
    elif done >= 20 and started >= (3 if sys.argv[2] == "worker killed" else 2):
        os.kill(os.getpid(), signal.SIGKILL if sys.argv[2] == "killed" else signal.SIGINT)
if __name__ == "__main__":
    run_tournament(settings, workers=2, progress=progress)
"""
    (tmp_path / "play.py").write_text(program)
    command = [sys.executable, str(tmp_path / "play.py"), staying(tmp_path), how]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode == (-signal.SIGKILL if how == "killed" else 0), done.stderr
    started = programs(tmp_path, "hello")
    assert len(started) >= (3 if how == "worker killed" else 2)
    assert all_end(started)


def test_forfeits_show_standard_error(tmp_path: Path) -> None:
    for result in results(tmp_path, "exits"):
        if result.forfeit_by is not None:
            assert "ended with exit code 1" in result.forfeit_message
            assert "no more" in result.forfeit_traceback
            assert "no more" in (result.detective_log or "") + (result.jack_log or "")


def shown_game(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["results", str(path), "--tracebacks"]) == 0
    return capsys.readouterr().out.partition("\ngame 1:\n")[2].partition("\ngame 2:\n")[0]


def test_logs_of_forfeited_games_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page = tmp_path / "r.db", tmp_path / "r.html"
    exits, fine = (
        f"cmd:{shlex.join([sys.executable, str(CLIENT), how])}" for how in ("exits", "fine")
    )
    run_tournament(Settings((exits, fine), 2, 1, SMALL), out=path)
    shown = shown_game(path, capsys)
    assert shown.count("Traceback") == 1
    assert f"log of {fine} as Jack:\nnew game as jack\n" in shown
    assert f"log of {exits}" not in shown, "the traceback has it"
    assert shown.count("\nno more") == 1
    write_report(path, page)
    assert "as Jack:</p><pre>new game as jack</pre>" in page.read_text()
    assert main(["results", str(path)]) == 0
    agents = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("agents: "))
    assert shlex.split(agents) == ["agents:", exits, fine], "to be given to --agents again"
