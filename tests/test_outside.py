"""Agents from code files and from installed packages."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mrjack_ai import AgentError
from mrjack_ai.agents import (
    agent_class,
    agent_names,
    load_code,
    make_agent,
    plugins,
    register_all_installed,
    registry,
)
from mrjack_ai.cli.main import main
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.testing import check_agent
from mrjack_ai.tournament import Settings, load, load_results, load_settings, run_tournament

SMALL = ["--board", "mews", "--cast", "SH+JB", "--turns", "2", "--games", "4"]

POSITION = "jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL"

CODE = """
import mrjack_ai, mrjack_ai.agents
class Last(mrjack_ai.Agent):
    'Plays the last action.'
    def __init__(self, share: float = 0.5):
        self.share = share
    def act(self, observation):
        return observation.legal_actions()[-1]
mrjack_ai.agents.register_agent("NAME", Last)
"""


@pytest.fixture(autouse=True)
def _forgets_what_was_loaded() -> Iterator[None]:
    agents, loaded = dict(registry._AGENTS), dict(plugins._loaded)
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if "_for_tests" in name:
            del sys.modules[name]
    for mutable, before in ((registry._AGENTS, agents), (plugins._loaded, loaded)):
        mutable.clear()
        mutable.update(before)  # type: ignore[arg-type]


def write(folder: Path, name: str, text: str) -> str:
    path = folder / f"{name}.py"
    path.write_text(text)
    return str(path)


# -- code files ---------------------------------------------------------------------------


def test_code_file_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In this process, in workers, twice in one process, and in all commands that take agents."""
    code = write(tmp_path, "my-agents_for_tests", CODE.replace("NAME", "last"))
    for workers in ("1", "2"):
        out = tmp_path / f"{workers}.results"
        arguments = ["--workers", workers, "--code", code, "--out", str(out)]
        agents = ["--agents", "last", "random", "last:share=0.25"]
        assert main(["tournament", *SMALL, *arguments, *agents]) == 0
    assert "last:share=0.25" in capsys.readouterr().out
    assert main(["agents", "--code", code]) == 0
    listed = capsys.readouterr().out
    assert "share=0.5" in listed
    assert "Plays the last action." in listed
    assert main(["ladder", *SMALL, "--code", code, "--rungs", "random", "last"]) == 0
    assert main(["analyse", POSITION, "--code", code, "--agent", "last"]) == 2
    assert "does not search" in capsys.readouterr().err


def test_the_games_are_the_same_in_workers(tmp_path: Path) -> None:
    helper = "def choose(actions):\n    return actions[-1]\n"
    write(tmp_path, "helper_for_tests", helper)
    text = CODE.replace("return observation", "import helper_for_tests\n        return observation")
    code = write(tmp_path, "several_for_tests", text.replace("NAME", "last"))
    assert load_code(code) == load_code(Path(code)) == ("last",)
    variant = make_variant("mews", "SH+JB")
    settings = Settings(("last", "random"), 10, 1, variant, key="5a" * 32)
    assert run_tournament(settings).records == run_tournament(settings, workers=2).records
    check_agent(lambda: make_agent("last"), games=1)


def test_code_in_a_settings_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative to its folder; the same as --code."""
    folder = tmp_path / "folder"
    folder.mkdir()
    code = write(folder, "described_for_tests", CODE.replace("NAME", "last"))
    words = 'agents = ["last", "random"]\ngames = 4\nboard = "mews"\ncast = "SH+JB"\nturns = 2\n'
    words += f'key = "{"5a" * 32}"\n'
    (folder / "plain.toml").write_text(words)
    (folder / "whole.toml").write_text(f'{words}code = ["described_for_tests.py"]\n')
    monkeypatch.chdir(tmp_path)
    assert main(["tournament", "--settings", "folder/plain.toml"]) == 2
    assert "unknown agent 'last'" in capsys.readouterr().err
    assert main(["tournament", "--settings", "folder/whole.toml", "--out", "a.db"]) == 0
    arguments = ["--code", code, "--settings", "folder/plain.toml", "--out", "b.db"]
    assert main(["tournament", *arguments]) == 0
    assert load_results("a.db") == load_results("b.db")
    assert load_settings("folder/whole.toml").agents == ("last", "random")
    (folder / "whole.toml").write_text('code = ["missing.py"]')
    assert main(["tournament", "--settings", "folder/whole.toml"]) == 2
    assert "folder/missing.py': there is no such file" in capsys.readouterr().err


def test_changed_code_is_told_when_a_tournament_is_carried_on(tmp_path: Path) -> None:
    code, out = tmp_path / "changes_for_tests.py", str(tmp_path / "r.db")
    command = [sys.executable, "-m", "mrjack_ai.cli.main", "tournament", *SMALL, "--out", out]
    command += ["--code", str(code), "--agents", "last", "random"]
    for text, told in ((CODE, False), (CODE, False), (f"{CODE}# edited", True)):
        code.write_text(text.replace("NAME", "last"))
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        assert ("changes_for_tests.py has changed since games in" in run.stderr) == told
        assert run.stderr.count("\n") == told
    runs = load(out).runs
    assert len(runs["code changes_for_tests.py"][0]) == 16


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("syntax_for_tests", "x = 1\ndef f(:\n", "syntax_for_tests.py, line 2: SyntaxError: "),
        ("raises_for_tests", "\n\n1 / 0\n", "raises_for_tests.py, line 3: ZeroDivisionError: "),
        ("imports_for_tests", "import nowhere_x\n", "line 1: ModuleNotFoundError: No module"),
        ("exits_for_tests", "raise SystemExit(3)\n", "line 1: SystemExit: 3"),
        (
            "nothing_for_tests",
            "x = 1\n",
            r"registers no agent; .*register_agent\('myagent', MyAgent\)",
        ),
        (
            "forgets_for_tests",
            CODE.partition("mrjack_ai.agents.reg")[0],
            r"registers no agent; .*register_agent\('last', Last\)",
        ),
        (
            "taken_for_tests",
            CODE.replace("NAME", "greedy"),
            "line 9: there is an agent 'greedy' already",
        ),
        (
            "defaults_for_tests",
            CODE.replace(" = 0.5", ""),
            "line 9: agent name 'NAME' must be lower-case",
        ),
        (
            "plain_for_tests",
            CODE.replace(" = 0.5", "").replace("NAME", "last"),
            "line 9: agent 'last': parameter 'share' needs a plain default",
        ),
        ("random", "x = 1\n", "there is another module 'random'.*rename the file"),
        ("two.dots", "x = 1\n", "its name must read NAME.py"),
    ],
)
def test_bad_code_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, message: str
) -> None:
    code = write(tmp_path, name, text)
    with pytest.raises(AgentError, match=message):
        load_code(code)
    assert main(["agents", "--code", code]) == 2
    error = capsys.readouterr().err
    assert error.startswith("mrjack agents: ")
    assert error.count("\n") == 1


def test_code_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing_for_tests.py", tmp_path):
        with pytest.raises(AgentError, match="there is no such file"):
            load_code(path)
    (tmp_path / "agents_for_tests.txt").write_text("x = 1")
    with pytest.raises(AgentError, match=r"must read NAME\.py"):
        load_code(tmp_path / "agents_for_tests.txt")


def test_the_same_name_in_two_folders(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    load_code(write(tmp_path / "a", "same_for_tests", CODE.replace("NAME", "last-a")))
    with pytest.raises(AgentError, match=r"another module 'same_for_tests'.*rename the file"):
        load_code(write(tmp_path / "b", "same_for_tests", CODE.replace("NAME", "last-b")))


# -- installed packages -------------------------------------------------------------------

ENTRY_POINTS = """
[mrjack_ai.agents]
installed-last = agents_for_tests:Last
installed-broken = agents_for_tests.broken:Nothing
installed-module = agents_for_tests
installed-plain = agents_for_tests:NoDefault
greedy = agents_for_tests:Last
"""
MODULE = """
import mrjack_ai
class Last(mrjack_ai.Agent):
    'Plays the last action.'
    def act(self, observation):
        return observation.legal_actions()[-1]
class NoDefault(Last):
    def __init__(self, share):
        pass
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Folder into which a package with agents was installed by pip."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    about = "agents_for_tests-1.dist-info"
    files = {
        "agents_for_tests/__init__.py": MODULE,
        "agents_for_tests/broken.py": "raise RuntimeError('out of order')",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: agents-for-tests\nVersion: 1\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": ENTRY_POINTS,
    }
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    # A wheel put together by hand needs no build tools, which are not installed everywhere.
    wheel = source / "agents_for_tests-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--disable-pip-version-check", "--target", str(target), str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(target)


def test_installed_agents(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(package)
    assert "installed-last" not in agent_names()  # nothing is loaded before it is asked for
    assert type(make_agent("installed-last")).__module__ == "agents_for_tests"
    assert agent_class("greedy").__name__ == "GreedyAgent"
    settings = Settings(
        ("installed-last", "random"), 4, 1, make_variant("mews", "SH+JB"), key="5a" * 32
    )
    assert run_tournament(settings).records == run_tournament(settings, workers=2).records
    for name, message in {
        "installed-broken": "of agents-for-tests cannot be loaded: RuntimeError: out of order",
        "installed-module": "agents_for_tests is no subclass of mrjack_ai.Agent",
        "installed-plain": "parameter 'share' needs a plain default",
        "installed-lst": "known are random.*installed-last.*did you mean 'installed-last'",
    }.items():
        with pytest.raises(AgentError, match=message):
            make_agent(name)
        assert main(["tournament", *SMALL, "--agents", name, "random"]) == 2
    capsys.readouterr()
    assert main(["agents"]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    assert listed.count("cannot be used") == 4
    assert "installed-last none Plays the last action." in listed
    assert "installed-broken" in register_all_installed()


def test_broken_packages_do_not_disturb(package: str) -> None:
    """A new process in which they are installed: the library and other agents work."""
    code = (
        f"import sys; sys.path.insert(0, {package!r}); import mrjack_ai.agents as agents; "
        "assert 'agents_for_tests' not in sys.modules; agents.make_agent('greedy'); "
        "assert 'agents_for_tests' not in sys.modules; print(agents.make_agent('installed-last'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Last object" in done.stdout


def test_one_name_in_two_packages(
    tmp_path: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "other_for_tests-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: other-for-tests\nVersion: 1\n")
    (folder / "entry_points.txt").write_text("[mrjack_ai.agents]\ninstalled-last = other:Last\n")
    monkeypatch.syspath_prepend(package)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(AgentError, match="of agents-for-tests and other-for-tests: more than one"):
        make_agent("installed-last")
