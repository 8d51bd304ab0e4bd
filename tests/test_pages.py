"""Rows of SQLite files are found by what they look like, and read as SQLite reads them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mrjack_ai.tournament.pages import Pages, RowPattern, page_sizes

INTEGERS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40).map(
    lambda text: text * (1 + 300 * (len(text) % 7 == 3))  # some fill pages of any size
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "integer": INTEGERS,
    "integer?": st.none() | INTEGERS,
    "real": st.floats(allow_nan=False) | st.integers(-1000, 1000).map(float),
    "text": TEXTS,
    "text?": st.none() | TEXTS,
    "blob": st.binary(max_size=300),
}
TYPES = {"integer": "INTEGER", "real": "REAL", "text": "TEXT", "blob": "BLOB"}
IN_A_FOLDER = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Kinds of columns, and rows; the first column is the number of the row."""
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=2, max_size=6))
    numbers = draw(st.lists(st.integers(0, 2**55), unique=True, min_size=1, max_size=8))
    return ["key", *kinds], [
        (number, *(draw(VALUES[kind]) for kind in kinds)) for number in numbers
    ]


def write(
    path: Path, size: int, kinds: list[str], rows: list[tuple[Any, ...]], log: bool
) -> sqlite3.Connection:
    """Write a table; while the connection is open the rows are in the log, if there is one."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {size}")
    connection.execute(f"PRAGMA journal_mode = {'WAL' if log else 'DELETE'}")
    columns = [f"c{number} {TYPES[kind.strip('?')]}" for number, kind in enumerate(kinds[1:])]
    connection.execute(f"CREATE TABLE t (key INTEGER PRIMARY KEY, {', '.join(columns)})")
    connection.execute("BEGIN")
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(kinds))})", rows)
    connection.execute("COMMIT")
    return connection


@pytest.mark.parametrize("size", [512, 4096, 65536])
@pytest.mark.parametrize("log", [False, True])
@given(table=tables())
@IN_A_FOLDER
def test_every_row_is_found_on_pages_of_any_size(
    tmp_path: Path, size: int, log: bool, table: tuple[list[str], list[tuple[Any, ...]]]
) -> None:
    kinds, rows = table
    path = tmp_path / "t.db"
    connection = write(path, size, kinds, rows, log)
    try:
        expected = connection.execute("SELECT * FROM t").fetchall()
        with Pages(path, size) as pages:
            found = {repr(row) for row in RowPattern(kinds).rows(pages)}
        assert {repr(row) for row in expected} <= found
    finally:
        connection.close()


def test_the_size_of_pages_is_read_where_the_header_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    for size in (512, 1024, 65536):
        write(path, size, ["key", "text"], [(1, "a")], log=False).close()
        assert page_sizes(path, 4096) == [4096, size]
    path.write_bytes(b"SQLite format 3\0\x12\x34" + bytes(1000))
    assert page_sizes(path, 4096) == [4096]
    path.write_bytes(b"")
    assert page_sizes(path, 4096) == [4096]
    with Pages(path, 4096) as pages:
        assert list(RowPattern(["key", "text"]).rows(pages)) == []


@given(noise=st.binary(max_size=5000))
@IN_A_FOLDER
def test_noise_is_no_error(tmp_path: Path, noise: bytes) -> None:
    path = tmp_path / "t.db"
    for ending in ("", "-wal"):
        Path(f"{path}{ending}").write_bytes(noise)
    with Pages(path, 512) as pages:
        for kinds in (["key", "text", "integer"], ["text", "integer"], ["key", "blob", "real"]):
            assert all(len(row) == len(kinds) for row in RowPattern(kinds).rows(pages))


def test_overflow_pages_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    kinds, row = ["key", "text"], (1, "x" * 5000)
    write(path, 512, kinds, [row], log=False).close()
    with Pages(path, 512) as pages:
        assert row in list(RowPattern(kinds).rows(pages))
    data = bytearray(path.read_bytes())
    for page in range(3, len(data) // 512 + 1):
        data[(page - 1) * 512 : (page - 1) * 512 + 4] = (3).to_bytes(4)
    path.write_bytes(data)
    with Pages(path, 512) as pages:
        assert row not in list(RowPattern(kinds).rows(pages))
