"""Game records: text and JSON forms, replay, damage."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mrjack_ai
from mrjack_ai import RecordError
from mrjack_ai.game.record import GameRecord, read_records, write_record
from mrjack_ai.setup.variant import Variant, make_variant

OWN_BOARD = mrjack_ai.board_from_dict(mrjack_ai.load_board("mews").to_dict() | {"name": "mine"})
VARIANTS = (
    Variant(),
    make_variant("whitechapel_2016", "JW+SG", 3, "jack"),
    make_variant("mews", "SH+JW+SG+WG", 6),
    Variant(board=OWN_BOARD, cast=("JS", "IL"), turns=2),
)


def random_record(variant: Variant, seed: int, plies: int = 10_000) -> GameRecord:
    choose = random.Random(seed)
    state = mrjack_ai.new_game(variant)
    while not state.is_terminal() and plies:
        actions = state.legal_actions()
        quiet = [a for a in actions if not state.action_to_string(a).startswith("accuse")]
        state.apply_action(choose.choice(quiet or actions))
        plies -= 1
    return GameRecord.from_state(state, agents=("greedy", "random"), seed=seed)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(5))
def test_both_forms_round_trip(variant: Variant, seed: int) -> None:
    record = random_record(variant, seed)
    assert record.ending is not None
    assert GameRecord.from_text(record.to_text()) == record
    assert GameRecord.from_dict(json.loads(json.dumps(record.to_dict()))) == record
    assert record.replay().history_strings() == list(record.actions)


@pytest.mark.parametrize("plies", [0, 1, 2, 3, 4, 5, 17])
def test_unfinished_games_round_trip(plies: int) -> None:
    record = random_record(Variant(), 3, plies)
    assert record.ending is None
    assert GameRecord.from_text(record.to_text()) == record
    assert len(list(record.states())) == plies + 1


def test_text_reads_turn_by_turn() -> None:
    text = random_record(Variant(), 1).to_text()
    lines = text.splitlines()
    assert lines[0] == "mrjack record 1"
    assert "detective: greedy" in lines
    assert "seed: 1" in lines
    assert sum(line.startswith("turn 1: deal ") for line in lines) == 1
    assert sum(line.startswith("turn 2 jack: pick ") for line in lines) == 2
    assert sum(line.startswith("turn 2 detective: pick ") for line in lines) == 2
    assert lines[-1].startswith("result: ")


def test_details_stay_in_the_json_form() -> None:
    state = mrjack_ai.new_game()
    record = GameRecord.from_state(state, details={"deal": 3})
    assert GameRecord.from_dict(record.to_dict()).details == {"deal": 3}


def test_a_game_from_a_set_up_position_is_refused() -> None:
    state = mrjack_ai.State("jack=JS cards=SH,JW,JS,IL dealt=SH,JW,JS,IL")
    with pytest.raises(RecordError, match="set up"):
        GameRecord.from_state(state)


def damage(record: GameRecord, old: str, new: str) -> str:
    text = record.to_text()
    assert old in text
    return text.replace(old, new, 1)


def line_of(text: str, start: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith(start))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mrjack record 1", "mrjack record 2", "line 1: a record begins with"),
        ("rules: 1", "rules: 2", "version 2 of the rules"),
        ("rules: 1\n", "", "no 'rules'"),
        ("turns: 8", "turns: many", "line 5: turns 'many' must be a whole number"),
        ("turns: 8", "turns: 9", "line 5: turns 9 must be a whole number from 1 to 8"),
        ("turns: 8", "turns: 8\nturns: 8", "line 6: 'turns' is given twice"),
        ("board: whitechapel", "board: soho", "unknown board 'soho'"),
        ("board: whitechapel", "board: {", "no variant"),
        ("identity: jack", "identity: jill", "'jill"),
        ("turn 2 jack:", "turn 2 detective:", "'turn 2 detective' should be 'turn 2 jack'"),
        ("turn 1 detective: pick", "turn 1 detective - pick", "must read 'name: value'"),
    ],
)
def test_damaged_text_names_the_line(old: str, new: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        GameRecord.from_text(damage(random_record(Variant(), 1), old, new))


def test_illegal_action_names_the_line() -> None:
    text = random_record(Variant(), 1).to_text()
    number = line_of(text, "turn 1 jack:")
    lines = text.splitlines()
    lines[number - 1] = lines[number - 1].replace("move ", "move z9;", 1)
    with pytest.raises(RecordError, match=f"line {number}: .*z9"):
        GameRecord.from_text("\n".join(lines))
    lines = text.splitlines()
    lines[number - 1] += "; pick SH"
    with pytest.raises(RecordError, match=f"line {number}: 'pick SH' begins a line"):
        GameRecord.from_text("\n".join(lines))


def test_missing_and_superfluous_lines_are_found() -> None:
    lines = random_record(Variant(), 1).to_text().splitlines()
    number = line_of("\n".join(lines), "turn 3: deal")
    with pytest.raises(RecordError, match=f"line {number}: .*should be 'turn 3'"):
        GameRecord.from_text("\n".join(lines[: number - 1] + lines[number:]))
    with pytest.raises(RecordError, match="the result is "):
        GameRecord.from_text("\n".join(lines[:-1]))
    with pytest.raises(RecordError, match="nothing may follow"):
        GameRecord.from_text("\n".join([*lines, "turn 9: deal"]))
    with pytest.raises(RecordError, match=r"the result is .*, not 'a draw'"):
        GameRecord.from_text("\n".join([*lines[:-1], "result: a draw"]))


@given(st.integers(0, 2**32), st.integers(0, 10_000), st.sampled_from("xX;: 0\n"))
@settings(max_examples=150, deadline=None)
def test_any_damage_is_a_record_error_or_another_record(seed: int, at: int, letter: str) -> None:
    text = random_record(VARIANTS[1], seed % 3).to_text()
    at %= len(text)
    damaged = text[:at] + letter + text[at + 1 :]
    message, record = "", None
    try:
        record = GameRecord.from_text(damaged)
    except RecordError as error:
        message = str(error)
    assert message.startswith("line ") if record is None else record.replay().is_terminal()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": "pick"}, "'actions'"),
        ({"actions": [1]}, "'actions'"),
        ({"agents": ["greedy"]}, "'agents'"),
        ({"seed": "1"}, "seed '1'"),
        ({"ending": "draw"}, "ending 'draw' must be one of caught, wrong, escape, dawn"),
        ({"turns": 9}, "turns 9"),
        ({"board": 3}, "board 3"),
        ({"cast": 4}, "cast 4"),
    ],
)
def test_damaged_json_names_the_entry(change: dict[str, object], message: str) -> None:
    data = random_record(Variant(), 1).to_dict() | change
    with pytest.raises(RecordError, match=message):
        GameRecord.from_dict(data)


def test_replay_finds_what_breaks_the_rules() -> None:
    data = random_record(Variant(), 1).to_dict()
    with pytest.raises(RecordError, match="action 3: "):
        GameRecord.from_dict(data | {"actions": [*data["actions"][:2], "pick XX"]}).replay()
    other = "dawn" if data["ending"] != "dawn" else "escape"
    with pytest.raises(RecordError, match=f"the record says {other}"):
        GameRecord.from_dict(data | {"ending": other}).replay()
    with pytest.raises(RecordError, match="says unfinished"):
        GameRecord.from_dict(data | {"ending": None}).replay()
    with pytest.raises(RecordError, match="version 99"):
        GameRecord.from_dict(data | {"rules": 99}).replay()


def test_files(tmp_path: Path) -> None:
    records = [random_record(Variant(), seed) for seed in range(3)]
    write_record(records[0], tmp_path / "one.txt")
    assert read_records(tmp_path / "one.txt") == records[:1]
    lines = [json.dumps({"tournament": "x"}), *(json.dumps(r.to_dict()) for r in records)]
    path = tmp_path / "games.jsonl"
    path.write_text("\n".join(lines) + "\n")
    assert read_records(path) == records
    path.write_text("\n".join([*lines, lines[-1][:40]]))
    with pytest.raises(RecordError, match="line 5: "):
        read_records(path)
    path.write_text("")
    with pytest.raises(RecordError, match="line 1"):
        read_records(path)
    with pytest.raises(RecordError, match="cannot read"):
        read_records(tmp_path / "missing")
    with pytest.raises(RecordError, match="cannot write"):
        write_record(records[0], tmp_path / "no" / "folder")
