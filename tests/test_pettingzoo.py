"""The PettingZoo environment: that library's own checks, and ours against `State`."""

from __future__ import annotations

import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from test_engine import run_python

import mrjack_ai
from mrjack_ai.envs.pettingzoo import env, raw_env

SETTINGS = ({}, {"board": "mews", "cast": "SH+JW+SG+WG", "turns": 3, "first": "jack"})


def play(game: object, seed: int) -> list[tuple[object, ...]]:
    """A whole game of sampled legal actions: what was seen, agent by agent."""
    game.reset(seed=seed)
    rng = np.random.default_rng(seed)
    seen = []
    for agent in game.agent_iter():
        observation, reward, over, truncated, _ = game.last()
        assert not truncated
        legal = np.flatnonzero(observation["action_mask"])
        action = None if over else int(rng.choice(legal))
        seen.append((agent, reward, over, action, observation["observation"].tobytes()))
        game.step(action)
    return seen


@pytest.mark.parametrize("settings", SETTINGS)
def test_pettingzoo_api(settings: dict[str, object]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The players of this game have names, no numbers; dicts with masks are what it says to use.
        expected = "We recommend agents to be named|Observation (space for each|is not a NumPy)"
        warnings.filterwarnings("ignore", message=expected)
        api_test(env(**settings), num_cycles=300)


def test_pettingzoo_seed() -> None:
    seed_test(lambda: env(board="mews", cast="SH+JW"), num_cycles=50)


def test_pettingzoo_render(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(raw_env.metadata, "render_modes", ["human", "ansi"])
    custom = {"ansi": lambda result: "Detective" in result and "\n" in result}
    render_test(lambda render_mode: env(render_mode=render_mode), custom)


def test_pettingzoo_render_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(raw_env.metadata, "render_modes", ["svg"])
    custom = {"svg": lambda result: ElementTree.fromstring(result).tag.endswith("svg")}
    render_test(lambda render_mode: env(render_mode=render_mode), custom)


def test_seeds_repeat_games_and_others_differ() -> None:
    game = env()
    first = play(game, 1)
    assert play(game, 1) == first == play(env(), 1)
    assert play(game, 2) != first


@pytest.mark.parametrize("settings", SETTINGS)
def test_games_are_those_of_state(settings: dict[str, object]) -> None:
    rng = np.random.default_rng(1)
    for seed in range(3):
        game = raw_env(**settings)
        game.reset(seed=seed)
        total = dict.fromkeys(game.possible_agents, 0.0)
        while True:
            agent = game.agent_selection
            state = game.state_of_game
            other = game.agents[1 - game.agents.index(agent)]
            player = game.possible_agents.index(agent)
            assert state.current_player() == player
            for who, index in ((agent, player), (other, 1 - player)):
                seen, view = game.observe(who), state.observation(index)
                assert game.observation_space(who).contains(seen)
                np.testing.assert_array_equal(seen["observation"], view.observation_tensor())
                assert np.flatnonzero(seen["action_mask"]).tolist() == view.legal_actions()
            game.step(int(rng.choice(state.legal_actions())))
            for who in total:
                total[who] += game.rewards[who]
            if any(game.terminations.values()):
                break
        assert all(game.terminations.values())
        assert [total["detective"], total["jack"]] == game.state_of_game.returns()
        assert sorted(total.values()) == [-1, 1]


def test_illegal_action_changes_nothing() -> None:
    game = env()
    game.reset(seed=1)
    before = str(game.unwrapped.state_of_game)
    action = game.unwrapped.state_of_game.string_to_action("light N")
    with pytest.raises(mrjack_ai.IllegalActionError, match="legal are pick"):
        game.step(action)
    assert str(game.unwrapped.state_of_game) == before


def test_rendering_keeps_the_secret() -> None:
    """The Detective's turn shows the same picture whoever Jack is; `all` and Jack's do not."""
    texts: dict[str, set[str]] = {}
    for view in ("player", "detective", "jack", "all"):
        for jack in ("JS", "MS"):
            game = raw_env(render_mode="ansi", view=view)
            game.reset(seed=1)
            words = f"jack={jack} dealt=SH,JW,JS,IL cards=SH,JW,JS,IL"
            game.state_of_game = mrjack_ai.State(words)
            texts.setdefault(view, set()).add(game.render())
    assert {view: len(shown) for view, shown in texts.items()} == {
        "player": 1,
        "detective": 1,
        "jack": 2,
        "all": 2,
    }
    assert texts["player"] == texts["detective"]


def test_bad_settings() -> None:
    with pytest.raises(ValueError, match="render_mode 'rgb_array'"):
        env(render_mode="rgb_array")
    with pytest.raises(ValueError, match="view 'nobody'"):
        env(view="nobody")
    with pytest.raises(mrjack_ai.VariantError):
        env(turns=0)
    game = env()
    game.reset()
    assert game.unwrapped.render() is None


def test_missing_pettingzoo_is_said_with_the_remedy() -> None:
    program = """
import sys
sys.modules["pettingzoo"] = None
import mrjack_ai.envs
try:
    import mrjack_ai.envs.pettingzoo
except ImportError as error:
    print(error)
"""
    assert "pip install 'pettingzoo>=1.24'" in run_python(program)[0]
