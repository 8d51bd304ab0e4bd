"""Text, pickle and copies round-trip everywhere; wrong text and illegal actions are refused."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from helpers import (
    BOARDS,
    DETECTIVE,
    EIGHT,
    NODES,
    join_words,
    legal,
    parse_words,
    play,
    quiet_choice,
    random_variant,
    random_walk,
    raw,
    reference_from,
)
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from mrjack_ai.errors import ArgumentError, IllegalActionError, NotationError
from mrjack_ai.game.actions import Action, action_space
from mrjack_ai.game.belief import identity_probabilities
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import Variant, make_variant

seeds = st.integers(0, 2**32 - 1)


def sampled_states(per_node: int = 6, seed: int = 0) -> list[State]:
    """States of random games on random variants: so many of every kind of node."""
    rng, found = random.Random(seed), {node: [] for node in NODES}
    while any(len(states) < per_node for states in found.values()):
        for state in random_walk(new_game(random_variant(rng)), rng, ("accuse",)):
            if len(found[state.node]) < per_node and rng.random() < 0.2:
                found[state.node].append(state.clone())
    return [state for states in found.values() for state in states]


def play_on(state: State, seed: int, plies: int = 30) -> list[bytes]:
    """Bytes after each of some random plies."""
    walk = random_walk(state.clone(), random.Random(seed), plies=plies)
    return [raw(moment) for moment in walk]


COPIES: dict[str, Callable[[State], State]] = {
    "text": lambda state: State(str(state), variant=state.variant),
    "text alone": lambda state: State(str(state)),
    "repr": lambda state: eval(repr(state), {"State": State}),
    "clone": lambda state: state.clone(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda state: pickle.loads(pickle.dumps(state)),
    "oldest pickle": lambda state: pickle.loads(pickle.dumps(state, protocol=2)),
}
KEEPS_HISTORY = set(COPIES) - {"text", "text alone", "repr"}


@pytest.mark.parametrize("way", COPIES)
def test_copies_are_equal_and_play_on_alike(way: str) -> None:
    met: Counter[str] = Counter()
    for number, state in enumerate(sampled_states()):
        before = raw(state)
        other = COPIES[way](state)
        assert other is not state
        assert other == state
        assert raw(other) == before
        assert str(other) == str(state)
        assert other.variant == state.variant
        assert other.legal_actions() == state.legal_actions()
        if way in KEEPS_HISTORY:
            assert other.events() == state.events()
            assert other.root_text == state.root_text
        # Thirty plies of the same choices agree; neither state feels the other's.
        expected = play_on(state, number)
        assert play_on(other, number) == expected
        for _ in random_walk(other, random.Random(number), plies=30):
            pass
        assert raw(state) == before
        met[state.node] += len(expected) > 1 or state.is_terminal()
    assert all(met[node] == 6 for node in NODES)


@pytest.mark.parametrize("way", sorted(KEEPS_HISTORY))
def test_copies_keep_the_root_of_a_set_up_position(way: str) -> None:
    for state in sampled_states(2, seed=5):
        again = State(str(state), variant=state.variant)
        assert again.root_text == str(state)
        for moment in random_walk(again, random.Random(1), plies=3):
            other = COPIES[way](moment)
            assert other.root_text == str(state)
            if state.node != "jack":
                views = [other.information_state_string(player) for player in (0, 1)]
                assert views == [moment.information_state_string(player) for player in (0, 1)]


def test_a_started_game_has_no_root() -> None:
    assert new_game().root_text is None
    assert State().root_text is None
    assert State() == new_game()


def test_words_can_be_left_out_and_come_in_any_order() -> None:
    state = play(new_game(), "jack JS", "deal SH,JW,JS,IL")
    words = parse_words(str(state))
    for seed in range(10):
        order = list(words.items())
        random.Random(seed).shuffle(order)
        assert State(join_words(dict(order))) == state
        assert State("\n  ".join(f"{name}={value}" for name, value in order)) == state
    needed = {name: words[name] for name in ("jack", "dealt", "cards")}
    assert State(join_words(needed)) == state


def test_lists_come_in_any_order() -> None:
    one = "node=deal turn=3 jack=JS cleared=SH,JW,IL alibis=WG,MS/JB covers=c2,l12 cordons=SW,NE"
    two = "node=deal turn=3 jack=JS cleared=IL,SH,JW alibis=MS,WG/JB covers=l12,c2 cordons=NE,SW"
    assert raw(State(one)) == raw(State(two))


def test_text_of_a_variant_played_may_leave_the_variant_out() -> None:
    variant = make_variant("mews", "SH+SG", 3, "jack")
    short = State("node=deal turn=3 jack=SH", variant=variant)
    full = State("board=mews cast=SH+SG turns=3 first=jack node=deal turn=3 jack=SH")
    assert short == full
    assert short.variant == variant
    assert State(str(short), variant=variant) == short


def test_the_default_variant_shows_no_words() -> None:
    assert not {"board", "cast", "turns", "first"} & set(parse_words(str(new_game())))


# --- malformed position text ----------------------------------------------------------------

PICK = "jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL"
"""A whole position text, to which one wrong word is added."""
USE = f"{PICK} node=use using=JS ability=open"

MALFORMED = [
    # (text, the word that the message must name)
    ("", "dealt"),
    ("pick", "pick"),
    ("node", "node"),
    ("=", "="),
    (f"{PICK} node=", "node="),
    (f"{PICK} =pick", "=pick"),
    (f"{PICK} colour=red", "colour"),
    (f"{PICK} jack=JS", "jack"),
    (f"{PICK} XX=a1", "XX"),
    ("jack=? dealt=SH,JW,JS,IL cards=SH", "jack=?"),
    (f"{PICK} alibis=?/-", "alibis=?/-"),
    (f"{PICK} node=sleep", "node"),
    (f"{PICK} node=Pick", "node"),
    (f"{PICK} turn=x", "turn"),
    (f"{PICK} turn=-1", "turn"),
    (f"{PICK} turn=1.0", "turn"),
    (f"{PICK} turn=²", "turn"),
    (f"{PICK} turn=٣", "turn"),
    (f"{PICK} turn=0", "turn"),
    (f"{PICK} turn=9", "turn"),
    (f"{PICK} turn={'9' * 5000}", "turn"),
    (f"{PICK} turns=3 turn=4", "turn"),
    (f"{PICK} turns=0", "turns"),
    (f"{PICK} turns=9", "turns"),
    (f"{PICK} first=nobody", "first"),
    (f"{PICK} board=nowhere", "board"),
    (f"{PICK} board=nowhere.json", "board"),
    (f"{PICK} board=no/such/file", "board"),
    (f"{PICK} board=no/such\0file", "board"),
    (f"{PICK} cast=SH", "cast"),
    (f"{PICK} cast=SH+SH", "cast"),
    (f"{PICK} cast=SH+XX", "cast"),
    (f"{PICK} cast=SH+JW+JS", "cast"),
    ("cast=SH+JS jack=SH dealt=SH cards=SH JB=i8", "JB"),
    ("node=jack turn=1", "turn"),
    ("node=jack turn=0 jack=SH", "jack"),
    ("node=jack turn=0 cards=SH dealt=SH,JW,JS,IL", "dealt"),
    ("node=jack turn=0 cards=SH", "cards"),
    ("node=jack turn=0 alibis=SH/-", "alibis"),
    ("node=jack turn=0 alibis=-/SH", "alibis"),
    ("node=jack turn=0 exonerated=SH", "exonerated"),
    ("node=jack turn=0 cleared=SH", "witness"),
    ("node=deal turn=2 jack=SH", "node"),
    ("node=deal turn=1 jack=SH dealt=SH,JW,JS,IL", "dealt"),
    ("node=deal turn=1 jack=SH cards=SH", "cards"),
    ("node=deal turn=1", "jack"),
    (f"{PICK} SH=z9", "SH"),
    (f"{PICK} SH=b2", "SH"),
    (f"{PICK} SH=a3", "stands on a3"),
    (f"{PICK} SH=a1,a2", "SH"),
    (f"{PICK} SH=A1", "SH"),
    (f"{PICK} SH=-", "SH"),
    (f"{PICK} SH=a1:N", "SH"),
    (f"{PICK} JW=a3:X", "JW"),
    (f"{PICK} JW=a3:n", "JW"),
    (f"{PICK} JW=a3:N:N", "JW"),
    (f"{PICK} lamps=b2:1,c7:3,f5,h8,k6:4", "lamps"),
    (f"{PICK} lamps=b2:1,c7:3,f5,h8,k6:4,l11:2,f9", "lamps"),
    (f"{PICK} lamps=b2:1,c7:3,f5,k6:4,l11:2", "lamps"),
    (f"{PICK} lamps=b2:1,c7:3,f5,h8,k6:4,l11:5", "lamps"),
    (f"{PICK} lamps=b2:1,c7:3,f5,h8,k6:4,l11:1", "lamps"),
    (f"{PICK} lamps=b2:1,c7:3,f5,f5,k6:4,l11:2", "lamps"),
    (f"{PICK} lamps=b2:1,c7:3,f5,h8,k6:4,b2:2", "lamps"),
    (f"{PICK} lamps=b2:1,c7:3,f5,h8,k6:4,a1:2", "lamps"),
    (f"{PICK} lamps=b2:01,c7:3,f5,h8,k6:4,l11:2", "lamps"),
    (f"{PICK} lamps=-", "lamps"),
    (f"{PICK} lamps=,", "lamps"),
    ("turn=3 node=deal jack=JS lamps=b2:1,c7:3,f5,h8,k6:4,l11:2", "lamps"),
    (f"{PICK} covers=c2", "covers"),
    (f"{PICK} covers=c2,c2", "covers"),
    (f"{PICK} covers=c2,l12,a5", "covers"),
    (f"{PICK} covers=c2,a1", "covers"),
    (f"{PICK} covers=-", "covers"),
    (f"{PICK} cordons=NE", "cordons"),
    (f"{PICK} cordons=NE,N", "cordons"),
    (f"{PICK} cordons=NE,SW,SE", "cordons"),
    (f"{PICK} witness=maybe", "witness"),
    (f"{PICK} witness=unseen", "witness"),
    (f"{PICK} cleared=SH", "witness"),
    (f"{PICK} cleared=XX", "cleared"),
    ("turn=3 node=deal jack=JS cleared=SH,SH", "cleared"),
    ("turn=3 node=deal jack=JS cleared=JS", "jack"),
    ("turn=3 node=deal jack=JS exonerated=JS", "jack"),
    ("turn=3 node=deal jack=JS alibis=JS/-", "jack"),
    ("turn=3 node=deal jack=JS alibis=-/JS", "jack"),
    ("turn=3 node=deal jack=JS alibis=SH/SH", "alibis"),
    ("turn=3 node=deal jack=JS alibis=SH", "alibis"),
    ("turn=3 node=deal jack=JS alibis=SH/IL/MS", "alibis"),
    ("turn=3 node=deal jack=JS alibis=/", "alibis"),
    ("turn=3 node=deal jack=JS alibis=XX/-", "alibis"),
    ("turn=3 node=deal jack=JS cast=JS+MS alibis=MS/-", "alibis"),
    ("turn=3 node=deal jack=XX", "jack"),
    ("turn=3 node=deal", "jack"),
    ("jack=JS dealt=SH,JW,JS cards=SH", "dealt"),
    ("jack=JS dealt=SH,JW,JS,IL,MS cards=SH", "dealt"),
    ("jack=JS dealt=SH,JW,JS,XX cards=SH", "dealt"),
    ("jack=JS cards=SH", "dealt"),
    ("jack=JS dealt=SH,JW,JS,IL", "cards"),
    ("jack=JS dealt=SH,JW,JS,IL cards=MS", "cards"),
    ("jack=JS dealt=SH,JW,JS,IL cards=XX", "cards"),
    ("jack=JS turn=2 dealt=SH,JW,JS,IL cards=SH", "cards"),
    (f"{PICK} using=SH", "using"),
    (f"{PICK} moved=yes", "moved"),
    (f"{PICK} ability=open", "ability"),
    (f"{PICK} steps=1", "steps"),
    (f"{PICK} whistled=SH", "whistled"),
    (f"{PICK} accused=SH", "accused"),
    (f"{PICK} ending=dawn", "ending"),
    (f"{PICK} node=use", "using"),
    (f"{PICK} node=use using=XX", "using"),
    (f"{PICK} node=use using=MS", "using"),
    (f"{PICK} node=use using=SH", "ability"),
    (f"{PICK} node=use using=JW ability=used", "ability"),
    (f"{USE} moved=maybe", "moved"),
    (f"{PICK} node=use using=JS ability=maybe", "ability"),
    (f"{PICK} node=use using=JS moved=yes", "node"),
    (f"{PICK} node=use using=SH ability=open moved=yes", "node"),
    (f"{PICK} node=use using=JW ability=open moved=yes", "node"),
    ("turn=1 jack=JS dealt=MS,WG,SG,JB cards=WG node=use using=WG ability=open moved=yes", "node"),
    ("turn=1 jack=JS dealt=MS,WG,SG,JB cards=MS node=use using=MS ability=open", "ability"),
    (f"{USE} steps=3", "steps"),
    (f"{USE} steps=1", "whistled"),
    (f"{USE} whistled=SH", "whistled"),
    (f"{PICK} node=whistle using=JS", "node"),
    (f"{PICK} node=aim using=JS ability=open moved=yes", "node"),
    (f"{PICK} node=aim using=JW ability=open", "node"),
    (f"{PICK} node=aim using=JW moved=yes", "node"),
    (f"{PICK} node=alibi using=SH ability=open", "node"),
    (f"{PICK} node=alibi using=JS ability=open moved=yes", "node"),
    (f"{PICK} node=terminal", "ending"),
    (f"{PICK} node=terminal ending=dawn", "ending"),
    (f"{PICK} node=terminal ending=lost", "ending"),
    (f"{PICK} node=terminal ending=caught", "using"),
    (f"{PICK} node=terminal ending=caught using=SH", "accused"),
    (f"{PICK} node=terminal ending=caught using=SH accused=IL", "ending"),
    (f"{PICK} node=terminal ending=wrong using=SH accused=JS", "ending"),
    (f"{PICK} node=terminal ending=wrong using=SH accused=SH", "accused"),
    (f"{PICK} node=terminal ending=escape using=JS", "ending"),
    (f"{PICK} node=terminal ending=wrong using=SH accused=IL moved=yes", "node"),
    ("turn=8 jack=JS dealt=SH,JW,JS,IL cards=MS node=terminal ending=dawn", "ending"),
]
WHISTLE = "turn=1 jack=JS dealt=MS,WG,SG,JB cards=SG node={} using=SG {}"
MALFORMED += [
    (WHISTLE.format("whistle", "steps=2"), "whistled"),
    (WHISTLE.format("whistle", "whistled=JB"), "node"),
    (WHISTLE.format("whistle", "steps=2 whistled=SG"), "whistled"),
    (WHISTLE.format("whistle", "steps=2 whistled=JB ability=open"), "whistled"),
    (WHISTLE.format("use", "steps=2 whistled=JB"), "node"),
    (WHISTLE.format("aim", "steps=2 whistled=JB"), "node"),
    (WHISTLE.format("use", "moved=yes ability=used"), "node"),
    (WHISTLE.format("whistle", "steps=2 whistled=SH,JW,JS,IL,MS,WG,JB"), "whistled"),
    (WHISTLE.format("whistle", "steps=1 whistled=SH,JW,JS"), "whistled"),
    ("jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL SH=g5:", "SH"),
    ("jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL JW=a3:", "JW"),
    ("jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL lamps=b2:1,c7:3,f5:,h8,k6:4,l11:2", "lamps"),
    (
        "cast=SG+JB jack=JB dealt=SG cards=SG node=use using=SG moved=yes ability=open JB=m9",
        "node",
    ),
]


@pytest.mark.parametrize(("text", "word"), MALFORMED)
def test_malformed_position_text_names_the_word(text: str, word: str) -> None:
    with pytest.raises(NotationError) as caught:
        State(text)
    assert word in str(caught.value)
    assert len(str(caught.value)) > len(word) + 10


@pytest.mark.parametrize("text", [PICK, USE, f"{PICK} turn=1 witness=seen cleared=- alibis=-/-"])
def test_the_texts_above_are_right_without_the_wrong_word(text: str) -> None:
    assert legal(State(text))


@pytest.mark.parametrize("thing", [b"node=jack", 3, ["node=jack"], State])
def test_position_text_must_be_text(thing: object) -> None:
    with pytest.raises(NotationError):
        State(thing)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("board=whitechapel", "board"),
        ("cast=SH+JW", "cast"),
        ("turns=4", "turns"),
        ("first=detective", "first"),
    ],
)
def test_a_variant_that_disagrees_with_the_text_is_refused(text: str, word: str) -> None:
    variant = make_variant("mews", "SH+SG", 3, "jack")
    with pytest.raises(NotationError) as caught:
        State(f"node=deal turn=3 jack=SH {text}", variant=variant)
    assert word in str(caught.value)


ALPHABET = "abcdehilm0123456789=:,-/+?XSHJWJSILMSSGWGJBN Eyesno open \t\0²"
VALUES = sorted(
    {
        *EIGHT,
        *NODES,
        *("-", "-/-", "yes", "no", "open", "used", "seen", "unseen", "0", "1", "2", "3", "7", "8"),
        *("caught", "wrong", "escape", "dawn", "SH,JW", "SH,JW,JS,IL", "MS,SG", "SH/-", "-/JB"),
        *("a1", "e5", "a3:N", "c2,l12", "NE,SW", "f5,h8", "jack", "mews", "SH+SG", "W", "c1"),
    }
)
NAMES = sorted(
    {
        *EIGHT,
        *("board", "cast", "turns", "first", "node", "turn", "lamps", "covers", "cordons"),
        *("witness", "cleared", "jack", "alibis", "dealt", "cards", "using", "moved", "ability"),
        *("steps", "whistled", "exonerated", "accused", "ending"),
    }
)


@st.composite
def mutated_texts(draw: st.DrawFn) -> str:
    """Texts of positions with a few words or characters changed, dropped or swapped."""
    rng = random.Random(draw(seeds))
    variant = random_variant(rng)
    states = [str(state) for state in random_walk(new_game(variant), rng, ("accuse",))]
    text = draw(st.sampled_from(states))
    words = parse_words(text)
    for _ in range(draw(st.integers(1, 3))):
        change = draw(st.sampled_from(("drop", "value", "value", "swap", "character")))
        name = draw(st.sampled_from(sorted(words))) if words else "node"
        if change == "drop":
            words.pop(name, None)
        elif change == "value":
            words[draw(st.sampled_from(NAMES))] = draw(st.sampled_from(VALUES))
        elif change == "swap" and words:
            other = draw(st.sampled_from(sorted(words)))
            words[name], words[other] = words[other], words[name]
        elif change == "character" and words.get(name):
            value = words[name]
            place = draw(st.integers(0, len(value)))
            cut = draw(st.integers(0, 2))
            piece = draw(st.text(ALPHABET, max_size=2))
            words[name] = value[:place] + piece + value[place + cut :]
    return join_words(words)


def assert_sound(state: State, seed: int) -> None:
    """A position that was accepted round-trips, is no contradiction, and can be played."""
    assert raw(State(str(state))) == raw(state)
    for moment in random_walk(state.clone(), random.Random(seed), plies=20):
        assert bool(moment.legal_actions()) is not moment.is_terminal()
        if moment.identity is not None:
            seat = moment.variant.seat_of[moment.identity]
            assert moment.identity in moment.suspects()
            assert identity_probabilities(moment.observation(DETECTIVE))[seat] > 0
        for player in (0, 1):
            view = moment.observation(player)
            assert view.information_state_string()
            assert view.observation_tensor().shape == (len(view.observation_tensor()),)
    if state.turn > 0 and state.node != "deal":
        game = reference_from(state)
        assert sorted(game.legal()) == sorted(legal(state))


@settings(max_examples=600)
@given(mutated_texts(), seeds)
@example("node=jack turn=0 alibis=SH/-", 0)
@example("node=jack turn=0 exonerated=SH,JW,JS,IL,MS,SG,WG,JB", 0)
def test_mutated_text_gives_a_sound_position_or_a_notation_error(text: str, seed: int) -> None:
    try:
        state = State(text)
    except NotationError:
        return
    assert_sound(state, seed)


def test_the_mutations_give_both() -> None:
    accepted: Counter[bool] = Counter()

    @settings(max_examples=200)
    @given(mutated_texts())
    def count(text: str) -> None:
        try:
            State(text)
        except NotationError:
            accepted[False] += 1
        else:
            accepted[True] += 1

    count()
    assert accepted[True] > 10
    assert accepted[False] > 40


SPACE = new_game()._space
ALL_TEXTS = {*SPACE.names, *(name for names in SPACE.outcome_names.values() for name in names)}


@settings(max_examples=200)
@given(st.text(max_size=40))
def test_arbitrary_text_is_refused(text: str) -> None:
    # Texts found in the sources are tried too, and some of those are actions.
    assume(" ".join(text.split()) not in ALL_TEXTS)
    with pytest.raises(NotationError):
        State(text)
    with pytest.raises(NotationError):
        new_game().string_to_action(text)


# --- illegal actions ------------------------------------------------------------------------


def assert_refused(state: State, action: int | str, error: type[Exception]) -> None:
    before, events = raw(state), state.events()
    with pytest.raises(error) as caught:
        state.apply_action(action)
    assert str(caught.value)
    with pytest.raises(error):
        state.child(action)
    assert raw(state) == before
    assert state.events() == events


def test_illegal_ids_are_refused_and_change_nothing() -> None:
    checked: Counter[str] = Counter()
    for state in sampled_states(2, seed=3):
        space = action_space(state.variant)
        allowed = set(state.legal_actions())
        count = space.max_chance_outcomes if state.is_chance_node() else space.num_actions
        for action in range(-2, count + 2):
            if action not in allowed:
                assert_refused(state, action, IllegalActionError)
                checked[state.node] += 1
    assert set(checked) == set(NODES)


def test_illegal_texts_are_refused_and_name_legal_ones() -> None:
    for state in sampled_states(2, seed=4):
        allowed = set(legal(state))
        space = action_space(state.variant)
        names = [*space.names, *(name for group in space.outcome_names.values() for name in group)]
        refused = [name for name in names if name not in allowed]
        assert refused
        for name in random.Random(1).sample(refused, min(60, len(refused))):
            assert_refused(state, name, IllegalActionError)


def test_the_message_lists_legal_actions_of_the_same_kind() -> None:
    state = play(new_game(), "jack JS", "deal SH,JW,JS,IL")
    with pytest.raises(IllegalActionError, match="pick SH, pick JW, pick JS, pick IL"):
        state.apply_action("pick MS")
    state = play(state, "pick JS")
    with pytest.raises(IllegalActionError, match="move ") as caught:
        state.apply_action("move m12")
    assert "move m12" in str(caught.value)
    assert "lamp" not in str(caught.value)


@pytest.mark.parametrize("action", [2**31, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30])
def test_huge_ids_are_refused(action: int) -> None:
    assert_refused(new_game(), action, IllegalActionError)


@pytest.mark.parametrize("action", [None, 1.5, b"jack SH", (1,), True])
def test_things_that_are_no_actions_are_refused(action: object) -> None:
    """By one of the library's own errors, not one from the compiler's depths."""
    state = new_game()
    before = raw(state)
    with pytest.raises(ArgumentError, match=type(action).__name__):
        state.apply_action(action)  # type: ignore[arg-type]
    assert raw(state) == before


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_numpy_ids_are_ids(kind: type[np.integer]) -> None:
    state = new_game()
    state.apply_action(kind(3))
    assert state.identity == "IL"
    assert state.history() == [3]


def test_chance_is_asked_only_at_chance_nodes() -> None:
    state = play(new_game(), "jack JS", "deal SH,JW,JS,IL")
    before = raw(state)
    with pytest.raises(IllegalActionError):
        state.chance_outcomes()
    assert raw(state) == before
    for text in ("deal SH,JW,JS,IL", "jack SH", "alibi SH"):
        assert_refused(state, text, IllegalActionError)
    assert_refused(new_game(), "deal SH,JW,JS,IL", IllegalActionError)
    assert_refused(new_game(), "pick SH", IllegalActionError)


# --- action text ----------------------------------------------------------------------------

VARIANTS = [
    make_variant(),
    make_variant("whitechapel_2016"),
    make_variant("mews"),
    make_variant("mews", "JS+MS", 1),
    make_variant("whitechapel", "SH+JW+SG+WG", 3, "jack"),
]


@pytest.mark.parametrize("variant", VARIANTS, ids=range(len(VARIANTS)))
def test_action_ids_and_texts_are_one_to_one(variant: Variant) -> None:
    space = action_space(variant)
    assert len(space.names) == len(set(space.names)) == space.num_actions == len(space.actions)
    for action, name in enumerate(space.names):
        assert space.parse(name) == action
        assert str(space.actions[action]) == name
        assert not space.is_chance_text(name)
    for kind, names in space.outcome_names.items():
        assert len(names) == len(set(names)) <= space.max_chance_outcomes
        for outcome, name in enumerate(names):
            assert space.parse(name) == outcome
            assert str(space.outcomes[kind][outcome]) == name
            assert space.is_chance_text(name)
            assert name.split(" ")[0] == kind
    assert max(map(len, space.outcome_names.values())) == space.max_chance_outcomes
    player_state = play(new_game(variant), *(legal(new_game(variant))[:1]))
    player_state = play(player_state, legal(player_state)[0])
    for action, name in enumerate(space.names):
        assert player_state.action_to_string(action) == name
        assert player_state.action_to_string(0, action) == name
        assert player_state.string_to_action(name) == action
        assert player_state.string_to_action(0, name) == action


def test_actions_are_made_of_words() -> None:
    space = action_space(make_variant())
    for text, action in [
        ("stay", Action("stay")),
        ("move e5", Action("move", ("e5",))),
        ("lamp b2>f9", Action("lamp", ("b2", "f9"))),
        ("cordon NE>NW", Action("cordon", ("NE", "NW"))),
        ("cover c2>a5", Action("cover", ("c2", "a5"))),
        ("whistle MS h6 3", Action("whistle", ("MS", "h6", 3))),
        ("swap JW", Action("swap", ("JW",))),
        ("light NE", Action("light", ("NE",))),
        ("escape NW", Action("escape", ("NW",))),
        ("accuse JS", Action("accuse", ("JS",))),
        ("pick MS", Action("pick", ("MS",))),
    ]:
        assert str(action) == text
        assert space.actions[space.parse(text)] == action


@pytest.mark.parametrize("name", BOARDS)
def test_every_action_of_the_notation_exists_once(name: str) -> None:
    variant = make_variant(name)
    board = variant.board
    expected = ["stay"]
    expected += [f"{kind} {code}" for kind in ("pick", "accuse", "swap") for code in EIGHT]
    expected += [f"light {direction}" for direction in ("N", "NE", "SE", "S", "SW", "NW")]
    expected += [f"escape {exit}" for exit in board.exit_names]
    expected += [f"move {hex}" for hex in board.streets]
    for kind, places in (
        ("lamp", board.gaslights),
        ("cordon", board.exit_names),
        ("cover", board.manholes),
    ):
        expected += [f"{kind} {a}>{b}" for a in places for b in places if a != b]
    expected += [
        f"whistle {code} {hex} {steps}"
        for code in EIGHT
        for hex in board.streets
        for steps in (1, 2, 3)
    ]
    assert sorted(action_space(variant).names) == sorted(expected)


def test_extra_white_space_in_action_text_is_forgiven() -> None:
    state = play(new_game(), "  jack\tJS ", "deal   SH,JW,JS,IL")
    assert state.identity == "JS"
    assert state.string_to_action(" move   e5 ") == state.string_to_action("move e5")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "pick",
            "pick XX",
            "pick sh",
            "pick SH JW",
            "pickSH",
            "PICK SH",
            "move",
            "move z1",
        ),
        *("move e5 e6", "move e05", "move b2", "escape N", "light NNE", "light n", "stay home"),
        *("lamp b2", "lamp b2>b2", "lamp b2>a1", "lamp b2 > f9", "cordon NE>NE", "cover c2>c2"),
        *("whistle MS h6", "whistle MS h6 0", "whistle MS h6 4", "whistle h6 MS 3"),
        *("deal SH,JW,JS", "deal JW,SH,JS,IL", "deal SH, JW, JS, IL", "jack", "alibi ?", "0", "17"),
        *("swap", "accuse ?", "stay 0", "jack\0JS", "pick SH\0", "\uff50ick SH", "é" * 200),
    ],
)
def test_malformed_action_text_is_a_notation_error(text: str) -> None:
    for state in (new_game(), play(new_game(), "jack JS", "deal SH,JW,JS,IL")):
        assert_refused(state, text, NotationError)
    with pytest.raises(NotationError) as caught:
        action_space(make_variant()).parse(text)
    assert repr(text[:60]) in str(caught.value)


def test_malformed_action_text_names_near_misses() -> None:
    with pytest.raises(NotationError, match="move e5"):
        action_space(make_variant()).parse("move e55")
    with pytest.raises(NotationError, match="pick, light, stay, accuse, escape, move, swap"):
        action_space(make_variant()).parse("walk e5")


@pytest.mark.parametrize("action", [-1, 10**9, 2**70])
def test_ids_without_text_are_a_value_error(action: int) -> None:
    state = new_game()
    with pytest.raises(ValueError, match="must be a whole number from 0"):
        state.action_to_string(action)
    with pytest.raises(ValueError, match="must be a whole number from 0"):
        state.action_to_string(0, action)


def test_a_quiet_choice_avoids_what_it_should() -> None:
    texts = ["accuse SH", "escape NW", "move a1"]
    assert {quiet_choice(random.Random(n), texts) for n in range(20)} == {"move a1"}
    assert {quiet_choice(random.Random(n), texts[:1]) for n in range(20)} == {"accuse SH"}
