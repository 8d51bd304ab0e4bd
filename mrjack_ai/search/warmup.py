"""Compile the kernels of agents that rate and search, when one of them first plays."""

from __future__ import annotations

import numpy as np

from mrjack_ai.engine.kernels import start_game
from mrjack_ai.engine.layout import STATE_WORDS, game_words
from mrjack_ai.engine.tables import MAX_ACTIONS, Words
from mrjack_ai.engine.warmup import KernelGroup, game_to_move
from mrjack_ai.search import forced_outcomes, heuristic, kernels, opponent_model, value_network
from mrjack_ai.setup.variant import Variant


def _run_heuristic(variant: Variant, tables: Words) -> None:
    game = game_to_move(variant, tables)
    heuristic.rate_actions(game, tables, 1, np.empty(MAX_ACTIONS))


def _run_search(variant: Variant, tables: Words) -> None:
    game = game_to_move(variant, tables)
    forced_outcomes.judge_actions(game, tables, np.empty(MAX_ACTIONS, np.int64))
    settings = np.zeros(kernels.SETTINGS.itemsize // 8, np.uint64)
    settings.view(kernels.SETTINGS)["chances"] = np.inf
    weights = np.zeros(value_network.WEIGHTS, np.float32)
    nodes = np.zeros(4096 * kernels.NODE_WORDS, np.uint64)
    kernels.search(game, tables, weights, settings, nodes, 1)
    kernels.extract_subtree(nodes, 0, nodes.copy())
    events = np.zeros(1, np.int64)
    start = np.zeros(game_words(variant), np.uint64)
    start_game(start, tables)
    opponent_model.weigh_plays(start, tables, weights, events[:0], 0, 1, 1.0, np.zeros(8))
    opponent_model.model_choices(game, tables, weights, 1, 1.0, np.zeros((8, MAX_ACTIONS)))


def _run_fitting(variant: Variant, tables: Words) -> None:
    game = game_to_move(variant, tables)
    described = np.zeros((1, value_network.ACTIVE), np.int64)
    value_network.describe_positions(game[None, :STATE_WORDS].copy(), tables, described)


HEURISTIC = KernelGroup("rule of thumb", "complete-heuristic", _run_heuristic)
"""What `greedy` plays by; searching agents ask it, too."""
SEARCH = KernelGroup("tree search", "complete-search", _run_search)
"""What agents that search need."""
FITTING = KernelGroup("features of positions", "complete-fitting", _run_fitting)
"""What fitting a value function needs."""
