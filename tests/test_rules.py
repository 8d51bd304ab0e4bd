"""The rules, statement by statement: setup, the turn, knowledge and variants (2, 3, 8, 11).

Sections 4 to 7 are in `test_rules_movement`, `test_rules_abilities` and `test_rules_endings`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from importlib import resources
from itertools import combinations
from typing import Any

import pytest
from helpers import (
    BOARDS,
    DETECTIVE,
    EIGHT,
    JACK,
    kinds,
    legal,
    legal_of,
    play,
    playing,
    random_walk,
    small_variant,
)

from mrjack_ai.game.perft import perft
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import Variant, make_variant


def board_file(name: str) -> dict[str, Any]:
    """The board file as it is shipped, read without the package's loader."""
    path = resources.files("mrjack_ai.setup").joinpath("boards", f"{name}.json")
    data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return data


def equally_likely(state: State) -> set[str]:
    """Texts of the outcomes of a chance node, after a check that they are equally likely."""
    outcomes = state.chance_outcomes()
    assert [chance for _, chance in outcomes] == pytest.approx([1 / len(outcomes)] * len(outcomes))
    texts = [state.action_to_string(outcome) for outcome, _ in outcomes]
    assert len(set(texts)) == len(texts)
    return set(texts)


def last_card(turn: int, words: str) -> State:
    """Stealthy on i4 is the last card of a turn."""
    dealt = "SH,JW,JS,MS" if turn % 2 else "SH,JW,JS,IL"
    return State(f"turn={turn} node=use dealt={dealt} cards=MS using=MS jack=WG {words}")


# --- 2 setup --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BOARDS)
def test_rule_2_1_everything_starts_as_in_the_board_file(name: str) -> None:
    data = board_file(name)
    state = new_game(board=name)
    assert state.positions == data["start"]
    assert state.lit_gaslights == data["lit_gaslights"]
    assert set(state.covered_manholes) == set(data["covered_manholes"])
    assert set(state.open_manholes) == set(data["manholes"]) - set(data["covered_manholes"])
    assert set(state.cordons) == set(data["cordons"])
    assert state.watson_light == data["watson_light"]


def test_rule_2_1_four_characters_are_visible_at_the_start() -> None:
    assert set(new_game().visible()) == {"SH", "JS", "IL", "JB"}


def test_rule_2_2_jack_is_any_character_with_equal_chance() -> None:
    state = new_game()
    assert equally_likely(state) == {f"jack {code}" for code in EIGHT}
    for code in EIGHT:
        assert play(state, f"jack {code}").identity == code


def test_rule_2_2_the_other_seven_form_the_pile_in_random_order() -> None:
    for jack in EIGHT:
        words = f"node=alibi turn=1 jack={jack} dealt=SH,JW,JS,IL cards=SH,JW,JS,IL using=SH"
        state = State(f"{words} moved=yes ability=open")
        assert equally_likely(state) == {f"alibi {code}" for code in EIGHT if code != jack}


def test_rule_2_3_witness_seen_everybody_suspect_turn_1_of_8() -> None:
    state = play(new_game(), "jack JS")
    assert state.witness_seen
    assert state.suspects() == EIGHT
    assert state.cleared() == ()
    assert state.turn == 1
    turns = [moment.turn for moment in random_walk(state, random.Random(3))]
    assert max(turns) == 8


# --- 3 a turn -------------------------------------------------------------------------------


def whole_game(variant: Variant, seed: int) -> list[tuple[State, str]]:
    """A game to its last turn: every state before an action, with the action."""
    moments = []
    for state in random_walk(new_game(variant), random.Random(seed)):
        if state.move_number():
            moments[-1] = (moments[-1][0], state.history_strings()[-1])
        moments.append((state.clone(), ""))
    assert moments[-1][0].turn == variant.turns
    assert str(moments[-1][0].outcome()) == "jack wins: dawn"
    return moments[:-1]


def test_rule_3_1_odd_turns_deal_four_cards_even_turns_the_other_four() -> None:
    deals = {f"deal {','.join(hand)}" for hand in combinations(EIGHT, 4)}
    assert len(deals) == 70
    dealt: set[str] = set()
    turns_dealt, starts = [], 0
    for state, action in whole_game(make_variant(), 1):
        if state.node == "deal":
            assert equally_likely(state) == deals
            assert state.cards() == ()
            dealt = set(action.split(" ")[1].split(","))
            turns_dealt.append(state.turn)
        elif state.node == "pick" and len(state.cards()) == 4:
            expected = dealt if state.turn % 2 else set(EIGHT) - dealt
            assert set(state.cards()) == expected
            assert legal_of(state, "pick") == expected
            starts += 1
    assert turns_dealt == [1, 3, 5, 7]
    assert starts == 8


@pytest.mark.parametrize("first", ["detective", "jack"])
def test_rule_3_2_who_plays_which_card(first: str) -> None:
    starter = (DETECTIVE, JACK) if first == "detective" else (JACK, DETECTIVE)
    variant = make_variant(first=first)
    picks: dict[int, list[int]] = {turn: [] for turn in range(1, 9)}
    for state, _ in whole_game(variant, 4):
        if state.node == "pick":
            picks[state.turn].append(state.current_player())
        elif state.node in ("use", "whistle", "aim"):
            # Whoever takes a card plays all of it.
            assert state.current_player() == picks[state.turn][-1]
    for turn, players in picks.items():
        one = starter[(turn + 1) % 2]
        assert players == [one, 1 - one, 1 - one, one]


def test_rule_3_3_each_card_is_played_exactly_once() -> None:
    picks: dict[int, list[str]] = {turn: [] for turn in range(1, 9)}
    for state, action in whole_game(make_variant(), 7):
        if state.node == "pick":
            assert legal_of(state, "pick") == set(state.cards())
            assert not set(state.cards()) & set(picks[state.turn])
            picks[state.turn].append(action.split(" ")[1])
        elif state.playing is not None:
            assert state.playing == picks[state.turn][-1]
    for turn in (1, 3, 5, 7):
        assert sorted(picks[turn] + picks[turn + 1]) == sorted(EIGHT)


def kind_sequences(state: State) -> set[tuple[str, ...]]:
    """Kinds of action that make up the rest of a play, repeated and lantern actions left out."""
    if state.playing is None:
        return {()}
    sequences = set()
    for kind in kinds(state):
        action = next(text for text in legal(state) if text.split(" ")[0] == kind)
        for rest in kind_sequences(play(state, action)):
            if kind == "accuse" or (state.playing == "SG" and kind == "light"):
                sequences.add(rest)
            else:
                sequences.add(rest if rest[:1] == (kind,) else (kind, *rest))
    return sequences


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("SH", {("move", "alibi")}),
        ("JW", {("move", "light")}),
        ("JS", {("move", "lamp"), ("lamp", "move")}),
        ("IL", {("move", "cordon"), ("cordon", "move")}),
        ("MS", {("move",)}),
        ("SG", {("move", "whistle"), ("whistle", "move")}),
        ("WG", {("move",), ("swap",)}),
        ("JB", {("move", "cover"), ("cover", "move")}),
    ],
)
def test_rule_3_3_character_moves_and_uses_the_ability_of_its_row(
    code: str, expected: set[tuple[str, ...]]
) -> None:
    state = playing(code, "jack")
    assert kind_sequences(state) == expected


def test_rule_3_4_the_call_comes_before_the_gaslight_goes_out() -> None:
    # Only tile 1 on b2 lights Gull on a1.
    state = last_card(1, "WG=a1")
    assert "WG" in state.visible()
    state = play(state, "move e7")
    assert state.witness_seen
    assert "b2" not in state.lit_gaslights
    assert "WG" not in state.visible()


@pytest.mark.parametrize("turn", range(1, 8))
def test_rule_3_4_the_tile_of_the_turn_leaves_for_good(turn: int) -> None:
    state = last_card(turn, "")
    before = state.lit_gaslights
    state = play(state, "move e7")
    assert state.turn == turn + 1
    after = {hex: number for hex, number in before.items() if number != turn}
    assert state.lit_gaslights == after
    assert len(after) == len(before) - (turn <= 4)


def test_rule_3_4_the_tile_leaves_wherever_it_stands() -> None:
    lamps = "lamps=f9:1,b2:2,c7:3,k6:4,f5,h8"
    state = play(last_card(1, lamps), "move e7")
    assert state.lit_gaslights == {"b2": 2, "c7": 3, "k6": 4, "f5": None, "h8": None}


def test_rule_3_4_the_next_turn_comes_after_the_fourth_card() -> None:
    state = State("turn=2 node=use jack=WG dealt=SH,JW,JS,IL cards=MS,SG using=MS")
    state = play(state, "move e7")
    assert (state.turn, state.node, state.cards()) == (2, "pick", ("SG",))
    assert state.cleared() == ()
    state = play(last_card(2, ""), "move e7")
    assert (state.turn, state.node, state.cards()) == (3, "deal", ())


# --- 8 who knows what -----------------------------------------------------------------------

PUBLIC = ("positions", "lit_gaslights", "covered_manholes", "cordons", "watson_light", "turn")
PUBLIC += ("node", "playing", "has_moved", "ability_open", "whistle_steps", "witness_seen")
PUBLIC_CALLS = ("visible", "lit_hexes", "suspects", "cleared", "exonerated", "cards", "outcome")


def test_rule_8_everything_else_is_public() -> None:
    seen: Counter[str] = Counter()
    for state in random_walk(new_game(), random.Random(12)):
        for player in (DETECTIVE, JACK):
            view = state.observation(player)
            for name in PUBLIC:
                assert getattr(view, name) == getattr(state, name), name
            for name in PUBLIC_CALLS:
                if name != "suspects":
                    assert getattr(view, name)() == getattr(state, name)(), name
            for drawer in (DETECTIVE, JACK):
                assert view.alibi_count(drawer) == state.alibi_count(drawer)
        seen[state.node] += 1
    assert set(seen) >= {"jack", "deal", "pick", "use", "whistle", "aim", "alibi", "terminal"}


def test_rule_8_only_jack_knows_who_he_is() -> None:
    for code in EIGHT:
        state = play(new_game(), f"jack {code}")
        assert state.observation(JACK).identity == code
        assert state.observation(DETECTIVE).identity is None
    texts = {play(new_game(), f"jack {code}").information_state_string(DETECTIVE) for code in EIGHT}
    assert len(texts) == 1


def test_rule_8_each_knows_his_own_alibi_cards_and_how_many_the_other_has() -> None:
    state = State("node=deal turn=5 jack=JS alibis=SH,IL/WG witness=unseen")
    assert state.observation(DETECTIVE).alibis(DETECTIVE) == ("SH", "IL")
    assert state.observation(DETECTIVE).alibis(JACK) == ()
    assert state.observation(JACK).alibis(DETECTIVE) == ()
    assert state.observation(JACK).alibis(JACK) == ("WG",)
    for player in (DETECTIVE, JACK):
        view = state.observation(player)
        assert (view.alibi_count(DETECTIVE), view.alibi_count(JACK)) == (2, 1)


def test_rule_8_suspects_are_neither_cleared_nor_among_the_detectives_alibis() -> None:
    state = State("node=deal turn=5 jack=JS alibis=SH,IL/WG cleared=MS,JB exonerated=SG")
    assert state.suspects() == ("JW", "JS", "SG", "WG")
    assert state.observation(DETECTIVE).suspects() == ("JW", "JS", "SG", "WG")


# --- 11 variants ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cast", "deals"),
    [("SH+MS", 2), ("SH+JS+SG+WG", 6), ("+".join(EIGHT), 70)],
)
def test_rule_11_1_cast_decides_characters_and_outcomes(cast: str, deals: int) -> None:
    state = new_game(cast=cast)
    codes = cast.split("+")
    assert list(state.positions) == codes
    assert equally_likely(state) == {f"jack {code}" for code in codes}
    state = play(state, f"jack {codes[1]}")
    hands = [",".join(hand) for hand in combinations(codes, len(codes) // 2)]
    assert equally_likely(state) == {f"deal {hand}" for hand in hands}
    assert len(hands) == deals
    state = play(state, f"deal {hands[0]}")
    assert ",".join(state.cards()) == hands[0]
    assert legal_of(state, "pick") == set(hands[0].split(","))


def test_rule_11_1_codes_are_in_table_order() -> None:
    state = play(new_game(cast=["WG", "SH", "MS", "JS"]), "jack WG")
    assert {"deal SH,JS", "deal SH,WG", "deal JS,WG", "deal MS,WG"} < set(legal(state))
    assert "deal SH" in legal(play(new_game(cast="MS+SH"), "jack MS"))


@pytest.mark.parametrize("first", ["detective", "jack"])
@pytest.mark.parametrize("size", [2, 4])
def test_rule_11_1_who_plays_with_few_cards(size: int, first: str) -> None:
    # Two cards: the starter, then the other. One card: the starter.
    variant = make_variant("whitechapel", EIGHT[-size:], 4, first)
    starter = DETECTIVE if first == "detective" else JACK
    picks: dict[int, list[int]] = {turn: [] for turn in range(1, 5)}
    for state, _ in whole_game(variant, 5):
        if state.node == "pick":
            picks[state.turn].append(state.current_player())
    for turn, players in picks.items():
        one = starter if turn % 2 else 1 - starter
        assert players == [one, 1 - one][: size // 2]


def test_rule_11_1_the_other_half_of_a_small_cast_plays_on_even_turns() -> None:
    seen = 0
    for state, _ in whole_game(make_variant("whitechapel", "MS+SG+WG+JB", 8), 2):
        if state.node == "pick" and len(state.cards()) == 2:
            if state.turn % 2:
                odd = state.cards()
            else:
                assert sorted(state.cards() + odd) == sorted(("MS", "SG", "WG", "JB"))
                seen += 1
    assert seen == 4


def test_rule_11_1_no_watson_no_beam() -> None:
    state = new_game(cast="JS+MS")
    assert state.watson_light is None
    lights = {
        street
        for lamp in state.lit_gaslights
        for street in state.variant.board.neighbours(lamp)
        if street in state.variant.board.streets
    }
    assert set(state.lit_hexes()) == lights
    # Where the others stand in the full game is empty.
    assert set(state.reachable("JS", 1)) >= {"g7", "g9"}
    assert set(state.visible()) == {"JS"}


def test_rule_11_1_the_pile_holds_the_rest_of_the_cast() -> None:
    state = playing("SH", "detective", "jack=WG", make_variant(cast="SH+JS+SG+WG"))
    assert equally_likely(play(state, legal(state)[-1])) == {"alibi SH", "alibi JS", "alibi SG"}


@pytest.mark.parametrize("turns", range(1, 9))
def test_rule_11_2_dawn_comes_after_the_last_turn(turns: int) -> None:
    moments = whole_game(make_variant(turns=turns), turns)
    last, _ = moments[-1]
    assert (last.turn, last.cards()) == (turns, (last.playing,))
    # Gaslights still go out by number, up to the turn before the last.
    numbers = {number for number in last.lit_gaslights.values() if number is not None}
    assert numbers == {number for number in (1, 2, 3, 4) if number >= turns}


def test_rule_11_2_high_numbers_go_out_in_their_turns_too() -> None:
    variant = small_variant(
        "a1 a2 a3 a4 a5 a6",
        "MS=a1 SG=a6",
        gaslights=["b4", "b5"],
        lit_gaslights={"b4": 6, "b5": 7},
    )
    lamps = {state.turn: state.lit_gaslights for state, _ in whole_game(variant, 1)}
    assert lamps[6] == {"b4": 6, "b5": 7}
    assert lamps[7] == {"b5": 7}
    assert lamps[8] == {}


def test_rule_11_3_first_says_who_starts_the_odd_turns() -> None:
    text = "node=pick turn={} jack=JS dealt=SH,JW,JS,IL cards={}"
    odd, even = (1, "SH,JW,JS,IL"), (2, "MS,SG,WG,JB")
    assert new_game().variant.first == "detective"
    assert State(text.format(*odd)).current_player() == DETECTIVE
    assert State(text.format(*even)).current_player() == JACK
    assert State(f"first=jack {text.format(*odd)}").current_player() == JACK
    assert State(f"first=jack {text.format(*even)}").current_player() == DETECTIVE


def test_rule_11_4_the_later_edition_has_other_manholes_and_two_changed_places() -> None:
    old, new = new_game(), new_game(board="whitechapel_2016")
    for name in ("streets", "obstacles", "gaslights", "lit_gaslights", "exits", "cordons"):
        assert getattr(old.variant.board, name) == getattr(new.variant.board, name)
    assert len(old.variant.board.manholes) == 8
    assert len(new.variant.board.manholes) == 9
    moved = {code for code in EIGHT if old.positions[code] != new.positions[code]}
    assert moved == {"JW", "MS"}
    assert new.positions["JW"] == old.positions["MS"]
    assert new.positions["MS"] == old.positions["JW"]


def test_rule_11_4_any_board_of_the_same_form_can_be_played() -> None:
    variant = small_variant("a1 a2 a3", "SH=a1 MS=a3", turns=2)
    state = play(new_game(variant), "jack MS", "deal SH", "pick SH")
    assert legal(state) == ["accuse MS", "move a2"]
    # By hand: 2 identities, 2 deals; SH first: pick, 2 choices, one of them goes on.
    assert [perft(new_game(variant), depth) for depth in (1, 2, 3)] == [2, 4, 4]
