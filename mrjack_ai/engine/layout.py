"""The packed state: one record, described here and nowhere else.

A position is one `STATE` record of `STATE_WORDS` `uint64` words. It holds no random generator and
nothing of the future: chance is explicit. Unused fields always have their neutral value, so equal
positions have equal bytes.

Python holds a *game*: the words of the position, one word that counts events, then the events so
far, four 16-bit codes a word. Search kernels use the position alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mrjack_ai.engine.tables import max_game_length
from mrjack_ai.engine.types import Player
from mrjack_ai.setup.variant import MAX_SEATS, MAX_TURNS, Variant

PLAYER_BY_BYTE: dict[int, int] = {player & 0xFF: int(player) for player in Player}
"""Player id by the byte that holds it in word SUMMARY_WORD."""

STATE = np.dtype(
    [
        ("occupied", "u8"),  # street hexes with a character
        ("covered", "u8"),  # street hexes with a manhole cover
        ("lit", "u8"),  # gaslight places with a tile
        ("cordons", "u8"),  # exits with a cordon
        ("position", "u1", (MAX_SEATS,)),  # hex by seat, NO_SEAT beyond the cast
        ("tile_place", "u1", (MAX_TURNS,)),  # gaslight place of tile 1..8, NO_SEAT when gone
        # The next eight bytes are word SUMMARY_WORD, so Python reads them in one go.
        ("node", "u1"),  # NodeKind
        ("player", "i1"),  # Player: who decides
        ("turn", "u1"),  # 0 before the first deal
        ("play", "u1"),  # index of the play in the turn
        ("jack", "u1"),  # seat, NO_SEAT before the draw or when hidden
        ("seen", "u1"),  # witness card
        ("light", "u1"),  # direction of Watson's lantern, NO_SEAT without him
        ("cleared", "u1"),  # seats cleared by witnesses
        ("exonerated", "u1"),  # seats that a forced `stay` shows not to be Jack
        ("drawn", "u1", (2,)),  # seats on the alibi cards each player has drawn
        ("draws", "u1", (2,)),  # how many cards each player has drawn
        ("dealt", "u1"),  # seats dealt on the odd turn of this pair of turns
        ("remaining", "u1"),  # cards of this turn still to be played
        ("seat", "u1"),  # the character being played, NO_SEAT between plays
        ("moved", "u1"),  # he has moved (or stayed, or swapped)
        ("ability", "u1"),  # his ability is still to be used
        ("steps", "u1"),  # steps of the whistle still to be spent
        ("whistled", "u1"),  # seats whistled in this play
        ("accused", "u1"),  # seat accused at the end, NO_SEAT otherwise
        ("ending", "u1"),  # EndingKind
        ("reserved", "u1", (58,)),
    ]
)
STATE_WORDS = STATE.itemsize // 8
assert STATE.itemsize == 128

SUMMARY_WORD = STATE.fields["node"][1] // 8  # type: ignore[index]
"""Index of the word that holds node, player, turn and play in its lowest bytes."""
assert STATE.fields["node"][1] % 8 == 0  # type: ignore[index]


def node_of(words: npt.NDArray[np.uint64]) -> int:
    """The `NodeKind`, as a plain number, of a packed position or game."""
    return words.item(SUMMARY_WORD) & 0xFF


def player_of(words: npt.NDArray[np.uint64]) -> int:
    """The `Player` who decides, as a plain number, in a packed position or game."""
    return PLAYER_BY_BYTE[words.item(SUMMARY_WORD) >> 8 & 0xFF]


COUNT_WORD = STATE_WORDS
"""Index of the word that counts the events of a game."""
EVENTS_WORD = STATE_WORDS + 1
"""Index of the first word of events."""

# Event codes: a player's action is its id; the others are offset by their kind.
EVENT_JACK = 0x4000  # + seat
EVENT_DEAL = 0x4100  # + outcome
EVENT_ALIBI = 0x4200  # + 16 * player who drew + seat
EVENT_WITNESS = 0x4300  # + 1 when Jack was seen; no action of its own, but everybody heard it
EVENT_HIDDEN_SEAT = 0x0F  # in place of a seat that the observer does not know


def game_words(variant: Variant) -> int:
    """Number of `uint64` words of a game of this variant: position, count and events."""
    return EVENTS_WORD + -(-(max_game_length(variant) + variant.turns) // 4)


GENERATOR = np.dtype([("state", "u8"), ("padding", "u8", (7,))])
"""Random generator of one thread: padded to a cache line, so threads do not share one."""
