"""What is hidden from an agent stays hidden, and games with a key can be repeated."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import prying
import pytest

from mrjack_ai.agents import registry
from mrjack_ai.cli.main import main
from mrjack_ai.play.session import Session
from mrjack_ai.setup.variant import Variant, make_variant
from mrjack_ai.tournament import (
    Settings,
    TournamentError,
    load_results,
    make_settings,
    run_tournament,
    seeded_deal,
)
from mrjack_ai.tournament.deals import keyed_deal, keyed_generator

SMALL = make_variant("mews", "SH+JW+SG+WG", 6)
KEY = "0123456789abcdef" * 4
TESTS = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))
    prying.register()
    yield
    prying.Permits.cheats = False


def found(name: str, workers: int, key: str | None = None) -> list[str]:
    """What an agent found out in a few games."""
    settings = Settings((f"{name}-in-tests", "random"), 8, prying.SEED, Variant(), key=key)
    records = run_tournament(settings, workers).records
    prying.Permits.cheats = False  # it has set this itself, and would be refused now
    assert len(records) == 8
    return [record.details["forfeit"]["message"] for record in records if record.ending is None]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", ["permits", "derives", "walks"])
def test_an_agent_finds_out_nothing_hidden(name: str, workers: int) -> None:
    assert found(name, workers) == []
    assert found(name, workers, KEY) == []


def test_an_agent_that_permits_itself_is_not_shown_the_state_beside_one_that_may() -> None:
    settings = Settings(("permits-in-tests", "omniscient:sims=2"), 4, 5, SMALL)
    records = run_tournament(settings, allow_cheats=True).records
    assert [record.ending for record in records].count(None) == 0


def test_an_opponent_that_permits_itself_is_not_shown_the_state() -> None:
    session = Session(SMALL, 0, "permits-in-tests", 3)
    assert not session.agent_sees
    assert not session.agent.rng.bit_generator.seed_seq.spawn_key  # type: ignore[attr-defined]
    while not session.is_over():
        if session.is_humans_turn():
            session.choose(session.view().actions[0])
        else:
            session.step()


def test_the_attack_on_games_of_the_seed_alone_works_so_the_test_of_it_is_a_test() -> None:
    settings = Settings(("derives-in-tests", "random"), 2, prying.SEED, Variant())
    record = settings.game(0).play(settings)  # without the key that `run_tournament` gives it
    assert "found" in record.details["forfeit"]["message"]


def test_built_in_agents_have_no_key_and_others_a_new_one_each_time() -> None:
    own = run_tournament(Settings(("random", "cautious"), 2, 5, SMALL)).settings
    assert own.key is None
    assert own.game(0).make_deal(own) == seeded_deal(SMALL, 5, 0)
    foreign = Settings(("derives-in-tests", "random"), 2, 5, SMALL)
    keys = {run_tournament(foreign).settings.key for _ in range(2)}
    assert len(keys) == 2
    assert all(len(key or "") == 64 for key in keys)
    # Under a built-in agent's name, too.
    registry.register_agent("random", prying.Derives, replace=True)
    assert Settings(("random", "cautious"), 2, 5, SMALL).needs_key


def test_deals_and_generators_depend_on_key_and_seed() -> None:
    deals = [keyed_deal(SMALL, key, seed, 0) for key in (KEY, "ff" * 32) for seed in range(40)]
    assert len(set(deals)) > 60
    assert keyed_deal(SMALL, KEY, 2**200, 7) == keyed_deal(SMALL, KEY, 2**200, 7)
    sequence = keyed_generator(KEY, 1, 1, 0).bit_generator.seed_seq
    assert isinstance(sequence, np.random.SeedSequence)
    assert sequence.spawn_key == ()
    assert KEY not in repr(Settings(("random", "cautious"), 2, 5, SMALL, key=KEY))


def test_the_key_of_a_run_repeats_its_games(tmp_path: Path) -> None:
    settings = Settings(("walks-in-tests", "random"), 8, prying.SEED, SMALL)
    first = run_tournament(settings, out=tmp_path / "a.db")
    assert load_results(tmp_path / "a.db").settings == first.settings
    again = first.settings
    assert again.key is not None
    for workers in (1, 2):
        assert run_tournament(again, workers).records == first.records
    # A file that has some of them is carried on with its key, which need not be given.
    assert run_tournament(settings, out=tmp_path / "a.db") == first
    with pytest.raises(TournamentError, match="key differ"):
        run_tournament(settings.with_key(KEY), out=tmp_path / "a.db")


PROGRAM = """
import os, sys
sys.path.insert(0, sys.argv[1])
import prying
from mrjack_ai.tournament import Settings, run_tournament
from mrjack_ai.setup.variant import make_variant
if __name__ == "__main__":
    prying.register()
    calls = []
    def report(done, games):
        calls.append(done)
        if len(calls) == int(sys.argv[4]):
            os.kill(os.getpid(), 9)
    small = make_variant("mews", "SH+JW+SG+WG", 6)
    settings = Settings(("derives-in-tests", "random"), 40, prying.SEED, small)
    run_tournament(settings, workers=int(sys.argv[3]), out=sys.argv[2], progress=report)
"""


def test_killed_and_resumed_games_are_those_of_the_key(tmp_path: Path) -> None:
    out = tmp_path / "r.db"
    for workers, last in (("1", "12"), ("2", "12"), ("1", "0")):
        line = [sys.executable, "-c", PROGRAM, TESTS, str(out), workers, last]
        if workers == "2":  # worker processes import the script by its file
            script = tmp_path / "script.py"
            script.write_text(PROGRAM)
            line[1:3] = [str(script)]
        done = subprocess.run(line, env=os.environ, capture_output=True, check=False)
        assert done.returncode == (0 if last == "0" else -9), done.stderr.decode()
    results = load_results(out)
    assert results.complete
    assert results.records == run_tournament(results.settings).records


def test_a_file_of_foreign_agents_without_key_is_not_carried_on(tmp_path: Path) -> None:
    from mrjack_ai.tournament.store import ResultsWriter

    settings = Settings(("walks-in-tests", "random"), 8, 5, SMALL)
    ResultsWriter(tmp_path / "r.db", settings).close()
    with pytest.raises(TournamentError, match="has no key"):
        run_tournament(settings, out=tmp_path / "r.db")


@pytest.mark.parametrize("key", ["", "xyz", KEY.upper(), KEY + "0", 5])
def test_what_is_no_key_is_refused(key: object) -> None:
    with pytest.raises(TournamentError, match="64 hexadecimal digits"):
        Settings(("random", "cautious"), 2, 5, SMALL, key=key)  # type: ignore[arg-type]


def test_the_command_tells_the_key_and_takes_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    variant = ("--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4")
    command = ["tournament", "--games", "4", "--agents", "derives-in-tests", "random", *variant]
    assert main([*command, "--out", str(tmp_path / "a.db")]) == 0
    key = capsys.readouterr().out.partition("; key ")[2][:64]
    assert load_results(tmp_path / "a.db").settings.key == key
    assert main([*command, "--key", key, "--out", str(tmp_path / "b.db")]) == 0
    first, second = (load_results(tmp_path / name).records for name in ("a.db", "b.db"))
    assert first == second
    assert make_settings(key=key).key == key
