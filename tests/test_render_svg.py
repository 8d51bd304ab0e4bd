"""The drawn picture: read back from its elements, it must say what the position says."""

from __future__ import annotations

import itertools
import json
import random
import re
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers import BOARDS, NODES, bare_variant, join_words, parse_words, random_walk, small_variant

import mrjack_ai
from mrjack_ai.cli.main import main
from mrjack_ai.errors import BoardError
from mrjack_ai.game.belief import determinize
from mrjack_ai.game.position import PositionView
from mrjack_ai.game.state import State, new_game
from mrjack_ai.render import board_svg, colours, shapes
from mrjack_ai.render.actions import last_action
from mrjack_ai.render.facts import light, standing
from mrjack_ai.render.svg import layout, moving_layers
from mrjack_ai.setup.board import DIRECTIONS, Board, load_board
from mrjack_ai.setup.variant import make_variant

SVG = "{http://www.w3.org/2000/svg}"
CASTS = ("SH+JW+JS+IL+MS+SG+WG+JB", "JW+JS+SG+WG", "SH+JW", "MS+JB")

BUSY = (
    "node=use turn=3 SH=g5 JW=a3:NE JS=g8 IL=e5 MS=i4 SG=m10 WG=e9 JB=i8 "
    "lamps=c7:3,f5,h8,k6:4 covers=c2,l12 cordons=NE,SW witness=seen cleared=WG jack=MS "
    "alibis=SH/JB dealt=SH,JW,JS,IL cards=JW,JS,IL using=JS moved=no ability=open exonerated=SG"
)


def changed(text: str, change: str) -> str:
    """A position text with some words replaced."""
    return join_words({**parse_words(text), **parse_words(change)})


def walks(seeds: int = 1) -> Iterator[State]:
    """Positions of random games on every board, with casts of 2, 4 and 8."""
    rng = random.Random(1)
    for board, cast in itertools.product(BOARDS, CASTS):
        for seed in range(seeds):
            avoid = ("accuse", "escape") if (seed + len(cast)) % 2 else ()
            yield from random_walk(new_game(board=board, cast=cast, turns=4), rng, avoid)


def parsed(picture: str) -> ElementTree.Element:
    """The picture as XML, with what holds for every one of them checked."""
    root = ElementTree.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text
    _, _, width, height = map(float, (root.get("viewBox") or "").split())
    for node in root.iter():
        # Ids would clash in a page of several pictures, and references would leave it.
        assert not {"id", "href", "class"} & {name.rpartition("}")[2] for name in node.attrib}
        assert not any("url(" in value for value in node.attrib.values())
        if node.tag in (f"{SVG}{name}" for name in ("text", "rect", "circle", "polygon")):
            assert node.get("fill"), "neither a light nor a dark page may choose the colour"
    assert float(root.get("width") or 0) / float(root.get("height") or 1) == pytest.approx(
        width / height, rel=0.01
    )
    return root


def words(picture: str) -> list[str]:
    """All texts that are drawn."""
    return [node.text or "" for node in parsed(picture).iter(f"{SVG}text")]


# -- the board read back --------------------------------------------------------------------


def found_at(root: ElementTree.Element, board: Board) -> dict[str, list[str]]:
    """Texts that stand within each hex, by the place they are drawn at."""
    drawing = root.find(f"{SVG}g")
    assert drawing is not None
    found: dict[str, list[str]] = {
        hex: [] for hex in (*board.streets, *board.obstacles, *board.gaslights)
    }
    for node in drawing.iter(f"{SVG}text"):
        at = float(node.get("x") or 0), float(node.get("y") or 0)
        for hex, texts in found.items():
            x, y = shapes.middle(hex)
            if abs(at[0] - x) < 15 and abs(at[1] - y) < 26:
                texts.append(node.text or "")
    return found


@pytest.mark.parametrize("board", BOARDS)
def test_hexes_stand_beside_their_neighbours(board: str) -> None:
    layers = make_variant(board).board
    for hex in (*layers.streets, *layers.obstacles, *layers.gaslights):
        x, y = shapes.middle(hex)
        for direction in DIRECTIONS:
            other = layers.neighbour(hex, direction)
            if other is not None:
                dx, dy = shapes.towards(direction)
                assert shapes.middle(other) == pytest.approx((x + dx, y + dy))
    x, y = shapes.middle("e5")
    assert shapes.middle("e6") == pytest.approx((x, y - shapes.PITCH)), "north is up"


def test_the_board_shows_the_facts_in_random_games() -> None:
    seen = set()
    for state in itertools.islice(walks(), 0, None, 3):
        board = state.variant.board
        root = parsed(board_svg(state))
        inside = found_at(root, board)
        at = {hex: code for code, hex in state.positions.items()}
        for hex in board.streets:
            assert hex in inside[hex]
            assert [text for text in inside[hex] if text in state.variant.cast] == (
                [at[hex]] if hex in at else []
            )
        for hex in board.gaslights:
            tile = state.lit_gaslights.get(hex)
            expected = [hex] + ([] if tile is None else [str(tile)])
            assert sorted(inside[hex]) == sorted(
                expected if hex in state.lit_gaslights else [hex, "out"]
            )
        drawn = [node.text for node in root.iter(f"{SVG}text")]
        assert drawn.count("cordon") == len(state.cordons)
        assert drawn.count("exit") == len(board.exits) - len(state.cordons)
        told = " ".join(node.text or "" for node in root.iter(f"{SVG}title"))
        for code, hex in state.positions.items():
            shown = "visible" if code in state.visible() else "hidden"
            assert f", {hex}: {standing(state, code)}, {shown}" in told
        seen.add(state.node)
    assert seen == set(NODES)


def test_light_is_drawn_where_it_is() -> None:
    for state in itertools.islice(walks(), 0, None, 5):
        board = state.variant.board
        ground = moving_layers(state)["light"]
        lit = {other for hex in state.lit_gaslights for other in board.neighbours(hex)}
        lit &= set(board.streets)
        expected = {shapes.street(shapes.middle(hex), colours.LIT) for hex in lit}
        beam = light(state)[2]
        expected |= {shapes.street(shapes.middle(hex), colours.BEAM) for hex in set(beam) - lit}
        assert lit | set(beam) == set(state.lit_hexes())
        if beam:
            here = state.positions["JW"]
            # The nearest first: one step after the other ahead of Watson.
            for hex in beam:
                here = board.neighbour(here, state.watson_light or "") or ""
                assert hex == here
            ends = shapes.middle(state.positions["JW"]), shapes.middle(beam[-1])
            expected.add(shapes.beam(*ends))
        assert set(ground) == expected


def test_manholes_and_exits_are_drawn_as_they_are() -> None:
    for state in itertools.islice(walks(), 0, None, 5):
        board, pieces = state.variant.board, moving_layers(state)["pieces"]
        taken, signs = state.positions.values(), layout(state.variant).signs
        for hex in board.manholes:
            covered = hex in state.covered_manholes
            assert shapes.manhole(shapes.middle(hex), covered, hex in taken) in pieces
        for name, hex in board.exits:
            closed = name in state.cordons
            assert shapes.exit_sign(hex, signs[name], name, closed) in pieces
    for there in (False, True):
        assert shapes.manhole((0, 0), True, there).count("<line") == 2  # a cross
        assert shapes.manhole((0, 0), False, there).count("<line") == 0


def test_characters_differ_in_shape_and_edge() -> None:
    tags = {"suspect": "<circle", "cleared": "<rect", "alibi": "<rect", "Jack": "<polygon"}
    for word, tag in tags.items():
        for visible, playing in itertools.product((False, True), repeat=2):
            drawn = shapes.token((0, 0), "XX", word, visible=visible, playing=playing)
            for other in set(tags.values()) - {tag, "<circle"}:
                assert other not in drawn
            assert tag in drawn
            assert ("stroke-dasharray" in drawn) == (not visible)
            assert drawn.count("<circle") == 2 * playing + (word == "suspect")
    for state in itertools.islice(walks(), 0, None, 5):
        drawn_now = moving_layers(state)["characters"]
        for (code, hex), drawn in zip(state.positions.items(), drawn_now, strict=True):
            token = shapes.token(
                shapes.middle(hex),
                code,
                standing(state, code),
                visible=code in state.visible(),
                playing=code == state.playing,
            )
            assert token in drawn
            assert ("hidden" in drawn) == (code not in state.visible())


CHANGES = (
    *("SH=g4", "JW=a3:SW", "JW=a4:NE", "lamps=c7:4,f5,h8,k6:3", "lamps=b2:3,f5,h8,k6:4"),
    *("covers=c2,m9", "cordons=NE,SE", "witness=unseen", "cleared=IL", "jack=IL"),
    *("alibis=SH,JW/JB", "alibis=-/JB", "alibis=SH/-", "dealt=JB,JW,JS,IL", "cards=JS,IL"),
    *("using=IL", "moved=yes", "ability=used", "exonerated=-", "turns=7", "first=jack"),
)


def test_a_change_of_one_word_changes_the_picture() -> None:
    texts = [BUSY, *(changed(BUSY, change) for change in CHANGES)]
    pictures = [re.sub("<(title|desc)>.*?</(title|desc)>", "", board_svg(State(t)), flags=re.S)
                for t in texts]  # fmt: skip
    assert len(set(pictures)) == len(texts)


def test_the_panel_tells_the_turn() -> None:
    shown = words(board_svg(State(BUSY)))
    for text in (
        *("Turn 3 of 8", "whitechapel", "Jack", "Uses JS, not moved, ability open"),
        *("Next turn: MS SG WG JB", "Witness card: Jack was seen", "Jack: MS, Miss Stealthy"),
        *("Alibi cards: Detective SH, Jack JB", "May be Jack: 5"),
    ):
        assert text in shown
    cards = [(a, b) for a, b in itertools.pairwise(shown) if b in ("played", "now", "to play")]
    assert cards[:4] == [("SH", "played"), ("JS", "now"), ("JW", "to play"), ("IL", "to play")]
    assert "Witness card: Jack was not seen" in words(
        board_svg(State(changed(BUSY, "witness=unseen")))
    )
    over = State("node=terminal turn=8 jack=MS dealt=SH,JW,JS,IL ending=dawn lamps=f5,h8")
    assert {"Jack wins", "Dawn"} <= set(words(board_svg(over)))


def test_long_sentences_stay_in_the_panel() -> None:
    limit = 50
    for state in walks():
        for text in words(board_svg(state)):
            assert len(text) <= limit, text


# -- the last action ------------------------------------------------------------------------


def where(state: PositionView, name: str) -> str | None:
    """What is at a place: a character, a tile, a cover or a cordon."""
    at = {hex: code for code, hex in state.positions.items()}
    if name in state.variant.board.exit_names:
        return "cordon" if name in state.cordons else None
    if name in state.variant.board.gaslight_index:
        return "lamp" if name in state.lit_gaslights else None
    return at.get(name)


def test_the_last_action_is_the_one_that_was_played() -> None:
    kinds, before = set(), None
    for state in walks(2):
        action = last_action(state)
        assert action == last_action(state.observation(0)) == last_action(state.observation(1))
        texts = [
            t for t in state.history_strings() if t.split()[0] not in ("jack", "deal", "alibi")
        ]
        assert (action is None) == (not texts)
        if action is None:
            before = state.clone()
            continue
        assert action.kind == texts[-1].split()[0]
        kinds.add(action.kind)
        if state.history_strings()[-1] == texts[-1] and before is not None:
            start, end = action.start, action.end
            if action.kind in ("move", "whistle", "lamp", "cordon"):
                assert start is not None
                assert end is not None
                assert where(before, start) is not None
                assert where(state, end) == where(before, start)
                assert where(before, end) is None
            if action.kind == "swap":
                assert start is not None
                assert end is not None
                assert (where(state, end), where(state, start)) == (
                    where(before, start),
                    where(before, end),
                )
            if action.kind == "cover":
                assert start in before.covered_manholes
                assert end in state.covered_manholes
            if action.kind == "accuse":
                assert end == state.positions[state.accused or ""]
        before = state.clone()
    assert kinds >= {
        "pick",
        "move",
        "swap",
        "whistle",
        "lamp",
        "cordon",
        "cover",
        "light",
        "accuse",
    }


def test_the_last_action_is_marked_unless_it_is_not_wanted() -> None:
    state = new_game()
    for action in ("jack JS", "deal SH,JW,JS,IL", "pick JS", "move h10"):
        state.apply_action(action)
    arrow = shapes.arrow(shapes.middle("g8"), shapes.middle("h10"))
    assert arrow in board_svg(state)
    assert arrow in board_svg(state, player=0)
    assert arrow not in board_svg(state, last=False)
    assert "JS moves from g8 to h10" in board_svg(state)
    # A position that was set up has no history; one that goes on from there has.
    copy = State(str(state))
    assert last_action(copy) is None
    assert arrow not in board_svg(copy)
    copy.apply_action("lamp b2>f9")
    for view in (copy, copy.observation(0)):
        found = last_action(view)
        assert found is not None
        assert found.sentence == "JS moves gaslight 1 from b2 to f9"


def test_an_action_after_a_set_up_position_starts_where_it_says() -> None:
    state = State(BUSY)
    state.apply_action("move g7")
    for view in (state, state.observation(0), state.observation(1)):
        found = last_action(view)
        assert found is not None
        assert (found.start, found.end) == ("g8", "g7")


def test_an_escape_leads_to_its_exit_and_an_accusation_to_the_accused() -> None:
    jack = State(
        "node=use turn=2 jack=MS witness=unseen dealt=SH,JW,JS,IL cards=MS,SG,WG,JB using=MS"
    )
    jack.apply_action("escape SE")
    sign = layout(jack.variant).signs["SE"]
    assert shapes.arrow(shapes.middle("i4"), sign) in board_svg(jack)
    detective = State(
        "node=use turn=1 jack=MS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL using=JS ability=open"
    )
    detective.apply_action("accuse IL")
    arrow = shapes.arrow(shapes.middle("g8"), shapes.middle("e5"))
    assert arrow in board_svg(detective)
    assert arrow in board_svg(detective, player=0)


# -- what must not be seen ------------------------------------------------------------------


def test_twins_have_the_same_picture() -> None:
    """States that differ only in what an observer does not know look the same to him."""
    generator, rng = np.random.default_rng(6), random.Random(6)
    nodes: dict[int, set[str]] = {0: set(), 1: set()}
    for board in BOARDS:
        for avoid in (("accuse", "escape"), ()):
            for state in random_walk(new_game(board=board, turns=5), rng, avoid):
                for player in (0, 1):
                    twin = determinize(state.observation(player), generator)
                    mine = board_svg(state, player=player)
                    assert board_svg(twin, player=player) == mine
                    if twin != state:
                        assert board_svg(twin) != board_svg(state)
                        nodes[player].add(state.node)
    assert nodes[0] == nodes[1] == set(NODES) - {"jack"}


def test_jack_is_marked_for_those_who_know_him() -> None:
    state = State(changed(BUSY, "jack=IL cleared=-"))
    jack = shapes.token(shapes.middle("e5"), "IL", "Jack")
    assert jack in board_svg(state)
    assert jack in board_svg(state, player=1)
    assert jack not in board_svg(state, player=0)
    assert "Jack: not known" in words(board_svg(state, player=0))
    assert "Alibi cards: Detective SH, Jack ?" in words(board_svg(state, player=0))
    assert "Alibi cards: Detective ?, Jack JB" in words(board_svg(state, player=1))
    observation = state.observation(0)
    assert board_svg(observation) == board_svg(state, player=0) == observation._repr_svg_()
    assert state._repr_svg_() == board_svg(state)


# -- options --------------------------------------------------------------------------------


def test_marks_values_size_and_caption() -> None:
    state = State(BUSY)
    plain = board_svg(state)
    reach = state.reachable("MS")
    marked = board_svg(state, marks=reach)
    assert all(shapes.mark(shapes.middle(hex)) in marked for hex in reach)
    assert marked.count(colours.DEEP_PURPLE) > plain.count(colours.DEEP_PURPLE) == 0

    values = {"a1": 0.25, "e5": 2.5, "b2": -1.0}
    hot = board_svg(state, values=values)
    shown = words(hot)
    for text in ("0.25", "2.5", "-1"):
        assert text in shown
    assert shapes.ramp(0.0) in hot
    assert shapes.ramp(1.0) in hot
    scaled = words(board_svg(state, values=values, value_range=(-4, 4)))
    assert {"-4", "4"} <= set(scaled)
    assert parsed(board_svg(state, values={"a1": 3})) is not None
    assert board_svg(state, values={}) == plain

    root = parsed(board_svg(state, size=450))
    assert root.get("width") == "450"
    bare = parsed(board_svg(state, panel=False))
    assert float(bare.get("width") or 0) < float(parsed(plain).get("width") or 0)
    assert "suspect" not in [node.text for node in bare.iter(f"{SVG}text")]
    odd = '<b> & "quotes"\x00\ud800 end\nsecond line'
    assert words(board_svg(state, caption=odd))[-2:] == [
        '<b> & "quotes"\\x00\\ud800 end',
        "second line",
    ]


def test_long_captions_are_wrapped() -> None:
    state = new_game(board="mews", cast="SH+JW")
    long = "every word of a long caption " * 12
    lines = words(board_svg(state, caption=long, panel=False))
    wrapped = [line for line in lines if "word" in line or "caption" in line]
    assert len(wrapped) > 5
    assert " ".join(lines).endswith(long.strip())
    assert max(map(len, wrapped)) * 7.5 <= layout(state.variant).board_width


def test_bad_options_are_named() -> None:
    state = State(BUSY)
    with pytest.raises(BoardError, match="'z9' is no hex of board 'whitechapel'"):
        board_svg(state, marks=["a1", "z9"])
    with pytest.raises(BoardError, match="'b8' is no hex"):
        board_svg(state, values={"b8": 1.0})
    with pytest.raises(ValueError, match="value of 'a1' nan must be a finite number"):
        board_svg(state, values={"a1": float("nan")})
    with pytest.raises(ValueError, match="value_range"):
        board_svg(state, values={"a1": 1.0}, value_range=(1, 1))
    for size in (0, -3, float("inf")):
        with pytest.raises(ValueError, match="size in pixels"):
            board_svg(state, size=size)
    with pytest.raises(ValueError, match="player 2"):
        board_svg(state, player=2)
    with pytest.raises(ValueError, match="cannot show player 1"):
        board_svg(state.observation(0), player=1)


def lightness(colour: str) -> float:
    """Relative luminance (Web Content Accessibility Guidelines 2.1)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def test_the_ramp_grows_evenly_lighter() -> None:
    values = [116 * np.cbrt(lightness(shapes.ramp(n / 20))) - 16 for n in range(21)]
    steps = np.diff(values)  # of CIE lightness, 0 to 100
    assert steps.min() > 2
    assert steps.max() < 2 * steps.min()


def test_lightness_alone_tells_the_grounds_apart() -> None:
    grounds = sorted(map(lightness, (colours.BUILDING, colours.UNLIT, colours.LIT)))
    for dark, bright in itertools.pairwise(grounds):
        assert (bright + 0.05) / (dark + 0.05) > 1.5
    for ground in (colours.UNLIT, colours.LIT, colours.BEAM):
        assert (lightness(ground) + 0.05) / (lightness(colours.INK) + 0.05) > 4.5


# -- other boards ---------------------------------------------------------------------------


def test_exits_amid_the_map_and_with_long_names() -> None:
    shown = words(board_svg(new_game(bare_variant())))
    assert {"Westminster1", "Westminster2", "K"} <= set(shown)
    assert "Watson's beam" not in shown
    assert "open manhole" not in shown
    ring = small_variant(
        "b2 b3 c2 c3 c4 d3 d4", "MS=b2 SG=d4", watson_light=None, exits={"MID": "c3"}
    )
    assert "MID" in words(board_svg(new_game(ring)))
    assert len(set(layout(ring).signs.values())) == 1


def test_signs_of_exits_stand_off_the_map_and_apart() -> None:
    for name in BOARDS:
        variant = make_variant(name)
        board, signs = variant.board, layout(variant).signs
        hexes = [shapes.middle(h) for h in (*board.streets, *board.obstacles, *board.gaslights)]
        places = list(signs.values())
        for number, place in enumerate(places):
            for other in (*hexes, *places[:number]):
                assert np.hypot(*np.subtract(place, other)) > 0.99 * shapes.PITCH


def test_equal_positions_give_equal_text_and_leave_the_state_alone() -> None:
    state = State(BUSY)
    before = state.position_words().tobytes()
    assert board_svg(state) == board_svg(State(BUSY))
    assert state.position_words().tobytes() == before


def test_a_picture_takes_a_few_milliseconds() -> None:
    state = State(BUSY)
    board_svg(state)
    best = np.inf
    for _ in range(20):
        started = time.perf_counter()
        board_svg(state)
        best = min(best, time.perf_counter() - started)
    assert best < 0.01  # about 0.002 on an idle machine


# -- the command ----------------------------------------------------------------------------


def test_show_writes_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["show", BUSY, "--svg", "all.svg"]) == 0
    assert capsys.readouterr().out == "the picture is in all.svg\n"
    assert Path("all.svg").read_text() == board_svg(State(BUSY))
    assert main(["show", BUSY, "--svg", "all.svg", "--player", "detective"]) == 0
    assert Path("all.svg").read_text() == board_svg(State(BUSY), player=0)
    assert main(["show", "--svg", "no/folder.svg"]) == 2
    assert "cannot write 'no/folder.svg'" in capsys.readouterr().err
    Path("games.txt").write_text("mrjack record 1\n")
    assert main(["show", "games.txt", "--svg", "games.txt"]) == 2
    assert Path("games.txt").read_text() == "mrjack record 1\n"
    assert {file.name for file in tmp_path.iterdir()} == {"all.svg", "games.txt"}


def test_the_command_does_not_overwrite_its_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    state = new_game(board="mews", cast="SH+JW", turns=1)
    for _ in random_walk(state, random.Random(1)):
        pass
    record = mrjack_ai.game.record.GameRecord.from_state(state)  # type: ignore[attr-defined]
    Path("games.txt").write_text(record.to_text())
    assert main(["show", "games.txt", "--svg", "games.txt"]) == 2
    assert "give another name" in capsys.readouterr().err
    assert Path("games.txt").read_text() == record.to_text()
    assert main(["show", "games.txt", "--svg", "last.svg"]) == 0
    assert Path("last.svg").read_text() == board_svg(state)


def test_the_command_does_not_overwrite_its_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.json"
    text = json.dumps(load_board("mews").to_dict() | {"name": "mine"})
    path.write_text(text)
    command = ["show", "--board", str(path), "--cast", "SH+JB", "--svg"]
    assert main([*command, str(path)]) == 2
    assert "give another name" in capsys.readouterr().err
    assert path.read_text() == text
    assert main([*command, str(tmp_path / "mine.svg")]) == 0
