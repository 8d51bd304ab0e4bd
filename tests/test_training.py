"""Self-play and fitting: what makes the weights that ship."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from mrjack_ai.agents import make_agent
from mrjack_ai.cli.main import main, parse_command
from mrjack_ai.engine.compile import JIT_DISABLED
from mrjack_ai.engine.layout import STATE_WORDS
from mrjack_ai.errors import AgentError, TrainingError
from mrjack_ai.game.state import State
from mrjack_ai.search import value_network
from mrjack_ai.search.weights import load_weights
from mrjack_ai.setup.variant import DEFAULT_VARIANT
from mrjack_ai.training import FitSettings, SelfPlay, fit, play_games, read_examples, train
from mrjack_ai.training.fit import Examples

PLAY = SelfPlay("greedy", seed=3, games_per_file=40)
FIT = FitSettings(seed=3, batch=128)


@pytest.mark.skipif(JIT_DISABLED, reason="takes too long in plain Python")
def test_training_learns_and_carries_on(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    record = train(tmp_path, 120, PLAY, FIT, progress=lambda *counts: told.append(counts))
    assert told == [(0, 120), (40, 120), (80, 120), (120, 120)]
    assert record == json.loads((tmp_path / "value.json").read_text()) | {
        "self_play": record["self_play"]  # JSON has lists for tuples
    }
    assert record["games"] == 120
    assert record["self_play"]["agent"] == "greedy"
    assert record["training_loss"] < 0.95 * record["loss_without_features"]
    weights = load_weights(str(tmp_path / "value.npz"))
    assert weights.shape == (value_network.WEIGHTS,)
    games = sorted(tmp_path.glob("games-*.npz"))
    assert len(games) == 3
    before = [file.stat().st_mtime_ns for file in games]
    content = games[1].read_bytes()
    games[1].unlink()  # as after an interruption
    told.clear()
    train(tmp_path, 120, PLAY, FIT, workers=2, progress=lambda *counts: told.append(counts))
    assert told == [(80, 120), (120, 120)]
    again = [file.stat().st_mtime_ns for file in games]
    assert [before[0], before[2]] == [again[0], again[2]]
    with np.load(games[1]) as found:
        assert found["positions"].shape[1] == STATE_WORDS
        state = State.from_words(DEFAULT_VARIANT, found["positions"][0])
        assert state.identity is not None
    assert games[1].read_bytes() == content
    load_weights.cache_clear()
    np.testing.assert_array_equal(load_weights(str(tmp_path / "value.npz")), weights)


def test_a_folder_of_other_games_is_refused(tmp_path: Path) -> None:
    few = SelfPlay("random", games_per_file=2)
    paths = play_games(few, 3, tmp_path)
    assert [path.name for path in paths] == ["games-0000.npz", "games-0001.npz"]
    for other in (
        SelfPlay("greedy", games_per_file=2),
        SelfPlay("random", seed=2, games_per_file=2),
        SelfPlay("random", games_per_file=3),
    ):
        with pytest.raises(TrainingError, match=r"other settings.*another folder"):
            play_games(other, 3, tmp_path)
    with pytest.raises(AgentError, match="unknown agent"):
        play_games(SelfPlay("nobody"), 3, tmp_path)
    with pytest.raises(TrainingError, match="cannot use folder"):
        play_games(few, 3, paths[0] / "inside")
    with pytest.raises(TrainingError, match="too few to learn from"):
        train(tmp_path, 3, few)
    assert not list(tmp_path.glob("value*"))
    paths[1].write_bytes(paths[1].read_bytes()[:-40])
    with pytest.raises(TrainingError, match=r"games-0001.npz.*remove it"):
        read_examples(paths)


def test_fitting_finds_what_decides() -> None:
    """Positions at random, won exactly where Jack is visible: learnt, and on unseen ones too."""
    rng = np.random.default_rng(1)
    rows = rng.integers(
        value_network.OFFSETS[:-1], value_network.OFFSETS[1:], (20_000, value_network.ACTIVE)
    )
    visible = (rows[:, 1] - value_network.OFFSETS[1]) % 2
    apart = rng.random(20_000) < 0.1
    examples = Examples(rows.astype(np.int32), visible.astype(np.float32), apart)
    _, measured = fit(examples, FitSettings(batch=256))
    assert measured["test_accuracy"] > 0.9
    assert measured["test_loss"] < 0.4  # log 2 = 0.69 without learning


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "fitting"
    words = ["train", str(folder), "--agent", "random", "--games", "1", "--workers", "1"]
    assert main(words) == 0
    output = capsys.readouterr()
    assert "positions of 500 games: loss 0." in output.out
    assert "epoch 5: training_loss 0." in output.err
    record = json.loads((folder / "value.json").read_text())
    assert record["commands"] == [f"mrjack {' '.join(words)}"]
    assert make_agent(f"ismcts:eval={folder}/value.npz") is not None
    assert main([*words, "--seed", "2"]) == 2
    assert "games of other settings" in capsys.readouterr().err


def test_the_commands_that_made_the_weights_can_be_given() -> None:
    """The record of the package's weights names commands and agents of this version."""
    text = (resources.files("mrjack_ai.search") / "data" / "value.json").read_text(encoding="utf-8")
    commands = json.loads(text)["commands"]
    assert len(commands) == 2
    for number, command in enumerate(commands):
        program, *words = command.split()
        assert program == "mrjack"
        agent = parse_command(words).params["agent"]
        if number:  # the second search stands on what the first command leaves
            assert "eval=first/value.npz" in agent
            agent = agent.replace("eval=first/value.npz", "eval=fitted")
        assert make_agent(agent) is not None


@pytest.mark.skipif(JIT_DISABLED, reason="takes too long in plain Python")
@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_the_command(tmp_path: Path, how: signal.Signals, workers: int) -> None:
    words = ["train", str(tmp_path), "--agent", "ismcts:sims=300", "--workers", str(workers)]
    with subprocess.Popen(
        [sys.executable, "-m", "mrjack_ai.cli", *words],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while not (tmp_path / "games.json").exists():
            assert process.poll() is None
            time.sleep(0.1)
        time.sleep(3)  # games are being played
        if how == signal.SIGINT:
            os.killpg(process.pid, how)  # as the terminal does
        else:
            process.kill()  # its workers find out by themselves
        # Workers share standard error, so this waits for the last of them.
        _, errors = process.communicate(timeout=5)
    assert "Traceback" not in errors
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert errors.splitlines()[-1] == "interrupted"
        assert [file.name for file in tmp_path.iterdir()] == ["games.json"]
