"""Text files and JSON from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from mrjack_ai.common.files import reason_of
from mrjack_ai.common.text import shown
from mrjack_ai.errors import MrJackError


def read_text(path: str | Path, error: type[MrJackError], what: str = "") -> str:
    """The content of a text file: UTF-8, with or without a byte order mark.

    Args:
        path: the file.
        error: what to raise.
        what: what the file is, for the message.

    Raises:
        MrJackError: of the kind `error`, when it cannot be read or is no UTF-8.
    """
    name = f"{what} {str(path)!r}".strip()
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError, TypeError) as found:  # ValueError: no possible path
        raise error(f"cannot read {name}: {reason_of(found)}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as found:
        line = content[: found.start].count(b"\n") + 1
        raise error(f"cannot read {name}: line {line} is no UTF-8 text; save it as such") from None


def parse_json(text: str, error: type[MrJackError]) -> Any:
    """A value from its JSON text; stricter than `json.loads`.

    Raises:
        MrJackError: of the kind `error`, when it is no JSON, an object has a key twice, a number is
            none of JSON's (`NaN`, `Infinity`) or has too many digits, or values are nested too
            deeply.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in pairs:
            if key in result:
                raise error(f"{shown(key)} is given twice in one JSON object")
            result[key] = value
        return result

    def refuse(word: str) -> NoReturn:
        raise error(f"{word} is no number in JSON")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except MrJackError:
        raise
    except json.JSONDecodeError as found:
        raise error(f"no JSON: {found}") from None
    except ValueError:
        raise error("no JSON that can be read: a number has too many digits") from None
    except RecursionError:
        raise error("no JSON that can be read: values are nested too deeply") from None
