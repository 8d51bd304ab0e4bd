"""Recovering results files page by page, files of older forms, and what is no file at all."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import as_nobody, files_of_at_most, folder_of_nobody

from mrjack_ai.cli.main import main
from mrjack_ai.game.record import write_record
from mrjack_ai.reports import write_report
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import (
    Results,
    Settings,
    TournamentError,
    export,
    load,
    load_results,
    read_game,
    read_games,
    recover,
    run_tournament,
    summarize,
)
from mrjack_ai.tournament.contents import is_results_file
from mrjack_ai.tournament.store import ResultsReader, ResultsWriter

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
AGENTS = ("random", "cautious")
SETTINGS = Settings(AGENTS, 60, 5, SMALL)
OLD = Path(__file__).parent / "data" / "results_form_2.db"
OLD_SETTINGS = Settings(AGENTS, 8, 5, SMALL)
PAGE = 4096


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    """A file with 50 of 60 games, in two runs."""
    path = tmp_path_factory.mktemp("played") / "r.db"
    games = [SETTINGS.game(number).result(SETTINGS) for number in range(50)]
    for part in (games[:30], games[30:]):
        writer = ResultsWriter(path, SETTINGS, workers=1)
        for result in part:
            writer.add([result])
        writer.close()
    return path, load_results(path)


def roots(path: Path) -> dict[str, int]:
    """Number of the first page of each table."""
    with sqlite3.connect(path) as database:
        found = dict(database.execute("SELECT name, rootpage FROM sqlite_master"))
    database.close()
    return found


def zero(path: Path, *pages: int) -> None:
    data = bytearray(path.read_bytes())
    for page in pages:
        data[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)
    path.write_bytes(data)


def rows(path: Path) -> list[tuple[object, ...]]:
    with ResultsReader(path) as reader:
        return [(*result, run, finished) for result, run, finished in reader.results_and_runs()]


# -- recovery -----------------------------------------------------------------------------


@pytest.mark.parametrize("tables", [["agents"], ["runs"], ["agents", "runs", "tournament"]])
def test_games_are_saved_without_the_pages_of_other_tables(
    played: tuple[Path, Results], tmp_path: Path, tables: list[str]
) -> None:
    path, new = tmp_path / "r.db", tmp_path / "new.db"
    shutil.copy(played[0], path)
    zero(path, *(roots(path)[table] for table in tables))
    assert main(["results", "recover", str(path), str(new)]) == 0
    assert rows(new) == rows(played[0])
    found, before = load(new), load(played[0])
    assert list(found.agents.agent) == list(AGENTS)
    if "runs" in tables:
        assert list(found.runs.run) == [1, 2]
        for run, started in zip(found.runs.run, found.runs.started, strict=True):
            assert started == found.games[found.games.run == run].finished.min()
        assert found.runs.workers.isna().all()
    else:
        assert found.runs.equals(before.runs)
    assert run_tournament(SETTINGS, out=new) == run_tournament(SETTINGS)


@pytest.mark.parametrize("table", ["games", "copies"])
def test_games_are_saved_without_the_pages_that_lead_to_them(
    played: tuple[Path, Results], tmp_path: Path, table: str
) -> None:
    path, new = tmp_path / "r.db", tmp_path / "new.db"
    shutil.copy(played[0], path)
    zero(path, 1, roots(path)[table])
    with pytest.raises(TournamentError, match=r"the beginning: damaged .*`mrjack results recover"):
        load_results(path)
    assert recover(path, new) == 50
    assert rows(new) == rows(played[0])


def test_games_in_the_log_of_a_killed_run_are_saved(tmp_path: Path) -> None:
    path, new = tmp_path / "r.db", tmp_path / "new.db"
    writer = ResultsWriter(path, SETTINGS)
    results = [SETTINGS.game(number).result(SETTINGS) for number in range(20)]
    writer.add(results)
    copy = tmp_path / "copy.db"
    for ending in ("", "-wal"):
        shutil.copy(f"{path}{ending}", f"{copy}{ending}")
    writer.close()
    assert copy.stat().st_size < path.stat().st_size
    copy.write_bytes(b"\0" * copy.stat().st_size)
    before = {file: file.read_bytes() for file in (copy, Path(f"{copy}-wal"))}
    assert recover(copy, new) == 20
    assert rows(new) == rows(path)
    assert {file: file.read_bytes() for file in before} == before


def test_what_cannot_be_recovered_leaves_no_file_and_says_why(
    played: tuple[Path, Results], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, new = tmp_path / "r.db", tmp_path / "new.db"
    whole = played[0].read_bytes()
    for data, message in (
        (whole[:8680], "no settings|no game in it is whole"),
        (b"", "no settings"),
        (b"some text\n" * 1000, "no settings"),
        (bytes(100_000), "no settings"),
    ):
        path.write_bytes(data)
        with pytest.raises(TournamentError, match=rf"r\.db' cannot be recovered.*({message})"):
            recover(path, new)
        assert main(["results", "recover", str(path), str(new)]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "results recover " not in said.partition(": ")[2]  # the command just run
        assert list(tmp_path.iterdir()) == [path]


def test_recovering_blames_the_right_file(
    played: tuple[Path, Results], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.db"
    shutil.copy(played[0], path)
    (tmp_path / "there.db").touch()
    os.symlink("no such file", tmp_path / "link.db")
    for words, message in (
        ((tmp_path / "missing.db", tmp_path / "new.db"), r"cannot read .*missing\.db': No such"),
        ((tmp_path, tmp_path / "new.db"), "cannot read .*folder"),
        ((path, tmp_path / "no" / "new.db"), r"cannot write .*new\.db': No such"),
        ((path, tmp_path / "there.db"), r"there\.db' exists already; give another name"),
        ((path, tmp_path / "link.db"), r"link\.db' exists already; give another name"),
        ((path, path), "exists already"),
    ):
        with pytest.raises(TournamentError, match=message):
            recover(*words)
    for size in (100, 5000, 20_000):
        with files_of_at_most(size):
            assert main(["results", "recover", str(path), str(tmp_path / "new.db")]) == 2
        said = capsys.readouterr().err
        assert f"cannot write '{tmp_path / 'new.db'}': " in said
        assert "mrjack results recover " not in said.partition(": ")[2]
    assert {file.name for file in tmp_path.iterdir()} == {"r.db", "there.db", "link.db"}
    assert path.read_bytes() == played[0].read_bytes()


def test_a_schedule_of_any_size_is_recovered_at_once(tmp_path: Path) -> None:
    settings = Settings(AGENTS, 10**12, 5, SMALL)
    path = tmp_path / "r.db"
    writer = ResultsWriter(path, settings)
    numbers = (0, 5, 2**33, 10**12 - 1)
    writer.add([settings.game(number).result(settings) for number in numbers])
    writer.close()
    zero(path, 1)
    assert recover(path, tmp_path / "new.db") == 4
    assert [row[0] for row in rows(tmp_path / "new.db")] == list(numbers)


# -- older forms --------------------------------------------------------------------------


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of form 2 with 6 of 8 games in two runs, as version 0.1.0 wrote it."""
    path = tmp_path / "old.db"
    shutil.copy(OLD, path)
    return path


def form_of(path: Path) -> int:
    with sqlite3.connect(path) as database:
        form: int = database.execute("PRAGMA user_version").fetchone()[0]
    database.close()
    return form


def change(path: Path, sql: str) -> None:
    with sqlite3.connect(path) as database:
        database.executescript(sql)
    database.close()


def test_a_file_of_an_older_form_is_read_exported_and_carried_on(old: Path, tmp_path: Path) -> None:
    assert form_of(old) == 2
    results = load_results(old)
    expected = run_tournament(OLD_SETTINGS)
    assert results.records == expected.records[:6]
    assert summarize(results).games == 6
    assert write_report(old, tmp_path / "r.html") == 6
    tables = load(old)
    assert list(tables.runs.run) == [1, 2]
    assert list(tables.games.run) == [1] * 4 + [2] * 2
    assert export(old, *(tmp_path / f"g.{name}" for name in ("csv", "parquet", "jsonl"))) == 6
    assert read_game(old, 3) == expected.records[2]
    assert run_tournament(OLD_SETTINGS, out=old) == expected
    assert form_of(old) == 2
    assert list(load(old).games.run) == [1] * 4 + [2] * 2 + [3] * 2
    assert run_tournament(OLD_SETTINGS, workers=2, out=old) == expected


def test_a_file_of_an_older_form_is_recovered_in_the_new_one(old: Path, tmp_path: Path) -> None:
    before, new = rows(old), tmp_path / "new.db"
    assert recover(old, new) == 6
    assert form_of(new) == 3
    assert rows(new) == before
    assert load(new).runs.equals(load(old).runs)
    for number, tables in enumerate((["agents"], ["runs"], ["agents", "runs"])):
        path, new = tmp_path / f"{number}.db", tmp_path / f"new{number}.db"
        shutil.copy(OLD, path)
        zero(path, *(roots(path)[table] for table in tables))
        assert recover(path, new) == 6
        assert rows(new) == before
        assert run_tournament(OLD_SETTINGS, out=new).complete
    path = tmp_path / "3.db"
    shutil.copy(OLD, path)
    zero(path, roots(path)["tournament"])
    with pytest.raises(TournamentError, match="no settings"):
        recover(path, tmp_path / "new3.db")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("UPDATE runs SET versions = replace(versions, '{', '[') WHERE run = 2", "run 2"),
        ("UPDATE runs SET started = 'yesterday'", "run 1"),
        ("UPDATE runs SET workers = 'many'", "run 1"),
        ("UPDATE agents SET parameters = '{' WHERE number = 1", "agent 2"),
        ("UPDATE agents SET agent = 'greedy' WHERE number = 1", "agent 2"),
        ("UPDATE games SET finished = replace(finished, '-', 'x') WHERE number = 2", "game 3"),
        ("UPDATE games SET run = 'one' WHERE number = 2", "game 3"),
        ("UPDATE games SET length = 3 WHERE number = 2", "game 3"),
        ("UPDATE tournament SET settings = replace(settings, '8', '9')", "the settings"),
    ],
)
def test_damage_to_an_older_form_is_named_where_it_can_be_seen(
    old: Path, tmp_path: Path, sql: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = rows(old)
    change(old, sql)
    for read in (load, lambda path: run_tournament(OLD_SETTINGS, out=path)):
        with pytest.raises(TournamentError, match=f"old.db', {message}: damaged") as error:
            read(old)
        assert "\n" not in str(error.value)
    assert main(["results", str(old)]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err
    if message != "the settings":
        saved = recover(old, tmp_path / "new.db")
        # What no checksum covered was made good.
        assert saved == (5 if "length" in sql or "'one'" in sql else 6)
        found = {row[0]: row[:-2] for row in rows(tmp_path / "new.db")}
        assert found.items() <= {row[0]: row[:-2] for row in before}.items()


# -- what is no file ----------------------------------------------------------------------

READERS: list[Callable[[Path], object]] = [
    load_results,
    load,
    lambda path: export(path, path.parent / "g.csv"),
    lambda path: write_report(path, path.parent / "g.html"),
    lambda path: recover(path, path.parent / "g.db"),
    lambda path: run_tournament(OLD_SETTINGS, out=path),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("what", ["folder", "pipe", "device"])
def test_what_is_no_file_is_refused_at_once(
    what: str, read: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "r.db"
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    else:
        os.symlink("/dev/null", path)
    assert not is_results_file(path)
    reason = "it is a folder" if what == "folder" else "it is a pipe or a device"
    with pytest.raises(TournamentError, match=rf"cannot .*r\.db': {reason}; give the name of a"):
        read(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_record_is_read_from_a_pipe(played: tuple[Path, Results], tmp_path: Path) -> None:
    """Looking whether it is a results file must not take what the reader is to get."""
    pipe, file = tmp_path / "pipe", tmp_path / "r.txt"
    os.mkfifo(pipe)
    record = played[1].records[0]
    write_record(record, file)
    writer = threading.Thread(target=lambda: pipe.write_text(file.read_text()))
    writer.start()
    assert read_games(pipe)[0].actions == record.actions
    writer.join()


def killed_in(folder: Path) -> Path:
    """What a run leaves that is killed."""
    path = folder / "r.db"
    writer = ResultsWriter(folder / "w.db", SETTINGS)
    writer.add([SETTINGS.game(number).result(SETTINGS) for number in range(3)])
    for ending in ("", "-wal"):
        shutil.copy(f"{folder / 'w.db'}{ending}", f"{path}{ending}")
    writer.close()
    (folder / "w.db").unlink()
    return path


def test_a_log_in_a_folder_that_cannot_be_written() -> None:
    with folder_of_nobody() as folder:
        path = killed_in(folder)
        folder.chmod(0o555)
        try:
            with as_nobody():
                wanted = (
                    r"cannot read .*r\.db': its newest games are in 'r\.db-wal', which can only "
                )
                wanted += "be read in a folder that may be written; copy both"
                for read in (load_results, load):
                    with pytest.raises(TournamentError, match=wanted):
                        read(path)
                with pytest.raises(TournamentError, match=r"cannot write .*Permission denied"):
                    run_tournament(SETTINGS, out=path)
        finally:
            folder.chmod(0o777)
        assert len(load_results(path).records) == 3


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_file_at_rest_is_read_where_nothing_can_be_written(
    played: tuple[Path, Results], mode: str
) -> None:
    expected = list(played[1].records)
    with folder_of_nobody() as folder:
        path = folder / "r.db"
        shutil.copy(played[0], path)
        change(path, f"PRAGMA journal_mode = {mode}")
        path.chmod(0o444)
        folder.chmod(0o555)
        try:
            with as_nobody():
                found = list(load_results(path).records)
                with pytest.raises(TournamentError, match=r"cannot write .*Permission denied"):
                    run_tournament(SETTINGS, out=path)
        finally:
            folder.chmod(0o777)
    assert found == expected


def test_a_file_that_may_not_be_read(played: tuple[Path, Results]) -> None:
    with folder_of_nobody() as folder:
        path = folder / "r.db"
        shutil.copy(played[0], path)
        path.chmod(0)
        with as_nobody():
            with pytest.raises(TournamentError, match=r"cannot read .*r\.db': Permission denied"):
                load_results(path)
            with pytest.raises(TournamentError, match=r"cannot read .*r\.db': Permission denied"):
                recover(path, folder / "new.db")


def test_settings_are_kept_on_three_pages(played: tuple[Path, Results]) -> None:
    path, _ = played
    data = path.read_bytes()
    text = json.dumps(SETTINGS.to_dict()).encode()
    pages = [data[start : start + PAGE] for start in range(0, len(data), PAGE)]
    assert sum(text in page for page in pages) >= 3
