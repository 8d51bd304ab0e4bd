"""The agents in examples keep the contract and play."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import mrjack_ai
from mrjack_ai.agents import make_agent
from mrjack_ai.testing import check_agent

EXAMPLES = Path(__file__).parent.parent / "examples"
SMALL = [mrjack_ai.make_variant("mews", "SH+JW", 4)]

PROGRAMS = {"random_program.py": [sys.executable], "last_action.js": ["node"]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_keep_the_contract(name: str) -> None:
    if shutil.which(PROGRAMS[name][0]) is None:
        pytest.skip(f"there is no {PROGRAMS[name][0]} here")
    command = f"cmd:{shlex.join([*PROGRAMS[name], str(EXAMPLES / name)])}"
    assert check_agent(partial(make_agent, command), SMALL).games == 8


def test_agent_in_python_plays_as_its_first_lines_say() -> None:
    command = next(
        line
        for line in (EXAMPLES / "first_agent.py").read_text(encoding="utf-8").splitlines()
        if line.startswith("mrjack ")
    )
    words = [*shlex.split(command)[1:], "--games", "20"]
    code = f"import sys; from mrjack_ai.cli.main import main; sys.exit(main({words!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=EXAMPLES.parent,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "first" in done.stdout
    assert "forfeit" not in done.stdout


def test_every_example_is_tested() -> None:
    files = {path.name for path in EXAMPLES.iterdir() if path.is_file()}
    assert files == {*PROGRAMS, "first_agent.py"}
