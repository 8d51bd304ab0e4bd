"""Whole games that two other engines agree on (11.5) replay as they were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import TERMINAL, legal

from mrjack_ai.game.state import new_game

pytestmark = pytest.mark.boundscheck

ENDINGS = {
    "caught": "detective wins: caught",
    "wrong": "jack wins: wrong accusation",
    "escape": "jack wins: escape",
    "dawn": "jack wins: dawn",
}
TRACES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "traces.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("trace", TRACES, ids=[f"line{n + 1}" for n in range(len(TRACES))])
def test_rule_11_5_trace_replays(trace: dict[str, Any]) -> None:
    state = new_game(
        board=trace["board"], cast=trace["cast"], turns=trace["turns"], first=trace["first"]
    )
    counts, players = [], []
    for action in trace["actions"]:
        assert state.outcome() is None
        assert action in legal(state)
        counts.append(len(state.legal_actions()))
        players.append(state.current_player())
        state.apply_action(action)
    assert counts == trace["legal"]
    assert players == trace["player"]
    assert state.current_player() == TERMINAL
    assert str(state.outcome()) == ENDINGS[trace["ending"]]
    assert state.history_strings() == trace["actions"]


def test_rule_11_5_the_traces_cover_variants_and_endings() -> None:
    assert {trace["ending"] for trace in TRACES} == set(ENDINGS)
    assert {trace["board"] for trace in TRACES} >= {"whitechapel", "whitechapel_2016"}
    assert {len(trace["cast"]) for trace in TRACES} == {2, 4, 8}
    assert {trace["first"] for trace in TRACES} == {"detective", "jack"}
    assert len({trace["turns"] for trace in TRACES}) > 1
