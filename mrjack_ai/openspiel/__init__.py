"""The game in OpenSpiel: `pyspiel.load_game("mrjack")`, and bots both ways.

Importing this module registers the game and the agents `openspiel:BOT`; `import mrjack_ai` does
so too.
"""

from mrjack_ai.openspiel.agents import OpenSpielAgent
from mrjack_ai.openspiel.bots import AgentBot, BotAgent
from mrjack_ai.openspiel.game import MrJackGame, MrJackState, load_game, make_resampler

__all__ = [
    "AgentBot",
    "BotAgent",
    "MrJackGame",
    "MrJackState",
    "OpenSpielAgent",
    "load_game",
    "make_resampler",
]
