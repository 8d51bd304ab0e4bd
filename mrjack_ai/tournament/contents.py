"""What an open results file holds, every row of it checked, and errors that say what is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from mrjack_ai.common.files import reason_of
from mrjack_ai.errors import MrJackError, TournamentError
from mrjack_ai.tournament import form
from mrjack_ai.tournament.pages import MAGIC
from mrjack_ai.tournament.recovery import was_results_file
from mrjack_ai.tournament.schedule import GameResult, Settings


def is_results_file(path: str | Path) -> bool:
    """True for an SQLite database; whether it holds a tournament shows when it is read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would wait, and lose what is read
            return False
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


def no_results(path: Path, why: object) -> TournamentError:
    """The error for a file that holds something else."""
    return TournamentError(f"{str(path)!r} is no results file of a tournament ({why})")


def no_database(path: Path, why: object) -> TournamentError:
    """The error for a file that SQLite does not know, which may have lost its beginning only."""
    if was_results_file(path):
        return _damaged(path, "the beginning", why)
    return no_results(path, why)


def _damaged(path: Path, what: str, why: object) -> TournamentError:
    return TournamentError(
        f"{str(path)!r}, {what}: damaged ({why}); nothing was changed; `mrjack results recover "
        f"{shlex.quote(str(path))} NEW_FILE` copies the games that are whole, for a run with "
        "--out NEW_FILE to carry on from"
    )


def code_of_error(error: sqlite3.Error) -> int:
    """SQLite's primary code of an error; 0 when it has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is at fault: not a full disk, nor another program that has locked it.

    All our statements are right where the tables are as we made them.
    """
    return code_of_error(error) in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
    )


@contextlib.contextmanager
def errors_about(path: Path, doing: str) -> Iterator[None]:
    """Errors of the system and of SQLite as ours.

    Args:
        path: the file they are about.
        doing: what cannot be done, such as `read`.
    """
    try:
        yield
    except MrJackError:
        raise
    except sqlite3.Error as error:
        if code_of_error(error) == sqlite3.SQLITE_NOTADB:
            raise no_database(path, error) from None
        if _is_damage(error):
            raise _damaged(path, "the file", error) from None
        raise TournamentError(f"cannot {doing} {str(path)!r}: {error}") from None
    except (OSError, ValueError) as error:  # ValueError: no path
        raise TournamentError(f"cannot {doing} {str(path)!r}: {reason_of(error)}") from None


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection in a mode of SQLite's: `ro`, `rw`, or `rwc`, which makes the file."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    # A text that is damaged is to be found so by its checksum.
    connection.text_factory = lambda text: text.decode(errors="replace")
    if mode.startswith("rw"):
        # Safe against the death of the process; a power cut may cost the last moments.
        connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def is_new(connection: sqlite3.Connection) -> bool:
    """Whether a database is empty, and nobody's."""
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return not tables and connection.execute("PRAGMA application_id").fetchone()[0] == 0


class Contents:
    """What an open file holds, every row of it checked.

    Args:
        path: the file, for messages.
        connection: to it.

    Raises:
        TournamentError: when it is no results file, or of a form that is not read.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._sound = False
        if connection.execute("PRAGMA application_id").fetchone()[0] != form.APPLICATION_ID:
            raise no_results(path, "an SQLite database of something else")
        self.form: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if self.form not in form.FORMS:
            raise TournamentError(
                f"{str(path)!r} has version {self.form} of the form of results files; this version "
                f"of mrjack_ai reads {' and '.join(map(str, sorted(form.FORMS)))}; use the "
                "mrjack_ai that wrote it, or play anew"
            )

    def settings(self) -> dict[str, Any]:
        """The settings as they are."""
        rows = self._rows("tournament")
        if len(rows) != 1 or (values := form.whole(self.form, "tournament", rows[0], None)) is None:
            raise _damaged(self.path, "the settings", "not as they were written")
        settings: dict[str, Any] = json.loads(values[0])
        return settings

    def table(self, name: str, settings: Settings) -> list[tuple[Any, ...]]:
        """The rows of the agents or runs, without checksums."""
        found = []
        for number, row in enumerate(self._rows(name), start=1):
            values = form.whole(self.form, name, row, settings)
            if values is None or (name == "agents" and values[0] != number - 1):
                self._refuse(name.removesuffix("s"), number, row[0])
            found.append(values)
        if name == "agents" and len(found) != len(settings.agents):
            raise _damaged(self.path, "the agents", f"{len(found)} of {len(settings.agents)}")
        return found

    def _refuse(self, what: str, place: int, number: Any) -> NoReturn:
        there = number + (what != "run") if type(number) is int else place
        raise _damaged(self.path, f"{what} {there}", "it is not as it was written")

    def _rows(self, table: str) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(form.select(self.form, table)).fetchall()
        except sqlite3.Error as error:
            if not _is_damage(error):
                raise
            raise _damaged(self.path, f"the table {table}", error) from None

    def games(self, settings: Settings) -> Iterator[tuple[GameResult, int, str]]:
        """All games in the order of the schedule, with run and time.

        Raises:
            TournamentError: at the first that is damaged, or when some cannot be reached.
        """
        self.check()
        last = -1
        try:
            for row in self._connection.execute(
                f"{form.select(self.form, 'games')} ORDER BY number"
            ):
                values = form.whole(self.form, "games", row, settings)
                if values is None or values[0] <= last:
                    self._refuse("game", last + 2, row[0])
                last = values[0]
                yield GameResult(*values[:-2]), values[-2], values[-1]
        except sqlite3.Error as error:
            if not _is_damage(error):
                raise
            place = "the first game" if last < 0 else f"after game {last + 1}"
            raise _damaged(self.path, place, error) from None

    def game(self, number: int, settings: Settings) -> GameResult | None:
        """One game; None when it is not there."""
        query = f"{form.select(self.form, 'games')} WHERE number = ?"
        row = self._connection.execute(query, (number,)).fetchone()
        if row is None:
            self.check()  # or the way to it is damaged
            return None
        values = form.whole(self.form, "games", row, settings)
        if values is None or values[0] != number:
            self._refuse("game", number + 1, number)
        return GameResult(*values[:-2])

    def check(self) -> None:
        """Make sure that SQLite can reach all there is: a page that is lost would not be missed.

        Raises:
            TournamentError: when it cannot.
        """
        if self._sound:
            return
        try:
            found = [row[0] for row in self._connection.execute("PRAGMA quick_check(1)")]
        except sqlite3.Error as error:
            if not _is_damage(error):
                raise
            found = [error]
        if found != ["ok"]:
            why = " ".join(str(found[0]).removeprefix("*** in database main ***").split())
            raise _damaged(self.path, "the file", why)
        self._sound = True
