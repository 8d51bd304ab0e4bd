"""What the README shows is run as printed."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import mrjack_ai
from mrjack_ai.agents import make_agent
from mrjack_ai.cli.main import main, parse_command
from mrjack_ai.cli.options import Options
from mrjack_ai.cli.tournament import tournament_settings
from mrjack_ai.game.record import GameRecord
from mrjack_ai.testing import check_agent
from mrjack_ai.tournament import load_settings

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, flags=re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]


def block_with(words: str) -> str:
    return next(text for _, text in BLOCKS if words in text)


def test_python_snippets_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = mrjack_ai.load_board("mews").to_dict() | {"name": "my_board"}
    (tmp_path / "my_board.json").write_text(json.dumps(board))
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    assert len(PYTHON) == 10
    for text in PYTHON:
        exec(compile(text, "README.md", "exec"), namespace)
    assert namespace["state"].history_strings() == ["jack JS", "deal SH,JW,JS,IL"]
    assert namespace["world"].observation(0) == namespace["view"]
    assert (tmp_path / "watson.svg").read_text(encoding="utf-8") == namespace["picture"]


def test_openspiel_and_agent_examples_are_short() -> None:
    assert [len(text.splitlines()) for text in PYTHON[:2]] == [5, 5]


def test_program_in_the_readme_keeps_the_contract(tmp_path: Path) -> None:
    path = tmp_path / "my_agent.py"
    path.write_text(block_with("import json, random, sys"))
    command = f"cmd:{shlex.join([sys.executable, str(path)])}"
    variants = [mrjack_ai.make_variant("mews", "SH+JW", 4)]
    assert check_agent(partial(make_agent, command), variants).games == 8


def test_record_in_the_readme_replays() -> None:
    record = GameRecord.from_text(block_with("mrjack record 1"))
    assert record.replay().is_terminal()


def test_position_in_the_readme_parses() -> None:
    text = " ".join(block_with("node=").split())
    assert str(mrjack_ai.State(text)) == text


def test_commands_in_the_readme_exist() -> None:
    commands = re.findall(r"`mrjack ([^`\[]+)", README)
    assert len(commands) >= 7
    for command in commands:
        words = ["x" if word.isupper() else word for word in shlex.split(command)]
        assert parse_command(words).info_name == words[0]


def test_picture_in_the_readme_is_the_one_its_command_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).parent.parent
    command = next(line for line in block_with("--svg").splitlines() if "--svg" in line)
    words = shlex.split(command)[1:]
    assert f"]({words[-1]})" in README
    shown = (root / words[-1]).read_bytes()
    monkeypatch.chdir(root)
    assert main([*words[:-1], str(tmp_path / "board.svg")]) == 0
    assert (tmp_path / "board.svg").read_bytes() == shown


def test_tournament_file_in_the_readme_describes_one(tmp_path: Path) -> None:
    path = tmp_path / "night.toml"
    path.write_text(next(text for language, text in BLOCKS if language == "toml"))
    settings = load_settings(path)
    assert (settings.format, settings.games, settings.move_time_limit) == ("gauntlet", 400, 500)
    command = next(line for line in block_with("--format gauntlet").splitlines())
    options = Options.of(parse_command(shlex.split(command)[1:]))
    assert replace(tournament_settings(options), move_time_limit=500) == settings
