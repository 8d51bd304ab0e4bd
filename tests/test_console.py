"""What a terminal shows while a tournament is played, and at the end."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.console import Console

from mrjack_ai.cli import console
from mrjack_ai.cli.console import print_summary
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import Settings, run_tournament, summarize
from mrjack_ai.tournament.outcomes import Outcomes

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
VARIANT = ["--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def watched(*words: str, size: tuple[int, int] = (40, 100), term: str = "xterm") -> tuple[str, str]:
    """Standard output of a tournament, and what its standard error shows in a terminal."""
    terminal, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    environment = {**os.environ, "TERM": term}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        environment.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", "mrjack_ai.cli.main", "tournament", *words, *VARIANT],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # EIO: the other end is closed
        while part := os.read(terminal, 65536):
            shown += part
    os.close(terminal)
    output = process.communicate()[0].decode()
    assert process.returncode == 0
    return output, shown.decode()


def test_a_terminal_shows_progress_rate_time_left_and_scores() -> None:
    agents = ("ismcts:sims=2000", "greedy", "random")
    output, shown = watched("--agents", *agents, "--games", "100")
    assert "\x1b" not in output  # which is no terminal
    frames = [ESCAPES.sub("", frame) for frame in shown.split("so far")[1:]]
    assert len(frames) > 1
    last = frames[-1]
    for agent in agents:
        assert re.search(rf"{agent} +\d+ +\d+\.\d \[\d+\.\d, \d+\.\d\] +\d+\.\d +\d+\.\d", last)
    assert re.search(r"\d+/300 +\d+(\.\d)?/s +0:00:\d\d left", last)
    assert shown.rstrip().endswith("\x1b[2K")  # wiped at the end


def test_a_match_shows_elo_difference_and_the_sequential_test() -> None:
    words = ("--agents", "ismcts:sims=1000", "greedy", "--games", "300")
    test = ("--sprt", "elo0=-1", "elo1=1", "alpha=0.01", "beta=0.01")  # not decided by 300 games
    _, shown = watched(*words, *test)
    last = ESCAPES.sub("", shown.split("so far")[-1])
    assert re.search(r"greedy +\d+ +[\d.]+ \[[\d.]+, [\d.]+\] +[+-]\d+ \[[+-]\d+, [+-]\d+\]", last)
    assert re.search(r"\d+/300 .* 0:00:\d\d left at most", last)
    assert re.search(r"log-likelihood ratio [+-]\d\.\d\d, ends at -4\.60 or \+4\.60", last)


def test_more_agents_than_lines() -> None:
    agents = [f"ismcts:sims={sims}" for sims in range(200, 214)]
    words = ("--format", "gauntlet", "--agents", *agents, "--games", "20")
    _, shown = watched(*words, size=(12, 60))
    last = ESCAPES.sub("", shown.split("so far")[-1])
    assert "and 10 more" in last
    assert last.count("ismcts") == 4


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_quiet_where_nothing_can_be_drawn(term: str) -> None:
    _, shown = watched("--games", "4", term=term)
    assert shown == ""


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_narrow_terminal_loses_no_digit(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")  # so that rich takes it for a terminal
    summary = summarize(run_tournament(Settings(("greedy", "cautious", "random"), 20, 1, SMALL)))
    print_summary(summary)
    output = ESCAPES.sub("", capsys.readouterr().out)
    assert max(map(len, output.splitlines()[:8])) <= width
    numbers = re.findall(r"[\d.]+", output)
    for pairing in summary.pairings:
        for text in (pairing.score.percent(), pairing.elo.text(), pairing.lengths.text()):
            assert set(re.findall(r"[\d.]+", text)) <= set(numbers)


def test_the_module_is_quiet_in_a_pipe(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mrjack_ai.cli.main", "tournament", "--games", "4", *VARIANT]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stderr == ""
    assert "\x1b" not in run.stdout


def test_scores_of_many_games_are_counted_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(console.time, "perf_counter", lambda: now)
    scores = console._Scores()
    scores.outcomes = outcomes = Outcomes(Settings(("random", "greedy"), 10**12, 1, SMALL))
    terminal = Console(file=io.StringIO(), width=100, record=True)

    def shows(games: int) -> bool:
        terminal.print(scores)
        return f" {games} " in terminal.export_text()

    for number in range(1000):
        outcomes.put(number, number % 2)
    assert shows(1000)
    for number in (1000, 1001):
        outcomes.put(number, 0)
    assert shows(1000)
    now = 0.5  # later than the next frame is drawn
    assert shows(1002)
    now = 1.0
    monkeypatch.setattr(outcomes, "count", 10**7)
    assert shows(1002)
    for number in range(1002, 1010):
        outcomes.put(number, 0)
    now = 1.5
    assert shows(1002)
    now = 25.0
    assert shows(1010)
