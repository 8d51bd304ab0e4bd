"""Exceptions of the library: each says what was wrong and what would be right."""

from __future__ import annotations

from mrjack_ai.common.text import printable, shortened

EXIT_BAD_INPUT, EXIT_INTERRUPTED, EXIT_TERMINATED = 2, 130, 143
"""Exit codes of the commands."""


class MrJackError(ValueError):
    """Base class of every error the library raises about its input.

    Args:
        message: what was wrong and what would be right. Whatever input it repeats, it can be shown
            anywhere: control characters become escapes, and of more than 500 characters the middle
            is left out.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(shortened(printable(str(message), lines=True)))


class ArgumentError(MrJackError):
    """An argument of a call is of the wrong type or out of its range; the message names both."""


class NotResetError(MrJackError, AttributeError):
    """An environment was used before its first `reset`."""


class BoardError(MrJackError):
    """A board file breaks the form of a board; the message names the field and the hex."""


class VariantError(MrJackError):
    """A variant (cast, turns, first, board) cannot be played."""


class NotationError(MrJackError):
    """Text is no action, position or hex of this variant."""


class IllegalActionError(MrJackError):
    """An action exists but is not legal here; the message lists legal ones of its kind."""


class RecordError(MrJackError):
    """A game record is damaged or disagrees with the rules; the message names the line."""


class AgentError(MrJackError):
    """An agent specification is wrong, or an agent broke its contract.

    Attributes:
        log: what the agent had said beside the game (`Agent.log`); empty when it said nothing.
    """

    log: str = ""


class IllegalChoiceError(AgentError):
    """An agent chose an action that is not legal."""


class TimeLimitError(AgentError):
    """An agent gave no answer in time."""


class TrainingError(MrJackError):
    """Games to learn from cannot be played, read or kept, or are too few."""


class TournamentError(MrJackError):
    """A tournament cannot be run as described, or its results cannot be read or written."""


class LabError(MrJackError):
    """A variant too large to solve, or a solution file that does not fit."""
