"""The lock that lets one run alone write a results file."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from mrjack_ai.errors import TournamentError


def utc_now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class FileLock:
    """Keeps other runs off a results file for as long as this process lives.

    Args:
        path: the results file; the lock is on `PATH.lock`.

    Raises:
        TournamentError: when another run holds it, in this process or another.
        OSError: when the lock file cannot be made.
    """

    _held: set[str] = set()  # noqa: RUF012 - shared on purpose: see `__init__`
    _guard = threading.Lock()

    def __init__(self, path: Path) -> None:
        self._name = os.path.realpath(path)
        self._path = f"{self._name}.lock"
        self._file: TextIO | None = None
        self._own = False
        # A process does not lock itself out, and closing the file once would unlock it.
        with self._guard:
            if self._name in self._held:
                raise self._refusal(path, f"process {os.getpid()}, this one")
            self._held.add(self._name)
        try:
            self._take(path)
        except BaseException:
            self.release()
            raise

    @staticmethod
    def _refusal(path: Path, who: str) -> TournamentError:
        return TournamentError(
            f"{str(path)!r} is being written by another run ({who}); wait for it, stop it, or "
            "give another --out"
        )

    def _take(self, path: Path) -> None:
        import fcntl  # not at the top: only this function needs a system that has it

        while True:
            self._file = file = open(self._path, "a+", encoding="utf-8")  # noqa: SIM115
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                raise self._refusal(path, file.read().strip() or "it has just started") from None
            # Whoever held it may have removed the file between our opening and locking it.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(self._path)):
                    break
            file.close()
        with contextlib.suppress(OSError):  # a full disk; the text is for people only
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}, since {utc_now()}\n")
            file.flush()
        self._own = True

    def release(self) -> None:
        """Let others write the file."""
        if self._own:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
        with self._guard:
            self._held.discard(self._name)
