"""Games played on a Dask cluster: the workers play, this process alone writes the results."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mrjack_ai
from mrjack_ai.engine.compile import source_hash
from mrjack_ai.errors import TournamentError
from mrjack_ai.version import RULES_VERSION, __version__

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10.0
"""How long a scheduler may take to answer, and then a first worker to be there."""
_CONNECT_TRIES = 3


class ClusterExecutor(Executor):
    """The workers of a Dask cluster as an executor; what is lost with a worker is run again.

    Args:
        client: a connected client.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._max_workers = sum(client.nthreads().values())

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run a function on some worker."""
        ours: Future[Any] = Future()
        # Not pure: a batch of games that is asked for again may end elsewhere.
        theirs = self._client.submit(function, *arguments, **named, pure=False)
        theirs.add_done_callback(lambda done: _answer(ours, done))
        ours.add_done_callback(lambda done: theirs.cancel() if done.cancelled() else None)
        return ours


def _answer(ours: Future[Any], theirs: Any) -> None:
    with contextlib.suppress(InvalidStateError):  # cancelled meanwhile
        if theirs.status == "finished":
            ours.set_result(theirs.result())
        elif theirs.status == "error":
            ours.set_exception(_explained(theirs.exception()))
        else:
            ours.set_exception(BrokenExecutor("its scheduler is gone, or has dropped our games"))


def _explained(error: BaseException) -> BaseException:
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return BrokenExecutor(
            "worker processes died of the same games again and again; with --workers in place of "
            "--cluster the agent at fault is found and forfeits"
        )
    cause: BaseException | None = error
    while cause is not None:  # Dask wraps what goes wrong while a task is unpickled
        if isinstance(cause, ModuleNotFoundError):
            return BrokenExecutor(f"a worker of the cluster says: {cause}")
        cause = cause.__cause__
    return error


def _software() -> tuple[str, int, str]:
    return __version__, RULES_VERSION, f"{source_hash()}-{_package_hash()}"


def _package_hash(package: Path = Path(mrjack_ai.__file__).parent) -> str:
    """Hash of everything that agents and games are made of."""
    digest = hashlib.sha256()
    for pattern in ("**/*.py", "search/data/*", "setup/boards/*"):
        for path in sorted(package.glob(pattern)):
            if path.is_file():
                digest.update(str(path.relative_to(package)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def connect_cluster(address: str) -> Iterator[ClusterExecutor]:
    """Connect to the scheduler of a Dask cluster.

    Args:
        address: where it is, such as `tcp://192.168.0.5:8786`.

    Yields:
        The cluster as an executor for `run_tournament`.

    Raises:
        TournamentError: when the library `distributed` is missing, no scheduler answers in time,
            there are no workers, or they run other software than this process.
    """
    try:
        import distributed
    except ImportError:
        raise TournamentError(
            "a cluster needs the library distributed; pip install distributed, or install "
            "mrjack_ai with its extra, as mrjack_ai[distributed]"
        ) from None
    _check_answer(address)
    client = _connect(distributed, address)
    with _quiet(), client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise TournamentError(
                f"the cluster at {address!r} has no workers; start some there, with dask worker "
                f"{address}"
            ) from None
        _check_software(client)
        with ClusterExecutor(client) as executor:
            yield executor


def _connect(distributed: Any, address: str) -> Any:
    """A client of the scheduler, by the library given."""
    for _ in range(_CONNECT_TRIES):
        try:
            return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, distributed.comm.CommClosedError) as error:
            raise TournamentError(f"no Dask scheduler at {address!r}: {error}") from None
        except AssertionError:
            pass  # as a client does (2026.8) when a worker comes or goes while it connects
    raise TournamentError(
        f"the cluster at {address!r} is busy with workers that come and go; try again"
    )


def _check_answer(address: str) -> None:
    """Try the address by hand.

    A Dask client that fails to connect leaves tracebacks behind, and one whose partner speaks
    another language waits for ever.
    """
    parts = re.fullmatch(r"(\w+)://\[?([^/\]]+?)\]?:(\d{1,5})", address)
    if parts is None:
        raise TournamentError(f"--cluster {address!r} must read tcp://HOST:PORT")
    if parts[1] not in ("tcp", "tls"):
        return
    until = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            place = (parts[2], int(parts[3]))
            with socket.create_connection(place, timeout=CONNECT_SECONDS) as connection:
                # A scheduler speaks first: the number of parts of its message, in 8 bytes.
                if parts[1] == "tcp" and not 0 < _first_number(connection) < 100:
                    raise OSError("something else answers there")
            return
        except (OSError, OverflowError, UnicodeError) as error:
            if time.monotonic() > until or not isinstance(error, ConnectionRefusedError):
                raise TournamentError(
                    f"no Dask scheduler at {address!r} ({error}); start one there, with dask "
                    "scheduler, or check the address"
                ) from None
        time.sleep(0.2)  # it may just be starting


def _first_number(connection: socket.socket) -> int:
    until = time.monotonic() + CONNECT_SECONDS
    start = b""
    while len(start) < 8:
        connection.settimeout(max(until - time.monotonic(), 0.001))
        if not (part := connection.recv(8 - len(start))):
            break
        start += part
    return int.from_bytes(start, "little")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """When the scheduler dies we say so; the tracebacks of the client help nobody."""
    loggers = [logging.getLogger(f"distributed.{name}") for name in ("client", "utils")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _check_software(client: Client) -> None:
    """Every worker must play the same games as this process would."""
    ours = _software()
    try:
        found = client.run(_software)
    except Exception as error:
        raise TournamentError(
            f"a worker of the cluster cannot use mrjack_ai ({error}); install the same version "
            "there as here"
        ) from None
    for worker, theirs in found.items():
        if theirs != ours:
            raise TournamentError(
                f"worker {worker} has mrjack_ai {theirs[0]}, rules {theirs[1]}, sources "
                f"{theirs[2]}; here are {ours[0]}, {ours[1]}, {ours[2]}; install the same version "
                "of mrjack_ai, Python and numba there as here"
            )
