"""What stands beside the drawn board: the turn, its cards, the suspects, and what signs mean."""

from __future__ import annotations

import textwrap

from mrjack_ai.game.position import PositionView
from mrjack_ai.render import shapes
from mrjack_ai.render.actions import LastAction
from mrjack_ai.render.colours import (
    BEAM,
    BLUE,
    DEEP_VERMILLION,
    INK,
    LINE,
    LIT,
    MUTED,
    PALE,
    UNLIT,
    WHITE,
)
from mrjack_ai.render.facts import (
    SIDES,
    alibi_cards,
    cards_of_turn,
    codes_text,
    standing,
    what_now,
)
from mrjack_ai.render.html import Markup, element, join
from mrjack_ai.render.shapes import Point, box, text
from mrjack_ai.setup.characters import KIND_BY_CODE, Ability
from mrjack_ai.setup.variant import Variant

WIDTH = 280.0
"""Pixels the panel is wide."""
_CHARACTERS = 254.0
"""Where the table of characters begins."""
_ROW, _LEGEND_ROW = 22.0, 24.0
_LINE = 47
"""Characters of a line; one of more is written smaller."""


def legend_top(variant: Variant) -> float:
    """Where the legend begins, below the table of characters."""
    return _CHARACTERS + 14 + _ROW * len(variant.cast) + 20


def height(variant: Variant) -> float:
    """Height of the panel; it is the same for all positions of a variant."""
    return legend_top(variant) + 12 + _LEGEND_ROW * -(-len(_samples(variant)) // 2)


def _at(x: float, y: float, words: str, size: float = 11.5, **style: object) -> Markup:
    if len(words) > _LINE:  # names of exits can be long
        size = round(size * _LINE / len(words), 2)
    return text((x, y), words, size, anchor="start", **style)  # type: ignore[arg-type]


def panel(view: PositionView, last: LastAction | None) -> list[Markup]:
    """The parts that change with the position, from (0, 0) down; `last` is its last action."""
    return [*_head(view), *_turn(view), *_secrets(view, last), *_characters(view)]


def _head(view: PositionView) -> list[Markup]:
    variant, outcome = view.variant, view.outcome()
    board = variant.board.name
    parts = [
        _at(
            0,
            16,
            f"Turn {view.turn} of {variant.turns}" if view.turn else "New game",
            18,
            bold=True,
        ),
        text((WIDTH, 16), board, round(min(11, 240 / len(board)), 1), MUTED, anchor="end"),
    ]
    # In whose hands the game is, in a box of its own; the sentence says what he does.
    player = view.current_player()
    who = "Chance" if player < 0 else SIDES[player]
    if outcome is not None:
        who = f"{SIDES[outcome.winner]} wins"
    words = what_now(view).removeprefix(who).lstrip(" :")
    fill = INK if who.startswith("Jack") else BLUE if who.startswith("Det") else MUTED
    wide = 18 + 6.9 * len(who)
    lines = textwrap.wrap(words[:1].upper() + words[1:], _LINE, break_on_hyphens=False)
    if len(lines) > 2:
        lines = [lines[0], " ".join(lines[1:])]
    parts.append(box((wide / 2, 34), wide, 19, fill, fill))
    parts.append(text((wide / 2, 38), who, 11.5, WHITE, bold=True))
    parts += [_at(0, 59 + 14 * n, words, 11.5) for n, words in enumerate(lines)]
    return parts


def _turn(view: PositionView) -> list[Markup]:
    cards = cards_of_turn(view)
    if cards is None:
        return [_at(0, 100, "Cards: not dealt yet", fill=MUTED)]
    parts = [_at(0, 94, "Plays"), _at(0, 126, "Cards")]
    for index, player in enumerate(cards.order):
        at: Point = (74 + 59 * index, 90)
        now = index == cards.play
        ink = MUTED if index < cards.play else INK
        parts.append(
            box(
                at,
                56,
                17,
                WHITE if now else "none",
                BLUE if now else LINE,
                stroke_width="2.4" if now else "1",
            )
        )
        parts.append(text((at[0], at[1] + 3.5), SIDES[player], 10, ink, bold=now))
    entries = [(code, "played") for code in cards.played]
    entries += [(cards.now, "now")] if cards.now is not None else []
    entries += [(code, "to play") for code in cards.waiting]
    for index, (code, word) in enumerate(entries):
        at = (74 + 59 * index, 125)
        fill, edge, ink = {
            "played": (PALE, LINE, MUTED),
            "now": (WHITE, BLUE, INK),
            "to play": (WHITE, MUTED, INK),
        }[word]
        wide = "2.8" if word == "now" else "1.2"
        parts.append(box(at, 56, 34, fill, edge, stroke_width=wide))
        parts.append(text((at[0], at[1] + 1), code, 14, ink, bold=word != "played"))
        parts.append(text((at[0], at[1] + 12.5), word, 9, ink))
        if word == "played":
            ends = (at[0] - 12, at[1] - 4), (at[0] + 12, at[1] - 4)
            parts.append(shapes.line(*ends, MUTED, 1.4))
    if cards.next:
        parts.append(_at(0, 160, f"Next turn: {codes_text(cards.next)}", 11))
    return parts


def _secrets(view: PositionView, last: LastAction | None) -> list[Markup]:
    seen = "Jack was seen" if view.witness_seen else "Jack was not seen"
    jack = "not known" if view.identity is None else f"{view.identity}, {_name(view.identity)}"
    if view.node == "jack":
        jack = "not drawn yet"
    alibis = ", ".join(f"{SIDES[side]} {codes_text(alibi_cards(view, side))}" for side in (0, 1))
    return [
        _eye((9, 175), view.witness_seen),
        _at(24, 179, f"Witness card: {seen}", bold=True),
        _at(0, 196, f"Jack: {jack}"),
        _at(0, 212, f"Alibi cards: {alibis}"),
        _at(0, 229, f"Last: {last.sentence}" if last else "", fill=DEEP_VERMILLION),
    ]


def _eye(at: Point, open: bool) -> Markup:
    """The witness card: an eye, struck out when Jack was not seen."""
    x, y = at
    lids = element("ellipse", cx=x, cy=y, rx=9, ry=5.5, fill=WHITE, stroke=INK)
    strike = None if open else shapes.line((x - 8, y + 7), (x + 8, y - 7), INK, 2)
    return join(lids, shapes.circle(at, 2.6, INK), strike)


def _name(code: str) -> str:
    return KIND_BY_CODE[code].name


def _characters(view: PositionView) -> list[Markup]:
    visible, positions = view.visible(), view.positions
    parts = [_at(0, _CHARACTERS, f"May be Jack: {len(view.candidates())}", 12, bold=True)]
    for row, code in enumerate(view.variant.cast):
        y = _CHARACTERS + 17 + _ROW * row
        word, seen = standing(view, code), code in visible
        chip = shapes.token((0, 0), code, word, visible=seen)
        bold = code == view.playing
        name = _name(code).split()[-1]
        cells = (
            _at(30, y + 4, name, bold=bold),
            _at(100, y + 4, positions[code], fill=MUTED),
            _at(134, y + 4, "visible" if seen else "hidden"),
            _at(184, y + 4, word, bold=word == "Jack"),
            _at(248, y + 4, "now", fill=BLUE, bold=True) if bold else None,
        )
        # One part a row: a page that shows many moments keeps every part once.
        parts.append(join(_scaled(chip, (12, y), 0.72), *cells))
    return parts


# -- what the signs mean --------------------------------------------------------------------


def _scaled(shape: Markup, at: Point, size: float) -> Markup:
    place = f"translate({shapes.number(at[0])} {shapes.number(at[1])}) scale({size:g})"
    return element("g", shape, transform=place)


def _samples(variant: Variant) -> list[tuple[str, Markup]]:
    """Meaning and sample of each sign that this variant can show."""
    zero: Point = (0, 0)
    board = variant.board
    found = [
        ("suspect", shapes.token(zero, "XX", "suspect")),
        ("innocent", shapes.token(zero, "XX", "cleared")),
        ("Jack", shapes.token(zero, "XX", "Jack")),
        ("hidden in the dark", shapes.token(zero, "XX", "suspect", visible=False)),
        ("being played", shapes.token(zero, "XX", "suspect", playing=True)),
        ("last action", shapes.arrow((-38, 0), (40, 0))),
        ("dark street", shapes.street(zero, UNLIT)),
        ("lit street", shapes.street(zero, LIT)),
        ("building", shapes.building(zero)),
    ]
    if any(kind.ability == Ability.AIM for kind in variant.kinds):
        found.append(("Watson's beam", _beam_sample()))
    if board.gaslights:
        found += [
            ("lit, out after turn 1", shapes.gaslight(zero, True, 1)),
            ("gaslight out", shapes.gaslight(zero, False)),
        ]
    if board.manholes:
        found += [
            ("open manhole", shapes.manhole((0, -4), False, False)),
            ("covered manhole", shapes.manhole((0, -4), True, False)),
        ]
    return found


def _beam_sample() -> Markup:
    ground = shapes.street((0, 0), BEAM)
    return join(ground, shapes.beam((-46, 0), (0, 0)))


def legend(variant: Variant) -> list[Markup]:
    """The signs and their meaning: it depends on the variant alone."""
    top = legend_top(variant)
    parts = [shapes.line((0, top - 12), (WIDTH, top - 12), LINE, 1)]
    for index, (meaning, sample) in enumerate(_samples(variant)):
        x, y = 14 + WIDTH / 2 * (index % 2), top + 2 + _LEGEND_ROW * (index // 2)
        size = 0.42 if meaning not in ("open manhole", "covered manhole") else 0.7
        size = 0.62 if "XX" in sample else size
        parts.append(_scaled(sample, (x, y), size))
        parts.append(_at(x + 20, y + 4, meaning, 10.5))
    return parts
