"""Which games a tournament consists of, and with what randomness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from typing import Any

import numpy as np

from mrjack_ai.agents.registry import make_agent
from mrjack_ai.errors import MrJackError, RecordError
from mrjack_ai.record import GameRecord
from mrjack_ai.tournament.deals import Deal, make_deal
from mrjack_ai.tournament.match import play_game
from mrjack_ai.variant import Variant
from mrjack_ai.version import RULES_VERSION

# First element of every spawn key, so that deals and agents never share a stream.
_DEAL_STREAM, _AGENT_STREAM = 0, 1


class TournamentError(MrJackError):
    """A tournament cannot be run as described, or its results cannot be read or written."""


@dataclass(frozen=True)
class Settings:
    """A round robin: everything that decides its games.

    Attributes:
        agents: specification strings, at least two and all different.
        games: games of each pairing; even, since each deal is played with both sides.
        seed: not negative.
        variant: the variant.

    Raises:
        TournamentError: when such a tournament cannot be played.
    """

    agents: tuple[str, ...]
    games: int
    seed: int
    variant: Variant

    def __post_init__(self) -> None:
        if len(self.agents) < 2:
            raise TournamentError("a tournament needs at least two agents")
        if len(set(self.agents)) != len(self.agents):
            raise TournamentError(f"an agent is listed twice in {' '.join(self.agents)}")
        if type(self.games) is not int or self.games < 2 or self.games % 2:
            raise TournamentError(
                f"games {self.games} must be even and at least 2: each deal is played twice, "
                "with the sides swapped"
            )
        if type(self.seed) is not int or self.seed < 0:
            raise TournamentError(f"seed {self.seed} must be a whole number, not negative")

    def check_agents(self, allow_cheats: bool = False) -> None:
        """Build every agent once.

        Raises:
            AgentError: when a specification is wrong.
            TournamentError: for an agent that cheats, unless that is allowed.
        """
        for spec in self.agents:
            if make_agent(spec).cheats and not allow_cheats:
                raise TournamentError(
                    f"agent {spec!r} looks at what it may not know; give --allow-cheats "
                    "(from Python: allow_cheats=True) to let it play all the same"
                )

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """Indices of the two agents of each pairing."""
        return list(combinations(range(len(self.agents)), 2))

    @property
    def total_games(self) -> int:
        """Games of the whole tournament."""
        return self.games * len(self.pairings)

    def to_dict(self) -> dict[str, Any]:
        """JSON form, the first line of a results file."""
        return {
            "tournament": "round robin",
            "agents": list(self.agents),
            "games": self.games,
            "seed": self.seed,
            "rules": RULES_VERSION,
            **self.variant.to_dict(),
        }

    def schedule(self) -> Iterator[Game]:
        """All games in order: deal by deal, and for each deal pairing by pairing."""
        for deal in range(self.games // 2):
            for pairing, (one, other) in enumerate(self.pairings):
                yield Game(pairing, deal, (one, other))
                yield Game(pairing, deal, (other, one))


@dataclass(frozen=True)
class Game:
    """One game of the schedule.

    Attributes:
        pairing: index of the pairing.
        deal: number of the deal; equal numbers are equal deals, in every pairing.
        players: indices of the agents that play the Detective and Jack.
    """

    pairing: int
    deal: int
    players: tuple[int, int]

    def make_deal(self, settings: Settings) -> Deal:
        """What chance decides in this game."""
        sequence = np.random.SeedSequence(settings.seed, spawn_key=(_DEAL_STREAM, self.deal))
        return make_deal(settings.variant, np.random.default_rng(sequence))

    def play(self, settings: Settings) -> GameRecord:
        """Play the game; the result depends on nothing but the settings and this game.

        Raises:
            AgentError: when an agent breaks its contract.
        """
        specs = (settings.agents[self.players[0]], settings.agents[self.players[1]])
        generators = [
            np.random.default_rng(
                np.random.SeedSequence(
                    settings.seed,
                    spawn_key=(_AGENT_STREAM, self.pairing, self.deal, agent, side),
                )
            )
            for side, agent in enumerate(self.players)
        ]
        state = play_game(
            settings.variant,
            [make_agent(spec) for spec in specs],
            self.make_deal(settings),
            generators,
        )
        return GameRecord.from_state(
            state,
            agents=specs,
            seed=settings.seed,
            details={"pairing": self.pairing, "deal": self.deal},
        )

    def check(self, settings: Settings, record: GameRecord) -> None:
        """Check that a record is one of this game.

        Raises:
            RecordError: when it is another game, is not finished, or breaks the rules.
        """
        place = (record.details.get("pairing"), record.details.get("deal"))
        specs = tuple(settings.agents[agent] for agent in self.players)
        expected = ((self.pairing, self.deal), specs, settings.seed, settings.variant)
        if (place, record.agents, record.seed, record.variant) != expected:
            raise RecordError("this is not the game that belongs here")
        if record.ending is None:
            raise RecordError("the game is not finished")
        record.check_rules()
        deal = self.make_deal(settings)
        for state, action in zip_longest(record.states(), record.actions):
            if action is None:
                record.check_end(state)
            elif state.is_chance_node() and state.action_to_string(deal.outcome(state)) != action:
                raise RecordError(f"{action!r} is not what this deal has here")


def play_batch(settings: Settings, games: Sequence[Game]) -> list[GameRecord]:
    """Play some games of the schedule, in order; what worker processes run."""
    return [game.play(settings) for game in games]
