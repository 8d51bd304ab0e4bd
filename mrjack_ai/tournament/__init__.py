"""Tournaments: paired deals, several processes, results that resume."""

from mrjack_ai.tournament.deals import (
    Deal,
    DealError,
    make_deal,
    read_deals,
    seeded_deal,
    write_deals,
)
from mrjack_ai.tournament.description import load_settings, make_settings
from mrjack_ai.tournament.frames import Tables, export, load
from mrjack_ai.tournament.match import play_game
from mrjack_ai.tournament.runner import Results, load_results, read_games, run_tournament
from mrjack_ai.tournament.schedule import (
    FORMATS,
    Game,
    GameResult,
    Settings,
    TournamentError,
    forfeit_text,
)
from mrjack_ai.tournament.standings import (
    PairingResult,
    Standing,
    mean_length,
    pairing_results,
    standings,
)
from mrjack_ai.tournament.statistics import PairCounts, Rate
from mrjack_ai.tournament.store import recover

__all__ = [
    "FORMATS",
    "Deal",
    "DealError",
    "Game",
    "GameResult",
    "PairCounts",
    "PairingResult",
    "Rate",
    "Results",
    "Settings",
    "Standing",
    "Tables",
    "TournamentError",
    "export",
    "forfeit_text",
    "load",
    "load_results",
    "load_settings",
    "make_deal",
    "make_settings",
    "mean_length",
    "pairing_results",
    "play_game",
    "read_deals",
    "read_games",
    "recover",
    "run_tournament",
    "seeded_deal",
    "standings",
    "write_deals",
]
