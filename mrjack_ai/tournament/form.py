"""The form of results files: tables, and the checksum by which each row shows whether it is whole.

`PRAGMA user_version` is the version of the form. `FORM` is what new files have; a file of an older
one is read, and carried on in its own form:

- 2: `games` have `detective_log` and `jack_log`. No checksum covers `agents`, `runs`, nor `run` and
  `finished` of a game.
- 3: every row has a checksum over all its columns. `copies` holds the settings again.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from mrjack_ai.tournament.schedule import GameResult, Settings

FORM = 3
"""The form of new files."""

FORMS = (3, 2)
"""The forms that are read."""

APPLICATION_ID = 0x4D724A6B
"""Marks our files among all SQLite databases."""

PAGE_SIZE = 4096
"""Bytes of a page, said to SQLite so that a file whose header is lost can be read all the same."""

FIELDS = GameResult._fields

COLUMNS: dict[str, tuple[str, ...]] = {
    "tournament": ("settings",),
    "copies": ("copy", "settings"),
    "agents": ("number", "agent", "name", "parameters"),
    "runs": ("run", "started", "workers", "versions"),
    "games": (*FIELDS, "run", "finished"),
}
"""The columns of each table that the checksum covers; it stands behind them."""

_TYPES = {
    **dict.fromkeys(("copy", "number"), "INTEGER PRIMARY KEY"),
    **dict.fromkeys(("pairing", "deal", "length"), "INTEGER NOT NULL"),
    **dict.fromkeys(("detective_decisions", "jack_decisions"), "INTEGER NOT NULL"),
    **dict.fromkeys(("detective", "jack"), "INTEGER NOT NULL"),
    **dict.fromkeys(("seconds", "detective_seconds", "jack_seconds"), "REAL NOT NULL"),
    **dict.fromkeys(("settings", "agent", "name", "parameters", "started"), "TEXT NOT NULL"),
    **dict.fromkeys(("versions", "winner", "actions", "finished"), "TEXT NOT NULL"),
    **dict.fromkeys(("ending", "forfeit_by", "forfeit_kind", "forfeit_message"), "TEXT"),
    **dict.fromkeys(("forfeit_traceback", "detective_log", "jack_log"), "TEXT"),
    "workers": "INTEGER",
    "checksum": "INTEGER NOT NULL",
    "padding": "BLOB NOT NULL",
}

_COPY_LENGTH = 2500
"""Two copies of the settings, padded to this length, do not fit on a page."""


_REFERENCES = {
    ("games", "detective"): "agents (number)",
    ("games", "jack"): "agents (number)",
    ("games", "run"): "runs (run)",
}


def tables(form: int) -> list[str]:
    """The tables of a form."""
    return [table for table in COLUMNS if form >= 3 or table != "copies"]


def columns(form: int, table: str) -> tuple[str, ...]:
    """All columns of a table, the checksum included if it has one."""
    behind = ("checksum",) if has_checksum(form, table) else ()
    return (*COLUMNS[table], *behind, *(("padding",) if table == "copies" else ()))


def has_checksum(form: int, table: str) -> bool:
    """Whether the rows of a table have a checksum."""
    return form >= 3 or table in ("tournament", "games")


def type_of(table: str, column: str) -> str:
    """The type a column is declared with."""
    if column == "run":
        return "INTEGER PRIMARY KEY" if table == "runs" else "INTEGER NOT NULL"
    return _TYPES[column]


def _declared(table: str, column: str) -> str:
    to = _REFERENCES.get((table, column))
    return f"{column} {type_of(table, column)}{f' REFERENCES {to}' if to else ''}"


def begin(
    connection: sqlite3.Connection,
    journal: str,
    settings: Settings,
    agents: Iterable[Sequence[Any]],
) -> None:
    """Begin a transaction that makes the tables and fills those about the tournament.

    Args:
        connection: to an empty database.
        journal: SQLite's mode of the journal.
        settings: the tournament.
        agents: values of the rows of the table of agents.
    """
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("BEGIN IMMEDIATE")
    for table in tables(FORM):
        declared = ", ".join(_declared(table, column) for column in columns(FORM, table))
        connection.execute(f"CREATE TABLE {table} ({declared})")
    text = json.dumps(settings.to_dict())
    add(connection, FORM, "tournament", [(text,)])
    add(connection, FORM, "copies", [(1, text)])
    add(connection, FORM, "agents", agents)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORM}")


def add(
    connection: sqlite3.Connection,
    form: int,
    table: str,
    rows: Iterable[Sequence[Any]],
    unless_there: bool = False,
) -> None:
    """Add rows.

    Args:
        connection: to the database.
        form: its form.
        table: the table.
        rows: their values, without checksums.
        unless_there: leave out a row whose number is taken.
    """
    verb = "INSERT OR IGNORE" if unless_there else "INSERT"
    places = ", ".join("?" * len(columns(form, table)))
    connection.executemany(
        f"{verb} INTO {table} VALUES ({places})", (stored(form, table, row) for row in rows)
    )


def checksum(form: int, table: str, values: Sequence[Any]) -> int:
    """The checksum of a row. SQLite notices damage to its own structure, not to what we put in it.

    Args:
        form: version of the form.
        table: the table; rows of different ones are never taken for each other.
        values: the row but for the checksum itself.
    """
    if form == 2:
        covered = tuple(values[: len(FIELDS)] if table == "games" else values)
    else:
        covered = (table, *values)
    return zlib.crc32(repr(covered).encode(errors="backslashreplace"))


def stored(form: int, table: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """A row as it is written, with its checksum if it has one.

    A copy of the settings is padded, so that each stands on a page of its own.
    """
    behind: list[Any] = []
    if has_checksum(form, table):
        behind.append(checksum(form, table, values))
    if table == "copies":
        behind.append(bytes(max(0, _COPY_LENGTH - len(values[-1].encode()))))
    return (*values, *behind)


def select(form: int, table: str) -> str:
    """The query for all rows, as they are written."""
    return f"SELECT {', '.join(columns(form, table))} FROM {table}"


def whole(
    form: int, table: str, row: Sequence[Any], settings: Settings | None
) -> tuple[Any, ...] | None:
    """The values of a row, or None when they are not as they were written.

    Args:
        form: version of the form.
        table: the table.
        row: as `stored`.
        settings: the tournament; None for the rows that hold the settings.
    """
    count = len(COLUMNS[table])
    values = tuple(row[:count])
    if has_checksum(form, table) and checksum(form, table, values) != row[count]:
        return None
    return values if _makes_sense(table, values, settings) else None


def _makes_sense(table: str, values: Sequence[Any], settings: Settings | None) -> bool:
    """Whether a row can be of this tournament; all that is asked of one without a checksum."""
    if settings is None:
        return _is_object(values[-1])
    if table == "agents":
        number, agent, name, parameters = values
        known = type(number) is int and 0 <= number < len(settings.agents)
        return (
            known
            and agent == settings.agents[number]
            and isinstance(name, str)
            and _is_object(parameters)
        )
    if table == "runs":
        run, started, workers, versions = values
        counts = type(run) is int and (workers is None or type(workers) is int)
        return counts and _is_time(started) and _is_object(versions)
    return _is_game(values, settings) and type(values[-2]) is int and _is_time(values[-1])


def _is_game(values: Sequence[Any], settings: Settings) -> bool:
    """Whether a row of the games stands where the schedule has it."""
    result = GameResult(*values[: len(FIELDS)])
    if type(result.number) is not int or not 0 <= result.number < settings.total_games:
        return False
    game = settings.game(result.number)
    place = (result.pairing, result.deal, (result.detective, result.jack))
    return place == (game.pairing, game.deal, game.players)


def _is_object(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError, RecursionError):
        return False


def _is_time(text: Any) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except (TypeError, ValueError):
        return False
