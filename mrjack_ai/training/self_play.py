"""Games of an agent against itself, kept in a folder as positions with the result of their game.

Many games begin with actions at random, so that positions occur which good players avoid but a
search has to judge; positions are taken from after that.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path

import numpy as np

from mrjack_ai.agents import Agent, make_agent
from mrjack_ai.common.files import replacing, write_whole
from mrjack_ai.common.interrupts import interrupts_held_back
from mrjack_ai.engine.types import Words
from mrjack_ai.errors import TrainingError
from mrjack_ai.game.state import State, new_game

SETTINGS_FILE = "games.json"
"""What the games of a folder were played with."""


@dataclass(frozen=True)
class SelfPlay:
    """How games are played.

    Attributes:
        agent: specification of the agent that plays both sides.
        seed: decides every game; not negative.
        games_per_file: games of one file of the folder.
        random_share: share of the games that begin with actions at random, 0 to 1.
        random_rates: how often an action is random in that part of a game; one of these a game.
        most_random: actions and chance outcomes after which nobody acts at random any more.
    """

    agent: str = "ismcts:sims=150,belief=exact"
    seed: int = 1
    games_per_file: int = 500
    random_share: float = 0.8
    random_rates: tuple[float, ...] = (0.1, 0.3, 0.6)
    most_random: int = 60


def play_games(
    settings: SelfPlay,
    games: int,
    folder: Path,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Play the games that a folder lacks.

    A file appears when its games are complete, so whoever is interrupted carries on by calling
    this again.

    Args:
        settings: how they are played.
        games: how many the folder holds in the end, at least; whole files are played.
        folder: made if need be.
        workers: processes; the games are the same with any number.
        progress: told how many games are there, and how many there will be.

    Returns:
        The files, in order.

    Raises:
        AgentError: for a wrong agent.
        TrainingError: when the folder holds other games, or a file cannot be written.
    """
    agent = make_agent(settings.agent)  # a wrong one is told now
    _claim(folder, settings)
    numbers = range(-(-games // settings.games_per_file))
    paths = [folder / f"games-{number:04d}.npz" for number in numbers]
    todo = [number for number in numbers if not paths[number].exists()]
    done = len(paths) - len(todo)

    def tell() -> None:
        if progress is not None:
            progress(done * settings.games_per_file, len(paths) * settings.games_per_file)

    tell()
    if todo:
        new_game()  # compiles, if need be, before there are several that would
        type(agent).load()
    if workers == 1:
        for number in todo:
            play_file(settings, number, paths[number])
            done += 1
            tell()
        return paths
    before = set(active_children())
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_watch_parent)
    try:
        with interrupts_held_back():
            played = [pool.submit(play_file, settings, number, paths[number]) for number in todo]
        for future in as_completed(played):
            future.result()
            done += 1
            tell()
    except BrokenProcessPool:
        raise TrainingError("a worker process ended; the same command carries on") from None
    finally:
        complete = done == len(paths)
        pool.shutdown(wait=complete, cancel_futures=True)
        if not complete:  # nobody waits for games that nobody wants any more
            for child in set(active_children()) - before:
                child.terminate()
                child.join()
    return paths


def _watch_parent() -> None:
    """End this process with the one that started it, however that ends."""

    def wait() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _claim(folder: Path, settings: SelfPlay) -> None:
    """Note in a folder what its games are played with, or check that it is the same.

    Raises:
        TrainingError: when it is not, or the folder cannot be used.
    """
    path = folder / SETTINGS_FILE
    text = json.dumps(asdict(settings), indent=2) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        known = path.read_text(encoding="utf-8") if path.exists() else None
    except (OSError, ValueError) as error:
        raise TrainingError(f"cannot use folder {str(folder)!r}: {error}") from None
    if known is None:
        write_whole(path, text, error=TrainingError)
    elif known != text:
        raise TrainingError(
            f"folder {str(folder)!r} holds games of other settings (see {SETTINGS_FILE}); "
            "give another folder"
        )


def play_file(settings: SelfPlay, number: int, path: Path) -> None:
    """Play the games of one file and write their positions, returns and numbers.

    The file holds `positions`, uint64, shape `(n, STATE_WORDS)`; `returns` of the Detective, int8;
    and `games`, int32, the number of the game within the file.

    Raises:
        TrainingError: when the file cannot be written.
    """
    rng = np.random.default_rng([settings.seed, number])
    players = (make_agent(settings.agent), make_agent(settings.agent))
    positions: list[Words] = []
    returns: list[float] = []
    games: list[int] = []
    for game in range(settings.games_per_file):
        found, result = _play(settings, players, rng)
        positions += found
        returns += [result] * len(found)
        games += [game] * len(found)
    with replacing(path, error=TrainingError) as file:
        np.savez(
            file,
            positions=np.array(positions, np.uint64),
            returns=np.array(returns, np.int8),
            games=np.array(games, np.int32),
        )


def _play(
    settings: SelfPlay, players: tuple[Agent, Agent], rng: np.random.Generator
) -> tuple[list[Words], float]:
    """One game: its positions after the random beginning, and the Detective's return."""
    state = new_game()
    for player, agent in enumerate(players):
        agent.start(state.variant, player, np.random.default_rng(rng.integers(2**63)))
    random = rng.random() < settings.random_share
    until = int(rng.integers(settings.most_random)) if random else 0
    rate = float(rng.choice(settings.random_rates))
    found: list[Words] = []
    plies = 0
    while not state.is_terminal():
        if plies >= until and state.node != "jack":
            found.append(state.position_words().copy())
        player = state.current_player()
        if state.is_chance_node():
            action = int(rng.choice([outcome for outcome, _ in state.chance_outcomes()]))
        elif plies < until and rng.random() < rate:
            action = _random_action(state, rng)
        else:
            action = players[player].act(state.observation(player))
        state.apply_action(action)
        plies += 1
    return found, state.returns()[0]


def _random_action(state: State, rng: np.random.Generator) -> int:
    """Any action but an accusation, which would end most of these games."""
    legal = state.legal_actions()
    calm = [a for a in legal if not state.action_to_string(a).startswith("accuse")]
    return int(rng.choice(calm or legal))
