"""Variants small enough to solve, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from mrjack_ai.errors import LabError
from mrjack_ai.setup.variant import Variant, make_variant


@lru_cache(maxsize=1)
def micro() -> Variant:
    """Four characters on the seven streets of `court`, two turns, Jack begins."""
    return make_variant("court", "JS+IL+MS+JB", 2, "jack")


@lru_cache(maxsize=1)
def mini() -> Variant:
    """The same with three turns."""
    return make_variant("court", "JS+IL+MS+JB", 3, "jack")


@lru_cache(maxsize=1)
def small() -> Variant:
    """Holmes, Watson, Smith and Lestrade on the thirteen streets of `mews`, two turns."""
    return make_variant("mews", "SH+JW+JS+IL", 2, "jack")


MINIATURES: dict[str, Callable[[], Variant]] = {"micro": micro, "mini": mini, "small": small}
"""The miniatures by name."""


def miniature(name: str) -> Variant:
    """A miniature by its name.

    Raises:
        LabError: for an unknown name, with the known ones.
    """
    if name not in MINIATURES:
        raise LabError(f"unknown miniature {name!r}; there are {', '.join(MINIATURES)}")
    return MINIATURES[name]()
