"""`Variant` -> arrays for the engine, built once a variant.

Everything the compiled rules need to know of a board and a cast lies in one record of type
`TABLES`, held as a `uint64` array so that it crosses into compiled code as one cheap argument.
The layout has room for the largest board, so every variant shares one compiled engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations

import numpy as np

from mrjack_ai.engine.types import ActionKind, TablesRecord, Words
from mrjack_ai.errors import BoardError
from mrjack_ai.setup.board import DIRECTIONS, MAX_PLACES, MAX_STREETS, Board
from mrjack_ai.setup.characters import MAX_RANGE, Ability, Walk
from mrjack_ai.setup.variant import MAX_SEATS, MAX_TURNS, Variant

NO_SEAT = 255
"""Stands for 'no seat', 'no hex', 'no direction' in every byte-sized field."""

WHISTLE_STEPS = 3
"""Steps a whistle spends in all (5.6)."""

_LARGEST_PAIRS = MAX_PLACES * (MAX_PLACES - 1)
MAX_ACTIONS = (
    3 * MAX_SEATS
    + len(DIRECTIONS)
    + 1
    + MAX_PLACES
    + MAX_STREETS
    + 3 * _LARGEST_PAIRS
    + MAX_SEATS * MAX_STREETS * WHISTLE_STEPS
)
"""No variant has more player actions than this."""

TABLES = np.dtype(
    [
        # Geometry. Sets of street hexes are words with bit h set for hex index h.
        ("neighbours", "u8", (MAX_STREETS,)),
        # [walk, hex, steps]: street hexes within so many steps, without manholes.
        ("ball", "u8", (2, MAX_STREETS, MAX_RANGE + 1)),
        ("beam", "u8", (MAX_STREETS, len(DIRECTIONS))),
        ("lamp_light", "u8", (MAX_PLACES,)),
        # [Goodley's hex, walker's hex, steps - 1]: where a whistled walk can end (5.6).
        ("whistle", "u8", (MAX_STREETS, MAX_STREETS, WHISTLE_STEPS)),
        ("exit_bit", "u8", (MAX_PLACES,)),
        ("manholes", "u8"),
        ("lamps", "u8"),
        ("exits", "u8"),
        # Start of the game.
        ("start_lit", "u8"),
        ("start_covered", "u8"),
        ("start_cordons", "u8"),
        # Sizes.
        ("hexes", "i8"),
        ("seats", "i8"),
        ("lamp_places", "i8"),
        ("exit_places", "i8"),
        ("turns", "i8"),
        ("deals", "i8"),
        ("actions", "i8"),
        # First id of each kind of action, then the number of actions.
        ("base", "i8", (len(ActionKind) + 1,)),
        # Index of a manhole among the manholes, by hex; for the pair ids of covers.
        ("manhole_rank", "i8", (MAX_STREETS,)),
        ("manhole_places", "i8"),
        ("start_position", "u1", (MAX_SEATS,)),
        ("start_tile_place", "u1", (MAX_TURNS,)),
        ("start_light", "u1"),
        ("light_seat", "u1"),
        ("cast", "u1"),
        ("seat_range", "u1", (MAX_SEATS,)),
        ("seat_walk", "u1", (MAX_SEATS,)),
        ("seat_ability", "u1", (MAX_SEATS,)),
        # [even or odd turn, index of the play]: player id.
        ("play_order", "u1", (2, MAX_SEATS)),
        # Seats dealt by each outcome of a deal.
        ("deal_mask", "u1", (70,)),
        # What an action id means: kind and up to three arguments (see `action_arguments`).
        ("kind", "u1", (MAX_ACTIONS,)),
        ("argument", "u1", (MAX_ACTIONS, 3)),
    ],
    align=True,
)
"""Layout of the tables record."""

TABLES_WORDS = TABLES.itemsize // 8
assert TABLES.itemsize % 8 == 0


def _bit(index: int) -> int:
    return 1 << index


class Geometry:
    """Sets of street hexes of a board, as Python ints."""

    def __init__(self, board: Board) -> None:
        self.board = board
        index = board.street_index
        self.street_neighbours: list[list[int]] = [
            [index[other] for other in board.street_neighbours(hex)] for hex in board.streets
        ]
        self.distance: list[list[int]] = []
        for hex in board.streets:
            distances = board.street_distances(hex)
            self.distance.append([distances[other] for other in board.streets])

    def ball(self, hex: int, steps: int) -> int:
        """Street hexes within `steps` steps over streets, `hex` included."""
        return sum(_bit(h) for h, d in enumerate(self.distance[hex]) if d <= steps)

    def ball_anywhere(self, hex: int, steps: int) -> int:
        """Street hexes within `steps` steps over any hex of the map (4.5)."""
        board = self.board
        reached = {board.streets[hex]}
        for _ in range(steps):
            reached |= {other for name in reached for other in board.neighbours(name)}
        return sum(_bit(board.street_index[name]) for name in reached if name in board.street_index)

    def beam(self, hex: int, direction: str) -> int:
        """Street hexes on the straight line ahead, up to the first other hex (5.2)."""
        board, lit = self.board, 0
        ahead = board.neighbour(board.streets[hex], direction)
        while ahead is not None and ahead in board.street_index:
            lit |= _bit(board.street_index[ahead])
            ahead = board.neighbour(ahead, direction)
        return lit

    def whistle_ends(self, goodley: int, walker: int) -> list[int]:
        """Ends of walks of exactly 1, 2 and 3 steps towards Goodley (5.6), occupancy ignored."""
        distance = self.distance[goodley]
        ends, here = [], {walker}
        for _ in range(WHISTLE_STEPS):
            here = {
                other
                for hex in here
                for other in self.street_neighbours[hex]
                if distance[other] <= distance[hex]
            }
            ends.append(sum(_bit(h) for h in here if distance[h] < distance[walker]))
        return ends


def deal_outcomes(seats: int) -> list[tuple[int, ...]]:
    """Seats dealt face up by each outcome of a deal, by outcome id (section 9, 11.1)."""
    return list(combinations(range(seats), seats // 2))


def _pairs(places: int) -> list[tuple[int, int, int]]:
    return [(a, b, 0) for a in range(places) for b in range(places) if a != b]


def action_arguments(variant: Variant) -> list[list[tuple[int, int, int]]]:
    """Arguments of every player action, by kind, in the order of their ids.

    The ids of a variant are these lists one after the other. Arguments are: pick, accuse, swap:
    seat; light: direction; escape: exit; move: hex; lamp, cordon, cover: from, to (indices of
    gaslight hexes, exits, manholes); whistle: seat, hex, steps. Unused arguments are 0.
    """
    board = variant.board
    seats, hexes, exits = len(variant.cast), len(board.streets), len(board.exits)
    by_seat = [(seat, 0, 0) for seat in range(seats)]
    return [
        by_seat,
        [(direction, 0, 0) for direction in range(len(DIRECTIONS))],
        [(0, 0, 0)],
        by_seat,
        [(exit, 0, 0) for exit in range(exits)],
        [(hex, 0, 0) for hex in range(hexes)],
        by_seat,
        _pairs(len(board.gaslights)),
        _pairs(exits),
        _pairs(len(board.manholes)),
        [
            (seat, hex, steps)
            for seat in range(seats)
            for hex in range(hexes)
            for steps in range(1, WHISTLE_STEPS + 1)
        ],
    ]


def _set(indices: Iterable[int]) -> np.uint64:
    return np.uint64(sum(_bit(index) for index in indices))


def _fill_geometry(record: TablesRecord, board: Board) -> None:
    geometry = Geometry(board)
    hexes = range(len(board.streets))
    for h in hexes:
        record["neighbours"][h] = _set(geometry.street_neighbours[h])
        for steps in range(MAX_RANGE + 1):
            record["ball"][Walk.STREETS, h, steps] = geometry.ball(h, steps)
            record["ball"][Walk.ANYWHERE, h, steps] = geometry.ball_anywhere(h, steps)
        for index, direction in enumerate(DIRECTIONS):
            record["beam"][h, index] = geometry.beam(h, direction)
        for walker in hexes:
            record["whistle"][h, walker] = geometry.whistle_ends(h, walker)
    for lamp, name in enumerate(board.gaslights):
        around = [board.street_index[n] for n in board.neighbours(name) if n in board.street_index]
        record["lamp_light"][lamp] = _set(around)
    for exit, (_, name) in enumerate(board.exits):
        record["exit_bit"][exit] = _bit(board.street_index[name])
    record["hexes"] = len(board.streets)


def _fill_tokens(record: TablesRecord, board: Board) -> None:
    """Places of tiles, cordons and covers, and where they are at the start."""
    manholes = [board.street_index[name] for name in board.manholes]
    record["manholes"] = _set(manholes)
    record["manhole_places"] = len(manholes)
    for rank, h in enumerate(manholes):
        record["manhole_rank"][h] = rank
    record["lamps"] = _set(range(len(board.gaslights)))
    record["lamp_places"] = len(board.gaslights)
    record["exits"] = _set(range(len(board.exits)))
    record["exit_places"] = len(board.exits)
    record["start_lit"] = _set(board.gaslight_index[name] for name, _ in board.lit_gaslights)
    record["start_covered"] = _set(board.street_index[name] for name in board.covered_manholes)
    record["start_cordons"] = _set(board.exit_index[name] for name in board.cordons)
    record["start_tile_place"][:] = NO_SEAT
    for name, number in board.lit_gaslights:
        if number is not None:
            record["start_tile_place"][number - 1] = board.gaslight_index[name]


def _fill_cast(record: TablesRecord, variant: Variant) -> None:
    board, seats = variant.board, len(variant.cast)
    placed = dict(board.start)
    record["start_position"][:] = NO_SEAT
    record["light_seat"] = NO_SEAT
    record["start_light"] = NO_SEAT
    for seat, kind in enumerate(variant.kinds):
        record["start_position"][seat] = board.street_index[placed[kind.code]]
        record["seat_range"][seat] = kind.range
        record["seat_walk"][seat] = kind.walk
        record["seat_ability"][seat] = kind.ability
        if kind.ability == Ability.AIM:
            if board.watson_light is None:
                raise BoardError(f"board {board.name!r} has no 'watson_light' for {kind.code}")
            record["light_seat"] = seat
            record["start_light"] = DIRECTIONS.index(board.watson_light)
    record["cast"] = _bit(seats) - 1
    record["seats"] = seats


def _fill_turns(record: TablesRecord, variant: Variant) -> None:
    record["turns"] = variant.turns
    for parity in (0, 1):
        for play, player in enumerate(variant.play_order(parity)):
            record["play_order"][parity, play] = player
    deals = deal_outcomes(len(variant.cast))
    record["deals"] = len(deals)
    for outcome, dealt in enumerate(deals):
        record["deal_mask"][outcome] = _set(dealt)


def _fill_actions(record: TablesRecord, variant: Variant) -> None:
    action = 0
    for number, arguments in enumerate(action_arguments(variant)):
        record["base"][number] = action
        for triple in arguments:
            record["kind"][action] = number
            record["argument"][action] = triple
            action += 1
    record["base"][len(ActionKind)] = action
    record["actions"] = action


@lru_cache(maxsize=256)
def build_tables(variant: Variant) -> Words:
    """The tables of a variant.

    Returns:
        Read-only `uint64` array of shape `(TABLES_WORDS,)`; `tables_record` reads it.
    """
    words = np.zeros(TABLES_WORDS, np.uint64)
    record = tables_record(words)
    _fill_geometry(record, variant.board)
    _fill_tokens(record, variant.board)
    _fill_cast(record, variant)
    _fill_turns(record, variant)
    _fill_actions(record, variant)
    words.setflags(write=False)
    return words


def max_game_length(variant: Variant) -> int:
    """Bound on the number of actions of one game, chance outcomes included.

    A play is a card, a move and at most: one ability action, or an alibi draw or aim; a whistle
    has three walks; a whistle or a swap that moves Watson adds an aim.
    """
    has_light = any(kind.ability == Ability.AIM for kind in variant.kinds)
    lengths = []
    for kind in variant.kinds:
        if kind.ability == Ability.NONE:
            lengths.append(2)
        elif kind.ability == Ability.WHISTLE:
            lengths.append(2 + min(WHISTLE_STEPS, len(variant.cast) - 1) + has_light)
        elif kind.ability == Ability.SWAP:
            lengths.append(2 + has_light)
        else:
            lengths.append(3)
    whole, odd = divmod(variant.turns, 2)
    pairs = 1 + whole * (1 + sum(lengths))
    draws = sum(kind.ability == Ability.DRAW for kind in variant.kinds)
    if not odd:
        return pairs - max(0, draws * whole - (len(variant.cast) - 1))
    # The cards of the last odd turn: the longest plays. When the alibi pile runs out before, it
    # matters whether Holmes is among them.
    best = 0
    for last in combinations(range(len(lengths)), variant.cards_per_turn):
        drawing = sum(variant.kinds[seat].ability == Ability.DRAW for seat in last)
        missing = max(0, draws * whole + drawing - (len(variant.cast) - 1))
        best = max(best, 1 + sum(lengths[seat] for seat in last) - missing)
    return pairs + best


def tables_record(tables: Words) -> TablesRecord:
    """The tables as a record for Python to read."""
    record: TablesRecord = tables.view(TABLES)[0]
    return record
