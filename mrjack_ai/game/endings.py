"""How a game can end (docs/rules.md, section 7), and what each ending is called."""

from __future__ import annotations

from dataclasses import dataclass

from mrjack_ai.engine.types import EndingKind


@dataclass(frozen=True)
class Ending:
    """One way for a game to end.

    Attributes:
        number: value of the field `ending` of the packed state.
        word: its name in records, position texts and columns of tables.
        name: its name in `Outcome` and in what people read.
        reason: why the game is over, in words.
    """

    number: EndingKind
    word: str
    name: str
    reason: str


ENDINGS: tuple[Ending, ...] = (
    Ending(EndingKind.CAUGHT, "caught", "caught", "the accusation was right"),
    Ending(EndingKind.WRONG_ACCUSATION, "wrong", "wrong accusation", "the accusation was wrong"),
    Ending(EndingKind.ESCAPE, "escape", "escape", "Jack escaped"),
    Ending(EndingKind.DAWN, "dawn", "dawn", "dawn came, and Jack was not caught"),
)
"""The endings, in the order of their numbers; only the first is won by the Detective."""

ENDING_BY_NUMBER: dict[int, Ending] = {ending.number: ending for ending in ENDINGS}
ENDING_BY_WORD: dict[str, Ending] = {ending.word: ending for ending in ENDINGS}
ENDING_BY_NAME: dict[str, Ending] = {ending.name: ending for ending in ENDINGS}
