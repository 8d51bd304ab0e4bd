"""Files that appear when they are complete."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from mrjack_ai.errors import MrJackError


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to; the file moves to `path` when the block ends without an error.

    A link is followed, and who may read a file that was there stays as it is.

    Raises:
        OSError, ValueError: when the file cannot be written, or the path is none, or is that of
            something else, such as a folder, a pipe or a device.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise OSError("it is no regular file")
    part = path.with_name(f"{path.name}.part")
    try:
        yield part
        if path.exists():
            shutil.copymode(path, part)
        os.replace(part, path)
    finally:
        with contextlib.suppress(OSError, ValueError):
            part.unlink(missing_ok=True)


def reason_of(error: BaseException) -> str:
    """Why a file cannot be used, without the path, which the caller names as he was given it."""
    return getattr(error, "strerror", None) or str(error)


def write_whole(path: str | Path, text: str, *sources: str | Path | None) -> None:
    """Write a text file at once; one that was there is replaced.

    Args:
        path: the file.
        text: its content.
        sources: files the text was made from, which must not be replaced; what is None, or no
            file that there is, does not count.

    Raises:
        MrJackError: when it is one of these itself, or cannot be written.
    """
    out = Path(path)
    try:
        same = out.exists() and any(
            source is not None and os.path.exists(source) and os.path.samefile(source, out)
            for source in sources
        )
        if not same:
            with replacing(out) as part:
                part.write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:  # ValueError: no possible path
        raise MrJackError(f"cannot write {str(path)!r}: {reason_of(error)}") from None
    if same:
        raise MrJackError(f"{str(path)!r} is what is read here; give another name")
