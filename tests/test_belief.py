"""Samples and weights of what a player cannot know, also against an enumeration of all chance."""

from __future__ import annotations

import inspect
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from helpers import (
    CHANCE,
    DETECTIVE,
    EIGHT,
    JACK,
    LOUD,
    NODES,
    join_words,
    kinds,
    lane,
    legal,
    play,
    playing,
    random_walk,
    raw,
)

from mrjack_ai.game.belief import determinize, identity_probabilities
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import Variant, make_variant

PLAYERS = (DETECTIVE, JACK)


def weights(view: Observation) -> dict[str, float]:
    """Probability of each character that can be Jack."""
    found = identity_probabilities(view)
    assert found.shape == (len(view.variant.cast),)
    return {code: float(w) for code, w in zip(view.variant.cast, found, strict=True) if w > 0}


def sample(view: Observation, draws: int, seed: int = 0) -> Counter[tuple[object, ...]]:
    """How often each identity and each set of the other's alibi cards is drawn."""
    generator = np.random.default_rng(seed)
    found: Counter[tuple[object, ...]] = Counter()
    for _ in range(draws):
        state = determinize(view, generator)
        found[state.identity, state.alibis(1 - view.player)] += 1
    return found


def assert_frequencies(found: Counter[tuple[object, ...]], expected: dict[object, float]) -> None:
    """Counts are within five standard deviations of their expectation, and none is missing."""
    draws = found.total()
    assert set(found) == {key for key, chance in expected.items() if chance > 0}
    assert sum(expected.values()) == pytest.approx(1)
    for key, chance in expected.items():
        spread = math.sqrt(draws * chance * (1 - chance))
        assert abs(found[key] - draws * chance) <= 5 * spread + 1e-9, key


# --- samples fit what is known --------------------------------------------------------------


@pytest.mark.parametrize(
    "variant",
    [
        make_variant(),
        make_variant("mews", "SH+JW+SG+WG"),
        make_variant("mews", "SH+SG", 4, "jack"),
        make_variant("mews", "IL+MS", 3),
    ],
    ids=["eight", "four", "two", "two without Holmes"],
)
def test_a_sample_replays_against_the_public_history(variant: Variant) -> None:
    generator = np.random.default_rng(2)
    met: Counter[str] = Counter()
    for seed in range(4):
        avoid = LOUD if seed else ()
        for state in random_walk(new_game(variant), random.Random(seed), avoid):
            for player in PLAYERS:
                view = state.observation(player)
                drawn = determinize(view, generator)
                assert drawn.observation(player) == view
                # Played again from the start, every action is legal, every call is answered as
                # it was, and it ends in the same position.
                replay = new_game(variant)
                for text in drawn.history_strings():
                    assert text in legal(replay)
                    replay.apply_action(text)
                assert raw(replay) == raw(drawn)
                assert replay.events() == drawn.events()
                heard = [text for text in view.history() if text.startswith("witness")]
                again = replay.observation(player).history()
                assert [text for text in again if text.startswith("witness")] == heard
                met[state.node] += 1
                met["calls"] += len(heard)
    assert set(met) >= {"jack", "deal", "pick", "use", "terminal", "calls"}
    if len(variant.cast) == 8:
        assert set(met) >= set(NODES)


def test_no_alibi_card_is_drawn_twice() -> None:
    generator, seen = np.random.default_rng(5), 0
    for seed in range(3):
        for state in random_walk(new_game(), random.Random(seed)):
            for player in PLAYERS:
                drawn = determinize(state.observation(player), generator)
                cards = [*drawn.alibis(DETECTIVE), *drawn.alibis(JACK)]
                texts = [text for text in drawn.history_strings() if text.startswith("alibi")]
                assert len(set(cards)) == len(cards) == len(set(texts)) == len(texts)
                assert {f"alibi {card}" for card in cards} == set(texts)
                assert drawn.identity not in cards
                for drawer in PLAYERS:
                    assert drawn.alibi_count(drawer) == state.alibi_count(drawer)
                seen += len(cards) > 1
    assert seen > 20


def test_a_sample_can_be_played_to_the_end() -> None:
    generator = np.random.default_rng(6)
    ends = 0
    for seed in range(3):
        for state in random_walk(new_game(), random.Random(seed)):
            drawn = determinize(state.observation(DETECTIVE), generator)
            for moment in random_walk(drawn, random.Random(seed), plies=15):
                if moment.identity is not None:
                    assert moment.identity in moment.suspects()
                ends += moment.is_terminal()
    assert ends > 0


def test_equal_generators_and_twin_views_give_equal_samples() -> None:
    generator = np.random.default_rng(7)
    checked = 0
    for state in random_walk(new_game(), random.Random(1), plies=80):
        for player in PLAYERS:
            view = state.observation(player)
            twin = determinize(view, generator)
            pair = [
                determinize(one.observation(player), np.random.default_rng(state.move_number()))
                for one in (state, twin)
            ]
            assert raw(pair[0]) == raw(pair[1])
            assert pair[0].events() == pair[1].events()
            checked += raw(twin) != raw(state)
    assert checked > 20


def test_a_sample_leaves_the_view_alone_and_sees_no_state() -> None:
    state = play(new_game(), "jack JS", "deal SH,JW,JS,IL")
    view, before = state.observation(DETECTIVE), raw(state)
    drawn = determinize(view, np.random.default_rng(0))
    drawn.apply_action("pick SH")
    assert view == state.observation(DETECTIVE)
    assert raw(state) == before
    names = list(inspect.signature(determinize).parameters)
    assert names == ["observation", "rng", "probabilities"]


def test_samples_follow_given_probabilities() -> None:
    state = play(new_game(), "jack JS", "deal SH,JW,JS,IL")
    view = state.observation(DETECTIVE)
    given = np.array([0, 0.25, 0.75, 0, 0, 0, 0, 0])
    rng = np.random.default_rng(3)
    names = Counter(determinize(view, rng, given).identity for _ in range(2000))
    assert set(names) == {"JW", "JS"}
    assert abs(names["JS"] - 1500) < 5 * np.sqrt(2000 * 0.75 * 0.25)
    # Jack knows who he is, whatever is said.
    assert determinize(state.observation(1), rng, given[::-1]).identity == "JS"


def test_before_jacks_card_is_drawn_there_is_nothing_to_sample() -> None:
    view = new_game().observation(DETECTIVE)
    assert weights(view) == {}
    assert determinize(view, np.random.default_rng(0)) == new_game()


# --- weights --------------------------------------------------------------------------------


def test_every_suspect_is_equally_likely() -> None:
    # Jack's own two cards say nothing: any of the rest may be on them.
    state = State("node=deal turn=5 jack=JS alibis=SH,IL/WG,SG cleared=MS,JB witness=unseen")
    view = state.observation(DETECTIVE)
    suspects = ("JW", "JS", "SG", "WG")
    assert view.suspects() == suspects
    assert weights(view) == pytest.approx(dict.fromkeys(suspects, 1 / 4))
    expected = {
        (jack, pair): Fraction(1, 4 * 10)
        for jack in suspects
        for pair in pairs([code for code in EIGHT if code not in (jack, "SH", "IL")])
    }
    assert_frequencies(sample(view, 4000), {key: float(part) for key, part in expected.items()})


def pairs(codes: list[str]) -> list[tuple[str, str]]:
    """Pairs in table order."""
    return [(one, two) for index, one in enumerate(codes) for two in codes[index + 1 :]]


def test_jack_weighs_the_detectives_cards() -> None:
    state = State("node=deal turn=5 jack=JS alibis=SH,IL/WG cleared=MS,JB witness=unseen")
    view = state.observation(JACK)
    assert weights(view) == {"JS": 1.0}
    expected = {
        ("JS", pair): 1 / 15 for pair in pairs([code for code in EIGHT if code not in ("JS", "WG")])
    }
    assert len(expected) == 15
    assert_frequencies(sample(view, 3000), expected)


def test_the_end_of_the_game_tells() -> None:
    start = "node=use turn=3 dealt=SH,JW,JS,IL cards=SH,JW,JS,IL using=SH ability=open SH=e6"
    caught = play(State(f"{start} jack=IL"), "accuse IL")
    assert weights(caught.observation(DETECTIVE)) == {"IL": 1.0}
    wrong = play(State(f"{start} jack=WG cleared=JB"), "accuse IL")
    left = set(EIGHT) - {"IL", "JB"}
    assert weights(wrong.observation(DETECTIVE)) == pytest.approx(dict.fromkeys(left, 1 / 6))
    escape = play(playing("MS", "jack", "jack=MS witness=unseen"), "escape SE")
    assert weights(escape.observation(DETECTIVE)) == {"MS": 1.0}


def test_samples_of_set_up_positions_keep_their_root() -> None:
    generator = np.random.default_rng(8)
    text = "node=pick turn=3 jack=JS alibis=SH/WG dealt=SH,JW,JS,IL cards=SH,JW,JS,IL"
    moments = 0
    for state in random_walk(State(text), random.Random(1), plies=30):
        for player in PLAYERS:
            view = state.observation(player)
            drawn = determinize(view, generator)
            assert drawn.observation(player) == view
            replay = State(drawn.root_text)
            for action in drawn.history_strings():
                replay.apply_action(action)
            assert raw(replay) == raw(drawn)
            moments += 1
    assert moments == 62


# --- 4.6: a forced stay tells ---------------------------------------------------------------

TRAP = "SH=a1 JW=a2 JS=a3 IL=a4 MS=a7 SG=a9 WG=a11 JB=a13"
"""Holmes is at the end of a lane and cannot move: a2 to a4 are taken."""


def trapped(words: str, by: str = "jack", **fields: object) -> State:
    """Holmes's card is just taken; the exit S at a1 is open."""
    given = {"exits": {"S": "a1", "N": "a13"}, "cordons": ["N"], **fields}
    turn = 2 if by == "jack" else 3
    return playing("SH", by, f"witness=unseen {words}", lane(13, TRAP, **given), turn)


def test_a_stay_rules_out_who_could_have_escaped() -> None:
    state = trapped("jack=MS")
    assert legal(state) == ["stay"]
    assert weights(state.observation(DETECTIVE)) == pytest.approx(dict.fromkeys(EIGHT, 1 / 8))
    after = play(state, "stay")
    assert after.exonerated() == ("SH",)
    left = [code for code in EIGHT if code != "SH"]
    assert weights(after.observation(DETECTIVE)) == pytest.approx(dict.fromkeys(left, 1 / 7))
    assert {identity for identity, _ in sample(after.observation(DETECTIVE), 300)} == set(left)
    # He is a suspect all the same: neither cleared nor on a card (section 8).
    assert "SH" in after.suspects()
    assert after.candidates() == tuple(code for code in after.suspects() if code != "SH")
    assert legal(trapped("jack=SH")) == ["escape S"]


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("jack=MS witness=seen", {}),
        ("jack=MS cordons=S", {}),
        ("jack=MS", {"exits": {"N": "a13", "S": "a6"}}),
    ],
)
def test_a_stay_tells_nothing_where_no_escape_was_possible(
    words: str, fields: dict[str, object]
) -> None:
    after = play(trapped(words, **fields), "stay")
    assert after.exonerated() == ()
    assert set(weights(after.observation(DETECTIVE))) == set(EIGHT)


def test_the_detective_has_no_stay_to_tell_by() -> None:
    # Whoever hems a character in can be accused.
    state = trapped("jack=MS", "detective")
    assert kinds(state) == {"accuse"}


def test_a_move_tells_nothing() -> None:
    # Holmes on a2 could leave, but also walks.
    state = trapped("jack=MS SH=a2 JW=a5")
    after = play(state, "move a1", "alibi JW")
    assert after.exonerated() == ()
    assert set(weights(after.observation(DETECTIVE))) == set(EIGHT)


# --- against an enumeration -----------------------------------------------------------------

Particle = tuple[State, Fraction]


def heard(before: State, after: State, observer: int) -> tuple[object, ...]:
    """What an observer learns from one action: its text unless hidden, the call, the end."""
    text: str = after.history_strings()[-1]
    if text.startswith("jack") and observer == DETECTIVE:
        text = "jack"
    if text.startswith("alibi") and before.alibis(observer) == after.alibis(observer):
        text = "alibi"
    call = after.witness_seen if after.turn > before.turn else None
    return text, call, str(after.outcome()), after.current_player(), after.node


def step(particles: list[Particle], before: State, after: State, observer: int) -> list[Particle]:
    """All completions of chance that still fit, with the probability of their chances.

    How a player chooses is no evidence; that he could choose so is.
    """
    told = heard(before, after, observer)
    text = after.history_strings()[-1]
    following: list[Particle] = []
    for state, weight in particles:
        if state.current_player() == CHANCE:
            outcomes = legal(state)
            children = [(state.child(o), weight / len(outcomes)) for o in outcomes]
        else:
            children = [(state.child(text), weight)] if text in legal(state) else []
        following += [
            (child, part) for child, part in children if heard(state, child, observer) == told
        ]
    return following


def posterior(particles: list[Particle], observer: int) -> dict[object, float]:
    """Probability of each identity with each set of the other's cards."""
    total = sum(weight for _, weight in particles)
    found: Counter[object] = Counter()
    for state, weight in particles:
        found[state.identity, state.alibis(1 - observer)] += weight / total  # type: ignore[assignment]
    return {key: float(part) for key, part in found.items()}


def marginal(found: dict[object, float]) -> dict[object, float]:
    """Probability of each identity."""
    identities: Counter[object] = Counter()
    for (identity, _), part in found.items():  # type: ignore[misc]
        identities[identity] += part  # type: ignore[assignment]
    return dict(identities)


def check_against_enumeration(
    state: State, particles: list[Particle], seed: int, draws: int, avoid: tuple[str, ...]
) -> Counter[str]:
    """Follow one game; compare the belief of both players at every moment."""
    met: Counter[str] = Counter()
    beliefs = {observer: list(particles) for observer in PLAYERS}
    before = state.clone()
    for moment in random_walk(state, random.Random(seed), avoid):
        for observer in PLAYERS:
            if moment.move_number() > before.move_number():
                beliefs[observer] = step(beliefs[observer], before, moment, observer)
            if moment.node == "jack":
                continue
            if observer == JACK:
                beliefs[JACK] = [
                    (one, weight)
                    for one, weight in beliefs[JACK]
                    if one.identity == moment.identity
                ]
            view = moment.observation(observer)
            expected = posterior(beliefs[observer], observer)
            assert weights(view) == pytest.approx(marginal(expected)), moment.history_strings()
            met["several"] += len(expected) > 1
            met["ruled out"] += bool(moment.exonerated())
            met["cards"] += observer == JACK and len(expected) > 1
            if draws and len(expected) > 1 and moment.move_number() % 4 == 0:
                assert_frequencies(sample(view, draws, seed), expected)
                met["sampled"] += 1
        before = moment.clone()
    return met


@pytest.mark.parametrize(
    ("cast", "turns", "first"),
    [
        ("SH+JS", 3, "detective"),
        ("SH+SG", 3, "jack"),
        ("SH+JW+SG+MS", 3, "detective"),
        ("SH+IL+WG+JB", 3, "jack"),
        ("JS+IL+MS+JB", 2, "detective"),
    ],
)
def test_weights_equal_those_of_all_completions_of_chance(
    cast: str, turns: int, first: str
) -> None:
    variant = make_variant("mews", cast, turns, first)
    met: Counter[str] = Counter()
    for seed in range(25):
        particles = [(new_game(variant), Fraction(1))]
        draws = 300 if seed < 6 else 0
        avoid = ((), LOUD, ("accuse",))[seed % 3]
        met += check_against_enumeration(new_game(variant), particles, seed, draws, avoid)
    assert met["several"] > 50
    if len(variant.cast) == 4:
        assert met["sampled"] > 10
        assert (met["cards"] > 10) is ("SH" in variant.cast)


def test_weights_equal_those_of_all_completions_where_a_stay_rules_somebody_out() -> None:
    variant = lane(13, TRAP, turns=2, exits={"S": "a1", "N": "a13"}, cordons=["N"])
    words = {
        "node": "pick",
        "turn": "2",
        "witness": "unseen",
        "cleared": "WG",
        "dealt": "JS,IL,SG,WG",
        "cards": "SH,JW,MS,JB",
    }
    suspects = [code for code in EIGHT if code != "WG"]
    met: Counter[str] = Counter()
    for seed in range(12):
        for jack in ("MS", "JB"):
            starts = {
                code: State(join_words({**words, "jack": code}), variant) for code in suspects
            }
            particles = [(state, Fraction(1, 7)) for state in starts.values()]
            state = starts[jack].clone()
            met += check_against_enumeration(state, particles, seed, 0, LOUD)
    assert met["ruled out"] > 10
    assert met["several"] > 10
