"""The laboratory: public trees, solvers, best responses, and how exploitable agents are."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrjack_ai import make_variant, new_game
from mrjack_ai.agents import Agent, make_agent
from mrjack_ai.cli.main import main
from mrjack_ai.errors import AgentError, LabError
from mrjack_ai.lab.agent import EquilibriumAgent
from mrjack_ai.lab.agent_policies import ask_agent, exploit, policy_of
from mrjack_ai.lab.expansion import NODE, PublicNode
from mrjack_ai.lab.information_states import actions_at, information_states, state_at
from mrjack_ai.lab.linear import best_pure_value, solve_linear
from mrjack_ai.lab.miniatures import miniature
from mrjack_ai.lab.public_tree import PublicTree, build_public_tree
from mrjack_ai.lab.solution import Solution, checkpoint_of, solve
from mrjack_ai.lab.solver import METHODS, RANGE, Solver, TreeEvaluator
from mrjack_ai.setup.variant import Player, Variant
from mrjack_ai.tournament import Settings, run_tournament

TINY = make_variant("mews", "SH+JW", 2)
"""With alibi cards for both players: 3,245 histories."""


@pytest.fixture(scope="module")
def micro() -> PublicTree:
    return build_public_tree(miniature("micro"))


@pytest.fixture(scope="module")
def tiny() -> PublicTree:
    return build_public_tree(TINY)


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lab") / "micro.npz"
    solve(miniature("micro"), path, target=1e-5)
    return path


# -- the public tree ----------------------------------------------------------------------


def histories(variant: Variant) -> int:
    states, count = [new_game(variant)], 0
    while states:
        state = states.pop()
        count += 1
        states += [state.child(action) for action in state.legal_actions()]
    return count


VARIANTS = {
    "holmes draws": TINY,
    "two cards a turn": make_variant("mews", "SH+JS+IL+MS", 1),
    "jack begins": make_variant("mews", "MS+SG", 2, "jack"),
    "a swap moves watson": make_variant("mews", "JW+WG", 2),
}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_the_public_tree_holds_every_history(variant: Variant) -> None:
    assert build_public_tree(variant).histories == histories(variant)


def test_sizes_of_the_miniatures() -> None:
    micro = build_public_tree(miniature("micro"))
    assert (len(micro.nodes), micro.histories) == (7_385, 19_735)
    assert micro.histories == histories(miniature("micro"))
    mini = build_public_tree(miniature("mini"))
    assert (len(mini.nodes), mini.histories) == (1_358_509, 2_610_843)


def test_a_tree_that_is_too_large_is_refused() -> None:
    with pytest.raises(LabError, match="more than 5000 nodes"):
        build_public_tree(miniature("mini"), most=5000)


def test_perfect_recall_of_micro() -> None:
    """States of one information state have the same own information states and actions behind."""
    behind: dict[tuple[int, str], set[tuple[tuple[str, int], ...]]] = defaultdict(set)
    stack = [(new_game(miniature("micro")), ((), ()))]
    while stack:
        state, memories = stack.pop()
        if state.is_terminal():
            continue
        player = state.current_player()
        if player >= 0:
            string = state.information_state_string(player)
            behind[player, string].add(memories[player])
        for action in state.legal_actions():
            after = list(memories)
            if player >= 0:
                after[player] = (*memories[player], (string, action))
            stack.append((state.child(action), (after[0], after[1])))
    assert len(behind) > 1000
    assert all(len(found) == 1 for found in behind.values())


def test_information_states_are_those_of_the_game(tiny: PublicTree) -> None:
    strings: dict[str, tuple[int, ...]] = {}
    stack = [new_game(TINY)]
    while stack:
        state = stack.pop()
        if state.current_player() >= 0:
            strings[state.information_state_string()] = tuple(state.legal_actions())
        stack += [state.child(action) for action in state.legal_actions()]
    found = {}
    evaluator = TreeEvaluator(tiny)
    uniform = evaluator.uniform()
    for at, player, private in information_states(tiny):
        state = state_at(tiny, at, private)
        assert state.current_player() == player
        shares = uniform[evaluator.block(at)].reshape(-1, evaluator.states[at])[:, private]
        actions = actions_at(tiny, at)[shares > 0]
        found[state.information_state_string()] = tuple(actions.tolist())
    assert found == strings


# -- a game solved by hand ----------------------------------------------------------------


@pytest.fixture
def by_hand() -> PublicTree:
    """Two suspects, A and B. Jack goes to one of two places; at each the Detective accuses the one
    who is near, for certain, or goes for the other and gets there half of the time. A is near in
    the second place, B in the first.

    Let each play where the other is near with probability p. There the Detective catches the far
    one with p / 2, the near one with 1 - p: these are equal at p = 2/3, where one game in three
    is won, so the value is -1/3. Jack is indifferent when the far one is chased with q such that
    q / 2 = 1 - q: q = 2/3.
    """
    rows = [
        # parent, first, children, slot, slots, kind, accused
        (-1, 1, 2, 0, 2, PublicNode.JACK_DECIDES, 0),
        (0, 3, 2, 0, 2, PublicNode.DETECTIVE_DECIDES, 0),
        (0, 5, 2, 1, 2, PublicNode.DETECTIVE_DECIDES, 0),
        (1, 7, 2, 0, 2, PublicNode.CARDS_DEALT, 0),
        (1, 0, 0, 1, 0, PublicNode.ACCUSED, 1),
        (2, 9, 2, 0, 2, PublicNode.CARDS_DEALT, 0),
        (2, 0, 0, 1, 0, PublicNode.ACCUSED, 0),
        (3, 0, 0, 0, 0, PublicNode.ACCUSED, 0),
        (3, 0, 0, 1, 0, PublicNode.JACK_GONE, 0),
        (5, 0, 0, 0, 0, PublicNode.ACCUSED, 1),
        (5, 0, 0, 1, 0, PublicNode.JACK_GONE, 0),
    ]
    nodes = np.zeros(len(rows), NODE)
    nodes["identities"] = 0b11
    for at, (parent, first, children, slot, slots, kind, accused) in enumerate(rows):
        nodes[at]["parent"], nodes[at]["first"], nodes[at]["children"] = parent, first, children
        nodes[at]["slot"] = nodes[at]["action"] = slot
        nodes[at]["slots"], nodes[at]["kind"], nodes[at]["accused"] = slots, kind, accused
    return PublicTree(TINY, nodes, np.array([0, 1, 3, 7, 11]))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_mixture_found_by_hand(by_hand: PublicTree, method: str) -> None:
    solver = Solver(by_hand, method)
    solver.iterate(4000 if method == "cfr" else 2000)
    near = 0.02 if method == "cfr" else 0.001
    assert solver.exploitability().value == pytest.approx(-1 / 3, abs=near)
    policy = solver.average_policy()
    block = solver.evaluator.block
    assert policy[block(0)] == pytest.approx([2 / 3, 1 / 3, 1 / 3, 2 / 3], abs=near)
    assert policy[block(1)] == pytest.approx([2 / 3, 1 / 3], abs=near)
    assert policy[block(2)] == pytest.approx([2 / 3, 1 / 3], abs=near)


def test_linear_programming_finds_it_too(by_hand: PublicTree) -> None:
    value, policy = solve_linear(by_hand)
    assert value == pytest.approx(-1 / 3)
    assert policy[:4] == pytest.approx([2 / 3, 1 / 3, 1 / 3, 2 / 3])
    assert TreeEvaluator(by_hand).evaluate(policy).nash_conv == pytest.approx(0, abs=1e-9)


def test_the_best_pure_policies_of_the_game_solved_by_hand(by_hand: PublicTree) -> None:
    # Whoever is chased, Jack keeps away: a pure Detective catches one suspect half of the time.
    assert best_pure_value(by_hand, Player.DETECTIVE) == pytest.approx(-1 / 2)
    # Both far: each is caught half of the time where the other never is.
    assert best_pure_value(by_hand, Player.JACK) == pytest.approx(0)


# -- against OpenSpiel --------------------------------------------------------------------


def as_tabular(tree: PublicTree, policy: np.ndarray) -> tuple[pyspiel.Game, object]:
    from open_spiel.python.policy import TabularPolicy

    variant = tree.variant
    game = pyspiel.load_game(
        "mrjack",
        {
            "board": variant.board.name,
            "cast": "+".join(variant.cast),
            "turns": variant.turns,
            "first": variant.first,
        },
    )
    tabular = TabularPolicy(game)
    evaluator = TreeEvaluator(tree)
    for at, player, private in information_states(tree):
        string = state_at(tree, at, private).information_state_string(player)
        row = tabular.action_probability_array[tabular.state_lookup[string]]
        table = policy[evaluator.block(at)].reshape(-1, evaluator.states[at])
        row[:] = 0
        row[actions_at(tree, at)] = table[:, private]
    return game, tabular


def compare_with_openspiel(tree: PublicTree, iterations: int) -> None:
    from open_spiel.python.algorithms import expected_game_score, exploitability

    solver = Solver(tree, "cfr+")
    solver.iterate(iterations)
    policy = solver.average_policy()
    game, tabular = as_tabular(tree, policy)
    found = solver.exploitability()
    assert found.nash_conv == pytest.approx(exploitability.nash_conv(game, tabular), abs=1e-6)
    value = expected_game_score.policy_value(game.new_initial_state(), [tabular, tabular])[0]
    assert found.value == pytest.approx(value, abs=1e-6)


def test_value_and_exploitability_agree_with_openspiel(tiny: PublicTree) -> None:
    compare_with_openspiel(tiny, 5)


@pytest.mark.slow
def test_value_and_exploitability_agree_with_openspiel_on_micro(micro: PublicTree) -> None:
    compare_with_openspiel(micro, 20)


@pytest.mark.parametrize("plus", [False, True])
def test_iterates_agree_with_openspiel(tiny: PublicTree, plus: bool) -> None:
    from open_spiel.python.algorithms import cfr, exploitability

    game, _ = as_tabular(tiny, TreeEvaluator(tiny).uniform())
    theirs = cfr.CFRPlusSolver(game) if plus else cfr.CFRSolver(game)
    ours = Solver(tiny, "cfr+" if plus else "cfr")
    for _ in range(4):
        theirs.evaluate_and_update_policy()
        ours.iterate()
    conv = exploitability.nash_conv(game, theirs.average_policy())
    assert ours.exploitability().nash_conv == pytest.approx(conv, abs=0.05)


@pytest.mark.slow
def test_external_sampling_of_openspiel_learns_micro(micro: PublicTree) -> None:
    from open_spiel.python.algorithms import exploitability, external_sampling_mccfr

    game, _ = as_tabular(micro, TreeEvaluator(micro).uniform())
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    np.random.seed(1)  # noqa: NPY002 - what the solver draws from
    convs = []
    for iterations in (20, 4000):
        for _ in range(iterations):
            solver.iteration()
        convs.append(exploitability.nash_conv(game, solver.average_policy()))
    assert convs[1] < convs[0]


# -- solvers ------------------------------------------------------------------------------


def test_linear_programming_and_regret_minimisation_agree(micro: PublicTree) -> None:
    value, policy = solve_linear(micro)
    found = TreeEvaluator(micro).evaluate(policy)
    assert found.nash_conv == pytest.approx(0, abs=1e-9)
    assert value == pytest.approx(-5 / 12)
    for method in ("cfr+", "dcfr", "pcfr+"):
        solver = Solver(micro, method)
        solver.iterate(300)
        solved = solver.exploitability()
        assert solved.value == pytest.approx(value, abs=0.01)
        assert 0 <= solved.nash_conv < 0.01
        # The value of the game lies between what each is sure of.
        assert -solved.jack_best - 1e-9 <= value <= solved.detective_best + 1e-9


def test_both_players_of_micro_have_to_mix(micro: PublicTree) -> None:
    """The best pure policy is sure of less than the value by more than 2 % of the range."""
    value = solve_linear(micro)[0]
    assert value - best_pure_value(micro, Player.DETECTIVE) > 0.02 * RANGE
    assert -value - best_pure_value(micro, Player.JACK) > 0.02 * RANGE


@given(seed=st.integers(0, 2**32 - 1))
def test_best_responses_are_at_least_as_good(seed: int) -> None:
    tree = build_public_tree(TINY)
    evaluator = TreeEvaluator(tree)
    policy = evaluator.normalise(np.random.default_rng(seed).random(evaluator.entries))
    legal = evaluator.uniform() > 0
    policy = evaluator.normalise(policy * legal)
    found = evaluator.evaluate(policy)
    assert found.nash_conv >= -1e-12
    assert found.detective_best >= found.value - 1e-12
    assert found.jack_best >= -found.value - 1e-12
    for player, best in ((Player.DETECTIVE, found.detective_best), (Player.JACK, found.jack_best)):
        value, response = evaluator.best_response(player, policy)
        assert value == pytest.approx(best)
        answered = evaluator.evaluate(response)
        assert answered.value == pytest.approx(best if player == Player.DETECTIVE else -best)


def test_threads_do_not_change_a_bit(micro: PublicTree) -> None:
    one, two = Solver(micro, "pcfr+", 1), Solver(micro, "pcfr+", 2)
    one.iterate(20)
    two.iterate(20)
    assert (np.diff(micro.levels) >= 2048).any(), "some level is cut among threads"
    assert one.average_policy().tobytes() == two.average_policy().tobytes()


def test_changing_a_probability_of_the_solution_raises_exploitability(micro: PublicTree) -> None:
    evaluator = TreeEvaluator(micro)
    _, policy = solve_linear(micro)
    evaluator.pass_down(policy)
    raised = 0
    for at in np.flatnonzero(micro.nodes["kind"] == PublicNode.JACK_DECIDES)[:6].tolist():
        changed = policy.copy()
        table = changed[evaluator.block(at)].reshape(-1, evaluator.states[at])
        legal = evaluator.uniform()[evaluator.block(at)].reshape(table.shape) > 0
        table[:] = np.where(legal, 0.5 * table + 0.5 * table[::-1], 0)
        changed[evaluator.block(at)] = table.ravel()
        changed = evaluator.normalise(changed)
        conv = evaluator.evaluate(changed).nash_conv
        assert conv > -1e-9
        raised += conv > 1e-3
    assert raised >= 3


def test_unknown_method_and_miniature() -> None:
    with pytest.raises(LabError, match="cfr, cfr"):
        Solver(build_public_tree(TINY), "magic")
    with pytest.raises(LabError, match="micro, mini, small"):
        miniature("nano")


# -- solutions ----------------------------------------------------------------------------


def test_an_interrupted_solver_goes_on_to_the_same_iterate(tmp_path: Path) -> None:
    whole = solve(TINY, tmp_path / "whole.npz", target=0, iterations=63)
    seen = []

    def stop(row: object) -> None:
        seen.append(row)
        if len(seen) == 3:
            raise KeyboardInterrupt

    broken = tmp_path / "broken.npz"
    with pytest.raises(KeyboardInterrupt):
        solve(TINY, broken, target=0, iterations=63, progress=stop)
    assert checkpoint_of(broken).exists()
    assert not broken.exists()
    rest = solve(TINY, broken, target=0, iterations=63)
    assert rest.iterations == whole.iterations == 63
    assert rest.policy.tobytes() == whole.policy.tobytes()
    assert not checkpoint_of(broken).exists()


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out.npz"

    def stop(row: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(TINY, out, progress=stop)
    with pytest.raises(LabError, match="another variant"):
        solve(make_variant("mews", "MS+SG", 2), out)
    with pytest.raises(LabError, match="another variant or method"):
        solve(TINY, out, method="cfr")
    checkpoint_of(out).write_bytes(b"no archive")
    with pytest.raises(LabError, match="cannot go on"):
        solve(TINY, out)


def test_a_solution_is_read_as_it_was_written(solved: Path) -> None:
    solution = Solution.load(solved)
    assert solution.variant == miniature("micro")
    found = solution.evaluator.evaluate(solution.policy)
    assert found.nash_conv < 1e-4
    assert found.value == pytest.approx(-5 / 12, abs=1e-4)


@given(data=st.binary(max_size=300), at=st.floats(0, 1))
def test_damaged_solutions_are_refused(solved: Path, data: bytes, at: float) -> None:
    whole = solved.read_bytes()
    place = int(at * len(whole))
    path = solved.with_name("damaged.npz")
    damaged = whole[:place] + data + whole[place + len(data) :]
    path.write_bytes(damaged)
    try:
        solution = Solution.load(path)
        assert damaged == whole or solution.policy.ndim == 1
    except LabError as error:
        assert len(str(error)) < 500  # noqa: PT017 - either is right


def test_belief_is_that_of_bayes(micro: PublicTree) -> None:
    """Against weights multiplied along the actions of the states themselves."""
    solver = Solver(micro, "pcfr+")
    solver.iterate(3)
    policy = solver.average_policy()
    solution = Solution(micro.variant, policy, "pcfr+", 3, np.zeros((1, 4)))
    checked = 0
    rng = np.random.default_rng(5)
    while checked < 40:
        jack = int(rng.integers(4))
        state = new_game(micro.variant)
        state.apply_action(jack)
        weights = np.full(4, 0.25)
        while not state.is_terminal():
            legal = state.legal_actions()
            action = legal[int(rng.integers(len(legal)))]
            if state.current_player() == Player.JACK:
                at, _ = solution.node_of(state.observation(Player.JACK))
                slot = solution.actions(at).tolist().index(action)
                for seat in range(4):
                    weights[seat] *= solution.probabilities(at, seat)[slot]
            state.apply_action(action)
            for seat, code in enumerate(micro.variant.cast):
                if code not in state.suspects():
                    weights[seat] = 0
            if state.current_player() == Player.DETECTIVE and weights.sum() > 0:
                at, _ = solution.node_of(state.observation(Player.DETECTIVE))
                assert solution.belief(at) == pytest.approx(weights / weights.sum())
                checked += 1


# -- agents -------------------------------------------------------------------------------


def test_random_is_as_exploitable_as_openspiel_says(tiny: PublicTree) -> None:
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.policy import UniformRandomPolicy

    game, _ = as_tabular(tiny, TreeEvaluator(tiny).uniform())
    found = exploit(tiny, "random")
    conv = exploitability.nash_conv(game, UniformRandomPolicy(game))
    assert sum(side.high for side in found) == pytest.approx(conv)
    assert all(side.low == side.high and side.samples == 0 for side in found)


class FirstAction(Agent):
    """Only acts, and always alike."""

    def act(self, observation):  # type: ignore[no-untyped-def]
        return observation.actions[0]


class Coin(Agent):
    """Only acts: the first or the last action."""

    def act(self, observation):  # type: ignore[no-untyped-def]
        return observation.actions[-int(self.rng.integers(2))]


def test_an_agent_that_only_acts_is_asked(tiny: PublicTree) -> None:
    evaluator = TreeEvaluator(tiny)
    for player in (Player.DETECTIVE, Player.JACK):
        asked = ask_agent(evaluator, FirstAction(), player, samples=2)
        policy = policy_of(evaluator, asked)
        for at, _, private in information_states(tiny, player):
            table = asked.counts.sum(axis=0)[evaluator.block(at)]
            shares = table.reshape(-1, evaluator.states[at])[:, private]
            if shares.sum() > 0:
                first = state_at(tiny, at, private).legal_actions()[0]
                slot = actions_at(tiny, at).tolist().index(first)
                assert shares[slot] == shares.sum()
        assert policy.shape == (evaluator.entries,)


def test_sampling_brackets_the_truth(tiny: PublicTree) -> None:
    (few,) = exploit(tiny, Coin(), samples=4, players=(Player.JACK,))
    (many,) = exploit(tiny, Coin(), samples=64, players=(Player.JACK,))
    assert few.low <= many.high
    assert many.high <= few.high
    assert many.high - many.low <= few.high - few.low


def test_the_equilibrium_plays_and_is_hardly_exploitable(solved: Path, micro: PublicTree) -> None:
    found = exploit(micro, f"equilibrium:{solved}")
    assert sum(side.high for side in found) < 1e-4
    settings = Settings(
        (f"equilibrium:{solved}", "greedy"), games=40, seed=3, variant=miniature("micro")
    )
    results = run_tournament(settings, strict=True)
    assert len(results.records) == 40


def test_the_equilibrium_of_another_variant(solved: Path) -> None:
    agent = make_agent(f"equilibrium:{solved}")
    with pytest.raises(AgentError, match="another variant"):
        agent.start(TINY, 0, np.random.default_rng(1))
    with pytest.raises(AgentError, match="name a file"):
        make_agent("equilibrium")
    with pytest.raises(AgentError, match="cannot read a solution"):
        make_agent("equilibrium:nowhere.npz")


def test_a_solution_is_read_once_and_again_when_its_file_is_another(
    tmp_path: Path, solved: Path
) -> None:
    path = tmp_path / "micro.npz"
    path.write_bytes(solved.read_bytes())
    first = EquilibriumAgent(str(path))
    assert EquilibriumAgent(str(path))._solution is first._solution
    solution = Solution.load(path)
    replace(solution, policy=solution.evaluator.uniform()).write(path)
    at, player, private = next(
        (at, player, private)
        for at, player, private in information_states(solution.tree)
        if np.ptp(solution.probabilities(at, private)) > 0.1
    )
    observation = state_at(solution.tree, at, private).observation(player)
    policies = []
    for agent in (first, EquilibriumAgent(str(path))):
        agent.start(solution.variant, player, np.random.default_rng(1))
        policies.append(agent.policy(observation))
    assert len(set(policies[1].tolist())) == 1 < len(set(policies[0].tolist()))
    path.unlink()
    with pytest.raises(LabError, match="cannot read a solution"):
        EquilibriumAgent(str(path))


def test_cheats_are_not_measured(tiny: PublicTree) -> None:
    with pytest.raises(AgentError, match="is shown the truth"):
        exploit(tiny, "omniscient")


# -- the command --------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["lab", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_solve_strategy_and_exploit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "micro.npz")
    code, text, _ = run(capsys, "solve", "--out", out, "--target", "0.01")
    assert code == 0
    assert "19735 histories" in text
    assert f"the solution is in {out}" in text
    code, text, _ = run(capsys, "strategy", out)
    assert code == 0
    assert "Next: deal JS,IL, deal JS,MS" in text
    code, text, _ = run(capsys, "strategy", out, "deal JS,MS")
    assert "The Detective believes: JS 25.0 %, IL 25.0 %, MS 25.0 %, JB 25.0 %" in text
    assert "as JS" in text
    assert "pick JS" in text
    code, text, _ = run(capsys, "exploit", "greedy", "--solution", out)
    assert code == 0
    assert "as Detective" not in text
    assert "NashConv" in text


def test_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str], solved: Path) -> None:
    for words, message in (
        (["solve", "--variant", "nano"], "nano"),
        (["solve", "--target", "2"], "--target"),
        (["solve", "--target", "nan"], "--target"),
        (["strategy", str(tmp_path / "none.npz")], "none.npz"),
        (["strategy", str(solved), "pick JS"], "possible are deal JS,IL"),
        (["exploit", "gredy"], "did you mean 'greedy'"),
        (["exploit", "ismcts:sims=10", "--samples", "3"], "must be even"),
    ):
        code, _, errors = run(capsys, *words)
        assert code == 2, words
        assert message in errors
        assert len(errors) < 600
