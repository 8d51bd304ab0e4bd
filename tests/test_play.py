"""`mrjack play`: the game of a human against an agent."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pexpect
import pyte
import pytest
from helpers import legal, quiet_choice, random_state

from mrjack_ai.agents import Agent, register_agent
from mrjack_ai.agents.registry import _AGENTS
from mrjack_ai.cli.main import main
from mrjack_ai.common.files import write_whole
from mrjack_ai.engine.types import ACTION_KINDS
from mrjack_ai.errors import AgentError, MrJackError
from mrjack_ai.game.belief import determinize
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.record import GameRecord, read_records
from mrjack_ai.game.state import State
from mrjack_ai.play import Dialogue, Menu, NoMatchError, Session, match
from mrjack_ai.play.choices import completions
from mrjack_ai.play.dialogue import Drawing, hint_agent
from mrjack_ai.play.session import CannotUndoError
from mrjack_ai.render.actions import EXPLANATIONS
from mrjack_ai.render.phrases import Story
from mrjack_ai.setup.variant import DEFAULT_VARIANT, DETECTIVE, JACK, Variant, make_variant

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
SMALL_OPTIONS = ("--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4")


def to_human(session: Session) -> None:
    while not session.is_over() and not session.is_humans_turn():
        session.step()


def play_text(session: Session, text: str) -> None:
    session.choose(session.state.string_to_action(text))


def decisions(seed: int, variant: Variant = DEFAULT_VARIANT) -> Iterator[State]:
    """Every player's decision of one random game, as the same object."""
    rng = random.Random(seed)
    state = State(variant=variant)
    while not state.is_terminal():
        if not state.is_chance_node():
            yield state
        state.apply_action(quiet_choice(rng, legal(state)))


# -- menus and typed text -----------------------------------------------------------------


def leaves(view: Observation, menu: Menu) -> Iterator[int]:
    words = menu.next_words()
    if len(menu.ids) == 1:
        yield menu.ids[0]
        return
    assert 1 < len(words) <= 63, "a menu one can read"
    for word in words:
        chosen = menu.choose(view, word)
        assert len(chosen.ids) == menu.count(word)
        yield from leaves(view, chosen)


def test_menus_and_typed_text_reach_exactly_the_legal_actions() -> None:
    kinds, most = set(), 0
    for state in (state for seed in range(8) for state in decisions(seed)):
        view = state.observation()
        assert sorted(leaves(view, Menu.of(view))) == list(view.actions)
        most = max(most, len(view.actions))
        for action in view.actions:
            name = view.action_to_string(action)
            kinds.add(name.split(" ")[0])
            assert match(view, name) == (action,)
            assert match(view, name.lower().replace(">", " ")) == (action,)
            assert any(name.startswith(line) for line in completions(view, name[:-1]))
    assert most > 90
    assert kinds >= set(ACTION_KINDS) - {"stay", "escape"}


def test_illegal_texts_do_not_match() -> None:
    rng = random.Random(5)
    for state in decisions(4):
        view = state.observation()
        for action in rng.sample(range(len(match_names(view))), 4):
            if action not in view.actions:
                with pytest.raises(NoMatchError, match="legal are"):
                    match(view, match_names(view)[action])


def match_names(view: Observation) -> tuple[str, ...]:
    from mrjack_ai.game.actions import action_space

    return action_space(view.variant).names


def at_use(code: str = "SG") -> Observation:
    state = State(variant=DEFAULT_VARIANT)
    for text in ("jack JS", "deal SH,JS,MS,SG", f"pick {code}"):
        state.apply_action(text)
    return state.observation()


@pytest.mark.parametrize(
    ("code", "typed", "meant"),
    [
        ("SG", "m k9", "move k9"),
        ("SG", "M9", "move m9"),
        ("SG", "whi wats b1 3", "whistle JW b1 3"),
        ("SG", "whistle watson b1", "whistle JW b1 3"),
        ("JS", "l b2 f9", "lamp b2>f9"),
        ("JS", "lamp b2>F9", "lamp b2>f9"),
        ("JS", "mo e7", "move e7"),
    ],
)
def test_short_forms(code: str, typed: str, meant: str) -> None:
    view = at_use(code)
    assert [view.action_to_string(action) for action in match(view, typed)] == [meant]


def test_accusations_must_be_spelled_out() -> None:
    view = at_use("JS")
    assert len(match(view, "accuse SH")) == 1
    for typed in ("acc SH", "a SH", "SH"):
        with pytest.raises(NoMatchError):
            match(view, typed)


def test_a_beginning_matches_all_that_go_on_from_it() -> None:
    view = at_use("JS")
    found = [view.action_to_string(action) for action in match(view, "lamp b2")]
    assert found == ["lamp b2>f9", "lamp b2>h4"]
    assert completions(view, "lamp b2>") == found
    assert completions(view, "la") == ["lamp "]
    assert completions(view, "f", ("lamp", "b2")) == ["f9"]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("move g8", "'move g8' is not legal now; legal are move"),
        ("move z9", "'move z9' is no action; legal are move"),
        ("cordon NE", "'cordon' is not possible now"),
        ("cordon NE>NW", "'cordon NE>NW' is not legal now"),
        ("frobnicate", "'frobnicate' is no action.*actions begin with"),
        ("m z9", "'m z9' is no action; legal are move"),
        ("lamp b2>b2", "legal are lamp b2>"),
    ],
)
def test_wrong_input_is_answered(typed: str, message: str) -> None:
    with pytest.raises(NoMatchError, match=message):
        match(at_use("JS"), typed)


def test_every_kind_of_action_is_explained() -> None:
    assert set(EXPLANATIONS) == set(ACTION_KINDS)


# -- the dialogue -------------------------------------------------------------------------


def dialogue(seed: int = 3, human: int = DETECTIVE, variant: Variant = DEFAULT_VARIANT) -> Dialogue:
    session = Session(variant, human, "greedy", seed)
    to_human(session)
    talk = Dialogue(session)
    talk.screen()
    return talk


@pytest.mark.parametrize("human", [DETECTIVE, JACK])
def test_a_game_by_menus_alone(human: int) -> None:
    rng = random.Random(human)
    talk = dialogue(seed=8, human=human)
    asked = 0
    while not talk.session.is_over():
        text = talk.menu_text()
        numbers = re.findall(r"^ +(\d+)  ", text, flags=re.MULTILINE)
        assert numbers, text
        said, changed = talk.answer(rng.choice(numbers))
        assert said or changed
        asked += 1
        to_human(talk.session)
    assert asked > 3
    GameRecord.from_state(talk.session.state).replay()


def test_steps_of_a_whistle_are_chosen_by_their_number() -> None:
    # j8 can be reached with 2 or 3 steps; the answers are called 2 and 3, not 1 and 2.
    talk = dialogue()
    view = at_use("SG")
    by_place: dict[str, list[str]] = {}
    for action in view.actions:
        name = view.action_to_string(action)
        if name.startswith("whistle"):
            by_place.setdefault(name.rpartition(" ")[0], []).append(name)
    place, names = next(item for item in by_place.items() if len(item[1]) > 1)
    talk.session.state = State(variant=DEFAULT_VARIANT)
    for text in ("jack JS", "deal SH,JS,MS,SG", "pick SG"):
        talk.session.state.apply_action(text)
    talk.session.story.lines.append("You play Sergeant Goodley (SG):")
    said, changed = talk.answer(place)
    assert not changed
    steps = names[-1][-1]
    assert re.search(rf"^  {steps}  steps$", said, flags=re.MULTILINE)
    assert talk.answer(steps) == ("", True)
    assert talk.session.state.history_strings()[-1] == names[-1]


def test_menu_in_steps_back_and_out_of_range() -> None:
    talk = dialogue()
    talk.answer("pick JS")
    assert "Which gaslight goes out?" in talk.answer("lamp")[0]
    assert "Which one is lit instead?" in talk.answer("b2")[0]
    assert "There is no answer 3" in talk.answer("3")[0]
    assert "Which gaslight goes out?" in talk.answer("back")[0]
    assert "What now?" in talk.answer("back")[0]
    assert "first menu" in talk.answer("back")[0]
    assert talk.answer("lamp b2>f9") == ("", True)
    assert "The ability has been used" in talk.screen()


def test_commands_do_not_change_the_game() -> None:
    talk = dialogue(human=JACK)
    before = talk.session.save_text()
    for line in ("help", "?", "? witness", "help whistle", "help MS", "help x", "names", "board"):
        text, changed = talk.answer(line)
        assert (bool(text), changed) == (True, False)
    for line in ("facts", "story", "actions", "actions pick", "fact", "nam", "xyz", "", "99"):
        text, changed = talk.answer(line)
        assert (bool(text), changed) == (True, False), line
    assert talk.session.save_text() == before


def test_help_says_how_to_win_and_lists_the_commands() -> None:
    text = " ".join(dialogue().answer("help")[0].split())
    for words in ("You are the Detective", "escape", "accuse", "dawn", "cleared", "undo:", "hint:"):
        assert words in text
    assert "Jeremy Bert" in dialogue().answer("help names")[0]


@pytest.mark.parametrize("spec", ["ismcts:sims=60", "mo-ismcts:sims=60"])
def test_hints_are_legal_actions(spec: str) -> None:
    talk = dialogue(human=JACK)
    talk.hints = spec
    text, changed = talk.answer("hint")
    assert not changed
    hinted = re.findall(r"^  (\w[^(]*) \(.*\): *it", text.replace("\n    ", " "), re.MULTILINE)
    assert hinted
    assert set(hinted) <= set(legal(talk.session.state))
    assert "To the Detective, Jack may be" in text


def test_who_gives_hints() -> None:
    assert hint_agent(None, "ismcts:sims=10") == "ismcts:sims=10"
    assert hint_agent(None, "greedy") == hint_agent(None, "omniscient") == "ismcts:sims=2000"
    for spec in ("greedy", "omniscient"):
        with pytest.raises(AgentError, match="cannot give hints"):
            hint_agent(spec, "greedy")


def test_nothing_is_wider_than_the_terminal() -> None:
    talk = dialogue()
    talk.drawing = Drawing(unicode=False, width=lambda: 50)
    for line in ("help", "names", "facts", "story", "actions", "xyz", "save", "help turn"):
        assert max(map(len, talk.answer(line)[0].splitlines())) < 50, line
    assert max(map(len, talk.screen().splitlines())) < 50


def test_narrow_terminals_get_the_text_alone() -> None:
    talk = dialogue()
    for width, board, beside in ((60, False, False), (90, True, False), (120, True, True)):
        talk.drawing = Drawing(unicode=False, width=lambda width=width: width)  # type: ignore[misc]
        text = talk.board()
        assert max(map(len, text.splitlines())) <= width
        assert ("\\____/" in text) == board
        assert bool(re.search(r"[/\\] +\[SH\] Holmes", text)) == beside


# -- what is told -------------------------------------------------------------------------


def test_the_story_tells_what_happened() -> None:
    talk = dialogue()
    session = talk.session
    session.state = State(variant=DEFAULT_VARIANT)
    session.story = Story(DETECTIVE)
    texts = "jack SG; deal SH,JS,IL,WG; pick JS; lamp b2>f9; move d5; pick SH; move f7; alibi JB"
    texts += "; pick IL; cordon NE>SE; move c4; pick WG; move m8; pick JB; move k11"
    for text in texts.split("; "):
        session._apply(session.state.string_to_action(text))
    lines = session.story.lines
    assert lines[1] == "Turn 1 of 8 begins. Cards: SH, JS, IL, WG."
    assert lines[2] == (
        "You play John Smith (JS): moves gaslight 1 from b2 to f9; moves from g8 to d5"
    )
    assert lines[3] == (
        "Jack plays Sherlock Holmes (SH): moves from g5 to f7; draws an alibi card and does not "
        "show it"
    )
    assert lines[6].startswith("Witnesses of turn 1: Jack was")
    assert lines[7] == "Gaslight 1, on f9, goes out for good."
    assert lines[8] == "Turn 2 of 8 begins. Cards: JW, MS, SG, JB."
    before, after = {"SH", "JW", "JS", "IL", "MS", "SG", "WG", "JB"}, session.view().suspects()
    gone = before - set(after)
    told = re.search(r"\. (.*) could", lines[6])
    assert told is not None
    assert gone == set(told[1].split(", "))


def test_jack_is_told_who_he_is_and_nobody_else() -> None:
    for human in (DETECTIVE, JACK):
        talk = dialogue(human=human)
        jack = talk.session.state.identity
        text = talk.answer("story")[0]
        assert (f"Jack is {jack}" in text or f"({jack}). Let nobody" in text) == (human == JACK)


def test_twins_that_a_player_cannot_tell_apart_get_the_same_screens() -> None:
    """Everything said follows from the observation: also in a world where the secrets differ."""
    rng, generator = random.Random(2), np.random.default_rng(2)
    nodes: Counter[tuple[str, int]] = Counter()
    changed = 0
    while len(nodes) < 8 or changed < 8:
        state = random_state(rng, DEFAULT_VARIANT)
        if state.current_player() < 0 or nodes[state.node, state.current_player()] == 3:
            continue
        human = state.current_player()
        twin = determinize(state.observation(), generator)
        changed += str(twin) != str(state)
        nodes[state.node, human] += 1
        said = []
        for world in (state, twin):
            talk = Dialogue(Session(DEFAULT_VARIANT, human, "greedy", 1), hints="ismcts:sims=20")
            for text in world.history_strings():
                talk.session._apply(talk.session.state.string_to_action(text))
            said.append([talk.screen(), talk.prompt(), *talk.completions("")])
            said[-1] += [talk.answer(line)[0] for line in ("story", "facts", "actions")]
            if nodes[state.node, human] == 1:
                said[-1].append(talk.answer("hint")[0])
        assert said[0] == said[1]


# -- undo ---------------------------------------------------------------------------------


def test_undo_restores_every_byte() -> None:
    rng = random.Random(1)
    undone = refused = 0
    for seed in range(3):
        talk = dialogue(seed=seed)
        session = talk.session
        while not session.is_over():
            before = (session.state._words.tobytes(), list(session.story.lines))
            session.choose(session.state.string_to_action(quiet_choice(rng, legal(session.state))))
            if session.is_humans_turn() and session.state.playing is not None:
                assert talk.answer("undo") == ("Taken back.", True)
                assert (session.state._words.tobytes(), session.story.lines) == before
                undone += 1
                session.choose(
                    session.state.string_to_action(quiet_choice(rng, legal(session.state)))
                )
            else:
                with pytest.raises(CannotUndoError, match=r"play is finished|alibi card"):
                    session.undo()
                refused += 1
            to_human(session)
    assert undone > 20
    assert refused > 20


def test_undo_says_why_it_cannot() -> None:
    session = Session(DEFAULT_VARIANT, DETECTIVE, "greedy", 3)
    to_human(session)
    with pytest.raises(CannotUndoError, match="nothing has been played"):
        session.undo()
    play_text(session, "pick SH")
    play_text(session, "move f7")
    to_human(session)
    with pytest.raises(CannotUndoError, match="alibi card has been drawn"):
        session.undo()


# -- saving and resuming ------------------------------------------------------------------


def finish(session: Session, plies: int = 1000) -> None:
    """Play on; what the human does depends on the position alone."""
    while not session.is_over() and plies:
        if session.is_humans_turn():
            texts = legal(session.state)
            play_text(session, quiet_choice(random.Random(str(session.state)), texts))
        else:
            session.step()
        plies -= 1


@pytest.mark.parametrize("opponent", ["random", "greedy", "ismcts:sims=30", "pimc:sims=30"])
@pytest.mark.parametrize("human", [DETECTIVE, JACK])
def test_a_resumed_game_goes_on_as_the_unbroken_one(
    opponent: str, human: int, tmp_path: Path
) -> None:
    unbroken = Session(SMALL, human, opponent, 11)
    finish(unbroken)
    path = tmp_path / "game.json"
    for plies in (0, 2, 5, 9, 14):
        broken = Session(SMALL, human, opponent, 11)
        finish(broken, plies)
        write_whole(path, broken.save_text())
        resumed = Session.from_save(path)
        assert resumed.state._words.tobytes() == broken.state._words.tobytes()
        assert resumed.story.lines == broken.story.lines
        assert len(resumed._undo) == len(broken._undo)
        finish(resumed)
        assert resumed.state.history_strings() == unbroken.state.history_strings()
        assert resumed.save_text() == unbroken.save_text()


class Counting(Agent):
    """Counts its decisions; `time` is what a budget of time is called."""

    decisions = 0

    def __init__(self, time: int = 0) -> None:
        self.time = time

    def act(self, observation: Observation) -> int:
        Counting.decisions += 1
        return observation.actions[0]


@pytest.mark.parametrize(("spec", "asked_again"), [("counting", True), ("counting:time=5", False)])
def test_agents_are_asked_again_unless_on_a_clock(
    spec: str, asked_again: bool, tmp_path: Path
) -> None:
    register_agent("counting", Counting, replace=True)
    try:
        session = Session(SMALL, JACK, spec, 4)
        Counting.decisions = 0
        finish(session, 12)
        asked, Counting.decisions = Counting.decisions, 0
        assert asked > 1
        write_whole(tmp_path / "game.json", session.save_text())
        Session.from_save(tmp_path / "game.json")
        assert Counting.decisions == (asked if asked_again else 0)
    finally:
        _AGENTS.pop("counting")


def test_a_finished_game_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(SMALL, JACK, "random", 2)
    finish(session)
    path, record = tmp_path / "game.json", tmp_path / "record.txt"
    write_whole(path, session.save_text())
    assert main(["play", "--resume", str(path), "--record", str(record)]) == 0
    assert re.search(r"^You (win|lose): .* Jack was", capsys.readouterr().out, re.MULTILINE)
    assert GameRecord.from_text(record.read_text()).actions == session.record().actions
    os.symlink(tmp_path / "no" / "folder.txt", tmp_path / "lost.txt")
    assert main(["play", "--resume", str(path), "--record", str(tmp_path / "lost.txt")]) == 2
    assert f"saved in {path}" in capsys.readouterr().err


def test_different_seeds_give_different_games() -> None:
    games = set()
    for seed in range(4):
        session = Session(SMALL, DETECTIVE, "random", seed)
        finish(session)
        games.add(tuple(session.state.history_strings()))
    assert len(games) == 4


def test_saved_games_are_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(SMALL, JACK, "random", 2)
    finish(session, 8)
    path = tmp_path / "game.json"
    write_whole(path, session.save_text())
    (record,) = read_records(path)
    assert record.agents == ("random", "human")
    assert record.seed == 2
    assert record.details["play"]["human"] == "jack"
    assert main(["replay", str(path)]) == 0
    assert "unfinished 1" in capsys.readouterr().out


def damaged(change: Callable[[dict[str, Any]], Any]) -> str:
    session = Session(SMALL, DETECTIVE, "random", 2)
    finish(session, 12)
    data = json.loads(session.save_text())
    return json.dumps(change(data) or data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lambda: "", "no saved game"),
        (lambda: "mrjack record 1\n", "no saved game"),
        (lambda: "[1, 2]", "JSON object"),
        (lambda: "{}", "actions"),
        (lambda: damaged(lambda data: data.pop("play") and None), "who is human"),
        (lambda: damaged(lambda data: data.update(play={"form": 9, "human": "jack"})), "form 9"),
        (lambda: damaged(lambda data: data.update(seed=None)), "a saved game has a seed"),
        (lambda: damaged(lambda data: data.update(seed=-4)), "seed -4"),
        (lambda: damaged(lambda data: data.update(seed=3)), "does not follow from seed 3"),
        (lambda: damaged(lambda data: data["actions"].append("move a1")), "action 13"),
        (lambda: damaged(lambda data: data["actions"].pop(2) and None), "action"),
        (lambda: damaged(lambda data: data.update(ending="dawn")), "dawn"),
        (lambda: damaged(lambda data: data.update(rules=99)), "version 99"),
        (lambda: damaged(lambda data: data.update(turns=0)), "turns 0"),
        (lambda: damaged(lambda data: data.update(agents=["human", "grdy"])), "unknown agent"),
        (lambda: damaged(lambda data: data)[:-30], "damaged"),
    ],
)
def test_damaged_saves_are_refused(
    text: Callable[[], str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.json"
    path.write_text(text())
    assert main(["play", "--resume", str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "game.json" in error
    assert len(error.splitlines()) == 1


# -- the command, without a terminal ------------------------------------------------------


def command(
    tmp_path: Path, lines: str, *options: str, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "mrjack_ai.cli.main", "play", *options],
        input=lines,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), **environment},
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    return done


def test_a_game_in_a_pipe_is_saved_at_its_end_and_carried_on(tmp_path: Path) -> None:
    done = command(tmp_path, "1\n", "--against", "greedy", "--seed", "3", *SMALL_OPTIONS)
    assert "mrjack play --resume mrjack-game.json" in done.stdout
    assert "\x1b" not in done.stdout
    done = command(tmp_path, "\n1\n" * 80, "--resume", "mrjack-game.json", "--record", "r.txt")
    assert re.search(r"^You (win|lose): .*Jack was", done.stdout, flags=re.MULTILINE)
    (record,) = read_records(tmp_path / "r.txt")
    assert record.replay().is_terminal()
    assert record.agents == ("human", "greedy")


def test_output_without_utf8_is_ascii(tmp_path: Path) -> None:
    options = ("--against", "random", "--seed", "1", *SMALL_OPTIONS)
    done = command(tmp_path, "help\nquit\n", *options, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.stdout.isascii()
    done = command(tmp_path, "quit\n", *options, "--color", "always", PYTHONIOENCODING="utf-8")
    assert "\x1b[" in done.stdout
    assert not done.stdout.isascii()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--against", "grdy"], "unknown agent 'grdy'"),
        (["--against", "greedy", "--hint-agent", "random"], "cannot give hints"),
        (["--against", "greedy", "--seed", "-1"], "seed -1"),
        (["--as", "watson"], "'watson' is not one of"),
        (["--resume", "missing.json"], "cannot read 'missing.json'"),
        (["--resume", "x", "--as", "jack"], "do not give them again"),
        (["--resume", "x", "--turns", "3"], "do not give them again"),
        (["--save", "/no/such/folder/g.json", "--against", "greedy"], "cannot write"),
    ],
)
def test_bad_options(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["play", *options])
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


def test_files_that_exist_are_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("mine")
    for option in ("--save", "--record"):
        assert main(["play", "--against", "greedy", option, str(path)]) == 2
        assert "exists already" in capsys.readouterr().err
    talk = dialogue()
    assert "exists already" in talk.answer(f"save {path}")[0]
    assert path.read_text() == "mine"
    assert "save where" in talk.answer("save")[0]
    assert "--resume" in talk.answer(f"save {tmp_path / 'new.json'}")[0]
    assert Session.from_save(tmp_path / "new.json").save_text() == talk.session.save_text()


@pytest.mark.parametrize("option", ["--save", "--record"])
@pytest.mark.parametrize("name", ["", "a" * 300, "nowhere/game.json", "nul\0"])
def test_impossible_names_of_files(
    option: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["play", "--against", "greedy", option, name]) == 2
    error = capsys.readouterr().err
    assert option in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("name", ["~nosuchuser/x", "a" * 300, "nowhere/game.json", "nul\0"])
def test_a_game_goes_on_when_it_cannot_be_saved(name: str) -> None:
    talk = dialogue()
    said = talk.answer(f"save {name}")[0].replace("\n", " ")
    assert "cannot" in said
    assert talk.file is None
    assert not talk.finished


def test_the_record_does_not_replace_the_save(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "game")
    assert main(["play", "--against", "greedy", "--save", path, "--record", path]) == 2
    assert "saved, too" in capsys.readouterr().err


def test_a_cheat_is_named() -> None:
    talk = Dialogue(Session(SMALL, DETECTIVE, "omniscient:sims=2", 1), hints="ismcts:sims=20")
    assert "may not know" in talk.greeting().replace("\n", " ")
    assert "may not know" not in dialogue().greeting().replace("\n", " ")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_game_is_saved_when_told_to_end(tmp_path: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mrjack_ai.cli.main", "play", "--against", "random", *SMALL_OPTIONS],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "You are the Detective" in process.stdout.readline()
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == -number
    assert Session.from_save(tmp_path / "mrjack-game.json").human == DETECTIVE


class Broken(Agent):
    """Fails at its second decision."""

    calls = 0

    def act(self, observation: Observation) -> int:
        self.calls += 1
        if self.calls == 2:
            raise ZeroDivisionError("sorry")
        return observation.actions[0]


class Illegal(Agent):
    """Plays what is not legal."""

    def act(self, observation: Observation) -> int:
        return min(set(range(1000)) - set(observation.actions))


@pytest.mark.parametrize(("agent", "said"), [(Broken, "sorry"), (Illegal, "is not legal here")])
def test_an_agent_that_fails_ends_the_game_and_the_save_stays(
    agent: type[Agent],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register_agent("faulty", agent, replace=True)
    try:
        path = tmp_path / "game.json"
        monkeypatch.setattr("builtins.input", lambda prompt: "1")
        options = ["--as", "jack", "--against", "faulty", "--save", str(path), *SMALL_OPTIONS]
        assert main(["play", *options]) == 2
        captured = capsys.readouterr().err
        assert "faulty, playing the Detective, failed" in captured
        # What it says may give secrets away, such as the legal actions.
        assert said not in captured
        assert "legal are" not in captured
        assert "--tracebacks tells more" in captured
        assert f"--resume {path}" in captured
        path.unlink()
        assert main(["play", "--tracebacks", *options]) == 2
        assert said in capsys.readouterr().err
        session = Session.from_save(path)
        assert session.state.current_player() == DETECTIVE
    finally:
        _AGENTS.pop("faulty")


# -- the command, at a terminal -----------------------------------------------------------


class Terminal:
    """A real terminal session with `mrjack play`, and its screen."""

    def __init__(self, folder: Path, *options: str, columns: int = 125) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parent.parent),
            "TERM": "xterm-256color",
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        environment.pop("NO_COLOR", None)
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "mrjack_ai.cli.main", "play", *options],
            cwd=str(folder),
            env=environment,
            dimensions=(60, columns),
            timeout=30,
            encoding="utf-8",
        )
        self.screen = pyte.Screen(columns, 60)
        self.stream = pyte.Stream(self.screen)

    def expect(self, pattern: str) -> None:
        self.child.expect(pattern)
        self.stream.feed(self.child.before + self.child.after)

    def type(self, line: str) -> None:
        self.child.sendline(line)

    def end(self) -> int:
        self.child.expect(pexpect.EOF)
        self.stream.feed(self.child.before)
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -1)

    def text(self) -> str:
        return "\n".join(self.screen.display)


OPTIONS = ("--against", "random", "--seed", "5", *SMALL_OPTIONS)


def test_a_session_at_a_terminal(tmp_path: Path) -> None:
    at = Terminal(tmp_path, *OPTIONS, "--hint-agent", "ismcts:sims=50")
    at.expect("Whose card")
    at.expect("Detective>")
    assert "Jack: ?" in at.text()
    at.type("hint")
    at.expect("likes best")
    at.expect("Detective>")
    at.type("1")
    at.expect("What now")
    at.type("move")
    at.expect("Where to")
    at.type("1")
    at.expect("You play .*moves from")
    at.expect(">\\x1b")
    at.type("undo")
    at.expect("Taken back|cannot undo")
    at.type("save game.json")
    at.expect("The game is in game.json")
    at.child.kill(signal.SIGKILL)
    at.child.wait()
    at.child.close()

    saved = Session.from_save(tmp_path / "game.json")
    at = Terminal(tmp_path, "--resume", "game.json", "--record", "game.txt")
    at.expect(">\\x1b")
    assert saved.state.move_number() >= 3
    # Ctrl-C leaves, the game stays.
    at.child.sendintr()
    at.expect("To carry on: mrjack play --resume game.json")
    assert at.end() == 130
    assert Session.from_save(tmp_path / "game.json").save_text() == saved.save_text()

    at = Terminal(tmp_path, "--resume", "game.json", "--record", "game.txt")
    for _ in range(200):
        found = at.child.expect([r"Detective[a-z ]*>", r"You (win|lose): "])
        if found == 1:
            break
        at.type("1")
    assert found == 1
    assert at.end() == 0
    (record,) = read_records(tmp_path / "game.txt")
    assert record.replay().is_terminal()
    history = saved.state.history_strings()
    assert list(record.actions[: len(history)]) == history


def test_tab_completes_at_a_terminal(tmp_path: Path) -> None:
    at = Terminal(tmp_path, *OPTIONS, "--save", "game.json")
    at.expect("Detective>")
    at.child.send("pi\t")
    at.expect("pick")
    first = Session.from_save(tmp_path / "game.json").view()
    card = first.action_to_string(first.actions[0]).split(" ")[1]
    at.type(card)
    at.expect("What now")
    at.type("quit")
    at.expect("To carry on")
    assert at.end() == 0
    saved = Session.from_save(tmp_path / "game.json")
    assert saved.state.history_strings()[-1] == f"pick {card}"


def test_control_d_leaves_and_colours_are_used(tmp_path: Path) -> None:
    at = Terminal(tmp_path, *OPTIONS)
    at.child.expect("Detective>")
    assert "\x1b[1;38;5;16;48;5;215m" in at.child.before
    at.child.sendeof()
    at.expect("saved in mrjack-game.json")
    assert at.end() == 0
    assert isinstance(Session.from_save(tmp_path / "mrjack-game.json"), Session)


def test_control_c_while_the_agent_thinks(tmp_path: Path) -> None:
    options = ("--as", "jack", "--against", "ismcts:time=1500", "--seed", "5", "--save", "g.json")
    at = Terminal(tmp_path, *options, *SMALL_OPTIONS)
    at.expect("The Detective thinks")
    at.child.sendintr()
    at.expect("The game is saved in g.json. To carry on: mrjack play --resume g.json")
    assert at.end() == 130
    assert Session.from_save(tmp_path / "g.json").view().turn == 1


def test_errors_are_of_the_library() -> None:
    assert issubclass(NoMatchError, MrJackError)
    assert issubclass(CannotUndoError, MrJackError)
