"""Results files: nothing is lost, nobody else writes, damage is named, the rest stays readable."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mrjack_ai.game.record import GameRecord
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import (
    Results,
    Settings,
    TournamentError,
    export,
    load,
    load_results,
    recover,
    run_tournament,
)
from mrjack_ai.tournament.store import ResultsReader, ResultsWriter

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
AGENTS = ("random", "cautious")


def small(games: int = 8) -> Settings:
    return Settings(AGENTS, games, 5, SMALL)


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def whole(tmp_path: Path) -> tuple[Path, Results]:
    """A file with all its games."""
    path = tmp_path / "r.db"
    assert run_tournament(small(), out=path).complete
    return path, run_tournament(small())


# -- what is in it ------------------------------------------------------------------------


def test_a_file_at_rest_is_one_database_that_any_tool_can_read(
    whole: tuple[Path, Results], tmp_path: Path
) -> None:
    path, results = whole
    assert files(tmp_path) == {"r.db"}
    assert results == run_tournament(small()) == load_results(path)
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    games = database.execute("SELECT * FROM games ORDER BY number").fetchall()
    for number, (game, record) in enumerate(zip(games, results.records, strict=True)):
        assert game["number"] == number
        assert tuple(game["actions"].split("; ")) == record.actions
        assert (game["ending"], game["length"]) == (record.ending, len(record.actions))
        assert game["winner"] == ("detective" if record.ending == "caught" else "jack")
        assert (AGENTS[game["detective"]], AGENTS[game["jack"]]) == record.agents
        assert game["seconds"] > game["detective_seconds"] + game["jack_seconds"] > 0
        decisions = game["detective_decisions"] + game["jack_decisions"]
        chance = sum(action.split()[0] in ("jack", "deal", "alibi") for action in record.actions)
        assert decisions == game["length"] - chance
        assert game["forfeit_by"] is None
    run = database.execute("SELECT * FROM runs").fetchall()
    assert len(run) == 1
    assert "mrjack_ai" in run[0]["versions"]
    database.close()


def test_agents_are_stored_with_all_their_parameters(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    run_tournament(Settings(("random", "ismcts:sims=20"), 2, 1, SMALL), out=path)
    with ResultsReader(path) as reader:
        columns, rows = reader.table("agents")
    assert columns == ["number", "agent", "name", "parameters"]
    assert rows[0] == (0, "random", "random", "{}")
    assert rows[1][1:3] == ("ismcts:sims=20", "ismcts")
    assert '"sims": 20' in rows[1][3]
    assert '"c": ' in rows[1][3]  # a default


def test_parameters_of_agents_that_read_their_own_are_stored_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    client = shlex.join([sys.executable, str(Path(__file__).parent / "clients/random_agent.py")])
    agents = (f"cmd:time=500 {client}", "openspiel:ismcts,sims=5", "random")
    run_tournament(Settings(agents, 2, 1, SMALL), out=path)
    table = load(path).agents
    assert list(table["agent"]) == list(agents)
    assert list(table["name"]) == ["cmd", "openspiel", "random"]
    assert "spec" not in table
    assert tuple(table.loc[0, ["command", "time", "start"]]) == (client, 500, 10_000)
    assert tuple(table.loc[1, ["bot", "sims", "c", "rollouts"]]) == ("ismcts", 5, 1.4, 1)
    assert table.loc[2, ["command", "bot"]].isna().all()


def test_the_same_command_adds_nothing_to_a_complete_file(
    whole: tuple[Path, Results], tmp_path: Path
) -> None:
    path, results = whole
    assert run_tournament(small(), workers=2, out=path) == results
    with ResultsReader(path) as reader:
        assert reader.count() == 8
        assert len(reader.table("runs")[1]) == 1
    assert files(tmp_path) == {"r.db"}


@pytest.mark.parametrize("workers", [1, 2])
def test_missing_games_are_played_wherever_they_are(
    whole: tuple[Path, Results], workers: int
) -> None:
    path, results = whole
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM games WHERE number IN (0, 3, 4)")
    database.close()
    started: list[int] = []
    again = run_tournament(
        small(), workers=workers, out=path, progress=lambda done, _: started.append(done)
    )
    assert started == [5, 6, 7, 8]
    assert again == results


def test_results_can_be_read_while_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    seen = []
    run_tournament(
        small(), out=path, progress=lambda done, _: seen.append(len(load_results(path).records))
    )
    assert seen == list(range(9))
    assert load_results(path).complete


def test_records_of_a_file_behave_as_a_tuple(whole: tuple[Path, Results]) -> None:
    records = load_results(whole[0]).records
    assert records[3] == list(records)[3] == records[-5]
    assert records[2:4] == (records[2], records[3])
    with pytest.raises(IndexError):
        records[8]
    assert records != records[:7]
    assert isinstance(records[0], GameRecord)


# -- interrupted and killed ---------------------------------------------------------------

MANY = Settings(("greedy", "cautious"), 4000, 5, SMALL)

SAY = 'sys.stdout.write(f"{done}\\n"); sys.stdout.flush()'

PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell has it ignored
from mrjack_ai.tournament import Settings, run_tournament
from mrjack_ai.setup.variant import make_variant
settings = Settings(("greedy", "cautious"), 4000, 5, make_variant("mews", "SH+JW+SG+WG", 4))
print("start", flush=True)
def progress(done, total):
    sys.stdout.write(f"{done}\\n"); sys.stdout.flush()
results = run_tournament(settings, workers=int(sys.argv[2]), out=sys.argv[1], progress=progress)
print("complete" if results.complete else "interrupted", flush=True)
"""


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_or_killed_runs_lose_nothing(
    tmp_path: Path, how: signal.Signals, workers: str
) -> None:
    path = tmp_path / "r.db"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path), workers],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    said: list[str] = []
    while not said or said[-1] != "30":
        said.append(process.stdout.readline().strip())
        assert said[-1], process.stderr and process.stderr.read()
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as the terminal does
    else:
        process.kill()  # its workers find out by themselves
    output, errors = process.communicate(timeout=60)
    said += output.split()
    if how == signal.SIGINT:
        assert said[-1] == "interrupted", errors
        assert files(tmp_path) == {"r.db"}
    assert errors == ""
    counted = max(int(word) for word in said if word.isdecimal())
    results = load_results(path)
    assert counted <= len(results.records) < 4000
    with ResultsReader(path) as reader:
        numbers = [result.number for result in reader.results()]
    for number, record in zip(numbers[:15], results.records, strict=False):
        assert MANY.game(number).play(MANY) == record


def test_killed_and_resumed_equals_unbroken(tmp_path: Path) -> None:
    """A run that is killed again and again, each time after a few games."""
    path = tmp_path / "r.db"
    program = PROGRAM.replace("4000", "60").replace(
        SAY,
        "calls.append(done); len(calls) == 20 and os.kill(os.getpid(), 9)",
    )
    program = f"import os; calls = []{program}"
    codes = []
    for workers in ("1", "2", "1", "2", "1"):
        run = subprocess.run(
            [sys.executable, "-c", program, str(path), workers], capture_output=True, check=False
        )
        codes.append(run.returncode)
    assert codes[:2] == [-9, -9]
    assert codes[-1] == 0
    settings = Settings(("greedy", "cautious"), 60, 5, SMALL)
    assert load_results(path) == run_tournament(settings)


# -- two at once --------------------------------------------------------------------------


def test_a_second_run_is_told_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    writer = ResultsWriter(path, small())
    message = rf"is being written by another run \(process {os.getpid()}"
    with pytest.raises(TournamentError, match=message):
        run_tournament(small(), out=path)
    code = "import sys; from mrjack_ai.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "tournament", "--games", "8", "--seed", "5"]
    command += ["--agents", *AGENTS, "--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4"]
    run = subprocess.run(
        [*command, "--out", str(path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert f"is being written by another run (process {os.getpid()} on " in run.stderr
    writer.close()
    run = subprocess.run(
        [*command, "--out", str(path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert files(tmp_path) == {"r.db"}


def test_the_lock_of_a_killed_run_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    program = PROGRAM.replace(SAY, "os.kill(os.getpid(), 9)")
    subprocess.run([sys.executable, "-c", f"import os{program}", str(path), "1"], check=False)
    assert "r.db.lock" in files(tmp_path)
    assert load_results(path).records == ()
    with pytest.raises(TournamentError, match="holds another tournament"):
        run_tournament(small(), out=path)
    path.unlink()
    assert run_tournament(small(), out=path).complete
    assert files(tmp_path) == {"r.db"}


# -- damage -------------------------------------------------------------------------------


def statement(sql: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        database = sqlite3.connect(path)
        database.executescript(sql)
        database.commit()
        database.close()

    return damage


def overwrite(at: int, data: bytes) -> Callable[[Path], None]:
    """Garbage at some place of the file."""

    def damage(path: Path) -> None:
        whole = path.read_bytes()
        path.write_bytes(whole[:at] + data + whole[at + len(data) :])

    return damage


def overwrite_a_game(path: Path) -> None:
    overwrite(path.read_bytes().rfind(b"; pick"), b"\xff" * 30)(path)


def cut_in_a_game(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.read_bytes().rfind(b"; pick")])


DAMAGE = [
    (lambda path: path.write_text("something else"), "is no results file"),
    (lambda path: path.write_bytes(b"{"), "is no results file"),
    (overwrite(0, b"SQLite format 4"), "the beginning: damaged"),
    (overwrite(0, bytes(4096)), "the beginning: damaged"),
    (overwrite(0, b"SQLite format 3\0" + b"x" * 60), "the beginning: damaged"),
    (statement("PRAGMA application_id = 1"), "database of something else"),
    (statement("PRAGMA user_version = 9"), "version 9 of the form of results files"),
    (statement("DROP TABLE tournament"), "the table tournament: damaged"),
    (statement("UPDATE tournament SET settings = '{}'"), "the settings: damaged"),
    (statement("DELETE FROM tournament"), "the settings: damaged"),
    (statement("DROP TABLE games"), "damaged .no such table: games"),
    (statement("ALTER TABLE games DROP COLUMN jack_log"), "no such column: jack_log"),
    (statement("UPDATE agents SET parameters = '[]'"), "agent 1: damaged"),
    (statement("UPDATE agents SET name = 'x' WHERE number = 1"), "agent 2: damaged"),
    (statement("DELETE FROM agents WHERE number = 1"), "the agents: damaged .1 of 2"),
    (statement("UPDATE runs SET versions = replace(versions, '{', '[')"), "run 1: damaged"),
    (statement("UPDATE runs SET started = '2020-01-01T00:00:00+00:00'"), "run 1: damaged"),
    (statement("UPDATE runs SET workers = 2"), "run 1: damaged"),
    (statement("UPDATE runs SET run = 2"), "run 2: damaged"),
    (statement("UPDATE games SET run = 2 WHERE number = 3"), "game 4: damaged"),
    (statement("UPDATE games SET finished = replace(finished, '-', 'x')"), "game 1: damaged"),
    (statement("UPDATE games SET finished = '2020-01-01T00:00:00+00:00'"), "game 1: damaged"),
    (statement("UPDATE games SET winner = 'jack' WHERE number = 3"), None),
    (statement("UPDATE games SET winner = 'detective' WHERE number = 3"), None),
    (statement("UPDATE games SET actions = 'x' WHERE number = 3"), "game 4: damaged"),
    (statement("UPDATE games SET number = 30 WHERE number = 3"), "game 31: damaged"),
    (statement("UPDATE games SET seconds = 1 WHERE number = 0"), "game 1: damaged"),
    (overwrite_a_game, r"game \d+: damaged"),
    (lambda path: path.write_bytes(path.read_bytes()[:-4096]), "the file: damaged"),
    (cut_in_a_game, "the file: damaged"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGE)
def test_damaged_files_are_refused_and_unchanged(
    whole: tuple[Path, Results], damage: Callable[[Path], None], message: str | None
) -> None:
    path, results = whole
    damage(path)
    if message is None:  # one of the two changes nothing
        won = "detective" if results.records[3].ending == "caught" else "jack"
        with sqlite3.connect(path) as database:
            found = database.execute("SELECT winner FROM games WHERE number = 3").fetchone()[0]
        database.close()
        if found == won:
            return
        message = "game 4: damaged"
    before = path.read_bytes()
    with pytest.raises(TournamentError, match=message) as error:
        run_tournament(small(), out=path)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before
    with pytest.raises(TournamentError, match=r"r\.db") as error:
        load(path)
    assert "\n" not in str(error.value)
    if message.startswith(("agent", "the agents", "run")):  # which these do not read
        assert load_results(path) == results
    else:
        for read in (load_results, lambda path: export(path, path.with_name("r.jsonl"))):
            with pytest.raises(TournamentError, match=r"r\.db"):
                read(path)
    assert path.read_bytes() == before
    assert files(path.parent) == {"r.db"}


@pytest.mark.parametrize("damage", [DAMAGE[-5][0], overwrite_a_game, cut_in_a_game])
def test_what_can_be_read_of_a_damaged_file_is_recovered(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    path, new = tmp_path / "r.db", tmp_path / "new.db"
    run_tournament(small(24), out=path)
    damage(path)
    count = recover(path, new)
    assert 10 < count < 24
    found, expected = load_results(new).records, run_tournament(small(24))
    assert len(found) == count
    assert all(record in expected.records for record in found)
    assert run_tournament(small(24), out=new) == expected
    with pytest.raises(TournamentError, match="exists already"):
        recover(path, new)


def test_a_file_of_an_older_form_is_told_apart_from_a_damaged_one(
    whole: tuple[Path, Results], tmp_path: Path
) -> None:
    """The first form had no logs."""
    path, _ = whole
    for name in ("detective_log", "jack_log"):
        statement(f"ALTER TABLE games DROP COLUMN {name}")(path)
    statement("PRAGMA user_version = 1")(path)
    with pytest.raises(TournamentError, match=r"has version 1 of the form .* reads 2 and 3; use"):
        load_results(path)
    with pytest.raises(TournamentError, match="no game in it is whole"):
        recover(path, tmp_path / "new.db")
    assert files(tmp_path) == {"r.db"}


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("ALTER TABLE games DROP COLUMN jack_log", "no game in it is whole"),
        ("UPDATE games SET seconds = 1", "no game in it is whole"),
        ("UPDATE tournament SET checksum = 0; UPDATE copies SET checksum = 0", "no settings"),
    ],
)
def test_nothing_to_recover_is_an_error_and_leaves_no_file(
    whole: tuple[Path, Results], tmp_path: Path, sql: str, message: str
) -> None:
    path, _ = whole
    statement(sql)(path)
    with pytest.raises(TournamentError, match=message):
        recover(path, tmp_path / "new.db")
    assert files(tmp_path) == {"r.db"}


def test_a_file_that_another_program_has_locked_is_not_damaged(
    whole: tuple[Path, Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, results = whole
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **named: connect(*a, **named, timeout=0.01))
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    for read in (load_results, load, lambda path: run_tournament(small(), out=path)):
        with pytest.raises(TournamentError, match=r"cannot .*r\.db': database is locked"):
            read(path)
    other.close()
    assert load_results(path) == results


def test_other_tournaments_are_named(whole: tuple[Path, Results]) -> None:
    path, _ = whole
    for other, message in (
        (Settings(AGENTS, 8, 6, SMALL), r"\(seed differ\)"),
        (Settings(AGENTS, 10, 5, SMALL), r"\(games differ\)"),
        (Settings(AGENTS, 8, 5, SMALL, move_time_limit=50), r"\(move_time_limit differ\)"),
        (Settings(AGENTS, 8, 5, SMALL, format="match"), r"\(format differ\)"),
        (Settings(AGENTS[::-1], 8, 5, SMALL), r"\(agents differ\)"),
    ):
        with pytest.raises(TournamentError, match=message):
            run_tournament(other, out=path)


def test_unwritable_and_unreadable(tmp_path: Path) -> None:
    with pytest.raises(TournamentError, match=r"cannot write results to .*No such file"):
        run_tournament(small(), out=tmp_path / "no" / "folder.db")
    with pytest.raises(TournamentError, match=r"cannot write results to .*folder"):
        run_tournament(small(), out=tmp_path)
    with pytest.raises(TournamentError, match=r"cannot read .*No such file"):
        load_results(tmp_path / "missing.db")
    with pytest.raises(TournamentError, match="workers 0"):
        run_tournament(small(), workers=0)
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(TournamentError, match="it is empty"):
        load_results(empty)
    assert run_tournament(small(), out=empty).complete


# -- a full disk --------------------------------------------------------------------------


def test_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    arguments = ["tournament", "--games", "100", "--board", "mews", "--cast", "SH+JB"]
    command = f"{sys.executable} -m mrjack_ai.cli.main {' '.join(arguments)} --out r.db"
    limited = subprocess.run(
        ["bash", "-c", f"ulimit -f 64; {command}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert limited.returncode == 2
    assert limited.stderr.count("\n") == 1
    assert "cannot write results to 'r.db'" in limited.stderr
    assert "games before are kept" in limited.stderr
    kept = len(load_results(tmp_path / "r.db").records)
    assert kept > 2
    assert f"the {kept} games before" in limited.stderr
    run = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert load_results(tmp_path / "r.db").complete


def test_a_database_that_may_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.db"
    opened = ResultsWriter._open

    def tight(self: ResultsWriter) -> None:
        opened(self)
        assert self._connection is not None
        self._connection.execute("PRAGMA max_page_count = 12")

    monkeypatch.setattr(ResultsWriter, "_open", tight)
    with pytest.raises(TournamentError, match=r"full; the [0-9]+ games before are kept"):
        run_tournament(small(200), out=path)
    kept = load_results(path)
    assert 5 < len(kept.records) < 200
    monkeypatch.setattr(ResultsWriter, "_open", opened)
    assert run_tournament(small(200), out=path) == run_tournament(small(200))


# -- agents of a script -------------------------------------------------------------------

SCRIPT = """
import mrjack_ai
from mrjack_ai.agents import register_agent
from mrjack_ai.tournament import Settings, load_results, run_tournament

class First(mrjack_ai.Agent):
    def act(self, observation):
        return observation.legal_actions()[0]

if __name__ == "__main__":
    register_agent("first", First)
    variant = mrjack_ai.make_variant("mews", "SH+JW+SG+WG", 4)
    settings = Settings(("first", "random"), 20, 5, variant)
    alone = run_tournament(settings)
    print(run_tournament(alone.settings, workers=2, out="r.db") == alone)
"""


def test_agents_of_a_script_reach_the_workers_and_their_results_are_read_anywhere(
    tmp_path: Path,
) -> None:
    (tmp_path / "play.py").write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, "play.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.stdout == "True\n", run.stderr
    # This process has never heard of the agent.
    results = load_results(tmp_path / "r.db")
    assert results.complete
    assert results.settings.agents == ("first", "random")
    recover(tmp_path / "r.db", tmp_path / "copy.db")
    assert load_results(tmp_path / "copy.db") == results
