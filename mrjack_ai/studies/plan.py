"""What is played for the notebooks: which agents, on which variants, how many games."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mrjack_ai.setup.board import Board, board_from_dict, load_board
from mrjack_ai.setup.variant import Variant
from mrjack_ai.tournament.schedule import Settings

SEED = 1
"""Of all tournaments: so they share their deals, as far as the number of turns allows."""

STANDARD = "standard"
"""Name of the standard game among the variants."""
JACK_FIRST = "Jack starts"
"""Name of the game in which Jack starts the odd turns."""


@dataclass(frozen=True)
class Size:
    """How much is played.

    Attributes:
        self_play: agents that play themselves, the weakest first, and games of each.
        variants: agent that plays the variants against itself, and games of each.
        doublings: agents of which each plays the one before it, and games of each match.
        timed: the same for agents with a clock.
        anatomy: agents whose games of self-play are replayed.
        probes: walks down the game tree.
    """

    self_play: tuple[tuple[str, int], ...]
    variants: tuple[str, int]
    doublings: tuple[tuple[str, ...], int]
    timed: tuple[tuple[str, ...], int]
    anatomy: tuple[str, ...]
    probes: int


def _searching(*simulations: int) -> tuple[str, ...]:
    return tuple(f"ismcts:sims={count}" for count in simulations)


def _timed(*milliseconds: int) -> tuple[str, ...]:
    return tuple(f"ismcts:time={count}" for count in milliseconds)


_RULES = ("random", "cautious", "greedy")

SIZES: dict[str, Size] = {
    "small": Size(
        self_play=tuple((agent, 20) for agent in (*_RULES, *_searching(2, 4))),
        variants=("greedy", 20),
        doublings=(_searching(2, 4, 8), 12),
        timed=(_timed(1, 2), 4),
        anatomy=("random", "ismcts:sims=4"),
        probes=60,
    ),
    "full": Size(
        self_play=(
            *((agent, 1000) for agent in _RULES),
            ("pimc:sims=200", 500),
            *((agent, 1000) for agent in _searching(50, 100, 200, 400, 1000)),
            ("ismcts:sims=3200", 500),
        ),
        variants=("ismcts:sims=400", 800),
        doublings=(_searching(50, 100, 200, 400, 800, 1600, 3200), 500),
        timed=(_timed(5, 10, 20, 40), 150),
        anatomy=("random", "greedy", "ismcts:sims=1000"),
        probes=20_000,
    ),
}
"""What `python -m mrjack_ai.studies data` can make: a few seconds, and about 25 minutes on two
idle cores."""


@dataclass(frozen=True)
class Study:
    """One tournament.

    Attributes:
        name: `self-play`, `variants`, `doublings` or `timed`.
        variant: name of the variant.
        settings: what is played.
    """

    name: str
    variant: str
    settings: Settings

    @property
    def file_name(self) -> str:
        """Name of its results file."""
        words = " ".join([self.name, self.variant, *self.settings.agents])
        return re.sub(r"[^\w=]+", "-", words) + f"-{self.settings.games}.db"


def _board(name: str, lamps: Mapping[str, int | None]) -> Board:
    """The standard board with other gaslight tiles at the start."""
    data = load_board("whitechapel").to_dict()
    return board_from_dict(data | {"name": name, "lit_gaslights": dict(lamps)})


def variants() -> dict[str, Variant]:
    """The variants compared, by name, the standard game first.

    They change who starts, the number of turns, or which gaslight tiles there are: `lamps stay`
    has six plain tiles; `all lamps go` has numbers on all six; `four lamps` lacks the plain tiles,
    so that it gets dark; `seven lamps` has one more plain tile.
    """
    usual: dict[str, int | None] = dict(load_board("whitechapel").lit_gaslights)
    plain = [hex for hex, number in usual.items() if number is None]
    unlit = next(hex for hex in load_board("whitechapel").gaslights if hex not in usual)
    going = dict(usual)
    going.update((hex, 5 + place) for place, hex in enumerate(plain))
    numbered = {hex: number for hex, number in usual.items() if number is not None}
    return {
        STANDARD: Variant(),
        JACK_FIRST: Variant(first="jack"),
        "7 turns": Variant(turns=7),
        "6 turns": Variant(turns=6),
        "7 turns, Jack starts": Variant(turns=7, first="jack"),
        "6 turns, Jack starts": Variant(turns=6, first="jack"),
        "lamps stay": Variant(_board("lamps_stay", dict.fromkeys(usual))),
        "all lamps go": Variant(_board("all_lamps_go", going)),
        "four lamps": Variant(_board("four_lamps", numbered)),
        "seven lamps": Variant(_board("seven_lamps", usual | {unlit: None})),
    }


def studies(size: Size) -> list[Study]:
    """The tournaments of a size, the shorter kinds first."""
    known = variants()
    found = []
    for variant in (STANDARD, JACK_FIRST):
        for agent, games in size.self_play:
            found.append(_self_play("self-play", variant, known[variant], agent, games))
    agent, games = size.variants
    found += [_self_play("variants", name, known[name], agent, games) for name in known]
    for name, (agents, games) in (("doublings", size.doublings), ("timed", size.timed)):
        for one, other in zip(agents[1:], agents[:-1], strict=True):
            settings = Settings((one, other), games, SEED, known[STANDARD], "match")
            found.append(Study(name, STANDARD, settings))
    return found


def _self_play(name: str, title: str, variant: Variant, agent: str, games: int) -> Study:
    return Study(name, title, Settings((agent,), games, SEED, variant, "self-play"))
