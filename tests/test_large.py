"""Schedules of 10^12 games and seeds of 128 bits: as large as they may be, everywhere."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pexpect
import pytest

from mrjack_ai.cli.main import main
from mrjack_ai.game.record import read_records
from mrjack_ai.reports import write_report
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.stats.sprt import Sprt
from mrjack_ai.tournament import (
    MOST_GAMES,
    MOST_SEED,
    Settings,
    TournamentError,
    export,
    load,
    load_results,
    load_settings,
    read_deals,
    recover,
    run_tournament,
    seeded_deal,
    standings,
    summarize,
)
from mrjack_ai.tournament.ladder import run_ladder
from mrjack_ai.tournament.outcomes import JACK_WON, NOT_PLAYED, Outcomes

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
WORDS = ["--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4"]
AGENTS = ("random", "cautious", "greedy")
LARGE = Settings(AGENTS, MOST_GAMES, MOST_SEED, SMALL)


def stop_at(count: int) -> object:
    def progress(done: int, total: int) -> None:
        assert total == 3 * MOST_GAMES
        if done >= count:
            raise KeyboardInterrupt

    return progress


# -- schedules ----------------------------------------------------------------------------


def test_a_schedule_is_never_built_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    run_tournament(replace(LARGE, games=2))  # loads and compiles
    tracemalloc.start()
    try:
        for workers, count in ((1, 40), (2, 80)):
            results = run_tournament(LARGE, workers, path, stop_at(count))  # type: ignore[arg-type]
            assert not results.complete
            assert len(results.records) >= count
        summary = summarize(load_results(path))
        write_report(path, tmp_path / "r.html")
        assert export(path, tmp_path / "r.csv") == summary.games
        assert recover(path, tmp_path / "new.db") == summary.games
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    assert summary.games == len(results.records)
    assert results.records[:30] == run_tournament(replace(LARGE, games=10)).records[:30]
    assert sum(standing.games for standing in standings(results)) == 2 * summary.games


def test_the_last_games_of_a_schedule_are_as_the_first(tmp_path: Path) -> None:
    last = 3 * MOST_GAMES - 1
    result = LARGE.game(last).result(LARGE)
    assert (result.number, result.deal, result.pairing) == (last, MOST_GAMES // 2 - 1, 2)
    outcomes = Outcomes(LARGE)
    outcomes.add([result, LARGE.game(4).result(LARGE)])
    assert outcomes.count == 2
    assert outcomes.table().shape == (2, 3, 2)
    missing = outcomes.missing()
    assert [next(missing) for _ in range(5)] == [0, 1, 2, 3, 5]
    assert sum(counts.pairs for counts in outcomes.pair_counts()) == 0


def test_outcomes_over_many_blocks_are_those_of_one_array(monkeypatch: pytest.MonkeyPatch) -> None:
    from mrjack_ai.tournament import outcomes as module

    monkeypatch.setattr(module, "_BLOCK", 20)
    rng = np.random.default_rng(1)
    for pairings, agents in ((1, AGENTS[:2]), (3, AGENTS)):
        settings = replace(LARGE, agents=agents, games=50)
        outcomes, plain = Outcomes(settings), np.zeros(50 * pairings, np.uint8)
        for number in rng.permutation(50 * pairings)[:-9]:
            winner = int(rng.integers(2))
            outcomes.put(int(number), winner)
            plain[number] = 1 + winner
            assert outcomes.count == np.count_nonzero(plain)
        table = plain.reshape(-1, pairings, 2)
        np.testing.assert_array_equal(outcomes.table(), table[table.any(axis=(1, 2))])
        assert list(outcomes.missing()) == np.flatnonzero(plain == NOT_PLAYED).tolist()


def test_a_sequential_test_over_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from mrjack_ai.tournament import outcomes as module

    settings = Settings(AGENTS[:2], MOST_GAMES, 1, SMALL, sprt=Sprt(0, 300, 0.05, 0.05))
    found = []
    for size in (2, 14, 10_000):
        monkeypatch.setattr(module, "_BLOCK", size)
        outcomes = Outcomes(settings)
        for number in (*range(4, 400), *range(4)):
            # Of each pair the first agent wins both games: as the Detective, then as Jack.
            outcomes.put(number, 0 if number % 2 == 0 else JACK_WON - 1)
        outcomes.judge()
        found.append((outcomes.stop, outcomes.count, outcomes.judged, outcomes.table().tolist()))
        assert outcomes.stop is not None
        assert list(outcomes.missing()) == []
    assert found[0] == found[1] == found[2]


def test_more_games_than_there_can_be() -> None:
    for games in (MOST_GAMES + 2, 2**64):
        with pytest.raises(TournamentError, match=r"from 1 to 10\^12"):
            replace(LARGE, games=games)


def terminal(words: list[str], folder: Path) -> pexpect.spawn:
    code = "import sys; from mrjack_ai.cli.main import main; sys.exit(main())"
    return pexpect.spawn(
        sys.executable,
        ["-c", code, *words],
        cwd=str(folder),
        timeout=120,
        dimensions=(40, 120),
        env={**os.environ, "TERM": "xterm"},
        encoding="utf-8",
    )


@pytest.mark.parametrize("command", ["tournament", "ladder"])
def test_a_huge_tournament_starts_at_once_shows_standings_and_goes_on(
    command: str, tmp_path: Path
) -> None:
    """At a terminal, where progress is drawn; Ctrl-C, and the same command again."""
    words = [command, "--games", str(MOST_GAMES), "--out", "out", *WORDS]
    words += ["--agents" if command == "tournament" else "--rungs", "random", "cautious"]
    path = tmp_path / "out"
    if command == "ladder":
        path /= "cautious_vs_random.db"
    played = [0]
    for _ in range(2):
        child = terminal(words, tmp_path)
        child.expect(r"(\d+)/1000000000000")
        child.expect(r"[\d.]+/s")
        child.sendintr()
        child.expect("interrupted after")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 130
        played.append(len(load_results(path).records))
    assert played == sorted(set(played))


# -- seeds --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [2**53 + 1, 2**63, 2**64, MOST_SEED])
def test_a_large_seed_works_everywhere(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, deals = tmp_path / "r.db", tmp_path / "deals.txt"
    words = ["--agents", "random", "cautious", "--games", "4", "--seed", str(seed), *WORDS]
    assert main(["tournament", *words, "--out", str(path)]) == 0
    assert f"seed {seed}, " in capsys.readouterr().out
    results = load_results(path)
    assert results.settings.seed == seed
    assert results == run_tournament(Settings(AGENTS[:2], 4, seed, SMALL), workers=2)
    assert {record.seed for record in results.records} == {seed}

    names = [str(tmp_path / f"g.{ending}") for ending in ("csv", "parquet", "jsonl", "txt")]
    assert main(["results", "export", str(path), *names]) == 0
    games = load(path).games
    assert list(games.seed) == [str(seed)] * 4
    pandas.testing.assert_series_equal(pandas.read_parquet(names[1]).seed, games.seed)
    with open(names[0], newline="") as file:
        assert {row["seed"] for row in csv.DictReader(file)} == {str(seed)}
    with open(names[2]) as file:
        assert {json.loads(line)["seed"] for line in file} == {seed}
    assert read_records(names[2]) == list(results.records)
    assert {record.seed for record in read_records(names[3])} == {seed}

    assert main(["deals", str(deals), "--count", "2", "--seed", str(seed), *WORDS]) == 0
    assert read_deals(deals, SMALL) == tuple(seeded_deal(SMALL, seed, n) for n in range(2))
    assert main(["results", str(path)]) == 0
    assert f"seed: {seed}" in capsys.readouterr().out
    write_report(path, tmp_path / "r.html")
    assert str(seed) in (tmp_path / "r.html").read_text()
    settings = tmp_path / "s.toml"
    settings.write_text(
        f'agents = ["random", "cautious"]\ngames = 4\nseed = {seed}\n'
        'board = "mews"\ncast = "SH+JW+SG+WG"\nturns = 4\n'
    )
    assert load_settings(settings) == results.settings
    assert main(["tournament", "--settings", str(settings), "--out", str(path)]) == 0
    assert len(run_ladder(AGENTS[:2], 4, seed, variant=SMALL)) == 1


@pytest.mark.parametrize("seed", [-1, MOST_SEED + 1, 2**200])
def test_the_range_of_seeds_is_the_same_everywhere(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = re.escape("must be a whole number from 0 to 2^128-1")
    with pytest.raises(TournamentError, match=wanted):
        Settings(AGENTS, 4, seed, SMALL)
    (tmp_path / "s.toml").write_text(f"seed = {seed}\n")
    with pytest.raises(TournamentError, match=wanted):
        load_settings(tmp_path / "s.toml")
    deals = str(tmp_path / "d.txt")
    for words in (["tournament"], ["ladder"], ["deals", deals], ["play"], ["analyse"]):
        assert main([*words, "--seed", str(seed)]) == 2
        assert re.search(wanted, capsys.readouterr().err)
    assert not os.path.exists(deals)
