"""Save the games of a damaged results file: every one whose bytes are whole, wherever they are."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mrjack_ai.agents.registry import name_of
from mrjack_ai.common.files import check_regular, reason_of, replacing_database
from mrjack_ai.errors import MrJackError, TournamentError
from mrjack_ai.setup.variant import PLAYER_NAMES
from mrjack_ai.tournament import form
from mrjack_ai.tournament.outcomes import Outcomes
from mrjack_ai.tournament.pages import Pages, RowPattern, page_sizes
from mrjack_ai.tournament.schedule import Settings

_KINDS = {
    "INTEGER PRIMARY KEY": "key",
    "INTEGER NOT NULL": "integer",
    "INTEGER": "integer?",
    "REAL NOT NULL": "real",
    "TEXT NOT NULL": "text",
    "TEXT": "text?",
    "BLOB NOT NULL": "blob",
}

_BEGINNING = 64
"""Pages in which to look for signs of a tournament."""

Row = tuple[Any, ...]


def recover(path: str | Path, new: str | Path) -> int:
    """Copy the games of a damaged results file that are whole to a new one.

    Nothing but a game's own bytes is needed for that, and one of the copies of the settings. What
    is left of agents and runs is copied too, and where nothing is: agents are named as in the
    settings, without parameters, and runs with the time of their first game, without versions.
    Games that somebody has deleted from the file may come back.

    Args:
        path: the damaged file, with the log beside it (`PATH-wal`) if there is one. It is read
            without SQLite, and not changed.
        new: a name that no file has.

    Returns:
        Number of games copied.

    Raises:
        TournamentError: when there is such a file already, the damaged one cannot be read, its
            settings or all its games are lost, or the new one cannot be written; there is no new
            file then.
    """
    path = Path(path)
    if os.path.lexists(new):
        raise TournamentError(f"{str(new)!r} exists already; give another name")
    with _reading(path):
        check_regular(path)
        found = _Found.in_file(path)
    try:
        with (
            replacing_database(new, path, error=TournamentError) as part,
            contextlib.closing(sqlite3.connect(part, isolation_level=None)) as connection,
        ):
            # What breaks here is thrown away, so there is nothing to be rolled back.
            form.begin(connection, "OFF", found.settings, found.agents())
            count = _copy(found, connection)
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise TournamentError(f"cannot write {str(new)!r}: {error}") from None
    return count


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, MrJackError):
            raise
        raise TournamentError(f"cannot read {str(path)!r}: {reason_of(error)}") from None


def was_results_file(path: Path) -> bool:
    """Whether a file that SQLite does not know holds settings of a tournament near its beginning.

    Raises:
        OSError: when it cannot be read.
    """
    return path.is_file() and _settings_in(path, _BEGINNING) is not None


def _settings_in(path: Path, most: int | None = None) -> str | None:
    """The settings as JSON, wherever they are whole; None when they are not."""
    for table in ("tournament", "copies"):
        for version, row in _rows(path, table, most):
            if (values := form.whole(version, table, row, None)) is not None:
                settings: str = values[-1]
                return settings
    return None


def _rows(path: Path, table: str, most: int | None = None) -> Iterator[tuple[int, Row]]:
    """Version of the form and values of all that look like rows of a table, on the first pages."""
    forms: dict[tuple[str, ...], list[int]] = {}
    for version in form.FORMS:
        if table in form.tables(version):
            forms.setdefault(_kinds(version, table), []).append(version)
    for size in page_sizes(path, form.PAGE_SIZE):
        with Pages(path, size, most) as pages:
            for kinds, versions in forms.items():
                for row in RowPattern(kinds).rows(pages):
                    yield from ((version, row) for version in versions)


def _kinds(version: int, table: str) -> tuple[str, ...]:
    kinds = [_KINDS[form.type_of(table, column)] for column in form.columns(version, table)]
    return tuple(kinds)


@dataclass
class _Found:
    """What is left of a results file besides its games."""

    path: Path
    settings: Settings
    _agents: dict[int, Row] = field(default_factory=dict)
    runs: dict[int, Row] = field(default_factory=dict)

    @classmethod
    def in_file(cls, path: Path) -> _Found:
        settings = _settings_in(path)
        if settings is None:
            raise TournamentError(
                f"{str(path)!r} cannot be recovered: it holds no settings of a tournament that are "
                "whole, and without them no game can be read"
            )
        try:
            found = cls(path, Settings.from_dict(json.loads(settings)))
        except MrJackError as error:
            raise TournamentError(f"{str(path)!r} cannot be recovered: {error}") from None
        for table, rows in (("agents", found._agents), ("runs", found.runs)):
            for version, row in _rows(path, table):
                if (values := form.whole(version, table, row, found.settings)) is not None:
                    rows.setdefault(values[0], values)
        return found

    def agents(self) -> list[Row]:
        """The agents; parameters are missing where nothing is left of them."""
        return [
            self._agents.get(number, (number, agent, name_of(agent), "{}"))
            for number, agent in enumerate(self.settings.agents)
        ]

    def games(self) -> Iterator[Row]:
        """All games that are whole; some may come several times."""
        since = datetime.fromtimestamp(self.path.stat().st_mtime, UTC)
        for version, row in _rows(self.path, "games"):
            values = form.whole(version, "games", row, self.settings)
            if values is None and version == 2:
                # No checksum told of the run and the time, so that they may be all that is wrong.
                run = row[-3] if row[-3] in self.runs else 1
                time = self.runs[run][1] if run in self.runs else since.isoformat()
                mended = (*row[: len(form.FIELDS)], run, time, row[-1])
                values = form.whole(version, "games", mended, self.settings)
            if values is not None:
                yield values


def _copy(found: _Found, connection: sqlite3.Connection) -> int:
    """Copy games and runs, all in one transaction; returns the number of games."""
    with _reading(found.path):
        form.add(connection, form.FORM, "games", found.games(), unless_there=True)
    outcomes = Outcomes(found.settings)
    for number, winner in connection.execute("SELECT number, winner FROM games ORDER BY number"):
        outcomes.put(number, PLAYER_NAMES.index(winner))
    outcomes.judge()
    if not outcomes.count:
        raise TournamentError(f"{str(found.path)!r} cannot be recovered: no game in it is whole")
    if outcomes.stop is not None:  # the sequential test was decided before
        connection.execute("DELETE FROM games WHERE number >= ?", (outcomes.stop,))
    began = "SELECT run, min(finished), NULL, '{}' FROM games GROUP BY run"
    runs = {row[0]: row for row in connection.execute(began)} | found.runs
    form.add(connection, form.FORM, "runs", [row for _, row in sorted(runs.items())])
    return outcomes.count
