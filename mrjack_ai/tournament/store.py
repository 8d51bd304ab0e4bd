"""Results files: one SQLite database a tournament, written game by game.

Games are committed as their results arrive, those that come within 20 milliseconds together, so
that killing the process loses the games in flight and what was done in such a moment.
Tables (`PRAGMA user_version` is `SCHEMA_VERSION`):

- `tournament`: one row, the settings as JSON (see `Settings.to_dict`);
- `agents`: number, specification, name, and all parameters as JSON, defaults included;
- `runs`: when each run began, its number of workers, and versions of the software, hashes of code
  files (`code NAME`) among them;
- `games`: the fields of `GameResult`, the run and the time (UTC) it was finished.

The run that writes a file holds a lock on `FILE.lock`, which ends with its process.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mrjack_ai.agents.plugins import code_of
from mrjack_ai.agents.registry import described_parameters, name_of
from mrjack_ai.errors import MrJackError, TournamentError
from mrjack_ai.game.record import GameRecord
from mrjack_ai.tournament.lock import FileLock, utc_now
from mrjack_ai.tournament.outcomes import Outcomes
from mrjack_ai.tournament.schedule import GameResult, Settings
from mrjack_ai.version import __version__

SCHEMA_VERSION = 2
"""2: games have `detective_log` and `jack_log`."""

APPLICATION_ID = 0x4D724A6B
"""Marks our files among all SQLite databases."""

_FIELDS = GameResult._fields
_MAGIC = b"SQLite format 3\0"

_SCHEMA = """
CREATE TABLE tournament (settings TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE agents (
    number INTEGER PRIMARY KEY, agent TEXT NOT NULL, name TEXT NOT NULL, parameters TEXT NOT NULL
);
CREATE TABLE runs (
    run INTEGER PRIMARY KEY, started TEXT NOT NULL, workers INTEGER, versions TEXT NOT NULL
);
CREATE TABLE games (
    number INTEGER PRIMARY KEY,
    pairing INTEGER NOT NULL,
    deal INTEGER NOT NULL,
    detective INTEGER NOT NULL REFERENCES agents (number),
    jack INTEGER NOT NULL REFERENCES agents (number),
    winner TEXT NOT NULL,
    ending TEXT,
    length INTEGER NOT NULL,
    seconds REAL NOT NULL,
    detective_seconds REAL NOT NULL,
    jack_seconds REAL NOT NULL,
    detective_decisions INTEGER NOT NULL,
    jack_decisions INTEGER NOT NULL,
    forfeit_by TEXT,
    forfeit_kind TEXT,
    forfeit_message TEXT,
    forfeit_traceback TEXT,
    detective_log TEXT,
    jack_log TEXT,
    actions TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (run),
    finished TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
"""

_INSERT = f"INSERT INTO games VALUES ({', '.join('?' * (len(_FIELDS) + 3))})"
_SELECT = f"SELECT {', '.join(_FIELDS)}, run, finished, checksum FROM games"


def is_results_file(path: str | Path) -> bool:
    """True for an SQLite database; whether it holds a tournament shows when it is read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False


def _checksum(values: Sequence[Any]) -> int:
    # SQLite notices damage to its own structure, not to what we put in it.
    return zlib.crc32(repr(tuple(values)).encode())


def _code_hashes(settings: Settings) -> dict[str, str]:
    names = {name_of(spec) for spec in settings.agents}
    return {f"code {code.name}": code.hash for code in code_of(names)}


def _versions(settings: Settings) -> dict[str, str]:
    libraries = ("numpy", "numba", "open_spiel")
    return {
        "mrjack_ai": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in libraries},
        "platform": platform.platform(),
        **_code_hashes(settings),
    }


# -- writing ------------------------------------------------------------------------------


class ResultsWriter:
    """A results file while its tournament is run; the only writer.

    Args:
        path: the file; made when there is none, else it must hold the same tournament.
        settings: the tournament.
        workers: number of workers, for the table of runs.
        agents: rows of the table of agents, for a file about agents that are not known here.

    Raises:
        TournamentError: when another run is writing it, it holds anything else, is damaged, or
            cannot be written; it is unchanged then.
    """

    def __init__(
        self,
        path: str | Path,
        settings: Settings,
        workers: int | None = None,
        agents: Sequence[Sequence[Any]] | None = None,
    ) -> None:
        self.path = Path(path)
        self.settings = settings
        self._lock: FileLock | None = None
        self._connection: sqlite3.Connection | None = None
        self._run: int | None = None
        self._workers = workers
        self._agents = agents
        self.outcomes = Outcomes(settings)
        """Who won the games that are in the file."""
        try:
            self._lock = FileLock(self.path)
            self._open()
        except (OSError, sqlite3.OperationalError) as error:
            self.close()
            raise self._cannot_write(error) from None
        except sqlite3.Error as error:
            self.close()
            raise _unreadable(self.path, error) from None
        except BaseException:
            self.close()
            raise

    def _cannot_write(self, error: Exception, kept: int = 0) -> TournamentError:
        carry_on = f"; the {kept} games before are kept, and the same command carries on"
        return TournamentError(
            f"cannot write results to {str(self.path)!r}: {error}{carry_on if kept else ''}"
        )

    def _open(self) -> None:
        if self.path.is_dir():
            raise IsADirectoryError("it is a folder")
        if not self.path.exists() or self.path.stat().st_size == 0:
            self._connection = connection = _connect(self.path, "rwc")
            self._make(connection)
            return
        if not is_results_file(self.path):
            raise _no_results(self.path, "it is no SQLite database")
        connection = self._connection = _connect(self.path, "rw")
        if _is_new(connection):
            self._make(connection)
            return
        found = _read_settings(self.path, connection)
        ours = self.settings.to_dict()
        differing = [name for name in {**ours, **found} if ours.get(name) != found.get(name)]
        if differing:
            raise TournamentError(
                f"{str(self.path)!r} holds another tournament ({', '.join(differing)} differ); "
                "give another --out, or remove that file"
            )
        found_games = _read_games(self.path, connection, self.settings)
        self.outcomes.add(result for result, *_ in found_games)
        connection.execute("PRAGMA journal_mode = WAL")

    def _make(self, connection: sqlite3.Connection) -> None:
        """Write everything but games, all of it or nothing."""
        connection.execute("PRAGMA journal_mode = WAL")
        settings = json.dumps(self.settings.to_dict())
        agents = self._agents or [
            (number, spec, name_of(spec), json.dumps(described_parameters(spec)))
            for number, spec in enumerate(self.settings.agents)
        ]
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        values = (settings, _checksum([settings]))
        connection.execute("INSERT INTO tournament VALUES (?, ?)", values)
        connection.executemany("INSERT INTO agents VALUES (?, ?, ?, ?)", agents)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")

    def add(self, results: Sequence[GameResult]) -> None:
        """Add games and commit; those behind the end of a sequential test are left out or removed.

        Raises:
            TournamentError: when they cannot be written; none of them is in the file then.
        """
        connection = self._connection
        assert connection is not None
        now = utc_now()
        kept = self.outcomes.count
        self.outcomes.add(results)
        stop = self.outcomes.stop
        if stop is not None:
            results = [result for result in results if result.number < stop]
        try:
            connection.execute("BEGIN IMMEDIATE")
            if self._run is None:  # a run that adds nothing leaves no trace
                self._run = connection.execute(
                    "INSERT INTO runs (started, workers, versions) VALUES (?, ?, ?)",
                    (now, self._workers, json.dumps(_versions(self.settings))),
                ).lastrowid
            rows = [(*result, self._run, now, _checksum(result)) for result in results]
            connection.executemany(_INSERT, rows)
            if stop is not None:  # at once, so that what is in the file does not depend on luck
                connection.execute("DELETE FROM games WHERE number >= ?", (stop,))
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._cannot_write(error, kept) from None
        finally:
            if connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")

    def copy(self, runs: Iterable[tuple[Any, ...]], games: Iterable[tuple[Any, ...]]) -> int:
        """Add rows of another file; returns the number of games.

        Raises:
            TournamentError: when they cannot be written.
        """
        connection = self._connection
        assert connection is not None
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO runs VALUES (?, ?, ?, ?)", runs)
            count = connection.executemany(_INSERT, games).rowcount
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._cannot_write(error) from None
        return max(count, 0)

    def close(self) -> None:
        """Close the file and let others write it."""
        if self._connection is not None:
            # What could not be written was reported when it was written. A file at rest is one file
            # without a log beside it, unless somebody is reading it just now.
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA journal_mode = DELETE")
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None


# -- reading ------------------------------------------------------------------------------


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    if mode != "ro":
        # Safe against the death of the process; a power cut may cost the last moments.
        connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _is_new(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return not tables and connection.execute("PRAGMA application_id").fetchone()[0] == 0


def _no_results(path: Path, why: object) -> TournamentError:
    return TournamentError(f"{str(path)!r} is no results file of a tournament ({why})")


def _unreadable(path: Path, error: Exception) -> TournamentError:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT:
        return _damaged(path, "the file", error)
    return _no_results(path, error)


def _damaged(path: Path, what: str, why: object) -> TournamentError:
    return TournamentError(
        f"{str(path)!r}, {what}: damaged ({why}); nothing was changed; `mrjack results recover "
        f"{path} NEW_FILE` copies the games that can be read, for a run with --out NEW_FILE "
        "to carry on from"
    )


def _read_settings(path: Path, connection: sqlite3.Connection) -> dict[str, Any]:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise _no_results(path, "an SQLite database of something else")
    schema = connection.execute("PRAGMA user_version").fetchone()[0]
    if schema != SCHEMA_VERSION:
        raise TournamentError(
            f"{str(path)!r} has version {schema} of the form of results files; this version of "
            f"mrjack_ai reads {SCHEMA_VERSION}; use the mrjack_ai that wrote it, or play anew"
        )
    try:
        rows = connection.execute("SELECT settings, checksum FROM tournament").fetchall()
    except sqlite3.DatabaseError as error:
        raise _no_results(path, f"its settings cannot be read: {error}") from None
    if len(rows) != 1 or _checksum(rows[0][:1]) != rows[0][1]:
        raise _no_results(path, "its settings are damaged")
    settings: dict[str, Any] = json.loads(rows[0][0])
    return settings


def stored_settings(path: str | Path) -> dict[str, Any] | None:
    """The settings in a results file as they are; None where there are none that can be read."""
    try:
        with contextlib.closing(_connect(Path(path), "rw")) as connection:
            return None if _is_new(connection) else _read_settings(Path(path), connection)
    except (OSError, ValueError, sqlite3.Error, TournamentError):
        return None  # whoever opens the file to write says what is wrong with it


def _read_games(
    path: Path, connection: sqlite3.Connection, settings: Settings
) -> Iterator[tuple[GameResult, int, str]]:
    """All games in the order of the schedule, with run and time.

    Raises:
        TournamentError: at the first that is damaged.
    """
    last = None
    try:
        for row in connection.execute(f"{_SELECT} ORDER BY number"):
            last = row[0]
            result = _checked(row, settings)
            if result is None:
                raise _damaged(path, f"game {last + 1}", "its checksum is wrong")
            yield result, row[-3], row[-2]
    except sqlite3.DatabaseError as error:
        place = "the first game" if last is None else f"after game {last + 1}"
        raise _damaged(path, place, error) from None


def _checked(row: Sequence[Any], settings: Settings) -> GameResult | None:
    """The result in a row, or None when it is not as it was written."""
    *values, _, _, checksum = row
    if _checksum(values) != checksum:
        return None
    result = GameResult(*values)
    if not 0 <= result.number < settings.total_games:
        return None
    game = settings.game(result.number)
    place = (result.pairing, result.deal, (result.detective, result.jack))
    return result if place == (game.pairing, game.deal, game.players) else None


class ResultsReader:
    """A results file to read; it may be written meanwhile.

    Args:
        path: the file.
        damaged: read what can be read of a file that has lost its end.

    Attributes:
        settings: what was to be played.

    Raises:
        TournamentError: when it cannot be read or is no results file.
    """

    def __init__(self, path: str | Path, damaged: bool = False) -> None:
        self.path = Path(path)
        self._damaged = damaged
        with self._errors():
            self.connection = self._connect()
            try:
                self.settings = self._settings()
            except BaseException:
                self.connection.close()
                raise

    def _connect(self) -> sqlite3.Connection:
        # For an error that says why. Not `open`: closing a file ends all locks that SQLite has on
        # it in this process, which may just be writing it.
        os.stat(self.path)
        try:
            connection = _connect(self.path, "ro")
            if self._damaged:
                # Without this SQLite refuses a file that is shorter than it says.
                connection.execute("PRAGMA writable_schema = ON")
            connection.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError:
            if os.path.exists(f"{self.path}-wal"):
                raise
            # In a folder that cannot be written SQLite can only read what does not change.
            connection = _connect(self.path, "ro&immutable=1")
        return connection

    def _settings(self) -> Settings:
        if _is_new(self.connection):
            raise _no_results(self.path, "it is empty")
        try:
            return Settings.from_dict(_read_settings(self.path, self.connection))
        except TournamentError:
            raise
        except MrJackError as error:
            raise _no_results(self.path, error) from None

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except MrJackError:
            raise
        except (OSError, ValueError, sqlite3.OperationalError) as error:  # ValueError: no path
            raise TournamentError(f"cannot read {str(self.path)!r}: {error}") from None
        except sqlite3.Error as error:
            raise _unreadable(self.path, error) from None

    def results(self) -> Iterator[GameResult]:
        """The games in the order of the schedule.

        Raises:
            TournamentError: at the first that is damaged.
        """
        return (result for result, _, _ in self.results_and_runs())

    def records(self) -> Iterator[GameRecord]:
        """The same as records."""
        return (result.record(self.settings) for result in self.results())

    def results_and_runs(self) -> Iterator[tuple[GameResult, int, str]]:
        """The same, with the number of the run and the time (UTC) it was finished."""
        return _read_games(self.path, self.connection, self.settings)

    def result(self, number: int) -> GameResult:
        """One game, by its number in the schedule.

        Raises:
            TournamentError: when it is not there or damaged.
        """
        total = self.settings.total_games
        if not 0 <= number < total:
            raise TournamentError(
                f"{str(self.path)!r} has no game {number + 1}; games are counted from 1 to {total}"
            )
        with self._errors():
            row = self.connection.execute(f"{_SELECT} WHERE number = ?", (number,)).fetchone()
            if row is None:
                raise TournamentError(
                    f"{str(self.path)!r}: game {number + 1} has not been played; {self.count()} of "
                    f"the {total} games have"
                )
            result = _checked(row, self.settings)
        if result is None:
            raise _damaged(self.path, f"game {number + 1}", "it cannot be read")
        return result

    def readable(self) -> Iterator[tuple[Any, ...]]:
        """The rows of the games in the order of the schedule, but for damaged ones.

        Raises:
            TournamentError: when there is no table of games, or it is none of ours.
        """
        for number in range(self.settings.total_games):
            try:
                row = self.connection.execute(f"{_SELECT} WHERE number = ?", (number,)).fetchone()
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR:
                    raise _no_results(self.path, error) from None
                continue
            if row is not None and _checked(row, self.settings) is not None:
                yield row

    def table(self, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Columns and rows of a table, such as `agents` or `runs`."""
        with self._errors():
            cursor = self.connection.execute(f"SELECT * FROM {name}")
            return [column[0] for column in cursor.description], cursor.fetchall()

    def count(self) -> int:
        """Number of games in the file."""
        with self._errors():
            count: int = self.connection.execute("SELECT count(*) FROM games").fetchone()[0]
            return count

    def __enter__(self) -> ResultsReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def changed_code(path: str | Path, settings: Settings) -> list[str]:
    """Names of the loaded code files that were others when games in a results file were played.

    Raises:
        TournamentError: when the file is there and cannot be read.
    """
    now = _code_hashes(settings)
    if not now or not is_results_file(path):
        return []
    with ResultsReader(path) as reader:
        runs = [json.loads(row[3]) for row in reader.table("runs")[1]]
    changed = {name for run in runs for name in now if run.get(name, now[name]) != now[name]}
    return sorted(name.removeprefix("code ") for name in changed)


def recover(path: str | Path, new: str | Path) -> int:
    """Copy the games of a damaged results file that can still be read to a new one.

    Returns:
        Number of games copied.

    Raises:
        TournamentError: when there is such a file already, even the settings are lost, or there
            are games but none of them can be read; there is no new file then.
    """
    if os.path.exists(new):
        raise TournamentError(f"{str(new)!r} exists already; give another name")
    with ResultsReader(path, damaged=True) as reader:
        writer = ResultsWriter(new, reader.settings, agents=reader.table("agents")[1])
        try:
            with contextlib.closing(writer):
                count = writer.copy(reader.table("runs")[1], reader.readable())
            if not count and (games := reader.count()):
                raise _no_results(reader.path, f"none of its {games} games can be read")
        except BaseException:
            for ending in ("", "-wal", "-shm"):  # SQLite keeps the others when it is interrupted
                Path(f"{new}{ending}").unlink(missing_ok=True)
            raise
        return count
