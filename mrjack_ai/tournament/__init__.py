"""Tournaments: paired deals, several processes, results that resume."""

from mrjack_ai.errors import TournamentError
from mrjack_ai.stats.ratings import Ratings, bradley_terry
from mrjack_ai.stats.scores import EloEstimate, PairCounts, Rate
from mrjack_ai.stats.sprt import Sprt, SprtStatus
from mrjack_ai.tournament.cluster import connect_cluster
from mrjack_ai.tournament.config import load_settings, make_settings
from mrjack_ai.tournament.deals import (
    Deal,
    DealError,
    make_deal,
    read_deals,
    seeded_deal,
    write_deals,
)
from mrjack_ai.tournament.export import Tables, export, load, pairings_frame, standings_frame
from mrjack_ai.tournament.match import play_game
from mrjack_ai.tournament.recovery import recover
from mrjack_ai.tournament.runner import Results, load_results, read_game, read_games, run_tournament
from mrjack_ai.tournament.schedule import (
    FORMATS,
    MOST_GAMES,
    MOST_SEED,
    Game,
    GameResult,
    Settings,
    forfeit_text,
    log_texts,
)
from mrjack_ai.tournament.standings import (
    Lengths,
    PairingResult,
    Standing,
    Summary,
    mean_length,
    pairing_results,
    standings,
    summarize,
)

__all__ = [
    "FORMATS",
    "MOST_GAMES",
    "MOST_SEED",
    "Deal",
    "DealError",
    "EloEstimate",
    "Game",
    "GameResult",
    "Lengths",
    "PairCounts",
    "PairingResult",
    "Rate",
    "Ratings",
    "Results",
    "Settings",
    "Sprt",
    "SprtStatus",
    "Standing",
    "Summary",
    "Tables",
    "TournamentError",
    "bradley_terry",
    "connect_cluster",
    "export",
    "forfeit_text",
    "load",
    "load_results",
    "load_settings",
    "log_texts",
    "make_deal",
    "make_settings",
    "mean_length",
    "pairing_results",
    "pairings_frame",
    "play_game",
    "read_deals",
    "read_game",
    "read_games",
    "recover",
    "run_tournament",
    "seeded_deal",
    "standings",
    "standings_frame",
    "summarize",
    "write_deals",
]
