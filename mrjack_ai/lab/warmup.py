"""Compile the kernels of the laboratory, when a tree is first enumerated."""

from __future__ import annotations

import numpy as np

from mrjack_ai.engine.layout import STATE_WORDS
from mrjack_ai.engine.types import Words
from mrjack_ai.engine.warmup import Call, KernelGroup
from mrjack_ai.lab import expansion, sweeps


def _calls(tables: Words) -> list[Call]:
    records, places = np.zeros((1, STATE_WORDS), np.uint64), np.zeros(1, np.int64)
    nodes = np.zeros(1, expansion.NODE)
    vector_at, vector = np.zeros((2, 1), np.int64), np.zeros(1)
    weights_at = np.zeros((1, 1), np.int64)
    return [
        (
            expansion.expand,
            (tables, records, places, 0, 0, nodes, 1, records, places, 0),
        ),
        (
            sweeps.value_level,
            (
                *(nodes, 0, 0, 2, vector_at, places, 0, 0, 0, vector, weights_at),
                *(vector, vector, vector, vector, vector, vector, vector),
            ),
        ),
        (
            sweeps.reach_level,
            (nodes, 0, 0, 2, vector_at, places, vector, vector, vector),
        ),
        (sweeps.match_level, (nodes, 0, 0, 2, places, 0, 0, vector, vector, vector)),
        (
            sweeps.average_level,
            (nodes, 0, 0, 2, places, vector_at, 0, 1.0, 1.0, vector, vector, vector),
        ),
    ]


LAB = KernelGroup(f"{__name__}:LAB", "solver of small variants", _calls)
"""What enumerating a public tree and solving it need."""
