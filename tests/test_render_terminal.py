"""The terminal picture: read back from the text, it must say what the position says."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from helpers import BOARDS, NODES, bare_variant, join_words, parse_words, random_walk, small_variant

from mrjack_ai.game.belief import determinize
from mrjack_ai.game.position import PositionView
from mrjack_ai.game.state import State, new_game
from mrjack_ai.render import board_text, describe
from mrjack_ai.render.terminal import MAX_WIDTH, PANEL_WIDTH
from mrjack_ai.setup.board import DIRECTIONS, Board
from mrjack_ai.setup.variant import DEFAULT_VARIANT, make_variant

ESCAPE_CODE = re.compile(r"\x1b\[[0-9;]*m")
CASTS = ("SH+JW+JS+IL+MS+SG+WG+JB", "JW+JS+SG+WG", "SH+IL+MS+JB", "SH+JW", "JS+SG", "MS+JB")

# Rows and columns from a hex's name to that of its neighbour.
STEPS = {"N": (-4, 0), "NE": (-2, 6), "SE": (2, 6), "S": (4, 0), "SW": (2, -6), "NW": (-2, -6)}

BUSY = (
    "node=use turn=3 SH=g5 JW=a3:NE JS=g8 IL=e5 MS=i4 SG=m10 WG=e9 JB=i8 "
    "lamps=c7:3,f5,h8,k6:4 covers=c2,l12 cordons=NE,SW witness=seen cleared=WG jack=MS "
    "alibis=SH/JB dealt=SH,JW,JS,IL cards=JW,JS,IL using=JS moved=no ability=open exonerated=SG"
)
WHISTLING = (
    "node=whistle turn=1 jack=MS dealt=SG,JW,JS,IL cards=SG,JW,JS,IL using=SG steps=2 whistled=JB"
)
OVER = (
    "node=terminal turn=1 jack=MS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL using=SH ability=open "
    "accused=MS ending=caught"
)


def changed(text: str, change: str) -> str:
    """A position text with some words replaced."""
    return join_words({**parse_words(text), **parse_words(change)})


def ascii_text(view: PositionView) -> str:
    return board_text(view, unicode=False)


def all_modes(view: PositionView) -> list[str]:
    """The picture with and without colour and Unicode."""
    return [
        board_text(view, color=color, unicode=unicode)
        for color in (False, True)
        for unicode in (False, True)
    ]


def walks(seeds: int = 2) -> Iterator[State]:
    """Positions of random games on every board, with casts of 2, 4 and 8."""
    rng = random.Random(1)
    for board in BOARDS:
        for cast in CASTS:
            for seed in range(seeds):
                avoid = ("accuse", "escape") if seed % 2 == 0 else ()
                first = ("detective", "jack")[seed // 2 % 2]
                yield from random_walk(new_game(board=board, cast=cast, first=first), rng, avoid)


# --- reading a picture back -----------------------------------------------------------------


def names(board: Board) -> tuple[str, ...]:
    """Hexes whose name is shown."""
    return board.streets + board.gaslights


def places(text: str, board: Board) -> dict[str, tuple[int, int]]:
    """Row and column of the name of each hex; a name follows the rising side of its hex."""
    found: dict[str, tuple[int, int]] = {}
    for row, line in enumerate(text.split("\n")):
        for match in re.finditer(r"[/╱]([a-z]\d{1,2})", line):  # noqa: RUF001
            assert match[1] not in found, f"{match[1]} is drawn twice"
            found[match[1]] = (row, match.start(1))
    assert set(found) == set(names(board))
    return found


def interiors(text: str, board: Board) -> dict[str, tuple[str, str, str]]:
    """The three lines inside each hex that has a name, 4, 6 and 6 characters."""
    lines = [line.ljust(MAX_WIDTH) for line in text.split("\n")]
    return {
        hex: (
            lines[row][column : column + 4],
            lines[row + 1][column - 1 : column + 5],
            lines[row + 2][column - 1 : column + 5],
        )
        for hex, (row, column) in places(text, board).items()
    }


def chip(text: str) -> str:
    """The marked code on the second line of a street hex or in a row of the table, or blank."""
    return text[1:5] if re.match(r".(\[[A-Z]{2}\]|-[A-Z]{2}-|![A-Z]{2}!)", text) else ""


def beam_of(view: PositionView) -> set[str]:
    """Hexes ahead of Watson, walked one by one (5.2)."""
    board, found = view.variant.board, set()
    if view.watson_light is not None:
        hex = board.neighbour(view.positions["JW"], view.watson_light)
        while hex in board.streets:
            assert hex is not None
            found.add(hex)
            hex = board.neighbour(hex, view.watson_light)
    return found


@dataclass(frozen=True)
class Marks:
    """Characters of the picture in one mode."""

    open: str
    covered: str
    lit: str
    beam: str
    lamp: str
    building: str
    arrows: tuple[str, ...]


MARKS = {
    False: Marks("O", "X", ".", "~", "*", "#", DIRECTIONS),
    True: Marks("○", "●", "·", "≈", "☼", "▒", tuple("↑↗↘↓↙↖")),
}


def check_board(view: PositionView, unicode: bool) -> None:
    """Everything on the board, read back and compared with the view."""
    board, marks = view.variant.board, MARKS[unicode]
    inside = interiors(board_text(view, unicode=unicode), board)
    at = {hex: code for code, hex in view.positions.items()}
    exits = {hex: name for name, hex in board.exits}
    beam = beam_of(view)
    lit = {other for hex in view.lit_gaslights for other in board.neighbours(hex)}
    assert (lit | beam) & set(board.streets) == set(view.lit_hexes())
    for hex in board.gaslights:
        mark = "out"
        if hex in view.lit_gaslights:
            mark = f"{marks.lamp}{view.lit_gaslights[hex] or marks.lamp}{marks.lamp}"
        assert inside[hex] == (f"{hex:<4}", f" {mark}  ", marks.building * 6)
    for hex in board.streets:
        first, second, third = inside[hex]
        if hex in board.manholes:
            assert first[3] == (marks.covered if hex in view.covered_manholes else marks.open)
        else:
            assert first[3] not in (marks.covered, marks.open)
        assert (chip(second)[1:3] or None) == at.get(hex)
        assert (second[0] == ">") == (at.get(hex) == view.playing is not None)
        arrow = ""
        if at.get(hex) == "JW":
            assert view.watson_light is not None
            arrow = marks.arrows[DIRECTIONS.index(view.watson_light)]
        shown = re.findall("([<|])([A-Za-z0-9]+)([>|])", third)
        name = exits.get(hex)
        if name is None:
            assert shown == []
        else:
            sides = ("|", "|") if name in view.cordons else ("<", ">")
            assert shown == [(sides[0], name[: 4 - len(arrow)], sides[1])]
            third = re.sub("[<|][A-Za-z0-9]+[>|]", "", third)
        assert re.sub(f"[^{''.join(marks.arrows)}]", "", third) == arrow
        # What is left is filled with the light there is, all kinds of it.
        blank = first[len(hex) : 3] + second[0].strip(">") + second[5] + third.replace(arrow, "")
        fills = {marks.lit} if hex in lit else set()
        fills |= {marks.beam} if hex in beam else set()
        assert set(blank) == (fills or {" "})


# --- the board ------------------------------------------------------------------------------


@pytest.mark.parametrize("unicode", [False, True])
@pytest.mark.parametrize("name", BOARDS)
def test_hexes_stand_beside_their_neighbours(name: str, unicode: bool) -> None:
    board = make_variant(name).board
    found = places(board_text(new_game(board=name), unicode=unicode), board)
    for hex, (row, column) in found.items():
        for direction, (down, right) in STEPS.items():
            there = [other for other, at in found.items() if at == (row + down, column + right)]
            other = board.neighbour(hex, direction)
            assert there == ([other] if other in found else [])


def test_known_neighbours_touch() -> None:
    found = places(ascii_text(new_game()), DEFAULT_VARIANT.board)
    for hex, other, direction in (
        ("b1", "c2", "NE"),
        ("m8", "l7", "SW"),
        ("i4", "i5", "N"),
        ("g10", "h10", "SE"),
    ):
        step = tuple(b - a for a, b in zip(found[hex], found[other], strict=True))
        assert step == STEPS[direction]


@pytest.mark.parametrize("name", BOARDS)
def test_every_hex_has_six_sides(name: str) -> None:
    board = make_variant(name).board
    text = ascii_text(new_game(board=name))
    lines = [line.ljust(MAX_WIDTH) for line in text.split("\n")]
    sides = (
        *((0, -1, "/"), (0, 4, "\\"), (1, -2, "/"), (1, 5, "\\")),
        *((2, -2, "\\"), (2, 5, "/"), (3, -1, "\\"), (3, 4, "/")),
    )
    for row, column in places(text, board).values():
        assert lines[row - 1][column : column + 4] == "____"
        assert lines[row + 3][column : column + 4] == "____"
        for down, right, side in sides:
            assert lines[row + down][column + right] == side


def test_buildings_are_filled_and_nothing_else_is() -> None:
    board = DEFAULT_VARIANT.board
    text = ascii_text(new_game())
    lines = [line.ljust(MAX_WIDTH) for line in text.split("\n")]
    found = places(text, board)
    for hex in board.obstacles:
        column, row = next(
            (at[1] - right, at[0] - down)
            for other, at in found.items()
            for direction, (down, right) in STEPS.items()
            if board.neighbour(hex, direction) == other
        )
        assert lines[row][column : column + 4] == "####"
        assert lines[row + 1][column - 1 : column + 5] == "######"
        assert lines[row + 2][column - 1 : column + 5] == "######"
    # Buildings have 16 filled cells, gaslights one line of 6; the legend shows four.
    assert text.count("#") == 16 * len(board.obstacles) + 6 * len(board.gaslights) + 4


@pytest.mark.parametrize("unicode", [False, True])
def test_board_shows_the_facts_in_random_games(unicode: bool) -> None:
    seen = set()
    for state in walks():
        check_board(state, unicode)
        seen.add(state.node)
    assert seen == set(NODES)


def test_board_shows_light_of_lamp_and_beam_on_one_hex() -> None:
    state = State(changed(BUSY, "SH=j8 JW=g4:N"))
    check_board(state, unicode=False)
    inside = interiors(ascii_text(state), state.variant.board)
    assert set(inside["g5"][1]) == {".", "~"}
    assert set(inside["g9"][1]) == {"~"}
    assert set(inside["i9"][1]) == {"."}
    assert set(inside["i10"][1]) == {" "}


def test_characters_are_marked_by_what_is_known_of_them() -> None:
    def chips(view: PositionView) -> dict[str, str]:
        found = interiors(ascii_text(view), view.variant.board).values()
        return {chip(line)[1:3]: chip(line) for _, line, _ in found if chip(line)}

    state = State(BUSY)
    known = {"SH": "-SH-", "WG": "-WG-", "SG": "-SG-", "MS": "!MS!"}
    expected = {code: known.get(code, f"[{code}]") for code in state.variant.cast}
    assert chips(state) == expected
    assert chips(state.observation(0)) == {**expected, "MS": "[MS]"}
    # The Detective's card is not known to Jack.
    assert chips(state.observation(1)) == {**expected, "SH": "[SH]"}
    table = {line[2:4]: line.split()[-1] for line in describe(state) if chip(line)}
    words = {"SH": "alibi", "WG": "cleared", "SG": "exonerated", "MS": "Jack"}
    assert table == {code: words.get(code, "suspect") for code in state.variant.cast}


def test_table_says_where_characters_are_and_whether_they_are_visible() -> None:
    rng = random.Random(2)
    for state in random_walk(new_game(), rng):
        rows = [line.split() for line in describe(state) if chip(line)]
        assert [row[0].lstrip(">")[1:3] for row in rows] == list(state.variant.cast)
        assert {row[0][-3:-1]: row[2] for row in rows} == state.positions
        shown = {row[0][-3:-1] for row in rows if row[3] == "visible"}
        assert shown == set(state.visible())
        marked = [row[0][2:4] for row in rows if row[0].startswith(">")]
        assert marked == ([] if state.playing is None else [state.playing])


# --- one fact, one difference ---------------------------------------------------------------

BUSY_CHANGES = (
    "SH=g4",
    "JW=a3:SW",
    "JW=a4:NE",
    "JS=g9",
    "IL=e6",
    "MS=i5",
    "SG=m9",
    "WG=e8",
    "JB=i7",
    "lamps=c7:4,f5,h8,k6:3",
    "lamps=c7:3,f9,h8,k6:4",
    "lamps=b2:3,f5,h8,k6:4",
    "covers=c2,m9",
    "covers=a5,l12",
    "cordons=NE,SE",
    "cordons=NW,SW",
    "witness=unseen",
    "cleared=IL",
    "cleared=WG,IL",
    "jack=IL",
    "alibis=SH,JW/JB",
    "alibis=-/JB",
    "alibis=SH/-",
    "alibis=JB/SH",
    "dealt=JB,JW,JS,IL",
    "cards=JS,IL",
    "using=IL",
    "moved=yes",
    "ability=used",
    "exonerated=-",
    "exonerated=SG,WG",
    "turns=7",
    "first=jack",
)


def assert_all_different(texts: list[str]) -> None:
    for pictures in zip(*(all_modes(State(text)) for text in texts), strict=True):
        assert len(set(pictures)) == len(texts)


def test_a_change_of_one_word_changes_the_picture() -> None:
    assert_all_different([BUSY, *(changed(BUSY, change) for change in BUSY_CHANGES)])
    assert_all_different(
        [WHISTLING, *(changed(WHISTLING, change) for change in ("steps=1", "whistled=IL"))]
    )
    endings = ("accused=JS ending=wrong", "accused=WG ending=wrong", "using=JW")
    assert_all_different([OVER, *(changed(OVER, change) for change in endings)])


def test_pictures_of_different_positions_differ_in_random_games() -> None:
    for board in BOARDS:
        before = ""
        for state in random_walk(new_game(board=board), random.Random(4)):
            picture = ascii_text(state)
            assert picture != before
            before = picture


# --- the text -------------------------------------------------------------------------------


def test_text_of_a_busy_position() -> None:
    assert describe(State(BUSY)) == [
        "Turn 3 of 8 on whitechapel",
        "Jack uses JS, not moved, ability open",
        "Witness card: seen",
        "Jack: MS Miss Stealthy",
        "",
        "Cards: played SH, now JS, left JW IL",
        "Next turn: MS SG WG JB",
        "Order: Detective >Jack Jack Detective",
        "Alibis: Detective SH, Jack JB",
        "May be Jack (5): JW JS IL MS JB",
        "Exonerated by a stay: SG",
        "",
        " -SH- Holmes   g5  visible alibi",
        " [JW] Watson   a3  hidden  suspect",
        ">[JS] Smith    g8  visible suspect",
        " [IL] Lestrade e5  visible suspect",
        " !MS! Stealthy i4  hidden  Jack",
        " -SG- Goodley  m10 hidden  exonerated",
        " -WG- Gull     e9  hidden  cleared",
        " [JB] Bert     i8  visible suspect",
        "",
        "Exits: NW b7 open, NE l12 cordon,",
        "  SW b1 cordon, SE l6 open",
        "Watson's lantern: NE",
        "To go out: c7 after turn 3,",
        "  k6 after turn 4",
    ]


def test_cards_face_up_are_the_dealt_ones_on_odd_turns_and_the_others_on_even_ones() -> None:
    state = new_game()
    assert "Cards: not dealt" in describe(state)
    for action in ("jack MS", "deal SH,JW,JS,IL"):
        state.apply_action(action)
    assert "Cards: played -, left SH JW JS IL" in describe(state)
    assert "Next turn: MS SG WG JB" in describe(state)
    rng = random.Random(7)
    even = next(moment for moment in random_walk(state, rng) if moment.turn == 2)
    assert "Cards: played -, left MS SG WG JB" in describe(even)
    assert not any(line.startswith("Next turn") for line in describe(even))
    assert "Order: >Jack Detective Detective Jack" in describe(even)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node=jack turn=0", "Chance draws Jack's card"),
        ("node=deal jack=MS", "Chance deals the cards"),
        ("node=pick jack=MS cards=SH,JW,JS,IL dealt=SH,JW,JS,IL", "Detective picks a card"),
        (WHISTLING, "Detective whistles with SG, not moved, whistled JB, steps left: 2"),
        (
            changed(WHISTLING, "steps=1"),
            "Detective whistles with SG, not moved, whistled JB, steps left: 1",
        ),
        (
            "node=aim jack=MS dealt=SH,JW,JS,IL cards=JW,JS using=JW moved=yes ability=open",
            "Jack aims the lantern, using JW, moved, ability open",
        ),
        (
            "node=alibi jack=MS dealt=SH,JW,JS,IL cards=SH using=SH moved=yes ability=open",
            "Detective draws an alibi with SH, moved, ability open",
        ),
        (OVER, "Detective wins: caught, MS accused by SH"),
        (changed(OVER, "accused=JS ending=wrong"), "Jack wins: wrong accusation, JS accused by SH"),
        (
            "node=terminal turn=2 jack=MS witness=unseen dealt=SH,JW,JS,IL cards=MS,SG,WG,JB "
            "using=MS ending=escape lamps=l11:2,c7:3,k6:4,f5,h8",
            "Jack wins: escape by MS",
        ),
        (
            "node=terminal turn=8 jack=MS dealt=SH,JW,JS,IL ending=dawn lamps=f5,h8",
            "Jack wins: dawn",
        ),
    ],
)
def test_text_says_what_is_going_on(text: str, expected: str) -> None:
    lines = " ".join(line.strip() for line in describe(State(text))[1:4])
    assert lines.startswith(expected)
    assert f"Turn {State(text).turn} of 8" in ascii_text(State(text))


def test_tiles_of_the_last_turn_are_not_said_to_go_out() -> None:
    line = "To go out: b2 after turn 1"
    assert line in describe(new_game(turns=2))
    assert line in ascii_text(new_game(turns=2))
    assert "To go out: none" in describe(new_game(turns=1))


def test_describe_is_what_stands_beside_the_board() -> None:
    for state in random_walk(new_game(), random.Random(5)):
        rows = board_text(state).split("\n")
        for row, line in zip(rows, describe(state), strict=False):
            assert row.endswith(line)
            assert len(line) <= PANEL_WIDTH
            assert line.isascii()


# --- the form -------------------------------------------------------------------------------


def test_ascii_is_ascii_and_colour_only_adds_escape_codes() -> None:
    for state in walks(seeds=1):
        for unicode in (False, True):
            plain = board_text(state, unicode=unicode)
            coloured = board_text(state, color=True, unicode=unicode)
            assert "\x1b" not in plain
            assert "\x1b" in coloured
            assert ESCAPE_CODE.sub("", coloured) == plain
            assert plain.isascii() != unicode
        assert all(line == line.rstrip() for line in board_text(state).split("\n"))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_lantern_has_an_arrow_for_each_direction(direction: str) -> None:
    arrow = dict(zip(DIRECTIONS, "↑↗↘↓↙↖", strict=True))[direction]
    state = State(changed(BUSY, f"JW=a3:{direction}"))
    assert interiors(board_text(state), state.variant.board)["a3"][2] == f"  {arrow}   "
    assert f"Watson's lantern: {direction}" in describe(state)


def test_colours_set_the_background_with_the_foreground() -> None:
    """A background alone would be unreadable on one half of all terminals."""
    codes = set(ESCAPE_CODE.findall(board_text(State(BUSY), color=True)))
    with_background = {code for code in codes if "48;5;" in code}
    assert len(with_background) >= 10
    assert all("38;5;" in code for code in with_background)


def test_colour_shows_the_light_on_the_whole_hex() -> None:
    """The ground, the line below it included, has the background the legend gives its kind."""
    state = State(changed(BUSY, "SH=j8 JW=g4:N"))
    board, styles = state.variant.board, []
    for line in board_text(state, color=True, unicode=False).split("\n"):
        row, code = [], ""
        for part in re.split("(\x1b\\[[0-9;]*m)", line):
            if part.startswith("\x1b"):
                code = part.partition("48;5;")[2].rstrip("m")
            else:
                row += [code] * len(part)
        styles.append([*row, *[""] * (MAX_WIDTH - len(row))])
    lines = ascii_text(state).split("\n")
    samples = {"a1 O": "dark", "....": "lit", "~~~~": "beam", "####": "building"}
    legend = {
        samples[sample]: styles[row][line.rindex(sample)]
        for row, line in enumerate(lines)
        for sample in samples
        if f"{sample} " in line[80:]
    }
    assert len(set(legend.values())) == len(samples)
    beam, lit = beam_of(state), {h for g in state.lit_gaslights for h in board.neighbours(g)}
    for hex, (row, column) in places(ascii_text(state), board).items():
        ground = "lit" if hex in lit else "beam" if hex in beam else "dark"
        if hex in board.streets:
            assert styles[row][column] == legend[ground]
            assert styles[row + 3][column : column + 4] == [legend[ground]] * 4


@pytest.mark.parametrize("text", ["[SH]", "-SH-", "!SH!", "<NE>", "|NE|"])
def test_colour_tells_marks_apart(text: str) -> None:
    """Each kind of mark has a style of its own."""

    def code_before(mark: str) -> str:
        words = "SH=l12 jack=IL" if "SH" in mark else ""
        words += {"-SH-": " cleared=SH", "!SH!": " jack=SH", "<NE>": "cordons=SW,SE"}.get(mark, "")
        words += "" if mark == "-SH-" else " cleared=-"
        state = State(changed(BUSY, words + " alibis=-/-"))
        match = re.search(rf"\x1b\[([0-9;]*)m{re.escape(mark)}", board_text(state, color=True))
        assert match is not None
        return match[1]

    others = [
        code_before(mark) for mark in ("[SH]", "-SH-", "!SH!", "<NE>", "|NE|") if mark != text
    ]
    assert code_before(text) not in others


def test_the_real_boards_fit_in_120_columns_and_50_lines() -> None:
    for state in walks(seeds=1):
        for text in (board_text(state), ascii_text(state)):
            lines = text.split("\n")
            assert len(lines) <= 50
            assert max(map(len, lines)) <= 120
    # Text beside the board, not below it.
    assert len(board_text(new_game()).split("\n")) <= 40


def test_drawing_changes_nothing_and_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    state = State(BUSY)
    before = state.position_words().tobytes()
    assert all_modes(state) == all_modes(state)
    assert state.position_words().tobytes() == before
    assert capsys.readouterr() == ("", "")


# --- what must not be seen ------------------------------------------------------------------


def test_twins_have_the_same_picture() -> None:
    """States that differ only in what an observer does not know look the same to him."""
    generator, rng = np.random.default_rng(6), random.Random(6)
    nodes: dict[int, set[str]] = {0: set(), 1: set()}
    for board in BOARDS:
        for avoid in (("accuse", "escape"), ()):
            for state in random_walk(new_game(board=board), rng, avoid):
                for player in (0, 1):
                    observation = state.observation(player)
                    twin = determinize(observation, generator)
                    for unicode in (False, True):
                        assert board_text(
                            twin.observation(player), color=True, unicode=unicode
                        ) == board_text(observation, color=True, unicode=unicode)
                    assert describe(twin.observation(player)) == describe(observation)
                    if twin != state:
                        assert ascii_text(twin) != ascii_text(state)
                        nodes[player].add(state.node)
    # Nothing is hidden before Jack's card is drawn; all other nodes had twins that differ.
    assert nodes[0] == nodes[1] == set(NODES) - {"jack"}


def test_the_detectives_picture_does_not_name_jack() -> None:
    for state in walks(seeds=1):
        detective, jack = state.observation(0), state.observation(1)
        named = {f"!{code}!" for code in state.variant.cast}
        for text in (ascii_text(detective), board_text(detective, color=True)):
            assert not any(mark in text for mark in named)
        hidden = "Jack: not drawn yet" if state.node == "jack" else "Jack: ?"
        assert hidden in describe(detective)
        if state.node != "jack":
            assert f"!{state.identity}!" in ascii_text(jack)
            assert f"!{state.identity}!" in ascii_text(state)
            assert any(line.startswith(f"Jack: {state.identity} ") for line in describe(jack))


def test_alibi_cards_are_shown_to_who_drew_them() -> None:
    state = State(BUSY)
    assert "Alibis: Detective SH, Jack JB" in ascii_text(state)
    assert "Alibis: Detective SH, Jack ?" in ascii_text(state.observation(0))
    assert "Alibis: Detective ?, Jack JB" in ascii_text(state.observation(1))


# --- other boards ---------------------------------------------------------------------------


def test_a_bare_board() -> None:
    state = new_game(bare_variant())
    assert ascii_text(state).split("\n")[:15] == [
        "              ____     Turn 0 of 2 on small",
        "             /z4  \\    Chance draws Jack's card",
        "        ____/      \\   Witness card: seen",
        "       /y3  \\|West|/   Jack: not drawn yet",
        "      / [SG] \\____/",
        "      \\      /z3  \\    Cards: not dealt",
        "       \\____/      \\   Alibis: Detective -, Jack -",
        "       /y2  \\      /   May be Jack (2): MS SG",
        "  ____/      \\____/",
        " /####\\ <K>  /          [MS] Stealthy y1  hidden  suspect",
        "/######\\____/           [SG] Goodley  y3  hidden  suspect",
        "\\######/y1  \\",
        " \\____/ [MS] \\         Exits: Westminster1 y1 open,",
        "      \\<West>/           Westminster2 z4 cordon, K y2 open",
        "       \\____/          To go out: none",
    ]
    for seed in range(5):
        for moment in random_walk(new_game(bare_variant()), random.Random(seed), ()):
            check_board(moment, unicode=seed % 2 == 0)
            assert all(len(line) <= PANEL_WIDTH for line in describe(moment))


def test_text_stands_below_a_board_that_is_too_wide() -> None:
    streets = [
        f"{column}{9 + index // 2}" for index, column in enumerate("abcdefghijklmnopqrstuvw")
    ]
    variant = small_variant(" ".join(streets), "SH=a9 JW=b9")
    lines = board_text(new_game(variant)).split("\n")
    first = lines.index("Turn 0 of 8 on small")
    assert lines[first:][: len(describe(new_game(variant)))] == describe(new_game(variant))
    assert lines[first - 1] == ""
    check_board(new_game(variant), unicode=True)


def test_watson_on_an_exit_leaves_room_for_both() -> None:
    state = State(changed(BUSY, "JW=l6:NW"))
    for unicode, shown in ((False, "<SE>NW"), (True, "<SE>·↖")):
        check_board(state, unicode)
        picture = board_text(state, unicode=unicode)
        assert interiors(picture, state.variant.board)["l6"][2] == shown
