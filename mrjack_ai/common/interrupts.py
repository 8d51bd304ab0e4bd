"""Long work that Ctrl-C and SIGTERM can end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")

_SECONDS_BETWEEN_LOOKS = 0.1


def interruptible(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function that may stay in compiled code for long, so that Ctrl-C is seen meanwhile.

    It runs on a thread of its own; after an interrupt that thread is left behind, and ends with
    the process.

    Raises:
        KeyboardInterrupt: when interrupted.
        BaseException: whatever the function raises.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function(*arguments))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_SECONDS_BETWEEN_LOOKS)
    if errors:
        raise errors[0]
    return results[0]


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[None]:
    """While the block runs, Ctrl-C waits; processes started in it never see one.

    Ctrl-C reaches every process of a terminal, and a new process keeps what is blocked here from
    its first moment on. So whoever starts workers is the only one to be interrupted.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Termination:
    """Whether SIGTERM was what interrupted."""

    def __init__(self) -> None:
        self.seen = False


@contextlib.contextmanager
def termination_as_interrupt() -> Iterator[Termination]:
    """While the block runs, SIGTERM interrupts as Ctrl-C does.

    Without effect on other threads than the main one, where signals cannot be handled.
    """
    termination = Termination()
    if threading.current_thread() is not threading.main_thread():
        yield termination
        return

    def interrupt(number: int, frame: object) -> None:
        termination.seen = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield termination
    finally:
        signal.signal(signal.SIGTERM, before)
