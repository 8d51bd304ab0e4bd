"""The scripts that fitted the value function, chose settings and compare with other bots."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

import against_openspiel
import tune

from mrjack_ai.agents import SearchAgent, make_agent
from mrjack_ai.agents.registry import parse_agent


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
            or changed == {"belief", "concealment"}
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
