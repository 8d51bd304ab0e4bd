"""The first agents: specification strings, contracts, and what each is there for."""

from __future__ import annotations

import random

import numpy as np
import pytest
from helpers import lane

import mrjack_ai
from mrjack_ai import Agent, AgentError, Observation, State
from mrjack_ai.agents import (
    CautiousAgent,
    GreedyAgent,
    RandomAgent,
    agent_names,
    agent_parameters,
    make_agent,
    register_agent,
)
from mrjack_ai.setup.variant import DETECTIVE, JACK, Variant, make_variant
from mrjack_ai.tournament import make_deal, play_game

AGENTS = ("random", "cautious", "greedy")
SMALL_CASTS = ("SH+JB", "JW+SG", "IL+WG", "MS+JS")


def start(agent: Agent, state: State, seed: int = 0) -> Observation:
    observation = state.observation()
    agent.start(state.variant, observation.player, np.random.default_rng(seed))
    return observation


def play(variant: Variant, one: str, other: str, seed: int) -> State:
    generators = [np.random.default_rng((seed, player)) for player in (0, 1)]
    deal = make_deal(variant, np.random.default_rng(seed))
    return play_game(variant, [make_agent(one), make_agent(other)], deal, generators)


# -- contracts ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize(
    "variant",
    [
        Variant(),
        make_variant("whitechapel_2016", first="jack"),
        make_variant("mews"),
        make_variant("mews", "SH+JW+SG+WG", 7),
        *(make_variant("mews", cast, 5) for cast in SMALL_CASTS),
    ],
)
def test_plays_legally_repeatably_and_without_global_randomness(
    name: str, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("global randomness was used")

    for module, function in [(random, "random"), (np.random, "random"), (np.random, "randint")]:
        monkeypatch.setattr(module, function, forbidden)
    for other in ("random", name):
        one, again = (play(variant, name, other, 3) for _ in range(2))
        assert one.is_terminal()
        assert one.history() == again.history()


@pytest.mark.parametrize("name", AGENTS)
def test_policy_adds_up_and_covers_what_is_played(name: str) -> None:
    agent = make_agent(name)
    chosen = 0
    for seed in range(4):
        choose = random.Random(seed)
        state = mrjack_ai.new_game()
        while not state.is_terminal():
            if not state.is_chance_node():
                observation = start(agent, state, seed)
                policy = agent.policy(observation)
                assert policy.shape == (len(observation.actions),)
                assert policy.sum() == pytest.approx(1)
                action = agent.act(observation)
                assert policy[observation.actions.index(action)] > 0
                chosen += 1
            state.apply_action(choose.choice(state.legal_actions()))
    assert chosen > 50


def test_two_interleaved_games_equal_each_alone() -> None:
    def decisions(agent: Agent, seed: int) -> list[int]:
        state = mrjack_ai.new_game()
        for action in ("jack JS", "deal SH,JW,JS,IL"):
            state.apply_action(action)
        agent.start(state.variant, 0, np.random.default_rng(seed))
        return [agent.act(state.observation(0)) for _ in range(20)]

    alone = [decisions(RandomAgent(), seed) for seed in (1, 2)]
    agents = [RandomAgent(), RandomAgent()]
    state = mrjack_ai.new_game()
    for action in ("jack JS", "deal SH,JW,JS,IL"):
        state.apply_action(action)
    for agent, seed in zip(agents, (1, 2), strict=True):
        agent.start(state.variant, 0, np.random.default_rng(seed))
    mixed: list[list[int]] = [[], []]
    for _ in range(20):
        for agent, found in zip(agents, mixed, strict=True):
            found.append(agent.act(state.observation(0)))
    assert mixed == alone


# -- random -------------------------------------------------------------------------------


def test_random_is_uniform() -> None:
    state = State("jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL")
    agent = RandomAgent()
    observation = start(agent, state)
    counts = np.bincount([agent.act(observation) for _ in range(4000)], minlength=4)[:4]
    # Four standard deviations of a binomial count around 1000.
    assert abs(counts - 1000).max() < 4 * np.sqrt(4000 * 0.25 * 0.75)


# -- cautious -----------------------------------------------------------------------------

CERTAIN = (
    "node=use turn=3 jack=JS cleared=SH,JW,IL,MS,SG,WG,JB dealt=SH,JW,MS,SG cards=SH,JW,MS,SG "
    "using=SH ability=open SH=g5 JS=g6"
)
UNCERTAIN = CERTAIN.replace("cleared=SH,JW,IL,MS,SG,WG,JB", "cleared=SH,JW,IL,MS,SG,WG")


def names(state: State, agent: Agent, times: int = 200) -> set[str]:
    observation = start(agent, state)
    return {observation.action_to_string(agent.act(observation)) for _ in range(times)}


@pytest.mark.parametrize("agent", [CautiousAgent(), GreedyAgent()])
def test_certain_accusation_is_taken(agent: Agent) -> None:
    assert names(State(CERTAIN), agent) == {"accuse JS"}


@pytest.mark.parametrize("agent", [CautiousAgent(), GreedyAgent()])
def test_own_alibi_cards_make_an_accusation_certain(agent: Agent) -> None:
    text = CERTAIN.replace("cleared=SH,JW,IL,MS,SG,WG,JB", "cleared=SH,JW,IL,MS,SG,WG alibis=JB/-")
    assert names(State(text), agent) == {"accuse JS"}


def test_cautious_does_not_accuse_when_unsure() -> None:
    found = names(State(UNCERTAIN), CautiousAgent())
    assert len(found) > 5
    assert not any(name.startswith("accuse") for name in found)


LAST_CARD = (
    "node=use turn=8 jack=JS cleared=IL,MS,SG,WG alibis=JW/- "
    "dealt=SH,JW,MS,SG cards=WG,JB using=WG ability=open WG=g5 JS=g6 SH=g7 JB=e7"
)


@pytest.mark.parametrize("agent", [CautiousAgent(), GreedyAgent()])
def test_last_chance_accuses_a_suspect_in_reach(agent: Agent) -> None:
    """Turn 8: Jack, Detective, Detective, Jack; two cards left are the last of each."""
    state = State(LAST_CARD)
    assert state.observation().is_last_chance()
    found = names(state, agent)
    assert found <= {"accuse JS", "accuse SH", "accuse JB"}
    assert "accuse JS" in found


def test_the_card_before_the_last_is_no_last_chance() -> None:
    state = State(LAST_CARD.replace("cards=WG,JB", "cards=IL,WG,JB"))
    assert not state.observation(DETECTIVE).is_last_chance()
    assert not any(name.startswith("accuse") for name in names(state, CautiousAgent()))


@pytest.mark.parametrize("name", ["cautious", "greedy"])
@pytest.mark.parametrize("turns", [2, 8])
def test_last_chance_may_come_before_the_last_turn(name: str, turns: int) -> None:
    """In a cast of two the even turns have one card, Jack's: the Detective's last is before."""
    variant = make_variant("mews", "SH+JW", turns)
    chances = accusations = 0
    for seed in range(60):
        state = play(variant, name, "random", seed)
        replayed = mrjack_ai.new_game(variant)
        for action in state.history():
            view = replayed.observation(DETECTIVE)
            if view.is_last_chance():
                assert view.turn == turns - 1
                chances += view.node == "use" and not view.has_moved
                accusations += replayed.action_to_string(action).startswith("accuse")
            replayed.apply_action(action)
    assert chances > 10
    assert accusations > chances / 3


def test_accuses_when_nothing_else_is_legal() -> None:
    """4.6: if only an accusation is possible it must be made, also by the cautious."""
    variant = lane(6, "SH=a1 IL=a2 MS=a3 JB=a4", turns=4)
    text = "node=use turn=1 jack=JB dealt=SH,IL cards=SH,IL using=SH ability=open"
    state = State(text, variant)
    legal = {state.action_to_string(action) for action in state.legal_actions()}
    assert legal == {"accuse IL", "accuse MS", "accuse JB"}
    assert names(state, CautiousAgent()) == legal


# -- greedy -------------------------------------------------------------------------------


def test_greedy_escapes_when_it_can() -> None:
    state = State(
        "node=use turn=2 jack=MS witness=unseen dealt=SH,JW,JS,IL cards=MS,SG,WG,JB using=MS MS=i4"
    )
    assert state.current_player() == JACK
    assert names(state, GreedyAgent()) == {"escape SE"}
    # Also a move earlier: he picks the card that lets him leave.
    state = State("turn=2 jack=MS witness=unseen dealt=SH,JW,JS,IL cards=MS,SG,WG,JB MS=i4")
    assert names(state, GreedyAgent()) == {"pick MS"}


def test_greedy_picks_a_card_that_can_accuse() -> None:
    """Holmes stands next to Jack; Goodley can whistle Jack closer first (7.2)."""
    text = CERTAIN.replace("node=use", "node=pick").replace(" using=SH ability=open", "")
    agent = GreedyAgent()
    cards = set()
    for seed in range(20):
        state = State(text + " JW=a3:NE MS=a1 SG=m10")
        agent.start(state.variant, DETECTIVE, np.random.default_rng(seed))
        while not state.is_terminal():
            state.apply_action(agent.act(state.observation(DETECTIVE)))
        cards.add(state.history_strings()[0])
        assert state.outcome() == mrjack_ai.Outcome(DETECTIVE, "caught")
    assert cards == {"pick SH", "pick SG"}


def test_greedy_leaves_its_input_alone() -> None:
    state = State(CERTAIN)
    agent = GreedyAgent()
    observation = start(agent, state)
    before = (observation.position, str(state))
    agent.act(observation)
    assert (observation.position, str(state)) == before


def test_greedy_does_not_look_at_what_it_cannot_know() -> None:
    """Equal observations give equal ratings whoever Jack is."""
    state = State(UNCERTAIN)
    twin = State(UNCERTAIN.replace("jack=JS", "jack=JB"))
    agent = GreedyAgent()
    ratings = agent.ratings(state.observation(0))
    np.testing.assert_array_equal(ratings, agent.ratings(twin.observation(0)))


def test_greedy_beats_the_others_from_both_sides() -> None:
    """Wide of chance: 40 games each, at least 30 wins where the true rate is near 90 %."""
    for other in ("random", "cautious"):
        as_detective = sum(
            play(Variant(), "greedy", other, seed).returns()[0] > 0 for seed in range(40)
        )
        as_jack = sum(play(Variant(), other, "greedy", seed).returns()[1] > 0 for seed in range(40))
        assert as_detective >= 30
        assert as_jack >= 26


# -- specification strings ----------------------------------------------------------------


class Tuned(Agent):
    """Has parameters of every type."""

    def __init__(
        self, count: int = 3, share: float = 0.5, mode: str = "plain", fast: bool = False
    ) -> None:
        if count < 0:
            raise ValueError("count must not be negative")
        self.values = (count, share, mode, fast)

    def act(self, observation: Observation) -> int:
        return observation.actions[0]


@pytest.fixture(autouse=True, scope="module")
def _register_tuned() -> None:
    register_agent("tuned-for-tests", Tuned)


def test_specification_strings() -> None:
    assert isinstance(make_agent("greedy"), GreedyAgent)
    assert make_agent("tuned-for-tests").values == (3, 0.5, "plain", False)
    agent = make_agent("tuned-for-tests:count=7,share=1e-3,mode=deep,fast=true")
    assert agent.values == (7, 0.001, "deep", True)
    parameters = {p.name: (p.type, p.default) for p in agent_parameters("tuned-for-tests")}
    assert parameters["share"] == (float, 0.5)
    assert set(AGENTS) <= set(agent_names())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gredy", "unknown agent 'gredy'; known are random, cautious, greedy.*did you mean"),
        ("", "unknown agent ''"),
        ("greedy:depth=3", "unknown parameter 'depth'; it takes none"),
        ("tuned-for-tests:cuont=3", "known are count, share, mode, fast"),
        ("tuned-for-tests:count", "'count' must read key=value"),
        ("tuned-for-tests:count=", "must read key=value"),
        ("tuned-for-tests:", "must read key=value"),
        ("tuned-for-tests:count=3.5", "count '3.5' must be a whole number of at most 64 bits"),
        ("tuned-for-tests:share=x", "share 'x' must be a finite number"),
        ("tuned-for-tests:fast=1", "must be true or false"),
        ("tuned-for-tests:count=1,count=2", "'count' is given twice"),
        ("tuned-for-tests:count=-1", "count must not be negative"),
    ],
)
def test_bad_specifications(spec: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        make_agent(spec)


def test_bad_registrations() -> None:
    class NoDefault(Agent):
        def __init__(self, count: int) -> None: ...

    with pytest.raises(AgentError, match="already"):
        register_agent("greedy", RandomAgent)
    with pytest.raises(AgentError, match="lower-case"):
        register_agent("My Agent", RandomAgent)
    with pytest.raises(AgentError, match="needs a plain default"):
        register_agent("no-default", NoDefault)
    with pytest.raises(NotImplementedError, match="Tuned has no policy"):
        Tuned().policy(State(CERTAIN).observation())
