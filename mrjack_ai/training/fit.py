"""The value function fitted to positions: logistic regression through one hidden layer.

A position is labelled with the result of its game. A tenth of the games is kept apart to measure
the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from mrjack_ai.engine.layout import STATE_WORDS
from mrjack_ai.engine.tables import build_tables
from mrjack_ai.errors import TrainingError
from mrjack_ai.search import value_network
from mrjack_ai.search.warmup import FITTING
from mrjack_ai.setup.variant import DEFAULT_VARIANT

if TYPE_CHECKING:
    from scipy import sparse

Floats = npt.NDArray[np.float32]

TEST_SHARE = 10
"""One game in so many is kept apart."""


@dataclass(frozen=True)
class FitSettings:
    """How the weights are fitted.

    Attributes:
        seed: of the first weights and of the order of positions.
        epochs: how often every position is seen.
        batch: positions of a step.
        learning_rate: at the start; it falls to 0 as a cosine.
        decay: weight decay of the rows.
    """

    seed: int = 1
    epochs: int = 5
    batch: int = 2048
    learning_rate: float = 0.004
    decay: float = 3e-4


@dataclass
class Examples:
    """Positions and how their games ended.

    Attributes:
        rows: active rows of each (see `value_network`), int32, shape `(n, ACTIVE)`.
        won: 1 where the Detective won, else 0, float32, shape `(n,)`.
        test: which are kept apart, bool, shape `(n,)`.
    """

    rows: npt.NDArray[np.int32]
    won: Floats
    test: npt.NDArray[np.bool_]

    def matrix(self, chosen: npt.NDArray[np.int64]) -> sparse.csr_matrix:
        """One row a position, with ones at its active rows; shape `(chosen, ROWS)`."""
        from scipy import sparse  # not at the top: it takes longer to import than we do

        ends = np.arange(len(chosen) + 1) * value_network.ACTIVE
        ones = np.ones(len(chosen) * value_network.ACTIVE, np.float32)
        shape = (len(chosen), value_network.ROWS)
        return sparse.csr_matrix((ones, self.rows[chosen].ravel(), ends), shape=shape)


def read_examples(paths: Sequence[Path]) -> Examples:
    """The positions of files of games (see `self_play.play_file`).

    Raises:
        TrainingError: when a file cannot be read.
    """
    tables = build_tables(DEFAULT_VARIANT)
    FITTING.ensure()
    rows, won, test = [], [], []
    for path in paths:
        try:
            with np.load(path, allow_pickle=False) as found:
                positions = np.ascontiguousarray(found["positions"]).reshape(-1, STATE_WORDS)
                returns, games = found["returns"], found["games"]
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise TrainingError(
                f"cannot read games from {str(path)!r}: {error}; remove it, and it is made again"
            ) from None
        described = np.zeros((len(positions), value_network.ACTIVE), np.int64)
        value_network.describe_positions(positions, tables, described)
        rows.append(described.astype(np.int32))
        won.append((returns + 1).astype(np.float32) / 2)
        test.append(games % TEST_SHARE == 0)
    return Examples(np.concatenate(rows), np.concatenate(won), np.concatenate(test))


def _outputs(matrix: sparse.csr_matrix, weights: list[Floats]) -> tuple[Floats, Floats]:
    """Hidden sums, and the output that `_returns` turns into the value."""
    rows, bias, output, output_bias = weights
    sums = matrix @ rows + bias
    return sums, np.clip(sums, 0, 1) @ output + output_bias[0]


def _returns(output: Floats) -> Floats:
    """The value, -1 to 1: the same sigmoid as in `value_network`."""
    return np.asarray(output / np.sqrt(1 + output**2), np.float32)


def loss(output: Floats, won: Floats) -> float:
    """Mean logarithmic loss in nats of the predicted chances to win."""
    p = np.clip((1 + _returns(output)) / 2, 1e-9, 1 - 1e-9)
    return float(-np.mean(won * np.log(p) + (1 - won) * np.log(1 - p)))


class _Adam:
    """Adam (Kingma and Ba, 2015) with a learning rate that falls as a cosine."""

    def __init__(self, weights: list[Floats], rate: float, steps: int) -> None:
        self._weights, self._rate, self._steps = weights, rate, steps
        self._means = [np.zeros_like(w) for w in weights]
        self._squares = [np.zeros_like(w) for w in weights]
        self._step = 0

    def step(self, gradients: list[Floats]) -> None:
        """Move the weights, in place."""
        self._step += 1
        step = self._step
        rate = self._rate * 0.5 * (1 + np.cos(np.pi * step / self._steps))
        for w, mean, square, gradient in zip(
            self._weights, self._means, self._squares, gradients, strict=True
        ):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            scale = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            w -= (rate / (1 - 0.9**step) * mean / scale).astype(np.float32)


def _batches(
    examples: Examples, size: int, rng: np.random.Generator
) -> Iterator[tuple[sparse.csr_matrix, Floats]]:
    """One epoch of the games not kept apart."""
    order = rng.permutation(np.flatnonzero(~examples.test))
    for start in range(0, len(order) - size + 1, size):
        chosen = order[start : start + size]
        yield examples.matrix(chosen), examples.won[chosen]


def _gradients(
    matrix: sparse.csr_matrix, won: Floats, weights: list[Floats], decay: float
) -> tuple[Floats, list[Floats]]:
    """The outputs of a batch, and the slope of its mean loss by each array of weights."""
    sums, output = _outputs(matrix, weights)
    wrong = 2 * ((1 + _returns(output)) / 2 - won) / np.sqrt(1 + output**2) / len(won)
    back = np.outer(wrong, weights[2]) * ((sums > 0) & (sums < 1))
    return output, [
        matrix.T @ back + decay * weights[0],
        back.sum(0),
        np.clip(sums, 0, 1).T @ wrong,
        wrong.sum(keepdims=True),
    ]


def fit(
    examples: Examples,
    settings: FitSettings | None = None,
    report: Callable[[int, dict[str, float]], Any] | None = None,
) -> tuple[list[Floats], dict[str, float]]:
    """Fit the weights.

    Args:
        examples: what to learn.
        settings: how; by default as the weights of the package were.
        report: told the number of each epoch that is over, and what was measured.

    Returns:
        Rows, biases, output weights and output bias, as `save_weights` takes them; and what was
        measured in the last epoch: `training_loss` and `test_loss` in nats, `test_accuracy`.

    Raises:
        TrainingError: when there are too few positions for a batch, or none to measure with.
    """
    settings = settings or FitSettings()
    steps = settings.epochs * (int((~examples.test).sum()) // settings.batch)
    if not steps or not examples.test.any():
        raise TrainingError(
            f"{len(examples.won)} positions are too few to learn from; play more games (a step "
            f"takes {settings.batch}, and a tenth of the games is kept apart)"
        )
    rng = np.random.default_rng(settings.seed)
    hidden = value_network.HIDDEN
    weights = [
        rng.normal(0, 0.05, (value_network.ROWS, hidden)).astype(np.float32),
        np.full(hidden, 0.3, np.float32),
        rng.normal(0, 0.5, hidden).astype(np.float32),
        np.zeros(1, np.float32),
    ]
    optimiser = _Adam(weights, settings.learning_rate, steps)
    chosen = np.flatnonzero(examples.test)
    test, test_won = examples.matrix(chosen), examples.won[chosen]
    measured = {}
    for epoch in range(settings.epochs):
        losses = []
        for matrix, won in _batches(examples, settings.batch, rng):
            output, gradients = _gradients(matrix, won, weights, settings.decay)
            losses.append(loss(output, won))
            optimiser.step(gradients)
        _, output = _outputs(test, weights)
        measured = {
            "training_loss": float(np.mean(losses)),
            "test_loss": loss(output, test_won),
            "test_accuracy": float(np.mean((output > 0) == (test_won > 0.5))),
        }
        if report is not None:
            report(epoch + 1, measured)
    return weights, measured
