"""Words to records, compiled: how an entry point begins.

A record is a pointer into the array it comes from and keeps nothing alive: give these helpers an
array that the caller holds on to. Python reads records by `mrjack_ai.game.position.state_record`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mrjack_ai.engine.compile import helper
from mrjack_ai.engine.layout import STATE, STATE_WORDS
from mrjack_ai.engine.tables import TABLES
from mrjack_ai.engine.types import Records, StateRecord, TablesRecord, Words


@helper
def state_of(game: Words) -> StateRecord:
    """The position at the front of a game, or a packed position."""
    record: Any = game[:STATE_WORDS].view(STATE)[0]
    return record


@helper
def tables_of(tables: Words) -> TablesRecord:
    """The tables of a variant."""
    record: Any = tables.view(TABLES)[0]
    return record


@helper
def new_states(n: int) -> Records[StateRecord]:
    """Room for n positions, all zero."""
    records: Any = np.zeros(n * STATE_WORDS, np.uint64).view(STATE)
    return records


@helper
def states_of(words: Words) -> Records[StateRecord]:
    """An array of any shape as positions; a whole number of them, C-contiguous."""
    records: Any = words.reshape(-1).view(STATE)
    return records
