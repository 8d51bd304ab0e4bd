"""Agents that are programs: reference clients, the protocol, and all that can go wrong."""

from __future__ import annotations

import contextlib
import copy
import gc
import json
import os
import pickle
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mrjack_ai
from mrjack_ai import AgentError, State
from mrjack_ai.agents import (
    CommandAgent,
    agent_parameters,
    agent_usage,
    command,
    make_agent,
    program,
)
from mrjack_ai.agents.command import observation_message
from mrjack_ai.cli.main import main
from mrjack_ai.errors import TimeLimitError
from mrjack_ai.setup.variant import PLAYER_NAMES, Variant, make_variant
from mrjack_ai.testing import check_agent
from mrjack_ai.tournament import Settings, make_deal, play_game, run_tournament

CLIENTS = Path(__file__).parent / "clients"
PYTHON = f"cmd:{shlex.join([sys.executable, str(CLIENTS / 'random_agent.py')])}"
NODE = f"cmd:node {shlex.quote(str(CLIENTS / 'last_action.js'))}"
SMALL = make_variant("mews", "SH+JW+SG+WG", 4)

needs_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="Node.js, which runs the client in JavaScript, is missing"
)


@pytest.fixture(autouse=True)
def _nothing_is_left_running(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    started: list[subprocess.Popen[bytes]] = []

    def popen(*arguments: Any, **keywords: Any) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(*arguments, **keywords))
        return started[-1]

    monkeypatch.setattr(program, "subprocess", SimpleNamespace(Popen=popen, PIPE=subprocess.PIPE))
    yield
    gc.collect()
    program._close_all()
    assert not program._running
    # Each was waited for, so that none is left as a zombie, and its pipes are closed.
    assert all(process.returncode is not None for process in started)
    assert all(process.stdout and process.stdout.closed for process in started)


def misbehaving(how: str, time: float = 2000) -> CommandAgent:
    command = shlex.join([sys.executable, str(CLIENTS / "misbehaving.py"), how])
    return CommandAgent(command, time=time)


def opening(variant: Variant = SMALL) -> State:
    state = mrjack_ai.new_game(variant)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return state


def start(agent: CommandAgent, state: State, seed: int = 1) -> CommandAgent:
    agent.start(state.variant, state.current_player(), np.random.default_rng(seed))
    return agent


def pid_of(agent: CommandAgent) -> int:
    assert agent._program is not None
    return agent._program._process.pid


# -- the reference clients ----------------------------------------------------------------


@pytest.mark.parametrize("spec", [PYTHON, pytest.param(NODE, marks=needs_node)])
def test_reference_clients_keep_the_contract(spec: str) -> None:
    report = check_agent(partial(make_agent, spec), games=1)
    assert report.games == 5 * 2 * 2
    assert report.decisions > 40


def test_the_reference_client_is_short_and_plain() -> None:
    text = (CLIENTS / "random_agent.py").read_text()
    code = text.split('"""')[2]
    assert len(code.strip().splitlines()) <= 20
    assert "mrjack" not in code


def test_client_in_javascript_is_the_agent_it_says() -> None:
    if shutil.which("node") is None:
        pytest.skip("Node.js, which runs the client in JavaScript, is missing")
    state = opening()
    agent = start(CommandAgent(NODE.removeprefix("cmd:")), state)
    assert agent.act(state.observation()) == state.legal_actions()[-1]


def test_tournaments_are_the_same_with_any_number_of_workers() -> None:
    settings = Settings((PYTHON, "random"), 12, 3, SMALL, key="5a" * 32)
    here = run_tournament(settings)
    assert here.records == run_tournament(settings, workers=2).records
    assert here.complete


def test_processes_are_reused_over_games_and_agents() -> None:
    state = opening()
    agent = start(make_agent(PYTHON), state)
    first = pid_of(agent)
    start(agent, state)
    assert pid_of(agent) == first
    other = start(make_agent(PYTHON), state)  # at the same time: a second process
    assert pid_of(other) != first
    del agent
    assert pid_of(start(make_agent(PYTHON), state)) == first


# -- what is sent -------------------------------------------------------------------------

ECHO = """
import json, os, sys
seen = open(f"{sys.argv[1]}.{os.getpid()}", "w")
for line in sys.stdin:
    seen.write(line)
    seen.flush()
    message = json.loads(line)
    if message["type"] == "quit":
        break
    answer = {"protocol": 1, "ready": True}
    if "legal_actions" in message:
        answer["action"] = message["legal_actions"][0]
    print(json.dumps(answer), flush=True)
seen.write(json.dumps({"type": "ended"}) + "\\n")
"""


@pytest.fixture
def echo(tmp_path: Path) -> tuple[CommandAgent, Path]:
    """An agent that writes down what it is told, and where (each process in a file of its own)."""
    (tmp_path / "an echo.py").write_text(ECHO)
    words = [sys.executable, str(tmp_path / "an echo.py"), str(tmp_path / "seen's")]
    return CommandAgent(shlex.join(words), time=5000), tmp_path / "seen's"


def messages(path: Path) -> list[dict[str, Any]]:
    """What programs were told so far; a line that is being written does not count."""
    texts = [file.read_text() for file in path.parent.glob(f"{path.name}.*")]
    lines = [line for text in texts for line in text.splitlines(keepends=True)]
    return [json.loads(line) for line in lines if line.endswith("\n")]


def test_messages(echo: tuple[CommandAgent, Path]) -> None:
    agent, seen = echo
    state = opening(Variant())
    agent.time_limit = 0.25
    start(agent, state)
    assert agent.act(state.observation()) == state.legal_actions()[0]
    agent.time_limit = None
    start(agent, state)
    agent.close()
    hello, game, observation, again, quit, _ = messages(seen)
    assert (hello["type"], hello["protocol"], hello["rules"]) == ("hello", 1, 1)
    assert hello["library"] == f"mrjack_ai {mrjack_ai.__version__}"
    assert (game["type"], game["role"], game["time_limit"]) == ("new game", "detective", 250)
    assert again["time_limit"] == 5000
    assert game["seed"] == again["seed"] == int(np.random.default_rng(1).integers(2**32))
    assert game["variant"]["board"] == "whitechapel"
    assert mrjack_ai.board_from_dict(game["board"]) == Variant().board
    assert Variant.from_dict(game["variant"]) == Variant()
    assert quit == {"type": "quit"}
    for message in (hello, game, observation):
        assert all(f"\n| {field} | " in str(command.__doc__) for field in message)
    assert observation["type"] == "observation"
    assert observation["legal_actions"] == [f"pick {code}" for code in observation["cards"]]
    assert observation["history"] == ["jack ?", state.history_strings()[1]]
    assert observation["identity"] is None
    assert "jack=?" in observation["position"].split()


def test_observation_message_is_the_same_for_what_a_player_cannot_tell_apart() -> None:
    """Twins: another state that the player cannot tell from the true one, at every decision."""
    rng = np.random.default_rng(1)
    decisions = 0
    for _ in range(10):
        state = mrjack_ai.new_game(make_variant("whitechapel", turns=4))
        while not state.is_terminal():
            if not state.is_chance_node():
                view = state.observation()
                twin = mrjack_ai.determinize(view, rng)
                message = observation_message(view)
                assert json.dumps(message) == json.dumps(observation_message(twin.observation()))
                other = state.alibis(1 - view.player)
                assert not set(other) & set(message["alibis"])
                assert message["identity"] == (state.identity if view.player else None)
                assert message["legal_actions"]
                decisions += 1
            state.apply_action(int(rng.choice(state.legal_actions())))
    assert decisions > 100


def test_set_up_position_is_told() -> None:
    text = "turn=2 jack=MS witness=unseen dealt=SH,JW,JS,IL cards=MS,SG,WG,JB"
    message = observation_message(State(text).observation(0))
    assert message["start"] == message["position"]
    assert "jack=?" in message["start"]
    assert observation_message(opening().observation())["start"] is None


# -- what can go wrong --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("garbage", "answered .I think .*, which is no JSON object .standard error ends with 'xx"),
        ("number", "answered '17', which is no JSON object"),
        ("nested", "no JSON object"),
        ("illegal", '\'{"action": "pick ME"}\'; the action must be one of pick SH, pick JW'),
        ("list", "the action must be one of"),
        ("gives-up", "gives up: 'out of ideas'"),
        ("exits", "ended with exit code 1 .*ends with 'no more'"),
        ("crashes", "was ended by signal 11 .SIGSEGV"),
        ("long", "wrote a line of more than 1000000 bytes"),
        ("endless", "wrote a line of more than 1000000 bytes"),
        ("closes-output", "closed its standard output"),
        ("closes-input", "closed its standard input"),
        ("bytes", "which is no UTF-8"),
    ],
)
def test_wrong_answers(how: str, message: str) -> None:
    state = opening()
    agent = start(misbehaving(how), state)
    pid = pid_of(agent)
    if how == "closes-input":
        time.sleep(0.1)  # else the message may still find room in the pipe, and no answer comes
    with pytest.raises(AgentError, match=message) as caught:
        agent.act(state.observation())
    assert "new game as detective" in caught.value.log or how == "garbage"
    assert agent.log() == caught.value.log
    assert caught.value.__notes__[0].endswith(caught.value.log[-1000:])
    assert len(caught.value.log) <= 65_536
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(AgentError, match="start a game first"):
        agent.act(state.observation())
    start(agent, state)  # the next game begins with a new process
    assert pid_of(agent) != pid


def test_no_answer_in_time() -> None:
    state = opening()
    for limit, allowed in ((200, None), (30_000, 0.2)):
        agent = misbehaving("slow", time=limit)
        agent.time_limit = allowed
        start(agent, state)
        started = time.perf_counter()
        with pytest.raises(TimeLimitError, match="gave no answer within 200 ms"):
            agent.act(state.observation())
        assert time.perf_counter() - started < 2


def test_wrong_starts() -> None:
    state = opening()
    with pytest.raises(AgentError, match=r"protocol.*: 2.* to hello; the protocol .* here is 1"):
        start(misbehaving("version"), state)
    with pytest.raises(AgentError, match="to a new game instead of ready"):
        start(misbehaving("unready"), state)
    command = shlex.join([sys.executable, str(CLIENTS / "misbehaving.py"), "loading"])
    with pytest.raises(TimeLimitError, match="within 500 ms"):
        start(CommandAgent(command, start=500), state)
    with pytest.raises(AgentError, match=r"ended with exit code 2 .*No such file"):
        start(CommandAgent(f"{sys.executable} nowhere.py"), state)


def test_lines_that_nobody_asked_for() -> None:
    state = opening()
    agent = start(misbehaving("twice"), state)
    agent.act(state.observation())
    time.sleep(0.05)
    with pytest.raises(AgentError, match=r"wrote .*pick SH.* without being asked"):
        agent.act(state.observation())


def test_a_program_that_does_not_want_to_end() -> None:
    state = opening()
    agent = start(misbehaving("stubborn"), state)
    agent.act(state.observation())
    pid = pid_of(agent)
    agent.close()
    agent.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_what_a_shell_script_started_ends_with_it(tmp_path: Path) -> None:
    script = tmp_path / "agent.sh"
    script.write_text(f"#!/bin/sh\nsleep 60 & echo $! > {tmp_path}/pid\nwait\n")
    script.chmod(0o755)
    with pytest.raises(TimeLimitError):
        start(CommandAgent(str(script), start=300), opening())
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").exists():
            if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return  # ended; whoever inherited it has not looked yet
        time.sleep(0.02)
    raise AssertionError("the shell script's own process is still running")


def test_no_pipes_are_leaked() -> None:
    folder = Path("/dev/fd")
    state = opening()
    before = len(list(folder.iterdir()))
    for how in ("fine", "exits", "version") * 3:
        agent = misbehaving(how)
        with contextlib.suppress(AgentError):
            start(agent, state).act(state.observation())
        agent.close()
    assert len(list(folder.iterdir())) == before


def test_an_interrupted_question_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its answer would be taken for that to the next question."""
    state = opening()
    agent = start(misbehaving("slow", time=20_000), state)
    pid = pid_of(agent)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            agent.act(state.observation())
    finally:
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_programs_end_with_the_process(tmp_path: Path) -> None:
    """Also in worker processes; they are told to quit or find their input closed."""
    (tmp_path / "echo.py").write_text(ECHO)
    command = shlex.join([sys.executable, str(tmp_path / "echo.py"), str(tmp_path / "seen")])
    arguments = ["--board", "mews", "--cast", "SH+JB", "--turns", "2", "--games", "4"]
    arguments += ["--workers", "2", "--agents", f"cmd:{command}", "random"]
    done = subprocess.run(
        [sys.executable, "-m", "mrjack_ai.cli.main", "tournament", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    end = time.monotonic() + 10
    while True:
        found = Counter(message["type"] for message in messages(tmp_path / "seen"))
        if found["ended"] == found["hello"] or time.monotonic() > end:
            break
        time.sleep(0.02)
    assert 1 <= found["hello"] <= 2
    assert found["ended"] == found["hello"]
    assert found["new game"] == 4


# -- the agent ----------------------------------------------------------------------------


def test_pickled_and_copied_agents_start_programs_of_their_own() -> None:
    state = opening()
    agent = start(make_agent(PYTHON), state)
    for other in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert other.command == agent.command
        start(other, state)
        assert pid_of(other) != pid_of(agent)
        assert other.act(state.observation()) in state.legal_actions()


def test_log_is_that_of_the_game() -> None:
    state = opening()
    agent = misbehaving("fine")
    assert agent.log() == ""
    for _ in range(2):
        start(agent, state)
        agent.act(state.observation())
        assert agent.log() == f"new game as {PLAYER_NAMES[state.current_player()]}\n"
    agent.close()
    assert agent.log() == f"new game as {PLAYER_NAMES[state.current_player()]}\n"
    assert make_agent("greedy").log() == ""


def test_specifications() -> None:
    agent = make_agent(f"cmd:time=500 start=100 {sys.executable} 'a b.py' --x=1,2")
    assert isinstance(agent, CommandAgent)
    assert agent.command == f"{sys.executable} 'a b.py' --x=1,2"
    assert (agent._seconds, agent._start_seconds) == (0.5, 0.1)
    assert agent._words == (sys.executable, "a b.py", "--x=1,2")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cmd", "must be a program and its arguments"),
        ("cmd:", "must be a program and its arguments"),
        ("cmd:time=500", "must be a program and its arguments"),
        ("cmd:nowhere/agent x", "there is no program 'nowhere/agent'.*make the file executable"),
        ("cmd:sh 'x", "No closing quotation; quote it"),
        ("cmd:sh x\ny", "on one line"),
        ("cmd:tme=500 sh", "unknown parameter 'tme'; known are time, start"),
        ("cmd:command=500 sh", "unknown parameter 'command'"),
        ("cmd:time=x sh", "time 'x' must be a number"),
        ("cmd:time=0 sh", "time 0.0 must be a number above 0 and at most 10"),
        ("cmd:time=nan sh", "time 'nan' must be a number"),
    ],
)
def test_bad_specifications(spec: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        make_agent(spec)


def test_a_file_that_cannot_be_run(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    path.write_text("print(1)")
    path.chmod(0o755)  # but without a line that names its interpreter
    with pytest.raises(AgentError, match="cannot be started: Exec format error"):
        start(CommandAgent(str(path)), opening())


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents"]) == 0
    assert "cmd" in capsys.readouterr().out
    assert agent_parameters("cmd") == ()
    assert "time=60000" in agent_usage("cmd")
    small = ["--board", "mews", "--cast", "SH+JB", "--turns", "2", "--games", "2"]
    assert main(["tournament", *small, "--agents", "cmd:nowhere", "random"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(
        "mrjack tournament: agent 'cmd:nowhere': command 'nowhere': there is no program 'nowhere'"
    )
    assert error.count("\n") == 1


def test_one_game_between_programs() -> None:
    deal = make_deal(SMALL, np.random.default_rng(1))
    agents = [make_agent(PYTHON), make_agent(PYTHON)]
    generators = [np.random.default_rng(seed) for seed in (1, 2)]
    assert play_game(SMALL, agents, deal, generators).is_terminal()
