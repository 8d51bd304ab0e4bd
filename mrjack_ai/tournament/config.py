"""Descriptions of tournaments: the same words as options of the command and as TOML files.

    # night.toml
    format = "gauntlet"
    agents = ["ismcts:sims=200", "greedy", "cautious"]
    games = 400
    deals = "suite.txt"        # beside this file
    move_time_limit = 500      # milliseconds
    turns = 6
    code = ["my_agents.py"]    # files that register agents, beside this file

Every word may be missing; `Settings`, `make_variant` and `load_code` say what they mean.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mrjack_ai.agents import load_code
from mrjack_ai.common.reading import read_text
from mrjack_ai.common.text import shown
from mrjack_ai.errors import TournamentError
from mrjack_ai.setup.board import built_in_boards
from mrjack_ai.setup.variant import FULL_CAST, MAX_TURNS, make_variant
from mrjack_ai.stats.sprt import Sprt
from mrjack_ai.tournament.deals import read_deals
from mrjack_ai.tournament.schedule import GAMES, Settings

DEFAULT_AGENTS = ("greedy", "cautious", "random")
DEFAULT_GAMES = 200
DEFAULT_SPRT_GAMES = 20_000
"""Most games of a sequential test, which ends long before as a rule."""

_WORDS: dict[str, tuple[tuple[type, ...], str]] = {
    "format": ((str,), "a text"),
    "agents": ((list,), "a list of texts"),
    "games": ((int,), "a whole number"),
    "seed": ((int,), "a whole number"),
    "key": ((str,), "a text of 64 hexadecimal digits"),
    "deals": ((str,), "the name of a file"),
    "move_time_limit": ((int, float), "a number of milliseconds"),
    "sprt": ((str,), "a text such as elo0=0 elo1=20 alpha=0.05 beta=0.05"),
    "board": ((str,), "a text"),
    "cast": ((str,), "a text such as SH+JW"),
    "turns": ((int,), "a whole number"),
    "first": ((str,), "a text"),
    "code": ((list,), "a list of names of Python files"),
}


def make_settings(
    agents: Iterable[str] = DEFAULT_AGENTS,
    games: int | None = None,
    seed: int = 1,
    format: str = "round-robin",
    deals: str | Path | None = None,
    move_time_limit: float | None = None,
    sprt: str | Sequence[str] | None = None,
    board: str | Path = "whitechapel",
    cast: str | Iterable[str] = FULL_CAST,
    turns: int = MAX_TURNS,
    first: str = "detective",
    key: str | None = None,
) -> Settings:
    """Settings from loose arguments, the words of options and TOML files.

    Args:
        agents: specification strings.
        games: games of each pairing; by default twice the deals given, else 200, or 20,000 for a
            sequential test.
        seed: the seed.
        format: one of `FORMATS`.
        deals: file of deals to play; None draws them from the seed.
        move_time_limit: most milliseconds for a decision.
        sprt: words of a sequential test (see `Sprt.parse`), as one text or one by one.
        board: name or file of a board.
        cast: characters, as text or list.
        turns: number of turns.
        first: who plays first on odd turns.
        key: the key of a tournament that is to be repeated (see `Settings`).

    Raises:
        TournamentError, VariantError, BoardError, DealError: when there is no such tournament.
    """
    words = sprt.split() if isinstance(sprt, str) else (sprt or ())
    variant = make_variant(board, cast, turns, first)
    found = None if deals is None else read_deals(deals, variant)
    if games is None:
        usual = DEFAULT_GAMES if sprt is None else DEFAULT_SPRT_GAMES
        games = usual if found is None else 2 * len(found)
    games = GAMES.read(games, "games", TournamentError)
    if found is not None:
        # Deals that are not played decide nothing; a file may grow behind those that are.
        found = found[: max(games // 2, 1)]
    return Settings(
        agents=tuple(agents),
        games=games,
        seed=seed,
        variant=variant,
        format=format,
        deals=found,
        move_time_limit=move_time_limit,
        sprt=None if sprt is None else Sprt.parse(words),
        key=key,
    )


def read_description(path: str | Path) -> dict[str, Any]:
    """The words of a TOML file, to be given to `make_settings`, but for `code`: see `load_code`.

    Names of files in it are relative to its folder.

    Raises:
        TournamentError: when it cannot be read, or a word is unknown or of the wrong type.
    """
    path = Path(path)
    text = read_text(path, TournamentError)
    try:
        words = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOML errors name line and column
        raise TournamentError(f"cannot read {str(path)!r}: {error}") from None
    for word, value in words.items():
        if word not in _WORDS:
            known = ", ".join(_WORDS)
            raise TournamentError(f"{str(path)!r}: unknown {shown(word)}; known are {known}")
        types, name = _WORDS[word]
        texts = value if isinstance(value, list) else []
        if type(value) not in types or not all(isinstance(text, str) for text in texts):
            raise TournamentError(f"{str(path)!r}: {word} = {shown(value)} must be {name}")
    if "deals" in words:
        words["deals"] = str(path.parent / words["deals"])
    if "code" in words:
        words["code"] = [str(path.parent / file) for file in words["code"]]
    if "board" in words and words["board"] not in built_in_boards():
        words["board"] = str(path.parent / words["board"])
    return words


def load_settings(path: str | Path) -> Settings:
    """The tournament that a TOML file describes; loads the code files it names.

    Raises:
        MrJackError: as `read_description`, `load_code` and `make_settings`.
    """
    words = read_description(path)
    for file in words.pop("code", ()):
        load_code(file)
    return make_settings(**words)
