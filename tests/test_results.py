"""Results as data frames, on the terminal, and as files for other programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import misbehaving
import numpy as np
import pandas
import pytest

import mrjack_ai
from mrjack_ai.cli.main import main
from mrjack_ai.game.record import read_records
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
    run_tournament,
    standings,
)
from mrjack_ai.tournament.store import ResultsReader

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
AGENTS = ("raises-in-tests", "cautious", "ismcts:sims=20")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    """A tournament with forfeits."""
    misbehaving.register()
    path = tmp_path_factory.mktemp("results") / "r.db"
    settings = Settings(AGENTS, 6, 5, SMALL, move_time_limit=60_000, key="5" * 64)
    return path, run_tournament(settings, out=path)


# -- data frames --------------------------------------------------------------------------

COLUMNS = [
    *["game", "pairing", "deal", "seed", "detective", "jack", "winner", "winning_agent", "ending"],
    *["length", "seconds", "detective_seconds", "jack_seconds"],
    *["detective_decisions", "jack_decisions", "forfeit_by", "forfeit_kind", "forfeit_message"],
    *["forfeit_traceback", "detective_log", "jack_log", "run", "finished"],
]


def test_games_as_a_data_frame(played: tuple[Path, Results]) -> None:
    path, results = played
    games = load(path).games
    assert list(games.columns) == COLUMNS
    assert len(games) == 18
    assert list(games.game) == list(range(1, 19))
    for row, record in zip(games.itertuples(), results.records, strict=True):
        assert (row.detective, row.jack) == record.agents
        assert (row.pairing, row.deal) == (record.details["pairing"], record.details["deal"])
        assert row.length == len(record.actions)
        assert row.winning_agent == getattr(row, row.winner)
        if record.ending is None:
            assert pandas.isna(row.ending)
            assert row.forfeit_by == record.details["forfeit"]["by"]
            assert row.forfeit_traceback.startswith("Traceback")
        else:
            assert row.ending == record.ending
            assert pandas.isna(row.forfeit_by)
            assert pandas.isna(row.forfeit_traceback)
    # What a reader would ask for.
    wins = games.winning_agent.value_counts()
    for standing in standings(results):
        assert wins.get(standing.agent, 0) == round(standing.score.value * 12)
    thinking = games.groupby("detective", observed=True).detective_seconds.sum()
    assert set(thinking.index) == set(AGENTS)
    assert (thinking > 0).all()
    assert games.finished.dt.tz is not None
    assert games.seconds.dtype == np.float64
    assert games.length.dtype == np.int64


def test_the_other_tables(played: tuple[Path, Results]) -> None:
    path, results = played
    tables = load(path)
    assert tables.settings == json.loads(json.dumps(results.settings.to_dict()))
    assert list(tables.agents.agent) == list(AGENTS)
    assert list(tables.agents.name) == ["raises-in-tests", "cautious", "ismcts"]
    assert tables.agents.sims.iloc[2] == 20
    assert pandas.isna(tables.agents.sims.iloc[0])
    assert list(tables.runs.workers) == [1]
    assert list(tables.runs.mrjack_ai) == [mrjack_ai.__version__]
    assert tuple(tables.records) == tuple(results.records)


def test_a_tournament_without_games(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "r.db"
    results = run_tournament(Settings(("random", "cautious"), 2, 1, SMALL), 1, path, stop)
    assert len(results.records) == 0
    tables = load(path)
    assert list(tables.games.columns) == COLUMNS
    assert len(tables.games) == len(tables.runs) == 0
    for name in ("g.csv", "g.parquet", "g.jsonl", "g.txt"):
        assert export(path, tmp_path / name) == 0
    with pytest.raises(TournamentError, match="holds no game yet"):
        read_games(path)
    assert main(["results", str(path)]) == 0


def test_importing_does_not_load_pandas() -> None:
    code = "import sys, mrjack_ai.cli.main; print({'pandas', 'pyarrow'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


# -- exports ------------------------------------------------------------------------------


def test_exports_hold_what_the_file_holds(played: tuple[Path, Results], tmp_path: Path) -> None:
    path, results = played
    games = load(path).games
    for name in ("g.csv", "g.parquet", "g.jsonl", "g.txt"):
        assert export(path, tmp_path / name) == 18
    pandas.testing.assert_frame_equal(pandas.read_parquet(tmp_path / "g.parquet"), games)
    table = pandas.read_csv(tmp_path / "g.csv")
    assert list(table.columns) == COLUMNS
    assert list(table.winning_agent) == list(games.winning_agent)
    assert list(table.length) == list(games.length)
    assert read_records(tmp_path / "g.jsonl") == list(results.records)
    texts = read_records(tmp_path / "g.txt")
    assert [(record.agents, record.actions, record.ending) for record in texts] == [
        (record.agents, record.actions, record.ending) for record in results.records
    ]
    text = (tmp_path / "g.txt").read_text()
    assert text.count("# raises-in-tests as Jack forfeits (exception): ZeroDivisionError") == 6
    assert {file.name for file in tmp_path.iterdir()} == {"g.csv", "g.parquet", "g.jsonl", "g.txt"}


def test_refused_exports(played: tuple[Path, Results], tmp_path: Path) -> None:
    path, _ = played
    with pytest.raises(TournamentError, match=r"must end in \.csv, \.parquet"):
        export(path, tmp_path / "g.xlsx")
    with pytest.raises(TournamentError, match="cannot write"):
        export(path, tmp_path / "no" / "g.csv")
    with pytest.raises(TournamentError, match="cannot read"):
        export(tmp_path / "missing.db", tmp_path / "g.csv")
    named = tmp_path / "r.csv"
    named.write_bytes(path.read_bytes())
    with pytest.raises(TournamentError, match="is what is read here"):
        export(named, named)
    assert named.read_bytes() == path.read_bytes()
    assert {file.name for file in tmp_path.iterdir()} == {"r.csv"}


def test_all_names_are_checked_before_any_file_is_written(
    played: tuple[Path, Results], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = played
    names = [str(tmp_path / name) for name in ("g.csv", "g.jsonl")]
    for bad, message in (
        ("g.xlsx", "must end in"),
        ("no/g.csv", "cannot write"),
        ("g.csv", "is given twice"),
        ("../" + tmp_path.name + "/g.csv", "is given twice"),
    ):
        assert main(["results", "export", str(path), *names, str(tmp_path / bad)]) == 2
        assert message in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []
    assert export(path, *names) == 18
    assert {file.name for file in tmp_path.iterdir()} == {"g.csv", "g.jsonl"}


# -- the command --------------------------------------------------------------------------


def test_results_shows_settings_standings_and_forfeits(
    played: tuple[Path, Results], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = played
    assert main(["results", str(path)]) == 0
    output = capsys.readouterr().out
    for line in (
        "format: round-robin",
        f"agents: {' '.join(AGENTS)}",
        "games: 6",
        "seed: 5",
        "deals: drawn from the seed and the key",
        "move time limit: 60000 ms",
        "board: mews",
        "cast: SH+JW+SG+WG",
        "played: 18 of 18 games",
        "12 games were forfeited:",
    ):
        assert f"\n{line}\n" in f"\n{output}"
    version = re.escape(mrjack_ai.__version__)
    assert re.search(rf"^run 1: .* workers 1, mrjack_ai {version} python 3", output, re.M)
    assert "Standings" in output
    assert output.count("forfeits (exception)") == 5
    assert "Traceback" not in output
    assert main(["results", str(path), "--tracebacks"]) == 0
    output = capsys.readouterr().out
    assert output.count("Traceback") == output.count("forfeits (exception)") == 12


def test_results_exports_and_recovers(
    played: tuple[Path, Results], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, results = played
    out, lines, new = (str(tmp_path / name) for name in ("g.csv", "g.jsonl", "new.db"))
    assert main(["results", "export", str(path), out, lines]) == 0
    assert capsys.readouterr().out == f"18 games are in {out}\n18 games are in {lines}\n"
    assert main(["results", "recover", str(path), new]) == 0
    assert capsys.readouterr().out == f"18 games are in {new}\n"
    assert load_results(new) == results
    assert main(["show", new, "--game", "18", "--at", "3"]) == 0
    assert "Turn 1 of 4" in capsys.readouterr().out


def test_one_number_for_a_game_everywhere(
    played: tuple[Path, Results], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """That of the schedule, also in a file that lacks games."""
    path, page = tmp_path / "r.db", tmp_path / "r.html"
    shutil.copy(played[0], path)
    with ResultsReader(path) as reader:
        forfeited = [r.number + 1 for r in reader.results() if r.forfeit_by and r.number > 3]
        last = reader.result(17).record(reader.settings)
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM games WHERE number IN (0, 2, 3)")
    database.close()
    assert main(["results", str(path), "--tracebacks"]) == 0
    output = capsys.readouterr().out
    listed = re.findall(r"^  game (\d+): .* forfeits", output, re.M)
    traced = re.findall(r"^game (\d+):$", output, re.M)
    assert listed == traced
    assert set(map(int, listed)) - {2} == set(forfeited)
    write_report(path, page)
    shown = set(map(int, re.findall(r'id="game-(\d+)"', page.read_text())))
    assert set(forfeited) <= shown <= {2, *range(5, 19)}
    assert read_game(path, 18) == last == list(read_games(path))[-1]
    assert read_game(path) == read_game(path, 2)
    assert main(["show", str(path), "--game", "18"]) == 0
    capsys.readouterr()
    for number, message in ((3, "game 3 has not been played; 15 of the 18"), (19, "no game 19")):
        assert main(["show", str(path), "--game", str(number)]) == 2
        assert message in capsys.readouterr().err
    lines = tmp_path / "r.jsonl"
    export(path, lines)
    assert read_game(lines, 15) == last, "a file of records has places only"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.db"], "cannot read 'missing.db'"),
        (["export"], "Missing argument 'FILE'"),
        (["export", "missing.db"], "Missing argument 'OUT...'"),
        (["export", "missing.db", "g.csv"], "cannot read 'missing.db'"),
        (["recover", "missing.db"], "Missing argument 'NEW_FILE'"),
        (["recover", "missing.db", "new.db"], "cannot read 'missing.db'"),
        ([__file__], "is no results file"),
        ([os.path.dirname(__file__)], "cannot read"),
        (["a\0b"], "cannot read"),
        (["x" * 300], "cannot read"),
    ],
)
def test_bad_words(
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["results", *words]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert message in errors
    assert list(tmp_path.iterdir()) == []
