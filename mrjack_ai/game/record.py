"""Game records: one game as text that a person can read, or as a JSON object.

The text form:

    mrjack record 1
    rules: 1
    board: whitechapel
    cast: SH+JW+JS+IL+MS+SG+WG+JB
    turns: 8
    first: detective
    detective: greedy
    jack: random
    seed: 7

    identity: jack JS
    turn 1: deal SH,JW,JS,IL
    turn 1 detective: pick SH; move e5; alibi JB
    turn 1 jack: pick JW; move b1; light N
    ...
    result: escape

Each line after the header is a card played, in the notation of docs/rules.md,
section 9. What stands before the colon is checked when the record is read. `detective`, `jack`
and `seed` may be missing; `result` is missing while a game goes on. A board that is not built in
stands in the header as JSON. Empty lines, and lines that begin with `#`, are skipped. Lines end
with a line feed, or a carriage return and a line feed; no other character ends one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from mrjack_ai.common.files import write_whole
from mrjack_ai.common.numbers import SEEDS, WholeNumbers, Words
from mrjack_ai.common.reading import parse_json, read_text
from mrjack_ai.common.text import lines_of, shown
from mrjack_ai.errors import MrJackError, RecordError
from mrjack_ai.game.endings import ENDING_BY_NUMBER, ENDING_BY_WORD
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import PLAYER_NAMES, TURNS, Variant
from mrjack_ai.version import RULES_VERSION

FIRST_LINE = "mrjack record 1"
_HEADER = ("rules", "board", "cast", "turns", "first", "detective", "jack", "seed")
_RULES = WholeNumbers(0, 10**6)
_NUMBERS = {"rules": _RULES, "turns": TURNS, "seed": SEEDS}
"""The lines of the header that hold whole numbers."""
_ENTRIES = ("board", "cast", "turns", "first", "rules", "agents", "seed", "ending", "actions")
"""The entries of the JSON form that are no details."""


@lru_cache(maxsize=8192)
def _action_text(text: str) -> str:
    """A text that can be an action's, with plain blanks between its words."""
    plain = " ".join(text.split())
    if not plain or not plain.isprintable() or ";" in plain:
        raise RecordError(f"{shown(text)} is no text of an action")
    return plain


def _agent_name(name: object) -> str:
    """A text that can stand behind a colon on a line of its own."""
    if not isinstance(name, str):
        raise RecordError(f"agent {shown(name)} ({type(name).__name__}) must be a text")
    if not name.isprintable() or name != name.strip():
        raise RecordError(
            f"agent {shown(name)} must be one line without control characters, and neither begin "
            "nor end with a blank"
        )
    return str(name)


def _json_object(details: object) -> dict[str, Any]:
    """A copy of an object of JSON values."""
    if not isinstance(details, Mapping):
        raise RecordError(f"details {shown(details)} must be an object of JSON values by name")
    for name in details:
        if not isinstance(name, str) or name in _ENTRIES:
            raise RecordError(f"details cannot have an entry {shown(name)}")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(details), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"details must be JSON values: {error}") from None
    return copy


@dataclass(frozen=True)
class GameRecord:
    """One game.

    Every record can be written and read back, as JSON and, if the game keeps to the rules played
    here, as text.

    Attributes:
        variant: the variant played.
        actions: texts of all actions and chance outcomes, in order; any sequence of texts becomes
            a tuple of them. They are not checked against the rules yet (see `replay`).
        ending: `caught`, `wrong`, `escape` or `dawn`; None while the game goes on.
        agents: who played the Detective and Jack, as specification strings; empty if unknown.
        seed: seed the game was made from, 0 to 2^128-1, or None.
        rules: version of the rules.
        details: anything else that belongs to the game, a copy: JSON values by names that are none
            of the other entries of the JSON form; kept in that form only.

    Raises:
        RecordError: when one of these is anything else.
    """

    variant: Variant
    actions: tuple[str, ...]
    ending: str | None = None
    agents: tuple[str, str] = ("", "")
    seed: int | None = None
    rules: int = RULES_VERSION
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.variant, Variant):
            raise RecordError(f"variant {shown(self.variant)} is no Variant")
        actions = _list_of(str, self.actions, "actions")
        agents = _list_of(str, self.agents, "agents")
        if len(agents) != 2:
            raise RecordError("'agents' must be two texts: the Detective's and Jack's agent")
        if self.ending is not None:
            Words(tuple(ENDING_BY_WORD)).read(self.ending, "ending", RecordError)
        checked = {
            "actions": tuple(map(_action_text, actions)),
            "agents": tuple(map(_agent_name, agents)),
            "seed": None if self.seed is None else SEEDS.read(self.seed, "seed", RecordError),
            "rules": _RULES.read(self.rules, "rules", RecordError),
            "details": _json_object(self.details) if self.details else {},
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_state(
        cls,
        state: State,
        agents: tuple[str, str] = ("", ""),
        seed: int | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> GameRecord:
        """The record of a state's whole history.

        Raises:
            RecordError: when the game was set up in a position instead of played from the start.
        """
        if state.root_text is not None:
            raise RecordError("a game that was set up in a position has no record from the start")
        return cls(
            variant=state.variant,
            actions=tuple(state.history_strings()),
            ending=ending_word(state),
            agents=agents,
            seed=seed,
            details=dict(details or {}),
        )

    def states(self) -> Iterator[State]:
        """A new state before the first action and after each one.

        Raises:
            RecordError: at the first action that is not legal, naming its number.
        """
        state = new_game(self.variant)
        yield state
        for number, action in enumerate(self.actions, start=1):
            try:
                state = state.child(action)
            except MrJackError as error:
                raise RecordError(f"action {number}: {error}") from None
            yield state

    def replay(self) -> State:
        """Check the record against the rules.

        Returns:
            The last state.

        Raises:
            RecordError: when an action is not legal, or the ending or the rules' version differ.
        """
        self.check_rules()
        state = new_game(self.variant)
        for state in self.states():  # noqa: B007 - the last one is wanted
            pass
        self.check_end(state)
        return state

    def check_rules(self) -> None:
        """Check that the record follows the rules played here.

        Raises:
            RecordError: when the rules' version differs.
        """
        if self.rules != RULES_VERSION:
            raise RecordError(
                f"the record follows version {self.rules} of the rules; this is {RULES_VERSION}"
            )

    def check_end(self, state: State) -> None:
        """Check the ending against the last of the record's states.

        Raises:
            RecordError: when it differs.
        """
        found = ending_word(state)
        if found != self.ending:
            raise RecordError(
                f"the record says {self.ending or 'unfinished'} but the game is "
                f"{found or 'unfinished'} after {len(self.actions)} actions"
            )

    def to_text(self) -> str:
        """The text form; `from_text` inverts it, but for `details`.

        Raises:
            RecordError: when the game does not keep to the rules played here (see `replay`), so
                that it could not be read back.
        """
        self.check_rules()
        plays = self._plays()
        settings = self.variant.to_dict()
        board = settings["board"]
        lines = [FIRST_LINE, f"rules: {self.rules}"]
        lines.append(f"board: {board if isinstance(board, str) else json.dumps(board)}")
        lines += [f"cast: {'+'.join(self.variant.cast)}", f"turns: {self.variant.turns}"]
        lines.append(f"first: {self.variant.first}")
        for name, agent in zip(PLAYER_NAMES, self.agents, strict=True):
            if agent:
                lines.append(f"{name}: {agent}")
        if self.seed is not None:
            lines.append(f"seed: {self.seed}")
        lines.append("")
        lines += (f"{label}: {'; '.join(actions)}" for label, actions in plays)
        if self.ending is not None:
            lines.append(f"result: {self.ending}")
        return "\n".join(lines) + "\n"

    def _plays(self) -> list[tuple[str, list[str]]]:
        """Actions by card played, each with its label."""
        plays: list[tuple[str, list[str]]] = []
        *states, last = self.states()
        for state, action in zip(states, self.actions, strict=True):
            label = _label(state)
            if plays and state.node not in ("deal", "pick") and state.turn > 0:
                plays[-1][1].append(action)
            else:
                plays.append((label, [action]))
        self.check_end(last)
        return plays

    @classmethod
    def from_text(cls, text: str) -> GameRecord:
        """Read the text form and replay it.

        Raises:
            RecordError: naming the line that is damaged or breaks the rules.
        """
        return _TextReader(_numbered(text)).record()

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; `from_dict` inverts it."""
        return {
            **self.variant.to_dict(),
            "rules": self.rules,
            "agents": list(self.agents),
            "seed": self.seed,
            "ending": self.ending,
            "actions": list(self.actions),
            **self.details,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GameRecord:
        """Read the JSON form; the actions are not checked yet (see `replay`).

        Raises:
            RecordError: naming the entry that is missing or of the wrong type.
        """
        if not isinstance(data, Mapping):
            raise RecordError("a record is a JSON object")
        if "actions" not in data:
            raise RecordError("'actions' is missing: a list of texts")
        try:
            variant = Variant.from_dict(data)
        except MrJackError as error:
            raise RecordError(str(error)) from None
        own = {one.name for one in fields(cls)} & set(_ENTRIES)
        return cls(
            variant=variant,
            details={name: value for name, value in data.items() if name not in _ENTRIES},
            **{name: data[name] for name in own if name in data},
        )


def ending_word(state: State) -> str | None:
    """Short name of a game's ending, as in records; None while it goes on."""
    ending = ENDING_BY_NUMBER.get(int(state._record["ending"]))
    return None if ending is None else ending.word


def _label(state: State) -> str:
    """What stands before the colon of the line whose first action is played in this state."""
    if state.node == "jack":
        return "identity"
    if state.node == "deal":
        return f"turn {state.turn}"
    return f"turn {state.turn} {PLAYER_NAMES[state.current_player()]}"


def _list_of(kind: type, values: object, name: str) -> Sequence[Any]:
    if (
        not isinstance(values, Sequence)
        or isinstance(values, (str, bytes))
        or not all(isinstance(value, kind) for value in values)
    ):
        raise RecordError(f"{name!r} must be a list of texts, not {shown(values)}")
    return values


Lines = list[tuple[int, str]]
"""Numbers and texts of the lines that say something."""


def _numbered(text: str) -> Lines:
    stripped = ((number, line.strip()) for number, line in enumerate(lines_of(text), start=1))
    return [(number, line) for number, line in stripped if line and not line.startswith("#")]


def _split(text: str) -> list[Lines]:
    """The lines of each record of a text."""
    records: list[Lines] = []
    for number, line in _numbered(text):
        if line == FIRST_LINE or not records:
            records.append([])
        records[-1].append((number, line))
    return records or [[]]


class _TextReader:
    """Reads the text form line by line."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.at = 0
        self.number = lines[0][0] if lines else 1

    def fail(self, message: str) -> RecordError:
        return RecordError(f"line {self.number}: {message}")

    def next_line(self) -> tuple[str, str]:
        self.number, line = self.lines[self.at]
        self.at += 1
        name, colon, value = line.partition(":")
        if not colon:
            raise self.fail(f"{shown(line)} must read 'name: value'")
        return name.strip(), value.strip()

    def header(self) -> dict[str, str]:
        if not self.lines or self.lines[0][1] != FIRST_LINE:
            raise self.fail(f"a record begins with {FIRST_LINE!r}")
        self.at = 1
        header: dict[str, str] = {}
        while self.at < len(self.lines):
            name = self.lines[self.at][1].partition(":")[0].strip()
            if name not in _HEADER:
                break
            name, value = self.next_line()
            if name in header:
                raise self.fail(f"{name!r} is given twice")
            if name in _NUMBERS:
                try:
                    value = str(_NUMBERS[name].parse(value, name))
                except MrJackError as error:
                    raise self.fail(str(error)) from None
            header[name] = value
        return header

    def variant(self, header: Mapping[str, str]) -> Variant:
        for name in ("rules", "board", "cast", "turns", "first"):
            if name not in header:
                raise self.fail(f"the header has no {name!r}")
        board = header["board"]
        try:
            return Variant.from_dict(
                {
                    "board": parse_json(board, RecordError) if board.startswith("{") else board,
                    "cast": header["cast"],
                    "turns": int(header["turns"]),
                    "first": header["first"],
                }
            )
        except MrJackError as error:
            raise self.fail(f"the header describes no variant: {error}") from None

    def record(self) -> GameRecord:
        header = self.header()
        variant = self.variant(header)
        if int(header["rules"]) != RULES_VERSION:
            raise self.fail(
                f"the record follows version {header['rules']} of the rules; "
                f"this is {RULES_VERSION}"
            )
        state = new_game(variant)
        ending: str | None = None
        while self.at < len(self.lines):
            label, value = self.next_line()
            if label == "result":
                ending = value
                if self.at < len(self.lines):
                    self.number = self.lines[self.at][0]
                    raise self.fail("nothing may follow the result")
                break
            if label in _HEADER:
                raise self.fail(f"{label!r} belongs to the header")
            self._play(state, label, value)
        found = ending_word(state)
        if ending != found:
            raise self.fail(f"the result is {found or 'open'}, not {shown(ending or 'open')}")
        try:
            return GameRecord(
                variant=variant,
                actions=tuple(state.history_strings()),
                ending=ending,
                agents=(header.get("detective", ""), header.get("jack", "")),
                seed=int(header["seed"]) if "seed" in header else None,
            )
        except RecordError as error:
            raise self.fail(str(error)) from None

    def _play(self, state: State, label: str, value: str) -> None:
        if not state.is_terminal() and label != _label(state):
            raise self.fail(f"{shown(label)} should be {_label(state)!r}")
        for count, action in enumerate(value.split(";")):
            if count and state.node in ("deal", "pick"):
                raise self.fail(f"{shown(action.strip())} begins a line of its own")
            try:
                state.apply_action(action)
            except MrJackError as error:
                raise self.fail(str(error)) from None
        if state.node not in ("deal", "pick", "terminal") and self.at < len(self.lines):
            raise self.fail("the play is not finished on this line")


def read_records(path: str | Path) -> list[GameRecord]:
    """Read a file of records: in text form one after the other, or one JSON object a line.

    JSON lines without `actions` are skipped. Actions of JSON records are not checked yet (see
    `GameRecord.replay`).

    Raises:
        RecordError: when the file cannot be read, holds no record, or a line is damaged.
    """
    text = read_text(path, RecordError)
    if text.lstrip().startswith("{"):
        records = [record for _, record in parse_json_lines(lines_of(text), str(path))]
    else:
        try:
            records = [_TextReader(lines).record() for lines in _split(text)]
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from None
    if not records:
        raise RecordError(f"{path}: holds no game record")
    return records


def parse_json_lines(lines: Iterable[str], name: str) -> Iterator[tuple[int, GameRecord]]:
    """Line number and record of each line that holds one.

    Raises:
        RecordError: naming the file and line that is damaged.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            data = parse_json(line, RecordError)
            if isinstance(data, dict) and "actions" not in data:
                continue
            record = GameRecord.from_dict(data)
        except RecordError as error:
            raise RecordError(f"{name}, line {number}: {error}") from None
        yield number, record


def write_record(record: GameRecord, path: str | Path) -> None:
    """Write the text form to a file; one that was there is replaced.

    Raises:
        RecordError: when the file cannot be written.
    """
    write_whole(path, record.to_text(), error=RecordError)
