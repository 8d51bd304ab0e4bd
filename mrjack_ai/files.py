"""Files that appear when they are complete."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from mrjack_ai.errors import MrJackError


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to; the file moves to `path` when the block ends without an error.

    Raises:
        OSError, ValueError: when the file cannot be written, or the path is none.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        with contextlib.suppress(OSError, ValueError):
            part.unlink(missing_ok=True)


def write_whole(path: str | Path, text: str, source: str | Path | None = None) -> None:
    """Write a text file at once; one that was there is replaced.

    Args:
        path: the file.
        text: its content.
        source: a file the text was made from, which must not be replaced.

    Raises:
        MrJackError: when it is the source itself, or cannot be written.
    """
    out = Path(path)
    try:
        same = source is not None and out.exists() and os.path.samefile(source, out)
        if not same:
            with replacing(out) as part:
                part.write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:  # ValueError: no possible path
        raise MrJackError(f"cannot write {str(path)!r}: {error}") from None
    if same:
        raise MrJackError(f"{str(path)!r} is what the games are read from; give another name")
