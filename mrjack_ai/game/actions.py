"""Action ids, `Action` and text: one bijection a variant (docs/rules.md, section 9).

Player actions and chance outcomes are numbered apart, as in OpenSpiel. The ids of player actions
are `0 .. num_actions - 1`, by kind in the order of `ACTION_KINDS` of `mrjack_ai.engine.tables`. The
ids of chance outcomes start at 0 at each kind of chance node: `jack` and `alibi` by seat, `deal` by
combination.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from mrjack_ai.common.numbers import WholeNumbers
from mrjack_ai.common.text import shown
from mrjack_ai.engine.tables import action_arguments, build_tables, deal_outcomes, tables_record
from mrjack_ai.engine.types import ACTION_KINDS, ActionKind
from mrjack_ai.errors import NotationError
from mrjack_ai.setup.board import DIRECTIONS
from mrjack_ai.setup.variant import Variant

CHANCE_KINDS: tuple[str, ...] = ("jack", "deal", "alibi")

_LONGEST_COMPARED = 40
"""Longer texts are cut before near misses are looked for, which takes time."""


@dataclass(frozen=True)
class Action:
    """A player's action or a chance outcome, as words.

    Attributes:
        kind: one of `ACTION_KINDS` or `CHANCE_KINDS`.
        arguments: what follows in the text: `("e5",)` for a move, `("MS", "h6", 3)` for a
            whistle, `("b2", "f9")` for a lamp, the codes for a deal.

    `str(action)` is the notation of section 9.
    """

    kind: str
    arguments: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        if not self.arguments:
            return self.kind
        words = [str(argument) for argument in self.arguments]
        joint = {"lamp": ">", "cordon": ">", "cover": ">", "deal": ","}.get(self.kind, " ")
        return f"{self.kind} {joint.join(words)}"


class ActionSpace:
    """All actions of one variant.

    Attributes:
        variant: the variant.
        actions: every player action by id.
        names: its text by id.
        outcomes: for each chance kind, the actions by outcome id.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.actions: tuple[Action, ...] = tuple(
            Action(ACTION_KINDS[kind], self._words(kind, arguments))
            for kind, by_kind in enumerate(action_arguments(variant))
            for arguments in by_kind
        )
        self.names: tuple[str, ...] = tuple(str(action) for action in self.actions)
        self._ids = {name: action for action, name in enumerate(self.names)}
        self._range = WholeNumbers(0, len(self.names) - 1)
        cast = variant.cast
        self.outcomes: dict[str, tuple[Action, ...]] = {
            "jack": tuple(Action("jack", (code,)) for code in cast),
            "deal": tuple(
                Action("deal", tuple(cast[seat] for seat in dealt))
                for dealt in deal_outcomes(len(cast))
            ),
            "alibi": tuple(Action("alibi", (code,)) for code in cast),
        }
        self.outcome_names: dict[str, tuple[str, ...]] = {
            kind: tuple(str(action) for action in actions)
            for kind, actions in self.outcomes.items()
        }
        self._outcome_ids = {
            name: outcome
            for names in self.outcome_names.values()
            for outcome, name in enumerate(names)
        }

    def _words(self, kind: int, arguments: tuple[int, int, int]) -> tuple[str | int, ...]:
        board, cast = self.variant.board, self.variant.cast
        first, second, third = arguments
        if kind in (ActionKind.PICK, ActionKind.ACCUSE, ActionKind.SWAP):
            return (cast[first],)
        if kind == ActionKind.LIGHT:
            return (DIRECTIONS[first],)
        if kind == ActionKind.ESCAPE:
            return (board.exit_names[first],)
        if kind == ActionKind.MOVE:
            return (board.streets[first],)
        if kind == ActionKind.LAMP:
            return (board.gaslights[first], board.gaslights[second])
        if kind == ActionKind.CORDON:
            return (board.exit_names[first], board.exit_names[second])
        if kind == ActionKind.COVER:
            return (board.manholes[first], board.manholes[second])
        if kind == ActionKind.WHISTLE:
            return (cast[first], board.streets[second], third)
        return ()

    @property
    def num_actions(self) -> int:
        """Number of player actions."""
        return len(self.names)

    @property
    def max_chance_outcomes(self) -> int:
        """Most outcomes of one chance node; outcome ids are below it."""
        return max(len(names) for names in self.outcome_names.values())

    def parse(self, text: str) -> int:
        """Id of a player action or chance outcome from its text.

        Extra white space is forgiven.

        Raises:
            NotationError: when no action of this variant reads so, naming near misses.
        """
        if not isinstance(text, str):
            raise NotationError(f"{shown(text)} is no text of an action, such as 'move e5'")
        name = " ".join(text.split())
        if name in self._ids:
            return self._ids[name]
        if name in self._outcome_ids:
            return self._outcome_ids[name]
        known = [*ACTION_KINDS, *CHANCE_KINDS]
        word, told = name.split(" ")[0], shown(text)
        if word not in known:
            raise NotationError(f"{told} is no action; actions begin with {', '.join(known)}")
        pool = [n for n in (*self.names, *self._outcome_ids) if n.split(" ")[0] == word]
        if not pool:
            raise NotationError(f"{told} is no action here: this variant has no {word!r} action")
        near = get_close_matches(name[:_LONGEST_COMPARED], pool, n=3, cutoff=0.0)
        raise NotationError(f"{told} is no action of this variant; compare {', '.join(near)}")

    def name(self, action: int) -> str:
        """Text of a player action.

        Raises:
            ArgumentError: when there is no such action.
        """
        return self.names[self._range.read(action, "action")]

    def is_chance_text(self, text: str) -> bool:
        """True when the text is a chance outcome's."""
        return " ".join(text.split()) in self._outcome_ids


@lru_cache(maxsize=256)
def action_space(variant: Variant) -> ActionSpace:
    """The actions of a variant, built once."""
    return ActionSpace(variant)


@lru_cache(maxsize=64)
def accusation_ids(variant: Variant) -> tuple[int, int]:
    """First accusation id and the id after the last; seats are in order between them."""
    base = tables_record(build_tables(variant))["base"]
    return int(base[ActionKind.ACCUSE]), int(base[ActionKind.ACCUSE + 1])
