"""Legal actions as menus in steps, and as typed text.

Both work on the words of an action: `lamp b2>f9` has the words `lamp`, `b2` and `f9`. A menu asks
for one word after the other; a typed text gives some or all of them, or their beginnings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from mrjack_ai.common.text import shown
from mrjack_ai.errors import MrJackError
from mrjack_ai.game.actions import Action, action_space
from mrjack_ai.game.observation import Observation
from mrjack_ai.setup.characters import KINDS
from mrjack_ai.setup.variant import Variant

Words = tuple[str, ...]
"""Words of an action, or the first of them."""

_MOST_ALIKE = 8
_SHORTEST_NAME = 3
"""Letters of a character's name that must be typed at least."""


class NoMatchError(MrJackError):
    """A typed text is no legal action; the message says why, and which are like it."""


def words_of(action: Action) -> Words:
    """Words of an action: its kind, then its arguments."""
    return (action.kind, *map(str, action.arguments))


def text_of(words: Words) -> str:
    """The notation (docs/rules.md, section 9) of words, or of the first words, of an action."""
    return str(Action(words[0], words[1:])) if words else ""


@dataclass(frozen=True)
class Menu:
    """Some legal actions that begin with the same words, and the choice of the next word.

    Attributes:
        path: the words they share.
        actions: the words of each of them, in the order of the ids.
        ids: their ids.
    """

    path: Words
    actions: tuple[Words, ...]
    ids: tuple[int, ...]

    @classmethod
    def of(cls, view: Observation, ids: Iterable[int] | None = None) -> Menu:
        """A menu of some of the legal actions, by default of all.

        Args:
            view: what the player to move knows.
            ids: the actions, ascending.
        """
        chosen = view.actions if ids is None else tuple(ids)
        space = action_space(view.variant)
        actions = tuple(words_of(space.actions[action]) for action in chosen)
        path: list[str] = []
        for column in zip(*actions, strict=False):
            if len(set(column)) > 1:
                break
            path.append(column[0])
        return cls(tuple(path), actions, chosen)

    def next_words(self) -> tuple[str, ...]:
        """What there is to choose from, each once; empty when one action is left."""
        at = len(self.path)
        found = dict.fromkeys(words[at] for words in self.actions if len(words) > at)
        # An accusation ends the game: not the first thing to offer.
        return tuple(sorted(found, key=lambda word: at == 0 and word == "accuse"))

    def count(self, word: str) -> int:
        """How many actions go on with a word."""
        return len(self._with(word))

    def choose(self, view: Observation, word: str) -> Menu:
        """The menu after a word."""
        return Menu.of(view, self._with(word))

    def _with(self, word: str) -> tuple[int, ...]:
        wanted = (*self.path, word)
        return tuple(
            action
            for action, words in zip(self.ids, self.actions, strict=True)
            if words[: len(wanted)] == wanted
        )


# -- typed text ---------------------------------------------------------------------------


def match(view: Observation, text: str, path: Words = ()) -> tuple[int, ...]:
    """The legal actions that a typed text can mean.

    Case does not matter; words may be shortened as long as the shorter word is not one itself
    (`m e5` is `move e5`, but `move e1` is not `move e12`), characters may be given by name, and
    the kind may be left out. An accusation must be spelled out: it ends the game.

    Args:
        view: what the player to move knows.
        text: what was typed.
        path: first words of the action, chosen before.

    Returns:
        Ids, ascending, at least one. More than one when the text is the beginning of several.

    Raises:
        NoMatchError: when no legal action reads so.
    """
    typed = _typed_words(text, view.variant)
    if not typed:
        raise NoMatchError("nothing was typed")
    space = action_space(view.variant)
    legal = [(action, words_of(space.actions[action])) for action in view.actions]
    for first in (tuple(word.lower() for word in path), ()):
        found = _matching([*first, *typed], legal)
        if found:
            return found
    bare = [
        (action, words[1:]) for action, words in legal if words[0] != "accuse" and len(words) > 1
    ]
    found = _matching(typed, bare)
    if found:
        return found
    raise NoMatchError(_why_not(view, text, typed, legal))


def _typed_words(text: str, variant: Variant) -> list[str]:
    """The words of a text in lower case, names of characters replaced by their codes."""
    found: list[str] = []
    named: str | None = None
    for word in re.split(r"[\s>,]+", text.strip().lower()):
        owners = {
            kind.code.lower()
            for kind in KINDS
            if kind.code in variant.cast
            and len(word) >= _SHORTEST_NAME
            and any(part.startswith(word) for part in kind.name.lower().split())
        }
        code = owners.pop() if len(owners) == 1 else None
        if code is not None and code == named:
            continue  # the second word of one name
        named = code
        if word:
            found.append(code or word)
    return found


def _matching(typed: list[str], legal: list[tuple[int, Words]]) -> tuple[int, ...]:
    left = [(action, words) for action, words in legal if len(words) >= len(typed)]
    for place, word in enumerate(typed):
        at = [(action, words, words[place].lower()) for action, words in left]
        exact = [(action, words) for action, words, other in at if other == word]
        left = exact or [
            (action, words)
            for action, words, other in at
            if other.startswith(word) and other != "accuse"
        ]
    return tuple(action for action, _ in left)


def _why_not(view: Observation, text: str, typed: list[str], legal: list[tuple[int, Words]]) -> str:
    told = shown(" ".join(text.split()))
    begun = {words[0] for _, words in legal if words[0].startswith(typed[0])} - {"accuse"}
    if len(begun) == 1:
        typed = [*begun, *typed[1:]]
    known = set(map(words_of, action_space(view.variant).actions))
    lower = {tuple(word.lower() for word in words) for words in known}
    kinds = dict.fromkeys(words[0] for _, words in legal)
    if tuple(typed) in lower:
        problem = f"{told} is not legal now"
    elif typed[0] in {words[0] for words in known} and typed[0] not in kinds:
        problem = f"{told}: {shown(typed[0])} is not possible now"
    else:
        problem = f"{told} is no action"
    # Of the same kind first, then those that look most like it.
    typed_text = " ".join(typed)
    ranked = sorted(
        (words for _, words in legal),
        key=lambda words: (
            words[0] != typed[0],
            -SequenceMatcher(None, " ".join(words).lower(), typed_text).ratio(),
        ),
    )
    same = [words for words in ranked if words[0] == typed[0]]
    alike = (same or ranked)[:_MOST_ALIKE]
    more = len(same or ranked) - len(alike)
    rest = f" and {more} more" if more > 0 else ""
    kinds_text = "" if same else f"; actions begin with {', '.join(kinds)}"
    return f"{problem}; legal are {', '.join(map(text_of, alike))}{rest}{kinds_text}"


def completions(view: Observation, typed: str, path: Words = ()) -> list[str]:
    """How a typed text can go on: whole lines, each one word longer than what is typed.

    Args:
        view: what the player to move knows.
        typed: what stands before the cursor.
        path: words chosen in menus; a text may also go on from them.
    """
    space = action_space(view.variant)
    prefix = text_of(path)
    found: dict[str, None] = {}
    for action in view.actions:
        name = space.names[action]
        lines = [name]
        if path and name.startswith(prefix):
            lines.append(name[len(prefix) :].lstrip(" >"))
        for line in lines:
            if line.lower().startswith(typed.lower()) and len(line) > len(typed):
                end = re.compile(r"[ >]").search(line, len(typed) + (typed[-1:] in " >"))
                found[line[: end.end()] if end else line] = None
    return list(found)
