"""`BatchEnv` against the single-game interface, its random numbers, resets and errors."""

from __future__ import annotations

import copy
import pickle
import random
from dataclasses import fields

import numpy as np
import pytest
from helpers import random_variant
from test_engine import run_python

import mrjack_ai
from mrjack_ai.engine import compile as compiling
from mrjack_ai.envs import ENDINGS, Batch, BatchEnv
from mrjack_ai.errors import ArgumentError
from mrjack_ai.game.observation import tensor_sections, tensor_size
from mrjack_ai.setup.variant import Variant, make_variant

VARIANTS = [
    Variant(),
    make_variant("whitechapel_2016", first="jack", turns=7),
    make_variant("mews", "SH+JW+SG+WG", 4),
    make_variant("whitechapel", "MS+JB", 2, "jack"),
    *(random_variant(random.Random(seed)) for seed in range(3)),
]
pytestmark = pytest.mark.boundscheck


def compare(batch: Batch, game: int, state: mrjack_ai.State) -> None:
    """The row of a game is what the single-game interface says of it."""
    player = state.current_player()
    assert batch.current_player[game] == player >= 0
    np.testing.assert_array_equal(batch.legal_actions_mask[game], state.legal_actions_mask())
    np.testing.assert_array_equal(batch.observation_tensor[game], state.observation_tensor(player))


def snapshot(batch: Batch) -> list[bytes]:
    return [getattr(batch, field.name).tobytes() for field in fields(Batch)]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: f"{v.board.name} {'+'.join(v.cast)}")
def test_games_are_those_of_the_state_interface(variant: Variant) -> None:
    """Replays the actions and the chance outcomes each game recorded, game after game."""
    n = 4
    env = BatchEnv(n, variant, final_observations=True)
    batch = env.reset(seed=3)
    states = [mrjack_ai.new_game(variant) for _ in range(n)]
    done = np.zeros(n, int)
    kinds = set()

    def follow_chance(game: int) -> None:
        state = states[game]
        history = env.state(game).history()
        while state.is_chance_node():
            state.apply_action(history[len(state.history())])
        assert env.state(game).events() == state.events()
        assert env.state(game) == state

    def follow_to_the_end(game: int, rng: random.Random) -> bool:
        """After the last action chance may only draw an alibi; which one is not kept."""
        state = states[game]
        by_chance = state.is_chance_node()
        while state.is_chance_node():
            state.apply_action(rng.choice(state.legal_actions()))
        return by_chance

    for game in range(n):
        follow_chance(game)
        compare(batch, game, states[game])
    rng = random.Random(1)
    for _ in range(400):
        actions = env.sample_actions().copy()
        for game in range(n):  # most games should last
            names = [states[game].action_to_string(a) for a in states[game].legal_actions()]
            quiet = [x for x in names if not x.startswith(("accuse", "escape"))]
            if quiet and rng.random() < 0.95:
                actions[game] = states[game].string_to_action(rng.choice(quiet))
            kinds.add(states[game].action_to_string(int(actions[game])).split()[0])
        assert env.step(actions) is batch
        for game in range(n):
            state = states[game]
            state.apply_action(int(actions[game]))
            if batch.terminated[game]:
                unknown = follow_to_the_end(game, rng)
                assert state.is_terminal()
                assert batch.rewards[game].tolist() == state.returns()
                assert ENDINGS[batch.endings[game]] == state.outcome().ending
                done[game] += 1
                for player in (0, 1):
                    seen = state.observation_tensor(player)
                    if not unknown:
                        np.testing.assert_array_equal(
                            batch.final_observation_tensor[game, player], seen
                        )
                states[game] = mrjack_ai.new_game(variant)
            else:
                assert batch.rewards[game].tolist() == [0, 0]
                assert batch.endings[game] == 0
            follow_chance(game)
            assert not states[game].is_terminal()
            compare(batch, game, states[game])
    assert done.min() >= 2
    assert {"pick", "move"} <= kinds


def play(env: BatchEnv, steps: int) -> list[list[str]]:
    """Position of each game after each of some steps of sampled actions."""
    seen = []
    for _ in range(steps):
        env.step(env.sample_actions())
        seen.append([str(env.state(game)) for game in range(env.n)])
    return [list(column) for column in zip(*seen, strict=True)]


def test_games_do_not_depend_on_each_other_or_on_threads() -> None:
    games = {}
    for n, threads in ((8, 1), (3, 1), (8, 3)):
        env = BatchEnv(n, planes=False, threads=threads)
        env.reset(seed=7)
        games[n, threads] = play(env, 150)
    assert games[8, 1][:3] == games[3, 1]
    assert games[8, 3] == games[8, 1]
    assert len({tuple(game) for game in games[8, 1]}) == 8


def test_seeds() -> None:
    env = BatchEnv(3, planes=False)
    first = (env.reset(seed=1), play(env, 60))[1]
    on = (env.reset(), play(env, 60))[1]
    assert on != first
    assert (env.reset(seed=1), play(env, 60))[1] == first
    single = BatchEnv(1, planes=False)
    each = (env.reset(seed=[5, 9, 5]), play(env, 60))[1]
    assert each[0] == each[2] != each[1]
    assert (single.reset(seed=[9]), play(single, 60))[1] == each[1:2]
    unseeded = [BatchEnv(2, planes=False) for _ in range(2)]
    assert len({str((e.reset(), play(e, 20))[1]) for e in unseeded}) == 2
    for wrong in (-1, 2**128, [1, 2, -3], "x", 1.5, True, np.array([0.0, 1.0, 2.0])):
        with pytest.raises(ArgumentError, match="must be a whole number from 0 to 2\\^128-1"):
            env.reset(seed=wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="2 seeds for 3 games"):
        env.reset(seed=[1, 2])
    assert (env.reset(seed=np.array([5, 9, 5])), play(env, 60))[1] == each


def test_chance_is_uniform() -> None:
    """Jack's identity and the first deal; five standard errors."""
    n = 4000
    env = BatchEnv(n, planes=True)
    env.reset(seed=1)
    starts = [env.state(game).history() for game in range(0, n)]
    for column, outcomes in ((0, 8), (1, 70)):
        counts = np.bincount([start[column] for start in starts], minlength=outcomes)
        assert len(counts) == outcomes
        expected = n / outcomes
        assert abs(counts - expected).max() < 5 * np.sqrt(expected)


def test_sampled_actions_are_uniform_and_repeatable() -> None:
    env = BatchEnv(3000, planes=False)
    env.reset(seed=list(range(3000)))
    chosen = env.sample_actions(seed=5).copy()
    assert np.all(env.batch.legal_actions_mask[np.arange(3000), chosen])
    index = [env.legal_actions(game).index(chosen[game]) for game in range(3000)]
    counts = np.bincount(index, minlength=4)
    assert len(counts) == 4  # the four cards
    assert abs(counts - 750).max() < 5 * np.sqrt(750 * 3 / 4)
    assert np.array_equal(env.sample_actions(seed=5), chosen)
    assert not np.array_equal(env.sample_actions(), chosen)


def test_without_auto_reset_games_stay_over() -> None:
    env = BatchEnv(
        5, board="mews", cast="SH+JW", turns=1, auto_reset=False, final_observations=True
    )
    batch = env.reset(seed=2)
    rewards = np.zeros((5, 2))
    while not batch.terminated.all():
        env.step(env.sample_actions())
        rewards += batch.rewards
    assert set(map(tuple, rewards.tolist())) <= {(1, -1), (-1, 1)}
    assert batch.current_player.tolist() == [-4] * 5
    assert not batch.legal_actions_mask.any()
    assert not batch.observation_tensor.any()
    states = [env.state(game) for game in range(5)]
    for game, state in enumerate(states):
        assert rewards[game].tolist() == state.returns()
        assert ENDINGS[batch.endings[game]] == state.outcome().ending
        for player in (0, 1):
            np.testing.assert_array_equal(
                batch.final_observation_tensor[game, player], state.observation_tensor(player)
            )
    assert env.sample_actions().tolist() == [-1] * 5
    for anything in (7, -1, 0, 1):
        env.step([anything] * 5)
        assert batch.terminated.all()
    assert not batch.rewards.any()
    env.reset(games=[1, 3])
    assert batch.terminated.tolist() == [True, False, True, False, True]
    assert env.state(0) == states[0]
    for game in (1, 3):
        compare(batch, game, env.state(game))
    env.reset(games=np.array([True, False, False, False, False]))
    assert batch.terminated.tolist() == [False, False, True, False, True]


@pytest.mark.parametrize("wrong", [-1, -2, 10**6, "another"])
def test_illegal_actions_are_named_and_change_nothing(wrong: int | str) -> None:
    env = BatchEnv(4)
    batch = env.reset(seed=1)
    actions = env.sample_actions().copy()
    actions[2] = env.state(2).string_to_action("light N") if wrong == "another" else wrong
    before = [str(env.state(game)) for game in range(4)], snapshot(batch)
    names = ", ".join(f"{a} \\({env.state(2).action_to_string(a)}\\)" for a in env.legal_actions(2))
    shown = "'light N'" if wrong == "another" else "no action"
    with pytest.raises(
        mrjack_ai.IllegalActionError, match=rf"game 2: action {actions[2]}, {shown}, .* are {names}"
    ):
        env.step(actions)
    assert ([str(env.state(game)) for game in range(4)], snapshot(batch)) == before


def test_every_illegal_action_is_found() -> None:
    env = BatchEnv(1, planes=False)
    env.reset(seed=4)
    for _ in range(30):
        legal = set(env.legal_actions(0))
        assert legal == set(np.flatnonzero(env.batch.legal_actions_mask[0]).tolist())
        for action in range(-2, env.num_actions + 2):
            env._actions[0] = action
            found = env._kernels.find_illegal(env._lists, env._counts, env._actions)
            assert found == (-1 if action in legal else 0)
        env.step(env.sample_actions())


def test_unchecked_steps_are_the_same() -> None:
    plain, checked = BatchEnv(4, check=False), BatchEnv(4)
    for env in (plain, checked):
        env.reset(seed=3)
    assert play(plain, 80) == play(checked, 80)


def test_arguments() -> None:
    env = BatchEnv(2)
    for call in (lambda: env.step([0, 0]), lambda: env.state(0), lambda: env.reset(games=[0])):
        with pytest.raises(ValueError, match="reset"):
            call()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"shape \(3,\); one for each game is \(2,\)"):
        env.step([0, 0, 0])
    with pytest.raises(ArgumentError, match="float64"):
        env.step([0.0, 0.0])
    for call in (lambda: env.state(2), lambda: env.legal_actions(-1)):
        with pytest.raises(ValueError, match="from 0 to 1"):
            call()
    with pytest.raises(ValueError, match="games"):
        env.reset(games=[2])
    with pytest.raises(ValueError, match="must be a whole number from 1"):
        BatchEnv(0)
    with pytest.raises(ValueError, match="planes"):
        BatchEnv(1, planes=False, final_observations=True)
    with pytest.raises(mrjack_ai.VariantError, match="turns"):
        BatchEnv(1, turns=9)
    with pytest.raises(ValueError, match="there are observer"):
        env.section("cats")
    with pytest.raises(ValueError, match="size 0"):
        BatchEnv(1, planes=False).section("position")


def test_other_arrays() -> None:
    """A buffer for a rollout: every step a slice, whatever was in it."""
    env, other = BatchEnv(3, planes=True), BatchEnv(3, planes=True)
    steps, buffer = 40, {}
    for field in fields(Batch):
        array = getattr(env.batch, field.name)
        buffer[field.name] = np.full((steps, *array.shape), 1, array.dtype)
    env.reset(seed=1)
    other.reset(seed=1)
    for t in range(steps):
        out = Batch(**{name: array[t] for name, array in buffer.items()})
        assert env.step(env.sample_actions(), out=out) is out
        assert snapshot(other.step(other.sample_actions())) == snapshot(out)
    # The own arrays may be used again at any time, and written to.
    env.batch.legal_actions_mask[:] = True
    env.batch.observation_tensor[:] = 7
    env.step(env.sample_actions())
    other.step(other.sample_actions())
    assert snapshot(env.batch) == snapshot(other.batch)
    wrong = Batch(**{name: array[0].astype(np.float64) for name, array in buffer.items()})
    with pytest.raises(ValueError, match=r"out.current_player is float64 \(3,\); it must be int8"):
        env.step(env.sample_actions(), out=wrong)
    backwards = Batch(**{name: array[0][::-1] for name, array in buffer.items()})
    with pytest.raises(ValueError, match="C-contiguous"):
        env.step(env.sample_actions(), out=backwards)


def test_set_state() -> None:
    env = BatchEnv(3)
    env.reset(seed=1)
    untouched = [str(env.state(game)) for game in (0, 2)]
    state = mrjack_ai.State("jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL")
    batch = env.set_state(1, state)
    assert env.state(1) == state
    assert env.state(1).root_text == state.root_text
    assert (
        env.state(1).observation().information_state_string()
        == state.observation().information_state_string()
    )
    compare(batch, 1, state)
    assert [str(env.state(game)) for game in (0, 2)] == untouched
    new = mrjack_ai.new_game()
    new.apply_action("jack MS")
    env.set_state(1, new)  # chance deals
    assert env.state(1).history_strings()[0] == "jack MS"
    assert env.state(1).node == "pick"
    last = mrjack_ai.State("node=use turn=8 jack=JS dealt=SH,JW,JS,IL cards=MS using=MS cleared=JW")
    env.set_state(1, last)
    env.step(env.sample_actions())
    assert batch.terminated.tolist() == [False, True, False]
    assert env.state(1).root_text is None
    compare(batch, 1, env.state(1))
    with pytest.raises(mrjack_ai.VariantError, match="another variant"):
        env.set_state(0, mrjack_ai.new_game(turns=3))
    last.apply_action(last.legal_actions()[-1])
    with pytest.raises(ValueError, match="over"):
        env.set_state(0, last)


def test_twins_look_the_same() -> None:
    """Who differs only in what the player to move cannot know shows him the same.

    Each moment of some games is shown again with another identity and other alibi cards that
    agree with all the player has seen.
    """
    env = BatchEnv(2)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    choose = random.Random(1)
    differing = dict.fromkeys((0, 1), 0)
    nodes = set()
    for _ in range(12):
        state = mrjack_ai.new_game()
        while not state.is_terminal():
            if state.current_player() >= 0:
                twin = mrjack_ai.determinize(state.observation(), rng)
                env.set_state(0, state)
                batch = env.set_state(1, twin)
                for name in ("current_player", "legal_actions_mask", "observation_tensor"):
                    one, two = getattr(batch, name)
                    np.testing.assert_array_equal(one, two)
                differing[state.current_player()] += twin != state
                nodes.add(state.node)
            names = [state.action_to_string(a) for a in state.legal_actions()]
            quiet = [x for x in names if not x.startswith(("accuse", "escape"))]
            state.apply_action(choose.choice(quiet or names))
    assert differing[0] > 100
    assert differing[1] > 20
    assert nodes == {"pick", "use", "whistle", "aim"}


def test_sections_are_views_of_the_planes() -> None:
    env = BatchEnv(2, final_observations=True)
    env.reset(seed=1)
    variant = env.variant
    for _ in range(20):
        env.step(env.sample_actions())
    state = env.state(1)
    planes = env.section("position")
    assert planes.shape == (2, 8, 60)
    assert np.shares_memory(planes, env.batch.observation_tensor)
    for seat, code in enumerate(variant.cast):
        hexes = [variant.board.streets[h] for h in np.flatnonzero(planes[1, seat])]
        assert hexes == [state.positions[code]]
    lit = np.flatnonzero(env.section("lit_hexes")[1])
    assert tuple(variant.board.streets[h] for h in lit) == state.lit_hexes()
    sizes = [env.section(name)[0].size for name in tensor_sections(variant)]
    assert sum(sizes) == tensor_size(variant)
    assert env.section("ending", env.batch.final_observation_tensor).shape == (2, 2, 5)


SAME_IN_PLAIN_PYTHON = """
from mrjack_ai.envs import BatchEnv
for settings in ({}, {"board": "mews", "cast": "SH+JW+SG+WG", "turns": 3, "first": "jack"}):
    env = BatchEnv(3, **settings)
    env.reset(seed=4)
    for _ in range(60):
        env.step(env.sample_actions())
        print(*[env.state(game) for game in range(3)], env.batch.observation_tensor.sum(1),
              env.batch.legal_actions_mask.sum(1), env.batch.rewards)
"""


@pytest.mark.skipif(compiling.JIT_DISABLED, reason="already plain")
def test_compiled_and_plain_python_agree() -> None:
    plain, _ = run_python(SAME_IN_PLAIN_PYTHON, NUMBA_DISABLE_JIT="1")
    assert plain == run_python(SAME_IN_PLAIN_PYTHON)[0]
    assert plain.count("turn=") == 2 * 60 * 3


@pytest.mark.skipif(compiling.JIT_DISABLED, reason="nothing is compiled")
def test_batch_kernels_are_compiled_only_when_used() -> None:
    program = """
import sys, mrjack_ai
mrjack_ai.new_game()
assert not any("envs" in name or name.endswith("engine.batch") for name in sys.modules)
from mrjack_ai.envs import BatchEnv
assert not any("pettingzoo" in name for name in sys.modules)
from mrjack_ai.engine import batch
signatures = lambda: [len(getattr(batch, k).signatures) for k in
                      ("advance", "sample_actions", "find_illegal")]
for env in (BatchEnv(2), BatchEnv(2, planes=False), BatchEnv(3, threads=2)):
    env.reset(seed=1)
    env.step(env.sample_actions().astype("uint8") if env.n == 9 else env.sample_actions())
    env.step(env.sample_actions().tolist(), out=env.new_batch())
    env.step(env.sample_actions().astype("int32"))
print(signatures())
"""
    assert run_python(program)[0] == "[1, 1, 1]\n"


@pytest.mark.parametrize("auto_reset", [True, False])
def test_a_state_that_chance_ends_ends_as_by_an_action(auto_reset: bool) -> None:
    """Holmes's alibi card is drawn after the last play of the game."""
    variant = make_variant(cast="SH+JW", turns=1)
    choose = random.Random(3)
    found = None
    while found is None:
        state = mrjack_ai.new_game(variant)
        while not state.is_terminal():
            if state.is_chance_node():
                children = [state.child(outcome) for outcome in state.legal_actions()]
                if all(child.is_terminal() for child in children):
                    found = state
                    break
            quiet = [
                action
                for action in state.legal_actions()
                if not state.action_to_string(action).startswith("accuse")
            ]
            state = state.child(choose.choice(quiet or state.legal_actions()))
    env = BatchEnv(2, variant, auto_reset=auto_reset)
    env.reset(seed=1)
    batch = env.set_state(0, found)
    assert batch.terminated.tolist() == [True, False]
    assert ENDINGS[batch.endings[0]] == "dawn"
    assert batch.rewards.tolist() == [[-1, 1], [0, 0]]
    assert (batch.current_player[0] >= 0) == auto_reset
    assert batch.legal_actions_mask[0].any() == auto_reset


def test_copies_and_pickles_go_on_alike() -> None:
    env = BatchEnv(3, turns=2, threads=2)
    env.reset(seed=5)
    env.step(env.sample_actions())
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    assert all(other._tables is env._tables for other in others)  # or numba compiles anew
    for _ in range(60):
        actions = env.sample_actions()
        expected = snapshot(env.step(actions))
        for other in others:
            assert other.sample_actions().tolist() == actions.tolist()
            assert snapshot(other.step(actions)) == expected


def test_strange_arguments() -> None:
    with pytest.raises(ValueError, match="not both"):
        BatchEnv(2, Variant(), turns=3)
    env = BatchEnv(2, planes=False)
    before = snapshot(env.reset(seed=1))
    assert snapshot(env.reset(games=[])) == before
    with pytest.raises(ArgumentError, match="whole number"):
        env.state(1.5)  # type: ignore[arg-type]
