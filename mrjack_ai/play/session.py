"""One game of a human against an agent: the state, what may be undone, saving and resuming.

A saved game is a game record as one JSON object (see `mrjack_ai.game.record`), with an entry `play`
that says who is human; `mrjack replay` and `mrjack show` read it too. Chance is drawn from the
seed, and so is a generator for each decision of the agent. An agent may remember earlier decisions
(a search keeps its tree), so it is asked them again when a game is resumed: the game then goes on
as the unbroken one would have. Only agents with a budget of time are not asked again: what they do
cannot be repeated anyway.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from mrjack_ai.agents import Agent, make_agent
from mrjack_ai.agents.registry import described_parameters, is_built_in, name_of
from mrjack_ai.common.numbers import SEEDS
from mrjack_ai.common.reading import parse_json, read_text
from mrjack_ai.common.text import shown
from mrjack_ai.errors import AgentError, IllegalActionError, MrJackError, RecordError
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.record import GameRecord
from mrjack_ai.game.state import State, new_game
from mrjack_ai.render.facts import PLAYERS
from mrjack_ai.render.phrases import Story
from mrjack_ai.setup.variant import PLAYER_NAMES, Variant, checked_player
from mrjack_ai.tournament import seeded_deal
from mrjack_ai.tournament.deals import keyed_generator

HUMAN = "human"
"""The human's name among the agents of a record."""
SAVE_FORM = 1
"""Version of the entry `play` of a saved game."""

_AGENT_STREAM = 1
"""First element of the spawn keys of the agent's generators; deals have another."""


class CannotUndoError(MrJackError):
    """Nothing can be taken back; the message says why."""


class Session:
    """A game in progress.

    Args:
        variant: the variant.
        human: which player the human is: 0 the Detective, 1 Jack.
        opponent: specification of the agent that plays the other.
        seed: decides chance and the agent's randomness; 0 to 2^128-1.
        tracebacks: tell the human what went wrong in the agent, which may give secrets away.

    Attributes:
        state: the true state; screens are made from `view()` alone.
        story: what the human has seen happen, in words.
        agent_sees: whether the agent is shown the true state.

    Raises:
        AgentError: when the specification is wrong, or the agent cannot start.
    """

    def __init__(
        self, variant: Variant, human: int, opponent: str, seed: int, tracebacks: bool = False
    ) -> None:
        self.variant = variant
        self.human = human = checked_player(human, "human")
        self.opponent = opponent
        self.seed = seed = SEEDS.read(seed, "seed", RecordError)
        self._tracebacks = tracebacks
        self.deal = seeded_deal(variant, seed, 0)
        self.agent: Agent = make_agent(opponent)
        # Read once, of the class: what the agent says of itself later grants it nothing.
        self.agent_sees = bool(type(self.agent).cheats)
        self.state = new_game(variant)
        self.story = Story(human)
        self._undo: list[tuple[State, Story]] = []
        self._why_no_undo = "nothing has been played yet"
        # It knows no secret yet, so all may be told.
        self._blame(lambda: self.agent.start(variant, 1 - human, self._generator(0)), True)

    # -- looking --------------------------------------------------------------------------

    def view(self) -> Observation:
        """What the human may know."""
        return self.state.observation(self.human)

    def is_humans_turn(self) -> bool:
        """True when the human decides next."""
        return self.state.current_player() == self.human

    def is_over(self) -> bool:
        """True when the game has ended."""
        return self.state.is_terminal()

    # -- playing --------------------------------------------------------------------------

    def choose(self, action: int) -> None:
        """Play an action of the human.

        Raises:
            IllegalActionError: when it is not legal.
        """
        before, story = self.state.clone(), self.story.copy()
        self._apply(action)
        # Chance outcomes, witnesses and the other's decisions cannot be taken back, and a play
        # that is over has been handed in.
        if self.state.node in ("use", "whistle", "aim") and self.is_humans_turn():
            self._undo.append((before, story))
        else:
            self._undo.clear()
            self._why_no_undo = "the play is finished; only a play in progress can be taken back"
            if self.state.node == "alibi":
                self._why_no_undo = "an alibi card has been drawn since, and stays drawn"

    def step(self) -> None:
        """Play what is not the human's to decide: one chance outcome, or one decision of the agent.

        Raises:
            AgentError: when the agent raises an error or its action is not legal; the state is
                as before.
        """
        if self.state.is_chance_node():
            self._apply(self.deal.outcome(self.state))
            return
        self._blame(lambda: self._apply(self._ask()), self._tracebacks)

    def _ask(self) -> int:
        """The agent's decision."""
        self.agent.rng = self._generator(self.state.move_number())
        if self.agent_sees:
            self.agent.see(self.state.clone())
        return self.agent.act(self.state.observation(1 - self.human))

    def undo(self) -> None:
        """Take back the human's last decision in the play in progress.

        Raises:
            CannotUndoError: when there is none, saying why.
        """
        if not self._undo:
            raise CannotUndoError(f"cannot undo: {self._why_no_undo}")
        self.state, self.story = self._undo.pop()

    def _apply(self, action: int) -> None:
        before = self.view()
        self.state.apply_action(action)
        self.story.tell(before, self.view())

    def _generator(self, number: int) -> np.random.Generator:
        if not is_built_in(name_of(self.opponent)):
            # The seed cannot be computed from it; the secrets of the game follow from the seed.
            return keyed_generator("", self.seed, _AGENT_STREAM, number)
        return np.random.default_rng(
            np.random.SeedSequence(self.seed, spawn_key=(_AGENT_STREAM, number))
        )

    def _blame(self, call: Callable[[], object], all_of_it: bool) -> None:
        """Call the agent; whatever goes wrong in it is an `AgentError`.

        What the error says is told only where all of it may be: it can tell who Jack is, as the
        legal actions do that an illegal one is answered with, and the game may be carried on.
        """
        try:
            call()
        except (Exception, SystemExit) as error:
            if all_of_it:
                what = str(error) if isinstance(error, MrJackError) else shown(error, 300)
            else:
                wrong = isinstance(error, IllegalActionError)
                what = "its action is not legal" if wrong else type(error).__name__
                what += " (--tracebacks tells more, perhaps secrets too)"
            failed = AgentError(
                f"{self.opponent}, playing {PLAYERS[1 - self.human]}, failed: {what}"
            )
            if all_of_it and not isinstance(error, MrJackError):
                failed.add_note("".join(traceback.format_exception(error)).rstrip())
            raise failed from (error if all_of_it else None)

    # -- files ----------------------------------------------------------------------------

    def record(self) -> GameRecord:
        """The game so far."""
        agents = (HUMAN, self.opponent) if self.human == 0 else (self.opponent, HUMAN)
        return GameRecord.from_state(self.state, agents, self.seed)

    def save_text(self) -> str:
        """The saved game; `from_save` inverts it."""
        play = {"form": SAVE_FORM, "human": PLAYER_NAMES[self.human]}
        record = replace(self.record(), details={"play": play})
        return json.dumps(record.to_dict(), ensure_ascii=False) + "\n"

    @classmethod
    def from_save(cls, path: str | Path, tracebacks: bool = False) -> Session:
        """Read a saved game.

        Args:
            path: the file.
            tracebacks: as for a new one.

        Raises:
            RecordError: when it cannot be read, is no saved game or is damaged.
            AgentError: when its agent is not known here.
        """
        name = repr(str(path))
        text = read_text(path, RecordError)
        try:
            data = parse_json(text, RecordError)
        except RecordError:
            raise RecordError(f"{name} is no saved game of mrjack play, or is damaged") from None
        try:
            return cls._from_record(GameRecord.from_dict(data), tracebacks)
        except AgentError as error:
            raise AgentError(
                f"{name}: {error} (agents of your own need --code FILE here too)"
            ) from None
        except MrJackError as error:
            raise RecordError(f"{name}: {error}") from None

    @classmethod
    def _from_record(cls, record: GameRecord, tracebacks: bool) -> Session:
        play = record.details.get("play")
        if not isinstance(play, dict) or play.get("human") not in PLAYER_NAMES:
            raise RecordError("this is no saved game of mrjack play: it does not say who is human")
        if play.get("form") != SAVE_FORM or record.seed is None:
            raise RecordError(
                f"a saved game has a seed and form {SAVE_FORM}, not form {shown(play.get('form'))}"
            )
        record.check_rules()
        human = PLAYER_NAMES.index(play["human"])
        session = cls(record.variant, human, record.agents[1 - human], record.seed, tracebacks)
        timed = bool(described_parameters(session.opponent).get("time"))
        for number, action in enumerate(record.actions, start=1):
            state = session.state
            try:
                played = state.string_to_action(action)
                if state.is_chance_node() and played != session.deal.outcome(state):
                    raise RecordError(f"{shown(action)} does not follow from seed {record.seed}")
                if state.current_player() == human:
                    session.choose(played)
                    continue
                if not timed and not state.is_chance_node():
                    session._blame(session._ask, tracebacks)
                session._apply(played)
            except AgentError:
                raise
            except MrJackError as error:
                raise RecordError(f"action {number}: {error}") from None
        record.check_end(session.state)
        return session
