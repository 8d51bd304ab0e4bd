"""The scripts that fitted the value function, chose settings and compare with other bots."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

import against_openspiel
import fit_value_function as fitting
import tune

from mrjack_ai.agents import SearchAgent, make_agent
from mrjack_ai.agents.registry import parse_agent
from mrjack_ai.engine.compile import JIT_DISABLED
from mrjack_ai.search import value_network
from mrjack_ai.search.weights import load_weights


class Threads(ThreadPoolExecutor):
    """In place of processes, which would not see what a test has changed."""

    def __init__(self, workers: int, mp_context: object) -> None:
        super().__init__(workers)


@pytest.mark.skipif(JIT_DISABLED, reason="takes too long in plain Python")
def test_fitting_learns_and_carries_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "ProcessPoolExecutor", Threads)
    monkeypatch.setattr(fitting, "SHARD", 40)
    monkeypatch.setattr(fitting, "BATCH", 128)
    arguments = ["fit", "--folder", str(tmp_path), "--agent", "greedy", "--games", "120"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--workers", "1"])
    fitting.main()
    record = json.loads((tmp_path / "value.json").read_text())
    assert record["games"] == 120
    assert record["agent"] == "greedy"
    assert record["training_loss"] < 0.95 * record["loss_without_features"]
    weights = load_weights(str(tmp_path / "value.npz"))
    assert weights.shape == (value_network.WEIGHTS,)
    games = sorted(tmp_path.glob("games-*.npz"))
    assert len(games) == 3
    before = [file.stat().st_mtime_ns for file in games]
    games[1].unlink()  # as after an interruption
    fitting.main()
    again = [file.stat().st_mtime_ns for file in games]
    assert [before[0], before[2]] == [again[0], again[2]]
    load_weights.cache_clear()
    np.testing.assert_array_equal(load_weights(str(tmp_path / "value.npz")), weights)


def test_fitting_finds_what_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions at random, won exactly where Jack is visible: learnt, and on unseen ones too."""
    monkeypatch.setattr(fitting, "BATCH", 256)
    rng = np.random.default_rng(1)
    rows = rng.integers(
        value_network.OFFSETS[:-1], value_network.OFFSETS[1:], (20_000, value_network.ACTIVE)
    )
    visible = (rows[:, 1] - value_network.OFFSETS[1]) % 2
    data = fitting.Data(rows.astype(np.int32), visible.astype(np.float32), rng.random(20_000) < 0.1)
    _, measured = fitting.fit(data, 1)
    assert measured["test_accuracy"] > 0.9
    assert measured["test_loss"] < 0.4  # log 2 = 0.69 without learning


def test_comparisons_are_of_agents_that_differ_in_one_setting() -> None:
    found = tune.comparisons(100, 5, 40)
    assert len(set(found)) == len(found)
    for comparison in found:
        for spec in (comparison.agent, comparison.against):
            assert isinstance(make_agent(spec), SearchAgent)
        one, other = (parse_agent(s)[1] for s in (comparison.agent, comparison.against))
        changed = {name for name in one if one[name] != other[name]}
        # Some settings are only of use together, and what hides goes with what it hides from.
        together = ({"eval", "rollout", "horizon"}, {"order", "widening", "power"})
        assert (
            len(changed) == 1
            or changed == {"belief", "discretion"}
            or changed <= together[0]
            or (changed <= together[1])
        )
        assert comparison.games % 2 == 0


def test_tuning_is_recorded_and_carries_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tuning.jsonl"
    few = [
        tune.Comparison("ismcts:sims=8", "ismcts:sims=4", 4),
        tune.Comparison("ismcts:sims=8,c=1", "ismcts:sims=8", 4),
    ]
    monkeypatch.setattr(tune, "comparisons", lambda *_: few[:1])
    monkeypatch.setattr(sys, "argv", ["tune", "--out", str(out)])
    assert tune.main() == 0
    monkeypatch.setattr(tune, "comparisons", lambda *_: few)
    assert tune.main() == 0
    lines = tune.read_results(out)
    assert [line["agent"] for line in lines] == ["ismcts:sims=8", "ismcts:sims=8,c=1"]
    assert lines[1]["agent_parameters"]["c"] == 1 != lines[1]["against_parameters"]["c"]
    # A changed default makes another comparison of it.
    lines[1]["against_parameters"]["widening"] = 9.0
    out.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert tune.main() == 0
    assert len(tune.read_results(out)) == 3
    match = ["--match", "ismcts:sims=2", "ismcts:sims=3", "--games", "2"]
    monkeypatch.setattr(sys, "argv", ["tune", "--out", str(out), *match])
    assert tune.main() == 0
    lines = tune.read_results(out)
    assert (lines[3]["agent"], lines[3]["against"], lines[3]["games"]) == (*match[1:3], 2)
    assert all(0 <= line["score"][1] <= line["score"][0] <= line["score"][2] for line in lines)
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["tune", "--out", str(out), "--markdown"])
    assert tune.main() == 0
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_bad_matches_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for match in (["nobody", "greedy"], ["random", "greedy", "--games", "5"]):
        out = ["--out", str(tmp_path / "none.jsonl")]
        monkeypatch.setattr(sys, "argv", ["tune", *out, "--match", *match])
        assert tune.main() == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "none.jsonl").exists()


def test_recorded_tuning_reads() -> None:
    lines = tune.read_results(tune.RESULTS)
    assert len(lines) >= 20
    for line in lines:
        assert isinstance(make_agent(line["agent"]), SearchAgent)
        assert line["games"] >= 100


def test_match_with_openspiel(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = against_openspiel.play("ismcts:sims=2", "openspiel:ismcts,sims=2", 2, 1)
    assert seconds > 0
    assert "| ismcts:sims=2 | openspiel:ismcts,sims=2 | 2 |" in capsys.readouterr().out
