"""The fitted value function, its weights, and the belief that takes plays as evidence."""

from __future__ import annotations

import itertools
import json
import pickle
import random
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import mrjack_ai
from mrjack_ai import AgentError, NotationError, State
from mrjack_ai.agents import PlayEvidence, analyse, make_agent
from mrjack_ai.engine.tables import build_tables
from mrjack_ai.game.belief import identity_probabilities, possible_identities, public_identities
from mrjack_ai.search import kernels as engine
from mrjack_ai.search import value_network
from mrjack_ai.search.opponent_model import UNIFORM_SHARE
from mrjack_ai.search.tree import SearchSettings, Tree
from mrjack_ai.search.weights import load_weights, save_weights
from mrjack_ai.setup.variant import DETECTIVE, JACK, Variant, make_variant
from mrjack_ai.tournament import Settings, run_tournament

VARIANTS = (
    Variant(),
    make_variant("whitechapel_2016", "SH+JW+SG+WG", 4, "jack"),
    make_variant("mews"),
    make_variant("mews", "IL+MS", 6),
)


def random_game(variant: Variant, seed: int) -> list[State]:
    """All states of a game at random in which nobody accuses early."""
    choose = random.Random(seed)
    state, found = mrjack_ai.new_game(variant), []
    while not state.is_terminal():
        actions = state.legal_actions()
        quiet = [a for a in actions if not state.action_to_string(a).startswith("accuse")]
        state = state.child(choose.choice(quiet or actions))
        found.append(state)
    return found


def described(states: list[State]) -> np.ndarray:
    positions = np.array([state.position_words() for state in states])
    rows = np.zeros((len(states), value_network.ACTIVE), np.int64)
    value_network.describe_positions(positions, build_tables(states[0].variant), rows)
    return rows


def reference_values(states: list[State], weights: np.ndarray) -> np.ndarray:
    """The network as plain arrays: hidden sums clipped to 0..1, a sigmoid at the end."""
    size = value_network.ROWS * value_network.HIDDEN
    table = weights[:size].reshape(value_network.ROWS, value_network.HIDDEN).astype(np.float64)
    bias, output = weights[size:-1].reshape(2, value_network.HIDDEN).astype(np.float64)
    hidden = np.clip(table[described(states)].sum(axis=1) + bias, 0, 1)
    total = hidden @ output + float(weights[-1])
    return total / np.sqrt(1 + total**2)


@pytest.mark.boundscheck
@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_stay_in_their_feature(variant: Variant) -> None:
    """Each feature has rows of its own: one beyond its end would be read from the next."""
    seen = np.zeros(value_network.ROWS, bool)
    for seed in range(30):
        states = [state for state in random_game(variant, seed) if not state.is_terminal()]
        rows = described(states)
        assert (rows >= value_network.OFFSETS[:-1]).all()
        assert (rows < value_network.OFFSETS[1:]).all()
        seen[rows.ravel()] = True
    assert seen.sum() > 150
    if variant == Variant():
        for number in range(value_network.ACTIVE):
            used = seen[value_network.OFFSETS[number] : value_network.OFFSETS[number + 1]]
            assert used.sum() > 5, f"feature {number} says next to nothing"


def one_search_value(state: State, weights: str = "fitted") -> tuple[int, float]:
    """An action and the Detective's value after it: what a search of one simulation finds."""
    agent = make_agent(f"omniscient:sims=1,eval={weights},order=random,rollout=none")
    agent.start(state.variant, state.current_player(), np.random.default_rng(0))
    agent.see(state)
    found = agent.search(state.observation())
    at = int(np.flatnonzero(found.visits)[0])
    sign = 1 if state.current_player() == DETECTIVE else -1
    return int(found.actions[at]), sign * float(found.values[at])


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_compiled_value_is_that_of_the_network(variant: Variant) -> None:
    compared = 0
    for seed in range(12):
        for state in random_game(variant, seed)[:: 3 if len(variant.cast) == 8 else 1]:
            if state.is_terminal() or state.is_chance_node() or len(state.legal_actions()) < 2:
                continue
            action, found = one_search_value(state)
            child = state.child(action)
            if child.is_terminal():
                assert found == child.returns()[DETECTIVE]
            else:
                expected = reference_values([child], load_weights())[0]
                assert found == pytest.approx(expected, abs=1e-5)
                compared += 1
    assert compared > 10


def test_the_weights_know_a_position_that_is_won() -> None:
    """One suspect left, and in reach of a card of the Detective's, who is to play."""
    one_left = "cleared=SH,JW,IL,MS,SG,WG,JB dealt=SH,JW,MS,IL cards=SH,JW,MS,IL turn=3 jack=JS"
    near = " SH=g5 JS=g6 JW=a3:N"
    won, open_still = State(one_left + near), State(one_left[one_left.index("dealt") :] + near)
    found = reference_values([won, open_still], load_weights())
    assert found[0] > 0.9
    assert abs(found[1]) < 0.5


def test_record_of_the_weights() -> None:
    """The package says how its weights were made, and in games they tell who will win."""
    text = (resources.files("mrjack_ai.search") / "data" / "value.json").read_text(encoding="utf-8")
    record = json.loads(text)
    assert record["rows"] == value_network.ROWS
    assert record["hidden_units"] == value_network.HIDDEN
    assert record["test_loss"] < 0.9 * record["loss_without_features"]
    settings = Settings(("ismcts:sims=40", "ismcts:sims=41"), 30, 5, Variant())
    means: dict[bool, list[float]] = {True: [], False: []}
    for game in run_tournament(settings).records:
        states = list(game.states())[2:-1]
        won = game.ending == "caught"
        means[won].append(float(reference_values(states, load_weights()).mean()))
    assert np.mean(means[True]) > np.mean(means[False]) + 0.1


def test_actions_are_tried_in_the_order_of_their_fitted_values() -> None:
    """From the second visit of the root on: what the heuristic preferred is forgotten."""
    compared = 0
    for seed in range(20):
        for state in random_game(Variant(), seed)[6::6]:
            if state.is_terminal() or state.current_player() != JACK:
                continue
            if len(state.legal_actions()) < 12 or state.alibi_count(0) + state.alibi_count(1):
                continue  # hidden cards would be sampled, and ratings differ
            agent = make_agent("ismcts:sims=1,refine=1,reuse=false,widening=1000")
            agent.start(state.variant, JACK, np.random.default_rng(1))
            order: list[int] = []
            for sims in range(1, 8):
                grown = Tree(
                    state.observation(), engine.SINGLE_OBSERVER, agent._settings, 1, None, None
                )
                grown.run(sims)
                found = grown.statistics()
                order += [int(a) for a in found.actions[found.visits > 0] if a not in order]
            children = [state.child(action) for action in order]
            if any(child.is_terminal() for child in children):
                continue
            ratings = -reference_values(children, load_weights())
            # Ties are broken by up to a thousandth.
            assert all(a >= b - 0.002 for a, b in itertools.pairwise(ratings[1:]))
            compared += 1
    assert compared >= 5


def test_the_rule_of_thumb_counts_the_turn_that_is_dealt() -> None:
    """Before the last turn's deal the Detective's cards are still to come."""
    found = {}
    for turns in (7, 8):
        variant = make_variant("whitechapel", turns=turns)
        text = "turn=6 node=use jack=JS dealt=JS,IL,SG,JB cards=WG using=WG ability=open "
        text += "SH=a1 JS=l12 WG=e9"
        state = State(text, variant)
        assert state.current_player() == JACK
        child = next(state.child(a) for a in state.legal_actions() if state.child(a).node == "deal")
        action = next(a for a in state.legal_actions() if state.child(a) == child)
        settings = SearchSettings(0.7, engine.ROLLOUT_NONE, 1, 1e9, 1.0, engine.ORDER_RANDOM)
        grown = Tree(state.observation(), engine.FIXED_WORLD, settings, 1, state)
        grown.run(400)
        statistics = grown.statistics()
        found[turns] = statistics.values[list(statistics.actions).index(action)]
    assert found[7] < 0.95
    assert found[8] < 0.95


# -- weights files ------------------------------------------------------------------------


def arrays(rows: int = value_network.ROWS, fill: float = 0.0) -> list[np.ndarray]:
    hidden = value_network.HIDDEN
    return [np.full((rows, hidden), fill), np.zeros(hidden), np.zeros(hidden), np.zeros(1)]


def test_weights_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "own.npz"
    parts = arrays()
    parts[3][0] = 3.0
    save_weights(file, *parts)
    state = State("jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL")
    assert one_search_value(state, str(file))[1] == pytest.approx(3 / np.sqrt(10))


def test_bad_weights_files(tmp_path: Path) -> None:
    file = tmp_path / "bad.npz"
    np.savez(tmp_path / "whole.npz", rows=np.zeros(3))
    truncated = (tmp_path / "whole.npz").read_bytes()[:-30]
    np.save(tmp_path / "array.npy", np.zeros(3))
    for content in (b"", b"no weights", truncated, (tmp_path / "array.npy").read_bytes(), None):
        if content is not None:
            file.write_bytes(content)
        else:
            file.unlink()
        load_weights.cache_clear()
        with pytest.raises(AgentError, match=r"bad\.npz"):
            make_agent(f"ismcts:eval={file}")
    for parts, message in (
        (arrays(rows=5), "fit them again"),
        (arrays(fill=np.nan), "no finite numbers"),
    ):
        save_weights(file, *parts)
        load_weights.cache_clear()
        with pytest.raises(AgentError, match=message):
            make_agent(f"ismcts:eval={file}")
    np.savez(file, rows=np.array(["text"]), bias=[0], output=[0], output_bias=[0])
    load_weights.cache_clear()
    with pytest.raises(AgentError, match=r"bad\.npz"):
        make_agent(f"ismcts:eval={file}")
    np.savez(file, rows=np.zeros(3))
    load_weights.cache_clear()
    with pytest.raises(AgentError, match="cannot read"):
        make_agent(f"ismcts:eval={file}")


# -- plays as evidence --------------------------------------------------------------------


def as_jack(state: State, seat: int) -> State:
    """The position with another Jack, and no alibi cards of the Detective's."""
    text = " ".join(
        f"jack={state.variant.cast[seat]}" if word.startswith("jack=") else word
        for word in str(state).split()
    )
    return State(text, state.variant)


def reference_chances(state: State, action: int, seat: int, inverse_temperature: float) -> float:
    """The model's chance of an action, were Jack somebody, from values of whole positions."""
    other = as_jack(state, seat)
    texts = [state.action_to_string(legal) for legal in other.legal_actions()]
    escapes = sum(text.startswith("escape") for text in texts)
    if escapes:  # an open exit is always taken
        taken = state.action_to_string(action).startswith("escape")
        return UNIFORM_SHARE / len(texts) + taken * (1 - UNIFORM_SHARE) / escapes
    ratings = []
    for legal in other.legal_actions():
        child = other.child(legal)
        if child.is_terminal():
            ratings.append(float(child.returns()[JACK]))
        else:
            ratings.append(-float(reference_values([child], load_weights())[0]))
    likely = np.exp(inverse_temperature * np.array(ratings))
    chances = (1 - UNIFORM_SHARE) * likely / likely.sum() + UNIFORM_SHARE / len(ratings)
    legal = other.legal_actions()
    if action not in legal:
        return UNIFORM_SHARE / len(ratings)
    return float(chances[legal.index(action)])


@pytest.mark.parametrize("variant", [make_variant("mews", "JW+JS+SG+WG", 6), Variant()])
def test_plays_weigh_as_the_model_says(variant: Variant) -> None:
    """Against the model written out over whole positions; no draws, so nothing is hidden."""
    compared = 0
    for seed in range(3):
        states = random_game(variant, seed)
        logarithms = np.zeros(len(variant.cast))
        evidence = PlayEvidence(load_weights(), 5.0)
        for before, after in itertools.pairwise(states):
            if after.is_terminal() or before.alibi_count(0) + before.alibi_count(1):
                break
            if before.current_player() == JACK:
                action = next(a for a in before.legal_actions() if before.child(a) == after)
                for seat in range(len(logarithms)):
                    if possible_identities(after.observation(0)) >> seat & 1:
                        chance = reference_chances(before, action, seat, 5.0)
                        logarithms[seat] += np.log(chance)
            weights = identity_probabilities(after.observation(0)) * np.exp(logarithms)
            found = evidence.identity_probabilities(after.observation(0))
            np.testing.assert_allclose(found, weights / weights.sum(), atol=2e-4)
            compared += (weights > 0).sum() > 1
    assert compared > 20


def test_an_exit_let_go_by_tells_who_is_not_jack() -> None:
    text = "turn=2 node=use jack=JS witness=unseen dealt=SH,JW,JS,IL cards=MS,SG,WG,JB using=MS "
    state = State(text + "MS=i4 cleared=SH,JW").child("move i5")
    weights = PlayEvidence(load_weights(), 2.0).identity_probabilities(state.observation(DETECTIVE))
    seat_of = state.variant.seat_of
    assert weights[seat_of["MS"]] < 0.03
    assert weights[seat_of["SG"]] > 1 / 6


def test_inverse_temperature_0_leaves_the_exact_probabilities() -> None:
    for seed in range(6):
        evidence = PlayEvidence(load_weights(), 0.0)
        for state in random_game(Variant(), seed)[1::4]:
            if not state.is_terminal():
                view = state.observation(DETECTIVE)
                exact = identity_probabilities(view)
                # Exits let go by still count, and how many actions each of them would have had.
                found = evidence.identity_probabilities(view)
                assert found.sum() == pytest.approx(1)
                assert ((found > 0) == (exact > 0)).all()


def test_evidence_is_what_the_detective_saw() -> None:
    """Twins that he cannot tell apart weigh alike; weighed at once or as the game went on."""
    twins = 0
    for seed in range(5):
        states = random_game(Variant(), seed)
        steady = PlayEvidence(load_weights(), 8.0)
        for state in states[1::5]:
            if state.is_terminal():
                continue
            view = state.observation(DETECTIVE)
            found = steady.identity_probabilities(view)
            fresh = PlayEvidence(load_weights(), 8.0)
            np.testing.assert_allclose(fresh.identity_probabilities(view), found, rtol=1e-9)
            twin = mrjack_ai.determinize(view, np.random.default_rng(seed))
            again = PlayEvidence(load_weights(), 8.0).identity_probabilities(
                twin.observation(DETECTIVE)
            )
            np.testing.assert_array_equal(again, fresh.identity_probabilities(view))
            twins += twin != state
    assert twins > 10


def test_exposure_is_the_growth_of_suspicion() -> None:
    """The factor promised for an action is the one found after it, where no call comes between."""
    compared = 0
    for seed in range(6):
        for state in random_game(Variant(), seed)[4::3]:
            if state.is_terminal() or state.current_player() != JACK:
                continue
            view = state.observation(JACK)
            evidence = PlayEvidence(load_weights(), 8.0)
            before = evidence.identity_probabilities(view)
            jack = state.variant.seat_of[state.identity or ""]
            for number, exposure in enumerate(evidence.exposure(view)):
                child = state.child(view.actions[number])
                if child.is_terminal() or child.turn != state.turn or number % 5:
                    continue
                seen = PlayEvidence(load_weights(), 8.0).identity_probabilities(
                    child.observation(JACK)
                )
                if public_identities(child.observation(JACK)) != public_identities(view):
                    continue
                assert np.log(seen[jack] / before[jack]) == pytest.approx(exposure, abs=1e-6)
                compared += before[jack] < 1
    assert compared > 30


def test_jack_hides() -> None:
    """With concealment he is suspected less after his own plays than without, on the same deals."""
    suspicion = {}
    for concealment in (0.0, 0.2):
        found = []
        for seed in range(12):
            state = mrjack_ai.new_game()
            rng = np.random.default_rng(seed)
            agents = [make_agent(f"ismcts:sims=60,concealment={concealment}") for _ in range(2)]
            for player in range(2):
                agents[player].start(state.variant, player, np.random.default_rng(seed))
            while not state.is_terminal() and state.turn < 4:
                if state.is_chance_node():
                    actions = state.legal_actions()
                    state.apply_action(actions[int(rng.integers(len(actions)))])
                else:
                    player = state.current_player()
                    state.apply_action(agents[player].act(state.observation(player)))
            if not state.is_terminal():
                view = state.observation(DETECTIVE)
                weights = PlayEvidence(load_weights(), 8.0).identity_probabilities(view)
                found.append(weights[state.variant.seat_of[state.identity or ""]])
        suspicion[concealment] = np.mean(found)
    assert suspicion[0.2] < suspicion[0.0]


def test_agents_travel() -> None:
    """A searching agent in the middle of a game, with its tree and evidence, can be pickled."""
    state = next(s for s in random_game(Variant(), 1)[20:] if s.current_player() == DETECTIVE)
    agent = make_agent("ismcts:sims=50")
    agent.start(state.variant, DETECTIVE, np.random.default_rng(1))
    agent.act(state.observation())
    twin = pickle.loads(pickle.dumps(agent))
    assert twin.act(state.observation()) == agent.act(state.observation())


# -- analyse ------------------------------------------------------------------------------


def test_analysis_as_frames() -> None:
    state = State("jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL")
    analysis = analyse(state, "ismcts:sims=300", seed=3)
    actions, people = analysis.actions_frame(), analysis.identities_frame()
    assert sorted(actions.action) == sorted(map(state.action_to_string, state.legal_actions()))
    assert list(actions.visits) == sorted(actions.visits, reverse=True)
    assert actions.visits.sum() == 300
    assert actions.share.sum() == pytest.approx(1)
    assert actions.value.between(-1, 1).all()
    assert list(people.character) == list(state.variant.cast)
    assert people.probability.sum() == pytest.approx(1)
    assert people.suspicion.sum() == pytest.approx(1)
    assert analysis.principal_variation[0] == actions.action[0]
    again = analyse(state.observation(), "ismcts:sims=300", seed=3)
    assert again.actions_frame().equals(actions)
    exact = analyse(state, "ismcts:sims=10,belief=exact")
    assert "suspicion" not in exact.identities_frame()


def test_analysis_refuses() -> None:
    state = State("jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL")
    with pytest.raises(AgentError, match="does not search"):
        analyse(state, "greedy")
    with pytest.raises(NotationError, match="nobody is to move"):
        analyse(mrjack_ai.new_game())
    with pytest.raises(NotationError, match="not of the player to move"):
        analyse(state.observation(JACK))
    with pytest.raises(AgentError, match="needs the state"):
        analyse(state.observation(), "omniscient:sims=10")
    assert analyse(state, "omniscient:sims=10").statistics.simulations == 10
