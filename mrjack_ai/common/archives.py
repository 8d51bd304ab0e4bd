"""Reading `.npz` archives that anybody may have written, or damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mrjack_ai.common.text import printable, shortened

_LONGEST_REASON = 120


class ArchiveError(ValueError):
    """Why an archive cannot be read, without its name, which the caller has."""


def read_archive(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """All arrays of an archive, by name.

    Raises:
        ArchiveError: when there is no such file, or it is no archive of plain arrays.
    """
    try:
        with np.load(path, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except OSError as error:
        raise ArchiveError(error.strerror or str(error)) from None
    except Exception as error:  # damaged headers reach Python's tokenizer, zlib, struct ...
        reason = shortened(printable(str(error)), _LONGEST_REASON)
        raise ArchiveError(f"it is no archive of arrays ({reason})") from None
