"""`Observation`: what one player may know, as data (docs/rules.md, section 8).

Strings, tensors, masks, pictures and belief all hang off the observation, which holds the hidden
facts nowhere: the identity is masked for the Detective, the other's alibi cards for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mrjack_ai.common.text import shown
from mrjack_ai.engine import features, kernels
from mrjack_ai.engine.layout import (
    COUNT_WORD,
    EVENT_ALIBI,
    EVENT_DEAL,
    EVENT_HIDDEN_SEAT,
    EVENT_JACK,
    EVENT_WITNESS,
    EVENTS_WORD,
    STATE_WORDS,
)
from mrjack_ai.engine.tables import WHISTLE_STEPS, build_tables, max_game_length
from mrjack_ai.engine.types import NODE_NAMES, EndingKind, Player, Words
from mrjack_ai.errors import NotationError
from mrjack_ai.game.actions import ActionSpace, action_space
from mrjack_ai.game.notation import position_text
from mrjack_ai.game.position import PositionView
from mrjack_ai.setup.board import DIRECTIONS
from mrjack_ai.setup.variant import MAX_TURNS, PLAYER_NAMES, Variant

EVENT_BITS = 16
"""Bits of one event code in the information state tensor."""


@dataclass(frozen=True)
class Observation(PositionView):
    """What a player may know at one moment, and nothing else.

    Reads like a `State`: `positions`, `suspects()`, `visible()`, `cards()` and so on; `identity`
    is None for the Detective, `alibis(other)` is empty (`alibi_count` is public).

    Attributes:
        variant: the variant played.
        player: whose observation it is, 0 the Detective, 1 Jack.
        actions: ids of the legal actions, ascending; empty unless it is this player's turn.
        position: the masked packed position, bytes.
        events: event codes of the game so far (see `engine.layout`), hidden ones masked.
        root: for a game that began in a set-up position, that position masked; else None.
    """

    variant: Variant
    player: int
    actions: tuple[int, ...]
    position: bytes
    events: tuple[int, ...]
    root: bytes | None = None

    def position_words(self) -> Words:
        """The masked packed position: `uint64`, shape `(STATE_WORDS,)`, a fresh copy."""
        # Not a read-only view of the bytes: to numba that is another type to compile for.
        return np.frombuffer(bytearray(self.position), np.uint64)

    def legal_actions(self) -> list[int]:
        """Ids of the legal actions, ascending; empty unless it is this player's turn."""
        return list(self.actions)

    def legal_actions_mask(self) -> npt.NDArray[np.bool_]:
        """Legal actions as a mask: `bool`, shape `(num_actions,)`."""
        mask = np.zeros(action_space(self.variant).num_actions, np.bool_)
        mask[list(self.actions)] = True
        return mask

    def action_to_string(self, action: int) -> str:
        """Text of a player action (section 9).

        Raises:
            ArgumentError: for an id outside 0..num_actions - 1.
        """
        return action_space(self.variant).name(action)

    def string_to_action(self, text: str) -> int:
        """Id of a player action from its text (section 9).

        Raises:
            NotationError: when no player action of this variant reads so.
        """
        space = action_space(self.variant)
        action = space.parse(text)
        if space.is_chance_text(text):
            raise NotationError(f"{shown(text)} is an outcome of chance, no player's action")
        return action

    def history(self) -> tuple[str, ...]:
        """Everything this player has seen or heard so far, one text an event."""
        space = action_space(self.variant)
        return tuple([event_text(space, code) for code in self.events])

    def information_state_string(self) -> str:
        """Everything this player has seen since the start: perfect recall.

        Two histories give a player the same text exactly if he cannot tell them apart.
        """
        parts = [PLAYER_NAMES[self.player]]
        if self.root is not None:
            root = position_text(self.variant, np.frombuffer(self.root, np.uint64))
            parts.append(f"from {root}")
        parts += self.history()
        ending = int(self._record["ending"])
        if ending != EndingKind.NOT_ENDED:
            parts.append(f"end {self.outcome()}")
        return "; ".join(parts)

    def observation_string(self) -> str:
        """The position as this player sees it now; see `mrjack_ai.game.notation` for the words."""
        return f"{PLAYER_NAMES[self.player]}: {position_text(self.variant, self.position_words())}"

    def observation_tensor(self) -> npt.NDArray[np.float32]:
        """The position as this player sees it now, as numbers.

        Returns:
            float32 0s and 1s, shape `(n,)`, the sections of `tensor_sections` one after the
            other.
        """
        out = np.zeros(tensor_size(self.variant), np.float32)
        features.features(self.position_words(), build_tables(self.variant), self.player, out)
        return out

    def information_state_tensor(self) -> npt.NDArray[np.float32]:
        """The observation tensor, then every event so far (perfect recall).

        Returns:
            float32 0s and 1s, shape `(tensor_size + max_events * EVENT_BITS,)`; see `event_bits`.
            Of a game that was set up in a position, only what came after is remembered.
        """
        bits = event_bits(self.variant, self.events)
        return np.concatenate([self.observation_tensor(), bits.ravel()])

    def __str__(self) -> str:
        return self.observation_string()


def max_events(variant: Variant) -> int:
    """Most events of one game: its actions and the calls for witnesses."""
    return max_game_length(variant) + variant.turns - 1


@lru_cache(maxsize=256)
def tensor_sections(variant: Variant) -> dict[str, tuple[int, ...]]:
    """Name and shape of each section of the observation tensor, in order.

    All entries are 0 or 1. With S seats, H street hexes, L gaslight places, E exits, T turns:

    | section | shape | meaning |
    |---|---|---|
    | observer | 2 | whose observation it is: Detective, Jack |
    | to_move | 2 | the observer decides; the other player decides |
    | node | 8 | kind of node, order of `NODE_NAMES` |
    | turn | T | number of the turn; all 0 before turn 1 |
    | position | S, H | hex of each character |
    | open_manholes | H | manholes without a cover |
    | lit_hexes | H | hexes next to a lit gaslight or in the beam |
    | visible | S | visible characters |
    | lamps | L | places with a lit tile |
    | tiles | 8, L | place of each numbered tile |
    | cordons | E | exits with a cordon |
    | light | 6 | direction of the lantern |
    | witness_seen | 1 | the witness card shows seen |
    | cleared | S | cleared by witnesses |
    | exonerated | S | exonerated by a forced stay |
    | identity | S | who Jack is; all 0 for the Detective |
    | own_alibis | S | alibi cards drawn by the observer |
    | alibi_counts | 2, S | how many cards each player drew, one-hot from 1 |
    | dealt | S | cards dealt on the odd turn of this pair |
    | cards | S | cards of this turn not played to their end |
    | playing | S | character being played |
    | play | 2 | he has moved; his ability is open |
    | whistle_steps | 2 | steps left to spend: 1, 2 |
    | whistled | S | characters whistled in this play |
    | accused | S | character accused |
    | ending | 5 | going on, caught, wrong accusation, escape, dawn |
    """
    seats, hexes = len(variant.cast), len(variant.board.streets)
    lamps, exits = len(variant.board.gaslights), len(variant.board.exits)
    return {
        "observer": (2,),
        "to_move": (2,),
        "node": (len(NODE_NAMES),),
        "turn": (variant.turns,),
        "position": (seats, hexes),
        "open_manholes": (hexes,),
        "lit_hexes": (hexes,),
        "visible": (seats,),
        "lamps": (lamps,),
        "tiles": (MAX_TURNS, lamps),
        "cordons": (exits,),
        "light": (len(DIRECTIONS),),
        "witness_seen": (1,),
        "cleared": (seats,),
        "exonerated": (seats,),
        "identity": (seats,),
        "own_alibis": (seats,),
        "alibi_counts": (2, seats),
        "dealt": (seats,),
        "cards": (seats,),
        "playing": (seats,),
        "play": (2,),
        "whistle_steps": (WHISTLE_STEPS - 1,),
        "whistled": (seats,),
        "accused": (seats,),
        "ending": (len(EndingKind),),
    }


def split_tensor(
    tensor: npt.NDArray[Any], sections: Mapping[str, tuple[int, ...]]
) -> dict[str, npt.NDArray[Any]]:
    """The sections of tensors, shaped: views, no copies.

    Args:
        tensor: shape `(..., size)`, the sections along the last axis.
        sections: name and shape of each, in order, such as `tensor_sections(variant)`.
    """
    found, at = {}, 0
    for name, shape in sections.items():
        size = int(np.prod(shape))
        found[name] = tensor[..., at : at + size].reshape(*tensor.shape[:-1], *shape)
        at += size
    return found


@lru_cache(maxsize=256)
def tensor_size(variant: Variant) -> int:
    """Length of the observation tensor."""
    return sum(int(np.prod(shape)) for shape in tensor_sections(variant).values())


def event_text(space: ActionSpace, code: int) -> str:
    """Text of one event: the notation of section 9, and what witnesses said."""
    if code < EVENT_JACK:
        return space.names[code]
    if code < EVENT_DEAL:
        seat = code - EVENT_JACK
        return "jack ?" if seat == EVENT_HIDDEN_SEAT else space.outcome_names["jack"][seat]
    if code < EVENT_ALIBI:
        return space.outcome_names["deal"][code - EVENT_DEAL]
    if code < EVENT_WITNESS:
        seat = code & 0x0F
        return "alibi ?" if seat == EVENT_HIDDEN_SEAT else space.outcome_names["alibi"][seat]
    return "witness seen" if code & 1 else "witness unseen"


def read_events(game: Words) -> list[int]:
    """Event codes of a game held by Python (see `engine.layout`)."""
    count = int(game[COUNT_WORD])
    codes: list[int] = game[EVENTS_WORD:].view(np.uint16)[:count].tolist()
    return codes


def mask_event(code: int, player: int | None) -> int:
    """An event as `player` sees it; None sees only what is public."""
    if EVENT_JACK <= code < EVENT_DEAL and player != Player.JACK:
        return code | EVENT_HIDDEN_SEAT
    if EVENT_ALIBI <= code < EVENT_WITNESS and (code - EVENT_ALIBI) >> 4 != player:
        return code | EVENT_HIDDEN_SEAT
    return code


def _masked_position(words: Words, player: int | None) -> bytes:
    copy = words[:STATE_WORDS].copy()
    for observer in (Player.DETECTIVE, Player.JACK) if player is None else (player,):
        kernels.mask_state(copy, observer)
    return copy.tobytes()


def observe_game(
    variant: Variant, game: Words, root: Words | None, player: int, actions: tuple[int, ...]
) -> Observation:
    """The observation of a player from the words of a game.

    Args:
        variant: the variant.
        game: `uint64[game_words]`.
        root: packed position the game was set up in, or None for the normal start.
        player: 0 or 1.
        actions: legal actions when it is this player's turn, else empty.
    """
    return Observation(
        variant=variant,
        player=player,
        actions=actions,
        position=_masked_position(game, player),
        events=tuple([mask_event(code, player) for code in read_events(game)]),
        root=None if root is None else _masked_position(root, player),
    )


def observe_public(variant: Variant, game: Words, player: int) -> Observation:
    """What everybody knows: as `observe_game`, with the secrets of both players hidden."""
    return Observation(
        variant=variant,
        player=player,
        actions=(),
        position=_masked_position(game, None),
        events=tuple([mask_event(code, None) for code in read_events(game)]),
    )


def event_bits(variant: Variant, events: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Event codes in binary, each one more than the code, so that no event is all zeroes.

    Returns:
        float32 0s and 1s, shape `(max_events, EVENT_BITS)`, lowest bit first.
    """
    codes = np.zeros(max_events(variant), np.uint32)
    codes[: len(events)] = np.array(events, np.uint32) + 1
    bits = (codes[:, None] >> np.arange(EVENT_BITS, dtype=np.uint32)) & 1
    return bits.astype(np.float32)
