"""Files that appear when they are complete: every file the package writes is written here.

The only others are databases and their locks, which are written game by game.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mrjack_ai.errors import MrJackError

_LONGEST_START = 200
"""So many bytes of a file's name are in that of the one it is written to first."""


@contextlib.contextmanager
def replacing(
    path: str | Path, *sources: str | Path | None, error: type[MrJackError] = MrJackError
) -> Iterator[BinaryIO]:
    """A file to write to; it is on disk and moves to `path` when the block ends without an error.

    Else `path` stays as it was, and nothing is left beside it. A link is followed, and who may
    read a file that was there stays as it is.

    Args:
        path: the file.
        sources: files the content is made from, which must not be replaced; what is None, or no
            file that there is, does not count.
        error: what to raise.

    Raises:
        MrJackError: of the class asked for, when the file cannot be written, or the path is none,
            or is that of a source or of something else, such as a folder, a pipe or a device.
    """
    with _named(path, error):
        place = _place(path, sources, error)
        part = _beside(place)
    try:
        with _named(path, error):
            with open(part, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if place.exists():
                shutil.copymode(place, part)
            os.replace(part, place)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing_database(
    path: str | Path, *sources: str | Path | None, error: type[MrJackError] = MrJackError
) -> Iterator[Path]:
    """The same for a database: the name of an empty file in which it can be made.

    What SQLite keeps beside an unfinished one goes with it.
    """
    with _named(path, error):
        place = _place(path, sources, error)
        part = _beside(place)
    try:
        with _named(path, error):
            with open(part, "xb"):
                pass  # the system says better than SQLite why it cannot be made
            yield part
            os.replace(part, place)
    finally:
        for ending in ("", "-journal", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                os.unlink(f"{part}{ending}")


def write_whole(
    path: str | Path,
    text: str,
    *sources: str | Path | None,
    error: type[MrJackError] = MrJackError,
) -> None:
    """Write a text file at once; one that was there is replaced.

    Args:
        path: the file.
        text: its content, written as UTF-8.
        sources: files the text was made from (see `replacing`).
        error: what to raise.

    Raises:
        MrJackError: as `replacing`.
    """
    with replacing(path, *sources, error=error) as file:
        file.write(text.encode(errors="backslashreplace"))


def check_regular(path: Path) -> None:
    """Refuse what is there and is no file: reading it could take for ever.

    Raises:
        OSError: when it is a folder, a pipe or a device.
    """
    if path.is_dir():
        raise OSError("it is a folder; give the name of a file")
    if path.exists() and not path.is_file():
        raise OSError("it is a pipe or a device; give the name of a file")


def reason_of(error: BaseException) -> str:
    """Why a file cannot be used, without the path, which the caller names as he was given it."""
    return getattr(error, "strerror", None) or str(error)


@contextlib.contextmanager
def _named(path: str | Path, error: type[MrJackError]) -> Iterator[None]:
    try:
        yield
    except OSError as found:
        raise error(f"cannot write {str(path)!r}: {reason_of(found)}") from None


def _place(
    path: str | Path, sources: tuple[str | Path | None, ...], error: type[MrJackError]
) -> Path:
    """Where to write, links followed."""
    try:
        place = Path(os.path.realpath(path))
    except ValueError as found:  # a NUL in it
        raise OSError(found) from None
    if not place.exists():
        return place
    if not place.is_file():
        raise OSError("it is no regular file")
    for source in sources:
        if source is not None and os.path.exists(source) and os.path.samefile(source, place):
            raise error(f"{str(path)!r} is what is read here; give another name")
    if not os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError("the file that is there may not be written")
    return place


def _beside(place: Path) -> Path:
    start = place.name.encode(errors="replace")[:_LONGEST_START].decode(errors="ignore")
    return place.with_name(f"{start}.{secrets.token_hex(4)}.part")
