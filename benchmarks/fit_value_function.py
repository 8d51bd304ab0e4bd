"""Fit the value function of `eval=fitted` on games that an agent plays against itself.

    python benchmarks/fit_value_function.py --folder fitting --games 40000 --workers 2

plays the games (kept in the folder, so an interrupted run carries on), fits the weights, and writes
`value_network.npz` and `value_network.json`, the record of how they were made, into the
folder. With `--install` they replace those of the package; `eval=FILE` tries them without.

Many games begin with actions at random, so that positions occur which good players avoid but a
search has to judge; positions are taken from after that. A position is labelled with the result
of its game. A tenth of the games is kept apart to measure the loss.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

import mrjack_ai
from mrjack_ai.agents import make_agent
from mrjack_ai.engine.tables import build_tables
from mrjack_ai.engine.warmup import ENGINE
from mrjack_ai.search import value_network
from mrjack_ai.search.weights import save_weights

Floats = npt.NDArray[np.float32]

SHARD = 500
"""Games of one file of the folder."""
MOST_RANDOM = 60
"""Actions and deals after which nobody acts at random any more."""
RANDOM_SHARE = 0.8
"""Share of the games that begin with actions at random."""
RANDOM_RATES = (0.1, 0.3, 0.6)
"""How often an action is random in that part of a game; one rate a game."""
TEST_SHARE = 10
"""One game in so many is kept apart."""

EPOCHS, BATCH, LEARNING_RATE, DECAY = 5, 2048, 0.004, 3e-4


def play_shard(agent: str, seed: int, shard: int, path: Path) -> None:
    """Play `SHARD` games and write their positions, returns and game numbers."""
    rng = np.random.default_rng([seed, shard])
    variant = mrjack_ai.Variant()
    players = [make_agent(agent), make_agent(agent)]
    positions, returns, games = [], [], []
    for game in range(SHARD):
        for player in range(2):
            players[player].start(variant, player, np.random.default_rng(rng.integers(2**63)))
        state = mrjack_ai.new_game()
        until = int(rng.integers(MOST_RANDOM)) if rng.random() < RANDOM_SHARE else 0
        rate = float(rng.choice(RANDOM_RATES))
        plies = 0
        found = []
        while not state.is_terminal():
            player = state.current_player()
            if plies >= until and state.node != "jack":
                found.append(state.position_words().copy())
            if player < 0:
                action = int(rng.choice([outcome for outcome, _ in state.chance_outcomes()]))
            elif plies < until and rng.random() < rate:
                legal = state.legal_actions()
                # An accusation at random would end most of these games.
                calm = [a for a in legal if not state.action_to_string(a).startswith("accuse")]
                action = int(rng.choice(calm or legal))
            else:
                action = players[player].act(state.observation(player))
            state.apply_action(action)
            plies += 1
        positions += found
        returns += [state.returns()[0]] * len(found)
        games += [game] * len(found)
    unfinished = path.with_suffix(".part.npz")
    np.savez(
        unfinished,
        positions=np.array(positions, np.uint64),
        returns=np.array(returns, np.int8),
        games=np.array(games, np.int32),
    )
    unfinished.rename(path)


def generate(agent: str, games: int, seed: int, workers: int, folder: Path) -> list[Path]:
    """The files of the folder, those that are missing played first."""
    shards = range(-(-games // SHARD))
    paths = [folder / f"games-{seed}-{shard:04d}.npz" for shard in shards]
    todo = [shard for shard in shards if not paths[shard].exists()]
    ENGINE.ensure()
    started = time.monotonic()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        played = [pool.submit(play_shard, agent, seed, shard, paths[shard]) for shard in todo]
        try:
            for number, future in enumerate(played, start=1):
                future.result()
                each = (time.monotonic() - started) / number
                left = each * (len(todo) - number) / 60
                print(f"\r{number * SHARD} games played, {left:.0f} min left ", end="", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print("\nstopped; the same command carries on", file=sys.stderr)
            raise SystemExit(130) from None
    if todo:
        print()
    return paths


@dataclass
class Data:
    """Positions as active rows, int32, shape `(n, ACTIVE)`; 1.0 where the Detective won."""

    rows: npt.NDArray[np.int32]
    won: Floats
    test: npt.NDArray[np.bool_]

    def matrix(self, chosen: npt.NDArray[np.int64]) -> sparse.csr_matrix:
        """One row a position, with ones at its active rows."""
        ends = np.arange(len(chosen) + 1) * value_network.ACTIVE
        ones = np.ones(len(chosen) * value_network.ACTIVE, np.float32)
        shape = (len(chosen), value_network.ROWS)
        return sparse.csr_matrix((ones, self.rows[chosen].ravel(), ends), shape=shape)


def read(paths: list[Path]) -> Data:
    """Describe the positions of all games."""
    tables = build_tables(mrjack_ai.Variant())
    rows, won, test = [], [], []
    for path in paths:
        with np.load(path) as found:
            positions = np.ascontiguousarray(found["positions"])
            described = np.zeros((len(positions), value_network.ACTIVE), np.int64)
            value_network.describe_positions(positions, tables, described)
            rows.append(described.astype(np.int32))
            won.append((found["returns"] + 1).astype(np.float32) / 2)
            test.append(found["games"] % TEST_SHARE == 0)
    return Data(np.concatenate(rows), np.concatenate(won), np.concatenate(test))


def outputs(matrix: sparse.csr_matrix, weights: list[Floats]) -> tuple[Floats, Floats]:
    """Hidden sums, and the output that `returns` turns into the value."""
    rows, bias, output, output_bias = weights
    sums = matrix @ rows + bias
    return sums, np.clip(sums, 0, 1) @ output + output_bias[0]


def returns(output: Floats) -> Floats:
    """The value, -1 to 1: the same sigmoid as in `engine.value`."""
    return output / np.sqrt(1 + output**2)


def loss(output: Floats, won: Floats) -> float:
    """Mean logarithmic loss in nats of the predicted chances to win."""
    p = np.clip((1 + returns(output)) / 2, 1e-9, 1 - 1e-9)
    return float(-np.mean(won * np.log(p) + (1 - won) * np.log(1 - p)))


def batches(data: Data, rng: np.random.Generator) -> Iterator[tuple[sparse.csr_matrix, Floats]]:
    """One epoch of the games not kept apart."""
    order = rng.permutation(np.flatnonzero(~data.test))
    for start in range(0, len(order) - BATCH + 1, BATCH):
        chosen = order[start : start + BATCH]
        yield data.matrix(chosen), data.won[chosen]


def fit(data: Data, seed: int) -> tuple[list[Floats], dict[str, float]]:
    """Adam (Kingma, Ba 2015) on the logistic loss, with a cosine schedule."""
    rng = np.random.default_rng(seed)
    hidden = value_network.HIDDEN
    weights = [
        rng.normal(0, 0.05, (value_network.ROWS, hidden)).astype(np.float32),
        np.full(hidden, 0.3, np.float32),
        rng.normal(0, 0.5, hidden).astype(np.float32),
        np.zeros(1, np.float32),
    ]
    means = [np.zeros_like(w) for w in weights]
    squares = [np.zeros_like(w) for w in weights]
    chosen = np.flatnonzero(data.test)
    test, test_won = data.matrix(chosen), data.won[chosen]
    steps = EPOCHS * (int((~data.test).sum()) // BATCH)
    step = 0
    measured = {}
    for epoch in range(EPOCHS):
        total = 0.0
        count = 0
        for matrix, won in batches(data, rng):
            sums, output = outputs(matrix, weights)
            total += loss(output, won)
            count += 1
            wrong = 2 * ((1 + returns(output)) / 2 - won) / np.sqrt(1 + output**2) / BATCH
            back = np.outer(wrong, weights[2]) * ((sums > 0) & (sums < 1))
            gradients = [
                matrix.T @ back + DECAY * weights[0],
                back.sum(0),
                np.clip(sums, 0, 1).T @ wrong,
                wrong.sum(keepdims=True),
            ]
            step += 1
            rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for w, mean, square, gradient in zip(weights, means, squares, gradients, strict=True):
                mean += 0.1 * (gradient - mean)
                square += 0.001 * (gradient**2 - square)
                scale = np.sqrt(square / (1 - 0.999**step)) + 1e-8
                w -= (rate / (1 - 0.9**step) * mean / scale).astype(np.float32)
        _, output = outputs(test, weights)
        measured = {
            "training_loss": total / count,
            "test_loss": loss(output, test_won),
            "test_accuracy": float(np.mean((output > 0) == (test_won > 0.5))),
        }
        print(f"epoch {epoch + 1}: " + ", ".join(f"{k} {v:.4f}" for k, v in measured.items()))
    return weights, measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("fitting"), help="kept games, results")
    parser.add_argument(
        "--agent", default="ismcts:sims=150,belief=exact", help="who plays against himself"
    )
    parser.add_argument("--games", type=int, default=40000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--install", action="store_true", help="replace those of the package")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    paths = generate(options.agent, options.games, options.seed, options.workers, options.folder)
    data = read(paths)
    print(f"{len(data.won)} positions, the Detective won {data.won.mean():.1%}")
    weights, measured = fit(data, options.seed)
    save_weights(options.folder / "value.npz", *weights)
    share = float(data.won.mean())
    record = {
        "made": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commands": ["python benchmarks/fit_value_function.py " + shlex.join(sys.argv[1:])],
        "mrjack_ai": mrjack_ai.__version__,
        "agent": options.agent,
        "games": len(paths) * SHARD,
        "positions": len(data.won),
        "seed": options.seed,
        "random_opening": {"share": RANDOM_SHARE, "rates": RANDOM_RATES, "most": MOST_RANDOM},
        "hidden_units": value_network.HIDDEN,
        "rows": value_network.ROWS,
        "epochs": EPOCHS,
        "loss_without_features": -share * np.log(share) - (1 - share) * np.log(1 - share),
        **measured,
    }
    text = json.dumps(record, indent=2) + "\n"
    (options.folder / "value.json").write_text(text, encoding="utf-8")
    print(text, end="")
    if options.install:
        place = Path(mrjack_ai.__file__).parent / "search" / "data"
        for name in ("value.npz", "value.json"):
            shutil.copy(options.folder / name, place / name)


if __name__ == "__main__":
    main()
