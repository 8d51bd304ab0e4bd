"""`State`: one game in progress, with OpenSpiel's method names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mrjack_ai.common.numbers import WholeNumbers
from mrjack_ai.common.text import listed, shown
from mrjack_ai.engine import kernels
from mrjack_ai.engine.layout import (
    EVENT_ALIBI,
    EVENT_JACK,
    EVENT_WITNESS,
    STATE_WORDS,
    game_words,
    node_of,
    player_of,
)
from mrjack_ai.engine.tables import MAX_ACTIONS, build_tables
from mrjack_ai.engine.types import NodeKind, Player, Words
from mrjack_ai.engine.warmup import ENGINE
from mrjack_ai.errors import ArgumentError, IllegalActionError, NotationError, VariantError
from mrjack_ai.game.actions import ActionSpace, action_space
from mrjack_ai.game.notation import parse_position, position_text
from mrjack_ai.game.observation import Observation, event_text, observe_game, read_events
from mrjack_ai.game.position import PositionView
from mrjack_ai.setup.board import Board
from mrjack_ai.setup.variant import (
    DEFAULT_VARIANT,
    FULL_CAST,
    MAX_TURNS,
    Variant,
    checked_player,
    make_variant,
)

_WHOLE_NUMBERS = WholeNumbers(-(2**64), 2**64)
"""All that NumPy has; which ones are ids says the variant."""


class State(PositionView):
    """A position of the game with the history that led to it.

    Make one with `new_game()` or from a position text. Players are 0 (Detective) and 1 (Jack);
    `current_player` is -1 at chance nodes and -4 at the end. Two states are equal when their
    variants and positions are; the history does not count.

    Args:
        text: a position text (see `mrjack_ai.game.notation`); None starts a new game.
        variant: the variant; by default what the text says, or the standard game.

    Raises:
        NotationError: when the text is no position of the game.
    """

    __slots__ = ("_root", "_space", "_tables", "_variant", "_words")

    _variant: Variant
    _space: ActionSpace
    _tables: Words
    _words: Words
    _root: Words | None

    def __init__(self, text: str | None = None, variant: Variant | None = None) -> None:
        position = None
        if text is not None:
            variant, position = parse_position(text, variant)
        elif variant is None:
            variant = DEFAULT_VARIANT
        if not isinstance(variant, Variant):
            raise VariantError(f"{shown(variant)} is no Variant; make_variant(...) builds one")
        ENGINE.ensure()
        words = np.zeros(game_words(variant), np.uint64)
        if position is None:
            kernels.start_game(words, build_tables(variant))
        else:
            words[:STATE_WORDS] = position
        self._fill(variant, words, position)
        if position is not None:
            self._check_playable(text or "")

    def _fill(self, variant: Variant, words: Words, root: Words | None) -> None:
        self._variant = variant
        self._space = action_space(variant)
        self._tables = build_tables(variant)
        self._words = words
        self._root = root

    def _check_playable(self, text: str) -> None:
        """A typed position must have an action, unless the game is over."""
        if self.is_terminal():
            return
        actions = self.legal_actions()
        stays = (
            not self.is_chance_node() and self._space.names[actions[0]] == "stay"
            if actions
            else False
        )
        if not actions or (stays and self.has_moved):
            raise NotationError(
                f"position text: nothing is left to do at node={self.node}; the play has ended"
            )

    @classmethod
    def from_words(cls, variant: Variant, words: Words, root: Words | None = None) -> State:
        """A state around the words of a game (see `engine.layout`), which it then owns."""
        state = cls.__new__(cls)
        state._fill(variant, words, root)
        return state

    # -- PositionView ---------------------------------------------------------------------

    @property
    def variant(self) -> Variant:
        """The variant played."""
        return self._variant

    def position_words(self) -> Words:
        """The packed position: `uint64`, shape `(STATE_WORDS,)`; do not write to it."""
        return self._words[:STATE_WORDS]

    def current_player(self) -> int:
        """Who decides: 0 Detective, 1 Jack, -1 chance, -4 nobody."""
        return player_of(self._words)

    def is_terminal(self) -> bool:
        """True when the game is over."""
        return node_of(self._words) == NodeKind.TERMINAL

    # -- playing --------------------------------------------------------------------------

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Ids of the legal actions, ascending; outcome ids at a chance node.

        Args:
            player: when given, the list is empty unless this player is to move; -1 is chance.

        Raises:
            ArgumentError: when there is no such player.
        """
        if player is not None and not self._decides(player):
            return []
        scratch = kernels.scratch.actions
        count = kernels.legal_actions(self._words, self._tables, scratch)
        actions: list[int] = scratch[:count].tolist()
        return actions

    def _decides(self, player: int) -> bool:
        """Whether this is whose turn it is, chance and nobody included."""
        nobody = type(player) in (int, Player) and player in (Player.CHANCE, Player.TERMINAL)
        if not nobody:
            player = checked_player(player)
        return player == self.current_player()

    def legal_actions_mask(self, player: int | None = None) -> npt.NDArray[np.bool_]:
        """Legal actions as a mask: `bool`, shape `(num_actions,)`.

        Empty (all False) for a player who is not to move, and at chance nodes.

        Raises:
            ArgumentError: when there is no such player.
        """
        mask = np.zeros(self._space.num_actions, np.bool_)
        legal = self.legal_actions(player)
        if self.current_player() >= 0:
            mask[legal] = True
        return mask

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcome ids and probabilities at a chance node; all outcomes are equally likely.

        Raises:
            IllegalActionError: when this is no chance node.
        """
        if not self.is_chance_node():
            raise IllegalActionError(f"a {self.node} node is no chance node")
        outcomes = self.legal_actions()
        return [(outcome, 1.0 / len(outcomes)) for outcome in outcomes]

    def apply_action(self, action: int | str) -> None:
        """Play an action, or a chance outcome at a chance node, in place.

        Args:
            action: its id, or its text (section 9).

        Raises:
            NotationError: when a text is no action of this variant.
            IllegalActionError: when it is not legal here; the state is unchanged.
            ArgumentError: when it is neither an integer nor a text.
        """
        if type(action) is not int:
            action = self._plain_id(action)
        if (
            not 0 <= action < MAX_ACTIONS
            or kernels.apply_action(self._words, self._tables, action, kernels.scratch.actions) < 0
        ):
            raise self._illegal(action)

    def _plain_id(self, action: object) -> int:
        """The id that a text or another kind of integer stands for."""
        if isinstance(action, str):
            return self.string_to_action(action)
        try:
            return _WHOLE_NUMBERS.read(action, "action")
        except ArgumentError:
            what = f"{shown(action)} ({type(action).__name__})"
            raise ArgumentError(f"{what} is no action; give its id or its text") from None

    def _illegal(self, action: int) -> IllegalActionError:
        if self.is_terminal():
            return IllegalActionError(f"the game is over ({self.outcome()}); nothing can be played")
        legal = [self.action_to_string(a) for a in self.legal_actions()]
        try:
            name = self.action_to_string(action)
            kind, told = name.split(" ")[0], repr(name)
        except ArgumentError:
            kind, told = "", f"action {shown(action)}"
        same_kind = [text for text in legal if text.split(" ")[0] == kind]
        return IllegalActionError(
            f"{told} is not legal here; legal are {listed(same_kind or legal)}"
        )

    def child(self, action: int | str) -> State:
        """A new state: this one after an action.

        Raises:
            NotationError, IllegalActionError: as `apply_action`.
        """
        state = self.clone()
        state.apply_action(action)
        return state

    def clone(self) -> State:
        """An independent copy."""
        state = State.__new__(State)
        state._variant = self._variant
        state._space = self._space
        state._tables = self._tables
        state._words = self._words.copy()
        state._root = self._root
        return state

    # -- names ----------------------------------------------------------------------------

    def action_to_string(self, *player_and_action: int) -> str:
        """Text of an action, or of an outcome at a chance node (section 9).

        Called with an action, or as in OpenSpiel with a player and an action.

        Raises:
            ArgumentError: when there is no such action.
        """
        action = player_and_action[-1]
        names = self._space.names
        if (
            player_and_action[0] if len(player_and_action) > 1 else self.current_player()
        ) == Player.CHANCE:
            kind = self.node if self.is_chance_node() else "jack"
            names = self._space.outcome_names[kind]
        return names[WholeNumbers(0, len(names) - 1).read(action, "action")]

    def string_to_action(self, *player_and_text: Any) -> int:
        """Id of an action or chance outcome from its text; inverse of `action_to_string`.

        Called with a text, or as in OpenSpiel with a player and a text.

        Raises:
            NotationError: when no action of this variant reads so.
            IllegalActionError: when it is a chance outcome but chance does not decide here, or
                the other way round.
        """
        action = self._space.parse(player_and_text[-1])
        text = " ".join(player_and_text[-1].split())
        if self._space.is_chance_text(text) != self.is_chance_node() and not self.is_terminal():
            raise IllegalActionError(
                f"{shown(text)} is not legal here; "
                f"{'chance decides' if self.is_chance_node() else 'a player decides'} at this node"
            )
        if self.is_chance_node() and text.split(" ")[0] != self.node:
            raise IllegalActionError(f"{shown(text)} is not legal here; this is a {self.node} node")
        return action

    # -- history --------------------------------------------------------------------------

    def events(self) -> list[int]:
        """Event codes so far (see `engine.layout`): actions, outcomes, witnesses' answers."""
        return read_events(self._words)

    def history(self) -> list[int]:
        """Ids of all actions and outcomes so far, in order."""
        return [
            code if code < EVENT_JACK else code & (0x0F if code >= EVENT_ALIBI else 0xFF)
            for code in self.events()
            if code < EVENT_WITNESS
        ]

    def history_strings(self) -> list[str]:
        """Texts of all actions and outcomes so far, in order (section 9)."""
        return [event_text(self._space, code) for code in self.events() if code < EVENT_WITNESS]

    def move_number(self) -> int:
        """How many actions and outcomes there were."""
        return sum(code < EVENT_WITNESS for code in self.events())

    @property
    def root_text(self) -> str | None:
        """Text of the position the game was set up in; None for the normal start."""
        return None if self._root is None else position_text(self._variant, self._root)

    # -- views ----------------------------------------------------------------------------

    def observation(self, player: int | None = None) -> Observation:
        """What a player may know now.

        Args:
            player: 0 or 1; by default whoever is to move.

        Raises:
            ArgumentError: for any other player, or when nobody is to move and none is given.
        """
        current = self.current_player()
        if player is None and current < 0:
            raise ArgumentError(
                f"nobody is to move at a {self.node} node; give a player, 0 (Detective) or 1 (Jack)"
            )
        player = current if player is None else checked_player(player)
        actions = tuple(self.legal_actions()) if player == current else ()
        return observe_game(self._variant, self._words, self._root, player, actions)

    def information_state_string(self, player: int | None = None) -> str:
        """As `Observation.information_state_string`."""
        return self.observation(player).information_state_string()

    def observation_string(self, player: int | None = None) -> str:
        """As `Observation.observation_string`."""
        return self.observation(player).observation_string()

    def observation_tensor(self, player: int | None = None) -> npt.NDArray[np.float32]:
        """As `Observation.observation_tensor`."""
        return self.observation(player).observation_tensor()

    def information_state_tensor(self, player: int | None = None) -> npt.NDArray[np.float32]:
        """As `Observation.information_state_tensor`."""
        return self.observation(player).information_state_tensor()

    # -- Python's own ---------------------------------------------------------------------

    def __str__(self) -> str:
        return position_text(self._variant, self._words)

    def __repr__(self) -> str:
        """Evaluable for built-in boards, as far as the position goes."""
        return f"State({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self._variant == other._variant and bytes(self.position_words()) == bytes(
            other.position_words()
        )

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> State:
        return self.clone()

    def __deepcopy__(self, memo: object) -> State:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        root = None if self._root is None else self._root.tobytes()
        return (_unpickle, (self._variant, self._words.tobytes(), root))


def _unpickle(variant: Variant, words: bytes, root: bytes | None) -> State:
    copy = np.frombuffer(words, np.uint64).copy()
    return State.from_words(
        variant, copy, None if root is None else np.frombuffer(root, np.uint64).copy()
    )


def new_game(
    variant: Variant | None = None,
    *,
    board: Board | str | Path = "whitechapel",
    cast: str | Iterable[str] = FULL_CAST,
    turns: int = MAX_TURNS,
    first: str = "detective",
) -> State:
    """A new game, before Jack's card is drawn.

    Args:
        variant: the variant; or describe it by the other arguments (see `Variant`).

    Raises:
        VariantError, BoardError: when there is no such variant.
    """
    if variant is None:
        variant = make_variant(board, cast, turns, first)
    return State(variant=variant)
