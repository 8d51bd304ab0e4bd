"""What came of a tournament, recounted from its games by hand."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from pathlib import Path

import misbehaving
import numpy as np
import pandas
import pytest

from mrjack_ai.cli.main import main
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.stats.scores import wilson
from mrjack_ai.tournament import (
    PairCounts,
    Results,
    Settings,
    Summary,
    bradley_terry,
    load_results,
    pairings_frame,
    run_tournament,
    seeded_deal,
    standings_frame,
    summarize,
)
from mrjack_ai.tournament.outcomes import Outcomes
from mrjack_ai.tournament.standings import ALL_ENDINGS
from mrjack_ai.tournament.tables import endings_table, pairings_table, standings_table

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
AGENTS = ("cautious", "greedy", "raises-in-tests", "first-in-tests")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results, Summary]:
    """A round robin with forfeits and with games that repeat."""
    misbehaving.register()
    path = tmp_path_factory.mktemp("summary") / "r.db"
    results = run_tournament(Settings(AGENTS, 12, 5, SMALL), out=path)
    return path, results, summarize(load_results(path))


def rows(path: Path) -> list[sqlite3.Row]:
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    found = database.execute("SELECT * FROM games ORDER BY number").fetchall()
    database.close()
    return found


def test_pairings_against_the_file(played: tuple[Path, Results, Summary]) -> None:
    path, _, summary = played
    games = rows(path)
    assert [pairing.agents for pairing in summary.pairings] == [
        (one, other) for n, one in enumerate(AGENTS) for other in AGENTS[n + 1 :]
    ]
    for number, pairing in enumerate(summary.pairings):
        mine = [game for game in games if game["pairing"] == number]
        first = AGENTS.index(pairing.agents[0])
        won = [game[game["winner"]] == first for game in mine]
        by_deal = Counter()
        for game, win in zip(mine, won, strict=True):
            by_deal[game["deal"]] += win
        counts = Counter(by_deal.values())
        assert pairing.games == 12
        assert pairing.pairs == PairCounts(counts[0], counts[1], counts[2])
        assert pairing.score == pairing.pairs.score()
        assert pairing.score.value == sum(won) / 12
        assert pairing.elo == pairing.pairs.elo()
        assert pairing.superiority == pairing.pairs.likelihood_of_superiority()
        for side, share in (("detective", pairing.as_detective), ("jack", pairing.as_jack)):
            here = [win for game, win in zip(mine, won, strict=True) if game[side] == first]
            assert share == wilson(sum(here), 6)
            endings = Counter(g["ending"] or "forfeit" for g in mine if g[side] == first)
            assert pairing.endings[side == "jack"] == endings
        lengths = [game["length"] for game in mine]
        assert pairing.lengths.mean == pytest.approx(np.mean(lengths))
        assert pairing.lengths.median == np.median(lengths)
        assert (pairing.lengths.shortest, pairing.lengths.longest) == (min(lengths), max(lengths))
        distinct = len({game["actions"] for game in mine})
        assert pairing.redundancy == pytest.approx(1 - distinct / 12)
    assert summary.games == len(games) == 72
    wins = sum(game["winner"] == "detective" for game in games)
    assert summary.detective == wilson(wins, 72)
    assert summary.lengths.mean == pytest.approx(np.mean([game["length"] for game in games]))


def test_ratings_against_the_file(played: tuple[Path, Results, Summary]) -> None:
    path, _, summary = played
    games = rows(path)
    columns = [np.array([game[name] for game in games]) for name in ("detective", "jack", "deal")]
    won = np.array([game["winner"] == "detective" for game in games])
    expected = bradley_terry(columns[0], columns[1], won, columns[2])
    assert summary.ratings is not None
    np.testing.assert_allclose(summary.ratings.ratings, expected.ratings)
    np.testing.assert_allclose(summary.ratings.covariance, expected.covariance)
    for standing in summary.standings:
        assert standing.rating == summary.ratings.rating(AGENTS.index(standing.agent))
    values = [standing.rating.value for standing in summary.standings if standing.rating]
    assert values == sorted(values, reverse=True)
    assert sum(values) == pytest.approx(0, abs=1e-9)


def test_memory_file_and_any_moment_tell_the_same(played: tuple[Path, Results, Summary]) -> None:
    _, results, summary = played
    again = summarize(run_tournament(results.settings))
    assert again.standings == summary.standings
    assert again.pairings == summary.pairings
    seen: list[list[PairCounts]] = []

    def watch(outcomes: Outcomes) -> None:
        seen.append(outcomes.pair_counts())

    run_tournament(results.settings, watch=watch)
    assert len(seen) == 73
    assert seen[0] == [PairCounts()] * 6
    assert seen[-1] == [pairing.pairs for pairing in summary.pairings]
    cut = Results(results.settings, tuple(results.records)[:41])
    assert [pairing.pairs for pairing in summarize(cut).pairings] == seen[41]


def test_data_frames(played: tuple[Path, Results, Summary]) -> None:
    path, _, summary = played
    table = standings_frame(load_results(path))
    pandas.testing.assert_frame_equal(table, standings_frame(summary))
    for row, standing in zip(table.itertuples(), summary.standings, strict=True):
        assert (row.agent, row.games) == (standing.agent, 36)
        assert standing.rating is not None
        assert (row.rating, row.rating_low) == (standing.rating.value, standing.rating.low)
        assert row.as_jack_high == standing.as_jack.high
        assert row.lost_by_forfeit == standing.lost_by.get("forfeit", 0)
    assert table.won_by_caught.sum() == table.lost_by_caught.sum()
    table = pairings_frame(summary)
    for row, pairing in zip(table.itertuples(), summary.pairings, strict=True):
        assert (row.agent, row.opponent) == pairing.agents
        assert (row.elo, row.elo_high) == (pairing.elo.value, pairing.elo.high)
        assert (row.pairs_lost, row.pairs_split, row.pairs_won) == (
            pairing.pairs.lost,
            pairing.pairs.split,
            pairing.pairs.won,
        )
        assert sum(getattr(row, ending) for ending in ALL_ENDINGS) == row.games == 12
        assert row.length_median == pairing.lengths.median
        assert row.redundancy == pairing.redundancy


def test_tables_add_up(played: tuple[Path, Results, Summary]) -> None:
    _, _, summary = played
    standings, pairings, endings = (
        make(summary) for make in (standings_table, pairings_table, endings_table)
    )
    assert [row[0] for row in standings.rows] == [one.agent for one in summary.standings]
    for table in (standings, pairings, endings):
        assert {len(row) for row in table.rows} == {len(table.headings)}
    assert sum(int(row[2]) for row in pairings.rows) == summary.games
    counts = np.array([[int(cell) for cell in row[2:-1]] for row in endings.rows])
    np.testing.assert_array_equal(counts[:, 0], counts[:, 1:].sum(axis=1))
    assert endings.total is not None
    assert endings.total[:2] == ("all", "")
    np.testing.assert_array_equal(counts.sum(axis=0), [int(cell) for cell in endings.total[2:-1]])
    assert endings.total[-1] == summary.detective.percent()
    cut = endings.only("Detective wins", "games")
    assert cut.headings == ("Detective", "Jack", "Detective wins", "games")
    assert cut.total == (*endings.total[:2], endings.total[-1], endings.total[2])
    with pytest.raises(ValueError, match="rating"):
        endings.only("rating")


def test_games_that_repeat_are_counted() -> None:
    """Two agents without randomness on one deal three times: two different games of six."""
    agents = ("first-in-tests", "raises-in-tests")
    deals = (seeded_deal(SMALL, 1, 0),) * 3
    summary = summarize(run_tournament(Settings(agents, 6, 1, SMALL, deals=deals)))
    assert summary.redundancy == pytest.approx(4 / 6)
    assert summary.pairings[0].redundancy == pytest.approx(4 / 6)


def test_an_agent_with_one_opponent_has_the_score_of_the_pairing() -> None:
    summary = summarize(run_tournament(Settings(("greedy", "cautious"), 20, 1, SMALL)))
    (pairing,) = summary.pairings
    by_agent = {standing.agent: standing.score for standing in summary.standings}
    assert by_agent["greedy"] == pairing.score
    assert by_agent["cautious"] == pairing.pairs.mirrored().score()


def test_self_play_has_sides_but_no_scores() -> None:
    settings = Settings(("greedy", "cautious"), 6, 1, SMALL, format="self-play")
    results = run_tournament(settings)
    summary = summarize(results)
    assert summary.ratings is None
    assert "only play themselves" in summary.unrated
    for number, pairing in enumerate(summary.pairings):
        mine = [record for record in results.records if record.details["pairing"] == number]
        caught = sum(record.ending == "caught" for record in mine)
        assert pairing.self_play
        assert pairing.as_detective == wilson(caught, 6)
        assert pairing.as_jack == wilson(6 - caught, 6)
        assert pairing.pairs == PairCounts()
        assert math.isnan(pairing.score.value)
        assert math.isnan(pairing.superiority)
        assert sum(pairing.endings[0].values()) == pairing.games == 6
    one = summarize(run_tournament(Settings(("cautious",), 6, 1, SMALL, format="self-play")))
    assert one.ratings is not None
    assert one.ratings.ratings.tolist() == [0.0]


def test_agents_without_games_have_no_rating() -> None:
    settings = Settings(AGENTS[:2], 4, 1, SMALL)
    summary = summarize(Results(settings, ()))
    assert (summary.games, summary.ratings) == (0, None)
    assert "'cautious' has played no game yet" in summary.unrated
    assert summary.pairings[0].lengths.text() == "-"
    assert pandas.isna(standings_frame(summary).rating).all()


def test_the_command_shows_it(
    played: tuple[Path, Results, Summary], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _, summary = played
    assert main(["results", str(path)]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for standing in summary.standings:
        assert standing.rating is not None
        words = (standing.agent, standing.games, standing.rating.text(), standing.score.percent())
        sides = (standing.as_detective.percent(), standing.as_jack.percent())
        assert " ".join(map(str, (*words, *sides))) in lines
    for pairing in summary.pairings:
        words = (*pairing.agents, pairing.games, pairing.score.percent(), pairing.elo.text())
        better = f"{100 * pairing.superiority:.1f}"
        again = f"{100 * pairing.redundancy:.1f}"
        assert " ".join(map(str, (*words, better, pairing.lengths.text(), again))) in lines
    assert summary.ratings is not None
    side = summary.ratings.side_advantage().text()
    assert any(line.endswith(f"playing the Detective is worth {side}.") for line in lines)
