"""What lies next to what, compiled: the only reader of the board's tables of geometry.

Each helper takes the position `s` as well as the tables `t`, since what is open to a step or to
light may change during a game.
"""

from __future__ import annotations

import numpy as np

from mrjack_ai.engine.compile import helper
from mrjack_ai.engine.types import StateRecord, TablesRecord


@helper
def one_step(s: StateRecord, t: TablesRecord, hex: int) -> np.uint64:
    """Street hexes next to `hex`, by one step over an open side."""
    return t["neighbours"][hex]


@helper
def within_steps(s: StateRecord, t: TablesRecord, walk: int, hex: int, steps: int) -> np.uint64:
    """Street hexes within `steps` steps without manholes, `hex` included (4.2, 4.5)."""
    return t["ball"][walk, hex, steps]


@helper
def beam(s: StateRecord, t: TablesRecord, hex: int, direction: int) -> np.uint64:
    """Street hexes that a lantern on `hex` lights in this direction (5.2)."""
    return t["beam"][hex, direction]


@helper
def whistle_ends(s: StateRecord, t: TablesRecord, goodley: int, hex: int, steps: int) -> np.uint64:
    """Where a whistled walk of exactly `steps` steps from `hex` can end (5.6)."""
    return t["whistle"][goodley, hex, steps - 1]
