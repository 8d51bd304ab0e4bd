"""From games to weights: what `mrjack train` does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mrjack_ai.common.files import write_whole
from mrjack_ai.errors import TrainingError
from mrjack_ai.search import value_network
from mrjack_ai.search.weights import save_weights
from mrjack_ai.training.fit import FitSettings, fit, read_examples
from mrjack_ai.training.self_play import SelfPlay, play_games
from mrjack_ai.version import __version__

WEIGHTS_FILE, RECORD_FILE = "value.npz", "value.json"


def train(
    folder: str | Path,
    games: int,
    play: SelfPlay | None = None,
    fitting: FitSettings | None = None,
    workers: int = 1,
    commands: tuple[str, ...] = (),
    progress: Callable[[int, int], None] | None = None,
    report: Callable[[int, dict[str, float]], Any] | None = None,
) -> dict[str, Any]:
    """Play games and fit a value function to them; what is in the folder already is not repeated.

    The folder holds the games, the weights `value.npz`, which `eval=FILE` of a searching agent
    takes, and `value.json`, the record of how they were made.

    Args:
        folder: where all of it is kept; made if need be.
        games: how many games, at least.
        play: how they are played.
        fitting: how the weights are fitted.
        workers: processes that play.
        commands: command lines that repeat this, for the record.
        progress: as for `play_games`.
        report: as for `fit`.

    Returns:
        The record.

    Raises:
        AgentError: for a wrong agent, or weights that cannot be written.
        TrainingError: when the folder holds other games or cannot be used, or there are too few.
    """
    folder, play, fitting = Path(folder), play or SelfPlay(), fitting or FitSettings()
    paths = play_games(play, games, folder, workers, progress)
    examples = read_examples(paths)
    weights, measured = fit(examples, fitting, report)
    save_weights(folder / WEIGHTS_FILE, *weights)
    from scipy.special import entr  # not at the top: it takes longer to import than we do

    won = float(examples.won.mean())
    record = {
        "made": datetime.now(UTC).strftime("%Y-%m-%d"),
        "mrjack_ai": __version__,
        "commands": list(commands),
        "games": len(paths) * play.games_per_file,
        "positions": len(examples.won),
        "self_play": asdict(play),
        "fit": asdict(fitting),
        "hidden_units": value_network.HIDDEN,
        "rows": value_network.ROWS,
        "detective_won": won,
        "loss_without_features": float(entr(won) + entr(1 - won)),
        **measured,
    }
    write_whole(folder / RECORD_FILE, json.dumps(record, indent=2) + "\n", error=TrainingError)
    return record
