"""The `mrjack` command: what it prints, and how it refuses."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import mrjack_ai
from mrjack_ai.cli.main import main, parse_command
from mrjack_ai.cli.options import Options
from mrjack_ai.cli.tournament import tournament_settings
from mrjack_ai.game.record import GameRecord, read_records, write_record
from mrjack_ai.tournament import Settings, load_results, read_games

SMALL = ["--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of the command."""
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


# -- help and bad input -------------------------------------------------------------------

COMMANDS = ("tournament", "results", "deals", "ladder", "perft", "show", "analyse", "replay")
COMMANDS += ("agents", "bench", "play")


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_everywhere(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    code, output, _ = run(capsys, *command, "--help")
    assert code == 0
    assert "Usage: mrjack" in output
    if not command:
        assert all(name in output for name in COMMANDS)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, output, _ = run(capsys, "--version")
    assert (code, output) == (0, f"mrjack_ai {mrjack_ai.__version__} (rules version 1)\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing command"),
        (["tournamnet"], "unknown command 'tournamnet'; did you mean 'tournament'?"),
        (["tournament", "--games", "3"], "games 3 must be even"),
        (["tournament", "--games", "x"], "--games 'x' must be a whole number from 1"),
        (["tournament", "--agents", "greedy"], "at least two agents"),
        (["tournament", "--agents", "greedy", "grdy"], "unknown agent 'grdy'"),
        (["tournament", "--agents", "greedy:x=1", "random"], "unknown parameter 'x'"),
        (["tournament", "--seed", "-1"], "seed -1"),
        (["tournament", "--workers", "0"], "workers 0"),
        (["tournament", "--format", "swiss"], "'swiss' is not one of"),
        (["tournament", "--format", "match"], "exactly two agents"),
        (
            ["tournament", "--move-time-limit", "0"],
            "--move-time-limit 0.0 must be a number above 0",
        ),
        (["tournament", "--move-time-limit", "nan"], "--move-time-limit 'nan' must be a number"),
        (["tournament", "--deals", "missing.txt"], "cannot read 'missing.txt'"),
        (["tournament", "--settings", "missing.toml"], "cannot read 'missing.toml'"),
        (["deals", "/no/such/folder/d.txt"], "cannot write '/no/such/folder/d.txt'"),
        (["deals", "d.txt", "--count", "0"], "--count 0 must be a whole number from 1"),
        (["deals", "d.txt", "--seed", "-1"], "--seed -1 must be a whole number from 0"),
        (["tournament", "--board", "soho"], "unknown board 'soho'"),
        (["tournament", "--cast", "SH+XX"], "unknown character 'XX'"),
        (["tournament", "--turns", "9"], "turns 9"),
        (["tournament", "--first", "watson"], "'watson' is not one of"),
        (["tournament", "--out", "/no/such/folder/r.db", *SMALL], "cannot write results"),
        (["perft", "--depth", "-1"], "--depth -1"),
        (["perft", "--depth", "0", "--divide"], "depth 0"),
        (["perft", "--position", "turn=x"], "turn=x"),
        (["perft", "--actions", "jack SH; pick SH"], "'pick SH' is not legal here"),
        (["perft", "--actions", "jack SH", "--position", "turn=1"], "exclude each other"),
        (["show", "turn=1 jack=XX"], "'XX' is not in the cast"),
        (["show", "SH=z9"], "'z9' is no street hex"),
        (["show", "SH=e5 jack=JS"], "dealt: is missing; 4 cards"),
        (["show", "node=deal turn=1 jack=XX"], "jack=XX"),
        (["show", "missing.txt"], "cannot read 'missing.txt'"),
        (["show", "turn=1", "--at", "3"], "--at and --game need a file"),
        (["replay"], "Missing argument 'FILE'"),
        (["replay", "missing.txt"], "cannot read 'missing.txt'"),
        (["bench", "--games", "0"], "--games"),
        (["bench", "--games", str(10**14)], "--games"),
        (["perft", "--depth", "99999999"], "--depth 99999999"),
        (["perft", "--depth", str(10**20)], "--depth"),
        (["perft", "--position", ""], "dealt: is missing; 4 cards"),
        (["show", "--at", "3"], "--at and --game need a file"),
        (["show", "--game", "2"], "--at and --game need a file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, output, errors = run(capsys, *arguments)
    assert code == 2
    assert output == ""
    assert errors.count("\n") == 1
    assert errors.startswith("mrjack")
    assert message in errors


@pytest.mark.parametrize(
    "arguments",
    [
        ["x" * 5000],
        ["show", "--" + "x" * 5000],
        ["perft", "--depth", "9" * 5000],
        ["tournament", "--format", "x" * 5000],
        ["tournament", "--agents", "x" * 5000, "random"],
    ],
)
def test_no_message_is_longer_than_500_characters(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    code, _, errors = run(capsys, *arguments)
    assert (code, errors.count("\n")) == (2, 1)
    assert len(errors) <= 500


def test_options_with_several_values() -> None:
    for words in (["--agents", "a", "b", "--seed", "2"], ["--seed=2", "--agents", "a", "b"]):
        params = parse_command(["tournament", *words]).params
        assert (list(params["agents"]), params["seed"], params["sprt"]) == (["a", "b"], 2, None)
    twice = parse_command(["tournament", "--agents", "a", "b", "--agents", "c", "d"]).params
    assert list(twice["agents"]) == ["c", "d"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    def completed(instruction: str, words: str = "", last: int = 0) -> str:
        environment = {**os.environ, "_MRJACK_COMPLETE": f"{shell}_{instruction}"}
        environment |= {"COMP_WORDS": words, "COMP_CWORD": str(last)}
        if shell == "fish":
            environment["COMP_CWORD"] = words.split(" ")[-1]
        return subprocess.run(
            [sys.executable, "-c", "from mrjack_ai.cli.main import main; main()"],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        ).stdout

    assert "_MRJACK_COMPLETE" in completed("source")
    assert "greedy" in completed("complete", "mrjack analyse --agent gre", 3)
    assert "whitechapel_2016" in completed("complete", "mrjack show --board white", 3)
    assert "greedy" in completed("complete", "mrjack tournament --agents gre", 3)
    assert "cautious" in completed("complete", "mrjack tournament --agents greedy ca", 4)


def test_help_states_the_range_of_every_number(capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, "tournament", "--help")[1]
    for text in ("--games 1..10^12", "--seed 0..2^128-1", "--workers 1..1024", "--turns 1..8"):
        assert text in output


LONG = {
    "perft": ["perft", "--depth", "12"],
    "analyse": ["analyse", "jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL", "--agent"],
    "tournament": ["tournament", "--games", "100000", "--out", "r.db", "--agents", "random"],
}
LONG["analyse"].append("ismcts:sims=10000000,threads=2")
LONG["tournament"].append("ismcts:sims=1000000")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", LONG)
def test_long_work_ends_soon_when_interrupted(
    tmp_path: Path, command: str, number: signal.Signals, code: int
) -> None:
    program = (
        "import sys; from mrjack_ai.cli import main; from mrjack_ai.engine import kernels;"
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "print('begun', flush=True); sys.exit(main.main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, *LONG[command]],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(mrjack_ai.__file__).parent.parent)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(3)
    assert process.poll() is None
    sent = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == code, errors
    assert "interrupted" in errors
    assert "Traceback" not in errors
    if command == "tournament":
        assert "to carry on: mrjack tournament" in errors
    assert time.monotonic() - sent < 10  # two seconds where nothing else runs


# -- tournament ---------------------------------------------------------------------------


def test_default_tournament_is_the_three_built_in_agents() -> None:
    options = Options.of(parse_command(["tournament"]))
    assert (options.workers, options.out) == (1, None)
    agents = ("greedy", "cautious", "random")
    assert tournament_settings(options) == Settings(agents, 200, 1, mrjack_ai.Variant())


RATING = r" +[+-]\d+ \[[+-]\d+, [+-]\d+\]"


def test_tournament_table_and_records(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    arguments = ["tournament", "--games", "20", "--seed", "3", "--out", str(path), *SMALL]
    code, output, errors = run(capsys, *arguments)
    assert (code, errors) == (0, "")
    results = load_results(path)
    assert results.complete
    assert len(results.records) == 60
    for agent in ("greedy", "cautious", "random"):
        assert re.search(
            rf"^ +{agent} +40{RATING}( +\d+\.\d \[\d+\.\d, \d+\.\d\]){{3}} *$", output, re.M
        )
    # Three standings with three each, three pairings, six sides and all.
    assert len(re.findall(r"\d+\.\d \[\d+\.\d, \d+\.\d\]", output)) == 9 + 3 + 6 + 1
    for ending in ("caught", "wrong accusation", "escape", "dawn"):
        assert ending in output
    total = next(line.split() for line in output.splitlines() if line.strip().startswith("all"))
    counts = [
        sum(record.ending == word for record in results.records)
        for word in ("caught", "wrong", "escape", "dawn")
    ]
    assert total[1:6] == ["60", *map(str, counts)]
    assert "60 games, seed 3, " in output
    assert str(path) in output

    code, again, _ = run(capsys, *arguments)
    assert code == 0
    assert again.splitlines()[:-1] == output.splitlines()[:-1]


def test_interrupted_tournament_says_how_to_carry_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mrjack_ai.tournament import schedule

    path = tmp_path / "r.db"
    arguments = ["tournament", "--games", "4", "--out", str(path), *SMALL]
    play, played = schedule.Game.result, []

    def play_three(
        self: schedule.Game, settings: schedule.Settings, **named: Any
    ) -> schedule.GameResult:
        if len(played) == 3:
            raise KeyboardInterrupt
        played.append(self)
        return play(self, settings, **named)

    monkeypatch.setattr(schedule.Game, "result", play_three)
    code, output, errors = run(capsys, *arguments)
    assert code == 130
    assert "Standings" in output
    assert "interrupted after 3 of 12 games" in errors
    assert f"to carry on: mrjack {' '.join(arguments)}" in errors
    monkeypatch.setattr(schedule.Game, "result", play)
    code, _, _ = run(capsys, *arguments)
    assert code == 0
    assert load_results(path).complete


def test_ladder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["ladder", "--rungs", "random", "greedy", "ismcts:sims=20", "mo-ismcts:sims=20"]
    arguments += ["--games", "6", *SMALL]
    code, output, _ = run(capsys, *arguments, "--out", str(tmp_path / "ladder"))
    assert code == 0
    rows = [line.split(" | ") for line in output.splitlines()[2:]]
    assert [(row[0].strip("| "), row[1], row[2]) for row in rows] == [
        ("greedy", "random", "6"),
        ("ismcts:sims=20", "greedy", "6"),
        ("mo-ismcts:sims=20", "ismcts:sims=20", "6"),
        ("mo-ismcts:sims=20", "greedy", "6"),
    ]
    files = sorted((tmp_path / "ladder").glob("*.db"))
    assert len(files) == 4
    with sqlite3.connect(files[0]) as database:
        database.execute("DELETE FROM games WHERE number > 2")
    files[1].unlink()
    code, again, _ = run(capsys, *arguments, "--out", str(tmp_path / "ladder"))
    assert (code, again) == (0, output)
    assert load_results(files[0]).complete
    code, _, errors = run(capsys, "ladder", "--rungs", "random")
    assert code == 2
    assert "at least two rungs" in errors


# -- perft --------------------------------------------------------------------------------


def test_perft(capsys: pytest.CaptureFixture[str]) -> None:
    code, output, _ = run(capsys, "perft", "--depth", "5")
    assert code == 0
    assert output.startswith("depth 5: 67735 sequences")
    code, output, _ = run(
        capsys, "perft", "--depth", "4", "--actions", "jack MS; deal MS,SG,WG,JB", "--divide"
    )
    assert code == 0
    lines = output.splitlines()
    assert lines[-1].startswith("depth 4: 29617 sequences")
    assert sum(int(line.split()[-1]) for line in lines[:-1]) == 29617
    assert [line.split()[:2] for line in lines[:-1]] == [
        ["pick", code] for code in ("MS", "SG", "WG", "JB")
    ]


def test_perft_of_a_position_and_a_variant(capsys: pytest.CaptureFixture[str]) -> None:
    code, output, _ = run(
        capsys, "perft", "--depth", "1", "--position", "node=jack turn=0 cast=SH+JB board=mews"
    )
    assert (code, output.split(" in ")[0]) == (0, "depth 1: 2 sequences")
    code, output, _ = run(capsys, "perft", "--depth", "2", "--board", "mews", "--cast", "SH+JB")
    assert (code, output.split(" in ")[0]) == (0, "depth 2: 4 sequences")


# -- show and replay ----------------------------------------------------------------------


@pytest.fixture
def record(tmp_path: Path) -> tuple[Path, GameRecord]:
    state = mrjack_ai.new_game()
    number = 0
    while not state.is_terminal():
        actions = state.legal_actions()
        quiet = [a for a in actions if "accuse" not in state.action_to_string(a)]
        state.apply_action((quiet or actions)[number * 7 % len(quiet or actions)])
        number += 1
    found = GameRecord.from_state(state, agents=("greedy", "random"))
    write_record(found, tmp_path / "game.txt")
    return tmp_path / "game.txt", found


def test_show_a_new_game(capsys: pytest.CaptureFixture[str]) -> None:
    code, output, _ = run(capsys, "show")
    assert code == 0
    for hex in ("a1", "e5", "m12"):
        assert hex in output
    code, output, _ = run(capsys, "show", "--ascii", "--board", "mews", "--cast", "SH+JB")
    assert code == 0
    assert output.isascii()


def test_show_a_moment_and_a_perspective(
    capsys: pytest.CaptureFixture[str], record: tuple[Path, GameRecord]
) -> None:
    path, found = record
    states = list(found.states())
    code, output, _ = run(capsys, "show", str(path), "--at", "30")
    assert code == 0
    assert f"Turn {states[30].turn} of 8" in output
    assert f"!{states[30].identity}!" in output
    code, hidden, _ = run(capsys, "show", str(path), "--at", "30", "--player", "detective")
    assert code == 0
    assert f"!{states[30].identity}!" not in hidden
    code, last, _ = run(capsys, "show", str(path))
    assert code == 0
    assert last != output
    code, _, errors = run(capsys, "show", str(path), "--at", "999")
    assert code == 2
    assert "--at 999 must be from 0 to" in errors
    code, _, errors = run(capsys, "show", str(path), "--game", "2")
    assert code == 2
    assert "has no game 2; games are counted from 1 to 1" in errors


def test_show_colours_only_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b[" not in run(capsys, "show")[1]
    assert "\x1b[" in run(capsys, "show", "--color", "always")[1]


def test_show_a_position_of_another_variant(capsys: pytest.CaptureFixture[str]) -> None:
    text = "board=mews cast=SH+JB node=jack turn=0"
    code, output, _ = run(capsys, "show", text)
    assert code == 0
    assert "mews" in output


def test_replay(capsys: pytest.CaptureFixture[str], record: tuple[Path, GameRecord]) -> None:
    path, found = record
    code, output, _ = run(capsys, "replay", str(path))
    assert code == 0
    assert "1 game keeps the rules" in output
    code, output, _ = run(capsys, "replay", str(path), "--text")
    assert found.to_text() in output
    assert GameRecord.from_text(output[: output.index("result:")] + f"result: {found.ending}")
    path.write_text(path.read_text().replace("move", "mvoe", 1))
    code, output, errors = run(capsys, "replay", str(path))
    assert (code, output) == (2, "")
    assert re.search(r"game\.txt: line \d+: 'mvoe", errors.replace("' mvoe", "'mvoe"))


def test_replay_names_the_game_of_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    results, path = tmp_path / "r.db", tmp_path / "r.jsonl"
    run(capsys, "tournament", "--games", "2", "--out", str(results), *SMALL)
    code, output, _ = run(capsys, "replay", str(results))
    assert code == 0
    assert "6 games keep the rules" in output
    lines = [json.dumps(record.to_dict()) for record in read_games(results)]
    path.write_text("\n".join(lines) + "\n")
    assert list(read_records(path)) == list(read_games(results))
    data = json.loads(lines[2])
    data["actions"][5] = data["actions"][4]
    lines[2] = json.dumps(data)
    path.write_text("\n".join(lines) + "\n")
    code, _, errors = run(capsys, "replay", str(path))
    assert code == 2
    assert "game 3: action 6: " in errors


def test_analyse(capsys: pytest.CaptureFixture[str], record: tuple[Path, GameRecord]) -> None:
    text = (
        "node=use turn=3 jack=JS cleared=SH,JW,IL,MS,SG,WG dealt=SH,JW,MS,SG cards=SH,JW,MS,SG "
        "using=SH ability=open SH=g5 JS=g6"
    )
    arguments = ("--agent", "ismcts:sims=200", "--best", "3")
    code, output, _ = run(capsys, "analyse", text, *arguments)
    assert code == 0
    assert "Turn 3, detective to move, use node" in output
    assert "Jack can be: JS 50.0 %, JB 50.0 %" in output
    assert len(re.findall(r"^ +(move|accuse) \w+ +\d+ ", output, re.M)) == 3
    assert re.search(r"^Expected: (move|accuse) ", output, re.M)
    assert "200 simulations" in output
    path, found = record
    number = next(n for n, s in enumerate(found.states()) if n > 20 and s.current_player() == 1)
    code, output, _ = run(capsys, "analyse", str(path), "--at", str(number), *arguments)
    assert code == 0
    identity = list(found.states())[number].identity
    assert f"Jack can be: {identity} 100.0 %" in output
    for bad, message in (
        ((text, "--agent", "greedy"), "does not search"),
        ((text, "--agent", "nobody"), "unknown agent"),
        ((text, "--best", "0"), "--best"),
        (("node=deal turn=1 jack=JS",), "nobody is to move at a deal node"),
    ):
        code, _, errors = run(capsys, "analyse", *bad)
        assert code == 2
        assert message in errors


# -- the rest -----------------------------------------------------------------------------


def test_agents(capsys: pytest.CaptureFixture[str]) -> None:
    code, output, _ = run(capsys, "agents")
    assert code == 0
    for name in ("random", "cautious", "greedy"):
        assert name in output


def test_bench(capsys: pytest.CaptureFixture[str]) -> None:
    code, output, _ = run(capsys, "bench", "--games", "500", "--threads", "2")
    assert code == 0
    lines = output.splitlines()
    assert re.fullmatch(r"signature \d+ \d+", lines[0])
    assert lines[1].startswith("1 thread: ")
    assert lines[2].startswith("2 threads: ")


def test_installed_command_and_a_closed_pipe() -> None:
    command = f"{sys.executable} -m mrjack_ai.cli.main show | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_show_a_position_longer_than_a_file_name(capsys: pytest.CaptureFixture[str]) -> None:
    state = mrjack_ai.new_game(board="whitechapel_2016", turns=7, first="jack")
    longest = ""
    for seed in range(20):
        walk, number = state.clone(), seed
        while not walk.is_terminal():
            actions = walk.legal_actions()
            quiet = [a for a in actions if "accuse" not in walk.action_to_string(a)] or actions
            walk.apply_action(quiet[number * 5 % len(quiet)])
            number += 3
            longest = max(longest, str(walk), key=len)
    assert len(longest) > 255  # most file systems know no longer names
    code, output, errors = run(capsys, "show", longest)
    assert (code, errors) == (0, "")
    assert "whitechapel_2016" in output


def test_a_board_of_ones_own_on_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(mrjack_ai.load_board("mews").to_dict() | {"name": "mine"}))
    variant = mrjack_ai.make_variant(path, "SH+JW", 3)
    text = str(mrjack_ai.new_game(variant))
    code, output, _ = run(capsys, "show", text, "--board", str(path))
    assert code == 0
    assert "on mine" in output
    out = tmp_path / "r.db"
    options = ("--board", str(path), "--cast", "SH+JW", "--turns", "3", "--games", "4")
    assert run(capsys, "tournament", *options, "--workers", "2", "--out", str(out))[0] == 0
    code, output, _ = run(capsys, "replay", str(out), "--text")
    assert code == 0
    records = tmp_path / "records.txt"
    records.write_text(output[: output.rindex(f"{out}:")])
    assert read_records(records) == [
        GameRecord.from_text(record.to_text()) for record in read_games(out)
    ]


@pytest.mark.parametrize("content", ['{"actions": ' + "9" * 5000 + "}", "9" * 5000, "{"])
def test_damaged_json_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str
) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    for arguments in (["replay"], ["show"], ["show", "--board"], ["tournament", "--out"]):
        code, _, errors = run(capsys, *arguments, str(path))
        assert code == 2
        assert errors.count("\n") == 1
    assert path.read_text() == content


SHELL = {
    "show >&-": 0,
    "show 2>&-": 0,
    "agents >&-": 0,
    "show >/dev/full": 1,
    "replay nothing 2>&-": 2,
}


@pytest.mark.parametrize("arguments", SHELL)
def test_closed_and_full_streams(arguments: str) -> None:
    done = subprocess.run(
        f"{sys.executable} -m mrjack_ai.cli.main {arguments}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == SHELL[arguments], done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == (done.returncode == 1)


def test_names_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    path = tmp_path / "f\u00e9e.db"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "mrjack_ai.cli.main"]
    for arguments in (["tournament", "--games", "2", *SMALL, "--out"], ["replay"]):
        done = subprocess.run(
            [*command, *arguments, str(path)],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "f\\xe9e.db" in done.stdout
