"""What holds at every moment of every game, along random walks over many variants."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest
from helpers import (
    BOARDS,
    CHANCE,
    DETECTIVE,
    EIGHT,
    JACK,
    LOUD,
    NODES,
    TERMINAL,
    legal,
    parse_words,
    quiet_choice,
    random_walk,
    raw,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from mrjack_ai.engine.layout import STATE
from mrjack_ai.engine.tables import NO_SEAT, max_game_length
from mrjack_ai.game.actions import action_space
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import Variant, make_variant

casts = st.sampled_from((2, 4, 8, 8)).flatmap(
    lambda size: st.lists(st.sampled_from(EIGHT), min_size=size, max_size=size, unique=True)
)
variants = st.builds(
    make_variant,
    st.sampled_from(("mews", "mews", *BOARDS)),
    casts,
    st.integers(1, 8),
    st.sampled_from(("detective", "jack")),
)
seeds = st.integers(0, 2**32 - 1)
avoids = st.sampled_from((LOUD, LOUD, ("accuse",), ()))


def record(state: State) -> np.void:
    """The fields of the packed position."""
    found: np.void = state.position_words().view(STATE)[0]
    return found


def check_board(state: State) -> None:
    """Pieces: as many as at the start, one in a place, each where it may be."""
    board = state.variant.board
    hexes = list(state.positions.values())
    assert len(set(hexes)) == len(hexes) == len(state.variant.cast)
    assert set(hexes) <= set(board.streets)
    occupied = sum(1 << board.street_index[hex] for hex in hexes)
    assert int(record(state)["occupied"]) == occupied

    gone = {number for _, number in board.lit_gaslights if number and number < state.turn}
    expected = sorted(str(number) for _, number in board.lit_gaslights if number not in gone)
    lit = state.lit_gaslights
    assert sorted(str(number) for number in lit.values()) == expected
    assert set(lit) <= set(board.gaslights)
    assert len(state.covered_manholes) == len(board.covered_manholes)
    assert set(state.covered_manholes) <= set(board.manholes)
    assert len(state.cordons) == len(board.cordons)
    assert set(state.cordons) <= set(board.exit_names)


def check_cards(state: State) -> None:
    """The pile and the drawn cards are the alibis of all but Jack."""
    detective, jack = (set(state.alibis(player)) for player in (DETECTIVE, JACK))
    assert not detective & jack
    assert state.identity not in detective | jack
    for player, cards in ((DETECTIVE, detective), (JACK, jack)):
        assert state.alibi_count(player) == len(cards)
    if state.node == "alibi":
        pile = {text.split(" ")[1] for text in legal(state)}
        assert pile | detective | jack | {state.identity} == set(state.variant.cast)
        assert len(pile) + len(detective) + len(jack) + 1 == len(state.variant.cast)
    assert set(state.cards()) <= set(state.variant.cast)
    if state.playing is not None:
        assert state.playing in state.cards()
    order = state.variant.play_order(max(1, state.turn))
    left = order[len(order) - len(state.cards()) :]
    for player in (DETECTIVE, JACK):
        plays = 0 if state.is_terminal() else left.count(player)
        assert state.remaining_plays(player) == plays


def check_suspicion(state: State) -> None:
    """Jack is always a suspect."""
    if state.identity is not None:
        assert state.identity in state.suspects()
        assert state.identity not in state.cleared()
        assert state.identity not in state.exonerated()


def check_choices(state: State) -> None:
    """Terminal exactly when nothing is legal; chance adds up; ids are in range, once each."""
    space = action_space(state.variant)
    actions = state.legal_actions()
    assert actions == sorted(set(actions))
    assert state.is_terminal() == (not actions) == (state.current_player() == TERMINAL)
    assert state.is_terminal() == (state.outcome() is not None)
    assert sum(state.returns()) == 0
    assert sorted(map(abs, state.returns())) == ([1, 1] if state.is_terminal() else [0, 0])
    if state.is_chance_node():
        outcomes = state.chance_outcomes()
        assert [outcome for outcome, _ in outcomes] == actions
        assert sum(chance for _, chance in outcomes) == pytest.approx(1)
        assert all(chance > 0 for _, chance in outcomes)
        assert all(0 <= outcome < space.max_chance_outcomes for outcome in actions)
        assert not state.legal_actions_mask().any()
    else:
        assert all(0 <= action < space.num_actions for action in actions)
        assert np.flatnonzero(state.legal_actions_mask()).tolist() == actions
    assert {state.string_to_action(state.action_to_string(a)) for a in actions} == set(actions)
    assert len({state.action_to_string(action) for action in actions}) == len(actions)


def check_unused_fields(state: State) -> None:
    """Whatever means nothing now holds its neutral value, so equal positions have equal bytes."""
    s = record(state)
    seats = len(state.variant.cast)
    assert not s["reserved"].any()
    assert (s["position"][seats:] == NO_SEAT).all()
    if "JW" not in state.variant.cast:
        assert s["light"] == NO_SEAT
    numbers = {number for number in state.lit_gaslights.values() if number}
    for number in range(1, 9):
        assert (s["tile_place"][number - 1] == NO_SEAT) == (number not in numbers)
    if state.playing is None:
        assert s["seat"] == NO_SEAT
        assert not s["moved"]
        assert not s["ability"]
    if state.playing != "SG" or state.node not in ("whistle", "aim"):
        assert not s["steps"]
        assert not s["whistled"]
    if state.node in ("jack", "deal"):
        assert not s["dealt"]
        assert not s["remaining"]
    if not str(state.outcome()).endswith(("caught", "wrong accusation")):
        assert s["accused"] == NO_SEAT
    for mask in ("cleared", "exonerated", "dealt", "remaining", "whistled"):
        assert int(s[mask]) >> seats == 0


@settings(max_examples=60)
@given(variants, seeds, avoids)
def test_every_moment_of_a_game(variant: Variant, seed: int, avoid: tuple[str, ...]) -> None:
    cleared: set[str] = set()
    exonerated: set[str] = set()
    identity, plies = None, 0
    for state in random_walk(new_game(variant), random.Random(seed), avoid):
        check_board(state)
        check_cards(state)
        check_suspicion(state)
        check_choices(state)
        check_unused_fields(state)
        # What is once known stays known.
        assert cleared <= set(state.cleared())
        assert exonerated <= set(state.exonerated())
        assert not cleared & set(state.suspects())
        assert identity in (None, state.identity)
        cleared, exonerated = set(state.cleared()), set(state.exonerated())
        identity = state.identity
        assert state.move_number() == plies
        assert len(state.events()) == plies + max(0, state.turn - 1)
        plies += 1
    assert plies - 1 <= max_game_length(variant)
    assert state.is_terminal()


def longest_game(variant: Variant, rng: random.Random) -> int:
    """Plies of a game in which everybody does as much as he can, one step at a time."""
    state = new_game(variant)
    while not state.is_terminal():
        texts = legal(state)
        picks = [text for text in texts if text.startswith("pick")]
        short = [text for text in texts if text.startswith("whistle") and text.endswith(" 1")]
        before = [text for text in texts if text.startswith(("whistle", "lamp", "cover"))]
        aimed = [text for text in texts if text == "swap JW" or text.startswith("whistle JW")]
        state.apply_action(quiet_choice(rng, aimed or short or before or picks or texts))
        length = state.move_number()
    return length


SEARCHED = ("SH+SG", "SH+WG", "SH+JS", "JW+SG", "SH+JW+SG+WG", "SH+JS+IL+JB", "+".join(EIGHT))


@pytest.mark.parametrize("cast", SEARCHED)
def test_no_game_is_longer_than_max_game_length(cast: str) -> None:
    rng = random.Random(cast)
    for turns in range(1, 9):
        variant = make_variant("mews", cast, turns)
        bound = max_game_length(variant)
        longest = max(longest_game(variant, rng) for _ in range(40))
        assert longest <= bound, f"{turns} turns"
        assert longest >= bound - 3 * turns - 3, f"{turns} turns: the bound says nothing"


def test_views_of_the_longest_games_can_be_made() -> None:
    """Tensors have room for the events of any game."""
    rng, ends = random.Random(4), 0
    for turns in (3, 5, 7):
        variant = make_variant("mews", "SH+SG", turns)
        for _ in range(40):
            for state in random_walk(new_game(variant), rng):
                if state.is_terminal():
                    ends += 1
                    for player in (DETECTIVE, JACK):
                        tensor = state.information_state_tensor(player)
                        assert tensor.shape == new_game(variant).information_state_tensor(0).shape
    assert ends == 120


@settings(max_examples=30)
@given(variants, seeds)
def test_earlier_states_and_clones_never_change(variant: Variant, seed: int) -> None:
    kept: list[tuple[State, bytes, list[int]]] = []
    for state in random_walk(new_game(variant), random.Random(seed)):
        copies = [state.clone()] + [state.child(action) for action in state.legal_actions()[:1]]
        kept += [(copy, raw(copy), copy.events()) for copy in copies]
    assert len(kept) > 6
    for copy, before, events in kept:
        assert raw(copy) == before
        assert copy.events() == events


@settings(max_examples=30)
@given(variants, seeds)
def test_playing_on_from_a_clone_leaves_the_original(variant: Variant, seed: int) -> None:
    rng = random.Random(seed)
    *_, state = random_walk(new_game(variant), rng, plies=rng.randint(0, 30))
    before, events, text = raw(state), state.events(), str(state)
    for _ in random_walk(state.clone(), rng):
        pass
    assert (raw(state), state.events(), str(state)) == (before, events, text)


@settings(max_examples=30)
@given(variants, seeds)
def test_child_leaves_the_parent_and_equals_apply(variant: Variant, seed: int) -> None:
    for state in random_walk(new_game(variant), random.Random(seed)):
        before, events = raw(state), state.events()
        for action in state.legal_actions()[:5]:
            child = state.child(action)
            applied = state.clone()
            applied.apply_action(action)
            by_text = state.child(state.action_to_string(action))
            assert raw(child) == raw(applied) == raw(by_text)
            assert child.events() == applied.events()
            assert child.events()[: len(events)] == events
            assert child.history()[-1] == action
            assert child.history_strings()[-1] == state.action_to_string(action)
            assert raw(child) != before
        assert (raw(state), state.events()) == (before, events)


@settings(max_examples=40)
@given(st.sampled_from(("SH+SG", "JW+WG", "IL+MS")), seeds)
def test_equal_position_text_means_equal_bytes(cast: str, seed: int) -> None:
    # Small games, so that positions come up again by other ways.
    variant = make_variant("mews", cast, 2)
    rng = random.Random(seed)
    by_text: dict[str, set[bytes]] = defaultdict(set)
    by_bytes: dict[bytes, set[str]] = defaultdict(set)
    for _ in range(30):
        for state in random_walk(new_game(variant), rng, ()):
            by_text[str(state)].add(raw(state))
            by_bytes[raw(state)].add(str(state))
    assert all(len(group) == 1 for group in by_text.values())
    assert all(len(group) == 1 for group in by_bytes.values())
    assert len(by_text) > 50


def test_the_walks_reach_every_kind_of_node_and_late_turns() -> None:
    nodes, turns = set(), set()
    rng = random.Random(0)
    for cast in ("+".join(EIGHT), "SH+JW+SG+WG"):
        for state in random_walk(new_game(cast=cast), rng):
            nodes.add(state.node)
            turns.add(state.turn)
            assert state.current_player() in (DETECTIVE, JACK, CHANCE, TERMINAL)
    assert nodes == set(NODES)
    assert turns == set(range(9))


@settings(max_examples=30)
@given(variants, seeds)
def test_two_games_interleaved_equal_each_alone(variant: Variant, seed: int) -> None:
    def walk(number: int) -> list[bytes]:
        return [raw(s) for s in random_walk(new_game(variant), random.Random(seed + number))]

    together: tuple[list[bytes], list[bytes]] = ([], [])
    walks = [random_walk(new_game(variant), random.Random(seed + n)) for n in (0, 1)]
    going = [True, True]
    while any(going):
        for number, states in enumerate(walks):
            state = next(states, None)
            going[number] = state is not None
            if state is not None:
                together[number].append(raw(state))
    assert list(together) == [walk(0), walk(1)]


@settings(max_examples=30)
@given(variants, seeds)
def test_equality_is_that_of_variant_and_position(variant: Variant, seed: int) -> None:
    states = [state.clone() for state in random_walk(new_game(variant), random.Random(seed))]
    for state in states[:: max(1, len(states) // 5)]:
        text = State(str(state), variant=variant)
        assert text == state  # Though it has no history.
        assert text.events() == []
        assert sum(state == other for other in states) >= 1
        assert all((state == other) == (raw(state) == raw(other)) for other in states)
        assert parse_words(str(text)) == parse_words(str(state))
        assert state != str(state)
