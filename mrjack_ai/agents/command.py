"""Agents in any language: `cmd:PROGRAM ARGUMENTS` plays by talking to a program in lines of JSON.

    mrjack tournament --agents greedy "cmd:python3 my_agent.py"
    mrjack tournament --agents greedy "cmd:time=500 ./my_agent --depth 3"

The command line is split as a shell does (quotes and backslashes), but no shell runs it. Words of
the form `name=value` before the program, joined by commas or not, are for this library:

| name | meaning | default |
|---|---|---|
| time | milliseconds for the answer to an observation | 60000 |
| start | milliseconds for the answers to `hello` and `new game` | 10000 |

## Protocol, version 1

The program reads messages from standard input and writes answers to standard output. Each is a
JSON object on a line of its own, in UTF-8. Every message but `quit` is answered by exactly one
line, at once written out (flushed), of at most 1,000,000 bytes. Standard error is free for
anything; its last 64 KB are kept (`log()`). Fields and messages may be added in later versions of
the library without a new version number: fields that are not known should be passed over.

`hello`, once, first:

| field | type | meaning |
|---|---|---|
| type | text | `hello` |
| protocol | number | 1 |
| library | text | `mrjack_ai` and its version |
| rules | number | version of the rules |

The answer is `{"protocol": 1}`.

`new game`, before each game:

| field | type | meaning |
|---|---|---|
| type | text | `new game` |
| role | text | `detective` or `jack`: whom the program plays |
| variant | object | `board` (its name), `cast` (list of codes), `turns`, `first` (a role) |
| board | object | the board in full, in the form of a board file |
| seed | number | 0 to 2^32 - 1; take what is random from it and games can be repeated |
| time_limit | number | milliseconds for each answer to an observation |

The answer is `{"ready": true}`. One process plays many games, one after the other, in either role
and perhaps of different variants; nothing of a game before may change how it plays.

`observation`, whenever the program is to move:

| field | type | meaning |
|---|---|---|
| type | text | `observation` |
| position | text | the position; see `mrjack_ai.game.notation`; `?` is what they may not know |
| node | text | what is decided: `pick`, `use`, `whistle` or `aim` |
| turn | number | number of the turn |
| positions | object | hex of each character, by code |
| visible | list | codes of the characters that are visible now |
| suspects | list | codes of the suspects, as far as this player knows: not cleared, and on no \
alibi card of the Detective |
| cards | list | codes of the cards not played to their end |
| playing | text | code of the character being played, or null |
| identity | text | code of Jack; null for the Detective |
| alibis | list | codes on the alibi cards this player has drawn |
| history | list | everything this player has seen, in order, as texts of actions, outcomes of \
chance and answers of witnesses: `jack ?`, `deal SH,JW,JS,IL`, `pick JW`, `witness seen` |
| start | text | the position a game was set up in; null for the normal start |
| legal_actions | list | texts of the legal actions |

The answer is `{"action": "move e5"}`, a text out of `legal_actions`. Instead of any answer,
`{"error": "what is wrong"}` gives up.

`quit`, `{"type": "quit"}`, is not answered: the program should end, as also when its standard
input ends. Else it is told to after a second (SIGTERM) and made to after another (SIGKILL).

A program that gives another answer, ends, or does not answer in time is ended (SIGKILL) and has
broken its contract: an `AgentError` says what it did and carries what it had written to standard
error. The next game begins with a new process.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import weakref
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mrjack_ai.agents.base import Agent
from mrjack_ai.agents.parameters import parse_values, plain_parameters, ranges
from mrjack_ai.agents.program import Program, ProgramError, ProgramTimeoutError
from mrjack_ai.common.numbers import RealNumbers
from mrjack_ai.common.reading import parse_json
from mrjack_ai.common.text import listed, shown
from mrjack_ai.engine.types import Words
from mrjack_ai.errors import AgentError, IllegalChoiceError, TimeLimitError
from mrjack_ai.game.actions import action_space
from mrjack_ai.game.notation import position_text
from mrjack_ai.game.observation import Observation
from mrjack_ai.setup.variant import PLAYER_NAMES, Variant
from mrjack_ai.version import RULES_VERSION, __version__

PROTOCOL = 1
"""Version of the protocol."""

_QUIT = json.dumps({"type": "quit"})
_OWN_WORD = re.compile(r"[a-z_]+=[^/]*")
_LONGEST_SHOWN, _LONGEST_NOTE = 120, 4000
_LAST_WORDS = 240
"""Most characters of the last line on standard error that a message has: its end says why."""

_idle: dict[tuple[str, ...], list[Program]] = {}
"""Running programs whose agents are gone, by command line. Tournaments make an agent for each
game, and a program may take long to start."""


_MILLISECONDS = RealNumbers(0, 10**9, above=True)


@ranges(time=_MILLISECONDS, start=_MILLISECONDS)
class CommandAgent(Agent):
    """Asks a program of its own, in any language, by lines of JSON on its standard streams.

    The program is started with the first game and serves all games of the agent. When the agent
    is gone, the next one with the same command goes on with it; `close` ends it at once, and so
    does the end of this process. A pickled or copied agent starts a process of its own.

    Args:
        command: the program and its arguments, quoted as for a shell.
        time: milliseconds for a decision; the `time_limit` of the game, if shorter, comes first.
        start: milliseconds for the answer to `hello`, and for that to `new game`.

    Raises:
        AgentError: when the command cannot be split, is empty, or there is no such program.
        ArgumentError: when a time is no number above 0 and to 10^9.
    """

    usage: ClassVar[str] = f"time=60000, start=10000 ({_MILLISECONDS} ms) before PROGRAM ARGUMENTS"

    def __init__(self, command: str = "", time: float = 60_000.0, start: float = 10_000.0) -> None:
        self.command = command.strip()
        self._words = _split(self.command)
        self._seconds = time / 1000
        self._start_seconds = start / 1000
        self._program: Program | None = None
        self._keep: weakref.finalize[..., CommandAgent] | None = None
        self._last_log = ""

    @classmethod
    def from_spec(cls, text: str) -> CommandAgent:
        """Build the agent from what follows `cmd:` (see the module's description).

        Raises:
            AgentError: for an unknown parameter, a time out of range, and as the class.
        """
        return cls(**cls.spec_parameters(text))

    @classmethod
    def spec_parameters(cls, text: str) -> dict[str, Any]:
        """What follows `cmd:`, taken apart: `command`, `time` and `start`.

        Raises:
            AgentError: for an unknown parameter, or a value that is no number or out of range.
        """
        rest, given = text.strip(), []
        while (word := rest.partition(" ")[0]) and _OWN_WORD.fullmatch(word):
            given.append(word)
            rest = rest[len(word) :].strip()
        known = [p for p in plain_parameters("cmd", cls) if p.name != "command"]
        values = parse_values(f"cmd:{text}", ",".join(given), known) if given else {}
        return {"command": rest, **{p.name: p.default for p in known}, **values}

    # -- the game -------------------------------------------------------------------------

    def start(self, variant: Variant, player: int, rng: np.random.Generator) -> None:
        """Begin a game: starts the program, or goes on with the one that runs.

        Raises:
            TimeLimitError: when it does not answer in time.
            AgentError: when it cannot be started or answers wrongly.
        """
        super().start(variant, player, rng)
        self._last_log = ""
        if self._program is not None and not self._program.usable:
            self.close()
        if self._program is None:
            self._start_program()
        assert self._program is not None
        self._program.clear_log()
        settings = {**variant.to_dict(), "board": variant.board.name}
        message = {
            "type": "new game",
            "role": PLAYER_NAMES[player],
            "variant": settings,
            "board": variant.board.to_dict(),
            "seed": int(rng.integers(2**32)),
            "time_limit": 1000 * self._limit(),
        }
        answer = self._ask(message, self._start_seconds)
        if answer.get("ready") is not True:
            raise self._broken(f"answered {_shown(answer)} to a new game instead of ready: true")

    def act(self, observation: Observation) -> int:
        """Ask the program.

        Raises:
            TimeLimitError: when it does not answer in time.
            IllegalChoiceError: when it answers with an action that is not legal.
            AgentError: when it answers wrongly in another way, or not at all.
        """
        message = observation_message(observation)
        legal: list[str] = message["legal_actions"]
        answer = self._ask(message, self._limit())
        action = answer.get("action")
        if action in legal:
            return observation.actions[legal.index(action)]
        raise self._broken(
            f"answered {_shown(answer)}; the action must be one of {listed(legal)}",
            IllegalChoiceError if "action" in answer else AgentError,
        )

    def log(self) -> str:
        """What the program wrote to standard error since the game began: the last 64 KB."""
        return self._last_log if self._program is None else self._program.log()

    def close(self) -> None:
        """End the program: it is told to quit, and made to when it does not."""
        if self._program is not None:
            self._end_program()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_program": None, "_keep": None}

    # -- the program ----------------------------------------------------------------------

    def _limit(self) -> float:
        return self._seconds if self.time_limit is None else min(self._seconds, self.time_limit)

    def _start_program(self) -> None:
        """A program of this command that is idle, or a new one that has said hello."""
        waiting = _idle.get(self._words, [])
        with contextlib.suppress(IndexError):  # none is left; another thread may have taken it
            while not (program := waiting.pop()).usable:
                program.close()
            self._take(program)
            return
        try:
            self._take(Program(self._words, quit_line=_QUIT))
        except ProgramError as error:
            raise AgentError(f"program {shown(self.command)} {error}") from None
        hello = {
            "type": "hello",
            "protocol": PROTOCOL,
            "library": f"mrjack_ai {__version__}",
            "rules": RULES_VERSION,
        }
        answer = self._ask(hello, self._start_seconds)
        if answer.get("protocol") != PROTOCOL:
            raise self._broken(
                f"answered {_shown(answer)} to hello; the protocol spoken here is {PROTOCOL}"
            )

    def _take(self, program: Program) -> None:
        self._program = program
        self._keep = weakref.finalize(self, _leave, self._words, program)
        self._keep.atexit = False  # all programs are ended then

    def _end_program(self, at_once: bool = False) -> None:
        assert self._program is not None
        assert self._keep is not None
        self._keep.detach()
        self._program.close(at_once)
        self._last_log = self._program.log()
        self._program = self._keep = None

    def _ask(self, message: dict[str, Any], seconds: float) -> Mapping[str, Any]:
        if self._program is None:
            raise AgentError(f"program {shown(self.command)} is not running; start a game first")
        program = self._program
        try:
            line = program.ask(json.dumps(message), seconds)
        except ProgramError as error:
            late = isinstance(error, ProgramTimeoutError)
            raise self._broken(str(error), TimeLimitError if late else AgentError) from None
        except BaseException:  # Ctrl-C: the answer is still to come and must not be the next one's
            self._end_program(at_once=True)
            raise
        try:
            answer = parse_json(line, AgentError)
        except AgentError:
            answer = None
        if not isinstance(answer, dict):
            raise self._broken(f"answered {_shown(line)}, which is no JSON object")
        if "error" in answer:
            raise self._broken(f"gives up: {_shown(answer['error'])}")
        return answer

    def _broken(self, what: str, kind: type[AgentError] = AgentError) -> AgentError:
        """End the program, and say why."""
        self._end_program(at_once=True)
        message = f"program {shown(self.command)} {what}"
        last = self._last_log.strip().rpartition("\n")[2]
        if last:
            message += f" (standard error ends with {shown(last[-_LAST_WORDS:], _LAST_WORDS)})"
        error = kind(message)
        if last:
            error.log = self._last_log
            error.add_note(
                f"standard error of {shown(self.command)}:\n{error.log[-_LONGEST_NOTE:]}"
            )
        return error


def _leave(words: tuple[str, ...], program: Program) -> None:
    if program.usable:
        _idle.setdefault(words, []).append(program)
    else:
        program.close()


def _split(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise AgentError(f"command {shown(command)}: {error}; quote it as for a shell") from None
    if not words or not command.isprintable():
        raise AgentError(
            f"command {shown(command)} must be a program and its arguments on one line, as in "
            "cmd:python3 my_agent.py"
        )
    if shutil.which(words[0]) is None:
        raise AgentError(
            f"command {shown(command)}: there is no program {shown(words[0])} that can be run; "
            "give its path, make the file executable, or name its interpreter first "
            "(python3 my_agent.py)"
        )
    return words


def _shown(value: object) -> str:
    return shown(value if isinstance(value, str) else json.dumps(value), _LONGEST_SHOWN)


def observation_message(observation: Observation) -> dict[str, Any]:
    """The message `observation`; it holds what the observation holds, and nothing else.

    Returns:
        An object that `json.dumps` takes (see the module's description).
    """
    variant, root = observation.variant, observation.root
    names = action_space(variant).names
    start: Words | None = None if root is None else np.frombuffer(root, np.uint64)
    return {
        "type": "observation",
        "position": position_text(variant, observation.position_words()),
        "node": observation.node,
        "turn": observation.turn,
        "positions": observation.positions,
        "visible": observation.visible(),
        "suspects": observation.suspects(),
        "cards": observation.cards(),
        "playing": observation.playing,
        "identity": observation.identity,
        "alibis": observation.alibis(observation.player),
        "history": observation.history(),
        "start": None if start is None else position_text(variant, start),
        "legal_actions": [names[action] for action in observation.actions],
    }
