"""Short words for tests: set-up positions, small boards, random walks, full disks."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reference.reference_engine import ReferenceGame

from mrjack_ai.game.position import PositionView
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.board import board_from_dict
from mrjack_ai.setup.variant import DEFAULT_VARIANT, Variant, make_variant

DETECTIVE, JACK, CHANCE, TERMINAL = 0, 1, -1, -4
PLAYERS = {"detective": DETECTIVE, "jack": JACK}
NODES = ("jack", "deal", "pick", "use", "whistle", "aim", "alibi", "terminal")
BOARDS = ("whitechapel", "whitechapel_2016", "mews")
EIGHT = ("SH", "JW", "JS", "IL", "MS", "SG", "WG", "JB")


# --- reading a state ------------------------------------------------------------------------


def legal(state: State) -> list[str]:
    """Texts of the legal actions or outcomes, in the order of their ids."""
    return [state.action_to_string(action) for action in state.legal_actions()]


def legal_of(state: State, kind: str) -> set[str]:
    """What follows the word `kind` in the legal actions of that kind."""
    return {text.partition(" ")[2] for text in legal(state) if text.split(" ")[0] == kind}


def kinds(state: State) -> set[str]:
    """First words of the legal actions."""
    return {text.split(" ")[0] for text in legal(state)}


def play(state: State, *texts: str) -> State:
    """The state after some actions; the given one is left alone."""
    state = state.clone()
    for text in texts:
        state.apply_action(text)
    return state


def raw(state: PositionView) -> bytes:
    """Bytes of the packed position."""
    return state.position_words().tobytes()


# --- setting up a state ---------------------------------------------------------------------


def parse_words(text: str) -> dict[str, str]:
    """The words of a position text."""
    return dict(word.split("=", 1) for word in text.split())


def join_words(words: dict[str, str]) -> str:
    """Inverse of `parse_words`."""
    return " ".join(f"{name}={value}" for name, value in words.items())


def playing(
    code: str, by: str, words: str = "", variant: Variant = DEFAULT_VARIANT, turn: int = 0
) -> State:
    """The moment when a player has just taken a card and all is still to be done.

    Args:
        code: whose card.
        by: `detective` or `jack`.
        words: words of the position text that differ from the start of the game.
        variant: the variant; the standard game by default.
        turn: number of the turn; by default the first one the player starts.
    """
    if not turn:
        turn = 1 if by == variant.first else 2
    order = variant.play_order(turn)
    others = [other for other in variant.cast if other != code]
    face_up = [code, *others[: len(order) - 1]]
    dealt = face_up if turn % 2 else [other for other in variant.cast if other not in face_up]
    left = len(order) - order.index(PLAYERS[by])
    given = {
        "node": "use",
        "turn": str(turn),
        "jack": others[-1],
        "dealt": ",".join(dealt),
        "cards": ",".join(face_up[:left]),
        "using": code,
        **({} if code == "MS" else {"ability": "open"}),
        **parse_words(words),
    }
    state = State(join_words(given), variant=variant)
    assert state.current_player() == PLAYERS[by]
    return state


def small_variant(
    streets: str, start: str, turns: int = 8, first: str = "detective", **fields: Any
) -> Variant:
    """A variant on a board of a few hexes; its cast are the characters of `start`.

    Args:
        streets: street hexes, joined by spaces.
        start: `SH=a1 JW=a2`, one word a character.
        fields: further fields of the board file; empty ones by default.
    """
    data = {
        "name": "small",
        "streets": streets.split(),
        "obstacles": [],
        "gaslights": [],
        "lit_gaslights": {},
        "manholes": [],
        "covered_manholes": [],
        "exits": {},
        "cordons": [],
        "start": parse_words(start),
        "watson_light": "N",
        **fields,
    }
    board = board_from_dict(data)
    return Variant(board=board, cast=tuple(data["start"]), turns=turns, first=first)


def lane(length: int, start: str, column: str = "a", **fields: Any) -> Variant:
    """A variant on one straight street, a1 to a`length`: distances are differences."""
    return small_variant(streets_of(column, 1, length), start, **fields)


def streets_of(column: str, low: int, high: int) -> str:
    """Hexes of one column, joined by spaces."""
    return " ".join(f"{column}{number}" for number in range(low, high + 1))


# --- playing at random ----------------------------------------------------------------------

LOUD = ("accuse", "escape")
"""Actions that end a game early; avoided by most random games, so that late turns come up."""


def quiet_choice(rng: random.Random, texts: list[str], avoid: tuple[str, ...] = LOUD) -> str:
    """A random action, none that begins with a word of `avoid` unless there is no other."""
    return rng.choice([text for text in texts if not text.startswith(avoid)] or texts)


def random_walk(
    state: State, rng: random.Random, avoid: tuple[str, ...] = LOUD, plies: int = 10_000
) -> Iterator[State]:
    """The given state, then the same object after every random action, to the end."""
    yield state
    while not state.is_terminal() and plies > 0:
        state.apply_action(quiet_choice(rng, legal(state), avoid))
        plies -= 1
        yield state


def random_variant(rng: random.Random, boards: tuple[str, ...] = BOARDS) -> Variant:
    """Any cast, number of turns and starter."""
    cast = rng.sample(EIGHT, rng.choice((2, 4, 8)))
    return make_variant(
        rng.choice(boards), cast, rng.randint(1, 8), rng.choice(("detective", "jack"))
    )


def random_state(rng: random.Random, variant: Variant, avoid: tuple[str, ...] = LOUD) -> State:
    """A state somewhere in a random game, all moments of it equally likely."""
    states = [state.clone() for state in random_walk(new_game(variant), rng, avoid)]
    return rng.choice(states)


# --- the reference engine -------------------------------------------------------------------


def reference_game(variant: Variant) -> ReferenceGame:
    """A new game of the slow engine."""
    return ReferenceGame(variant.board.to_dict(), variant.cast, variant.turns, variant.first)


def reference_from(state: State) -> ReferenceGame:
    """The slow engine at the position of a state."""
    game = reference_game(state.variant)
    game.positions = dict(state.positions)
    game.lit = dict(state.lit_gaslights)
    game.covers = set(state.covered_manholes)
    game.cordons = set(state.cordons)
    game.watson_light = state.watson_light
    game.jack = state.identity
    game.alibis = {player: set(state.alibis(player)) for player in (DETECTIVE, JACK)}
    game.pile = set(state.variant.cast) - {state.identity}
    game.pile -= game.alibis[DETECTIVE] | game.alibis[JACK]
    game.cleared = set(state.cleared())
    game.witness_seen = state.witness_seen
    game.turn = max(1, state.turn)
    words = parse_words(str(state))
    dealt = set(words.get("dealt", "-").split(","))
    game.playing = state.playing
    game.face_up = set(state.cards()) - {state.playing}
    if dealt != {"-"} and state.turn % 2:
        game.other_half = set(state.variant.cast) - dealt
    if state.cards():
        game.cards_played = state.variant.cards_per_turn - len(state.cards())
    game.moved = state.has_moved
    game.whistled = set(words.get("whistled", "-").split(",")) - {"-"}
    if state.whistle_steps:
        game.whistle_spent = 3 - state.whistle_steps
    elif game.whistled:
        game.whistle_spent = 3  # Aiming the lantern after the last walk.
    game.ability_used = state.playing is not None and not state.ability_open
    if state.node in ("whistle", "aim") and game.whistled:
        game.ability_used = False  # The slow engine counts the whistle as used once it ends.
    game.node = {"aim": "light", "terminal": "over"}.get(state.node, state.node)
    game._ending = words.get("ending")
    return game


def bare_variant() -> Variant:
    """Neither lamps nor manholes, and exits with long names that begin alike."""
    return small_variant(
        "y1 y2 y3 z3 z4",
        "MS=y1 SG=y3",
        turns=2,
        watson_light=None,
        obstacles=["x1"],
        exits={"Westminster1": "y1", "Westminster2": "z4", "K": "y2"},
        cordons=["Westminster2"],
    )


# --- the disk -------------------------------------------------------------------------------


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """While the block runs no file grows beyond so many bytes, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def folder_of_nobody() -> Iterator[Path]:
    """A new folder that everybody may write, and reach, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """While the block runs permissions count, also for root."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if user == 0:
            os.seteuid(user)
