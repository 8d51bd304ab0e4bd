"""The game at a terminal: reads the human's lines and prints what there is to say."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.shortcuts import CompleteStyle

from mrjack_ai.common.files import write_whole
from mrjack_ai.errors import AgentError, MrJackError
from mrjack_ai.play.dialogue import Dialogue, unused_name
from mrjack_ai.render import phrases
from mrjack_ai.render.facts import PLAYERS
from mrjack_ai.render.terminal import board_text, board_width

UNASKED_NAMES = ("mrjack-game.json", *(f"mrjack-game-{number}.json" for number in range(2, 1000)))
"""Where a game is kept that is left without having been saved."""


class Talk(Protocol):
    """How to speak with the human."""

    def say(self, text: str) -> None:
        """Print some lines."""

    def ask(self, dialogue: Dialogue) -> str:
        """Read a line.

        Raises:
            EOFError: when there is no more input.
            KeyboardInterrupt: by Ctrl-C.
        """

    def thinking(self, what: str) -> contextlib.AbstractContextManager[None]:
        """While something takes long, say what."""


class PipeTalk:
    """Plain lines, for input or output that is no terminal."""

    def say(self, text: str) -> None:
        """Print some lines."""
        print(text, flush=True)

    def ask(self, dialogue: Dialogue) -> str:
        """Read a line; see `Talk`."""
        return input(dialogue.prompt())

    @contextlib.contextmanager
    def thinking(self, what: str) -> Iterator[None]:
        """Nobody watches."""
        yield


class _Actions(Completer):
    """Completes the legal actions and the commands."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        typed = document.text_before_cursor
        for line in self.dialogue.completions(typed):
            yield Completion(line, start_position=-len(typed))


class TerminalTalk(PipeTalk):
    """A terminal, with editing, history and completion by Tab."""

    def __init__(self) -> None:
        self._prompts: PromptSession[str] | None = None

    def ask(self, dialogue: Dialogue) -> str:
        """Read a line; see `Talk`."""
        if self._prompts is None:
            self._prompts = PromptSession(
                completer=_Actions(dialogue),
                complete_while_typing=False,
                complete_style=CompleteStyle.READLINE_LIKE,
            )
        return self._prompts.prompt(dialogue.prompt())

    @contextlib.contextmanager
    def thinking(self, what: str) -> Iterator[None]:
        """A line that is gone afterwards."""
        text = f"{what} ..."
        print(text, end="", flush=True)
        try:
            yield
        finally:
            print("\r" + " " * len(text) + "\r", end="", flush=True)


def play(dialogue: Dialogue, record: Path | None = None, talk: Talk | None = None) -> bool:
    """Play a game to its end, or until the human leaves.

    Args:
        dialogue: the talk about the game.
        record: file for the record of the finished game, in text form.
        talk: how to speak with the human; by default standard input and output.

    Returns:
        True when the game ended or the human left by `quit` or the end of the input; False when
        he interrupted it.

    Raises:
        AgentError: when the agent failed.
        MrJackError: when the record cannot be written.
    """
    if talk is None:
        interactive = sys.stdin.isatty() and sys.stdout.isatty()
        talk = TerminalTalk() if interactive else PipeTalk()
    with _saved_when_told_to_end(dialogue):
        return _play(dialogue, record, talk)


@contextlib.contextmanager
def _saved_when_told_to_end(dialogue: Dialogue) -> Iterator[None]:
    """A terminal that closes (SIGHUP) and SIGTERM end the process, but not without saving."""

    def end(number: int, frame: object) -> None:
        _leave(dialogue)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _play(dialogue: Dialogue, record: Path | None, talk: Talk) -> bool:
    session = dialogue.session
    talk.say(dialogue.greeting() + "\n")
    left = True
    try:
        _keep(dialogue, talk)
        while not session.is_over() and not dialogue.finished:
            if session.is_humans_turn():
                _decide(dialogue, talk)
                continue
            if session.state.is_chance_node():
                session.step()
            else:
                with talk.thinking(f"{phrases.capital(PLAYERS[1 - session.human])} thinks"):
                    session.step()
            _keep(dialogue, talk)
    except EOFError:
        talk.say("")
    except KeyboardInterrupt:
        talk.say("")
        left = False
    except AgentError as error:
        error.add_note(_leave(dialogue))
        raise
    if session.is_over():
        _end(dialogue, record, talk)
        return True
    talk.say(_leave(dialogue))
    return left


def _decide(dialogue: Dialogue, talk: Talk) -> None:
    """Ask until the human has changed the position or left."""
    talk.say(dialogue.screen())
    changed = False
    while not changed and not dialogue.finished:
        line = talk.ask(dialogue)
        if line.strip() == "hint":
            with talk.thinking("Looking at the position"):
                text, changed = dialogue.answer(line)
        else:
            text, changed = dialogue.answer(line)
        if text:
            talk.say(text)
    if changed:
        _keep(dialogue, talk)


def _keep(dialogue: Dialogue, talk: Talk) -> None:
    try:
        dialogue.keep()
    except MrJackError as error:
        talk.say(f"The game is not saved: {error}")


def _end(dialogue: Dialogue, record: Path | None, talk: Talk) -> None:
    session, drawing = dialogue.session, dialogue.drawing
    state = session.state
    width = drawing.width()
    # The game is over: nothing is secret any more.
    if width >= board_width(state):
        board = board_text(state, color=drawing.color, unicode=drawing.unicode, width=width)
        talk.say(board + "\n")
    talk.say(dialogue.news() + "\n")
    talk.say(phrases.end_text(session.view(), state.identity or ""))
    if record is not None:
        try:
            write_whole(record, session.record().to_text())
        except MrJackError as error:
            error.add_note(_leave(dialogue))  # not lost
            raise
        talk.say(f"The record is in {record}.")


def _leave(dialogue: Dialogue) -> str:
    """Save a game that is left, if it has begun, and say how to carry on."""
    try:
        if dialogue.file is None:
            dialogue.file = unused_name(UNASKED_NAMES)
        dialogue.keep()
    except MrJackError as error:
        return f"The game is not saved: {error}"
    return f"The game is saved in {dialogue.file}. To carry on: {dialogue.resume_command()}"


def terminal_width() -> int:
    """Columns of the terminal; plenty where there is none."""
    return shutil.get_terminal_size((120, 40)).columns
