"""Weights of the fitted value function: the ones that come with the package, or your own."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mrjack_ai.common.archives import read_archive
from mrjack_ai.common.files import replacing
from mrjack_ai.errors import AgentError
from mrjack_ai.search import value_network

Weights = npt.NDArray[np.float32]

FITTED = "fitted"
"""Name of the weights that come with the package."""


@lru_cache(maxsize=8)
def load_weights(name: str = FITTED) -> Weights:
    """Weights as `engine.value.fitted_value` takes them: float32, shape `(WEIGHTS,)`.

    Args:
        name: `fitted` for those of the package, or a `.npz` file as `save_weights` writes it.

    Raises:
        AgentError: when there is no such file, or it holds no such weights.
    """
    if name == FITTED:
        path = Path(str(resources.files("mrjack_ai.search") / "data" / "value.npz"))
    else:
        path = Path(name)
    try:
        found = read_archive(path)
        names = ("rows", "bias", "output", "output_bias")
        parts = [found[part].astype(np.float32) for part in names]
    except (ValueError, KeyError, TypeError) as error:
        raise AgentError(
            f"cannot read value weights from {name!r}: {error}; "
            "give a value.npz as `mrjack train` writes it"
        ) from None
    shapes = tuple([part.shape for part in parts])
    wanted = (
        (value_network.ROWS, value_network.HIDDEN),
        (value_network.HIDDEN,),
        (value_network.HIDDEN,),
        (1,),
    )
    if shapes != wanted:
        raise AgentError(
            f"{name!r} holds value weights of shapes {shapes} instead of {wanted}; "
            "fit them again with this version"
        )
    weights: Weights = np.concatenate([part.ravel() for part in parts])
    if not np.isfinite(weights).all():
        raise AgentError(f"{name!r} holds value weights that are no finite numbers")
    return weights


def save_weights(
    path: str | Path,
    rows: npt.NDArray[np.floating],
    bias: npt.NDArray[np.floating],
    output: npt.NDArray[np.floating],
    output_bias: npt.NDArray[np.floating],
) -> None:
    """Write weights as `load_weights` reads them.

    Args:
        path: a `.npz` file.
        rows: shape `(ROWS, HIDDEN)`; bias, output: `(HIDDEN,)`; output_bias: `(1,)`.

    Raises:
        AgentError: when the file cannot be written.
    """
    with replacing(path, error=AgentError) as file:
        np.savez_compressed(
            file,
            rows=rows.astype(np.float16),  # a quarter of a megabyte instead of half a one
            bias=bias.astype(np.float32),
            output=output.astype(np.float32),
            output_bias=output_bias.astype(np.float32),
        )
