"""Players' actions in plain words: what each kind is, what is asked about it, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mrjack_ai.game.observation import Observation
from mrjack_ai.game.position import PositionView
from mrjack_ai.game.state import State
from mrjack_ai.setup.characters import KIND_BY_CODE


@dataclass(frozen=True)
class Explanation:
    """A kind of action explained.

    Attributes:
        meaning: what it is, in a few words.
        questions: what a menu asks for each further word of the action.
    """

    meaning: str
    questions: tuple[str, ...] = ()


EXPLANATIONS: dict[str, Explanation] = {
    "pick": Explanation("play a card", ("Whose card?",)),
    "move": Explanation("walk to a free hex", ("Where to?",)),
    "accuse": Explanation(
        "walk onto a character and say that he is Jack: right wins, wrong loses the game",
        ("Whom? A wrong accusation loses the game.",),
    ),
    "escape": Explanation("leave the board and win", ("Through which exit?",)),
    "stay": Explanation("he can neither move nor do anything: pass"),
    "lamp": Explanation(
        "move a lit gaslight to a gaslight that is out",
        ("Which gaslight goes out?", "Which one is lit instead?"),
    ),
    "cordon": Explanation(
        "move a cordon: it closes another exit",
        ("Which exit is opened?", "Which one is closed instead?"),
    ),
    "cover": Explanation(
        "move a manhole cover: it opens one manhole and closes another",
        ("Which manhole is opened?", "Which one is covered instead?"),
    ),
    "swap": Explanation("change places with a character; he does not move then", ("With whom?",)),
    "whistle": Explanation(
        "make a character come nearer; 3 steps must be spent in all where possible",
        ("Whom?", "Where to?", "How many of the steps does that take?"),
    ),
    "light": Explanation("aim the lantern", ("Which way?",)),
}
"""By the first word of an action (docs/rules.md, section 9)."""


def named(code: str) -> str:
    """Name and code of a character."""
    return f"{KIND_BY_CODE[code].name} ({code})"


@dataclass(frozen=True)
class Deed:
    """What a character did.

    Attributes:
        text: in words, with the character left out: `moves from d5 to e5`.
        start: hex, or for a cordon the exit, where something was before; None where nothing went
            from one place to another.
        end: hex, or for a cordon and an escape the exit, where it is now.
    """

    text: str
    start: str | None = None
    end: str | None = None


def deed(
    words: Sequence[str], code: str, where: Mapping[str, str], lamps: Mapping[str, int | None]
) -> Deed:
    """An action, other than picking a card, in words.

    Args:
        words: those of the action, its kind first.
        code: the character being played.
        where: hex of each character before the action.
        lamps: tile on each lit gaslight before the action, None for a plain one.
    """
    kind, *rest = words
    here = where[code]
    if kind == "move":
        return Deed(f"moves from {here} to {rest[0]}", here, rest[0])
    if kind == "accuse":
        return Deed(f"accuses {named(rest[0])}", here, where[rest[0]])
    if kind == "escape":
        return Deed(f"escapes through exit {rest[0]}", here, rest[0])
    if kind == "lamp":
        number = lamps[rest[0]]
        which = "a gaslight" if number is None else f"gaslight {number}"
        return Deed(f"moves {which} from {rest[0]} to {rest[1]}", *rest)
    if kind in ("cordon", "cover"):
        return Deed(f"moves the {kind} from {rest[0]} to {rest[1]}", *rest)
    if kind == "swap":
        there = where[rest[0]]
        places = f"{code} to {there}, {rest[0]} to {here}"
        return Deed(f"swaps with {rest[0]} ({places})", here, there)
    if kind == "whistle":
        called, to, steps = rest
        count = "1 step" if steps == "1" else f"{steps} steps"
        there = where[called]
        return Deed(f"whistles {called} from {there} to {to} ({count})", there, to)
    if kind == "light":
        return Deed(f"aims the lantern {rest[0]}")
    return Deed("cannot move, and stays", end=here)


@dataclass(frozen=True)
class LastAction:
    """What a player did last, and where.

    Attributes:
        kind: first word of the action.
        sentence: what was done, in words.
        start: as that of `Deed`.
        end: likewise.
    """

    kind: str
    sentence: str
    start: str | None = None
    end: str | None = None


def last_action(view: PositionView) -> LastAction | None:
    """The last action of a player; None before there was one, and in a position that was set up."""
    root: PositionView = State(variant=view.variant)
    if isinstance(view, Observation):
        texts: Iterable[str] = view.history()
        if view.root is not None:
            root = replace(view, position=view.root)
    else:
        assert isinstance(view, State)
        texts = view.history_strings()
        if view._root is not None:
            root = State.from_words(view.variant, view._root)
    where, lamps, code = root.positions, root.lit_gaslights, root.playing
    last: LastAction | None = None
    for text in texts:
        words = text.replace(">", " ").split()
        kind = words[0]
        if kind not in EXPLANATIONS:
            continue  # chance, or what witnesses say
        if kind == "pick":
            code = words[1]
            last = LastAction(kind, f"{code} is picked")
            continue
        assert code is not None
        done = deed(words, code, where, lamps)
        last = LastAction(kind, f"{code} {done.text}", done.start, done.end)
        if kind == "move":
            where[code] = words[1]
        elif kind == "swap":
            where[code], where[words[1]] = where[words[1]], where[code]
        elif kind == "whistle":
            where[words[1]] = words[2]
        elif kind == "lamp":
            lamps[words[2]] = lamps.pop(words[1])
    return last
