"""What every kind of picture says of a position, in words and sets of hexes.

All of it is read off the view alone: of an `Observation` nothing comes out that the observer does
not know.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mrjack_ai.engine.tables import build_tables, tables_record
from mrjack_ai.game.position import PositionView, set_bits
from mrjack_ai.setup.board import DIRECTIONS
from mrjack_ai.setup.characters import Ability

SIDES = ("Detective", "Jack")
"""What the players are called, by id."""
PLAYERS = ("the Detective", "Jack")
"""The same in a sentence."""
INNOCENT = ("cleared", "exonerated", "alibi")
"""Words of `standing` for those who cannot be Jack."""


def codes_text(codes: Iterable[str]) -> str:
    """Codes with blanks between them, or a dash."""
    return " ".join(codes) or "-"


def standing(view: PositionView, code: str) -> str:
    """What is known of a character: `Jack`, `suspect`, `cleared`, `exonerated` or `alibi`."""
    if code == view.identity:
        return "Jack"
    if code in view.cleared():
        return "cleared"
    if code in view.exonerated():
        return "exonerated"
    return "suspect" if code in view.suspects() else "alibi"


def alibi_cards(view: PositionView, player: int) -> tuple[str, ...]:
    """Alibi cards of a player; those the observer does not know are `?`."""
    known = view.alibis(player)
    return (*known, *"?" * (view.alibi_count(player) - len(known)))


def light(view: PositionView) -> tuple[set[str], str | None, tuple[str, ...]]:
    """Where there is light, by its source.

    Returns:
        Street hexes next to a lit gaslight; the hex of who holds the lantern, or None; and the
        street hexes in its beam, the nearest first.
    """
    board, tables = view.variant.board, tables_record(build_tables(view.variant))
    streets = board.streets
    lit = {
        streets[index]
        for hex in view.lit_gaslights
        for index in set_bits(tables["lamp_light"][board.gaslight_index[hex]])
    }
    for kind in view.variant.kinds:
        if kind.ability == Ability.AIM and view.watson_light is not None:
            hex = view.positions[kind.code]
            direction = DIRECTIONS.index(view.watson_light)
            ahead = set_bits(tables["beam"][board.street_index[hex], direction])
            beam = [streets[index] for index in ahead]  # ascending: by column, then number
            return lit, hex, tuple(beam if view.watson_light in ("N", "NE", "SE") else beam[::-1])
    return lit, None, ()


def what_now(view: PositionView) -> str:
    """Who does what next, or how the game ended."""
    outcome = view.outcome()
    if outcome is not None:
        by = "" if view.playing is None else f" by {view.playing}"
        whom = "" if view.accused is None else f", {view.accused} accused"
        return f"{SIDES[outcome.winner]} wins: {outcome.ending}{whom}{by}"
    if view.node == "jack":
        return "Chance draws Jack's card"
    if view.node == "deal":
        return "Chance deals the cards"
    # The play says who, at chance nodes too.
    player = SIDES[view.variant.play_order(view.turn)[view.play]]
    code = view.playing
    if view.node == "pick":
        return f"{player} picks a card"
    text = {
        "use": f"{player} uses {code}",
        "whistle": f"{player} whistles with {code}",
        "aim": f"{player} aims the lantern, using {code}",
        "alibi": f"{player} draws an alibi with {code}",
    }[view.node]
    text += ", moved" if view.has_moved else ", not moved"
    if view.ability_open:
        text += ", ability open"
    if view.whistled():
        text += f", whistled {codes_text(view.whistled())}, steps left: {view.whistle_steps}"
    return text


@dataclass(frozen=True)
class Cards:
    """The cards of a turn.

    Attributes:
        played: those played to their end, in table order.
        now: the one being played, or None.
        waiting: those still to be played.
        next: the cards of the next turn where they are known: on odd turns but the last.
        order: player id of each play of the turn.
        play: index of the play in progress, or about to begin.
    """

    played: tuple[str, ...]
    now: str | None
    waiting: tuple[str, ...]
    next: tuple[str, ...]
    order: tuple[int, ...]
    play: int


def cards_of_turn(view: PositionView) -> Cards | None:
    """The cards face up, or None when none are dealt."""
    if view.node in ("jack", "deal"):
        return None
    variant, left, now = view.variant, view.cards(), view.playing
    dealt = view.dealt()
    others = tuple(code for code in variant.cast if code not in dealt)
    face_up, other = (dealt, others) if view.turn % 2 == 1 else (others, dealt)
    return Cards(
        played=tuple(code for code in face_up if code not in left),
        now=now,
        waiting=tuple(code for code in left if code != now),
        next=other if view.turn % 2 == 1 and view.turn < variant.turns else (),
        order=variant.play_order(view.turn),
        play=view.play,
    )
