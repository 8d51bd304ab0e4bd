"""Many games at once, compiled: the kernels of `mrjack_ai.envs`.

A batch of n games of one variant lies in these arrays, one row a game:

| array | type, shape | holds |
|---|---|---|
| games | uint64 (n, `row_words`) | the words of the game (see `layout`), then zeroes |
| chance | `GENERATOR` (n,) | the game's own generator of chance |
| lists | int16 (n, actions) | ids of the legal actions, ascending; the first `counts[i]` hold |
| counts | int64 (n,) | how many are legal; 0 exactly when the game is over |

A game lasts from one decision of a player to the next: chance is resolved on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mrjack_ai.engine.bits import integer, nth_bit, popcount, random_below
from mrjack_ai.engine.compile import helper, kernel
from mrjack_ai.engine.features import write_features
from mrjack_ai.engine.kernels import apply_recorded
from mrjack_ai.engine.layout import STATE_WORDS, game_words
from mrjack_ai.engine.records import states_of, tables_of
from mrjack_ai.engine.tables import MAX_ACTIONS
from mrjack_ai.engine.turn import alibi_pile, detective_return, list_legal, set_up
from mrjack_ai.engine.types import (
    GeneratorRecord,
    Integers,
    NodeKind,
    Player,
    StateRecord,
    TablesRecord,
    Words,
)
from mrjack_ai.setup.variant import Variant

SHOW = 0
"""Order: only let chance decide, if it is its turn, and write what is seen."""
RESTART = 1
"""Order: begin a new game."""


def row_words(variant: Variant) -> int:
    """Length of a row of `games`: a whole number of `STATE` records, so that all view as such."""
    return -(-game_words(variant) // STATE_WORDS) * STATE_WORDS


@helper
def _resolve_chance(
    game: Words, s: StateRecord, t: TablesRecord, generator: GeneratorRecord
) -> None:
    """Draw outcomes until a player decides or the game is over; all are equally likely."""
    while s["player"] == Player.CHANCE:
        if s["node"] == NodeKind.DEAL:
            outcome = random_below(generator, t["deals"])
        elif s["node"] == NodeKind.JACK:
            outcome = random_below(generator, t["seats"])
        else:
            pile = np.uint64(alibi_pile(s, t))
            outcome = nth_bit(pile, random_below(generator, popcount(pile)))
        apply_recorded(game, s, t, outcome)


@kernel
def advance(
    games: Any,
    tables: Words,
    chance: Any,
    actions: Integers,
    first: int,
    last: int,
    playing: bool,
    auto_reset: bool,
    lists: Integers,
    counts: Integers,
    current_player: Any,
    mask: Any,
    observations: Any,
    rewards: Any,
    terminated: Any,
    endings: Any,
    final_observations: Any,
) -> None:
    """Play one action in each of the games `first` to `last - 1` and write what is seen then.

    Args:
        games, chance, lists, counts: the batch (see above).
        actions: int64 (n,): when `playing` legal actions, of which games that are over take any;
            otherwise orders, RESTART or SHOW.
        auto_reset: begin a new game where one has ended; otherwise it stays as it is.
        current_player: int8 (n,).
        mask: bool (n, actions).
        observations: float32 (n, tensor size), that of the player to move; nothing is written
            where there is no second axis to speak of (size 0).
        rewards: float32 (n, 2).
        terminated: bool (n,); endings: uint8 (n,): of the game that this action ended.
        final_observations: float32 (n, 2, tensor size), or of size 0: for the games that this
            action ended, what each player saw at the end.
    """
    t = tables_of(tables)
    legal = np.empty(MAX_ACTIONS, np.int64)
    positions = states_of(games)
    spacing = games.shape[1] // STATE_WORDS
    for i in range(first, last):
        game = games[i]
        s = positions[i * spacing]
        generator = chance[i]
        restart = not playing and actions[i] == RESTART
        rewards[i, Player.DETECTIVE] = 0.0
        rewards[i, Player.JACK] = 0.0
        terminated[i] = False
        endings[i] = 0
        if s["node"] != NodeKind.TERMINAL and not restart:
            if playing:
                apply_recorded(game, s, t, actions[i])
            _resolve_chance(game, s, t, generator)
            if s["node"] == NodeKind.TERMINAL:
                won = detective_return(s)
                rewards[i, Player.DETECTIVE] = won
                rewards[i, Player.JACK] = -won
                if final_observations.shape[2] > 0:
                    final_observations[i, :, :] = 0.0
                    write_features(s, t, Player.DETECTIVE, final_observations[i, Player.DETECTIVE])
                    write_features(s, t, Player.JACK, final_observations[i, Player.JACK])
        if s["node"] == NodeKind.TERMINAL and not restart:
            terminated[i] = True
            endings[i] = s["ending"]
        if restart or (auto_reset and terminated[i]):
            for word in range(len(game)):
                game[word] = np.uint64(0)
            set_up(s, t)
        _resolve_chance(game, s, t, generator)

        mask[i, :] = False
        count = list_legal(s, t, legal)
        counts[i] = count
        for n in range(count):
            mask[i, legal[n]] = True
            lists[i, n] = legal[n]
        player = integer(s["player"])
        current_player[i] = player
        if observations.shape[1] > 0:
            observations[i, :] = 0.0
            if player >= 0:
                write_features(s, t, player, observations[i])


@kernel
def sample_actions(lists: Integers, counts: Integers, generators: Any, actions: Integers) -> None:
    """Draw a legal action for each game, all equally likely; -1 where a game is over.

    Args:
        generators: `GENERATOR` (n,).
        actions: int64 (n,), written to.
    """
    for i in range(len(counts)):
        actions[i] = -1
        if counts[i] > 0:
            actions[i] = lists[i, random_below(generators[i], counts[i])]


@kernel
def find_illegal(lists: Integers, counts: Integers, actions: Integers) -> int:
    """Index of the first game whose action is not legal, or -1; games that are over take any."""
    for i in range(len(counts)):
        # The last entry that is not greater, by halving without a branch.
        low = 0
        width = counts[i]
        while width > 1:
            half = width // 2
            low += half if lists[i, low + half] <= actions[i] else 0
            width -= half
        if width == 1 and lists[i, low] != actions[i]:
            return i
    return -1
