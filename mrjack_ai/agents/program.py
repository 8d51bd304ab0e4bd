"""A program that is talked to in lines: asked with time limits, ended without leftovers.

One process, three pipes. Nothing here blocks for longer than it is told to: a program that does
not read, does not answer or writes without end is given up on.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import subprocess
import time
from collections.abc import MutableSequence, Sequence

from mrjack_ai.common.text import shown

LONGEST_LINE = 1_000_000
"""Most bytes of a line that a program may write."""

KEPT_LOG = 65_536
"""So many of the last bytes on standard error are kept."""

_CHUNK = 65_536
_PATIENCE = 1.0
"""Seconds a program is given to end by itself, and then again to end when it is told to."""

_running: set[Program] = set()
"""Programs that have not been closed yet, so that they can be when this process ends."""


_groups: MutableSequence[int] | None = None


def report_groups_to(board: MutableSequence[int]) -> None:
    """Keep the process groups of this process's running programs where another one can see them.

    Args:
        board: as many zeros as programs can be told of, in shared memory.
    """
    global _groups
    _groups = board


def _replace_group(old: int, new: int) -> None:
    if _groups is not None:
        with contextlib.suppress(ValueError):  # no place is left, or it was never there
            _groups[list(_groups).index(old)] = new


def end_groups(board: Sequence[int]) -> None:
    """End the programs of a process that is dead (see `report_groups_to`)."""
    for group in board:
        with contextlib.suppress(OSError):
            try:
                ours = group > 0 and os.getsid(group) == group  # else the number is used again
            except ProcessLookupError:
                ours = True  # its leader is gone, and the rest of the group perhaps not
            if ours:
                os.killpg(group, signal.SIGKILL)


class ProgramError(Exception):
    """A program cannot be started or does not answer; the message says what it did."""


class ProgramTimeoutError(ProgramError):
    """A program has not answered in time."""


class Program:
    """A running program.

    Args:
        words: the program and its arguments.
        quit_line: the line that tells it to end.

    Raises:
        ProgramError: when it cannot be started.
    """

    def __init__(self, words: Sequence[str], quit_line: str) -> None:
        try:
            # A session of its own: Ctrl-C in a terminal is for us, and the whole group, with what
            # a shell script may have started, can be ended together.
            self._process = subprocess.Popen(
                list(words),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ProgramError(f"cannot be started: {reason}") from None
        _replace_group(0, self._process.pid)
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._input, self._output, self._errors = (pipe.fileno() for pipe in pipes if pipe)
        for pipe in (self._input, self._output, self._errors):
            os.set_blocking(pipe, False)
        self._quit_line = quit_line.encode() + b"\n"
        self._owner = os.getpid()
        self._open = {self._output, self._errors}
        self._deaf = False
        self._closed = False
        self._unread = bytearray()
        self._log = bytearray()
        _close_all_at_exit()
        _running.add(self)

    @property
    def usable(self) -> bool:
        """True while this process may go on talking to it."""
        ours = self._owner == os.getpid()  # not that of a process we were forked from
        return ours and not self._closed and self._process.poll() is None

    def ask(self, line: str, seconds: float) -> str:
        """Write a line and wait for one.

        Args:
            line: what to write, without the line break.
            seconds: how long to wait.

        Returns:
            The answer, without the line break.

        Raises:
            ProgramTimeoutError: when there is none in time.
            ProgramError: when the program ends, closes a pipe, or writes a line too many or one
                that is too long.
        """
        end = time.monotonic() + seconds
        self._turn(b"", 0)
        if self._unread:
            said = self._unread.split(b"\n")[0].decode("utf-8", "replace")
            raise ProgramError(
                f"wrote {shown(said)} without being asked; it must write one line for each "
                "message, and everything else to standard error"
            )
        outgoing = memoryview(line.encode() + b"\n")
        while True:
            if not outgoing and (answer := self._take_line()) is not None:
                return answer
            if self._deaf or self._output not in self._open:
                raise ProgramError(self._ending())
            left = end - time.monotonic()
            if left <= 0:
                raise ProgramTimeoutError(f"gave no answer within {1000 * seconds:g} ms")
            outgoing = outgoing[self._turn(outgoing[:_CHUNK], left) :]

    def _take_line(self) -> str | None:
        line, found, rest = self._unread.partition(b"\n")
        if not found and len(line) <= LONGEST_LINE:
            return None
        if len(line) > LONGEST_LINE:
            raise ProgramError(f"wrote a line of more than {LONGEST_LINE} bytes")
        self._unread = rest
        try:
            return line.decode("utf-8-sig")  # some runtimes begin with a byte order mark
        except UnicodeDecodeError:
            raise ProgramError(f"wrote {shown(bytes(line))}, which is no UTF-8") from None

    def _turn(self, outgoing: bytes | memoryview, seconds: float) -> int:
        """Wait until something can be read or written, and do so; how much was written."""
        poll = select.poll()
        for pipe in self._open:
            poll.register(pipe, select.POLLIN)
        if outgoing:
            poll.register(self._input, select.POLLOUT)
        written = 0
        for pipe, _ in poll.poll(math.ceil(1000 * seconds)):
            if pipe != self._input:
                self._read(pipe)
                continue
            try:
                written = os.write(pipe, outgoing)
            except BlockingIOError:
                pass
            except OSError:  # a broken pipe: nobody reads any more
                self._deaf = True
        return written

    def _read(self, pipe: int) -> None:
        try:
            data = os.read(pipe, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._open.discard(pipe)
        elif pipe == self._output:
            self._unread += data
        else:
            self._log += data
            del self._log[:-KEPT_LOG]

    def _ending(self) -> str:
        """Why nothing more can come; waits a moment to learn the exit code and the last words."""
        self._wait_for_end(_PATIENCE)
        code = self._process.poll()
        if code is None:
            return f"closed its standard {'input' if self._deaf else 'output'}"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"was ended by signal {-code} ({signal.Signals(-code).name})"
            return f"was ended by signal {-code}"
        return f"ended with exit code {code}"

    def _wait_for_end(self, seconds: float) -> bool:
        """Wait for the process to end while reading what it still writes; whether it did."""
        end = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < end:
            self._turn(b"", min(0.02, seconds))
            if not self._open:
                time.sleep(0.005)
            del self._unread[: -2 * LONGEST_LINE]  # it could write without end
        # What stands in the pipe; not to its end, which a process left behind might hold open.
        for _ in range(2 * KEPT_LOG // _CHUNK):
            self._turn(b"", 0)
        return self._process.poll() is not None

    def log(self) -> str:
        """The last it has written to standard error since `clear_log`."""
        if not self._closed:
            self._turn(b"", 0)
        return self._log.decode("utf-8", "replace")

    def clear_log(self) -> None:
        """Forget what it has written to standard error so far."""
        self.log()
        self._log.clear()

    def close(self, at_once: bool = False) -> None:
        """End the program.

        Args:
            at_once: do not ask it to quit. Else the program is given a moment to end by itself
                before it is told to, and another before it is made to.
        """
        if self._closed:
            return
        _running.discard(self)
        if self._owner == os.getpid():
            self._end(at_once)
            _replace_group(self._process.pid, 0)
        self._closed = True
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def ask_to_quit(self) -> None:
        """Tell the program to end, without waiting for it; `close` is still to be called."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.closed and self._owner == os.getpid():
            with contextlib.suppress(OSError):
                os.write(self._input, self._quit_line)
            stdin.close()

    def _end(self, at_once: bool) -> None:
        if not at_once:
            self.ask_to_quit()
            if self._wait_for_end(_PATIENCE):
                return
            self._signal(signal.SIGTERM)
            if self._wait_for_end(_PATIENCE):
                return
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._wait_for_end(0)

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:  # else the number might be another process's by now
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, number)


def _close_all() -> None:
    for program in list(_running):
        program.ask_to_quit()  # all at once, so that they need not wait for each other
    for program in list(_running):
        program.close()


_registered_in: int | None = None


def _close_all_at_exit() -> None:
    # Worker processes of multiprocessing do not run what is registered with atexit.
    from multiprocessing.util import Finalize

    global _registered_in
    if _registered_in != os.getpid():
        _registered_in = os.getpid()
        Finalize(None, _close_all, exitpriority=0)
