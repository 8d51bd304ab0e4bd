"""Scores with intervals, from the games of a tournament."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mrjack_ai.record import GameRecord
from mrjack_ai.tournament.runner import Results
from mrjack_ai.tournament.statistics import Rate, mean_score, wilson
from mrjack_ai.variant import DETECTIVE, JACK, PLAYER_NAMES


@dataclass(frozen=True)
class Standing:
    """One agent's results.

    Attributes:
        agent: specification string.
        score: share of all its games won.
        as_detective: share of its games as the Detective won.
        as_jack: share of its games as Jack won.
        won_by: games won, by ending; `forfeit` is one too.
        lost_by: games lost, by ending.
    """

    agent: str
    score: Rate
    as_detective: Rate
    as_jack: Rate
    won_by: dict[str, int]
    lost_by: dict[str, int]


def winner_of(record: GameRecord) -> int:
    """Player id of the winner of a game that is over; a forfeited one is lost for the forfeiter."""
    if "forfeit" in record.details:
        return 1 - PLAYER_NAMES.index(record.details["forfeit"]["by"])
    return DETECTIVE if record.ending == "caught" else JACK


def standings(results: Results) -> list[Standing]:
    """Each agent's results, the best score first.

    The interval of the score counts all games of one deal as one observation; a deal of which
    not all games were played is left out of it.
    """
    found = []
    for number, agent in enumerate(results.settings.agents):
        wins = {DETECTIVE: 0, JACK: 0}
        games = {DETECTIVE: 0, JACK: 0}
        won_by: Counter[str] = Counter()
        lost_by: Counter[str] = Counter()
        deals: dict[int, list[int]] = {}
        for record in results.records:
            for side in (DETECTIVE, JACK):  # both in self-play
                if record.agents[side] != agent:
                    continue
                won = winner_of(record) == side
                games[side] += 1
                wins[side] += won
                (won_by if won else lost_by)[record.ending or "forfeit"] += 1
                deals.setdefault(record.details["deal"], []).append(won)
        each = sum(2 * pairing.count(number) for pairing in results.settings.pairings)
        scores = [sum(games) / each for games in deals.values() if len(games) == each]
        found.append(
            Standing(
                agent=agent,
                score=mean_score(scores, each),
                as_detective=wilson(wins[DETECTIVE], games[DETECTIVE]),
                as_jack=wilson(wins[JACK], games[JACK]),
                won_by=dict(won_by),
                lost_by=dict(lost_by),
            )
        )
    return sorted(found, key=lambda standing: -np.nan_to_num(standing.score.value))


@dataclass(frozen=True)
class PairingResult:
    """Results of one pairing, seen from its first agent.

    Attributes:
        agents: the two specification strings.
        score: share of games the first one won.
    """

    agents: tuple[str, str]
    score: Rate


def pairing_results(results: Results) -> list[PairingResult]:
    """The result of each pairing."""
    found = []
    for number, (one, other) in enumerate(results.settings.pairings):
        names = (results.settings.agents[one], results.settings.agents[other])
        pairs: dict[int, list[int]] = {}
        for record in results.records:
            if record.details["pairing"] == number:
                won = record.agents[winner_of(record)] == names[0]
                pairs.setdefault(record.details["deal"], []).append(won)
        scores = [sum(pair) / 2 for pair in pairs.values() if len(pair) == 2]
        found.append(PairingResult(names, mean_score(scores)))
    return found


def mean_length(records: Sequence[GameRecord]) -> float:
    """Mean number of actions and chance outcomes of a game; NaN when there are none."""
    return float(np.mean([len(record.actions) for record in records])) if records else np.nan
