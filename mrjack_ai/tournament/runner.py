"""Run a tournament: in this process or in several, resumable, results written as they come."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from mrjack_ai.agents import Agent, agent_class, register_agent
from mrjack_ai.record import GameRecord
from mrjack_ai.tournament.schedule import Game, Settings, TournamentError, play_batch
from mrjack_ai.variant import Variant

_LEAST_BEGUN = len('{"tournament"')
"""A shorter beginning of a first line could be anybody's file."""

BATCH = 8
"""Games a worker process is handed at a time."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Results:
    """The games of a tournament so far, in the order of the schedule.

    Attributes:
        settings: what was to be played.
        records: the games that were.
        complete: True when all of them were.
    """

    settings: Settings
    records: tuple[GameRecord, ...]

    @property
    def complete(self) -> bool:
        """True when every game of the schedule was played."""
        return len(self.records) == self.settings.total_games


def run_tournament(
    settings: Settings,
    workers: int = 1,
    out: str | Path | None = None,
    progress: Progress | None = None,
    allow_cheats: bool = False,
) -> Results:
    """Play a tournament.

    The games are the same whatever the number of workers. With `out`, each game is appended as
    one JSON line behind a line with the settings; a file of the same settings that is not
    complete is carried on.

    Args:
        settings: what to play.
        workers: number of processes; 1 plays in this one.
        out: results file, or None to keep nothing.
        progress: called with games played and games in all.
        allow_cheats: let agents play that look at the true state.

    Returns:
        The results; incomplete when interrupted by Ctrl-C.

    Raises:
        TournamentError: when the file belongs to another tournament, is damaged or cannot be
            written, or a worker process died; games already written stay.
        AgentError: when an agent breaks its contract.
    """
    if workers < 1:
        raise TournamentError(f"workers {workers} must be at least 1")
    settings.check_agents(allow_cheats)
    records: list[GameRecord] = []
    report = progress or (lambda played, games: None)
    store = None if out is None else _ResultsFile(Path(out), settings)
    try:
        if store is not None:
            records += store.open()
        report(len(records), settings.total_games)
        todo = islice(settings.schedule(), len(records), None)
        played = (
            _play_here(settings, todo) if workers == 1 else _play_apart(settings, todo, workers)
        )
        for record in played:
            records.append(record)
            if store is not None:
                store.append(record)
            report(len(records), settings.total_games)
    except KeyboardInterrupt:
        pass  # what was played is in `records`, and in the file
    finally:
        if store is not None:
            store.close()
    return Results(settings, tuple(records))


def _play_here(settings: Settings, games: Iterable[Game]) -> Iterator[GameRecord]:
    for game in games:
        yield game.play(settings)


def _start_worker(agents: dict[str, type[Agent]]) -> None:
    # Ctrl-C reaches every process of the terminal; only the coordinator acts on it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name, agent in agents.items():
        register_agent(name, agent)


def _play_apart(settings: Settings, games: Iterator[Game], workers: int) -> Iterator[GameRecord]:
    """Games played by worker processes, handed back in the order of the schedule."""
    context = multiprocessing.get_context("spawn")
    names = {spec.partition(":")[0].strip() for spec in settings.agents}
    agents = {name: agent_class(name) for name in names}
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start_worker, initargs=(agents,)
    )
    waiting: deque[Future[list[GameRecord]]] = deque()
    try:
        while True:
            while len(waiting) < 3 * workers and (batch := list(islice(games, BATCH))):
                waiting.append(pool.submit(play_batch, settings, batch))
            if not waiting:
                break
            yield from waiting.popleft().result()
    except BrokenProcessPool:
        raise TournamentError(
            "a worker process died; the games played so far are kept. If it happens again: agents "
            "of your own must be importable, and a script that calls run_tournament with workers "
            "must do so under `if __name__ == '__main__':`"
        ) from None
    finally:
        for future in waiting:
            future.cancel()
        pool.shutdown(wait=True, cancel_futures=True)


class _ResultsFile:
    """A results file: one line of settings, then one line a game."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self.settings = settings
        self._file: TextIO | None = None

    def open(self) -> list[GameRecord]:
        """Open for appending; returns the games that are already there."""
        try:
            head = json.dumps(self.settings.to_dict())
            found = self.path.read_bytes() if self.path.exists() else b""
            # A file that ends within its first line is as good as none.
            begun = len(found) >= _LEAST_BEGUN and head.encode().startswith(found)
            if found and not begun:
                lines, end = _whole_lines(self.path, found)
                _differences(self.path, _read_head(self.path, lines), self.settings)
                records = _read_games(self.path, lines, self.settings)
                self._file = self.path.open("r+", encoding="utf-8")
                # A process killed while writing leaves part of a line: play that game again.
                self._file.truncate(end)
                self._file.seek(0, os.SEEK_END)
                return records
            self._file = self.path.open("w", encoding="utf-8")
            self._write(head)
            return []
        except OSError as error:
            raise TournamentError(f"cannot write results to {str(self.path)!r}: {error}") from None

    def append(self, record: GameRecord) -> None:
        self._write(json.dumps(record.to_dict()))

    def _write(self, line: str) -> None:
        assert self._file is not None
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise TournamentError(
                f"cannot write results to {str(self.path)!r}: {error}; the games before are kept"
            ) from None

    def close(self) -> None:
        if self._file is not None:
            # What could not be written was reported when it was written.
            with contextlib.suppress(OSError):
                self._file.close()


def _whole_lines(path: Path, data: bytes) -> tuple[list[str], int]:
    """The lines of a file's content that end in a line break, and their length in bytes."""
    end = data.rfind(b"\n") + 1
    try:
        return data[:end].decode("utf-8").splitlines(), end
    except UnicodeDecodeError as error:
        raise TournamentError(f"{str(path)!r} is no results file: {error}") from None


def _differences(path: Path, head: dict[str, Any], settings: Settings) -> None:
    ours = settings.to_dict()
    differing = [name for name in {**ours, **head} if ours.get(name) != head.get(name)]
    if differing:
        raise TournamentError(
            f"{str(path)!r} holds another tournament ({', '.join(differing)} differ); "
            "give another --out, or remove that file"
        )


def _read_games(path: Path, lines: list[str], settings: Settings) -> list[GameRecord]:
    """The games of a results file, each checked against the schedule and the rules."""
    if len(lines) - 1 > settings.total_games:
        raise TournamentError(f"{str(path)!r} holds more games than the tournament has")
    records = []
    games = zip(lines[1:], settings.schedule(), strict=False)
    for number, (line, game) in enumerate(games, start=2):
        try:
            record = GameRecord.from_dict(json.loads(line))
            game.check(settings, record)
        except (ValueError, RecursionError) as error:
            raise TournamentError(
                f"{str(path)!r}, line {number}: {error}; nothing was changed; "
                "remove the lines from there on to play those games again"
            ) from None
        records.append(record)
    return records


def _read_head(path: Path, lines: list[str]) -> dict[str, Any]:
    try:
        head = json.loads(lines[0]) if lines else None
    except (ValueError, RecursionError) as error:
        raise _no_results(path, str(error)) from None
    if not isinstance(head, dict) or "tournament" not in head:
        raise _no_results(path, "its first line holds no settings")
    return head


def _no_results(path: Path, why: str) -> TournamentError:
    return TournamentError(
        f"{str(path)!r} is no results file of a tournament ({why}); give another --out"
    )


def load_results(path: str | Path) -> Results:
    """Read a results file.

    Raises:
        TournamentError: when it cannot be read, is none, or is damaged, naming the line.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TournamentError(f"cannot read {str(path)!r}: {error}") from None
    lines, _ = _whole_lines(path, data)
    head = _read_head(path, lines)
    try:
        settings = Settings(
            agents=tuple(head["agents"]),
            games=head["games"],
            seed=head["seed"],
            variant=Variant.from_dict(head),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise _no_results(path, str(error)) from None
    _differences(path, head, settings)
    return Results(settings, tuple(_read_games(path, lines, settings)))
