"""OpenSpiel's own bots as agents, by name: `openspiel:random`, `openspiel:ismcts,sims=200`.

| bot | how it plays |
|---|---|
| random | uniformly over the legal actions |
| mcts | Monte Carlo tree search of one state, sampled anew for each decision, as if everything \
in it were known to both players |
| ismcts | information-set Monte Carlo tree search |

`mcts` knows nothing of hidden information: as the Detective it takes the sampled Jack for the true
one, and accuses him with confidence. It is here as a measure of what that costs. The searching
ones take `sims` (simulations a decision), `c` (the constant of UCT) and `rollouts` (random games a
leaf); all are written in Python, and slow. Every bot draws from the agent's generator only, so
games can be repeated from their seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mrjack_ai.agents.parameters import parse_values, plain_parameters, ranges
from mrjack_ai.common.numbers import RealNumbers, WholeNumbers
from mrjack_ai.common.text import shown
from mrjack_ai.errors import AgentError
from mrjack_ai.openspiel.bots import BotAgent
from mrjack_ai.openspiel.game import MrJackGame, make_resampler

# The algorithms are imported when a bot is made: that takes longer than importing the library.


@dataclass(frozen=True)
class RandomBotMaker:
    """Makes `uniform_random.UniformRandomBot`."""

    def __call__(self, game: MrJackGame, player: int, seed: int) -> Any:
        """The bot of one game."""
        from open_spiel.python.bots import uniform_random

        return uniform_random.UniformRandomBot(player, np.random.RandomState(seed))


@ranges(sims=WholeNumbers(1, 10**9), c=RealNumbers(0, 1000), rollouts=WholeNumbers(1, 10**6))
@dataclass(frozen=True)
class _SearchMaker:
    sims: int = 100
    c: float = 1.4
    rollouts: int = 1

    def _parts(self, seed: int) -> tuple[Any, np.random.RandomState]:
        from open_spiel.python.algorithms import mcts

        # The evaluator and the bot draw in turns from one stream.
        random_state = np.random.RandomState(seed)
        return mcts.RandomRolloutEvaluator(self.rollouts, random_state), random_state


class MCTSBotMaker(_SearchMaker):
    """Makes `mcts.MCTSBot`.

    Args:
        sims: simulations a decision.
        c: constant of UCT.
        rollouts: random games a leaf.

    Raises:
        ArgumentError: when a value is of the wrong type or out of range.
    """

    def __call__(self, game: MrJackGame, player: int, seed: int) -> Any:
        """The bot of one game."""
        from open_spiel.python.algorithms import mcts

        evaluator, random_state = self._parts(seed)
        return mcts.MCTSBot(game, self.c, self.sims, evaluator, random_state=random_state)


class ISMCTSBotMaker(_SearchMaker):
    """Makes `ismcts.ISMCTSBot`.

    Args:
        sims: simulations a decision.
        c: constant of UCT.
        rollouts: random games a leaf.

    Raises:
        ArgumentError: when a value is of the wrong type or out of range.
    """

    def __call__(self, game: MrJackGame, player: int, seed: int) -> Any:
        """The bot of one game."""
        from open_spiel.python.algorithms import ismcts

        evaluator, random_state = self._parts(seed)
        bot = ismcts.ISMCTSBot(game, evaluator, self.c, self.sims, random_state=random_state)
        bot.set_resampler(make_resampler(seed))  # its own is seeded by the clock
        return bot


BOTS: dict[str, type[Any]] = {
    "random": RandomBotMaker,
    "mcts": MCTSBotMaker,
    "ismcts": ISMCTSBotMaker,
}
"""The bots by name."""


def _maker(bot: str) -> type[Any]:
    if bot not in BOTS:
        known = ", ".join(BOTS)
        raise AgentError(
            f"unknown OpenSpiel bot {shown(bot)}; known are {known}, as in "
            "openspiel:ismcts,sims=200"
        )
    return BOTS[bot]


class OpenSpielAgent(BotAgent):
    """One of OpenSpiel's bots in Python; it is shown states sampled from what its player knows.

    Args:
        bot: a name out of `BOTS`.
        values: parameters of that bot.

    Raises:
        AgentError: for an unknown bot.
        ArgumentError: when a value is of the wrong type or out of range.
    """

    usage: ClassVar[str] = "random | mcts,sims=100,c=1.4,rollouts=1 | ismcts,sims=100,..."

    def __init__(self, bot: str, **values: int | float) -> None:
        super().__init__(_maker(bot)(**values))

    @classmethod
    def from_spec(cls, text: str) -> OpenSpielAgent:
        """Build the agent from what follows `openspiel:`, as in `ismcts,sims=200`.

        Raises:
            AgentError: for an unknown bot or parameter, or a value out of range.
        """
        return cls(**cls.spec_parameters(text))

    @classmethod
    def spec_parameters(cls, text: str) -> dict[str, Any]:
        """What follows `openspiel:`, taken apart: `bot` and the parameters of that bot.

        Raises:
            AgentError: for an unknown bot or parameter, or a value that is not of its type.
        """
        bot, comma, rest = text.partition(",")
        bot = bot.strip()
        maker = _maker(bot)
        known = plain_parameters(f"openspiel:{bot}", maker)
        given = parse_values(f"openspiel:{text}", rest, known) if comma else {}
        return {"bot": bot, **{p.name: p.default for p in known}, **given}
