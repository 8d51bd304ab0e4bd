"""Run a tournament: in this process or elsewhere, resumable, results written as they come."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import overload

from mrjack_ai.errors import AgentError, TournamentError
from mrjack_ai.game.record import GameRecord, read_records
from mrjack_ai.stats.sprt import SprtStatus
from mrjack_ai.tournament.contents import is_results_file
from mrjack_ai.tournament.outcomes import Outcomes
from mrjack_ai.tournament.schedule import GameResult, Settings, forfeit_text
from mrjack_ai.tournament.store import (
    ResultsReader,
    ResultsWriter,
    stored_settings,
)
from mrjack_ai.tournament.workers import WorkerPool, load_all, play_on_executor

Progress = Callable[[int, int], None]


class StoredRecords(Sequence[GameRecord]):
    """The records in a results file, in the order of the schedule; read whenever asked for.

    So a tournament may have more games than fit into memory. What another run adds to the file
    later on does not show.

    Args:
        path: the results file.
        count: number of games in it.
    """

    def __init__(self, path: str | Path, count: int) -> None:
        self._path = Path(path).absolute()  # whatever the working directory is when it is read
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[GameRecord]:
        """The records one by one.

        Raises:
            TournamentError: at the first game that is damaged.
        """
        with ResultsReader(self._path) as reader:
            yield from islice(reader.records(), self._count)

    @overload
    def __getitem__(self, index: int) -> GameRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[GameRecord, ...]: ...
    def __getitem__(self, index: int | slice) -> GameRecord | tuple[GameRecord, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        place = range(self._count)[index]  # raises when there is none
        return next(islice(self, place, None))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (StoredRecords, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._count} records in {str(self._path)!r}>"


@dataclass(frozen=True)
class Results:
    """The games of a tournament so far, in the order of the schedule.

    Attributes:
        settings: what was to be played.
        records: the games that were; read from the results file, if there is one, whenever they
            are asked for.
    """

    settings: Settings
    records: Sequence[GameRecord]

    @property
    def complete(self) -> bool:
        """True when every game was played that was to be: all, or until the test was decided."""
        played = len(self.records) == self.settings.total_games
        return played or (self.sprt is not None and self.sprt.decided)

    @cached_property
    def sprt(self) -> SprtStatus | None:
        """Where the sequential test of the match stands; None when there is none."""
        if self.settings.sprt is None:
            return None
        return Outcomes.of_records(self.settings, self.records).sprt_status()


class _Memory:
    """Keeps results where no file is wanted."""

    def __init__(self, settings: Settings) -> None:
        self.outcomes = Outcomes(settings)
        self._settings = settings
        self._results: list[GameResult] = []

    def add(self, results: Sequence[GameResult]) -> None:
        self._results += results
        self.outcomes.add(results)
        stop = self.outcomes.stop
        if stop is not None:
            self._results = [result for result in self._results if result.number < stop]

    def records(self) -> tuple[GameRecord, ...]:
        return tuple(result.record(self._settings) for result in sorted(self._results))

    def close(self) -> None:
        pass


def run_tournament(
    settings: Settings,
    workers: int = 1,
    out: str | Path | None = None,
    progress: Progress | None = None,
    allow_cheats: bool = False,
    strict: bool = False,
    executor: Executor | None = None,
    watch: Callable[[Outcomes], None] | None = None,
) -> Results:
    """Play a tournament.

    The set of games is the same whatever the number of workers, and on any executor. Games of
    agents from outside follow from the seed and a key: a random one, unless the settings or the
    file `out` have one; it is in the settings returned (see `Settings`). With `out`,
    each game is written to an SQLite file as soon as it is over; a file of the same settings that
    is not complete is carried on.

    An agent that raises an exception, returns an illegal action or exceeds the time limit forfeits
    that game, and the tournament goes on. One that never returns can only be stopped in worker
    processes (`workers` of 2 or more): its process is killed some seconds after the limit. A
    worker process that dies is replaced and its game played again; after three deaths the game is
    forfeited by the agent at work.

    A match with a sequential test (`Settings.sprt`) ends with the pair that decides it, in the
    order of the schedule; games beyond it that were in flight, or over already, are not kept.

    Args:
        settings: what to play.
        workers: number of processes; 1 plays in this one. With an executor, how many batches of
            games it works on at a time; the number of its workers, if known, when 1.
        out: results file, or None to keep the games in memory.
        progress: called with games played and games in all.
        allow_cheats: let agents play that look at the true state.
        strict: stop at the first forfeit instead; that game is not kept.
        executor: where to play, for instance a `concurrent.futures.ProcessPoolExecutor`, or what
            `connect_cluster` yields; it stays open. Agents of your own must be importable there.
        watch: called with who won which game so far, always the same object: before the first
            game, and whenever some were played.

    Returns:
        The results; incomplete when interrupted by Ctrl-C.

    Raises:
        TournamentError: when the file belongs to another tournament, is damaged, is in use or
            cannot be written, or workers cannot be started; games already written stay.
        AgentError: when a specification is wrong; with `strict`, for a forfeit.
    """
    if workers < 1:
        raise TournamentError(f"workers {workers} must be at least 1")
    cheats = settings.check_agents(allow_cheats)
    settings = _with_key(settings, out)
    load_all(settings.agents)  # compiles, if need be, before any worker starts
    report = progress or (lambda played, games: None)
    known: int | None = workers
    if executor is not None and workers == 1:
        known = getattr(executor, "_max_workers", None)
        workers = known or os.cpu_count() or 1
    keep = _Memory(settings) if out is None else ResultsWriter(out, settings, known)
    outcomes = keep.outcomes
    done = outcomes.count
    with contextlib.closing(keep), contextlib.suppress(KeyboardInterrupt):
        report(done, settings.total_games)
        if watch is not None:
            watch(outcomes)
        todo = outcomes.missing()
        workers = min(workers, max(1, settings.total_games - done))
        with contextlib.closing(_play(settings, todo, workers, executor, cheats)) as games:
            for results in games:
                whole = [result for result in results if result.forfeit_by is None or not strict]
                keep.add(whole)
                for _ in whole:
                    done += 1
                    report(done, settings.total_games)
                if watch is not None:
                    watch(outcomes)
                if outcomes.stop is not None:
                    break
                if len(whole) < len(results):
                    raise _refused(settings, results)
    if isinstance(keep, ResultsWriter):
        return Results(settings, StoredRecords(keep.path, outcomes.count))
    return Results(settings, keep.records())


def _with_key(settings: Settings, out: str | Path | None) -> Settings:
    """The settings with the key of the results file there is, or a new one where one is needed."""
    if settings.key is not None:
        return settings
    if out is not None and is_results_file(out) and (kept := stored_settings(out)) is not None:
        if kept.get("key") is None and settings.needs_key:
            raise TournamentError(
                f"{str(out)!r} has no key, so an agent from outside could compute its deals; give "
                "another --out"
            )
        return replace(settings, key=kept.get("key"))
    return settings.with_key() if settings.needs_key else settings


def _refused(settings: Settings, results: Sequence[GameResult]) -> AgentError:
    broken = next(result for result in results if result.forfeit_by is not None)
    error = AgentError(
        f"game {broken.number + 1}: {forfeit_text(broken.record(settings))}; "
        "the games before are kept"
    )
    if broken.forfeit_traceback:
        error.add_note(broken.forfeit_traceback)
    return error


def _play(
    settings: Settings,
    numbers: Iterator[int],
    workers: int,
    executor: Executor | None,
    cheats: frozenset[int],
) -> Generator[list[GameResult], None, None]:
    """Results of some games of the schedule as they come."""
    if executor is not None:
        yield from play_on_executor(settings, numbers, executor, workers, cheats)
    elif workers == 1:
        for number in numbers:
            yield [settings.game(number).result(settings, cheats=cheats)]
    else:
        with contextlib.closing(WorkerPool(settings, workers, cheats)) as pool:
            yield from pool.play(numbers)


def load_results(path: str | Path) -> Results:
    """Read a results file.

    Raises:
        TournamentError: when it cannot be read, is none, or a game in it is damaged.
    """
    with ResultsReader(path) as reader:
        count = sum(1 for _ in reader.results())
        return Results(reader.settings, StoredRecords(path, count))


def read_game(path: str | Path, number: int | None = None) -> GameRecord:
    """One game of a results file, or of a file of records (see `record.read_records`).

    Args:
        path: the file.
        number: from 1, of a results file in the schedule, as everywhere, and so also of a file
            that lacks some; else the place in the file. By default the first game there is.

    Raises:
        TournamentError, RecordError: when it cannot be read, holds no such game, or it is damaged.
    """
    if number is None:
        return read_games(path)[0]
    if is_results_file(path):
        with ResultsReader(path) as reader:
            return reader.result(number - 1).record(reader.settings)
    records = read_records(path)
    if not 1 <= number <= len(records):
        raise TournamentError(
            f"{str(path)!r} has no game {number}; games are counted from 1 to {len(records)}"
        )
    return records[number - 1]


def read_games(path: str | Path) -> Sequence[GameRecord]:
    """The game records of a results file, or of a file of records (see `record.read_records`).

    Raises:
        TournamentError, RecordError: when it cannot be read or a record is damaged.
    """
    if not is_results_file(path):
        return read_records(path)
    records = load_results(path).records
    if not records:
        raise TournamentError(f"{path}: holds no game yet")
    return records
