"""Boards and variants: validation, files, round-trips, and the facts of the shipped boards."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from helpers import BOARDS, EIGHT, LOUD, random_variant, random_walk, small_variant

import mrjack_ai.setup.board as board_module
from mrjack_ai.engine.tables import build_tables
from mrjack_ai.errors import BoardError, MrJackError, VariantError
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.board import (
    Board,
    board_from_dict,
    built_in_boards,
    hex_coordinates,
    hex_name,
    load_board,
)
from mrjack_ai.setup.variant import DEFAULT_VARIANT, Variant, make_variant

Data = dict[str, Any]


def mews() -> Data:
    """A fresh copy of a right board file."""
    return load_board("mews").to_dict()


# --- validation -----------------------------------------------------------------------------


def put(**fields: Any) -> Callable[[Data], None]:
    """Replaces whole fields."""
    return lambda data: data.update(fields)


def add(field: str, *values: str) -> Callable[[Data], None]:
    """Appends to a list."""
    return lambda data: data[field].extend(values)


def put_in(field: str, **values: Any) -> Callable[[Data], None]:
    """Adds to an object."""
    return lambda data: data[field].update(values)


def drop(field: str) -> Callable[[Data], None]:
    """Leaves a field out."""
    return lambda data: data.pop(field)


WRONG_BOARDS = [
    # (change, field and hex or value that the message must name)
    *((drop(field), (field,)) for field in mews() if field != "watson_light"),
    (put(colour="red"), ("colour",)),
    (put(name=""), ("name",)),
    (put(name="My Board"), ("name", "My Board")),
    (put(name="board\n"), ("name",)),
    (put(name=7), ("name", "7")),
    (put(name=None), ("name",)),
    (put(streets="a1 a2"), ("streets",)),
    (put(streets={"a1": 1}), ("streets",)),
    (put(streets=None), ("streets",)),
    (put(streets=["a1", 2]), ("streets",)),
    (put(streets=[]), ("streets",)),
    (put(streets=["b2"]), ("streets",)),
    (add("streets", "a2"), ("streets", "a2")),
    (add("streets", "A1"), ("streets", "A1")),
    (add("streets", "aa1"), ("streets", "aa1")),
    (add("streets", "a"), ("streets", "'a'")),
    (add("streets", "a01"), ("streets", "a01")),
    (add("streets", "a100"), ("streets", "a100")),
    (add("streets", "a-1"), ("streets", "a-1")),
    (add("streets", "a1 "), ("streets", "'a1 '")),
    (add("streets", "a\u0661"), ("streets",)),
    (add("streets", ""), ("streets",)),
    (add("streets", "m9"), ("streets", "m9")),  # Not connected.
    (put(streets=[f"{c}{n}" for c in "abcde" for n in range(1, 14)]), ("streets", "65")),
    (add("obstacles", "c3"), ("obstacles", "c3")),
    (add("obstacles", "b2"), ("obstacles", "b2", "streets")),
    (add("obstacles", "x"), ("obstacles", "x")),
    (add("gaslights", "b4"), ("gaslights", "b4")),
    (add("gaslights", "b2"), ("gaslights", "b2", "streets")),
    (add("gaslights", "c3"), ("gaslights", "c3", "obstacles")),
    (put(gaslights=[f"{c}{n}" for c in "nopqr" for n in range(20, 33)]), ("gaslights", "65")),
    (put(lit_gaslights=["d2"]), ("lit_gaslights",)),
    (put_in("lit_gaslights", b2=None), ("lit_gaslights", "b2")),
    (put_in("lit_gaslights", c3=None), ("lit_gaslights", "c3")),
    (put_in("lit_gaslights", zz=None), ("lit_gaslights", "zz")),
    (put_in("lit_gaslights", b4=0), ("lit_gaslights", "b4")),
    (put_in("lit_gaslights", b4=9), ("lit_gaslights", "b4", "9")),
    (put_in("lit_gaslights", b4=True), ("lit_gaslights", "b4")),
    (put_in("lit_gaslights", b4="1"), ("lit_gaslights", "b4")),
    (put_in("lit_gaslights", b4=2.0), ("lit_gaslights", "b4")),
    (put_in("lit_gaslights", b4=1), ("lit_gaslights", "b4", "d5")),
    (add("manholes", "a3"), ("manholes", "a3")),
    (add("manholes", "c3"), ("manholes", "c3")),
    (add("manholes", "m9"), ("manholes", "m9")),
    (add("covered_manholes", "c1"), ("covered_manholes", "c1")),
    (add("covered_manholes", "b2"), ("covered_manholes", "b2")),
    (put(exits=["a2"]), ("exits",)),
    (put_in("exits", N="c3"), ("exits", "c3")),
    (put_in("exits", N="m9"), ("exits", "m9")),
    (put_in("exits", N="a2"), ("exits", "a2", "W", "N")),
    (put_in("exits", N=None), ("exits", "None")),
    (put(exits={"": "a2"}, cordons=[]), ("exits",)),
    (put(exits={"to the north": "a2"}, cordons=[]), ("exits", "to the north")),
    (put(exits={"A,B": "a2"}, cordons=[]), ("exits", "A,B")),
    (put(exits={"-": "a2"}, cordons=[]), ("exits", "-")),
    (add("cordons", "W"), ("cordons", "W")),
    (add("cordons", "N"), ("cordons", "N")),
    (put(cordons="W"), ("cordons",)),
    (put(start=["SH"]), ("start",)),
    (put_in("start", XX="a3"), ("start", "XX")),
    (put_in("start", SH="c3"), ("start", "c3")),
    (put_in("start", SH="m9"), ("start", "m9")),
    (put_in("start", SH="c5"), ("start", "c5", "SH", "JW")),
    (put_in("start", SH=3), ("start", "3")),
    (put(watson_light=None), ("watson_light", "JW")),
    (drop("watson_light"), ("watson_light", "JW")),
    (put(watson_light="W"), ("watson_light", "'W'")),
    (put(watson_light="n"), ("watson_light", "'n'")),
    (put(watson_light=["N"]), ("watson_light",)),
]


@pytest.mark.parametrize(("change", "named"), WRONG_BOARDS)
def test_a_wrong_board_is_refused_by_field_and_hex(
    change: Callable[[Data], None], named: tuple[str, ...]
) -> None:
    data = mews()
    change(data)
    with pytest.raises(BoardError) as caught:
        board_from_dict(data)
    for word in named:
        assert word in str(caught.value)
    assert f"field {named[0]!r}" in str(caught.value)


def test_the_board_is_right_without_the_changes() -> None:
    assert board_from_dict(mews()) == load_board("mews")


@pytest.mark.parametrize("thing", [None, [], "mews", 3, [["name", "mews"]]])
def test_a_board_file_holds_one_object(thing: Any) -> None:
    with pytest.raises(BoardError, match="object"):
        board_from_dict(thing)


def test_comments_and_a_missing_lantern_are_fine() -> None:
    data = mews()
    data |= {"comment": ["free", 1], "coordinates": "as ever"}
    assert board_from_dict(data) == load_board("mews")
    del data["watson_light"], data["start"]["JW"]
    board = board_from_dict(data)
    assert board.watson_light is None
    with pytest.raises(VariantError, match="JW"):
        Variant(board=board)
    assert new_game(board=board, cast="SH+JS").watson_light is None


def test_boards_up_to_64_streets_are_played() -> None:
    hexes = [f"{column}{number}" for column in "abcdefgh" for number in range(1, 9)]
    places = " ".join(f"{code}={hex}" for code, hex in zip(EIGHT, hexes[::-8], strict=True))
    fields = {
        "gaslights": [f"z{number}" for number in range(64)],
        "lit_gaslights": {"z63": 1, "z0": None},
        "manholes": ["h8", "a1"],
        "covered_manholes": ["h8"],
        "exits": {"X": "h8", "Y": "h7"},
        "cordons": ["X"],
    }
    variant = small_variant(" ".join(hexes), places, **fields)
    assert len(variant.board.streets) == 64
    state = State("node=deal turn=3 jack=SH SH=h8 lamps=z62 JW=h1:N", variant=variant)
    assert state.positions["SH"] == "h8"
    assert "h8" in state.lit_hexes()
    assert state.lit_gaslights == {"z62": None}
    for state in random_walk(new_game(variant), random.Random(2)):
        assert len(set(state.positions.values())) == 8
    assert state.is_terminal()


# --- hexes ----------------------------------------------------------------------------------


def test_hex_names_and_coordinates_are_inverse() -> None:
    for column in range(1, 27):
        for number in range(100):
            assert hex_coordinates(hex_name(column, number)) == (column, number)
    assert hex_coordinates("e5") == (5, 5)
    assert hex_coordinates("m12") == (13, 12)


@pytest.mark.parametrize(
    "name", ["", "e", "5", "5e", "E5", "ee5", "e5 ", "e05", "e100", "é5", None, 5]
)
def test_malformed_hex_names_are_refused(name: Any) -> None:
    with pytest.raises(BoardError, match="e5"):
        hex_coordinates(name)


@pytest.mark.parametrize(("column", "number"), [(0, 1), (27, 1), (1, -1), (1, 100)])
def test_hexes_without_a_name_are_refused(column: int, number: int) -> None:
    with pytest.raises(BoardError, match=r"hex (column|number)"):
        hex_name(column, number)


def test_neighbours_lie_as_the_board_file_says() -> None:
    board = load_board("whitechapel")
    around = ("N", "NE", "SE", "S", "SW", "NW")
    assert [board.neighbour("e5", direction) for direction in around] == [
        *("e6", "f6", "f5", "e4", "d4", "d5"),
    ]
    assert board.neighbours("e5") == ("e6", "f6", "f5", "e4", "d4", "d5")
    assert board.neighbour("a1", "SW") is None
    assert board.neighbour("a1", "S") == "a0"
    the_map = {*board.streets, *board.obstacles, *board.gaslights}
    for hex in the_map:
        around_it = {board.neighbour(hex, direction) for direction in around}
        assert set(board.neighbours(hex)) == around_it & the_map
        assert all(hex in board.neighbours(other) for other in board.neighbours(hex))
    with pytest.raises(BoardError, match="a6"):
        board.neighbours("a6")


def test_distances_are_symmetric_and_grow_by_steps() -> None:
    board = load_board("mews")
    for one in board.streets:
        assert board.street_distance(one, one) == 0
        for two in board.streets:
            assert board.street_distance(one, two) == board.street_distance(two, one)
            next_to = two in board.neighbours(one)
            assert (board.street_distance(one, two) == 1) == next_to
    # Round the garden, not through it.
    assert board.street_distance("b2", "d4") == 3
    for pair in (("c3", "a2"), ("a2", "b4"), ("a2", "z9")):
        with pytest.raises(BoardError, match=f"{pair[0]}|{pair[1]}"):
            board.street_distance(*pair)


# --- files ----------------------------------------------------------------------------------


def test_built_in_boards_the_default_first() -> None:
    assert built_in_boards()[0] == "whitechapel"
    assert set(BOARDS) <= set(built_in_boards())
    for name in built_in_boards():
        assert load_board(name).name == name
        assert load_board(name) is load_board(name)


def test_a_users_board_is_loaded_from_a_file(tmp_path: Path) -> None:
    data = mews() | {"name": "yard"}
    path = tmp_path / "yard.json"
    path.write_text(json.dumps(data), "utf-8")
    for way in (path, str(path)):
        board = load_board(way)
        assert board.name == "yard"
        assert board.streets == load_board("mews").streets
    state = new_game(board=path, cast="SH+SG", turns=2)
    for moment in random_walk(state, random.Random(1)):
        assert moment.variant.board.name == "yard"
    assert state.is_terminal()
    again = State(str(state), variant=state.variant)
    assert again == state
    assert make_variant(board=str(path)).board == load_board(path)


def test_a_board_file_needs_no_special_name(tmp_path: Path) -> None:
    path = tmp_path / "yard.txt"
    path.write_text(json.dumps(mews()), "utf-8")
    assert load_board(path) == load_board("mews")
    assert load_board(str(path)) == load_board("mews")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"\xff\xfe", "read"),
        (b"[]", "object"),
        (b"[" * 100_000, "JSON"),
        (b'{"name": "yard"}', "streets"),
        (b'{"name": "a", "name": "b"}', "name"),
        (json.dumps(mews()).replace('"SH"', '"SG"').encode(), "SG"),
    ],
)
def test_a_file_that_is_no_board_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "yard.json"
    path.write_bytes(content)
    with pytest.raises(BoardError, match=message):
        load_board(path)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(BoardError, match="cannot read"):
            load_board(path)
    for name in ("no\0where.json", "no\ud800where.json"):
        with pytest.raises(BoardError):
            load_board(name)


@pytest.mark.parametrize("name", ["nowhere", "", "Mews", "mews ", "__init__", "../mews"])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(BoardError) as caught:
        load_board(name)
    assert name in str(caught.value)
    if "/" not in name:
        assert all(known in str(caught.value) for known in built_in_boards())


@pytest.mark.parametrize("name", BOARDS)
def test_board_round_trips(name: str) -> None:
    board = load_board(name)
    again = board_from_dict(json.loads(json.dumps(board.to_dict())))
    assert again == board
    assert hash(again) == hash(board)
    assert again.to_dict() == board.to_dict()
    assert pickle.loads(pickle.dumps(board)) == board
    assert copy.deepcopy(board) == board


def test_order_in_the_file_does_not_matter() -> None:
    data = mews()
    for field in ("streets", "obstacles", "gaslights", "manholes", "covered_manholes"):
        data[field] = data[field][::-1]
    assert board_from_dict(data) == load_board("mews")


def test_loading_does_not_change_the_data() -> None:
    data = mews()
    before = copy.deepcopy(data)
    board_from_dict(data)
    assert data == before


# --- the shipped boards ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["whitechapel", "whitechapel_2016"])
def test_facts_of_the_real_boards(name: str) -> None:
    board = load_board(name)
    assert len(board.streets) == 60
    assert len(board.obstacles) == 18
    assert len(board.gaslights) == 8
    numbers = [number for _, number in board.lit_gaslights]
    assert sorted(map(str, numbers)) == ["1", "2", "3", "4", "None", "None"]
    assert len(board.manholes) == (8 if name == "whitechapel" else 9)
    assert len(board.covered_manholes) == len(board.cordons) == 2
    assert board.exits == (("NW", "b7"), ("NE", "l12"), ("SW", "b1"), ("SE", "l6"))
    assert {code for code, _ in board.start} == set(EIGHT)
    assert {hex[0] for hex in board.streets} == set("abcdefghijklm")


def test_the_two_editions_share_what_they_should() -> None:
    old, new = load_board("whitechapel").to_dict(), load_board("whitechapel_2016").to_dict()
    differing = {field for field in old if old[field] != new[field]}
    assert differing == {"name", "manholes", "covered_manholes", "start"}


FOR_EVERYBODY = [name for name in built_in_boards() if len(load_board(name).start) == 8]
"""The others are too small for all eight, as `court`, which `tests/test_lab.py` plays on."""


@pytest.mark.parametrize("name", FOR_EVERYBODY)
def test_every_shipped_board_can_be_won_and_lost(name: str) -> None:
    rng = random.Random(1)
    endings = set()
    for number in range(60):
        *_, state = random_walk(new_game(board=name), rng, ("accuse",) if number % 2 else ())
        endings.add(str(state.outcome()))
    assert {"detective wins: caught", "jack wins: wrong accusation"} < endings
    assert endings & {"jack wins: escape", "jack wins: dawn"}


# --- variants -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cast": ""}, "known|characters"),
        ({"cast": "SH"}, "2, 4 or 8"),
        ({"cast": "SH+JW+JS"}, "2, 4 or 8"),
        ({"cast": ["SH", "JW", "JS", "IL", "MS"]}, "2, 4 or 8"),
        ({"cast": "SH+SH"}, "twice"),
        ({"cast": "SH+XX"}, "XX"),
        ({"cast": "sh+jw"}, "sh"),
        ({"cast": ["SH", 3]}, "3"),
        ({"cast": ["SH", ["JW"]]}, "cast"),
        ({"turns": 0}, "turns 0"),
        ({"turns": 9}, "turns 9"),
        ({"turns": -1}, "turns -1"),
        ({"turns": 2.0}, "turns 2.0"),
        ({"turns": "3"}, "turns '3'"),
        ({"turns": True}, "turns True"),
        ({"turns": None}, "turns None"),
        ({"first": "Jack"}, "detective"),
        ({"first": ""}, "detective"),
        ({"first": 1}, "detective"),
        ({"first": None}, "detective"),
        ({"board": "nowhere"}, "nowhere"),
    ],
)
def test_a_variant_that_cannot_be_played_is_refused(fields: Data, message: str) -> None:
    error = (BoardError, VariantError) if "board" in fields else VariantError
    for make in (Variant, make_variant, new_game):
        with pytest.raises(error, match=message):
            make(**fields)
    with pytest.raises(error, match=message):
        Variant.from_dict(fields)


@pytest.mark.parametrize(
    "fields", [{"board": 3}, {"board": None}, {"cast": 3}, {"cast": {"SH": 1}}]
)
def test_values_of_the_wrong_type_are_refused(fields: Data) -> None:
    with pytest.raises(MrJackError, match=r"board|cast"):
        Variant.from_dict(fields)


def test_a_character_needs_a_start_hex() -> None:
    data = mews()
    del data["start"]["WG"]
    with pytest.raises(VariantError, match="WG"):
        Variant(board=board_from_dict(data))


def test_the_default_variant() -> None:
    for variant in (Variant(), make_variant(), new_game().variant, Variant.from_dict({})):
        assert variant == DEFAULT_VARIANT
        assert variant.is_default()
    assert DEFAULT_VARIANT.cast == EIGHT
    assert (DEFAULT_VARIANT.turns, DEFAULT_VARIANT.first) == (8, "detective")
    assert DEFAULT_VARIANT.board == load_board("whitechapel")
    assert not make_variant(turns=7).is_default()


def test_a_cast_is_kept_in_table_order_however_given() -> None:
    expected = ("SH", "JS", "MS", "WG")
    for cast in ("WG+MS+JS+SH", "WG,MS,JS,SH", ["WG", "MS", "JS", "SH"], {"WG", "SH", "MS", "JS"}):
        assert make_variant(cast=cast).cast == expected
        assert make_variant(cast=cast) == make_variant(cast=expected)
    assert make_variant(cast=(code for code in expected)).cast == expected


def test_a_variant_is_frozen() -> None:
    variant = make_variant()
    with pytest.raises(AttributeError):
        variant.turns = 3  # type: ignore[misc]
    assert variant.turns == 8


def different_variants() -> list[Variant]:
    """Variants of which no two are equal."""
    return [
        make_variant(),
        make_variant(turns=7),
        make_variant(first="jack"),
        make_variant(cast="SH+JW"),
        make_variant(cast="SH+JS"),
        make_variant("mews"),
        make_variant("whitechapel_2016"),
        make_variant(board_from_dict(mews() | {"name": "whitechapel"})),
        make_variant(board_from_dict(mews() | {"watson_light": "N"})),
    ]


def test_variants_are_equal_exactly_when_everything_is() -> None:
    for one, two in combinations(different_variants(), 2):
        assert one != two
    for one, two in zip(different_variants(), different_variants(), strict=True):
        assert one == two
        assert hash(one) == hash(two)
    assert len(set(different_variants() * 2)) == len(different_variants())
    assert make_variant() != "whitechapel"


def test_variant_round_trips() -> None:
    rng = random.Random(3)
    for variant in [*different_variants(), *(random_variant(rng) for _ in range(30))]:
        data = json.loads(json.dumps(variant.to_dict()))
        assert Variant.from_dict(data) == variant
        assert pickle.loads(pickle.dumps(variant)) == variant
        assert copy.deepcopy(variant) == variant
        built_in = variant.board == load_board(variant.board.name)
        assert isinstance(data["board"], str) is built_in


CHILD = """
import pickle, sys
from mrjack_ai.game.state import State, new_game
variants, states = pickle.load(sys.stdin.buffer)
table = {variant: number for number, variant in enumerate(variants)}
from mrjack_ai.setup.variant import Variant
again = [Variant.from_dict(variant.to_dict()) for variant in variants]
assert [table[variant] for variant in again] == list(range(len(variants)))
for state in states:
    assert state.legal_actions() or state.is_terminal()
pickle.dump((again, [state.child(state.legal_actions()[0]) for state in states]), sys.stdout.buffer)
"""


def test_hashes_and_pickles_work_across_processes() -> None:
    """Hashes of text differ between processes, so none may travel with a pickle."""
    variants = different_variants()
    assert [hash(variant) for variant in variants]  # Cached now, before they are sent.
    states = []
    for variant in variants[-3:]:
        *_, state = random_walk(new_game(variant), random.Random(1), LOUD, 9)
        states.append(state.clone())
    root = Path(board_module.__file__).parent.parent
    for seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", CHILD],
            input=pickle.dumps((variants, states)),
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
        )
        assert result.returncode == 0, result.stderr.decode()
        again, children = pickle.loads(result.stdout)
        assert again == variants
        assert [hash(variant) for variant in again] == [hash(variant) for variant in variants]
        assert children == [state.child(state.legal_actions()[0]) for state in states]
        assert set(variants) == set(again)


def test_the_tables_of_equal_variants_are_shared() -> None:
    assert build_tables(make_variant("mews")) is build_tables(make_variant("mews"))
    assert not build_tables(make_variant("mews")).flags.writeable


CASTS = [*combinations(EIGHT, 2), *list(combinations(EIGHT, 4))[::5], EIGHT]


@pytest.mark.parametrize("name", FOR_EVERYBODY)
def test_all_casts_and_turns_can_be_played_on_every_board(name: str) -> None:
    seen: set[tuple[int, int]] = set()
    rng = random.Random(name)
    for number, cast in enumerate(CASTS):
        # Every number of turns for some cast of each size; all of them for the full cast.
        for turns in range(1, 9) if len(cast) == 8 else (number % 8 + 1,):
            variant = make_variant(name, cast, turns, rng.choice(("detective", "jack")))
            for state in random_walk(new_game(variant), rng):
                assert set(state.positions) == set(cast)
                assert state.turn <= turns
            assert state.is_terminal()
            seen.add((len(cast), turns))
    assert seen == {(size, turns) for size in (2, 4, 8) for turns in range(1, 9)}


def test_boards_of_the_test_helpers_are_boards() -> None:
    assert isinstance(small_variant("a1 a2", "SH=a1 JW=a2").board, Board)
