"""Rows of a damaged SQLite file, found by what they look like.

SQLite reaches a row by way of other pages. Where one of those is damaged, the row may still be
whole. So all pages are searched for the bytes that every row of a table begins with, wherever they
stand; whether a row is whole, its checksum tells.

The parts of the format this rests on (https://sqlite.org/fileformat2.html, sections 1.6, 2.1 and
4.1): a row is a cell, made of the length of its record, the row's number, the record, and the
number of a first overflow page where the record is too long for its page. A record is its header's
length, a code for the type of each column, and the values. `INTEGER PRIMARY KEY` is the number of
the row, and NULL in the record. Lengths, row numbers and codes are varints: 7 bits a byte, the
highest first, and the eighth bit set in all bytes but the last. The log (`FILE-wal`) holds newer
pages, each behind a header of 24 bytes with its number.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"SQLite format 3\0"
"""How every SQLite database begins."""
_SIZES = [512 << power for power in range(8)]
"""Pages can have these sizes."""
_WAL_HEADER, _FRAME_HEADER = 32, 24
_MOST_HEADER = 0x7F
"""Headers of records are shorter than that, so their length is one byte."""

_INTEGER = rb"[\x01-\x06\x08\x09]"
_TEXT = rb"(?:[\x0d-\x7f]|[\x80-\xff]{1,4}[\x00-\x7f])"
_CODES = {
    "key": rb"\x00",
    "integer": _INTEGER,
    "integer?": rb"[\x00-\x06\x08\x09]",
    "real": rb"[\x01-\x09]",
    "text": _TEXT,
    "text?": rb"(?:\x00|" + _TEXT + rb")",
    "blob": rb"(?:[\x0c-\x7f]|[\x80-\xff]{1,4}[\x00-\x7f])",
}
"""Codes of the types a column can have; a real number that is whole is kept as an integer."""


class Pages:
    """The pages of a database and of the log beside it.

    Args:
        path: the database.
        size: bytes of a page, whatever the file says of itself.
        most: look at the first pages alone; None for all.

    Raises:
        OSError: when it cannot be read.
    """

    def __init__(self, path: Path, size: int, most: int | None = None) -> None:
        self.size = size
        self._stack = contextlib.ExitStack()
        self._file = self._stack.enter_context(path.open("rb"))
        count = -(-os.fstat(self._file.fileno()).st_size // size)
        self._count = count if most is None else min(count, most)
        self._log: BinaryIO | None = None
        self._newer: dict[int, int] = {}
        """Place in the log of the newest version of a page, by its number."""
        self._frames: list[int] = []
        log = Path(f"{path}-wal")
        if log.is_file():
            self._log = self._stack.enter_context(log.open("rb"))
            self._read_log()

    def _read_log(self) -> None:
        assert self._log is not None
        header = self._log.read(_WAL_HEADER)
        end = os.fstat(self._log.fileno()).st_size
        for place in range(_WAL_HEADER, end - _FRAME_HEADER + 1, _FRAME_HEADER + self.size):
            self._log.seek(place)
            number, _, *salts = struct.unpack(">LL4s4s", self._log.read(16))
            self._frames.append(place + _FRAME_HEADER)
            if b"".join(salts) == header[16:24]:  # else it is left over from before
                self._newer[number] = place + _FRAME_HEADER

    def page(self, number: int, log: bool = True) -> bytes:
        """A page by its number, from 1; without the log as it was before; empty for none."""
        if log and self._log is not None and number in self._newer:
            return self._at(self._log, self._newer[number])
        return self._at(self._file, (number - 1) * self.size) if number >= 1 else b""

    def _at(self, file: BinaryIO, place: int) -> bytes:
        file.seek(place)
        return file.read(self.size)

    @property
    def bytes_in_all(self) -> int:
        """No record is longer."""
        return (self._count + len(self._frames)) * self.size

    def __iter__(self) -> Iterator[bytes]:
        """Every page there is, in all its versions, those of the log first."""
        for place in self._frames:
            assert self._log is not None
            yield self._at(self._log, place)
        for number in range(self._count):
            yield self._at(self._file, number * self.size)

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def page_sizes(path: Path, usual: int) -> list[int]:
    """The page sizes a file may have: the usual one, and what it says of itself.

    Raises:
        OSError: when it cannot be read.
    """
    with path.open("rb") as file:
        start = file.read(18)
    sizes = [usual]
    if start[: len(MAGIC)] == MAGIC:
        said = int.from_bytes(start[16:18]) or 0
        said = 65536 if said == 1 else said
        sizes += [said] if said in _SIZES and said != usual else []
    return sizes


class RowPattern:
    """What the rows of a table look like.

    Args:
        kinds: of each column: `key` (`INTEGER PRIMARY KEY`), `integer`, `real`, `text` or `blob`,
            with a `?` where it can be NULL.
    """

    def __init__(self, kinds: Sequence[str]) -> None:
        codes = b"".join(b"(" + _CODES[kind] + b")" for kind in kinds)
        # In a lookahead, so that one match does not hide the next that begins inside it.
        self._pattern = re.compile(rb"(?=(.)" + codes + rb")", re.DOTALL)
        self._kinds = kinds

    def rows(self, pages: Pages) -> Iterator[tuple[Any, ...]]:
        """All that look like rows, in all pages and versions; some are damaged, or none at all."""
        for page in pages:
            for match in self._pattern.finditer(page):
                yield from self._rows_at(page, match, pages)

    def _rows_at(
        self, page: bytes, match: re.Match[bytes], pages: Pages
    ) -> Iterator[tuple[Any, ...]]:
        start, end = match.start(1), match.end(match.lastindex or 1)
        if match[1][0] != end - start or end - start > _MOST_HEADER:
            return
        codes = [_varint(code) for code in match.groups()[1:]]
        number = _number_before(page, start)
        if number is None:
            return
        length = end - start + sum(map(_bytes_of, codes))
        for record in _records(page, start, length, pages):
            values = _values(record[end - start :], codes)
            if values is not None:
                yield tuple(
                    number if kind == "key" else float(value) if kind == "real" else value
                    for kind, value in zip(self._kinds, values, strict=True)
                )


def _records(page: bytes, start: int, length: int, pages: Pages) -> Iterator[bytes]:
    """The record that begins here, or what it can be: pages in the log may be newer than it."""
    local = _local_bytes(length, pages.size)
    record = page[start : start + local]
    if local == length:
        yield record
        return
    if length > pages.bytes_in_all:
        return
    first = page[start + local : start + local + 4]
    for log in (True, False):
        parts, missing, link = [record], length - local, first
        seen = {b""}
        while missing > 0 and link not in seen:
            seen.add(link)
            content = pages.page(int.from_bytes(link), log)
            link, part = content[:4], content[4 : 4 + missing]
            parts.append(part)
            missing -= len(part)
        if missing == 0:
            yield b"".join(parts)


def _local_bytes(length: int, size: int) -> int:
    """How much of a record stands in its cell; the rest is in overflow pages."""
    most, least = size - 35, (size - 12) * 32 // 255 - 23
    if length <= most:
        return length
    local = least + (length - least) % (size - 4)
    return local if local <= most else least


def _number_before(page: bytes, end: int) -> int | None:
    """The varint that ends here, which is the number of a row; None when there is none."""
    start = end - 1
    if start < 0 or page[start] & 0x80:
        return None
    while start > 0 and end - start < 9 and page[start - 1] & 0x80:
        start -= 1
    return _varint(page[start:end])


def _varint(data: bytes) -> int:
    number = 0
    for byte in data:
        number = number << 7 | byte & 0x7F
    return number


_FIXED = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}


def _bytes_of(code: int) -> int:
    """How many bytes a value of this type takes."""
    return _FIXED[code] if code in _FIXED else max(0, code - 12) // 2


def _values(data: bytes, codes: list[int]) -> tuple[Any, ...] | None:
    """The values of a record; None when one cannot be read."""
    found: list[Any] = []
    place = 0
    for code in codes:
        part = data[place : place + _bytes_of(code)]
        place += len(part)
        if len(part) < _bytes_of(code):
            return None
        if code == 0:
            found.append(None)
        elif code in (8, 9):
            found.append(code - 8)
        elif code == 7:
            found.append(struct.unpack(">d", part)[0])
        elif code < 7:
            found.append(int.from_bytes(part, signed=True))
        else:
            found.append(part.decode(errors="replace") if code % 2 else part)
    return tuple(found)
