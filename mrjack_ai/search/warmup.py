"""Compile the kernels of agents that rate and search, when one of them first plays."""

from __future__ import annotations

import numpy as np

from mrjack_ai.engine.layout import STATE_WORDS
from mrjack_ai.engine.tables import MAX_ACTIONS
from mrjack_ai.engine.types import Words
from mrjack_ai.engine.warmup import Call, KernelGroup, empty_game
from mrjack_ai.search import forced_outcomes, heuristic, kernels, opponent_model, value_network


def _heuristic_calls(tables: Words) -> list[Call]:
    return [(heuristic.rate_actions, (empty_game(), tables, 1, np.empty(MAX_ACTIONS)))]


def _search_calls(tables: Words) -> list[Call]:
    game = empty_game()
    settings = np.zeros(kernels.SETTINGS.itemsize // 8, np.uint64)
    weights = np.zeros(value_network.WEIGHTS, np.float32)
    nodes = np.zeros(kernels.NODE_WORDS, np.uint64)
    events, logarithms = np.zeros(1, np.int64), np.zeros(8)
    probabilities = np.zeros((8, MAX_ACTIONS))
    judged = np.empty(MAX_ACTIONS, np.int64)
    return [
        (kernels.search, (game, tables, weights, settings, nodes, 1)),
        (opponent_model.weigh_plays, (game, tables, weights, events, 0, 1, 1.0, logarithms)),
        (kernels.extract_subtree, (nodes, 0, nodes)),
        (forced_outcomes.judge_actions, (game, tables, judged)),
        (opponent_model.model_choices, (game, tables, weights, 1, 1.0, probabilities)),
    ]


def _fitting_calls(tables: Words) -> list[Call]:
    positions = np.zeros((1, STATE_WORDS), np.uint64)
    described = np.zeros((1, value_network.ACTIVE), np.int64)
    return [(value_network.describe_positions, (positions, tables, described))]


HEURISTIC = KernelGroup(f"{__name__}:HEURISTIC", "heuristic", _heuristic_calls)
"""What `greedy` plays by; searching agents ask it, too."""
SEARCH = KernelGroup(f"{__name__}:SEARCH", "tree search", _search_calls)
"""What agents that search need."""
FITTING = KernelGroup(f"{__name__}:FITTING", "features of positions", _fitting_calls)
"""What fitting a value function needs."""
