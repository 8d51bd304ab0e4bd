"""Results files: one SQLite database a tournament, written game by game.

A game is committed as soon as its result arrives, so that killing the process loses the games in
flight and no other. What the tables hold (`form` says how):

- `tournament`: one row, the settings as JSON (see `Settings.to_dict`);
- `copies`: the same again, for `recovery.recover`;
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
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mrjack_ai.agents.plugins import code_of
from mrjack_ai.agents.registry import described_parameters, name_of
from mrjack_ai.common.files import check_regular
from mrjack_ai.errors import MrJackError, TournamentError
from mrjack_ai.game.record import GameRecord
from mrjack_ai.tournament import form
from mrjack_ai.tournament.contents import (
    Contents,
    code_of_error,
    connect,
    errors_about,
    is_new,
    is_results_file,
    no_database,
    no_results,
)
from mrjack_ai.tournament.lock import FileLock, utc_now
from mrjack_ai.tournament.outcomes import Outcomes
from mrjack_ai.tournament.schedule import GameResult, Settings
from mrjack_ai.version import __version__

_MOST_COPIES = 4
"""So many copies of the settings are kept."""

_EFFECTIVE = os.access in os.supports_effective_ids


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
        path: the file; made when there is none, else it must hold the same tournament. One of an
            older form is carried on in that form.
        settings: the tournament.
        workers: number of workers, for the table of runs.

    Raises:
        TournamentError: when another run is writing it, it holds anything else, is damaged, or
            cannot be written; it is unchanged then.
    """

    def __init__(self, path: str | Path, settings: Settings, workers: int | None = None) -> None:
        self.path = Path(path)
        self.settings = settings
        self._lock: FileLock | None = None
        self._connection: sqlite3.Connection | None = None
        self._form = form.FORM
        self._run: int | None = None
        self._workers = workers
        self.outcomes = Outcomes(settings)
        """Who won the games that are in the file."""
        try:
            with errors_about(self.path, "write results to"):
                check_regular(self.path)
                self._lock = FileLock(self.path)
                self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        if not self.path.exists() or self.path.stat().st_size == 0:
            self._connection = connection = connect(self.path, "rwc")
            self._make(connection)
            return
        if not is_results_file(self.path):
            raise no_database(self.path, "it is no SQLite database")
        connection = self._connection = connect(self.path, "rw")
        if is_new(connection):
            self._make(connection)
            return
        contents = Contents(self.path, connection)
        found, ours = contents.settings(), self.settings.to_dict()
        differing = [name for name in {**ours, **found} if ours.get(name) != found.get(name)]
        if differing:
            raise TournamentError(
                f"{str(self.path)!r} holds another tournament ({', '.join(differing)} differ); "
                "give another --out, or remove that file"
            )
        self._form = contents.form
        for table in ("agents", "runs"):
            contents.table(table, self.settings)
        self.outcomes.add(result for result, *_ in contents.games(self.settings))
        connection.execute("PRAGMA journal_mode = WAL")

    def _make(self, connection: sqlite3.Connection) -> None:
        """Write everything but games, all of it or nothing."""
        agents = [
            (number, spec, name_of(spec), json.dumps(described_parameters(spec)))
            for number, spec in enumerate(self.settings.agents)
        ]
        form.begin(connection, "WAL", self.settings, agents)
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
                self._run = self._begin_run(connection, now)
            rows = [(*result, self._run, now) for result in results]
            form.add(connection, self._form, "games", rows)
            if stop is not None:  # at once, so that what is in the file does not depend on luck
                connection.execute("DELETE FROM games WHERE number >= ?", (stop,))
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            carry_on = f"; the {kept} games before are kept, and the same command carries on"
            raise TournamentError(
                f"cannot write results to {str(self.path)!r}: {error}{carry_on if kept else ''}"
            ) from None
        finally:
            if connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")

    def _begin_run(self, connection: sqlite3.Connection, now: str) -> int:
        """Note a run, and the settings once more; returns the number of the run."""
        (last,) = connection.execute("SELECT max(run) FROM runs").fetchone()
        run: int = (last or 0) + 1
        versions = json.dumps(_versions(self.settings))
        form.add(connection, self._form, "runs", [(run, now, self._workers, versions)])
        if "copies" in form.tables(self._form):
            (copies,) = connection.execute("SELECT count(*) FROM copies").fetchone()
            if copies < _MOST_COPIES:
                text = json.dumps(self.settings.to_dict())
                form.add(connection, self._form, "copies", [(copies + 1, text)])
        return run

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


def stored_settings(path: str | Path) -> dict[str, Any] | None:
    """The settings in a results file as they are; None where there are none that can be read."""
    try:
        with contextlib.closing(connect(Path(path), "rw")) as connection:
            return None if is_new(connection) else Contents(Path(path), connection).settings()
    except (OSError, ValueError, sqlite3.Error):
        return None  # whoever opens the file to write says what is wrong with it


class ResultsReader:
    """A results file to read; it may be written meanwhile.

    Args:
        path: the file.

    Attributes:
        path: the file.
        settings: what was to be played.

    Raises:
        TournamentError: when it cannot be read or is no results file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with self._errors():
            self._connection = self._connect()
            try:
                self._contents, self.settings = self._open()
            except BaseException:
                self._connection.close()
                raise

    def _connect(self) -> sqlite3.Connection:
        # For an error that says why. Not `open`: closing a file ends all locks that SQLite has on
        # it in this process, which may just be writing it.
        os.stat(self.path)
        check_regular(self.path)
        if not os.access(self.path, os.R_OK, effective_ids=_EFFECTIVE):
            raise PermissionError("Permission denied")
        connection = connect(self.path, "ro")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError as error:
            connection.close()
            if code_of_error(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            log = Path(f"{self.path}-wal")
            if log.exists() and log.stat().st_size:
                if os.access(self.path.parent, os.W_OK, effective_ids=_EFFECTIVE):
                    raise
                raise OSError(
                    f"its newest games are in {log.name!r}, which can only be read in a folder "
                    "that may be written; copy both files to such a one"
                ) from None
            # In a folder that cannot be written SQLite can only read what does not change.
            connection = connect(self.path, "ro&immutable=1")
        return connection

    def _open(self) -> tuple[Contents, Settings]:
        if is_new(self._connection):
            raise no_results(self.path, "it is empty")
        contents = Contents(self.path, self._connection)
        settings = contents.settings()
        try:
            return contents, Settings.from_dict(settings)
        except MrJackError as error:
            raise no_results(self.path, error) from None

    def _errors(self) -> contextlib.AbstractContextManager[None]:
        return errors_about(self.path, "read")

    def hold(self) -> None:
        """From now on show one moment of a file that is being written."""
        with self._errors():
            self._connection.execute("BEGIN")

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
        with self._errors():
            yield from self._contents.games(self.settings)

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
            result = self._contents.game(number, self.settings)
        if result is None:
            raise TournamentError(
                f"{str(self.path)!r}: game {number + 1} has not been played; {self.count()} of "
                f"the {total} games have"
            )
        return result

    def table(self, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Columns and rows of a table, `agents` or `runs`.

        Raises:
            TournamentError: when a row is damaged.
        """
        with self._errors():
            return list(form.COLUMNS[name]), self._contents.table(name, self.settings)

    def count(self) -> int:
        """Number of games in the file.

        Raises:
            TournamentError: when some cannot be reached.
        """
        with self._errors():
            self._contents.check()
            count: int = self._connection.execute("SELECT count(*) FROM games").fetchone()[0]
            return count

    def __enter__(self) -> ResultsReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()


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
