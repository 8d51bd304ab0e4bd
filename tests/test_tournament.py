"""Tournaments: deals, schedule, workers, resuming, statistics."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import mrjack_ai
from mrjack_ai import Agent, AgentError, Observation
from mrjack_ai.agents import register_agent
from mrjack_ai.game.record import GameRecord
from mrjack_ai.setup.variant import DETECTIVE, JACK, Variant, make_variant
from mrjack_ai.stats.scores import elo_difference, mean_score, wilson
from mrjack_ai.tournament import (
    Deal,
    Game,
    Results,
    Settings,
    load_results,
    make_deal,
    mean_length,
    pairing_results,
    play_game,
    run_tournament,
    standings,
)

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)


def small(
    agents: tuple[str, ...] = ("random", "cautious"), games: int = 8, key: str | None = None
) -> Settings:
    return Settings(agents=agents, games=games, seed=5, variant=SMALL, key=key)


# -- deals --------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", [Variant(), SMALL, make_variant("mews", "SH+JB", 3)])
def test_deal_decides_all_chance_whatever_the_players_do(variant: Variant) -> None:
    deal = make_deal(variant, np.random.default_rng(1))
    assert sorted([deal.identity, *deal.pile]) == list(range(len(variant.cast)))
    assert len(deal.deals) == (variant.turns + 1) // 2
    seen = Counter()
    for seed in range(30):
        rng = np.random.default_rng(seed)
        state = mrjack_ai.new_game(variant)
        drawn = []
        while not state.is_terminal():
            if state.is_chance_node():
                outcome = deal.outcome(state)
                if state.node == "deal":
                    assert outcome == deal.deals[(state.turn - 1) // 2]
                if state.node == "alibi":
                    drawn.append(outcome)
                seen[state.node] += 1
                state.apply_action(outcome)  # raises unless it is legal
            else:
                state.apply_action(int(rng.choice(state.legal_actions())))
        assert state.identity == variant.cast[deal.identity]
        assert tuple(drawn) == deal.pile[: len(drawn)]
    assert set(seen) == {"jack", "deal", "alibi"}


def test_deals_have_the_probabilities_of_the_rules() -> None:
    rng = np.random.default_rng(2)
    deals = [make_deal(SMALL, rng) for _ in range(4000)]
    for counts, cells in (
        (Counter(deal.identity for deal in deals), 4),
        (Counter(deal.deals[0] for deal in deals), 6),
        (Counter(deal.pile for deal in deals), 24),
    ):
        expected = 4000 / cells
        assert len(counts) == cells
        # Five standard deviations of a binomial count.
        margin = 5 * np.sqrt(expected * (1 - 1 / cells))
        assert all(abs(count - expected) < margin for count in counts.values())


def test_deal_at_a_player_node() -> None:
    state = mrjack_ai.new_game()
    deal = Deal(identity=2, deals=(0, 0, 0, 0), pile=(0, 1, 3, 4, 5, 6, 7))
    state.apply_action(deal.outcome(state))
    state.apply_action(deal.outcome(state))
    with pytest.raises(ValueError, match="no chance node"):
        deal.outcome(state)


# -- schedule -----------------------------------------------------------------------------


def test_schedule_plays_every_deal_twice_with_the_sides_swapped() -> None:
    settings = small(("random", "cautious", "greedy"), games=6)
    games = list(settings.schedule())
    assert len(games) == settings.total_games == 18
    counts = Counter((game.pairing, game.deal, tuple(sorted(game.players))) for game in games)
    assert set(counts.values()) == {2}
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert first.players == second.players[::-1]
        assert first.make_deal(settings) == second.make_deal(settings)
    # The same deal in every pairing, another one for every number.
    deals = {game.deal: game.make_deal(settings) for game in games}
    assert all(game.make_deal(settings) == deals[game.deal] for game in games)
    assert len(set(deals.values())) == 3


def test_games_do_not_depend_on_how_many_there_are() -> None:
    few = run_tournament(small(games=4)).records
    many = run_tournament(small(games=8)).records
    assert many[:4] == few


def test_seeds_differ() -> None:
    one = run_tournament(small()).records
    other = run_tournament(Settings(("random", "cautious"), 8, 6, SMALL)).records
    assert [record.actions for record in one] != [record.actions for record in other]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agents": ("random",)}, "at least two"),
        ({"agents": ("random", "random")}, "listed twice"),
        ({"games": 3}, "games 3 must be even"),
        ({"games": 0}, "games 0"),
        ({"seed": -1}, "seed -1"),
    ],
)
def test_bad_settings(change: dict[str, object], message: str) -> None:
    good = {"agents": ("random", "cautious"), "games": 8, "seed": 5, "variant": SMALL}
    with pytest.raises(mrjack_ai.MrJackError, match=message):
        Settings(**{**good, **change})  # type: ignore[arg-type]


def test_unknown_agents_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    with pytest.raises(AgentError, match="unknown agent 'rnadom'"):
        run_tournament(small(("random", "rnadom")), out=path)
    assert not path.exists()


# -- running ------------------------------------------------------------------------------


def test_same_games_with_any_number_of_workers(tmp_path: Path) -> None:
    settings = small(("random", "cautious", "greedy"), games=20)
    alone = run_tournament(settings)
    shared = run_tournament(settings, workers=2, out=tmp_path / "2.db")
    assert alone.complete
    assert shared.records == alone.records
    assert load_results(tmp_path / "2.db") == alone
    for record in alone.records:
        assert record.replay().is_terminal()


def test_progress_is_reported() -> None:
    reports: list[tuple[int, int]] = []
    run_tournament(small(), progress=lambda done, total: reports.append((done, total)))
    assert reports == [(done, 8) for done in range(9)]


# -- agents that misbehave ----------------------------------------------------------------


class Illegal(Agent):
    """Returns an action that is not legal."""

    def act(self, observation: Observation) -> int:
        return -1


class FirstAction(Agent):
    """Plays the first legal action."""

    def act(self, observation: Observation) -> int:
        return observation.legal_actions()[0]


class AlwaysAccuses(Agent):
    """Accuses the first character it can."""

    def act(self, observation: Observation) -> int:
        for action in observation.actions:
            if observation.action_to_string(action).startswith("accuse"):
                return action
        return observation.actions[-1]


@pytest.fixture(autouse=True, scope="module")
def _register() -> None:
    register_agent("illegal-for-tests", Illegal)
    register_agent("first-for-tests", FirstAction)
    register_agent("accuses-for-tests", AlwaysAccuses)


def test_illegal_action_names_the_agent() -> None:
    generators = [np.random.default_rng(seed) for seed in (0, 1)]
    deal = make_deal(SMALL, generators[0])
    with pytest.raises(AgentError, match=r"Illegal, playing the detective: action -1 is not"):
        play_game(SMALL, [Illegal(), FirstAction()], deal, generators)


# -- statistics ---------------------------------------------------------------------------


def test_scripted_agents_give_an_exact_table() -> None:
    """Who wins is recounted from the records by hand; the two sides mirror each other."""
    agents = ("first-for-tests", "accuses-for-tests")
    results = run_tournament(small(agents, games=40, key="5a" * 32))
    won = Counter()
    for record in results.records:
        caught = record.ending == "caught"
        won[record.agents[DETECTIVE if caught else JACK], DETECTIVE if caught else JACK] += 1
    table = {standing.agent: standing for standing in standings(results)}
    for agent in agents:
        standing = table[agent]
        assert standing.as_detective.games == standing.as_jack.games == 40 / 2
        assert standing.as_detective.value == won[agent, DETECTIVE] / 20
        assert standing.as_jack.value == won[agent, JACK] / 20
        wins = won[agent, DETECTIVE] + won[agent, JACK]
        assert standing.score.value == pytest.approx(wins / 40)
        assert sum(standing.won_by.values()) == wins
        assert sum(standing.lost_by.values()) == 40 - wins
    one, other = (table[agent] for agent in agents)
    assert one.score.value == pytest.approx(1 - other.score.value)
    assert one.as_detective.value == pytest.approx(1 - other.as_jack.value)
    assert one.won_by == other.lost_by
    assert 0 < sum(one.won_by.values()) < 40

    mirrored = run_tournament(small(agents[::-1], games=40, key="5a" * 32))
    pairing, mirror = pairing_results(results)[0], pairing_results(mirrored)[0]
    assert mirror.agents == pairing.agents[::-1]
    assert mirror.score.value == pytest.approx(1 - pairing.score.value)
    assert mean_length(results.records) == pytest.approx(
        sum(len(record.actions) for record in results.records) / 40
    )


def test_wilson_interval_against_worked_values() -> None:
    """Newcombe (1998), table I: 81 of 263 gives 0.2553 to 0.3662, 0 of 20 gives 0 to 0.1611."""
    rate = wilson(81, 263)
    assert (round(rate.low, 4), round(rate.high, 4)) == (0.2553, 0.3662)
    rate = wilson(0, 20)
    assert (rate.low, round(rate.high, 4)) == (0.0, 0.1611)
    assert np.isnan(wilson(0, 0).value)


def test_mean_score_by_hand() -> None:
    """Scores 1, 1/2, 1/2, 0: mean 1/2, s = 0.408248, t(3) = 3.182446, margin 0.649624 > 1/2."""
    rate = mean_score([1, 0.5, 0.5, 0])
    assert (rate.games, rate.value, rate.low, rate.high) == (8, 0.5, 0.0, 1.0)
    rate = mean_score([1, 0.5, 0.5, 0] * 4, games_each=4)
    # s = 0.365148, t(15) = 2.131450, margin 2.131450 * 0.365148 / 4 = 0.194574
    assert rate.games == 64
    assert (round(rate.low, 5), round(rate.high, 5)) == (0.30543, 0.69457)
    assert np.isnan(mean_score([]).value)


def test_mean_score_of_equal_deals_is_not_certain() -> None:
    """Two deals won altogether: the Wilson interval of 2 of 2, 0.3424 to 1 (Wilson 1927)."""
    rate = mean_score([1.0, 1.0])
    assert (round(rate.low, 4), rate.high) == (0.3424, 1.0)
    assert mean_score([1.0, 1.0]).low == pytest.approx(wilson(2, 2).low)
    assert mean_score([0.0] * 9).high == pytest.approx(wilson(0, 9).high)
    assert mean_score([0.5]).low < 0.1


def test_mean_score_interval_covers_as_often_as_it_claims() -> None:
    """2000 simulated matches of 200 deals with dependent games; 95 % within four errors."""
    rng = np.random.default_rng(3)
    scores = rng.choice([0, 0.5, 1], p=[0.2, 0.35, 0.45], size=(2000, 200))
    true = 0.35 * 0.5 + 0.45
    rates = [mean_score(list(row)) for row in scores]
    covered = np.mean([rate.low <= true <= rate.high for rate in rates])
    assert abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 2000)


def test_the_deal_is_the_unit_of_the_overall_score() -> None:
    """Three agents: an agent's score of a deal is the mean of its four games on it."""
    results = run_tournament(small(("random", "cautious", "greedy"), games=8))
    for standing in standings(results):
        by_deal: dict[int, list[int]] = {}
        for record in results.records:
            if standing.agent in record.agents:
                side = DETECTIVE if record.ending == "caught" else JACK
                won = record.agents[side] == standing.agent
                by_deal.setdefault(record.details["deal"], []).append(won)
        assert all(len(games) == 4 for games in by_deal.values())
        expected = mean_score([sum(games) / 4 for games in by_deal.values()], 4)
        assert standing.score == expected


def test_half_played_deals_count_for_the_sides_only() -> None:
    results = run_tournament(small())
    cut = Results(results.settings, results.records[:3])
    assert not cut.complete
    for standing in standings(cut):
        assert standing.score.games == 2
        assert standing.as_detective.games + standing.as_jack.games == 3


def test_records_say_where_they_belong() -> None:
    settings = small()
    for game, record in zip(settings.schedule(), run_tournament(settings).records, strict=True):
        place = {"game": game.number + 1, "pairing": game.pairing, "deal": game.deal}
        assert record.details == place
        assert record.seed == 5
        assert isinstance(record, GameRecord)
        assert Game(game.pairing, game.deal, game.players, game.number).play(settings) == record


def test_elo_difference_against_worked_values() -> None:
    """A score of 10/11 is 400 points, of 0.64 about 100 (Elo 1978)."""
    assert elo_difference(0.5) == 0
    assert elo_difference(10 / 11) == pytest.approx(400)
    assert elo_difference(0.64) == pytest.approx(99.95, abs=0.01)
    assert elo_difference(0.25) == pytest.approx(-elo_difference(0.75))
    assert elo_difference(1.0) == np.inf
    assert elo_difference(0.0) == -np.inf
