"""The rules, statement by statement: ranges (1) and movement (4)."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import (
    EIGHT,
    kinds,
    lane,
    legal,
    legal_of,
    play,
    playing,
    small_variant,
    streets_of,
)

from mrjack_ai.errors import IllegalActionError
from mrjack_ai.setup.variant import Variant


def moves(code: str, variant: Variant, words: str = "", by: str = "jack") -> set[str]:
    """Where a character can move."""
    return legal_of(playing(code, by, words, variant), "move")


def detour(start: str, middle: str = "obstacles", **fields: Any) -> Variant:
    """Streets a1, a2, then around a3 by b3 and b4 to a4, and on to a5.

    `middle` says what a3 is: `obstacles`, `gaslights`, or nothing on the map.
    """
    if middle:
        fields = {middle: ["a3"], **fields}
    return small_variant("a1 a2 b3 b4 a4 a5", start, **fields)


# --- 1 ranges -------------------------------------------------------------------------------


@pytest.mark.parametrize("code", EIGHT)
def test_rule_1_everybody_walks_1_to_3_and_stealthy_1_to_4(code: str) -> None:
    other = "MS" if code != "MS" else "SH"
    variant = lane(12, f"{code}=a1 {other}=a12")
    farthest = 5 if code == "MS" else 4
    assert moves(code, variant) == set(streets_of("a", 2, farthest).split())


# --- 4 movement -----------------------------------------------------------------------------


def test_rule_4_1_a_move_ends_on_another_hex() -> None:
    # Even where a way leads back: a1 - a2 - a1, and through manholes.
    variant = lane(5, "JS=a2 MS=a4", manholes=["a1", "a2", "a5"], covered_manholes=[])
    state = playing("JS", "jack", "", variant)
    assert legal_of(state, "move") == {"a1", "a3", "a5"}
    with pytest.raises(IllegalActionError):
        state.apply_action("move a2")
    assert "a4" not in moves("MS", variant)


def test_rule_4_1_nobody_stays_who_can_move() -> None:
    # Eight on a lane of nine: who is too far from the free hex stays, the others must move.
    for free in range(1, 10):
        hexes = [f"a{number}" for number in range(1, 10) if number != free]
        start = " ".join(f"{code}={hex}" for code, hex in zip(EIGHT, hexes, strict=True))
        variant = lane(9, start)
        for code, hex in zip(EIGHT, hexes, strict=True):
            if code not in ("WG", "SG"):
                near = abs(int(hex[1:]) - free) <= (4 if code == "MS" else 3)
                expected = [f"move a{free}"] if near else ["stay"]
                assert legal(playing(code, "jack", "", variant)) == expected


@pytest.mark.parametrize("middle", ["obstacles", "gaslights", ""])
def test_rule_4_2_only_streets_are_entered(middle: str) -> None:
    variant = detour("JS=a1 MS=a5", middle)
    # a4 is 3 steps off through a3, 4 around it.
    assert moves("JS", variant) == {"a2", "b3", "b4"}


@pytest.mark.parametrize("middle", ["obstacles", "gaslights"])
def test_rule_4_2_stealthy_crosses_obstacles_one_step_each(middle: str) -> None:
    # Around a3 the way to a5 is 5 steps, through it 4; a3 itself is no end.
    assert moves("MS", detour("MS=a1 SH=b4", middle)) == {"a2", "b3", "a4", "a5"}
    # Two obstacles are two steps: a1, (a2, a3), a4, a5, and a6 would be the fifth.
    variant = small_variant(
        f"a1 b2 b3 b4 {streets_of('a', 4, 7)}", "MS=a1 SH=a7", **{middle: ["a2", "a3"]}
    )
    assert moves("MS", variant) == {"b2", "b3", "b4", "a4", "a5"}


def test_rule_4_2_stealthy_stays_on_the_map() -> None:
    # Across a3, were it a hex, a5 would be four steps away.
    assert moves("MS", detour("MS=a1 SH=b4", "")) == {"a2", "b3", "a4"}


def test_rule_4_2_only_stealthy_crosses_obstacles() -> None:
    for code in EIGHT:
        if code != "MS":
            other = "SG" if code != "SG" else "SH"
            assert "a4" not in moves(code, detour(f"{code}=a1 {other}=a5")), code


def test_rule_4_2_a_manhole_is_a_street() -> None:
    variant = lane(6, "JS=a1 MS=a6", manholes=["a2", "a4"], covered_manholes=["a2", "a4"])
    assert moves("JS", variant) == {"a2", "a3", "a4"}


@pytest.mark.parametrize("by", ["detective", "jack"])
def test_rule_4_3_moves_pass_through_others_and_end_on_a_free_hex(by: str) -> None:
    variant = lane(9, "JS=a1 SG=a2 WG=a3 MS=a9")
    assert moves("JS", variant, by=by) == {"a4"}
    assert moves("MS", lane(9, "MS=a1 SG=a2 WG=a3 JS=a5"), by=by) == {"a4"}


HOLES = {"manholes": ["a2", "a5", "a8"], "covered_manholes": ["a5"]}
"""On a lane of 9: open manholes on a2 and a8, a covered one on a5."""


def test_rule_4_4_one_step_leads_to_any_other_open_manhole() -> None:
    # From a1: a2, a3, a4 on foot; a8 is the second step, a7 and a9 the third.
    assert moves("JS", lane(9, "JS=a1 MS=a6", **HOLES)) == {"a2", "a3", "a4", "a8", "a7", "a9"}
    # Standing on the manhole the way through it is one step.
    on_it = moves("JS", lane(12, "JS=a2 MS=a12", **HOLES))
    assert on_it == {"a1", "a3", "a4", "a5", "a8", "a7", "a9", "a6", "a10"}


def test_rule_4_4_all_other_open_manholes() -> None:
    variant = lane(14, "JS=a1 MS=a6", manholes=["a1", "a7", "a10", "a14"], covered_manholes=["a10"])
    ends = {"a2", "a3", "a4"} | {"a7", "a8", "a9", "a5"} | {"a14", "a13", "a12"}
    assert moves("JS", variant) == ends


def test_rule_4_4_the_last_step_may_be_the_manhole() -> None:
    variant = lane(9, "JS=a1 MS=a6", manholes=["a3", "a9"])
    assert moves("JS", variant) == {"a2", "a3", "a4", "a9"}
    variant = lane(9, "JS=a1 MS=a6", manholes=["a4", "a9"])
    assert moves("JS", variant) == {"a2", "a3", "a4"}


def test_rule_4_4_a_covered_manhole_is_neither_entered_nor_left() -> None:
    # a5 is reached from below by nobody.
    assert moves("JS", lane(9, "JS=a8 MS=a4", **HOLES)) == {
        *("a5", "a6", "a7", "a9"),
        *("a1", "a2", "a3"),
    }
    # From a5 nobody goes below, though a2 is 3 steps off on foot.
    assert moves("JS", lane(12, "JS=a5 MS=a12", **HOLES)) == {"a2", "a3", "a4", "a6", "a7", "a8"}


def test_rule_4_4_a_cover_put_under_a_characters_feet_holds_him() -> None:
    variant = lane(9, "JS=a2 JB=a6", **HOLES)
    uncovered = play(playing("JB", "jack", "", variant), "cover a5>a2", "move a7")
    uncovered = play(uncovered, "deal JS", "pick JS")
    assert legal_of(uncovered, "move") == {"a1", "a3", "a4", "a5"}


def test_rule_4_4_a_cover_taken_from_under_a_characters_feet_frees_him() -> None:
    variant = lane(14, "JS=a5 JB=a12", **HOLES)
    state = play(playing("JB", "jack", "", variant), "cover a5>a8", "move a13", "deal JS")
    # a5 and a2 are open now.
    assert legal_of(play(state, "pick JS"), "move") == {
        *("a2", "a3", "a4", "a6", "a7", "a8"),
        "a1",
    }


def test_rule_4_4_manholes_others_stand_on_can_be_passed() -> None:
    variant = lane(9, "JS=a1 SG=a2 MS=a8 WG=a4", **HOLES)
    assert moves("JS", variant) == {"a3", "a7", "a9"}


def test_rule_4_5_stealthy_mixes_obstacles_streets_and_manholes() -> None:
    far = streets_of("a", 4, 14)
    # Obstacle, then manhole: a2, a3, a4 and below to a14 are four steps.
    variant = small_variant(
        f"a1 a2 b3 b4 {far}", "MS=a1 SH=a9", obstacles=["a3"], manholes=["a4", "a14"]
    )
    assert moves("MS", variant) == {"a2", "b3", "b4", "a4", "a5", "a14"}
    # Manhole, then obstacle: a14, below to a2, through a3 to a4, on to a5.
    variant = small_variant(
        f"a1 a2 b3 b4 {far}", "MS=a14 SH=a9", obstacles=["a3"], manholes=["a2", "a14"]
    )
    assert moves("MS", variant) == {
        *("a10", "a11", "a12", "a13"),
        *("a2", "a1", "b3", "b4", "a4", "a5"),
    }


# --- 4.6 where nothing is legal ----------------------------------------------------------


def hemmed(code: str, words: str = "", by: str = "jack", **fields: Any) -> Any:
    """A character on a1 with another on a2, the only other hex."""
    other = "JS" if code != "JS" else "IL"
    variant = small_variant("a1 a2", f"{code}=a1 {other}=a2", **fields)
    return playing(code, by, words, variant)


def test_rule_4_6_stay_where_there_is_no_move() -> None:
    state = hemmed("MS")
    assert legal(state) == ["stay"]
    after = play(state, "stay")
    assert after.positions == state.positions
    assert after.node == "deal"


def test_rule_4_6_stay_is_not_legal_where_there_is_a_move() -> None:
    state = playing("MS", "jack", "", small_variant("a1 a2 a3", "MS=a1 JS=a2"))
    assert legal(state) == ["move a3"]
    with pytest.raises(IllegalActionError):
        state.apply_action("stay")


def test_rule_4_6_holmes_still_draws() -> None:
    state = hemmed("SH")
    assert legal(state) == ["stay"]
    state = play(state, "stay")
    assert state.node == "alibi"
    assert state.playing == "SH"


def test_rule_4_6_watson_is_still_aimed() -> None:
    state = hemmed("JW")
    assert legal(state) == ["stay"]
    state = play(state, "stay")
    assert state.node == "aim"
    assert kinds(state) == {"light"}
    assert play(state, "light S").watson_light == "S"


ABILITY_ONLY = [
    ("JS", {"gaslights": ["c4", "c5"], "lit_gaslights": {"c4": None}}, "lamp c4>c5"),
    ("IL", {"exits": {"N": "a1", "S": "a2"}, "cordons": ["N"]}, "cordon N>S"),
    ("JB", {"manholes": ["a1", "a2"], "covered_manholes": ["a1"]}, "cover a1>a2"),
]


@pytest.mark.parametrize(("code", "fields", "action"), ABILITY_ONLY)
def test_rule_4_6_if_only_the_ability_is_open_it_comes_first(
    code: str, fields: dict[str, Any], action: str
) -> None:
    state = hemmed(code, **fields)
    assert legal(state) == [action]
    state = play(state, action)
    assert legal(state) == ["stay"]
    assert play(state, "stay").playing is None


def test_rule_4_6_gull_swaps_if_only_the_swap_is_open() -> None:
    state = hemmed("WG")
    assert legal(state) == ["swap JS"]
    assert play(state, "swap JS").playing is None


def test_rule_4_6_the_ability_may_make_room_to_move() -> None:
    # Bert stands on a covered manhole, the lane before him is full.
    fields = {"manholes": ["a1", "a7", "a9"], "covered_manholes": ["a1"]}
    state = playing("JB", "jack", "", lane(9, "JB=a1 JS=a2 IL=a3 MS=a4", **fields))
    assert legal(state) == ["cover a1>a7", "cover a1>a9"]
    state = play(state, "cover a1>a9")
    assert legal_of(state, "move") == {"a5", "a6", "a7", "a8", "a9"}


def test_rule_4_6_goodley_whistles_first_if_only_the_whistle_is_open() -> None:
    variant = lane(12, "SG=a1 JS=a2 IL=a3 MS=a4 SH=a6 JW=a8 WG=a10 JB=a12")
    state = playing("SG", "jack", "", variant)
    assert kinds(state) == {"whistle"}
    assert legal(play(state, "whistle JB a9 3")) == ["stay"]


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ("JS", {"gaslights": ["c4"], "lit_gaslights": {"c4": None}}),
        ("JS", {"gaslights": ["c4"], "lit_gaslights": {}}),
        ("IL", {"exits": {"N": "a1"}, "cordons": ["N"]}),
        ("IL", {"exits": {"N": "a1"}, "cordons": []}),
        ("JB", {"manholes": ["a1"], "covered_manholes": ["a1"]}),
        ("JB", {"manholes": ["a1"], "covered_manholes": []}),
        ("SG", {}),
    ],
)
def test_rule_4_6_stay_where_the_ability_is_not_usable_now(
    code: str, fields: dict[str, Any]
) -> None:
    state = hemmed(code, **fields)
    assert legal(state) == ["stay"]
    state = play(state, "stay")
    assert state.node == "deal"


@pytest.mark.parametrize(("code", "fields"), [row[:2] for row in ABILITY_ONLY])
def test_rule_4_6_stay_where_the_ability_is_used(code: str, fields: dict[str, Any]) -> None:
    assert legal(hemmed(code, "ability=used", **fields)) == ["stay"]


@pytest.mark.parametrize("code", ["MS", "SH", "JW", "IL"])
def test_rule_4_6_if_only_an_accusation_is_possible_it_must_be_made(code: str) -> None:
    state = hemmed(code, by="detective")
    assert legal(state) == ["accuse JS"]
    assert play(state, "accuse JS").is_terminal()


def test_rule_4_6_if_only_an_escape_is_possible_it_must_be_made() -> None:
    state = hemmed("MS", "jack=MS witness=unseen", exits={"S": "a1"})
    assert legal(state) == ["escape S"]
    assert str(play(state, "escape S").outcome()) == "jack wins: escape"
    # With the ability open as well there is a choice, and after it none.
    fields = {"exits": {"N": "a2", "S": "a1"}, "cordons": ["N"]}
    state = hemmed("IL", "jack=IL witness=unseen", **fields)
    assert legal(state) == ["escape S", "cordon N>S"]
    assert legal(play(state, "cordon N>S")) == ["escape N"]


def test_rule_4_6_with_ability_and_accusation_open_there_is_a_choice() -> None:
    state = hemmed("IL", by="detective", exits={"N": "a2", "S": "a1"}, cordons=["N"])
    assert legal(state) == ["accuse JS", "cordon N>S"]
    assert legal(play(state, "cordon N>S")) == ["accuse JS"]
