"""One game between two agents: played to the end, or until one of them breaks its contract."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mrjack_ai.agents.base import Agent
from mrjack_ai.common.text import printable, shortened
from mrjack_ai.errors import AgentError, IllegalChoiceError, TimeLimitError
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import PLAYER_NAMES, Player, Variant
from mrjack_ai.tournament.deals import Deal

EXCEPTION, ILLEGAL_ACTION, TIME, CRASH = "exception", "illegal action", "time", "crash"
FORFEIT_KINDS = (EXCEPTION, ILLEGAL_ACTION, TIME, CRASH)
"""Why a game can be forfeited; `crash`: the agent ended its process, again and again."""

CHANCE: int = Player.CHANCE
"""Stands for the outcome that the deal has for a chance node."""

_LONGEST_TRACEBACK, _LONGEST_LOG = 20_000, 65_536


@dataclass(frozen=True)
class Forfeit:
    """Why a game was broken off; whoever is to blame has lost it.

    Attributes:
        player: who broke the contract: 0 (Detective) or 1 (Jack).
        kind: one of `FORFEIT_KINDS`.
        message: what happened, in one line.
        traceback: Python's traceback; empty when nothing was raised.
    """

    player: int
    kind: str
    message: str
    traceback: str = ""

    def __post_init__(self) -> None:
        # Anything can stand in an agent's exception, even what no file can hold.
        message = shortened(printable(" ".join(self.message.split())))
        object.__setattr__(self, "message", message)
        object.__setattr__(self, "traceback", _end(self.traceback, _LONGEST_TRACEBACK))


def _end(text: str, most: int) -> str:
    return printable(text[-most:], lines=True)[-most:]


@dataclass(frozen=True)
class Played:
    """A game that is over.

    Attributes:
        state: the last state, with the whole history.
        forfeit: why it was broken off; None when it was played to the end.
        seconds: time the game took.
        thinking: seconds each player took for its decisions.
        decisions: number of decisions each player made, one that broke the contract included.
        logs: what each agent said beside the game (`Agent.log`).
    """

    state: State
    forfeit: Forfeit | None
    seconds: float
    thinking: tuple[float, float]
    decisions: tuple[int, int]
    logs: tuple[str, str] = ("", "")


class Watch(Protocol):
    """Told what goes on in a game, so that another process knows when this one dies."""

    def asked(self, player: int, timed: bool) -> None:
        """An agent is called; when timed, for a decision."""

    def answered(self) -> None:
        """It has returned."""

    def played(self, action: int) -> None:
        """An action was applied, or a chance outcome: `CHANCE`, since that may be secret."""


class _BrokenContract(Exception):
    """Ends a game; its cause is what the agent raised, if it did."""

    def __init__(self, player: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.player = player
        self.kind = kind


class _Table:
    """Two agents at a game in progress."""

    def __init__(
        self,
        variant: Variant,
        deal: Deal,
        limit: float | None,
        watch: Watch | None,
        may_see: Sequence[bool] = (True, True),
    ) -> None:
        self.state = new_game(variant)
        self.may_see = may_see
        self.sees: list[bool] = []
        """Which agents are shown the state; settled before an agent's `start`."""
        self.deal = deal
        self.limit = limit
        self.watch = watch
        self.agents: list[Agent] = []
        self.thinking = [0.0, 0.0]
        self.decisions = [0, 0]

    def seat(
        self,
        makers: Sequence[Callable[[], Agent]],
        generators: Sequence[np.random.Generator],
    ) -> None:
        for player, (make, rng) in enumerate(zip(makers, generators, strict=True)):
            if self.watch is not None:
                self.watch.asked(player, timed=False)
            try:
                agent = make()
                self.agents.append(agent)
                # Read once, of the class: what an agent says of itself later grants it nothing.
                self.sees.append(self.may_see[player] and bool(type(agent).cheats))
                agent.time_limit = self.limit
                agent.start(self.state.variant, player, rng)
            except (Exception, SystemExit) as error:
                raise _raised(player, error) from error
            if self.watch is not None:
                self.watch.answered()

    def play(self) -> None:
        state, watch = self.state, self.watch
        while not state.is_terminal():
            player = state.current_player()
            if player < 0:
                state.apply_action(self.deal.outcome(state))
                action = CHANCE
            else:
                action = self.decide(player)
            if watch is not None:
                watch.played(action)

    def log(self, player: int) -> str:
        """What an agent said beside the game; empty when it cannot even say that."""
        if player >= len(self.agents):
            return ""
        try:
            said = self.agents[player].log()
            return _end(said, _LONGEST_LOG) if said else ""
        except Exception:
            return ""

    def decide(self, player: int) -> int:
        """Have an agent decide, and apply the action."""
        agent, state, watch = self.agents[player], self.state, self.watch
        observation = state.observation(player)
        if watch is not None:
            watch.asked(player, timed=True)
        started = time.perf_counter()
        try:
            if self.sees[player]:
                agent.see(state.clone())
                started = time.perf_counter()  # the limit is for `act`
            action = agent.act(observation)
        except (Exception, SystemExit) as error:
            raise _raised(player, error) from error
        finally:
            taken = time.perf_counter() - started
            self.thinking[player] += taken
            self.decisions[player] += 1
        if watch is not None:
            watch.answered()
        if self.limit is not None and taken > self.limit:
            raise _BrokenContract(
                player,
                TIME,
                f"{type(agent).__name__}, playing the {PLAYER_NAMES[player]}, took "
                f"{1000 * taken:.0f} ms for a decision; the limit is {1000 * self.limit:g} ms",
            )
        try:
            state.apply_action(action)
        except Exception as error:  # an odd object can raise anything when taken for a number
            raise _BrokenContract(
                player,
                ILLEGAL_ACTION,
                f"{type(agent).__name__}, playing the {PLAYER_NAMES[player]}: {error}",
            ) from None
        return int(state.history()[-1]) if type(action) is not int else action


def _raised(player: int, error: BaseException) -> _BrokenContract:
    if isinstance(error, AgentError):  # it says whose fault it is, and which
        kinds = {IllegalChoiceError: ILLEGAL_ACTION, TimeLimitError: TIME}
        kind = next((kinds[its] for its in kinds if isinstance(error, its)), EXCEPTION)
        return _BrokenContract(player, kind, str(error))
    said = traceback.TracebackException(type(error), error, None)
    said.__notes__ = None  # they would be the last lines; the traceback has them
    message = list(said.format_exception_only())[-1].strip()
    return _BrokenContract(player, EXCEPTION, message)


def play_timed(
    variant: Variant,
    makers: Sequence[Callable[[], Agent]],
    deal: Deal,
    generators: Sequence[np.random.Generator],
    move_time_limit: float | None = None,
    watch: Watch | None = None,
    may_see: Sequence[bool] = (True, True),
) -> Played:
    """Play one game; an agent that breaks its contract forfeits it.

    An agent forfeits when it raises an exception (in its making, `start`, `see` or `act`), returns
    an action that is not legal, or takes longer for a decision than allowed. The time is measured
    around `act`; one that never returns cannot be interrupted here.

    Args:
        variant: the variant.
        makers: functions that make the agents of the Detective and of Jack.
        deal: what chance decides.
        generators: a random generator for each of them.
        move_time_limit: most seconds for a decision; None for no limit.
        watch: told what goes on.
        may_see: for each of them, whether it is shown the true state if its class cheats.
    """
    started = time.perf_counter()
    table = _Table(variant, deal, move_time_limit, watch, may_see)
    forfeit = None
    try:
        table.seat(makers, generators)
        table.play()
    except _BrokenContract as broken:
        cause = broken.__cause__
        trace = "".join(traceback.format_exception(cause)) if cause is not None else ""
        forfeit = Forfeit(broken.player, broken.kind, str(broken), trace)
    return Played(
        state=table.state,
        forfeit=forfeit,
        seconds=time.perf_counter() - started,
        thinking=(table.thinking[0], table.thinking[1]),
        decisions=(table.decisions[0], table.decisions[1]),
        logs=(table.log(0), table.log(1)),
    )


def play_game(
    variant: Variant,
    agents: Sequence[Agent],
    deal: Deal,
    generators: Sequence[np.random.Generator],
) -> State:
    """Play one game to the end.

    Args:
        variant: the variant.
        agents: who plays the Detective and who plays Jack.
        deal: what chance decides.
        generators: a random generator for each of them.

    Returns:
        The last state, with the whole history.

    Raises:
        AgentError: when an agent returns an action that is not legal; what an agent raises itself
            is passed on.
    """
    table = _Table(variant, deal, None, None)
    try:
        table.seat([lambda agent=agent: agent for agent in agents], generators)  # type: ignore[misc]
        table.play()
    except _BrokenContract as broken:
        if broken.__cause__ is not None:
            raise broken.__cause__ from None
        raise AgentError(str(broken)) from None
    return table.state
