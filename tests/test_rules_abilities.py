"""The rules, statement by statement: abilities (5)."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from helpers import (
    DETECTIVE,
    EIGHT,
    JACK,
    PLAYERS,
    kinds,
    lane,
    legal,
    legal_of,
    play,
    playing,
    quiet_choice,
    small_variant,
    streets_of,
)

from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import Variant, make_variant

BOTH = pytest.mark.parametrize("by", ["detective", "jack"])


def draw_node(by: str, words: str = "") -> State:
    """The pile just before a player draws."""
    state = playing("SH", by, words)
    return play(state, next(text for text in legal(state) if text.startswith("move")))


# --- 5.1 Holmes -----------------------------------------------------------------------------


@BOTH
def test_rule_5_1_whoever_plays_holmes_draws(by: str) -> None:
    state = draw_node(by)
    assert state.node == "alibi"
    state = play(state, "alibi MS")
    player = PLAYERS[by]
    assert state.alibis(player) == ("MS",)
    assert state.alibis(1 - player) == ()
    assert state.node == "pick"


@BOTH
def test_rule_5_1_only_the_drawer_sees_the_card(by: str) -> None:
    before = draw_node(by)
    player = PLAYERS[by]
    after = [play(before, outcome) for outcome in legal(before)]
    assert len(after) == 7
    assert len({state.information_state_string(player) for state in after}) == 7
    assert len({state.information_state_string(1 - player) for state in after}) == 1
    assert {state.alibi_count(player) for state in after} == {1}


def test_rule_5_1_a_card_drawn_by_jack_tells_the_detective_nothing() -> None:
    after = play(draw_node("jack", "jack=JB"), "alibi MS")
    assert after.suspects() == EIGHT
    assert after.observation(DETECTIVE).suspects() == EIGHT


def test_rule_5_1_cards_are_never_put_back() -> None:
    rng = random.Random(8)
    state = play(new_game(), "jack JB")
    drawn: list[str] = []
    while not state.is_terminal():
        if state.node == "alibi":
            pile = legal_of(state, "alibi")
            assert pile == set(EIGHT) - {"JB", *drawn}
            drawn.append(rng.choice(sorted(pile)))
            state.apply_action(f"alibi {drawn[-1]}")
        else:
            state.apply_action(quiet_choice(rng, legal(state)))
    assert len(drawn) == len(set(drawn)) == 4
    assert set(state.alibis(DETECTIVE) + state.alibis(JACK)) == set(drawn)


def test_rule_5_1_drawing_never_turns_a_suspect_over() -> None:
    for by in ("detective", "jack"):
        state = play(draw_node(by), "alibi MS")
        assert state.cleared() == ()
        assert state.exonerated() == ()


def test_rule_5_1_nothing_is_drawn_from_an_empty_pile() -> None:
    variant = make_variant(cast="SH+MS")
    for alibis in ("MS/-", "-/MS"):
        state = playing("SH", "jack", f"turn=4 dealt=MS cards=SH jack=SH alibis={alibis}", variant)
        state = play(state, "move g4")
        assert state.node == "deal"
        assert state.turn == 5
    state = play(playing("SH", "jack", "jack=SH", variant), "move g4")
    assert legal(state) == ["alibi MS"]


# --- 5.2, 5.3 Watson ------------------------------------------------------------------------

ARMS = {
    "N": ("d5", "d6"),
    "NE": ("e5", "f6"),
    "SE": ("e4", "f4"),
    "S": ("d3", "d2"),
    "SW": ("c3", "b2"),
    "NW": ("c4", "b4"),
}
"""Six straight streets around d4."""


def star(start: str) -> Variant:
    """A board of six lanes leading off d4."""
    return small_variant("d4 " + " ".join(" ".join(arm) for arm in ARMS.values()), start)


@pytest.mark.parametrize("direction", ARMS)
def test_rule_5_2_the_lantern_lights_the_straight_line_ahead(direction: str) -> None:
    state = State(f"node=deal turn=3 jack=JW JW=d4:{direction}", variant=star("JW=d4 MS=d6"))
    assert set(state.lit_hexes()) == set(ARMS[direction])


def test_rule_5_2_he_aims_in_any_of_six_directions() -> None:
    state = play(playing("JW", "detective"), "move a2")
    assert legal(state) == [f"light {direction}" for direction in ARMS]
    for direction in ARMS:
        assert play(state, f"light {direction}").watson_light == direction


@pytest.mark.parametrize("lit", [{}, {"a3": None}])
def test_rule_5_2_gaslights_lit_or_not_stop_the_beam(lit: dict[str, None]) -> None:
    streets, start = "a1 a2 b3 b4 a4 a5", "JW=a1 MS=a5"
    variant = small_variant(streets, start, gaslights=["a3"], lit_gaslights=lit)
    state = State("node=deal turn=3 jack=JW JW=a1:N", variant=variant)
    beam = {"a2"} if not lit else {"a2", "a4", "b3", "b4"}  # Around the lit gaslight.
    assert set(state.lit_hexes()) == beam
    assert ("MS" in state.visible()) is False


@pytest.mark.parametrize("middle", [["a3"], []])
def test_rule_5_2_the_first_hex_that_is_no_street_stops_the_beam(middle: list[str]) -> None:
    variant = small_variant("a1 a2 b3 b4 a4 a5", "JW=a1 MS=a5", obstacles=middle)
    state = State("node=deal turn=3 jack=JW JW=a1:N", variant=variant)
    assert set(state.lit_hexes()) == {"a2"}


def test_rule_5_2_characters_do_not_stop_the_beam() -> None:
    state = State("node=deal turn=3 jack=JW JW=a1:N", variant=lane(6, "JW=a1 JS=a3 IL=a4 MS=a6"))
    assert set(state.lit_hexes()) == {"a2", "a3", "a4", "a5", "a6"}
    assert {"JS", "IL", "MS"} <= set(state.visible())


def test_rule_5_2_he_does_not_light_his_own_hex() -> None:
    state = State("node=deal turn=3 jack=JW JW=a2:N", variant=lane(6, "JW=a2 MS=a6"))
    assert "a2" not in state.lit_hexes()
    assert state.visible() == ("MS",)


def test_rule_5_2_the_lantern_shines_until_he_is_aimed_again() -> None:
    rng = random.Random(2)
    state = play(playing("JW", "jack"), "move a2", "light SE")
    aims = 0
    while not state.is_terminal():
        text = quiet_choice(rng, legal(state))
        before = state.watson_light
        state.apply_action(text)
        if text.startswith("light"):
            aims += 1
            assert state.watson_light == text.split(" ")[1]
        else:
            assert state.watson_light == before
    assert aims > 2


@BOTH
def test_rule_5_3_aimed_at_once_by_the_same_player_when_whistled(by: str) -> None:
    state = playing("SG", by, "", lane(12, "SG=a1 JW=a5 JS=a9 MS=a12"))
    state = play(state, "whistle JW a4 1")
    assert state.node == "aim"
    assert state.current_player() == PLAYERS[by]
    assert legal(state) == [f"light {direction}" for direction in ARMS]
    state = play(state, "light S")
    assert state.watson_light == "S"
    # The rest of the whistle comes after it.
    assert state.node == "whistle"
    assert state.whistle_steps == 2
    assert legal_of(state, "whistle") >= {"JS a8 1", "JS a7 2"}


@BOTH
def test_rule_5_3_aimed_after_the_last_walk_too(by: str) -> None:
    variant = lane(12, "SG=a1 JW=a5 JS=a9 MS=a12")
    first = play(playing("SG", by, "", variant), "whistle JW a2 3")
    assert first.node == "aim"
    assert play(first, "light S").node == "use"
    last = play(playing("SG", by, "", variant), "move a4", "whistle JS a7 2")
    last = play(last, "whistle MS a11 1")
    assert last.playing is None
    last = play(playing("SG", by, "", variant), "move a2", "whistle JW a3 2")
    assert last.node == "aim"
    assert play(last, "light S").node == "whistle"


@BOTH
def test_rule_5_3_aimed_at_once_by_the_same_player_when_swapped(by: str) -> None:
    state = play(playing("WG", by), "swap JW")
    assert state.node == "aim"
    assert state.current_player() == PLAYERS[by]
    assert legal(state) == [f"light {direction}" for direction in ARMS]
    state = play(state, "light S")
    assert state.watson_light == "S"
    assert state.playing is None


@BOTH
def test_rule_5_3_not_aimed_when_others_are_moved(by: str) -> None:
    assert play(playing("WG", by), "swap JS").node == "pick"
    state = playing("SG", by, "", lane(12, "SG=a1 JW=a5 JS=a9 MS=a12"))
    assert play(state, "whistle JS a8 1").node == "whistle"
    assert play(state, "whistle JS a6 3").node == "use"


# --- 5.4 pieces -----------------------------------------------------------------------------


def test_rule_5_4_smith_moves_any_tile_to_a_place_that_is_out() -> None:
    lit, out = ("b2", "c7", "f5", "h8", "k6", "l11"), ("f9", "h4")
    state = playing("JS", "detective")
    assert legal_of(state, "lamp") == {f"{a}>{b}" for a in lit for b in out}
    after = play(state, "lamp b2>f9")
    numbers = {"f9": 1, "c7": 3, "f5": None, "h8": None, "k6": 4, "l11": 2}
    assert after.lit_gaslights == numbers
    after = play(state, "lamp f5>h4")
    assert after.lit_gaslights == {"b2": 1, "c7": 3, "h4": None, "h8": None, "k6": 4, "l11": 2}


def test_rule_5_4_smith_cannot_bring_back_removed_tiles() -> None:
    state = playing("JS", "detective", "turn=5")
    out = ("b2", "c7", "f9", "h4", "k6", "l11")
    assert legal_of(state, "lamp") == {f"{a}>{b}" for a in ("f5", "h8") for b in out}
    after = play(state, "lamp f5>b2")
    assert after.lit_gaslights == {"b2": None, "h8": None}


def test_rule_5_4_a_moved_tile_keeps_its_number_to_the_end() -> None:
    state = playing("JS", "detective", "turn=3 dealt=SH,JW,JS,IL cards=JS jack=WG")
    state = play(state, "lamp k6>h4", "move g6")
    assert state.turn == 4
    assert state.lit_gaslights == {"h4": 4, "f5": None, "h8": None}


def test_rule_5_4_lestrade_moves_one_cordon_to_an_exit_without_one() -> None:
    state = playing("IL", "detective")
    expected = {f"{a}>{b}" for a in ("NE", "SW") for b in ("NW", "SE")}
    assert legal_of(state, "cordon") == expected
    assert play(state, "cordon NE>SE").cordons == ("SW", "SE")
    assert "cordon" not in kinds(play(state, "cordon NE>SE"))


def test_rule_5_4_bert_moves_one_cover_to_an_open_manhole() -> None:
    state = playing("JB", "detective")
    holes = ("a5", "f7", "f10", "h3", "h6", "m9")
    assert legal_of(state, "cover") == {f"{a}>{b}" for a in ("c2", "l12") for b in holes}
    after = play(state, "cover c2>h3")
    assert set(after.covered_manholes) == {"l12", "h3"}
    assert set(after.open_manholes) == {"c2", "a5", "f7", "f10", "h6", "m9"}
    assert "cover" not in kinds(after)


# --- 5.5 Stealthy and Gull ------------------------------------------------------------------


@BOTH
def test_rule_5_5_stealthy_need_not_use_her_ability(by: str) -> None:
    variant = small_variant("a1 a2 b3 b4 a4 a5", "MS=a1 SH=a5", obstacles=["a3"])
    state = playing("MS", by, "", variant)
    # b4 is reached on foot; nothing is left to do after it.
    assert play(state, "move b4").playing is None
    assert kinds(state) <= {"move", "accuse"}


@BOTH
def test_rule_5_5_gull_moves_or_swaps_never_both(by: str) -> None:
    state = playing("WG", by)
    assert kinds(state) >= {"move", "swap"}
    moved = play(state, "move e8")
    assert moved.playing is None
    assert moved.positions["WG"] == "e8"
    swapped = play(state, "swap SH")
    assert swapped.playing is None
    assert (swapped.positions["WG"], swapped.positions["SH"]) == ("g5", "e9")


# --- 5.6 the whistle ------------------------------------------------------------------------


def whistles(variant: Variant, by: str = "jack", words: str = "") -> set[str]:
    """The walks Goodley can begin with."""
    return legal_of(playing("SG", by, words, variant), "whistle")


def whistle_sequences(state: State) -> set[tuple[str, ...]]:
    """All ways to whistle to the end."""
    walks = legal_of(state, "whistle") if state.node in ("use", "whistle") else set()
    if not walks or (state.node == "use" and not state.ability_open):
        return {()}
    return {
        (walk, *rest)
        for walk in walks
        for rest in whistle_sequences(play(state, f"whistle {walk}"))
    }


def test_rule_5_6_three_steps_on_one_two_or_three_in_any_order() -> None:
    state = playing("SG", "jack", "", lane(14, "SG=a1 JS=a5 IL=a9 MS=a13"))
    start = {"JS": 5, "IL": 9, "MS": 13}

    def walk(code: str, steps: int) -> str:
        return f"{code} a{start[code] - steps} {steps}"

    expected: set[tuple[str, ...]] = {(walk(code, 3),) for code in start}
    for one in start:
        for two in set(start) - {one}:
            expected |= {(walk(one, 2), walk(two, 1)), (walk(one, 1), walk(two, 2))}
            for three in set(start) - {one, two}:
                expected.add((walk(one, 1), walk(two, 1), walk(three, 1)))
    assert len(expected) == 3 + 12 + 6
    assert whistle_sequences(state) == expected


def test_rule_5_6_each_is_moved_in_one_go() -> None:
    state = playing("SG", "jack", "", lane(12, "SG=a1 JS=a5 IL=a9 MS=a2"))
    state = play(state, "whistle JS a4 1")
    assert legal(state) == ["whistle IL a7 2"]


def test_rule_5_6_goodley_himself_is_not_whistled() -> None:
    variant = lane(12, "SG=a1 JS=a5 IL=a9 MS=a12")
    assert {walk.split(" ")[0] for walk in whistles(variant)} == {"JS", "IL", "MS"}


@pytest.mark.parametrize("code", [code for code in EIGHT if code != "SG"])
def test_rule_5_6_everybody_else_can_be_whistled(code: str) -> None:
    assert whistles(lane(12, f"SG=a1 {code}=a9")) == {f"{code} a6 3"}


def test_rule_5_6_whistled_characters_walk_on_the_surface() -> None:
    # Below the lane a short way leads from a8 to a2.
    fields = {"manholes": ["a2", "a8"]}
    assert whistles(lane(9, "SG=a1 JS=a8", **fields)) == {"JS a5 3"}
    # Towards the manhole would be towards him, if manholes counted.
    assert whistles(lane(9, "SG=a1 JS=a7", **fields)) == {"JS a4 3"}


@pytest.mark.parametrize("code", ["MS", "JS"])
def test_rule_5_6_no_obstacles_not_even_stealthy(code: str) -> None:
    variant = small_variant("a1 a2 b3 b4 a4 a5", f"SG=a1 {code}=a5", obstacles=["a3"])
    # From a5 (distance 5): a4, b4, b3; never a2, which lies behind a3.
    assert whistles(variant) == {f"{code} b3 3"}


def test_rule_5_6_no_exit_and_no_accusation() -> None:
    for by in ("detective", "jack"):
        turn = 3 if by == "detective" else 2
        variant = lane(9, "SG=a1 JS=a5", exits={"S": "a3"})
        state = playing("SG", by, "jack=JS witness=unseen", variant, turn)
        state = play(state, "whistle JS a2 3")
        assert not state.is_terminal()
        assert state.positions == {"SG": "a1", "JS": "a2"}
    # Nobody is walked onto anybody.
    assert whistles(lane(9, "SG=a1 JS=a3 IL=a5 MS=a9"), "detective") == {
        *("JS a2 1", "IL a4 1", "IL a2 3", "MS a8 1", "MS a7 2", "MS a6 3"),
    }


def test_rule_5_6_distance_is_counted_in_street_steps_without_manholes() -> None:
    # Below the lane Goodley on a1 is one step from a9.
    fields = {"manholes": ["a1", "a9"]}
    assert whistles(lane(9, "SG=a1 JS=a7", **fields)) == {"JS a4 3"}


def test_rule_5_6_distance_is_counted_from_where_he_stands_now() -> None:
    state = playing("SG", "jack", "", lane(12, "SG=a7 JS=a8"))
    assert "whistle" not in kinds(state)
    # Past Smith: now he is called the other way.
    state = play(state, "move a10")
    assert legal(state) == ["whistle JS a9 1"]


def test_rule_5_6_whistle_never_steps_away() -> None:
    # From a3, distance 2, three steps could only be spent by stepping back first.
    assert whistles(lane(9, "SG=a1 JS=a3")) == {"JS a2 1"}
    assert whistles(lane(9, "SG=a1 JS=a4")) == {"JS a2 2"}


SQUARE = "a1 a2 a3 b2 b3"
"""Distances from a1: 1 to a2 and b2, 2 to a3 and b3; all of equal distance are neighbours."""


def test_rule_5_6_steps_may_be_wasted_on_the_level() -> None:
    # To a2 by three steps: a3 - b3 - a3 - a2, aside and back; to b2: a3 - b3 - a2 - b2.
    assert whistles(small_variant(SQUARE, "SG=a1 JS=a3")) == {"JS a2 3", "JS b2 3"}


def test_rule_5_6_the_walk_ends_strictly_nearer() -> None:
    variant = small_variant(f"{SQUARE} a4 a5 a6 a7 a8", "SG=a1 JS=a3 IL=b2 MS=a8")
    ends = {walk.split(" ")[1] for walk in whistles(variant) if walk.startswith("JS")}
    assert ends == {"a2"}  # Not b3, a3 itself, nor b2, where Lestrade stands.


def test_rule_5_6_the_same_end_with_another_number_of_steps_is_another_choice() -> None:
    walks = whistles(small_variant(f"{SQUARE} a4 a5 a6 a7 a8", "SG=a1 JS=a3 IL=b2 MS=a8"))
    assert {walk for walk in walks if walk.startswith("JS")} == {"JS a2 1", "JS a2 2", "JS a2 3"}
    variant = small_variant(f"{SQUARE} a4 a5 a6 a7 a8", "SG=a1 JS=a3 IL=b2 MS=a8")
    short = play(playing("SG", "jack", "", variant), "whistle JS a2 1")
    long = play(playing("SG", "jack", "", variant), "whistle JS a2 3")
    assert short.whistle_steps == 2
    assert legal(short) == ["whistle MS a6 2"]
    assert long.node == "use"


def test_rule_5_6_walking_through_others_is_fine() -> None:
    # Lestrade walks through Smith.
    assert "IL a2 3" in whistles(lane(9, "SG=a1 JS=a3 IL=a5 MS=a9"))
    assert whistles(lane(9, "SG=a1 JS=a2 IL=a3 MS=a5")) == {"MS a4 1"}


@BOTH
def test_rule_5_6_goodley_does_not_move_in_between(by: str) -> None:
    before = playing("SG", by, "", lane(12, "SG=a1 JS=a5 IL=a9 MS=a12"))
    state = play(before, "whistle JS a4 1")
    assert state.node == "whistle"
    assert kinds(state) == {"whistle"}
    state = play(state, "whistle IL a8 1")
    assert kinds(state) == {"whistle"}
    state = play(state, "whistle MS a11 1")
    assert kinds(state) <= {"move", "accuse"}
    assert play(before, "move a2", "whistle JS a4 1").positions["SG"] == "a2"


# --- 5.7 less than three steps --------------------------------------------------------------


def pocket(length: int, start: str) -> Variant:
    """A lane up from Goodley on a1, and Stealthy out of the way on b1, beside him."""
    return small_variant(f"{streets_of('a', 1, length)} b1", f"SG=a1 MS=b1 {start}")


def test_rule_5_7_as_many_as_possible_are_spent() -> None:
    assert whistles(lane(9, "SG=a1 JS=a3")) == {"JS a2 1"}
    assert whistles(lane(9, "SG=a1 JS=a4")) == {"JS a2 2"}
    assert whistles(lane(9, "SG=a1 JS=a5")) == {"JS a2 3"}


def test_rule_5_7_hexes_freed_and_taken_on_the_way_count() -> None:
    # Lestrade walks one step when Smith has left a3; if he takes a2, Smith is stuck.
    state = playing("SG", "jack", "", pocket(4, "JS=a3 IL=a4"))
    assert whistle_sequences(state) == {("JS a2 1", "IL a3 1"), ("IL a2 2",)}
    state = playing("SG", "jack", "", lane(5, "SG=a1 JS=a3 IL=a4 MS=a5"))
    assert whistle_sequences(state) == {
        ("JS a2 1", "IL a3 1", "MS a4 1"),
        ("JS a2 1", "MS a3 2"),
        ("IL a2 2", "MS a4 1"),
        ("MS a2 3",),
    }


def test_rule_5_7_the_most_may_take_a_walk_of_each() -> None:
    # Three arms around Goodley on d4; who stands on an arm's end can walk one step and no more.
    arms = "d4 d5 d6 e4 f4 c3 b2"
    state = playing("SG", "jack", "", small_variant(arms, "SG=d4 JS=d6 IL=f4 MS=b2"))
    walks = ("JS d5 1", "IL e4 1", "MS c3 1")
    assert whistle_sequences(state) == set(permutations(walks))
    state = playing("SG", "jack", "", small_variant(arms, "SG=d4 JS=d6 IL=f4 MS=c3"))
    assert whistle_sequences(state) == set(permutations(walks[:2]))


def test_rule_5_7_walks_that_spoil_the_maximum_are_not_legal() -> None:
    # Lestrade to a4 would leave one step, of Smith: 2 in all, but 3 are possible.
    state = playing("SG", "jack", "", pocket(5, "JS=a3 IL=a5"))
    assert whistle_sequences(state) == {("JS a2 1", "IL a3 2"), ("IL a2 3",)}


def test_rule_5_7_the_rest_is_dropped_when_nothing_more_can_be_spent() -> None:
    state = play(playing("SG", "jack", "", lane(9, "SG=a1 JS=a3")), "whistle JS a2 1")
    assert state.node == "use"
    assert state.whistle_steps == 0
    assert kinds(state) == {"move"}
    state = play(state, "move a4")
    assert state.playing is None


@BOTH
def test_rule_5_7_nothing_to_spend_no_whistle_and_skipped_after_moving(by: str) -> None:
    state = playing("SG", by, "", lane(9, "SG=a5 JS=a6"))
    assert kinds(state) <= {"move", "accuse"}
    # Beside Smith again: nothing can be spent, the play ends.
    assert play(state, "move a7").playing is None
    # Two hexes off: now it must be used.
    assert legal(play(state, "move a4")) == ["whistle JS a5 1"]


# --- 5.8 swaps ------------------------------------------------------------------------------


def test_rule_5_8_a_swap_may_involve_anybody() -> None:
    words = "turn=3 cleared=SH,JW alibis=JS/- exonerated=SG"
    assert legal_of(playing("WG", "detective", words), "swap") == set(EIGHT) - {"WG"}
    assert legal_of(playing("WG", "jack"), "swap") == set(EIGHT) - {"WG"}


def test_rule_5_8_a_swap_is_never_an_accusation() -> None:
    state = play(playing("WG", "detective", "jack=JS"), "swap JS")
    assert not state.is_terminal()
    assert state.returns() == [0.0, 0.0]


def test_rule_5_8_a_swap_is_never_an_escape() -> None:
    # Gull is Jack, and lands on the open exit.
    state = playing("WG", "jack", "turn=2 jack=WG witness=unseen JS=l6")
    assert "escape" not in kinds(state)
    state = play(state, "swap JS")
    assert not state.is_terminal()
    assert state.positions["WG"] == "l6"
    assert state.current_player() == DETECTIVE
