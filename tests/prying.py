"""Agents that try to learn what they may not know, in a module that worker processes can import.

Each reports what it found by an exception, which forfeits its game: `found ...`.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import sys
import threading
import types
from typing import Any

import numpy as np
from misbehaving import First

from mrjack_ai import Observation
from mrjack_ai.agents import register_agent
from mrjack_ai.game.actions import action_space
from mrjack_ai.game.state import State
from mrjack_ai.setup.variant import Variant
from mrjack_ai.tournament import Deal, Settings, seeded_deal
from mrjack_ai.tournament.deals import make_deal
from mrjack_ai.tournament.schedule import Game

SEED = 5
"""The seed of the tournaments they play, which they know."""


def _attribute(thing: Any, name: str) -> Any:
    """An attribute, or None: what an object of another library raises does not matter here."""
    try:
        return getattr(thing, name, None)
    except Exception:
        return None


class Permits(First):
    """Allows itself to see the state, when the check is over."""

    def start(self, variant: Variant, player: int, rng: np.random.Generator) -> None:
        super().start(variant, player, rng)
        self.cheats = True  # type: ignore[misc]
        type(self).cheats = True

    def see(self, state: State) -> None:
        raise ValueError("found the state")


class Derives(First):
    """Computes the deals from the seed and what its generator was made of."""

    def act(self, observation: Observation) -> int:
        made_of = self.rng.bit_generator.seed_seq
        assert isinstance(made_of, np.random.SeedSequence)
        if made_of.spawn_key:
            raise ValueError("found a spawn key")
        seen = [text for text in observation.history() if text.startswith("deal")]
        for seed in (SEED, made_of.entropy):
            assert isinstance(seed, int)
            for number in range(20):
                deal = self.deal(seed, number)
                if self.fits(deal, seen):
                    raise ValueError(f"found deal {number} of seed {seed}")
        return super().act(observation)

    def deal(self, seed: int, number: int) -> Deal:
        """As `seeded_deal`, which takes no seed of as many bits as a generator has."""
        sequence = np.random.SeedSequence(seed, spawn_key=(0, number))
        deal = make_deal(self.variant, np.random.default_rng(sequence))
        assert seed >= 2**128 or deal == seeded_deal(self.variant, seed, number)
        return deal

    def fits(self, deal: Deal, seen: list[str]) -> bool:
        names = action_space(self.variant).outcome_names["deal"]
        known = [names[outcome] for outcome in deal.deals]
        # Three deals alike are no accident in the standard game, with 70 outcomes of each; in a
        # game with 6, some of the many deals tried always are.
        return len(seen) > 2 and known[: len(seen)] == seen


class Walks(First):
    """Follows every attribute, item and global from itself and the library's modules."""

    def __init__(self) -> None:
        self.looked = False

    def act(self, observation: Observation) -> int:
        if not self.looked:
            self.looked = True
            found = self.walk(observation)
            if found:
                raise ValueError(f"found {found}")
        return super().act(observation)

    def walk(self, observation: Observation) -> str:
        modules = [
            vars(module)
            for name, module in list(sys.modules.items())
            if name.startswith(("mrjack_ai", "multiprocessing"))
        ]
        process = multiprocessing.current_process()
        waiting: list[Any] = [self, observation, process, threading.enumerate(), *modules]
        waiting.append(sys.argv)
        seen: set[int] = set()
        while waiting:
            thing = waiting.pop()
            if id(thing) in seen:
                continue
            seen.add(id(thing))
            if isinstance(thing, (Settings, Deal, Game, State)):
                return f"a {type(thing).__name__}"
            if isinstance(thing, (ctypes.Array, types.ModuleType, str, bytes, type)):
                if isinstance(thing, ctypes.Array) and thing._type_ is ctypes.c_int:
                    if self.tells(list(thing)):
                        return "an array of actions"
                continue
            if isinstance(thing, dict):
                waiting += [*thing.values(), *thing.keys()]
            elif isinstance(thing, (list, tuple, set, frozenset)):
                waiting += list(thing)
            elif isinstance(thing, types.FunctionType):
                waiting += [thing.__closure__, thing.__defaults__, thing.__kwdefaults__]
                waiting.append(vars(thing))
            elif isinstance(thing, types.CellType):
                waiting.append(thing.cell_contents)
            elif not isinstance(thing, (types.FrameType, types.TracebackType)):
                waiting.append(_attribute(thing, "__dict__"))
                waiting += [
                    _attribute(thing, name)
                    for kind in type(thing).__mro__
                    for name in kind.__dict__.get("__slots__", ())
                    if isinstance(name, str)
                ]
                if callable(_attribute(thing, "cache_info")):
                    waiting += gc.get_referents(thing)
        return ""

    @staticmethod
    def tells(actions: list[int]) -> bool:
        # The first two entries are Jack's card and the first deal.
        return any(action != -1 for action in actions[:2])


def register() -> None:
    """Make them known by name."""
    for name, agent in (
        ("permits-in-tests", Permits),
        ("derives-in-tests", Derives),
        ("walks-in-tests", Walks),
    ):
        register_agent(name, agent)
