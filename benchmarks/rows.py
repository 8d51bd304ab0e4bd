"""The rows of the table. To add one, decorate a function that returns the sides to measure."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import open_spiel.python.games.tic_tac_toe  # noqa: F401 - registers python_tic_tac_toe
import pyspiel
from measuring import (
    Prepare,
    Row,
    Settings,
    Side,
    Work,
    cost,
    for_each,
    import_seconds,
    python_process,
    rate,
)
from open_spiel.python.algorithms import ismcts, mcts

import mrjack_ai
from mrjack_ai.agents import make_agent
from mrjack_ai.agents.search import SearchSettings, Tree
from mrjack_ai.engine import compile as compiling
from mrjack_ai.envs import BatchEnv
from mrjack_ai.game.perft import perft, random_games
from mrjack_ai.search import kernels

ROWS: list[Row] = []
"""All rows, in the order of the table."""


def row(
    name: str,
    label: str,
    unit: str,
    *,
    other: str = "",
    must: float | None = None,
    good: float | None = None,
    cold: bool = False,
) -> Callable[[Prepare], Prepare]:
    """Add the decorated function to the table; the arguments are those of `Row`."""

    def register(prepare: Prepare) -> Prepare:
        ROWS.append(Row(name, label, unit, prepare, other, must, good, cold))
        return prepare

    return register


# -- random games -----------------------------------------------------------------------------


def our_games(settings: Settings, threads: int = 1, decisions: bool = False) -> Work:
    """Random games of the standard variant in compiled calls; counts games or decisions."""
    start = mrjack_ai.new_game()

    def work(count: int) -> int:
        played = random_games(start, count, settings.seed, threads)
        return played.decisions if decisions else played.games

    return work


def cpp_rollouts(start: pyspiel.State, games: int, seed: int) -> float:
    """Play random games of a C++ game in C++; returns the mean return of who is to move.

    The rollouts cannot be called from Python, but a search of one simulation does nothing else
    than to evaluate its root. The root must be a player's decision: the search looks for a
    player above a chance node and would read past the path's beginning.
    """
    assert start.current_player() >= 0
    evaluator = pyspiel.RandomRolloutEvaluator(games, seed)
    bot = pyspiel.MCTSBot(start.get_game(), evaluator, 1.0, 1, 10, False, seed, False)
    root = bot.mcts_search(start)
    assert root.explore_count == 1
    return float(root.total_reward)


def cpp_games(starts: Sequence[pyspiel.State], settings: Settings, unit: int = 1) -> Work:
    """Random games in C++, equally many from each start; a game counts as `unit`."""

    def work(count: int) -> int:
        for start in starts:
            cpp_rollouts(start, count, settings.seed)
        return count * len(starts) * unit

    return work


def hex_starts() -> list[pyspiel.State]:
    """The start of hex on 11x11."""
    return [pyspiel.load_game("hex(board_size=11)").new_initial_state()]


HEARTS_DECISIONS = 61
"""Decisions of a game of hearts, the mean over `hearts_starts`: 64 with passing, 52 without."""


def hearts_starts(settings: Settings) -> list[pyspiel.State]:
    """Dealt hands of hearts: one for each direction in which cards are passed."""
    rng = random.Random(settings.seed)
    game = pyspiel.load_game("hearts")
    starts = []
    for direction, _ in game.new_initial_state().chance_outcomes():
        state = game.new_initial_state()
        state.apply_action(direction)
        while state.is_chance_node():
            state.apply_action(rng.choice([outcome for outcome, _ in state.chance_outcomes()]))
        starts.append(state)
    return starts


@row(
    "games-hex",
    "random games in one compiled call, one core",
    "games/s",
    other="C++ hex 11x11",
    must=13,
    good=18,
)
def _games_hex(settings: Settings) -> tuple[Side, ...]:
    return rate(our_games(settings), settings), rate(cpp_games(hex_starts(), settings), settings)


@row(
    "games-hearts",
    "random games in one compiled call, one core",
    "games/s",
    other="C++ hearts",
    must=3,
    good=4.5,
)
def _games_hearts(settings: Settings) -> tuple[Side, ...]:
    hearts = cpp_games(hearts_starts(settings), settings)
    return rate(our_games(settings), settings), rate(hearts, settings)


@row(
    "decisions-hearts",
    "decisions in those games",
    "decisions/s",
    other="C++ hearts",
)
def _decisions_hearts(settings: Settings) -> tuple[Side, ...]:
    hearts = cpp_games(hearts_starts(settings), settings, HEARTS_DECISIONS)
    return rate(our_games(settings, decisions=True), settings), rate(hearts, settings)


@row("threads", "random games on two threads", "games/s", other="one thread", must=1.6, good=1.9)
def _threads(settings: Settings) -> tuple[Side, ...]:
    return rate(our_games(settings, threads=2), settings), rate(our_games(settings), settings)


# -- from Python ------------------------------------------------------------------------------


def spiel_play(name: str, settings: Settings) -> Work:
    """Random games of an OpenSpiel game as a user would play them; counts decisions."""
    game = pyspiel.load_game(name)

    def work(count: int) -> int:
        rng = random.Random(settings.seed)
        decisions = 0
        for _ in range(count):
            state = game.new_initial_state()
            while not state.is_terminal():
                player = state.current_player()
                if player == pyspiel.PlayerId.CHANCE:
                    outcomes = state.chance_outcomes()
                    action = outcomes[int(rng.random() * len(outcomes))][0]
                else:
                    actions = state.legal_actions(player)
                    action = actions[int(rng.random() * len(actions))]
                    decisions += 1
                state.apply_action(action)
        return decisions

    return work


def native_play(settings: Settings) -> Work:
    """The same with `mrjack_ai.State`."""

    def work(count: int) -> int:
        rng = random.Random(settings.seed)
        decisions = 0
        for _ in range(count):
            state = mrjack_ai.new_game()
            while not state.is_terminal():
                decisions += state.current_player() >= 0
                actions = state.legal_actions()
                state.apply_action(actions[int(rng.random() * len(actions))])
        return decisions

    return work


def spiel_middle(name: str, settings: Settings) -> pyspiel.State:
    """A state of an OpenSpiel game half-way through a random game."""
    rng = random.Random(settings.seed)
    state = pyspiel.load_game(name).new_initial_state()
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
    actions = state.history()
    middle = state.get_game().new_initial_state()
    for action in actions[: len(actions) // 2]:
        middle.apply_action(action)
    return middle


def native_states(settings: Settings, games: int = 4) -> list[mrjack_ai.State]:
    """The states of some random games in which a player decides."""
    rng = random.Random(settings.seed)
    states = []
    for _ in range(games):
        state = mrjack_ai.new_game()
        while not state.is_terminal():
            if state.current_player() >= 0:
                states.append(state.clone())
            state.apply_action(rng.choice(state.legal_actions()))
    return states


@row(
    "spiel-decisions",
    "random play through the OpenSpiel state",
    "decisions/s",
    other="python_tic_tac_toe",
    must=3.5,
    good=5,
)
def _spiel_decisions(settings: Settings) -> tuple[Side, ...]:
    games = "mrjack", "python_tic_tac_toe"
    return tuple(rate(spiel_play(name, settings), settings) for name in games)


@row(
    "spiel-clone",
    "clone of the OpenSpiel state, mid-game",
    "us",
    other="python_tic_tac_toe",
    must=1.5,
    good=1,
)
def _spiel_clone(settings: Settings) -> tuple[Side, ...]:
    middles = [spiel_middle(name, settings) for name in ("mrjack", "python_tic_tac_toe")]
    return tuple(cost(for_each([state], lambda s: s.clone()), settings, 1e6) for state in middles)


@row("native-decisions", "random play with State", "decisions/s")
def _native_decisions(settings: Settings) -> tuple[Side, ...]:
    return (rate(native_play(settings), settings),)


@row("native-clone", "State.clone()", "us")
def _native_clone(settings: Settings) -> tuple[Side, ...]:
    return (cost(for_each(native_states(settings), mrjack_ai.State.clone), settings, 1e6),)


@row("observation", "State.observation()", "us")
def _observation(settings: Settings) -> tuple[Side, ...]:
    return (cost(for_each(native_states(settings), mrjack_ai.State.observation), settings, 1e6),)


def _of_observation(settings: Settings, call: Callable[[mrjack_ai.Observation], object]) -> Side:
    observations = [state.observation() for state in native_states(settings)]
    return cost(for_each(observations, call), settings, 1e6)


@row("observation-tensor", "Observation.observation_tensor()", "us")
def _observation_tensor(settings: Settings) -> tuple[Side, ...]:
    return (_of_observation(settings, mrjack_ai.Observation.observation_tensor),)


@row("information-string", "Observation.information_state_string()", "us")
def _information_string(settings: Settings) -> tuple[Side, ...]:
    return (_of_observation(settings, mrjack_ai.Observation.information_state_string),)


@row("perft", "perft", "nodes/s")
def _perft(settings: Settings) -> tuple[Side, ...]:
    start = mrjack_ai.new_game()
    for action in ("jack JS", "deal SH,JW,JS,IL"):
        start.apply_action(action)
    return (rate(lambda count: sum(perft(start, 7) for _ in range(count)), settings),)


def decisions(settings: Settings, spec: str) -> Work:
    """Decisions of an agent at positions of random games, its observation included."""
    states = native_states(settings)
    agents = [make_agent(spec) for _ in range(2)]
    for player, agent in enumerate(agents):
        agent.start(states[0].variant, player, np.random.default_rng(settings.seed))
    return for_each(states, lambda s: agents[s.current_player()].act(s.observation()))


@row("greedy", "greedy agent: observation and decision", "ms")
def _greedy(settings: Settings) -> tuple[Side, ...]:
    return (cost(decisions(settings, "greedy"), settings, 1e3),)


# -- new processes ----------------------------------------------------------------------------

FIRST_GAME = """
import random
import mrjack_ai
rng = random.Random(0)
state = mrjack_ai.new_game()
while not state.is_terminal():
    state.apply_action(rng.choice(state.legal_actions()))
"""


@row(
    "import",
    "`import mrjack_ai` in a new process",
    "s",
    other="`import numba`",
    must=1.4,
    good=1.2,
)
def _import(settings: Settings) -> tuple[Side, ...]:
    modules = "mrjack_ai", "numba"
    for module in modules:  # from the disk only once
        import_seconds(module)
    return tuple(partial(import_seconds, module) for module in modules)


@row("first-game", "first game in a new process, code cached", "s", must=1.5, good=1.0)
def _first_game(settings: Settings) -> tuple[Side, ...] | None:
    if compiling.CACHE_FOLDER is None:
        return None
    mrjack_ai.new_game()  # fills the cache
    python_process(FIRST_GAME)
    return (partial(python_process, FIRST_GAME),)


@row(
    "first-game-cold", "first game in a new process, cache empty", "s", must=40, good=15, cold=True
)
def _first_game_cold(settings: Settings) -> tuple[Side, ...]:
    def side() -> float:
        with tempfile.TemporaryDirectory() as cache:
            return python_process(FIRST_GAME, cache)

    return (side,)


# -- environments -----------------------------------------------------------------------------

BATCH_GAMES = 1000
"""Games in one batch."""


def batch_steps(settings: Settings, planes: bool) -> Work:
    """Random play of a batch as a user would loop, actions sampled and checked; counts steps."""
    env = BatchEnv(BATCH_GAMES, planes=planes)
    env.reset(settings.seed)

    def work(count: int) -> int:
        for _ in range(count):
            env.step(env.sample_actions())
        return count * BATCH_GAMES

    return work


@row("batch", "BatchEnv, 1,000 games, masks only, one core", "steps/s", must=2e6, good=8e6)
def _batch(settings: Settings) -> tuple[Side, ...]:
    return (rate(batch_steps(settings, planes=False), settings),)


@row("batch-planes", "the same with observation tensors", "steps/s", must=0.9e6, good=3e6)
def _batch_planes(settings: Settings) -> tuple[Side, ...]:
    return (rate(batch_steps(settings, planes=True), settings),)


# -- search -----------------------------------------------------------------------------------


FULL_ROLLOUTS = SearchSettings(
    exploration=0.7,
    rollout=kernels.ROLLOUT_RANDOM,
    horizon=99,
    widening=1e9,
    power=1.0,
    order=kernels.ORDER_RANDOM,
)
"""Plain ISMCTS: every action considered, every leaf played out at random to the end."""

DECISION = 1000
"""Simulations of one tree, on either side: the default of our searching agents.

Always all of them, since a simulation costs more the larger its tree is, and setting up a tree is
part of the price.
"""


def our_simulations(settings: Settings, search_settings: SearchSettings = FULL_ROLLOUTS) -> Work:
    """Single-observer ISMCTS from the first card, a new tree each time; counts simulations."""
    state = mrjack_ai.new_game()
    for action in ("jack JS", "deal SH,JW,JS,IL"):
        state.apply_action(action)
    observation = state.observation()

    def work(count: int) -> int:
        for _ in range(count):
            tree = Tree(observation, kernels.SINGLE_OBSERVER, search_settings, settings.seed)
            tree.run(DECISION)
        return count * DECISION

    return work


def hearts_simulations(settings: Settings, cpp: bool) -> Work:
    """OpenSpiel's ISMCTS at a dealt hand of hearts, a new tree each time; counts simulations.

    A simulation plays one random game.
    """
    # Without passing the first card is forced, and a bot that has no choice does not search.
    start = next(start for start in hearts_starts(settings) if len(start.legal_actions()) > 1)

    def decide() -> None:
        if cpp:
            visits = pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
            rollouts = pyspiel.RandomRolloutEvaluator(1, settings.seed)
            bot = pyspiel.ISMCTSBot(
                settings.seed, rollouts, 1.4, DECISION, -1, visits, False, False
            )
        else:
            generator = np.random.RandomState(settings.seed)
            rollouts = mcts.RandomRolloutEvaluator(1, generator)
            bot = ismcts.ISMCTSBot(
                start.get_game(), rollouts, 1.4, DECISION, random_state=generator
            )
        bot.step(start)

    def work(count: int) -> int:
        for _ in range(count):
            decide()
        return count * DECISION

    return work


@row(
    "ismcts-cpp",
    "ISMCTS with full random rollouts",
    "sims/s",
    other="C++ ISMCTSBot, hearts",
    must=3,
    good=6,
)
def _ismcts_cpp(settings: Settings) -> tuple[Side, ...]:
    other = hearts_simulations(settings, cpp=True)
    return rate(our_simulations(settings), settings), rate(other, settings)


@row(
    "ismcts-python",
    "ISMCTS with full random rollouts",
    "sims/s",
    other="Python ISMCTSBot, hearts",
    must=50,
    good=100,
)
def _ismcts_python(settings: Settings) -> tuple[Side, ...]:
    other = hearts_simulations(settings, cpp=False)
    return rate(our_simulations(settings), settings), rate(other, settings)


@row(
    "ismcts-games",
    "ISMCTS with full random rollouts",
    "sims/s",
    other="own random games",
    must=0.6,
    good=0.85,
)
def _ismcts_games(settings: Settings) -> tuple[Side, ...]:
    return rate(our_simulations(settings), settings), rate(our_games(settings), settings)


@row(
    "ismcts-depth-0",
    "ISMCTS that rates its leaves at once",
    "sims/s",
    other="with full rollouts",
    must=4,
    good=8,
)
def _ismcts_depth_0(settings: Settings) -> tuple[Side, ...]:
    at_once = replace(FULL_ROLLOUTS, rollout=kernels.ROLLOUT_NONE)
    ours = rate(our_simulations(settings, at_once), settings)
    return ours, rate(our_simulations(settings), settings)


@row("mo-ismcts", "agent mo-ismcts with its defaults, 1,000 simulations a decision", "ms")
def _mo_ismcts(settings: Settings) -> tuple[Side, ...]:
    return (cost(decisions(settings, "mo-ismcts:sims=1000"), settings, 1e3),)


@row("time-budget", "search of ismcts:time=100 at the first card", "ms")
def _time_budget(settings: Settings) -> tuple[Side, ...]:
    state = mrjack_ai.new_game()
    for action in ("jack JS", "deal SH,JW,JS,IL"):
        state.apply_action(action)
    agent = make_agent("ismcts:time=100")
    agent.start(state.variant, 0, np.random.default_rng(settings.seed))

    def work(count: int) -> int:
        for _ in range(count):
            agent.act(state.observation())
        return count

    return (cost(work, settings, 1e3),)
