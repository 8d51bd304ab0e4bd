"""OpenSpiel's bots as agents, by name, and bots that have to be told every action."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pyspiel
import pytest

import mrjack_ai
from mrjack_ai import AgentError
from mrjack_ai.agents import agent_parameters, agent_usage, make_agent
from mrjack_ai.openspiel import BotAgent, OpenSpielAgent
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.testing import check_agent
from mrjack_ai.tournament import Settings, make_deal, play_game, run_tournament

SMALL = make_variant("mews", "SH+JW+SG+JB", 4)
SPECS = ("openspiel:random", "openspiel:mcts,sims=3", "openspiel:ismcts,sims=3,c=0.7,rollouts=2")


@pytest.mark.parametrize("spec", SPECS)
def test_bots_keep_the_contract(spec: str) -> None:
    report = check_agent(partial(make_agent, spec), games=1)
    assert report.games == 5 * 2 * 2


def test_tournament_of_bots_in_workers() -> None:
    settings = Settings(SPECS, 4, 1, make_variant("mews", "SH+JB", 2), key="5a" * 32)
    assert run_tournament(settings).records == run_tournament(settings, workers=2).records


def test_more_simulations_play_better() -> None:
    """On a small board, where even slow bots can look ahead: a wide margin over random play."""
    variant = make_variant("mews", "SH+JB", 2)
    agents = ("openspiel:ismcts,sims=40", "openspiel:random")
    settings = Settings(agents, 100, 1, variant, key="5a" * 32)
    records = run_tournament(settings).records
    won = sum(
        (record.ending == "caught") == (record.agents[0] == settings.agents[0])
        for record in records
    )
    assert won >= 62  # one in a hundred when they were equal; they win about 73


def test_parameters_reach_the_bot() -> None:
    agent = make_agent("openspiel:ismcts,sims=7,c=0.25")
    assert isinstance(agent, OpenSpielAgent)
    agent.start(SMALL, 0, np.random.default_rng(1))
    assert (agent._bot._max_simulations, agent._bot._uct_c) == (7, 0.25)
    agent = make_agent("openspiel: mcts , sims = 9")
    agent.start(SMALL, 0, np.random.default_rng(1))
    assert agent._bot.max_simulations == 9
    assert pickle.loads(pickle.dumps(agent))._make_bot == agent._make_bot
    assert agent_parameters("openspiel") == ()
    assert "ismcts,sims=100" in agent_usage("openspiel")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("openspiel", "unknown OpenSpiel bot ''; known are random, mcts, ismcts"),
        ("openspiel:", "unknown OpenSpiel bot ''"),
        ("openspiel:cfr,sims=3", "unknown OpenSpiel bot 'cfr'"),
        ("openspiel:random,sims=3", "unknown parameter 'sims'; it takes none"),
        ("openspiel:mcts,depth=3", "unknown parameter 'depth'; known are sims, c, rollouts"),
        ("openspiel:mcts,", "must read key=value"),
        ("openspiel:mcts,sims=x", "sims 'x' must be a whole number"),
        ("openspiel:mcts,sims=0", "agent 'openspiel:mcts,sims=0': sims 0 must be"),
        ("openspiel:ismcts,c=nan", "c 'nan' must be a number"),
    ],
)
def test_bad_specifications(spec: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        make_agent(spec)


def test_algorithms_are_imported_late() -> None:
    """They take long, and most who import the library never need them."""
    code = "import sys, mrjack_ai.agents; mrjack_ai.agents.make_agent('openspiel:mcts'); "
    code += "sys.exit('open_spiel.python.algorithms.mcts' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Listener(pyspiel.Bot):  # type: ignore[misc]
    """Plays the first action and writes down what it is told."""

    def __init__(self) -> None:
        pyspiel.Bot.__init__(self)
        self.told: list[tuple[int, str]] = []

    def step(self, state: Any) -> int:
        action = state.legal_actions()[0]
        self.told.append((state.current_player(), state.action_to_string(action)))
        return int(action)

    def inform_action(self, state: Any, player: int, action: int) -> None:
        assert state.current_player() == player
        self.told.append((player, state.action_to_string(action)))


def test_bots_are_told_what_others_and_chance_do() -> None:
    """With their own actions that is the game up to the last decision, each action once."""
    told = 0
    for player in (0, 1):
        for seed in range(12):
            bot = Listener()
            agents = [make_agent("random"), make_agent("random")]
            agents[player] = BotAgent(lambda game, player, seed, bot=bot: bot)
            generators = [np.random.default_rng((seed, side)) for side in (0, 1)]
            deal = make_deal(SMALL, np.random.default_rng(seed))
            state = play_game(SMALL, agents, deal, generators)
            replayed = mrjack_ai.new_game(SMALL)
            movers = []
            for action in state.history():
                movers.append(replayed.current_player())
                replayed.apply_action(action)
            assert [mover for mover, _ in bot.told] == movers[: len(bot.told)]
            seen = [text for text in state.observation(player).history() if "witness" not in text]
            for (_, text), known in zip(bot.told, seen, strict=False):
                assert text.startswith(known.removesuffix("?"))
                assert text == known or known.endswith("?")
            told += len(bot.told)
    assert told > 100


def test_bots_that_need_not_be_told_are_not() -> None:
    agent = make_agent("openspiel:random")
    agent.start(SMALL, 0, np.random.default_rng(1))
    assert not agent._informs
