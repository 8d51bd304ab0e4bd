"""The engine against a slow one written from the rules alone, ply by ply over random games.

`MRJACK_REFERENCE_GAMES` is the number of whole games, 400 by default; set it to some thousands
for a long search. The games are spread over the groups of `GROUPS`; most avoid accusations and
half of those escapes too, so that late turns are reached. Four times as many random positions on
random small boards, which random games hardly reach, are compared as well.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import pytest
from helpers import (
    CHANCE,
    DETECTIVE,
    EIGHT,
    JACK,
    NODES,
    join_words,
    lane,
    legal,
    quiet_choice,
    raw,
    reference_from,
    reference_game,
    small_variant,
)
from reference.reference_engine import ReferenceGame, neighbours

from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import FULL_CAST, Variant, make_variant

pytestmark = pytest.mark.boundscheck

GAMES = int(os.environ.get("MRJACK_REFERENCE_GAMES", "400"))
GROUPS = ("whitechapel", "whitechapel_2016", "mews", "lane", "mews small", "whitechapel small")
ENDINGS = {"caught": "caught", "wrong accusation": "wrong", "escape": "escape", "dawn": "dawn"}


def group_variant(group: str, rng: random.Random) -> Variant:
    """A random variant of a group: `small` ones have 2 or 4 characters, the others all eight."""
    turns = 8 if rng.random() < 0.5 else rng.randint(1, 8)
    first = rng.choice(("detective", "jack"))
    if group == "lane":
        return narrow_variant(rng, turns, first)
    board, _, small = group.partition(" ")
    cast = rng.sample(EIGHT, rng.choice((2, 4))) if small else FULL_CAST
    return make_variant(board, cast, turns, first)


def narrow_variant(rng: random.Random, turns: int, first: str) -> Variant:
    """Eight characters on a lane of ten hexes, where many cannot move."""
    hexes = rng.sample([f"a{number}" for number in range(1, 11)], 8)
    manholes = rng.sample([f"a{number}" for number in range(1, 11)], 3)
    return lane(
        10,
        join_words(dict(zip(EIGHT, hexes, strict=True))),
        turns=turns,
        first=first,
        gaslights=["b3", "b9"],
        lit_gaslights={"b3": 2, "b9": None},
        manholes=manholes,
        covered_manholes=manholes[:2],
        exits={"S": "a1", "N": "a10"},
        cordons=["N"],
    )


def avoided(rng: random.Random) -> tuple[str, ...]:
    """Kinds of action to avoid in one game."""
    return rng.choice((("accuse",), ("accuse",), ("accuse", "escape"), ("accuse", "escape"), ()))


def assert_agree(state: State, game: ReferenceGame) -> None:
    """Everything both engines can say about this moment is the same."""
    context = f"{state!r} after {state.history_strings()}"
    assert state.current_player() == game.player(), context
    assert state.is_terminal() == game.is_terminal(), context
    texts = legal(state)
    assert len(set(texts)) == len(texts), context
    assert sorted(texts) == sorted(game.legal()), context
    chances = game.chance_outcomes()
    if state.current_player() == CHANCE:
        outcomes = state.chance_outcomes()
        found = {state.action_to_string(outcome): chance for outcome, chance in outcomes}
        assert found == pytest.approx({text: float(part) for text, part in chances.items()})
    else:
        assert chances == {}
    assert set(state.visible()) == game.visible(), context
    assert set(state.suspects()) == game.suspects(), context
    assert set(state.cleared()) == game.cleared, context
    assert state.positions == game.positions, context
    assert state.lit_gaslights == game.lit, context
    assert set(state.covered_manholes) == game.covers, context
    assert set(state.cordons) == game.cordons, context
    assert state.watson_light == game.watson_light, context
    assert state.witness_seen == game.witness_seen, context
    assert state.turn == (0 if game.node == "jack" else game.turn), context
    for player in (DETECTIVE, JACK):
        assert set(state.alibis(player)) == game.alibis[player], context
    assert tuple(state.returns()) == game.returns(), context
    outcome = state.outcome()
    assert (None if outcome is None else ENDINGS[outcome.ending]) == game.ending(), context


def play_both(
    state: State, game: ReferenceGame, rng: random.Random, avoid: tuple[str, ...], plies: int
) -> Counter[str]:
    """Play on at random with both engines; counts nodes, actions, turns and endings met."""
    met: Counter[str] = Counter()
    assert_agree(state, game)
    while not state.is_terminal() and plies > 0:
        met[f"node {state.node}"] += 1
        met[f"turn {state.turn}"] += 1
        action = quiet_choice(rng, legal(state), avoid)
        met[f"action {action.split(' ')[0]}"] += 1
        state.apply_action(action)
        game.apply(action)
        assert_agree(state, game)
        plies -= 1
    if state.is_terminal():
        met[f"ending {game.ending()}"] += 1
        met["node terminal"] += 1
    return met


def test_random_games_agree_at_every_ply() -> None:
    met: Counter[str] = Counter()
    for number in range(GAMES):
        rng = random.Random(number)
        group = GROUPS[number % len(GROUPS)]
        variant = group_variant(group, rng)
        game = reference_game(variant)
        met += play_both(new_game(variant), game, rng, avoided(rng), 10_000)
        met[f"group {group}"] += 1
        met[f"first {variant.first}"] += 1
        met[f"{variant.turns} turns"] += 1
        met[f"cast of {len(variant.cast)}"] += 1
    assert sum(met[f"group {group}"] for group in GROUPS) == GAMES
    if GAMES < 300:
        return
    expected = [f"node {node}" for node in NODES]
    expected += [f"turn {turn}" for turn in range(1, 9)]
    expected += [f"{turns} turns" for turns in range(1, 9)]
    expected += [f"ending {ending}" for ending in ("caught", "wrong", "escape", "dawn")]
    expected += [f"action {kind}" for kind in ("stay", "accuse", "escape", "whistle", "swap")]
    expected += [f"action {kind}" for kind in ("move", "lamp", "cordon", "cover", "light")]
    expected += ["first detective", "first jack", "cast of 2", "cast of 4", "cast of 8"]
    assert [name for name in expected if not met[name]] == []
    # Late turns are no rare accident.
    assert met["turn 8"] > 2 * GAMES
    assert met["ending dawn"] > GAMES // 4


# --- random positions on random boards ------------------------------------------------------


def random_board_variant(rng: random.Random) -> Variant:
    """A connected board of some hexes on a small map, and a cast that fills most of it."""
    hexes = [f"{column}{number}" for column in "abcde" for number in range(1, 7)]
    rng.shuffle(hexes)
    cast = rng.sample(EIGHT, rng.choice((2, 4, 8, 8)))
    streets = [hexes.pop()]
    # A winding lane or a wider place, with few or many free hexes.
    winding = rng.random() < 0.6
    for _ in range(len(cast) - 1 + rng.choice((1, 1, 2, 3, 6, 12))):
        near = [hex for hex in hexes if hex in neighbours(streets[-1])] if winding else []
        around = near or [
            hex for hex in hexes if any(next_to in neighbours(hex) for next_to in streets)
        ]
        if around:
            streets.append(rng.choice(around))
            hexes.remove(streets[-1])
    cut = rng.randint(0, len(hexes))
    gaslights, obstacles = hexes[: min(cut, 4)], hexes[cut : cut + 6]
    numbers: list[int | None] = [1, 2, 3, None, None]
    rng.shuffle(numbers)
    lit = dict(zip(rng.sample(gaslights, rng.randint(0, len(gaslights))), numbers, strict=False))
    manholes = rng.sample(streets, rng.randint(0, 5) if len(streets) > 5 else 0)
    exits = dict(zip("NESW", rng.sample(streets, 2), strict=False))
    places = dict(zip(cast, rng.sample(streets, len(cast)), strict=True))
    return small_variant(
        " ".join(streets),
        join_words(places),
        turns=rng.randint(1, 8),
        first=rng.choice(("detective", "jack")),
        obstacles=obstacles,
        gaslights=gaslights,
        lit_gaslights=lit,
        manholes=manholes,
        covered_manholes=rng.sample(manholes, rng.randint(0, len(manholes))),
        exits=exits,
        cordons=rng.sample(sorted(exits), rng.randint(0, 2)),
        watson_light=rng.choice(("N", "NE", "SE", "S", "SW", "NW")),
    )


def random_play_words(variant: Variant, rng: random.Random) -> dict[str, Any]:
    """Words of a position in which some card has just been taken."""
    turn = rng.randint(1, variant.turns)
    size = variant.cards_per_turn
    cast = list(variant.cast)
    rng.shuffle(cast)
    dealt, face_up = cast[:size], cast[:size] if turn % 2 else cast[size:]
    code = face_up[0]
    words = {
        "node": "use",
        "turn": str(turn),
        "dealt": ",".join(dealt),
        "cards": ",".join(face_up[: rng.randint(1, size)]),
        "using": code,
        "jack": rng.choice(variant.cast) if rng.random() < 0.5 else code,
    }
    if code != "MS":
        words["ability"] = "open"
    if turn > 1:
        words["witness"] = rng.choice(("seen", "unseen"))
    return words


def test_random_positions_on_random_boards_agree() -> None:
    met: Counter[str] = Counter()
    positions = 0
    while positions < 4 * GAMES:
        rng = random.Random(f"position {positions}")
        variant = random_board_variant(rng)
        state = State(join_words(random_play_words(variant, rng)), variant=variant)
        before = raw(state)
        game = reference_from(state)
        assert raw(state) == before
        met += play_both(state, game, rng, (), 8)
        positions += 1
    assert sum(count for name, count in met.items() if name.startswith("action")) > positions
    if GAMES < 300:
        return
    for kind in ("stay", "escape", "accuse", "whistle", "light", "swap", "cover"):
        assert met[f"action {kind}"] > 10, kind


# --- the comparison itself ------------------------------------------------------------------


def test_a_disagreement_is_noticed() -> None:
    state, game = new_game(board="mews"), reference_game(make_variant("mews"))
    for action in ("jack JS", "deal SH,JW,JS,IL", "pick SH"):
        state.apply_action(action)
        game.apply(action)
    assert_agree(state, game)
    game.cleared = {"SH"}
    with pytest.raises(AssertionError):
        assert_agree(state, game)


def test_set_up_positions_agree_like_played_ones() -> None:
    for seed in range(12):
        rng = random.Random(seed)
        state = new_game(board="mews")
        game = reference_game(state.variant)
        while not state.is_terminal():
            copy = reference_from(state)
            assert sorted(copy.legal()) == sorted(game.legal())
            assert copy.visible() == game.visible()
            action = quiet_choice(rng, legal(state))
            state.apply_action(action)
            game.apply(action)
