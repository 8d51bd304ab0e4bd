"""The heuristic, asked about what a player may know."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mrjack_ai.engine.tables import build_tables
from mrjack_ai.game.observation import Observation
from mrjack_ai.search.heuristic import rate_actions

TIE = 1e-9
"""Ratings closer than this are equal; equal actions are chosen among at random."""


def heuristic_ratings(observation: Observation, candidates: int) -> npt.NDArray[np.float64]:
    """Rated chance to win after each legal action, by the best end of the play in progress.

    Args:
        observation: of the player to move.
        candidates: mask of the seats that can be Jack as the Detective sees it.

    Returns:
        float64, in the order of `observation.actions`.
    """
    ratings = np.empty(len(observation.actions))
    tables = build_tables(observation.variant)
    rate_actions(observation.position_words(), tables, candidates, ratings)
    return ratings
