"""Statistics of many games: small constructed data with known answers."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import mrjack_ai
from mrjack_ai.agents.registry import described_parameters
from mrjack_ai.engine.compile import JIT_DISABLED
from mrjack_ai.errors import RecordError, TournamentError
from mrjack_ai.game.belief import identity_probabilities
from mrjack_ai.game.perft import perft
from mrjack_ai.game.record import GameRecord
from mrjack_ai.stats.ratings import Ratings
from mrjack_ai.stats.scores import PairCounts, wilson
from mrjack_ai.studies import (
    SIZES,
    STANDARD,
    Difference,
    Size,
    benjamini_hochberg,
    branching,
    by_dealt_card,
    by_group,
    calls_by_turn,
    contrast_by_deals,
    deal_scores,
    doubling_line,
    entropy,
    family,
    fit_line,
    gain,
    group_difference,
    heat,
    holm,
    information_set_size,
    load_data,
    log10_product,
    make_data,
    matches,
    nearest_to_half,
    paired_difference,
    position_bound,
    probe_tree,
    rate_agents,
    rates,
    ratings_frame,
    ratio_by_deals,
    sentences,
    share_of,
    studies,
    take_apart,
    thinking_times,
    told_and_expected,
    tree_size,
    variants,
    who_plays,
    witness_call,
)
from mrjack_ai.studies import data as data_module
from mrjack_ai.studies.__main__ import main
from mrjack_ai.studies.data import TABLES, games_frame
from mrjack_ai.tournament import Settings, load_results, run_tournament, seeded_deal


def table(*rows: tuple[object, ...], columns: str = "deal winner") -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split())


D, J = "detective", "jack"
PAIRS = table((0, D), (0, D), (1, D), (1, J), (2, J), (2, J), (3, D), (3, J))


# -- shares and tests ---------------------------------------------------------------------


def test_share_takes_the_deal_as_the_unit() -> None:
    won = PAIRS["winner"] == D
    assert share_of(PAIRS["deal"], won) == PairCounts(lost=1, split=2, won=1).score()
    single = PAIRS.drop_duplicates("deal")
    assert share_of(single["deal"], single["winner"] == D) == wilson(3, 4)
    mixed = share_of([0, 0, 1], [True, False, True])  # deals score 1/2 and 1
    assert (mixed.games, mixed.value) == (3, 0.75)
    assert math.isnan(share_of([], []).value)


def test_rates_of_games_counted_by_hand() -> None:
    games = PAIRS.assign(agent=["a", "a", "a", "a", "b", "b", "b", "b"])
    found = rates(games, ["agent"])
    assert list(found["agent"]) == ["a", "b"]
    assert list(found["games"]) == [4, 4]
    assert list(found["deals"]) == [2, 2]
    assert list(found["share"]) == [0.75, 0.25]
    assert (found["low"] < found["share"]).all()
    assert (found["share"] < found["high"]).all()
    lost = rates(games, ["agent"], games["winner"] == J)
    np.testing.assert_allclose(lost["share"], 1 - found["share"])
    np.testing.assert_allclose(lost["low"], 1 - found["high"], atol=1e-9)


def test_deal_scores() -> None:
    assert deal_scores(PAIRS).to_dict() == {0: 1.0, 1: 0.5, 2: 0.0, 3: 0.5}


def test_paired_difference_is_students() -> None:
    one = pd.Series([1.0, 1.0, 0.5, 1.0, 0.0], index=[1, 2, 3, 4, 9])
    other = pd.Series([0.5, 0.0, 0.5, 0.5], index=[4, 3, 2, 1])
    # differences on deals 1 to 4: 1/2, 1/2, 1/2, 1/2; deal 9 has no counterpart
    assert paired_difference(one, other) == Difference(4, 0.5, 0.5, 0.5, 0.125)
    other[4] = 0.0  # now 1/2, 1/2, 1/2, 1
    found = paired_difference(one, other)
    error = 0.25 / math.sqrt(4)
    assert found.value == pytest.approx(0.625)
    assert found.high - found.value == pytest.approx(3.182446 * error)  # t(0.975, 3)
    assert 0.01 < found.p < 0.05  # t = 5
    assert paired_difference(one, one).p == 1
    assert math.isnan(paired_difference(one[:1], one[:1]).value)


def test_paired_difference_keeps_its_level() -> None:
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(600):
        deals = rng.random(60)  # what they share: how good a deal is for a side
        one, other = (pd.Series((rng.random((2, 60)) < deals).mean(axis=0)) for _ in range(2))
        wrong += paired_difference(one, other).p < 0.05
    assert 0.025 < wrong / 600 < 0.08


def test_group_difference() -> None:
    found = group_difference([1, 1, 0, 1], [0, 0, 1, 0, 0])
    assert found.value == pytest.approx(0.75 - 0.2)
    test = scipy.stats.ttest_ind([1, 1, 0, 1], [0, 0, 1, 0, 0], equal_var=False)
    assert (found.low, found.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert (found.deals, found.p) == (9, pytest.approx(test.pvalue))
    assert group_difference([1, 1], [1, 1]).p == 1
    assert math.isnan(group_difference([1], [0, 1]).value)


def test_a_group_without_spread_is_no_reason_to_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = group_difference([1, 1, 1], [1, 0, 1])
        assert group_difference([0.3] * 5, [0.3] * 4).p == 1
    assert found.low < found.value < found.high
    # One group is a point, so this is Student's interval of the other: t(2) = 4.302653, s^2 = 1/3.
    assert found.high - found.value == pytest.approx(4.302653 * math.sqrt(1 / 9))


@pytest.mark.parametrize("games", [2, 3, 6, 7])
def test_equal_differences_have_no_spread(games: int) -> None:
    """Whatever their size: rounding is no spread to judge by."""
    one = pd.Series([1 / games] * 9)
    found = paired_difference(one + 1 / 3, pd.Series([1 / 3] * 9))
    assert (found.low, found.high) == pytest.approx((found.value, found.value), abs=1e-12)
    assert found.p == 2.0**-8


def test_corrections_of_a_known_family() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    np.testing.assert_allclose(holm(p), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(benjamini_hochberg(p), [0.02, 0.04, 0.04, 0.02])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1, 1])
    assert len(holm([])) == len(benjamini_hochberg([])) == 0


def test_family_says_what_is_significant() -> None:
    tests = {"a": Difference(9, 0.2, 0.1, 0.3, 0.02), "b": Difference(9, 0.1, -0.1, 0.3, 0.03)}
    found = family(tests, "step")
    assert list(found.columns[:2]) == ["step", "deals"]
    assert list(found["corrected"]) == [0.04, 0.04]
    assert list(found["significant"]) == [True, True]
    assert not family(tests | {"c": Difference(9, 0, 0, 0, 1)}, "step")["significant"].any()


def test_by_group_finds_the_group_that_differs() -> None:
    rows = []
    for deal in range(60):
        wins = (1, 1) if deal % 3 == 0 else ((0, 1) if deal % 2 else (0, 0))
        rows += [(deal, D if won else J, ["SH", "JW", "JS"][deal % 3]) for won in wins]
    games = table(*rows, columns="deal winner identity")
    found = by_group(games, "identity").set_index("identity")
    assert found.loc["SH", "value"] == pytest.approx(0.75)
    assert found.loc["SH", "significant"]
    assert (found.loc[["JW", "JS"], "value"] < 0).all()
    games.loc[0, "identity"] = "JS"
    with pytest.raises(ValueError, match="same in all games of a deal"):
        by_group(games, "identity")


def test_by_dealt_card() -> None:
    rows = []
    for deal in range(40):
        dealt = "SH,JW" if deal % 2 else "JW,JS"
        won = deal % 2 == 1 or deal == 0
        rows += [(deal, D if won else J, "JS", dealt)] * 2
    found = by_dealt_card(table(*rows, columns="deal winner identity dealt")).set_index("card")
    assert list(found.index) == ["JS", "JW", "SH", "Jack's own"]
    assert found.loc["SH", "value"] == pytest.approx(0.95)
    assert found.loc["Jack's own", "value"] == found.loc["JS", "value"] == pytest.approx(-0.95)
    assert found["significant"].tolist() == [True, False, True, True]  # Watson is always there


def test_nearest_to_half_takes_the_same_deals() -> None:
    rng = np.random.default_rng(1)
    deals = pd.Series(rng.random(200) < 0.5).astype(float)
    one = {"fair": deals, "unfair": (deals + 0.5).clip(0, 1)}
    found = nearest_to_half(one, resamples=200)
    assert list(found["variant"]) == ["fair", "unfair"]
    assert found["nearest"].sum() == pytest.approx(1)
    assert found["nearest"][0] > 0.99
    # Two names for one game share every draw.
    assert nearest_to_half({"a": deals, "b": deals}, 50)["nearest"].tolist() == [0.5, 0.5]


# -- information --------------------------------------------------------------------------


def test_bits_of_a_call() -> None:
    np.testing.assert_allclose(entropy([4, 8, 0, 2], 8), [1, 0, 0, 0.8112781], atol=1e-7)
    np.testing.assert_allclose(gain([8, 8, 6], [4, 8, 2]), [1, 0, math.log2(3)])
    # What is expected is the mean of what is gained: 3 of 8 are visible.
    mean = (3 * gain(8, 3) + 5 * gain(8, 5)) / 8
    assert entropy(3, 8) == pytest.approx(float(mean))


def test_witness_calls_agree_with_the_exact_weights() -> None:
    variant = variants()["lamps stay"]  # so that a turn's end changes nobody's visibility
    rng = np.random.default_rng(3)
    calls = draws = 0
    while calls < 60:
        state = mrjack_ai.new_game(variant)
        cleared: frozenset[str] = frozenset()
        while not state.is_terminal():
            before = state
            quiet = [a for a in state.legal_actions() if "accuse" not in state.action_to_string(a)]
            state = state.child(int(rng.choice(quiet or state.legal_actions())))
            if before.turn in (0, state.turn):
                continue
            calls += 1
            cast = np.array(variant.cast)
            view = state.observation(0)
            after = cast[identity_probabilities(view) > 0]
            innocent = cleared | {*state.exonerated(), *state.alibis(0)}
            could = [code for code in cast if code not in innocent]
            alike = sum(code in state.visible() for code in could)
            seen = state.identity in state.visible()
            assert witness_call(state, cleared) == (len(could), alike, seen, len(after))
            draws += bool(state.alibis(0))
            cleared = frozenset(state.cleared())
    assert draws > 5


# -- the size of the tree -----------------------------------------------------------------

TINY = mrjack_ai.make_variant("mews", "SH+JB", 1)


def whole_tree(state: mrjack_ai.State) -> Iterator[mrjack_ai.State]:
    yield state
    for action in state.legal_actions():
        yield from whole_tree(state.child(action))


@pytest.mark.skipif(JIT_DISABLED, reason="takes too long in plain Python")
def test_walks_estimate_the_tree_without_bias() -> None:
    root = mrjack_ai.new_game(TINY)
    nodes = list(whole_tree(root))
    games = sum(state.is_terminal() for state in nodes)
    longest = max(state.move_number() for state in nodes)
    assert len(nodes) == sum(perft(root, depth) for depth in range(longest + 1))
    exact = {"log_games": games, "log_nodes": len(nodes)}
    for player, name in enumerate(("log_detective_sets", "log_jack_sets")):
        mine = [state for state in nodes if state.current_player() == player]
        exact[name] = len({state.information_state_string(player) for state in mine})
    for weight in (1.0, 0.2):
        probes = probe_tree(root, 3000, np.random.default_rng(1), weight)
        for name, number in exact.items():
            estimates = np.exp(probes[name])
            error = estimates.std() / math.sqrt(len(probes))
            assert abs(estimates.mean() - number) < 4 * error + 1e-9, (name, weight)
            if number:
                found = tree_size(probes[name].to_numpy(), 200)
                assert 10**found.value == pytest.approx(estimates.mean())
                assert found.low <= found.value <= found.high
    assert probes["length"].max() <= longest


@pytest.mark.skipif(JIT_DISABLED, reason="takes too long in plain Python")
@pytest.mark.parametrize("cast", ["SH+JB", "SH+JW"])
def test_information_sets_have_the_size_that_is_claimed(cast: str) -> None:
    variant = mrjack_ai.make_variant("mews", cast, 2)
    state = mrjack_ai.new_game(variant)
    # All of the tree takes long; all of it below a part that every identity and pile shares.
    kept: Counter[tuple[int, str]] = Counter()
    sizes: dict[tuple[int, str], set[int]] = {}

    def visit(state: mrjack_ai.State, depth: int) -> None:
        player = state.current_player()
        if player >= 0:
            key = (player, state.information_state_string(player))
            kept[key] += 1
            sizes.setdefault(key, set()).add(information_set_size(state, player))
        actions = state.legal_actions()
        if player >= 0:  # the same few of them wherever the text of the action is legal
            names = sorted(actions)
            actions = names[:2] + names[-1:]
        if depth:
            for action in dict.fromkeys(actions):
                visit(state.child(action), depth - 1)

    visit(state, 9)
    assert any(player == 0 and size == {2} for (player, _), size in sizes.items())
    for key, found in sizes.items():
        assert found == {kept[key]}, key


def test_tree_size_of_known_walks() -> None:
    even = tree_size(np.log(np.full(50, 1e6)))
    assert (even.value, even.low, even.high) == pytest.approx((6, 6, 6))
    assert even.effective == pytest.approx(50)
    one = tree_size(np.array([700.0] + [1.0] * 99))
    assert one.effective == pytest.approx(1)
    assert one.value == pytest.approx(700 / math.log(10) - 2)
    assert sentences.power_of_ten(even) == "10^6.0 [10^6.0, 10^6.0]"


def test_position_bound_holds() -> None:
    bound = position_bound(TINY)
    assert bound["characters"] == 13 * 12
    assert bound["gaslights"] == 3 * 2  # tile 1 and a plain one on three places
    assert (bound["covers"], bound["cordons"], bound["lantern"]) == (3, 2, 1)
    assert bound["cards"] == 2
    product = math.prod(bound.values())
    assert log10_product(bound) == pytest.approx(math.log10(product))
    standard = position_bound(mrjack_ai.Variant())
    assert standard["characters"] == math.perm(len(mrjack_ai.Variant().board.streets), 8)
    # Tiles 1-4 and two plain on eight places; in turn 2 without tile 1; from turn 5 on plain ones.
    turns = [8 * 7 * 6 * 5 * 6, 8 * 7 * 6 * 10, 8 * 7 * 15, 8 * 21, *[28] * 4]
    assert standard["gaslights"] == sum(turns)
    picks = {str(state) for state in whole_tree(mrjack_ai.new_game(TINY)) if state.node == "pick"}
    assert 0 < len(picks) <= product


# -- games taken apart --------------------------------------------------------------------

RECORD = """mrjack record 1
rules: 1
board: whitechapel
cast: SH+JW+JS+IL+MS+SG+WG+JB
turns: 8
first: detective
detective: random
jack: greedy
seed: 1

identity: jack SG
turn 1: deal SH,JS,IL,WG
turn 1 detective: pick JS; move a5; lamp c7>f9
turn 1 jack: pick SH; move f7; alibi JB
turn 1 jack: pick IL; cordon NE>SE; move c4
turn 1 detective: pick WG; move m8
turn 2 jack: pick JB; move k11; cover l12>f7
turn 2 detective: pick MS; move g10
turn 2 detective: pick JW; move h3; light NE
turn 2 jack: pick SG; whistle JS d7 3; escape NE
result: escape
"""


def test_a_game_taken_apart() -> None:
    record = GameRecord.from_text(RECORD)
    found = take_apart([record])
    plays = found.plays
    assert list(plays["character"]) == ["JS", "SH", "IL", "WG", "JB", "MS", "JW", "SG"]
    abilities = ["lamp", "alibi", "cordon", "", "cover", "", "light", "whistle"]
    assert list(plays["ability"]) == abilities
    assert list(plays["is_jack"]) == [False] * 7 + [True]
    assert list(plays["player"]) == [D, J, J, D, J, D, D, J]
    assert list(plays["turn"]) == [1] * 4 + [2] * 4
    (call,) = found.calls.itertuples(index=False)
    assert (call.turn, call.before, call.seen) == (1, 8, False)
    unseen = next(state for state in record.states() if state.turn == 2)
    assert call.after == 8 - len(unseen.cleared())
    ends = found.hexes[found.hexes["what"] == "escape"]
    assert ends[["character", "hex", "count"]].values.tolist() == [["SG", "l12", 1]]
    stands = found.hexes[found.hexes["what"] == "stands"]
    assert dict(zip(stands["character"], stands["hex"], strict=True)) == unseen.positions
    assert heat(found.hexes, "stands", "JS") == {"a5": 1.0}
    assert sum(heat(found.hexes, "stands").values()) == pytest.approx(1)
    assert heat(found.hexes, "caught") == {}
    decisions = [s for s in record.states() if s.current_player() >= 0]
    assert found.nodes["count"].sum() == found.kinds["chosen"].sum() == len(decisions)
    options = sum(len(state.legal_actions()) for state in decisions)
    assert (found.nodes["count"] * found.nodes["actions"]).sum() == options
    assert found.kinds["offered"].sum() == options


def test_a_game_that_is_not_over_is_refused() -> None:
    state = mrjack_ai.new_game()
    state.apply_action("jack JS")
    with pytest.raises(RecordError, match="not over"):
        take_apart([GameRecord.from_state(state)])


def test_wrong_accusations_are_on_the_board_too() -> None:
    state = mrjack_ai.new_game()
    for action in ("jack JS", "deal SH,JW,JS,IL", "pick JS"):
        state.apply_action(action)
    names = [state.action_to_string(action) for action in state.legal_actions()]
    (accusation, *_) = [name for name in names if name.startswith("accuse")]
    state.apply_action(accusation)
    (row,) = take_apart([GameRecord.from_state(state)]).hexes.itertuples(index=False)
    code = accusation.split()[1]
    assert tuple(row) == ("wrong accusation", code, state.positions[code], 1)


def test_branching_by_hand() -> None:
    nodes = table(
        (D, "use", 2, 3), (D, "use", 8, 1), (J, "aim", 6, 5), columns="player node actions count"
    )
    found = branching(nodes).set_index(["player", "node"])
    assert tuple(found.loc[(D, "use")]) == pytest.approx((4, 3.5, 2, 8, 1.5))
    assert tuple(found.loc[(J, "aim")]) == pytest.approx((5, 6, 6, 6, math.log2(6)))


def test_calls_by_turn_by_hand() -> None:
    calls = table(
        (0, 0, 1, 8, 4, True, 4),
        (1, 1, 1, 8, 2, True, 2),
        (0, 0, 2, 4, 4, True, 4),
        columns="game deal turn before alike seen after",
    )
    found = calls_by_turn(calls).set_index("turn")
    assert found.loc[1, ["games", "before", "after", "gain"]].tolist() == [2, 8, 3, 1.5]
    assert found.loc[1, "expected"] == pytest.approx((1 + 0.8112781) / 2)
    assert found.loc[1, "gain_low"] == pytest.approx(1.5 - 12.7062 * 0.5)  # t(0.975, 1)
    assert found.loc[1, ["before_low", "before_high"]].tolist() == [8, 8]
    assert found.loc[2, "gain"] == 0
    told = told_and_expected(calls)  # 1 of 1 bit expected, 0 of 0, 2 of 0.81
    assert (told.deals, told.value) == (2, pytest.approx((2 - 0.8112781) / 3))


def test_calls_tell_what_is_expected_where_answers_are_fair() -> None:
    """A game ends once one is left, so how many calls a deal has depends on what they told."""
    rng = np.random.default_rng(1)
    rows = []
    for deal in range(4000):
        before, turn = 8, 1
        while before > 1 and turn <= 8:
            alike = int(rng.integers(1, before))
            seen = bool(rng.random() < alike / before)
            after = alike if seen else before - alike
            rows.append((deal, deal, turn, before, alike, seen, after))
            before, turn = after, turn + 1
    found = told_and_expected(table(*rows, columns="game deal turn before alike seen after"))
    assert found.deals == 4000
    assert abs(found.value) < 0.02
    assert found.p > 0.001


def test_ratio_and_contrast_by_deals_by_hand() -> None:
    found = ratio_by_deals([0, 0, 1], [1, 2, 6], [1, 1, 1])
    # 3, residuals by deal 3 - 2 * 3 and 6 - 3; error sqrt(2 * (9 + 9)) / 3 = 2
    assert (found.deals, found.value) == (2, 3)
    assert found.high - found.value == pytest.approx(12.7062 * 2, rel=1e-4)
    weighed = ratio_by_deals([0, 1], [1, 3], [1, 3])
    assert (weighed.value, weighed.low, weighed.high) == (1, 1, 1)
    contrast = contrast_by_deals([0, 0, 1, 1], [1, 0, 1, 1], [True, False, True, False])
    # 1 - 1/2; by deal 0 + 1/4 and 0 - 1/4
    assert contrast.value == 0.5
    assert contrast.high - contrast.value == pytest.approx(12.7062 * 0.5, rel=1e-4)
    assert contrast_by_deals([0, 1], [1, 0], [True, True]).p == 1
    # Where every deal is one game on one side it is nearly the test of two groups of deals.
    rng = np.random.default_rng(2)
    score, first = rng.random(400), rng.random(400) < 0.3
    one = contrast_by_deals(np.arange(400), score, first)
    other = group_difference(score[first], score[~first])
    assert one.value == pytest.approx(other.value)
    assert one.high - one.low == pytest.approx(other.high - other.low, rel=0.02)


def test_who_plays_takes_all_games() -> None:
    plays, games = [], []
    for deal in range(30):
        for game in (2 * deal, 2 * deal + 1):
            player = D if deal % 2 else J
            plays.append((game, deal, 1, player, "SH"))
            plays.append((game, deal, 3, J, "SH"))  # later turns do not count
            games.append((deal, D if deal % 2 or deal == 0 else J))
    found = who_plays(table(*plays, columns="game deal turn player character"), table(*games))
    assert found.loc[0, "value"] == pytest.approx(1 - 1 / 15)
    assert found.loc[0, "significant"]


# -- strength -----------------------------------------------------------------------------


def test_matches_are_seen_from_the_one_that_thinks_more() -> None:
    two, four = "ismcts:sims=2", "ismcts:sims=4"
    games = table(
        (0, four, two, D),
        (0, two, four, J),
        (1, four, two, D),
        (1, two, four, D),
        columns="deal detective jack winner",
    )
    (found,) = matches(games).itertuples(index=False)
    assert (found.agent, found.against, found.pairs) == (four, two, 2)
    assert (found.share, found.as_detective, found.as_jack) == (0.75, 1.0, 0.5)
    assert found.elo == pytest.approx(400 * math.log10(3))
    assert found.p == pytest.approx(0.3173, abs=1e-4)  # one pair won, none lost: z = 1
    agents, ratings = rate_agents(games)
    assert agents == [two, four]
    frame = ratings_frame(agents, ratings)
    assert frame["rating"][0] == 0 < frame["rating"][1]
    assert list(frame["simulations"]) == [2, 4]


def test_fit_line_is_generalised_least_squares() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0])
    exact = fit_line(x, 5 - 2 * x, np.ones(4))
    np.testing.assert_allclose(exact.coefficients, [5, -2])
    assert exact.misfit == pytest.approx(0, abs=1e-18)
    assert exact.misfit_p() == 1
    # Ordinary least squares: the slope's variance is sigma^2 / sum (x - mean)^2.
    assert exact.covariance[1, 1] == pytest.approx(1 / 5)
    value, low, high = exact.interval(1)
    assert (value, high - low) == pytest.approx((-2, 2 * 1.959964 / math.sqrt(5)))
    # Two points with one common error: their difference has none, so the slope is theirs.
    common = fit_line(x[:3], np.array([0.0, 1.0, 9.0]), np.diag([1e-9, 1e-9, 1e9]) + 1)
    assert common.coefficients[1] == pytest.approx(1, abs=1e-6)
    with pytest.raises(ValueError, match="do not decide"):
        fit_line(x[:1], x[:1], np.ones(1))


def test_doubling_line_finds_the_slope_and_the_bend() -> None:
    agents = [f"ismcts:sims={50 * 2**n}" for n in range(5)]
    n = np.arange(5.0)
    covariance = np.diag([0.0, *[25.0] * 4, 9.0])
    ratings = Ratings(40 * n, 0.0, covariance, 1.96, 100, 50)
    line = doubling_line(agents, ratings)
    # Through the anchor: variance of the slope is sigma^2 / sum n^2.
    value, low, high = line.interval(1)
    assert (value, high - low) == pytest.approx((40, 2 * 1.959964 * 5 / math.sqrt(30)))
    np.testing.assert_allclose(line.at(np.array([0.0, 2.0]))[0], [0, 80])
    bent = Ratings(40 * n - 5 * n**2, 0.0, covariance, 1.96, 100, 50)
    curve = doubling_line(agents, bent, degree=2)
    np.testing.assert_allclose(curve.coefficients, [0, 40, -5])
    assert curve.p(2) < 0.05
    assert doubling_line(agents, ratings, 2).p(2) > 0.9


def test_thinking_times_by_hand() -> None:
    two, four = "ismcts:sims=2", "ismcts:sims=4"
    columns = (
        "deal detective jack detective_seconds jack_seconds detective_decisions jack_decisions"
    )
    games = table(
        (0, four, two, 0.4, 0.1, 10, 10), (1, two, four, 0.3, 0.8, 10, 20), columns=columns
    )
    found = thinking_times(games)
    assert list(found["simulations"]) == [2, 4]
    assert list(found["milliseconds"]) == pytest.approx([20, 40])
    assert found.loc[1, "low"] == pytest.approx(40)  # both games alike
    assert found.loc[0, "low"] < 20 < found.loc[0, "high"]


# -- words --------------------------------------------------------------------------------


def test_words_follow_the_numbers() -> None:
    assert "Detective is favoured" in sentences.side_text(wilson(90, 100))
    assert "Jack is favoured" in sentences.side_text(wilson(10, 100))
    assert "neither" in sentences.side_text(wilson(50, 100))
    found = Difference(50, 0.1, 0.02, 0.18, 0.01)
    rows = family({"x": found, "y": Difference(50, 0, -0.1, 0.1, 1.0)})
    text = sentences.significant_text(rows, lambda row: row["what"], "nothing")
    assert text == "- x"
    assert sentences.change_text(rows.iloc[0]) == "+10.0 points [+2.0, +18.0], corrected p = 0.02"
    assert sentences.significant_text(rows[1:], str, "nothing") == "nothing"
    assert [sentences.join(x) for x in ([], ["a"], ["a", "b", "c"])] == ["none", "a", "a, b and c"]


# -- the data -----------------------------------------------------------------------------


def test_variants_change_what_they_say() -> None:
    known = variants()
    assert known[STANDARD] == mrjack_ai.Variant()
    assert known["Jack starts"].first == known["6 turns, Jack starts"].first == "jack"
    assert known["6 turns"].turns == 6
    usual = dict(known[STANDARD].board.lit_gaslights)
    tiles = {name: dict(variant.board.lit_gaslights) for name, variant in known.items()}
    assert set(tiles["lamps stay"]) == set(usual)
    assert set(tiles["lamps stay"].values()) == {None}
    assert sorted(tiles["all lamps go"].values()) == [1, 2, 3, 4, 5, 6]
    assert sorted(tiles["four lamps"].values()) == [1, 2, 3, 4]
    assert len(tiles["seven lamps"]) == 7


def test_all_variants_play_the_same_deals() -> None:
    known = variants()
    for number in range(50):
        usual = seeded_deal(known[STANDARD], 1, number)
        for variant in known.values():
            deal = seeded_deal(variant, 1, number)
            assert (deal.identity, deal.pile) == (usual.identity, usual.pile)
            assert deal.deals == usual.deals[: len(deal.deals)]


@pytest.mark.parametrize("name", SIZES)
def test_studies_can_be_played(name: str) -> None:
    found = studies(SIZES[name])
    assert len({study.file_name for study in found}) == len(found)
    assert {study.name for study in found} == {"self-play", "variants", "doublings", "timed"}
    for study in found:
        study.settings.check_agents()
    played = {agent for agent, _ in SIZES[name].self_play}
    assert set(SIZES[name].anatomy) <= played


TINY_SIZE = Size(
    self_play=(("random", 6), ("cautious", 4)),
    variants=("random", 4),
    doublings=(("ismcts:sims=1", "ismcts:sims=2"), 2),
    timed=(("ismcts:time=1", "ismcts:time=2"), 2),
    anatomy=("random",),
    probes=3,
)


def test_data_carry_on_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken, cache = tmp_path / "whole", tmp_path / "broken", tmp_path / "cache"
    assert make_data(whole, TINY_SIZE, "tiny", tmp_path / "other")
    seen: list[str] = []

    def stop(text: str, finished: bool) -> None:
        seen.append(text)
        if len(seen) == 12:
            raise KeyboardInterrupt

    assert not make_data(broken, TINY_SIZE, "tiny", cache, report=stop)
    assert not list(broken.iterdir())
    assert make_data(broken, TINY_SIZE, "tiny", cache)
    one, other = load_data(whole), load_data(broken)
    steady = [name for name in one.games.columns if "seconds" not in name]
    untimed = one.games["study"] != "timed"
    pd.testing.assert_frame_equal(one.games[untimed][steady], other.games[untimed][steady])
    for name in TABLES[1:]:
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))
    assert {path.name for path in whole.iterdir()} == {
        "about.json",
        *(f"{name}.parquet" for name in TABLES),
    }
    assert one.about["games"] == len(one.games)
    assert one.about["agents"]["ismcts:sims=2"] == described_parameters("ismcts:sims=2")
    # Defaults may change between two runs.
    with monkeypatch.context() as patch:
        patch.setattr(data_module, "described_parameters", lambda agent: {"sims": 7})
        with pytest.raises(TournamentError, match="other parameters"):
            make_data(broken, TINY_SIZE, "tiny", cache)
    assert str(len(one.games)) in one.summary()
    assert str(tmp_path) not in json.dumps(one.about)
    assert len(one.study("self-play", STANDARD)) == 10
    assert set(one.plays["agent"]) == {"random"}
    assert one.games["detective_decisions"].dtype.kind == "i"


def test_games_frame_tells_what_was_dealt(tmp_path: Path) -> None:
    (study, *_) = studies(TINY_SIZE)
    path = tmp_path / "games.db"
    run_tournament(study.settings, out=path)
    games = games_frame(study, path)
    assert list(games["variant"].unique()) == [STANDARD]
    for row, record in zip(games.itertuples(), load_results(path).records, strict=True):
        final = record.replay()
        assert (row.identity, row.ending) == (final.identity, final.outcome().ending)
        assert f"deal {row.dealt}" == record.actions[1]
        assert row.winner == (D if row.ending == "caught" else J)


def test_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["data", str(tmp_path / "file" / "data")]) == 2
    assert "cannot write the data" in capsys.readouterr().err
    assert main(["data", str(tmp_path / "data"), "--workers", "0"]) == 2
    assert main(["run", str(tmp_path)]) == 2
    assert "no notebook" in capsys.readouterr().err
    with pytest.raises(TournamentError, match="makes them"):
        load_data(tmp_path)


# -- pictures -----------------------------------------------------------------------------


def test_figures_have_titles_units_and_intervals(tmp_path: Path) -> None:
    from mrjack_ai.studies import plots

    shares = rates(
        PAIRS.assign(agent=list("aaaabbbb"), variant=["x", "x", "y", "y"] * 2), ["agent", "variant"]
    )
    series = shares.assign(turn=[1, 2, 1, 2])
    line = fit_line(np.array([0.0, 1.0]), np.array([0.5, 0.7]), np.ones(2))
    fitted = plots.series_plot(
        series, "turn", "title", "turn", "share", columns=("share", "low", "high"), log_x=True
    )
    plots.add_line(fitted, line, np.array([0.0, 1.0]), [1, 2], "a line")
    ended = table((0, "caught"), (0, "dawn"), columns="agent ending")
    board = mrjack_ai.Variant().board
    figures = {
        "interval": plots.interval_plot(shares, "agent", "title", "share, %", group="variant"),
        "series": fitted,
        "bars": plots.ending_bars(ended, "agent", "title"),
        "at most": plots.distribution_plot({"a": pd.Series([1, 2, 2])}, "title", "n", "games, %"),
        "histogram": plots.histogram(pd.Series([1.0, 2.0]), "title", "n", "games, %"),
    }
    for name, figure in figures.items():
        (ax,) = figure.axes
        assert ax.get_title(loc="left") == "title", name
        assert ax.get_xlabel(), name
        figure.savefig(tmp_path / f"{name}.png")
    assert len(figures["interval"].axes[0].containers) == 2  # a group each, with error bars
    legend = [text.get_text() for text in fitted.axes[0].get_legend().get_texts()]
    assert legend == ["a line"]
    (steps,) = figures["at most"].axes[0].lines
    assert steps.get_xdata().tolist() == [1, 1, 2, 2]
    np.testing.assert_allclose(steps.get_ydata(), [0, 100 / 3, 200 / 3, 100])
    lengths = [bar.get_width() for bar in figures["bars"].axes[0].patches]
    assert lengths == [50, 50]
    maps = plots.heat_maps(board, {"here": {"e5": 1.0}, "nowhere": {}}, "title", "share")
    maps.savefig(tmp_path / "maps.png")
    assert maps.get_suptitle() == "title"
    assert [ax.get_xlabel() for ax in maps.axes[2:]] == ["share", "share"]


def test_infinite_intervals_run_out_of_the_picture() -> None:
    from mrjack_ai.studies import plots

    columns = "agent elo elo_low elo_high"
    rows = table(("a", 10.0, -5.0, 30.0), ("b", 20.0, 0.0, math.inf), columns=columns)
    names = ("elo", "elo_low", "elo_high")
    (ax,) = plots.interval_plot(rows, "agent", "title", "Elo", columns=names, scale=1).axes
    low, high = ax.get_xlim()
    assert -10 < low < -5
    assert 30 < high < 40
    (lines,) = (container.lines[2] for container in ax.containers)
    ends = [segment[1][0] for segment in lines[0].get_segments()]
    assert ends[0] == 30
    assert ends[1] > high


@pytest.mark.parametrize("name", ["lamps stay", "all lamps go", "four lamps", "seven lamps"])
def test_boards_with_other_tiles_can_be_played(name: str) -> None:
    settings = Settings(("random",), 2, 1, variants()[name], "self-play")
    assert run_tournament(settings).complete


def test_folders_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "/"]) == 2
    assert "give one with a name" in capsys.readouterr().err
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (tmp_path / "here-small-games").write_text("in the way")
    assert main(["data", ".", "--size", "small"]) == 2  # what is beside the folder is looked at
    assert "here-small-games" in capsys.readouterr().err


def test_a_file_that_is_no_notebook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.ipynb"
    for text in ("[]", "{}", "1", "nothing"):
        path.write_text(text)
        assert main(["run", str(path)]) == 2
        error = capsys.readouterr().err
        assert "no notebook" in error
        assert "Traceback" not in error
