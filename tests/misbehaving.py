"""Agents that break their contract, in a module that worker processes can import."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from mrjack_ai import Agent, Observation
from mrjack_ai.agents import register_agent


class First(Agent):
    """Plays the first legal action that does not end the game."""

    def act(self, observation: Observation) -> int:
        for action in observation.actions:
            if not observation.action_to_string(action).startswith(("accuse", "escape")):
                return action
        return observation.actions[0]


class Raises(First):
    """Raises an exception at its third decision, with a text that no file can hold."""

    def __init__(self) -> None:
        self.decisions = 0

    def act(self, observation: Observation) -> int:
        self.decisions += 1
        if self.decisions == 3:
            raise ZeroDivisionError("half a\nsurrogate \ud800 and \0")
        return super().act(observation)


class FailsToStart(First):
    """Raises before the game."""

    def start(self, *arguments: object) -> None:
        raise RuntimeError("no engine")


class SlowToStart(First):
    """Needs half a second before the game."""

    def start(self, *arguments: Any) -> None:
        time.sleep(0.5)
        super().start(*arguments)


class Leaves(First):
    """Tries to end the program."""

    def act(self, observation: Observation) -> int:
        sys.exit(3)


class Illegal(Agent):
    """Returns what is no legal action."""

    def __init__(self, what: str = "negative") -> None:
        self.what = what

    def act(self, observation: Observation) -> int:
        odd = {"negative": -1, "huge": 10**30, "none": None, "float": 1.5, "list": [1]}
        return odd[self.what]  # type: ignore[return-value]


class Slow(First):
    """Takes some time for each decision."""

    def __init__(self, ms: int = 30) -> None:
        self.ms = ms

    def act(self, observation: Observation) -> int:
        time.sleep(self.ms / 1000)
        return super().act(observation)


class Dies(First):
    """Ends its process at its second decision; only so many times when given a file to count in."""

    def __init__(self, count: int = 1000, file: str = "", how: str = "exit") -> None:
        self.count = count
        self.file = file
        self.how = how
        self.decisions = 0

    def act(self, observation: Observation) -> int:
        self.decisions += 1
        done = Path(self.file).stat().st_size if self.file and Path(self.file).exists() else 0
        if self.decisions == 2 and done < self.count:
            if self.file:
                with Path(self.file).open("a") as file:
                    file.write("x")
            if self.how == "exit":
                os._exit(7)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(observation)


class Scripts(First):
    """Has a parameter and an exception that no page may take for its own."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def act(self, observation: Observation) -> int:
        if observation.turn == 2:
            raise ValueError("</pre><script>document.title = 'broken'</script>&amp;")
        return super().act(observation)


def register() -> None:
    """Make them known by name."""
    for name, agent in (
        ("first-in-tests", First),
        ("raises-in-tests", Raises),
        ("fails-to-start-in-tests", FailsToStart),
        ("slow-to-start-in-tests", SlowToStart),
        ("leaves-in-tests", Leaves),
        ("illegal-in-tests", Illegal),
        ("slow-in-tests", Slow),
        ("dies-in-tests", Dies),
        ("scripts-in-tests", Scripts),
    ):
        register_agent(name, agent)
