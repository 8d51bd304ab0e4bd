"""The cases the rules name (10), and the node order, notation and perft table of section 9."""

from __future__ import annotations

import random
import re

import pytest
from helpers import (
    CHANCE,
    DETECTIVE,
    EIGHT,
    JACK,
    kinds,
    legal,
    legal_of,
    play,
    playing,
    random_walk,
)

from mrjack_ai.game.perft import perft
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.board import load_board

pytestmark = pytest.mark.boundscheck

# --- 9 the game tree and its notation -------------------------------------------------------

PERFT = [
    (("jack JS", "deal SH,JW,JS,IL"), [4, 110, 1039, 2925, 67735]),
    (("jack MS", "deal MS,SG,WG,JB"), [4, 203, 3326, 29617, 467683]),
]


@pytest.mark.parametrize(("start", "counts"), PERFT)
def test_rule_9_perft(start: tuple[str, ...], counts: list[int]) -> None:
    state = play(new_game(), *start)
    assert [perft(state, depth) for depth in range(1, 6)] == counts


@pytest.mark.parametrize(("start", "counts"), PERFT)
def test_rule_9_perft_counts_what_can_be_played(start: tuple[str, ...], counts: list[int]) -> None:
    def count(state: State, depth: int) -> int:
        actions = state.legal_actions()
        if depth == 1:
            return len(actions)
        return sum(count(state.child(action), depth - 1) for action in actions)

    state = play(new_game(), *start)
    assert [count(state, depth) for depth in (1, 2, 3, 4)] == counts[:4]


def test_rule_9_a_game_that_ends_earlier_counts_as_none() -> None:
    words = "node=use turn=8 using=MS cards=MS dealt=SH,JW,JS,IL jack=IL"
    state = State(words)
    moves = len(state.legal_actions())
    assert moves > 1
    assert [perft(state, depth) for depth in (0, 1, 2, 3)] == [1, moves, 0, 0]


NOTATION = {
    "jack": "jack <c>",
    "deal": "deal <c>,<c>,<c>,<c>",
    "pick": "pick <c>",
    "use": "move <h>|accuse <c>|escape <e>|stay|lamp <h>><h>|cordon <e>><e>|cover <h>><h>"
    "|swap <c>|whistle <c> <h> [123]",
    "whistle": "whistle <c> <h> [12]",
    "aim": "light (N|NE|SE|S|SW|NW)",
    "alibi": "alibi <c>",
}
"""Texts at each node: <c> is a code, <h> a hex, <e> an exit."""


def test_rule_9_players_nodes_and_texts() -> None:
    parts = {"<c>": f"({'|'.join(EIGHT)})", "<h>": "[a-m][1-9][0-2]?", "<e>": "(NW|NE|SW|SE)"}
    patterns = {}
    for node, text in NOTATION.items():
        for part, pattern in parts.items():
            text = text.replace(part, pattern)
        patterns[node] = re.compile(text)
    rng, seen = random.Random(6), set()
    for _ in range(8):
        for state in random_walk(new_game(), rng, ("accuse",)):
            if state.is_terminal():
                assert state.legal_actions() == []
                continue
            for text in legal(state):
                assert patterns[state.node].fullmatch(text), (state.node, text)
                seen.add(text.split(" ")[0])
            chance = state.node in ("jack", "deal", "alibi")
            assert chance is (state.current_player() == CHANCE) is state.is_chance_node()
            assert state.current_player() in ((CHANCE,) if chance else (DETECTIVE, JACK))
    assert seen | {"stay"} == {
        *("jack", "deal", "pick", "move", "accuse", "escape", "stay", "lamp", "cordon", "cover"),
        *("swap", "whistle", "light", "alibi"),
    }


def test_rule_9_order_of_codes_in_a_deal_is_that_of_the_table() -> None:
    for text in legal(play(new_game(), "jack SH")):
        codes = text.split(" ")[1].split(",")
        assert codes == sorted(codes, key=EIGHT.index)


def test_rule_9_pick_also_when_one_card_is_left() -> None:
    state = State("node=pick turn=1 jack=JS dealt=SH,JW,JS,IL cards=IL")
    assert legal(state) == ["pick IL"]


def test_rule_9_the_end_of_a_turn_takes_no_action() -> None:
    dealt = "dealt=SH,JW,JS,IL"
    state = State(f"node=use turn=2 {dealt} cards=MS using=MS jack=IL")
    state = play(state, "move e7")
    assert (state.turn, state.node) == (3, "deal")
    state = State(f"node=use turn=1 {dealt} cards=IL using=IL jack=IL")
    state = play(state, "move e6")
    assert (state.turn, state.node, state.cards()) == (2, "pick", ("MS", "SG", "WG", "JB"))


# --- 10 cases by name -----------------------------------------------------------------------


def test_case_turn_2_stealthy_unseen_on_i4_escapes_by_se() -> None:
    words = "node=pick turn=2 jack=MS MS=i4 witness=unseen dealt=SH,JW,JS,IL cards=MS,SG,WG,JB"
    state = State(words)
    assert state.current_player() == JACK
    state = play(state, "pick MS")
    assert "escape SE" in legal(state)
    assert play(state, "escape SE").returns() == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("watson", "lit"),
    [
        ("a3:NE", ""),
        ("g5:N", "g6 g7 g8 g9 g10"),
        ("g5:NE", "h6 i7 j8 k9 l10 m11"),
        ("g5:S", "g4 g3"),
        ("g5:SE", ""),
        ("g5:SW", ""),
        ("g5:NW", ""),
    ],
)
def test_case_what_the_lantern_lights(watson: str, lit: str) -> None:
    state = State(f"node=deal turn=1 jack=JS JW={watson} {'SH=a3' if watson[0] == 'g' else ''}")
    lamps = {
        street
        for lamp in state.lit_gaslights
        for street in state.variant.board.neighbours(lamp)
        if street in state.variant.board.streets
    }
    # What the gaslights light as well does not tell.
    assert set(state.lit_hexes()) == lamps | set(lit.split())
    dark = State(
        f"turn=8 node=pick dealt=SH,JW,JS,IL cards=MS lamps=h4,f9 jack=JS SH=a2 JW={watson}"
    )
    around = {
        street
        for lamp in ("h4", "f9")
        for street in dark.variant.board.neighbours(lamp)
        if street in dark.variant.board.streets
    }
    assert set(dark.lit_hexes()) == around | set(lit.split())


def test_case_whistle_from_m10_at_the_start() -> None:
    state = playing("SG", "detective")
    ends: dict[str, set[str]] = {}
    for walk in legal_of(state, "whistle"):
        code, hex, steps = walk.split(" ")
        if steps == "3":
            ends.setdefault(code, set()).add(hex)
    assert state.positions["SG"] == "m10"
    assert ends["JB"] == {"j8", "j10", "k9", "k10", "k11", "l10"}
    assert ends["JW"] == {"b1", "b3", "c2", "c3", "c4", "d3", "d5"}


def test_case_goodley_next_to_a_suspect_whistles_the_others() -> None:
    state = playing("SG", "detective", "JB=m9")
    whistled = {walk.split(" ")[0] for walk in legal_of(state, "whistle")}
    assert whistled == set(EIGHT) - {"SG", "JB"}


def test_case_smith_moves_tile_1_in_turn_1() -> None:
    state = State("node=use turn=1 dealt=SH,JW,JS,IL cards=JS using=JS ability=open jack=WG")
    state = play(state, "lamp b2>f9", "move g7")
    assert state.turn == 2
    assert state.lit_gaslights == {"c7": 3, "f5": None, "h8": None, "k6": 4, "l11": 2}


def test_case_a_covered_manhole_holds_until_bert_uncovers_it() -> None:
    smith = playing("JS", "jack", "JS=c2")
    board = smith.variant.board
    on_foot = {hex for hex in board.streets if 1 <= board.street_distance("c2", hex) <= 3}
    assert legal_of(smith, "move") == on_foot - set(smith.positions.values())
    assert on_foot.isdisjoint({"f7", "f10", "h3", "h6", "m9"})
    bert = playing("JB", "jack", "JB=c2")
    assert legal_of(bert, "move").isdisjoint({"f7", "f10", "h3", "h6", "m9"})
    bert = play(bert, "cover c2>a5")
    assert legal_of(bert, "move") >= {"f7", "f10", "h3", "h6", "m9"}
    assert kinds(bert) == {"move"}
    moved = play(bert, "move h6")
    assert moved.positions["JB"] == "h6"


def test_case_street_distances() -> None:
    board = load_board("whitechapel")
    distances = {
        (one, two): board.street_distance(one, two)
        for index, one in enumerate(board.streets)
        for two in board.streets[index + 1 :]
    }
    assert len(distances) == 60 * 59 // 2
    assert max(distances.values()) == 15
    assert [pair for pair, steps in distances.items() if steps == 15] == [("a4", "m9")]
