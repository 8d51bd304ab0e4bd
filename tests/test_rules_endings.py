"""The rules, statement by statement: witnesses (6) and the end of the game (7)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from helpers import (
    DETECTIVE,
    EIGHT,
    JACK,
    TERMINAL,
    kinds,
    lane,
    legal,
    legal_of,
    parse_words,
    play,
    playing,
    random_walk,
    small_variant,
)

from mrjack_ai.errors import IllegalActionError
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import Variant, make_variant

# --- 6 the call for witnesses ---------------------------------------------------------------


def dark(words: str, variant: Variant) -> State:
    """A position between turns; Watson, if he plays, shines off the board."""
    return State(f"node=deal turn=3 {words}", variant=variant)


@pytest.mark.parametrize(
    ("start", "fields", "expected"),
    [
        # Nobody near, no light.
        ("JS=a1 MS=a5", {}, set()),
        # Next to a lit gaslight: a1 and a2 touch b2, a3 does not.
        ("JS=a1 MS=a5", {"gaslights": ["b2"], "lit_gaslights": {"b2": None}}, {"JS"}),
        ("JS=a2 MS=a5", {"gaslights": ["b2"], "lit_gaslights": {"b2": 5}}, {"JS"}),
        ("JS=a3 MS=a5", {"gaslights": ["b2"], "lit_gaslights": {"b2": None}}, set()),
        # A gaslight that is out lights nobody, and an obstacle neither.
        ("JS=a1 MS=a5", {"gaslights": ["b2"]}, set()),
        ("JS=a1 MS=a5", {"obstacles": ["b2"]}, set()),
        # Next to another.
        ("JS=a1 MS=a2", {}, {"JS", "MS"}),
        ("JS=a1 MS=a3", {}, set()),
        ("JS=a1 MS=a5 IL=a2 SG=a8", {}, {"JS", "IL"}),
    ],
)
def test_rule_6_1_visible_by_gaslight_or_neighbour(
    start: str, fields: dict[str, Any], expected: set[str]
) -> None:
    code = start[:2]
    state = dark(f"jack={code}", lane(9, start, **fields))
    assert set(state.visible()) == expected


def test_rule_6_1_visible_in_the_beam() -> None:
    variant = lane(9, "JW=a3 MS=a7 JS=a1 IL=a5")
    assert set(dark("jack=JW JW=a3:N", variant).visible()) == {"MS", "IL"}
    assert set(dark("jack=JW JW=a3:S", variant).visible()) == {"JS"}
    assert set(dark("jack=JW JW=a3:NE", variant).visible()) == set()


def test_rule_6_1_next_to_each_of_six_sides() -> None:
    board = new_game().variant.board
    streets = "d4 d5 e5 e4 d3 c3 c4 f4"
    for hex in board.neighbours("d4"):
        state = dark("jack=JS", small_variant(streets, f"JS=d4 MS={hex}"))
        assert set(state.visible()) == {"JS", "MS"}, hex
    assert dark("jack=JS", small_variant(streets, "JS=d4 MS=f4")).visible() == ()


CALL = "turn=1 node=use using=MS cards=MS dealt=SH,JW,JS,MS"
"""Stealthy is the last card of turn 1. Once she stands on e6, SH, JS, IL, JB and she are seen."""
SEEN = {"SH", "JS", "IL", "JB", "MS"}


@pytest.mark.parametrize("jack", EIGHT)
def test_rule_6_2_those_unlike_jack_are_cleared(jack: str) -> None:
    state = play(State(f"{CALL} jack={jack}"), "move e6")
    assert set(state.visible()) == SEEN
    if jack in SEEN:
        assert state.witness_seen
        assert set(state.cleared()) == set(EIGHT) - SEEN
    else:
        assert not state.witness_seen
        assert set(state.cleared()) == SEEN
    assert jack in state.suspects()


@pytest.mark.parametrize("jack", EIGHT)
def test_rule_6_2_clearing_is_public(jack: str) -> None:
    state = play(State(f"{CALL} jack={jack}"), "move e6")
    for player in (DETECTIVE, JACK):
        assert state.observation(player).cleared() == state.cleared()
        answer = "witness seen" if jack in SEEN else "witness unseen"
        assert state.observation(player).history()[-1] == answer


@pytest.mark.parametrize(("jack", "cleared"), [("IL", ("SH", "JW")), ("WG", ("SG", "JB"))])
def test_rule_6_2_clearing_is_for_good(jack: str, cleared: tuple[str, str]) -> None:
    # One of the two is now seen or unseen as Jack is, but both were cleared before.
    words = f"turn=3 node=use using=MS cards=MS dealt=SH,JW,JS,MS jack={jack}"
    state = play(State(f"{words} cleared={','.join(cleared)}"), "move e6")
    alike = {code for code in cleared if (code in state.visible()) == state.witness_seen}
    assert len(alike) == 1
    assert set(cleared) < set(state.cleared())
    assert not set(cleared) & set(state.suspects())


def test_rule_6_3_the_card_shows_the_answer_until_the_next_call() -> None:
    rng = random.Random(11)
    answers: list[bool] = []
    previous, shown = 1, True
    for state in random_walk(play(new_game(), "jack SH"), rng):
        if state.turn != previous and not state.is_terminal():
            answers.append(state.witness_seen)
            previous, shown = state.turn, state.witness_seen
        assert state.witness_seen == shown
    assert set(answers) == {True, False}


@pytest.mark.parametrize("before", ["seen", "unseen"])
@pytest.mark.parametrize(("jack", "after"), [("IL", True), ("WG", False)])
def test_rule_6_3_each_call_sets_the_card_anew(before: str, jack: str, after: bool) -> None:
    words = f"turn=3 node=use using=MS cards=MS dealt=SH,JW,JS,MS witness={before}"
    assert play(State(f"{words} jack={jack}"), "move e6").witness_seen is after


# --- 7.1 escape -----------------------------------------------------------------------------


def runner(code: str, length: int, words: str = "", **fields: Any) -> State:
    """Jack is `code` on a lane with the open exit S at a1, not seen, and plays his card."""
    other = "IL" if code != "IL" else "JS"
    start = f"{code}=a{length} {other}=a12"
    variant = lane(12, start, exits={"S": "a1", "N": "a12"}, cordons=["N"], **fields)
    return playing(code, "jack", f"witness=unseen jack={code} {words}", variant)


@pytest.mark.parametrize("code", EIGHT)
def test_rule_7_1_leaving_is_one_step_of_the_range(code: str) -> None:
    steps = 4 if code == "MS" else 3
    for start in range(1, steps + 1):
        # a1 to the exit is one step, so a3 needs all three of them.
        assert legal_of(runner(code, start), "escape") == {"S"}, start
    assert "escape" not in kinds(runner(code, steps + 1))


def test_rule_7_1_standing_on_the_exit_hex_it_is_one_step() -> None:
    state = playing("JS", "jack", "witness=unseen jack=JS JS=l6")
    assert legal_of(state, "escape") == {"SE"}
    assert str(play(state, "escape SE").outcome()) == "jack wins: escape"


def test_rule_7_1_only_while_the_card_shows_not_seen() -> None:
    assert "escape" not in kinds(runner("JS", 1, "witness=seen"))


def test_rule_7_1_only_with_his_own_character() -> None:
    assert "escape" not in kinds(runner("JS", 1, "jack=IL"))


def test_rule_7_1_only_jack() -> None:
    # The Detective plays the very same card of Jack's character.
    words = "witness=unseen jack=JS JS=l6"
    assert "escape" not in kinds(playing("JS", "detective", words, turn=3))
    assert "escape" in kinds(playing("JS", "jack", words, turn=3))


def test_rule_7_1_not_through_a_cordon() -> None:
    words = "witness=unseen jack=JS JS=l6"
    assert legal_of(playing("JS", "jack", f"{words} cordons=SE,NE"), "escape") == set()
    assert legal_of(playing("JS", "jack", f"{words} cordons=NW,NE"), "escape") == {"SE"}


def test_rule_7_1_every_exit_without_a_cordon_in_reach() -> None:
    variant = lane(5, "JS=a2 MS=a5", exits={"S": "a1", "N": "a3", "E": "a2"}, cordons=["E"])
    state = playing("JS", "jack", "witness=unseen jack=JS", variant)
    assert legal_of(state, "escape") == {"S", "N"}
    state = playing("JS", "jack", "witness=unseen jack=JS cordons=S", variant)
    assert legal_of(state, "escape") == {"N", "E"}


def test_rule_7_1_manholes_may_be_used_on_the_way() -> None:
    # a9, below to a2, a1, out: that is one step too many; from a2's side manhole a1 it is not.
    assert "escape" not in kinds(runner("JS", 9, manholes=["a2", "a8"]))
    assert legal_of(runner("JS", 8, manholes=["a2", "a8"]), "escape") == {"S"}
    assert legal_of(runner("JS", 9, manholes=["a1", "a8"]), "escape") == {"S"}
    fields = {"manholes": ["a2", "a8"], "covered_manholes": ["a2"]}
    assert "escape" not in kinds(runner("JS", 8, **fields))


def test_rule_7_1_stealthy_leaves_across_obstacles_and_gaslights() -> None:
    for middle in ("obstacles", "gaslights"):
        variant = small_variant(
            "a1 a2 b3 b4 a4 a5", "MS=a4 JS=a5", exits={"S": "a1"}, **{middle: ["a3"]}
        )
        # a4, a3, a2, a1 and out.
        state = playing("MS", "jack", "witness=unseen jack=MS", variant)
        assert legal_of(state, "escape") == {"S"}
        state = playing("JS", "jack", "witness=unseen jack=JS MS=a5 JS=a4", variant)
        assert "escape" not in kinds(state)


def test_rule_7_1_the_exit_hex_may_be_occupied() -> None:
    state = playing("JS", "jack", "witness=unseen jack=JS JS=l7 WG=l6")
    assert legal_of(state, "escape") == {"SE"}
    assert "l6" not in legal_of(state, "move")


def test_rule_7_1_the_ability_may_come_first() -> None:
    words = "witness=unseen"
    smith = play(playing("JS", "jack", f"{words} jack=JS JS=l6"), "lamp f5>f9")
    assert legal_of(smith, "escape") == {"SE"}
    # Lestrade takes the cordon away from his own exit.
    lestrade = playing("IL", "jack", f"{words} jack=IL IL=l12")
    assert "escape" not in kinds(lestrade)
    assert legal_of(play(lestrade, "cordon NE>NW"), "escape") == {"NE"}
    # Bert opens the manhole he stands on, one step from the exit's manhole.
    bert = playing("JB", "jack", f"{words} jack=JB JB=c2 covers=c2,m9 cordons=SW,SE")
    assert "escape" not in kinds(bert)
    assert legal_of(play(bert, "cover c2>a5"), "escape") == {"NE"}
    # Goodley whistles, then leaves.
    goodley = playing("SG", "jack", f"{words} jack=SG SG=l6")
    assert legal_of(goodley, "escape") == {"SE"}
    walk = next(text for text in legal(goodley) if text.startswith("whistle") and text[-1] == "3")
    goodley = play(goodley, walk)
    if goodley.node == "aim":
        goodley = play(goodley, "light N")
    assert legal_of(goodley, "escape") == {"SE"}


def test_rule_7_1_not_after_moving() -> None:
    state = play(playing("JS", "jack", "witness=unseen jack=JS JS=l7"), "move l6")
    assert kinds(state) == {"lamp"}
    assert play(state, "lamp f5>f9").node == "pick"


def test_rule_7_1_jack_wins() -> None:
    state = play(runner("MS", 2), "escape S")
    assert state.is_terminal()
    assert state.current_player() == TERMINAL
    assert state.returns() == [-1.0, 1.0]
    assert str(state.outcome()) == "jack wins: escape"


def test_rule_7_1_never_in_turn_1() -> None:
    rng, turns = random.Random(0), []
    for _ in range(100):
        variant = make_variant("mews", "SH+JW+JS+MS", 3, rng.choice(("detective", "jack")))
        for state in random_walk(new_game(variant), rng, ("accuse",)):
            if not state.is_terminal() and "escape" in kinds(state):
                turns.append(state.turn)
    assert turns
    assert min(turns) == 2


# --- 7.2 accusation -------------------------------------------------------------------------


def accuser(code: str, by: str = "detective", words: str = "") -> State:
    """A character on a1 of a lane with others on a2 (SH) and a5."""
    other = "IL" if code != "IL" else "JS"
    return playing(code, by, words, lane(9, f"{code}=a1 SH=a2 {other}=a5 WG=a9"))


@pytest.mark.parametrize("code", ["JS", "MS", "JB", "SG"])
def test_rule_7_2_the_detective_accuses_within_range(code: str) -> None:
    state = accuser(code)
    assert legal_of(state, "accuse") == ({"SH", "IL"} if code == "MS" else {"SH"})
    assert "accuse" not in kinds(accuser(code, "jack"))


def test_rule_7_2_a_manhole_leads_to_the_accused() -> None:
    variant = lane(9, "JS=a1 WG=a7", manholes=["a2", "a8"])
    assert legal_of(playing("JS", "detective", "", variant), "accuse") == {"WG"}
    variant = lane(9, "JS=a1 WG=a7", manholes=["a2", "a8"], covered_manholes=["a8"])
    assert legal_of(playing("JS", "detective", "", variant), "accuse") == set()


@pytest.mark.parametrize("jack", ["SH", "WG"])
def test_rule_7_2_right_the_detective_wins_wrong_jack_wins(jack: str) -> None:
    state = play(accuser("JS", words=f"jack={jack}"), "accuse SH")
    assert state.is_terminal()
    if jack == "SH":
        assert state.returns() == [1.0, -1.0]
        assert str(state.outcome()) == "detective wins: caught"
    else:
        assert state.returns() == [-1.0, 1.0]
        assert str(state.outcome()) == "jack wins: wrong accusation"


def test_rule_7_2_anybody_may_be_accused_cleared_or_not() -> None:
    words = "turn=3 jack=WG cleared=SH alibis={}/- exonerated={}"
    for more in (words.format("-", "-"), words.format("SH", "-"), words.format("IL", "SH")):
        assert legal_of(accuser("JS", words=more), "accuse") == {"SH"}


def test_rule_7_2_nobody_accuses_himself() -> None:
    # Though a way leads back to his own hex.
    state = accuser("JS", words="jack=JS")
    assert "JS" not in legal_of(state, "accuse")
    with pytest.raises(IllegalActionError):
        state.apply_action("accuse JS")
    assert legal_of(playing("MS", "detective", "jack=MS"), "accuse").isdisjoint({"MS"})


def test_rule_7_2_whistle_first_then_walk_onto_him() -> None:
    variant = lane(9, "SG=a1 WG=a6 JS=a9 MS=a2")
    state = playing("SG", "detective", "jack=WG", variant)
    assert "WG" not in legal_of(state, "accuse")
    state = play(state, "whistle WG a3 3")
    assert legal_of(state, "accuse") == {"WG", "MS"}
    assert play(state, "accuse WG").returns() == [1.0, -1.0]


@pytest.mark.parametrize(
    ("code", "action"), [("JS", "lamp d2>b4"), ("IL", "cordon W>E"), ("JB", "cover c1>a3")]
)
def test_rule_7_2_any_ability_that_may_come_first_may(code: str, action: str) -> None:
    state = playing(code, "detective", "", make_variant("mews"))
    state = play(state, action)
    assert "accuse" in kinds(state)
    assert play(state, f"accuse {min(legal_of(state, 'accuse'))}").is_terminal()


def test_rule_7_2_bert_opens_a_manhole_and_accuses_through_it() -> None:
    fields = {"manholes": ["a1", "a6", "a8"], "covered_manholes": ["a8"]}
    variant = lane(9, "JB=a1 WG=a9", **fields)
    state = playing("JB", "detective", "jack=WG", variant)
    assert "accuse" not in kinds(state)
    assert legal_of(play(state, "cover a8>a6"), "accuse") == {"WG"}


def test_rule_7_2_not_after_moving() -> None:
    state = play(playing("JS", "detective", "JS=e6"), "move e7")
    assert kinds(state) == {"lamp"}


def test_rule_7_2_stealthy_accuses_across_obstacles() -> None:
    for middle in ("obstacles", "gaslights"):
        variant = small_variant("a1 a2 b3 b4 a4 a5", "MS=a1 WG=a5", **{middle: ["a3"]})
        # a2, a3, a4, a5; around a3 it would be one step more.
        assert legal_of(playing("MS", "detective", "", variant), "accuse") == {"WG"}
    variant = small_variant("a1 a2 b3 b4 a4 a5", "SH=a1 WG=a4", obstacles=["a3"])
    assert "accuse" not in kinds(playing("SH", "detective", "", variant))


def test_rule_7_2_accusing_is_possible_in_turn_1() -> None:
    state = playing("SH", "detective", "jack=IL SH=e6")
    assert state.turn == 1
    assert "IL" in legal_of(state, "accuse")
    assert play(state, "accuse IL").returns() == [1.0, -1.0]


@pytest.mark.parametrize("code", [code for code in EIGHT if code != "IL"])
def test_rule_7_2_the_game_is_over_at_once(code: str) -> None:
    state = playing(code, "detective", f"jack=IL {code}=e6")
    before = parse_words(str(state))
    state = play(state, "accuse IL")
    after = parse_words(str(state))
    # No ability, no draw, no aim, and nobody is moved.
    for name in ("lamps", "covers", "cordons", "turn", "witness", "cards", *EIGHT):
        assert after[name] == before[name]
    assert state.alibi_count(DETECTIVE) == 0
    assert state.legal_actions() == []
    for text in ("move e7", "light N", "accuse IL", "alibi MS", "stay", "pick SH"):
        with pytest.raises(IllegalActionError):
            state.apply_action(text)


@pytest.mark.parametrize("code", [code for code in EIGHT if code not in ("MS", "IL")])
def test_rule_7_2_the_game_is_over_at_once_after_an_escape(code: str) -> None:
    state = playing(code, "jack", f"witness=unseen jack={code} {code}=l6")
    before = parse_words(str(state))
    state = play(state, "escape SE")
    after = parse_words(str(state))
    for name in ("lamps", "covers", "cordons", "turn", "witness", "cards", *EIGHT):
        assert after[name] == before[name]
    assert state.alibi_count(JACK) == 0
    assert state.legal_actions() == []


# --- 7.3 dawn, 7.4 results ------------------------------------------------------------------


@pytest.mark.parametrize("turns", [1, 2, 3, 4, 8])
def test_rule_7_3_dawn_without_a_call_and_without_a_gaslight_going_out(turns: int) -> None:
    dealt = "SH,JW,JS,MS" if turns % 2 else "SH,JW,JS,IL"
    variant = make_variant(turns=turns)
    witness = "seen" if turns == 1 else "unseen"
    words = f"turn={turns} node=use using=MS cards=MS dealt={dealt} jack=IL witness={witness}"
    before = State(words, variant=variant)
    state = play(before, "move e7")
    assert state.is_terminal()
    assert str(state.outcome()) == "jack wins: dawn"
    assert state.turn == turns
    assert "IL" in state.visible()  # A call would clear those who are not.
    assert state.cleared() == ()
    assert state.witness_seen == before.witness_seen
    assert state.lit_gaslights == before.lit_gaslights
    assert "witness seen" not in state.observation(DETECTIVE).history()


def test_rule_7_3_not_before_the_last_card_of_the_last_turn() -> None:
    words = "node=use using=MS jack=IL dealt=SH,JW,JS,IL"
    assert not play(State(f"turn=8 cards=MS,SG {words}"), "move e7").is_terminal()
    assert not play(State(f"turn=6 cards=MS {words}"), "move e7").is_terminal()


def test_rule_7_3_even_if_everybody_knows_who_he_is() -> None:
    cleared = "cleared=SH,JW,JS,MS,SG,WG,JB"
    words = f"turn=8 node=use using=MS cards=MS dealt=SH,JW,JS,IL jack=IL {cleared}"
    state = play(State(words), "move e7")
    assert str(state.outcome()) == "jack wins: dawn"
    assert state.suspects() == ("IL",)


@pytest.mark.parametrize(
    ("ending", "more", "expected"),
    [
        ("caught", "using=MS cards=MS accused=IL", [1.0, -1.0]),
        ("wrong", "using=MS cards=MS accused=JS", [-1.0, 1.0]),
        (
            "escape",
            "using=IL cards=SH,IL,SG,JB witness=unseen dealt=JW,JS,MS,WG turn=4",
            [-1.0, 1.0],
        ),
        ("dawn", "turn=8 dealt=SH,JW,JS,IL", [-1.0, 1.0]),
    ],
)
def test_rule_7_4_one_for_the_winner(ending: str, more: str, expected: list[float]) -> None:
    words = {"turn": "3", "dealt": "SH,JW,JS,MS", "jack": "IL", **parse_words(more)}
    text = " ".join(f"{name}={value}" for name, value in words.items())
    state = State(f"node=terminal ending={ending} {text}")
    assert state.returns() == expected
    assert sum(state.returns()) == 0
    winner = state.outcome()
    assert winner is not None
    assert expected[winner.winner] == 1.0


def test_rule_7_4_nothing_before_the_end() -> None:
    for state in random_walk(new_game(), random.Random(1)):
        assert (state.returns() == [0.0, 0.0]) is not state.is_terminal()
