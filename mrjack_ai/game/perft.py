"""Counting and playing out: perft and whole random games, compiled."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from mrjack_ai.common.numbers import SEEDS, WholeNumbers
from mrjack_ai.engine import kernels
from mrjack_ai.engine.tables import build_tables
from mrjack_ai.engine.types import EndingKind
from mrjack_ai.game.endings import ENDING_BY_NUMBER, ENDINGS
from mrjack_ai.game.state import State

MOST_DEPTH = 1000
"""No game is nearly as long."""
_GAMES, _THREADS = WholeNumbers(1, 10**9), WholeNumbers(1, 1024)

GAMES_PER_CHUNK = 512
"""Random games are split into chunks with seeds of their own, whatever the number of threads."""


def perft(state: State, depth: int) -> int:
    """Number of action sequences of exactly `depth` plies from a state (section 9).

    Chance outcomes count as plies; a game that ends earlier counts as none.

    Raises:
        ArgumentError: for a depth below 0 or above 1000.
    """
    depth = WholeNumbers(0, MOST_DEPTH).read(depth, "depth")
    return int(kernels.count_sequences(state._words, build_tables(state.variant), depth))


def perft_divide(state: State, depth: int) -> dict[str, int]:
    """`perft` by first action: its text and the number of sequences that begin with it.

    Raises:
        ArgumentError: for a depth below 1 or above 1000.
    """
    depth = WholeNumbers(1, MOST_DEPTH).read(depth, "depth")
    return {
        state.action_to_string(action): perft(state.child(action), depth - 1)
        for action in state.legal_actions()
    }


@dataclass(frozen=True)
class RandomGames:
    """Totals over random games.

    Attributes:
        games: number of games.
        endings: games by ending: caught, wrong accusation, escape, dawn.
        decisions: players' decisions in all games, chance not counted.
    """

    games: int
    endings: dict[str, int]
    decisions: int

    @property
    def detective_wins(self) -> int:
        """Games won by the Detective."""
        return self.endings[ENDING_BY_NUMBER[EndingKind.CAUGHT].name]

    @property
    def mean_decisions(self) -> float:
        """Players' decisions a game."""
        return self.decisions / self.games


def random_games(state: State, games: int, seed: int = 0, threads: int = 1) -> RandomGames:
    """Play games from a state to the end, every choice uniform over the legal actions.

    Args:
        state: where each game starts; left alone.
        games: how many.
        seed: not negative; equal seeds give equal totals with any number of threads.
        threads: how many run at once.

    Raises:
        ArgumentError: when games or threads are below 1 or the seed is negative.
    """
    games, threads = _GAMES.read(games, "games"), _THREADS.read(threads, "threads")
    seed = SEEDS.read(seed, "seed")
    tables = build_tables(state.variant)
    chunks = -(-games // GAMES_PER_CHUNK)
    seeds = np.random.SeedSequence(seed).generate_state(chunks, np.uint64)
    start = state._words.copy()

    def run(thread: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        results = np.zeros(6, np.int64)
        for chunk in range(thread, chunks, threads):
            size = min(GAMES_PER_CHUNK, games - chunk * GAMES_PER_CHUNK)
            kernels.random_games(start, tables, size, seeds[chunk], results)
        return results

    if threads == 1:
        totals = run(0)
    else:
        with ThreadPoolExecutor(threads) as pool:
            totals = np.sum(list(pool.map(run, range(threads))), axis=0)
    endings = {ending.name: int(totals[ending.number]) for ending in ENDINGS}
    return RandomGames(games=games, endings=endings, decisions=int(totals[5]))
