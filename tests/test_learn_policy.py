"""The learning example: its gradient, its opponent, that it learns, and that it carries on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

import learn_policy as learning

import mrjack_ai
from mrjack_ai.agents import make_agent
from mrjack_ai.engine.compile import JIT_DISABLED
from mrjack_ai.envs import BatchEnv

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="takes too long in plain Python")


def test_gradient_is_that_of_the_loss() -> None:
    """By differences, in float64; advantages are held fixed, as in the method."""
    rng = np.random.default_rng(1)
    network = learning.Network(6, 5, hidden=4)
    network.weights = [rng.normal(0, 1, w.shape) for w in network.weights]
    x, masks = rng.normal(0, 1, (9, 6)), rng.random((9, 5)) < 0.7
    masks[:, 2] = True
    actions, returns = np.full(9, 2), rng.choice([-1.0, 1.0], 9)
    _, gradient = network.loss_and_gradient(x, masks, actions, returns)
    advantage = returns - network.forward(x, masks)[2]
    scale = advantage / (advantage.std() + 1e-6)

    def loss() -> float:
        _, chances, values = network.forward(x, masks)
        logs = np.log(np.where(masks, chances, 1))
        entropy = -(chances * logs).sum(1)
        each = -scale * logs[:, 2] + 0.5 * (returns - values) ** 2 - learning.ENTROPY * entropy
        return float(each.mean())

    for w, g in zip(network.weights, gradient, strict=True):
        for index in np.ndindex(w.shape):
            kept = w[index]
            w[index] = kept + 1e-6
            above = loss()
            w[index] = kept - 1e-6
            below = loss()
            w[index] = kept
            assert (above - below) / 2e-6 == pytest.approx(g[index], abs=1e-5)


def test_opponent_chooses_as_cautious_does() -> None:
    """What it can choose, drawn often at decisions where somebody can be accused."""
    env = BatchEnv(300)
    batch = env.reset(seed=2)
    rng = np.random.default_rng(2)
    agent = make_agent("cautious")
    agent.start(env.variant, 0, rng)
    kinds = {"forced": 0, "quiet": 0}
    for _ in range(110):
        accusable = batch.legal_actions_mask[:, learning.ACCUSATIONS].any(1)
        for game in np.flatnonzero(accusable)[:3]:
            observation = env.state(int(game)).observation()
            wanted = {
                action
                for action, chance in zip(
                    observation.actions, agent.policy(observation), strict=True
                )
                if chance > 0
            }
            rows = np.full(40 * len(wanted), game)
            seen, masks = batch.observation_tensor[rows], batch.legal_actions_mask[rows]
            assert set(learning.play_cautiously(seen, masks, rows, rng).tolist()) == wanted
            accuses = min(wanted) >= learning.ACCUSATIONS.start
            accuses &= max(wanted) < learning.ACCUSATIONS.stop
            kinds["forced" if accuses else "quiet"] += 1
        actions = env.sample_actions().copy()
        games = np.flatnonzero(batch.current_player == 0)
        actions[games] = learning.play_cautiously(
            batch.observation_tensor[games], batch.legal_actions_mask[games], actions[games], rng
        )
        env.step(actions)
    assert min(kinds.values()) > 5


def test_it_learns_and_carries_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An interrupted run, carried on, ends with the weights of an unbroken one."""
    monkeypatch.setattr(learning, "GAMES", 32)
    monkeypatch.setattr(learning, "EVERY", 2)
    played: list[int] = []
    play, stop = learning.play_games, [5]

    def counted(env: BatchEnv, network: learning.Network, seed: int) -> object:
        if len(played) == stop[0]:
            stop[0] = -1
            raise KeyboardInterrupt
        played.append(seed)
        return play(env, network, seed)

    monkeypatch.setattr(learning, "play_games", counted)
    ticks = iter(range(10**6))  # a second for each look at the clock
    monkeypatch.setattr(learning.time, "perf_counter", lambda: float(next(ticks)))
    arguments = ["--minutes", "0.4", "--games", "4", "--folder"]
    with pytest.raises(SystemExit) as stopped:
        learning.main([*arguments, str(tmp_path / "broken")])
    assert stopped.value.code == 130
    assert "carries on" in capsys.readouterr().err
    learning.main([*arguments, str(tmp_path / "broken")])
    count = len(played)
    assert played == list(range(count))  # none left out, none twice
    assert count > 8
    record = json.loads((tmp_path / "broken" / "record.json").read_text())
    assert record["games"] == 32 * count
    assert set(record["won_as_jack"]) == {"games", "seed", "learned", "cautious"}
    assert (tmp_path / "broken" / "curve.svg").read_text().startswith("<svg")
    unbroken = learning.new_network()
    env = BatchEnv(32, auto_reset=False)
    for seed in range(count):
        data, _ = play(env, unbroken, seed)
        order = np.random.default_rng(seed).permutation(len(data[0]))
        for part in np.array_split(order, learning.PARTS):
            unbroken.learn(unbroken.loss_and_gradient(*[column[part] for column in data])[1])
    kept = learning.new_network(seed=9)
    kept.load(tmp_path / "broken" / "weights.npz")
    assert kept.updates == unbroken.updates
    for one, two in zip(kept.weights, unbroken.weights, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)


def test_it_learns_to_escape() -> None:
    """A few updates make Jack likelier to leave by an open exit."""
    network, env = learning.new_network(), BatchEnv(64, auto_reset=False)
    words = (
        "node=use turn=2 jack=MS MS=l6 dealt=SH,JW,JS,IL cards=MS,SG,WG,JB using=MS witness=unseen"
    )
    observation = mrjack_ai.State(words).observation()
    escape = observation.string_to_action("escape SE")
    assert escape in observation.actions

    def chance() -> float:
        x = learning.inputs(observation.observation_tensor()[None])
        return float(network.forward(x, observation.legal_actions_mask()[None])[1][0, escape])

    before = chance()
    for seed in range(12):
        data, _ = learning.play_games(env, network, seed)
        for part in np.array_split(np.arange(len(data[0])), 4):
            network.learn(network.loss_and_gradient(*[column[part] for column in data])[1])
    assert chance() > 1.5 * before
