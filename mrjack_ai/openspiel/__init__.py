"""The game in OpenSpiel: `pyspiel.load_game("mrjack")`, and bots both ways.

Importing this module registers the game and the agents `openspiel:BOT`; `import mrjack_ai` does
so too.
"""

from typing import TYPE_CHECKING

from mrjack_ai.agents.registry import register_agent_at
from mrjack_ai.common.lazy import names_on_demand
from mrjack_ai.openspiel.game import MrJackGame, MrJackState, load_game, make_resampler

if TYPE_CHECKING:
    from mrjack_ai.openspiel.agents import OpenSpielAgent
    from mrjack_ai.openspiel.bots import AgentBot, BotAgent

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "AgentBot": "mrjack_ai.openspiel.bots",
        "BotAgent": "mrjack_ai.openspiel.bots",
        "OpenSpielAgent": "mrjack_ai.openspiel.agents",
    },
)

register_agent_at("openspiel", "mrjack_ai.openspiel.agents:OpenSpielAgent")

__all__ = [
    "AgentBot",
    "BotAgent",
    "MrJackGame",
    "MrJackState",
    "OpenSpielAgent",
    "load_game",
    "make_resampler",
]
