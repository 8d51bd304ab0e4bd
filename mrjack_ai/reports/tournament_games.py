"""Which games a report shows move by move, and how."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mrjack_ai.game.record import GameRecord
from mrjack_ai.game.state import State
from mrjack_ai.render.html import Markup, element, join
from mrjack_ai.render.terminal import board_text
from mrjack_ai.setup.variant import DETECTIVE, JACK
from mrjack_ai.tournament.schedule import GameResult, Settings, forfeit_text, log_texts
from mrjack_ai.tournament.standings import ENDING_NAMES
from mrjack_ai.tournament.store import ResultsReader

MOST_GAMES = 300
"""Most games shown, besides forfeits."""
MOST_FORFEITS = 50
"""Most forfeited games shown."""
MOST_BOARDS = 3_000_000
"""Boards are drawn until they take so many characters together."""
_SAMPLE = 3
"""Games of each pairing shown besides the shortest and the longest."""


@dataclass
class _Pairing:
    """What is noted of the games of a pairing."""

    count: int = 0
    sample: list[int] = field(default_factory=list)
    shortest: tuple[int, int] | None = None
    longest: tuple[int, int] | None = None
    forfeits: list[int] = field(default_factory=list)

    def add(self, number: int, length: int, rng: np.random.Generator) -> None:
        self.count += 1
        # A uniform sample: Vitter, Random sampling with a reservoir (ACM TOMS 11, 1985).
        if len(self.sample) < _SAMPLE:
            self.sample.append(number)
        elif (other := int(rng.integers(self.count))) < _SAMPLE:
            self.sample[other] = number
        if self.shortest is None or length < self.shortest[0]:
            self.shortest = (length, number)
        if self.longest is None or length > self.longest[0]:
            self.longest = (length, number)

    def chosen(self, most: int) -> dict[int, str]:
        """So many games and all forfeits that were noted, with the reason."""
        found: dict[int, str] = {}
        for extreme, reason in ((self.shortest, "the shortest"), (self.longest, "the longest")):
            if extreme is not None:
                found.setdefault(extreme[1], reason)
        for number in sorted(self.sample):
            found.setdefault(number, "drawn at random")
        found = dict(list(found.items())[:most])
        for number in self.forfeits:
            found.setdefault(number, "forfeited")
        return found


class GameChoice:
    """Chooses games while all go by: the same ones whenever the results are the same.

    Args:
        settings: the tournament.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._rng = np.random.default_rng(settings.seed)
        self._pairings = [_Pairing() for _ in settings.pairings]
        self._forfeits = 0

    def add(self, result: GameResult) -> None:
        """See the next game of the file."""
        pairing, number = self._pairings[result.pairing], result.number
        pairing.add(number, result.length, self._rng)
        if result.forfeit_by is not None and self._forfeits < MOST_FORFEITS:
            self._forfeits += 1
            pairing.forfeits.append(number)

    def chosen(self) -> dict[int, dict[int, str]]:
        """Numbers in the schedule of the games to be shown, with the reason, by pairing."""
        each = max(1, min(_SAMPLE + 2, MOST_GAMES // max(1, len(self._pairings))))
        found = {
            number: pairing.chosen(each if number < MOST_GAMES else 0)
            for number, pairing in enumerate(self._pairings)
        }
        return {number: games for number, games in found.items() if games}


def games_section(choice: GameChoice, reader: ResultsReader) -> Markup:
    """The games chosen, to be read and replayed board by board; an anchor each."""
    settings = reader.settings
    space = MOST_BOARDS
    blocks: list[Markup] = []
    for number, games in choice.chosen().items():
        one, other = (settings.agents[agent] for agent in settings.pairings[number])
        blocks.append(element("h3", f"{one} vs {other}", id=f"pairing-{number}"))
        for game, reason in games.items():
            block, used = _game(settings, reader.result(game), reason, space)
            blocks.append(block)
            space -= used
    file = reader.path.name
    text = join(
        "The shortest and the longest game of each pairing, some drawn at random, and those "
        "forfeited, with the board at the end of each turn. Any moment of any game is shown by ",
        element("code", f"mrjack show {file} --game N --at K"),
        ", with N as games are counted here and in messages, by the schedule, after the first K "
        "actions; and a whole game becomes a page to step through by ",
        element("code", f"mrjack replay {file} --game N --html game.html"),
        ".",
    )
    return join(element("p", text), *blocks)


def _game(settings: Settings, result: GameResult, reason: str, space: int) -> tuple[Markup, int]:
    """A game, and how many characters its boards take."""
    record, number = result.record(settings), result.number + 1
    boards = _boards(record) if space > 0 else []
    drawn = [
        element("details", element("summary", title), element("pre", text))
        for title, text in boards
    ]
    sides = f"{record.agents[DETECTIVE]} (Detective) vs {record.agents[JACK]} (Jack)"
    ending = ENDING_NAMES[result.ending or "forfeit"]
    title = f"Game {number}: {sides}: {ending}, {result.length} actions; {reason}"
    notes = []
    if result.forfeit_by is not None:
        notes.append(element("p", forfeit_text(record)))
        if result.forfeit_traceback:
            notes.append(element("pre", result.forfeit_traceback))
        for title, text in log_texts(result, settings):
            notes.append(element("p", f"{title}:"))
            notes.append(element("pre", text))
    # The anchor stands inside, so that a browser opens what is around it.
    inner = element(
        "div",
        *notes,
        element("pre", record.to_text(), class_="record"),
        *drawn,
        id=f"game-{number}",
    )
    block = element("details", element("summary", title), inner, class_="game")
    return block, sum(len(text) for _, text in boards)


def _boards(record: GameRecord) -> list[tuple[str, str]]:
    """The board at the end of each turn, with a title."""
    last: dict[int, tuple[str, State]] = {}
    for number, state in enumerate(record.states()):
        if state.turn:
            last[state.turn] = (f"Board at the end of turn {state.turn}, --at {number}", state)
    # Plain characters are equally wide in any font.
    return [(title, board_text(state, unicode=False)) for title, state in last.values()]
