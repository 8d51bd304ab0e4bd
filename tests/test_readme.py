"""What the README and the pages of docs show is run as printed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import mrjack_ai
from mrjack_ai.agents import make_agent, registry
from mrjack_ai.cli.main import main, parse_command
from mrjack_ai.cli.options import Options
from mrjack_ai.cli.tournament import tournament_settings
from mrjack_ai.game.record import GameRecord
from mrjack_ai.testing import check_agent
from mrjack_ai.tournament import load_settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", TEXT, flags=re.DOTALL)
BASH = re.findall(r"(?:<!-- ([^>]*) -->\n)?```bash\n(.*?)```", TEXT, flags=re.DOTALL)


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def block_with(words: str) -> str:
    return next(text for _, text in BLOCKS if words in text)


@pytest.mark.parametrize("page", [p for p in PAGES if python_blocks(p)], ids=lambda p: p.stem)
def test_python_snippets_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = mrjack_ai.load_board("mews").to_dict() | {"name": "my_board"}
    (tmp_path / "my_board.json").write_text(json.dumps(board))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))  # pages register the same name
    namespace: dict[str, Any] = {}
    for text in python_blocks(page):
        exec(compile(text, page.name, "exec"), namespace)
    if page.stem == "quickstart":
        assert namespace["state"].history_strings() == ["jack JS", "deal SH,JW,JS,IL"]
        assert namespace["world"].observation(0) == namespace["view"]
        assert (tmp_path / "watson.svg").read_text(encoding="utf-8") == namespace["picture"]


def test_there_are_snippets_in_python() -> None:
    assert sum(len(python_blocks(page)) for page in PAGES) >= 13


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 160


def test_shell_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks marked as not run are left out; `.ci/run` runs those that install."""
    (tmp_path / "my_agent.py").write_text(block_with("import json, random, sys"))
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "game.txt", tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    ran = 0
    for marker, text in BASH:
        if marker.startswith(("not run: ", "install and ")):
            continue
        for line in text.splitlines():
            words = shlex.split(line)
            assert words[0] == "mrjack", line
            assert main(words[1:]) == 0, line
            ran += 1
    assert ran >= 3


def test_commands_that_are_not_run_parse() -> None:
    lines = [line for marker, text in BASH if "not run" in marker for line in text.splitlines()]
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("mrjack ")]
    assert len(commands) >= 6
    for words in commands:
        assert parse_command(words).info_name == words[0]


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


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
    commands = re.findall(r"`mrjack ([^`\[]+)", TEXT)
    assert len(commands) >= 7
    for command in commands:
        words = ["x" if word.isupper() else word for word in shlex.split(command)]
        assert parse_command(words).info_name == words[0]


def test_picture_in_the_readme_is_the_one_its_command_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = ROOT
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
