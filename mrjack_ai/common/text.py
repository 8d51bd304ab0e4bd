"""Text that others wrote, made fit to be shown: nothing hidden in it, and not too much of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

LONGEST_MESSAGE = 500
"""Most characters of an error message."""

_ECHO = 60
"""Most characters of an input that a message repeats."""
_LISTED = 12
"""Most names that a message lists."""


@lru_cache(maxsize=4096)
def _visible(character: str) -> str:
    """A character as it is shown: itself, or its escape where it cannot be seen."""
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode("ascii")


_ODD = re.compile(r"[^\x20-\x7e]")
_ODD_IN_LINES = re.compile(r"[^\x20-\x7e\n\t]")


def printable(text: str, lines: bool = False) -> str:
    r"""Foreign text that does nothing to a terminal, a page or a file but be read there.

    Control characters (escape sequences, bells), marks that change the direction of text, other
    invisible characters, lone surrogates and unassigned code points become escapes such as
    `\x1b` and `\u202e`, as in `repr`. Text that has been through this stays as it is.

    Args:
        text: any text.
        lines: keep line breaks and tabs.
    """
    if text.isascii() and text.isprintable():
        return text  # as a rule, and quickly
    odd = _ODD_IN_LINES if lines else _ODD
    return odd.sub(lambda found: _visible(found[0]), text)


def shortened(text: str, most: int = LONGEST_MESSAGE) -> str:
    """A text of at most so many characters: of a longer one the beginning, the end and its length.

    Args:
        text: the text.
        most: most characters, at least 60.
    """
    if len(text) <= most:
        return text
    gap = f" ... ({len(text)} characters) ... "
    end = (most - len(gap)) // 3
    return text[: most - len(gap) - end] + gap + text[-end:]


def shown(value: object, most: int = _ECHO) -> str:
    """A value as a message repeats it: its `repr`, cut where it is long, with its length.

    Args:
        value: anything, also what has no `repr`.
        most: most characters of it.
    """
    if isinstance(value, (str, bytes)):
        if len(value) <= most:
            return repr(value)
        unit = "characters" if isinstance(value, str) else "bytes"
        return f"{value[:most]!r}... ({len(value)} {unit})"
    try:
        text = printable(repr(value))
    except Exception:  # numbers of too many digits, objects that are broken or nested too deeply
        return f"some {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def said(error: BaseException, most: int = 300) -> str:
    """What foreign code has raised: the kind of error and what it says, in a line, cut if long."""
    what = f"{type(error).__name__}: {error}".removesuffix(": ")
    return shortened(printable(" ".join(what.split())), most)


def listed(names: Iterable[object], most: int = _LISTED) -> str:
    """Names joined by commas; of many the first ones, and how many more there are."""
    every = [str(name) for name in names]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def lines_of(text: str) -> list[str]:
    r"""The lines of a text from a file, without their ends.

    Only `\n` and `\r\n` end a line: other characters that Python counts as line breaks may stand
    in a name or in a JSON text.
    """
    return [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
