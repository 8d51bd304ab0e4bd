"""Web pages: a tournament, a game to step through."""

from mrjack_ai.reports.replay import replay_page
from mrjack_ai.reports.tournament import write_report

__all__ = ["replay_page", "write_report"]
