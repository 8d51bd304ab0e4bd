"""Compiled features of a position, for tensors and batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from mrjack_ai.engine.bits import ONE, ZERO, lowest
from mrjack_ai.engine.compile import helper, kernel
from mrjack_ai.engine.movement import lit_hexes, visible_seats
from mrjack_ai.engine.records import state_of, tables_of
from mrjack_ai.engine.tables import NO_SEAT, WHISTLE_STEPS
from mrjack_ai.engine.types import EndingKind, NodeKind, Player, StateRecord, TablesRecord, Words
from mrjack_ai.setup.board import DIRECTIONS
from mrjack_ai.setup.variant import MAX_TURNS

_NODES = len(NodeKind)
_DIRECTIONS = len(DIRECTIONS)
_ENDINGS = len(EndingKind)


@helper
def _write_set(out: Any, start: int, word: np.uint64) -> None:
    while word != ZERO:
        out[start + lowest(word)] = 1.0
        word &= word - ONE


@helper
def _write_mask(out: Any, start: int, mask: int) -> None:
    _write_set(out, start, np.uint64(mask))


@helper
def write_features(s: StateRecord, t: TablesRecord, player: int, out: Any) -> int:
    """Write the features a player may see; the order is that of `observation.tensor_sections`.

    `out` is float32 and zero; hidden fields of `s` are not read unless `player` may know them.

    Returns:
        Number of features.
    """
    seats, hexes, at = t["seats"], t["hexes"], 0
    out[at + player] = 1.0
    at += 2
    if s["player"] == player:
        out[at] = 1.0
    elif s["player"] == 1 - player:
        out[at + 1] = 1.0
    at += 2
    out[at + s["node"]] = 1.0
    at += _NODES
    if s["turn"] > 0:
        out[at + s["turn"] - 1] = 1.0
    at += t["turns"]
    for seat in range(seats):
        out[at + s["position"][seat]] = 1.0
        at += hexes
    _write_set(out, at, t["manholes"] & ~s["covered"])
    at += hexes
    _write_set(out, at, lit_hexes(s, t))
    at += hexes
    _write_mask(out, at, visible_seats(s, t))
    at += seats
    _write_set(out, at, s["lit"])
    at += t["lamp_places"]
    for number in range(MAX_TURNS):
        if s["tile_place"][number] != NO_SEAT:
            out[at + s["tile_place"][number]] = 1.0
        at += t["lamp_places"]
    _write_set(out, at, s["cordons"])
    at += t["exit_places"]
    if s["light"] != NO_SEAT:
        out[at + s["light"]] = 1.0
    at += _DIRECTIONS
    if s["seen"] == 1:
        out[at] = 1.0
    at += 1
    _write_mask(out, at, s["cleared"])
    at += seats
    _write_mask(out, at, s["exonerated"])
    at += seats
    if player != Player.DETECTIVE and s["jack"] != NO_SEAT:
        out[at + s["jack"]] = 1.0
    at += seats
    _write_mask(out, at, s["drawn"][player])
    at += seats
    for drawer in range(2):
        if s["draws"][drawer] > 0:
            out[at + s["draws"][drawer] - 1] = 1.0
        at += seats
    _write_mask(out, at, s["dealt"])
    at += seats
    _write_mask(out, at, s["remaining"])
    at += seats
    if s["seat"] != NO_SEAT:
        out[at + s["seat"]] = 1.0
    at += seats
    out[at] = 1.0 if s["moved"] == 1 else 0.0
    out[at + 1] = 1.0 if s["ability"] == 1 else 0.0
    at += 2
    if s["steps"] > 0:
        out[at + s["steps"] - 1] = 1.0
    at += WHISTLE_STEPS - 1
    _write_mask(out, at, s["whistled"])
    at += seats
    if s["accused"] != NO_SEAT:
        out[at + s["accused"]] = 1.0
    at += seats
    out[at + s["ending"]] = 1.0
    at += _ENDINGS
    return at


@kernel
def features(game: Words, tables: Words, player: int, out: Any) -> int:
    """`write_features` for one position held by Python; `out` is float32 zeroes."""
    s = state_of(game)
    t = tables_of(tables)
    return write_features(s, t, player, out)
