"""Games played elsewhere: by worker processes of our own, or by any executor.

Worker processes of our own are watched. Each keeps a few numbers in memory shared with the
coordinator - which game it plays, whom it has asked for a decision and when, and the actions so
far - so that the game of a process that died or hangs is known to the last action.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from multiprocessing import connection as pipes
from multiprocessing.context import SpawnProcess
from typing import Any

from mrjack_ai.agents import Agent, CommandAgent, agent_class, make_agent, register_agent
from mrjack_ai.agents.code_files import CodeFile, load_sent
from mrjack_ai.agents.plugins import code_of, names_in_code
from mrjack_ai.agents.program import end_groups, report_groups_to
from mrjack_ai.agents.registry import parse_agent
from mrjack_ai.common.interrupts import interrupts_held_back
from mrjack_ai.engine.warmup import ENGINE
from mrjack_ai.errors import AgentError, TournamentError
from mrjack_ai.game.state import new_game
from mrjack_ai.tournament.match import CHANCE, CRASH, TIME, Forfeit
from mrjack_ai.tournament.schedule import GameResult, Settings

BATCH_SECONDS = 0.1
"""How much work a worker is handed at a time, once the length of a game is known."""

GATHER_SECONDS = 0.02
"""The coordinator takes results of worker processes together when they come faster than this."""

HANG_SECONDS = 5.0
"""A worker is killed when a decision takes twice the limit and these seconds."""

MOST_DEATHS = 3
"""So many worker processes may die of one game before it is forfeited."""

_MOST_GAMES, _MOST_ACTIONS, _MOST_PROGRAMS = 256, 1024, 64
_STOP_SECONDS = 3.0
"""Workers with nothing left to do are given this long to end their programs."""
_IMPORTABLE = (
    "agents of your own must be importable, and a script that calls run_tournament with workers "
    "must do so under `if __name__ == '__main__':`"
)

Numbers = Iterator[int]


@dataclass(frozen=True)
class Players:
    """The agents a process has to know.

    Attributes:
        code: code files to be loaded there, as they were when they were loaded here.
        agents: classes of the agents that are in none of them, by name.
        cheats: indices of the agents that are shown the true state.
    """

    code: tuple[CodeFile, ...]
    agents: dict[str, type[Agent]]
    cheats: frozenset[int]


def players_of(settings: Settings, cheats: frozenset[int] = frozenset()) -> Players:
    """The agents that play a tournament; `cheats` as `Settings.check_agents` returns it."""
    names = {parse_agent(spec)[0] for spec in settings.agents}
    others = names - names_in_code()
    classes = {name: agent_class(name) for name in sorted(others)}
    return Players(code_of(names), classes, cheats)


def _prepare(settings: Settings, players: Players) -> None:
    load_sent(players.code)
    for name, agent in players.agents.items():
        # A worker of a cluster may have played for an earlier run, with another class.
        register_agent(name, agent, replace=True)
    load_all(settings.agents)


@lru_cache(maxsize=16)
def load_all(agents: tuple[str, ...]) -> None:
    """Load what takes time, so that no first decision counts as thinking.

    What is not compiled yet is compiled: only what these agents need.
    """
    ENGINE.load()
    for spec in agents:
        agent_class(parse_agent(spec)[0]).load()


# -- any executor -------------------------------------------------------------------------


def play_batch(settings: Settings, numbers: Sequence[int], players: Players) -> list[GameResult]:
    """Play some games of the schedule, in order, for as long as a batch may take.

    This is what executors run. Games that it does not come to are missing from the answer.
    """
    _prepare(settings, players)
    _check_programs(settings.agents)
    results: list[GameResult] = []
    started = time.perf_counter()
    for number in numbers:
        if results and time.perf_counter() - started > 2 * BATCH_SECONDS:
            break
        results.append(settings.game(number).result(settings, cheats=players.cheats))
    return results


@lru_cache(maxsize=16)
def _check_programs(agents: tuple[str, ...]) -> None:
    """Else each of their games would be forfeited, because of the machine it happens to be on."""
    for spec in agents:
        if agent_class(parse_agent(spec)[0]) is CommandAgent:
            try:
                make_agent(spec)
            except AgentError as error:
                raise TournamentError(
                    f"a worker says: {error}; the program must be there under the same path as here"
                ) from None


class _Pace:
    """How many games a batch should have."""

    def __init__(self) -> None:
        self._mean: float | None = None

    def saw(self, results: Sequence[GameResult]) -> None:
        for result in results:
            mean = result.seconds if self._mean is None else self._mean
            self._mean = 0.9 * mean + 0.1 * result.seconds

    def games(self) -> int:
        if self._mean is None:
            return 1
        return min(max(1, int(BATCH_SECONDS / max(self._mean, 1e-9))), _MOST_GAMES)


def play_on_executor(
    settings: Settings,
    numbers: Numbers,
    executor: Executor,
    workers: int,
    cheats: frozenset[int] = frozenset(),
) -> Generator[list[GameResult], None, None]:
    """Play games on an executor.

    Args:
        settings: the tournament.
        numbers: which games of the schedule.
        executor: where to play them.
        workers: how many batches it works on at a time.
        cheats: indices of the agents that are shown the true state.

    Yields:
        Results as they come, in any order.

    Raises:
        TournamentError: when the executor breaks.
    """
    players = players_of(settings, cheats)
    pace = _Pace()
    again: deque[int] = deque()
    pending: dict[Future[list[GameResult]], list[int]] = {}
    try:
        while True:
            while len(pending) < 2 * workers and (batch := _take(again, numbers, pace.games())):
                pending[executor.submit(play_batch, settings, batch, players)] = batch
            if not pending:
                return
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                results = future.result()
                again.extend(pending.pop(future)[len(results) :])
                pace.saw(results)
                yield results
    except BrokenExecutor as error:
        raise TournamentError(
            f"the executor broke ({error}); the games played so far are kept. If it happens "
            f"again: {_IMPORTABLE}"
        ) from None
    finally:
        for future in pending:
            future.cancel()


def _take(again: deque[int], numbers: Numbers, count: int) -> list[int]:
    batch = [again.popleft() for _ in range(min(count, len(again)))]
    return batch or list(islice(numbers, count))


# -- worker processes ---------------------------------------------------------------------


class _Shared:
    """What a worker process lets the coordinator know at any moment; a `match.Watch`."""

    def __init__(self, context: Any) -> None:
        self._now = context.RawArray("d", 4)  # game, player asked, since when, number of actions
        self._actions = context.RawArray("i", _MOST_ACTIONS)
        self.programs = context.RawArray("l", _MOST_PROGRAMS)
        """Process groups of the programs that play in this process."""
        self.begin(-1)

    def begin(self, number: int) -> None:
        """A game begins; -1 when none is played."""
        self._now[:] = (number, -1, 0.0, 0)

    def asked(self, player: int, timed: bool) -> None:
        self._now[2] = time.monotonic() if timed else math.inf
        self._now[1] = player

    def answered(self) -> None:
        self._now[1] = -1

    def played(self, action: int) -> None:
        count = int(self._now[3])
        if count < _MOST_ACTIONS:
            self._actions[count] = action
            self._now[3] = count + 1

    @property
    def number(self) -> int:
        """The game being played, or -1."""
        return int(self._now[0])

    @property
    def player(self) -> int:
        """Whose agent was asked and has not answered, or -1."""
        return int(self._now[1])

    @property
    def since(self) -> float:
        """When it was asked, by `time.monotonic`; infinite when that is not timed."""
        return float(self._now[2])

    def forfeited(self, settings: Settings, kind: str, message: str) -> GameResult:
        """The game being played, when it ends by a forfeit of whoever was asked."""
        state = new_game(settings.variant)
        game = settings.game(self.number)
        deal = game.make_deal(settings)
        for action in self._actions[: int(self._now[3])]:
            state.apply_action(deal.outcome(state) if action == CHANCE else int(action))
        # Times were measured in the process that is gone; the last decision is what is known.
        seconds = max(0.0, time.monotonic() - self.since)
        player = self.player
        return game.finished(
            state,
            Forfeit(player, kind, message),
            seconds,
            thinking=(seconds, 0.0) if player == 0 else (0.0, seconds),
            decisions=(1, 0) if player == 0 else (0, 1),
        )


def _work(pipe: pipes.Connection, shared: _Shared, settings: Settings, players: Players) -> None:
    """What a worker process does: play the games it is sent, until told to stop."""
    # Else agents find the settings, from which the deals follow, in a global of `multiprocessing`.
    multiprocessing.current_process().__dict__["_args"] = ()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_the_coordinator, args=(shared,), daemon=True).start()
    report_groups_to(shared.programs)
    try:
        _prepare(settings, players)
        pipe.send(None)  # ready
        while (numbers := pipe.recv()) is not None:
            for number in numbers:
                shared.begin(number)
                result = settings.game(number).result(settings, shared, players.cheats)
                shared.begin(-1)
                pipe.send(result)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except Exception:  # not of an agent, whose exceptions end its game only: tell, and stop
        pipe.send(traceback.format_exc())


def _die_with_the_coordinator(shared: _Shared) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        pipes.wait([parent.sentinel])
        end_groups(shared.programs)
        os._exit(1)


class _Worker:
    """A worker process, seen from the coordinator."""

    def __init__(self, settings: Settings, players: Players) -> None:
        context = multiprocessing.get_context("spawn")
        self.shared = _Shared(context)
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_work, args=(theirs, self.shared, settings, players)
        )
        with interrupts_held_back():
            self.process.start()
        theirs.close()
        self.ready = False
        self.games: deque[int] = deque()
        """The games it was sent and has not reported, in order."""

    def send(self, numbers: list[int]) -> None:
        self.games.extend(numbers)
        with contextlib.suppress(OSError):  # it is dead, which shows when it is asked for results
            self.pipe.send(numbers)

    def ask_to_stop(self) -> bool:
        """Let a process without games end by itself, and its programs; False when it has some."""
        if not self.ready or self.games:
            return False
        with contextlib.suppress(OSError):
            self.pipe.send(None)
        return True

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        end_groups(self.shared.programs)
        self.pipe.close()


class WorkerPool:
    """Worker processes that play games; one that dies or hangs is replaced.

    A game during which its process dies is played again; after `MOST_DEATHS` times it is forfeited
    by the player whose agent was at work. With a time limit, a decision that takes
    twice the limit and `HANG_SECONDS` costs the process its life and the player the game.

    Args:
        settings: the tournament.
        workers: number of processes.
        cheats: indices of the agents that are shown the true state.

    Raises:
        TournamentError: when an agent cannot be given to them.
    """

    def __init__(
        self, settings: Settings, workers: int, cheats: frozenset[int] = frozenset()
    ) -> None:
        self.settings = settings
        self._players = players_of(settings, cheats)
        for name, agent in self._players.agents.items():
            try:
                pickle.dumps(agent)
            except (pickle.PicklingError, AttributeError) as error:
                raise TournamentError(
                    f"agent {name!r} cannot be given to worker processes: {error}; its class must "
                    "stand at the top of a module"
                ) from None
        self._again: deque[int] = deque()
        self._deaths: Counter[int] = Counter()
        self._idle_deaths = 0
        """Processes that died outside any game, since the last result."""
        self._pace = _Pace()
        self._workers: list[_Worker] = []
        try:
            for _ in range(workers):
                self._workers.append(_Worker(settings, self._players))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all processes, and the programs that play in them."""
        idle = []
        for worker in self._workers:
            if worker.ask_to_stop():
                idle.append(worker)
            else:
                worker.process.kill()
        deadline = time.monotonic() + _STOP_SECONDS
        for worker in idle:
            worker.process.join(max(0.0, deadline - time.monotonic()))
        for worker in self._workers:
            worker.stop()
        self._workers = []

    def play(self, numbers: Numbers) -> Generator[list[GameResult], None, None]:
        """Play games.

        Args:
            numbers: which games of the schedule.

        Yields:
            Results as they come, in any order.

        Raises:
            TournamentError: when processes die before they play.
        """
        limit = self.settings.move_time_limit
        longest = None if limit is None else 2 * limit / 1000 + HANG_SECONDS
        patience = None if longest is None else min(1.0, longest / 4)
        yielded = 0.0
        while True:
            self._feed(numbers)
            busy = [worker for worker in self._workers if worker.games]
            if not busy:
                return
            by_pipe = {worker.pipe: worker for worker in self._workers if worker.games}
            results: list[GameResult] = []
            try:
                for pipe in pipes.wait(list(by_pipe), patience):
                    worker = by_pipe[pipe]  # type: ignore[index]
                    if not self._receive(worker, results):
                        self._replace_dead(worker, results)
            except TournamentError:
                yield results  # what the others have finished is not lost
                raise
            if results:
                yield results
                time.sleep(max(0.0, yielded + GATHER_SECONDS - time.monotonic()))
                yielded = time.monotonic()
            if longest is not None:
                for worker in busy:
                    if (result := self._hanging(worker, longest)) is not None:
                        yield [result]

    def _feed(self, numbers: Numbers) -> None:
        for worker in self._workers:
            size = self._pace.games()
            # Two batches each, so that it need not wait for the next; but a long game should not
            # wait for another while a worker is free.
            while len(worker.games) < (2 * size if size > 1 else 1):
                batch = _take(self._again, numbers, size)
                if not batch:
                    break
                worker.send(batch)

    def _receive(self, worker: _Worker, results: list[GameResult]) -> bool:
        """Add what a worker has reported to the results; False when it is dead."""
        before = len(results)
        try:
            while True:
                message = worker.pipe.recv()
                if isinstance(message, str):
                    error = TournamentError("a worker process failed; the games before are kept")
                    error.add_note(message)
                    raise error
                worker.ready = True
                if message is not None:
                    results.append(message)
                    worker.games.popleft()
                    self._idle_deaths = 0
                if not worker.pipe.poll():
                    return True
        except (EOFError, OSError):
            return False
        finally:
            self._pace.saw(results[before:])

    def _replace_dead(self, worker: _Worker, results: list[GameResult]) -> None:
        """Replace a worker that died; its game has a result if that was once too often."""
        worker.process.join(5)
        worker.process.kill()  # unless it has only closed its pipe
        worker.process.join()
        code = worker.process.exitcode
        number, player = worker.shared.number, worker.shared.player
        if number not in worker.games:
            self._idle_deaths += 1
            if (not worker.ready and (code or 0) > 0) or self._idle_deaths >= MOST_DEATHS:
                raise TournamentError(
                    f"a worker process died before its game began (exit code {code}); "
                    f"the games played so far are kept; {_IMPORTABLE}"
                )
        else:
            self._deaths[number] += 1
            if self._deaths[number] >= MOST_DEATHS:
                if player < 0:
                    raise TournamentError(
                        f"worker processes died {MOST_DEATHS} times of game {number + 1}, while no "
                        f"agent was at work (exit code {code}); the games played so far are kept"
                    )
                message = f"its process died {MOST_DEATHS} times during this game"
                message += f" (exit code {code})"
                results.append(worker.shared.forfeited(self.settings, CRASH, message))
                worker.games.remove(number)
        self._replace(worker)

    def _replace(self, worker: _Worker) -> None:
        self._again.extend(worker.games)
        worker.stop()
        self._workers[self._workers.index(worker)] = _Worker(self.settings, self._players)

    def _hanging(self, worker: _Worker, longest: float) -> GameResult | None:
        """The game of a worker whose agent does not return; the worker is replaced."""
        shared = worker.shared
        number, player, since = shared.number, shared.player, shared.since
        if player < 0 or number < 0 or time.monotonic() - since <= longest:
            return None
        worker.process.kill()
        worker.process.join()
        result = None
        if (shared.number, shared.player, shared.since) == (number, player, since):
            if number in worker.games:
                message = (
                    f"no decision after {time.monotonic() - since:.1f} s; the limit is "
                    f"{self.settings.move_time_limit:g} ms"
                )
                result = shared.forfeited(self.settings, TIME, message)
                worker.games.remove(number)
        self._replace(worker)
        return result
