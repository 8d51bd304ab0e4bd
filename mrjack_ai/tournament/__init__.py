"""Tournaments: paired deals, several processes, results that resume."""

from mrjack_ai.tournament.deals import Deal, make_deal
from mrjack_ai.tournament.match import play_game
from mrjack_ai.tournament.runner import Results, load_results, run_tournament
from mrjack_ai.tournament.schedule import Game, Settings, TournamentError
from mrjack_ai.tournament.standings import (
    PairingResult,
    Standing,
    mean_length,
    pairing_results,
    standings,
)
from mrjack_ai.tournament.statistics import PairCounts, Rate

__all__ = [
    "Deal",
    "Game",
    "PairCounts",
    "PairingResult",
    "Rate",
    "Results",
    "Settings",
    "Standing",
    "TournamentError",
    "load_results",
    "make_deal",
    "mean_length",
    "pairing_results",
    "play_game",
    "run_tournament",
    "standings",
]
