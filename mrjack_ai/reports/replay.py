"""A whole game as one web page: step through it, from any player's side.

The page holds every part of a picture once (see `svg.moving_layers`) and for each moment and each
perspective the numbers of its parts. What a player's perspective shows is made from his
`Observation`s alone, until the game is over and all cards lie on the table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from mrjack_ai.engine.layout import EVENT_WITNESS
from mrjack_ai.game.actions import action_space
from mrjack_ai.game.observation import event_text, mask_event
from mrjack_ai.game.position import PositionView
from mrjack_ai.game.record import GameRecord
from mrjack_ai.game.state import State
from mrjack_ai.render import panel, svg
from mrjack_ai.render.facts import SIDES
from mrjack_ai.render.html import Markup, element, join, page, static

PERSPECTIVES: tuple[tuple[str, int | None], ...] = (
    ("Detective", 0),
    ("Jack", 1),
    ("Everything", None),
)
"""Name of each perspective, and the player whose knowledge it shows."""
_EVERYTHING = 2
_CHART_HEIGHT = 80


def replay_page(record: GameRecord, note: str | None = None) -> str:
    """A game as a page of its own, which works from disk and without a network.

    Args:
        record: the game.
        note: a line for the head of the page, such as why a game was forfeited.

    Returns:
        HTML.

    Raises:
        RecordError: when the record breaks the rules.
    """
    record.check_rules()
    states = list(record.states())
    record.check_end(states[-1])
    film = _film(states)
    agents = [agent or "unknown" for agent in record.agents]
    title = f"{agents[0]} (Detective) vs {agents[1]} (Jack)"
    data = {
        "parts": film.parts,
        "frames": film.frames,
        "titles": film.titles,
        "candidates": film.candidates,
        "secrets": _secrets(states[-1]),
    }
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return page(
        f"{title} - Mr. Jack",
        element("h1", title),
        _facts(record, states[-1], note),
        element("noscript", element("p", "Stepping through the game needs JavaScript.")),
        _controls(len(states) - 1),
        element(
            "div",
            element("div", _picture(states[0], film), _chart(film, record)),
            _actions(states),
            class_="replay",
        ),
        element("script", Markup(text), type="application/json", id="data"),
        style=static("replay.css"),
        script=static("replay.js"),
    )


# -- the moments ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Film:
    """The pictures of a game.

    Attributes:
        parts: every part of a picture, once.
        frames: by perspective and moment, for each of `svg.LAYERS` the numbers of its parts.
        titles: what each shows, in a line.
        candidates: how many characters may be Jack in each.
    """

    parts: list[str]
    frames: list[list[list[list[int]]]]
    titles: list[list[str]]
    candidates: list[list[int]]


def _film(states: Sequence[State]) -> _Film:
    numbers: dict[str, int] = {}
    film = _Film([], [], [], [])
    for _, player in PERSPECTIVES:
        views: list[PositionView] = [
            state if player is None or state.is_terminal() else state.observation(player)
            for state in states
        ]
        film.frames.append([])
        for view in views:
            layers = svg.moving_layers(view)
            film.frames[-1].append(
                [
                    [numbers.setdefault(part, len(numbers)) for part in layers[name]]
                    for name in svg.LAYERS
                ]
            )
        film.titles.append([svg.title(view) for view in views])
        film.candidates.append([len(view.candidates()) for view in views])
    film.parts.extend(numbers)
    return film


def _secrets(last: State) -> dict[str, list[str]]:
    """Texts of actions that the perspectives see differently, by number of the action."""
    space, found, number = action_space(last.variant), {}, 0
    for code in last.events():
        if code >= EVENT_WITNESS:
            continue
        number += 1
        texts = [event_text(space, code)] * len(PERSPECTIVES)
        for index, (_, player) in enumerate(PERSPECTIVES):
            if player is not None:
                texts[index] = event_text(space, mask_event(code, player))
        if len(set(texts)) > 1:
            found[str(number)] = texts
    return found


# -- parts of the page ----------------------------------------------------------------------


def _facts(record: GameRecord, last: State, note: str | None) -> Markup:
    variant, outcome = record.variant, last.outcome()
    facts = [
        ("Result", note or ("not finished" if outcome is None else str(outcome).capitalize())),
        ("Board", f"{variant.board.name}, {variant.turns} turns"),
        ("Characters", ", ".join(variant.cast)),
        ("Length", f"{len(record.actions)} actions and chance outcomes"),
    ]
    if record.seed is not None:
        facts.append(("Seed", str(record.seed)))
    return element("dl", *(join(element("dt", k), element("dd", v)) for k, v in facts))


def _button(name: str, label: str, sign: str) -> Markup:
    return element("button", sign, id=name, type="button", aria_label=label, title=label)


def _controls(moments: int) -> Markup:
    slider = element(
        "input",
        id="slider",
        type="range",
        min=0,
        max=moments,
        value=0,
        step=1,
        aria_label="Moment of the game",
    )
    # An input has no end tag.
    slider = Markup(slider.removesuffix("</input>"))
    views = [
        element(
            "button",
            name,
            type="button",
            data_perspective=index,
            aria_pressed="true" if index == _EVERYTHING else "false",
        )
        for index, (name, _) in enumerate(PERSPECTIVES)
    ]
    return element(
        "div",
        element(
            "div",
            _button("first", "To the start (Home)", "|◀"),
            _button("back", "Back (left arrow)", "◀"),
            _button("play", "Play", "Play"),
            _button("next", "Next (right arrow)", "▶"),
            _button("last", "To the end (End)", "▶|"),
            class_="buttons",
        ),
        slider,
        element("output", id="status", aria_live="polite"),
        element(
            "div",
            element("span", "Seen by"),
            *views,
            class_="buttons",
            role="group",
            aria_label="Perspective",
        ),
        class_="controls",
    )


def _picture(first: State, film: _Film) -> Markup:
    """The board at the first moment, its layers open to be exchanged."""
    variant = first.variant
    place = svg.layout(variant)
    frame = dict(zip(svg.LAYERS, film.frames[_EVERYTHING][0], strict=True))

    def layer(name: str) -> Markup:
        parts = (Markup(film.parts[number]) for number in frame[name])
        return element("g", *parts, id=f"layer-{name}")

    layers = [*svg.static_ground(variant), *(layer(n) for n in svg.LAYERS if n != "panel")]
    parts = [
        element("g", *layers, transform=place.board_place(place.height)),
        element("g", layer("panel"), *panel.legend(variant), transform=place.panel_place()),
    ]
    board = svg.svg(parts, place.full_width, place.height, None, film.titles[_EVERYTHING][0])
    # On a narrow screen it scrolls sideways, also without a mouse.
    return element("div", board, class_="picture", tabindex=0, role="region", aria_label="Board")


def _chart(film: _Film, record: GameRecord) -> Markup:
    """How many may be Jack over time, a line for each perspective, one of them shown."""
    moments, most = max(len(film.candidates[0]) - 1, 1), len(record.variant.cast)

    def y(count: int) -> float:
        return _CHART_HEIGHT * (1 - count / most)

    lines = []
    for index, counts in enumerate(film.candidates):
        steps = [f"M0 {y(counts[0]):g}"]
        steps += [f"H{n}V{y(count):g}" for n, count in enumerate(counts) if n]
        lines.append(
            element(
                "path",
                d="".join(steps),
                class_="candidates",
                data_line=index,
                vector_effect="non-scaling-stroke",
                visibility=None if index == _EVERYTHING else "hidden",
            )
        )
    grid = [
        element(
            "line",
            x1=0,
            x2=moments,
            y1=y(n),
            y2=y(n),
            class_="grid",
            vector_effect="non-scaling-stroke",
        )
        for n in (0, most // 2, most)
    ]
    now = element(
        "line", id="now", x1=0, x2=0, y1=0, y2=_CHART_HEIGHT, vector_effect="non-scaling-stroke"
    )
    picture = element(
        "svg",
        *grid,
        *lines,
        now,
        id="chart",
        viewBox=f"0 0 {moments} {_CHART_HEIGHT}",
        preserveAspectRatio="none",
        height=_CHART_HEIGHT,
        role="img",
        aria_label="How many may be Jack over the game; click to go to a moment",
    )
    scale = element("div", *(element("span", n) for n in (most, most // 2, 0)), class_="scale")
    return element(
        "figure",
        element("figcaption", "May be Jack: ", element("b", id="count")),
        element("div", scale, picture, class_="plot"),
    )


def _actions(states: Sequence[State]) -> Markup:
    """Actions by turn, each a button that goes to the moment after it."""
    space = action_space(states[0].variant)
    turns: dict[int, list[Markup]] = {}
    moment = 0
    for code in states[-1].events():
        text = event_text(space, code)
        if code >= EVENT_WITNESS:
            # Nobody's action: they answer at the end of the turn of the action before.
            turns[states[moment - 1].turn].append(element("li", text, class_="witness"))
            continue
        before = states[moment]
        moment += 1
        player = before.current_player()
        who = SIDES[player] if player >= 0 else "chance"
        button = element(
            "button",
            element("small", who),
            element("span", text, class_="what"),
            type="button",
            data_moment=moment,
        )
        turns.setdefault(before.turn, []).append(element("li", button))
    blocks = [
        element(
            "section", element("h2", f"Turn {turn}" if turn else "Set-up"), element("ol", *items)
        )
        for turn, items in turns.items()
    ]
    return element(
        "div",
        *blocks,
        class_="actions",
        id="actions",
        tabindex=0,
        role="region",
        aria_label="Actions",
    )
