"""`BatchEnv`: many games at once, for learning programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mrjack_ai.common.numbers import SEEDS, WholeNumbers
from mrjack_ai.common.text import listed, shown
from mrjack_ai.engine.layout import GENERATOR, game_words
from mrjack_ai.engine.tables import build_tables
from mrjack_ai.engine.types import Words
from mrjack_ai.engine.warmup import BATCH, ENGINE
from mrjack_ai.errors import ArgumentError, IllegalActionError, NotResetError, VariantError
from mrjack_ai.game.actions import action_space
from mrjack_ai.game.endings import ENDING_BY_NUMBER
from mrjack_ai.game.observation import split_tensor, tensor_sections, tensor_size
from mrjack_ai.game.state import State
from mrjack_ai.setup.board import Board
from mrjack_ai.setup.variant import FULL_CAST, MAX_TURNS, Variant, make_variant

ENDINGS: tuple[str, ...] = ("", *(ending.name for ending in ENDING_BY_NUMBER.values()))
"""Names of the endings by number; of 0, a game that goes on, the empty one."""
_GAMES, _THREADS = WholeNumbers(1, 10**8), WholeNumbers(1, 1024)


@dataclass(frozen=True)
class Batch:
    """What n games look like, one row a game: the arrays that `reset` and `step` write.

    Attributes:
        current_player: int8 (n,): who is to move, 0 the Detective, 1 Jack; -4 nobody, which is
            only seen without auto-reset.
        legal_actions_mask: bool (n, num_actions): his legal actions; none where nobody moves.
        observation_tensor: float32 (n, tensor_size): what he knows, as
            `Observation.observation_tensor`; zeroes where nobody moves; (n, 0) without planes.
        rewards: float32 (n, 2): of the Detective and of Jack for this step: +1 and -1 in the
            step that ends a game, else 0.
        terminated: bool (n,): this step ended the game.
        endings: uint8 (n,): how, an index into `mrjack_ai.envs.ENDINGS`; 0 where not.
        final_observation_tensor: float32 (n, 2, tensor_size): for games that this step ended, what
            the Detective and Jack saw at the end; other rows are left as they are. (0, 2, 0) unless
            asked for.
    """

    current_player: npt.NDArray[np.int8]
    legal_actions_mask: npt.NDArray[np.bool_]
    observation_tensor: npt.NDArray[np.float32]
    rewards: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    endings: npt.NDArray[np.uint8]
    final_observation_tensor: npt.NDArray[np.float32]


class BatchEnv:
    """n games of one variant, played at once in compiled code.

    Each step plays one action of whoever is to move in each game. Chance (Jack's identity, deals,
    alibi cards) is drawn on the way by a generator of the game's own, so a game depends on its seed
    and its actions alone: not on n, on the other games or on the number of threads.

    **Auto-reset** is what Gymnasium calls `AutoresetMode.SAME_STEP`, as in pgx: when an action
    ends a game, the next one begins within the same step. `terminated`, `rewards` and `endings`
    then tell of the game that ended, `current_player`, `legal_actions_mask` and
    `observation_tensor` of the first decision of the new one; no step is lost. With
    `final_observations=True` the last observations of both players are in
    `final_observation_tensor`. With `auto_reset=False` a game that is over stays so until
    `reset(games=...)`: it takes any action, its rewards are 0 in later steps, and `terminated` and
    `endings` keep telling that it is over.

    Args:
        n: number of games.
        variant: the variant; or describe it by `board`, `cast`, `turns`, `first` (see `Variant`).
        planes: write observation tensors.
        final_observations: write those of games that end, too; needs `planes`.
        auto_reset: begin a new game where one ends.
        check: look whether all actions are legal before any is played. It costs a few
            nanoseconds a game; without it an illegal action leaves its game in a state that the
            rules do not know, and one that is no action at all may crash the process.
        threads: how many share the games; pays from some thousand games on.

    Attributes:
        n, variant, num_actions: as above; number of distinct actions.
        batch: the arrays written by `reset` and `step`; always the same ones, so copy what has to
            last. What is written to them from outside is overwritten by the next step.

    Raises:
        ArgumentError: when n or threads is below 1, final observations are asked for without
            planes, or a variant is both given and described.
        VariantError, BoardError: when there is no such variant.
    """

    def __init__(
        self,
        n: int,
        variant: Variant | None = None,
        *,
        board: Board | str | Path = "whitechapel",
        cast: str | Iterable[str] = FULL_CAST,
        turns: int = MAX_TURNS,
        first: str = "detective",
        planes: bool = True,
        final_observations: bool = False,
        auto_reset: bool = True,
        check: bool = True,
        threads: int = 1,
    ) -> None:
        n, threads = _GAMES.read(n, "n"), _THREADS.read(threads, "threads")
        if final_observations and not planes:
            raise ArgumentError("final_observations=True needs planes=True")
        described = (board, cast, turns, first)
        if variant is None:
            variant = make_variant(*described)
        elif described != ("whitechapel", FULL_CAST, MAX_TURNS, "detective"):
            raise ArgumentError("give a variant, or describe it, but not both")
        if not isinstance(variant, Variant):
            raise VariantError(f"{shown(variant)} is no Variant; make_variant(...) builds one")
        ENGINE.ensure()
        BATCH.ensure()
        batch = self._kernels

        self.n = n
        self.variant = variant
        self.num_actions = action_space(variant).num_actions
        self.planes = planes
        self.auto_reset = auto_reset
        self.check = check
        self.threads = min(threads, n)
        self._final = final_observations
        self._tables = build_tables(variant)
        self._games = np.zeros((n, batch.row_words(variant)), np.uint64)
        self._chance = np.zeros(n, GENERATOR)
        self._choice = np.zeros(n, GENERATOR)
        self._lists = np.zeros((n, self.num_actions), np.int16)
        self._counts = np.zeros(n, np.int64)
        self._actions = np.zeros(n, np.int64)
        self._sampled = np.zeros(n, np.int64)
        self._roots: dict[int, Words | None] = {}
        self._seeded = self._started = False
        self._bounds = np.linspace(0, n, self.threads + 1).astype(int).tolist()
        self.batch = self.new_batch()

    @cached_property
    def _kernels(self) -> Any:
        from mrjack_ai.engine import batch  # only here: it takes time to import

        return batch

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled; the kernels and threads of the copy are its own."""
        own = ("_kernels", "_pool", "_tables")
        return {name: x for name, x in vars(self).items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        # The shared ones, which are read-only: for an array of its own numba compiles anew.
        self._tables = build_tables(self.variant)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads - 1)

    def new_batch(self) -> Batch:
        """Arrays of the right shapes, for `step(actions, out=...)`."""
        size = tensor_size(self.variant) if self.planes else 0
        final = (self.n, 2, size) if self._final else (0, 2, 0)
        return Batch(
            current_player=np.zeros(self.n, np.int8),
            legal_actions_mask=np.zeros((self.n, self.num_actions), np.bool_),
            observation_tensor=np.zeros((self.n, size), np.float32),
            rewards=np.zeros((self.n, 2), np.float32),
            terminated=np.zeros(self.n, np.bool_),
            endings=np.zeros(self.n, np.uint8),
            final_observation_tensor=np.zeros(final, np.float32),
        )

    # -- playing --------------------------------------------------------------------------

    def reset(
        self,
        seed: int | Sequence[int] | npt.NDArray[np.integer] | None = None,
        *,
        games: npt.ArrayLike | None = None,
        out: Batch | None = None,
    ) -> Batch:
        """Begin new games.

        Args:
            seed: game i's generators get the i-th child of a number, whatever n is; or give a
                number for each game, as a sequence or array. None: the generators go on from
                where they are, at the first time from entropy of the operating system. Each is
                0 to 2^128-1.
            games: which games, as indices or a bool mask; all by default. The others stay as they
                are, their rewards 0 in this step.
            out: arrays to write to, as for `step`.

        Returns:
            `out`, or `self.batch`.

        Raises:
            ArgumentError: for seeds that are out of range or not one for each of the n games, for
                unknown games, or when only some games are to begin at first.
        """
        orders = np.full(self.n, self._kernels.SHOW)
        try:
            chosen: Any = slice(None) if games is None else np.asarray(games)
            if games is not None and chosen.size == 0:
                chosen = chosen.astype(np.int64)  # an empty list has no type of its own
            orders[chosen] = self._kernels.RESTART
        except (IndexError, ValueError, TypeError) as error:
            raise ArgumentError(f"games: {error}") from None
        if not self._started and self._kernels.SHOW in orders:
            raise ArgumentError("the first reset must begin all games")
        chosen = orders == self._kernels.RESTART
        if seed is not None or not self._seeded:
            words = _generator_words(seed, self.n)
            self._chance["state"][chosen] = words[0, chosen]
            self._choice["state"][chosen] = words[1, chosen]
            self._seeded = True
        for game in np.flatnonzero(chosen):
            self._roots.pop(int(game), None)
        self._actions[:] = orders
        self._started = True
        return self._advance(False, out)

    def step(self, actions: npt.ArrayLike, out: Batch | None = None) -> Batch:
        """Play one action in each game.

        Args:
            actions: ids, any integer type, shape (n,).
            out: arrays to write to in place of `self.batch`, such as a slice of a buffer for a
                whole rollout; C-contiguous, of the shapes and types of `new_batch()`. They may
                hold anything.

        Returns:
            `out`, or `self.batch`: always the same arrays, none is allocated.

        Raises:
            IllegalActionError: naming the first game whose action is not legal, and what is; no
                game has changed.
            ArgumentError: when the actions are no integers or their shape is another, or `out`
                does not fit.
            NotResetError: when there was no `reset` yet.
        """
        self._check_started()
        try:
            given = np.asarray(actions)
        except (ValueError, OverflowError) as error:  # rows of different lengths
            raise ArgumentError(f"actions: {error}") from None
        if given.shape != (self.n,):
            raise ArgumentError(
                f"actions have shape {given.shape}; one for each game is ({self.n},)"
            )
        if given.dtype.kind not in "iu":
            raise ArgumentError(f"actions have type {given.dtype}; they must be integers")
        self._actions[:] = given
        if self.check:
            wrong = self._kernels.find_illegal(self._lists, self._counts, self._actions)
            if wrong >= 0:
                raise self._illegal(int(wrong))
        return self._advance(True, out)

    def sample_actions(self, seed: int | None = None) -> npt.NDArray[np.int64]:
        """A legal action for each game, all equally likely.

        They come from generators of their own, one a game, seeded by `reset`.

        Args:
            seed: when given, seed these generators anew first.

        Returns:
            int64 (n,), always the same array; -1 where the game is over.

        Raises:
            ArgumentError: for a seed that is out of range.
            NotResetError: when there was no `reset` yet.
        """
        self._check_started()
        if seed is not None:
            self._choice["state"] = _generator_words(seed, self.n)[1]
        self._kernels.sample_actions(self._lists, self._counts, self._choice, self._sampled)
        return self._sampled

    def _check_started(self) -> None:
        if not self._started:
            raise NotResetError("call reset() first: no game has begun")

    def _advance(self, playing: bool, out: Batch | None) -> Batch:
        batch = self.batch if out is None else self._fitting(out)
        columns = [getattr(batch, field.name) for field in fields(Batch)]

        def run(part: int) -> None:
            self._kernels.advance(
                self._games,
                self._tables,
                self._chance,
                self._actions,
                self._bounds[part],
                self._bounds[part + 1],
                playing,
                self.auto_reset,
                self._lists,
                self._counts,
                *columns,
            )

        others = [self._pool.submit(run, part) for part in range(1, self.threads)]
        run(0)
        for other in others:
            other.result()
        for game in [game for game in self._roots if batch.terminated[game] and self.auto_reset]:
            del self._roots[game]
        return batch

    def _fitting(self, out: Batch) -> Batch:
        for field in fields(Batch):
            array, own = getattr(out, field.name), getattr(self.batch, field.name)
            if (array.shape, array.dtype) != (own.shape, own.dtype):
                raise ArgumentError(
                    f"out.{field.name} is {array.dtype} {array.shape}; "
                    f"it must be {own.dtype} {own.shape}"
                )
            if not array.flags.c_contiguous or not array.flags.writeable:
                raise ArgumentError(f"out.{field.name} must be C-contiguous and writable")
        return out

    def _illegal(self, game: int) -> IllegalActionError:
        names = action_space(self.variant).names
        action = int(self._actions[game])
        name = repr(names[action]) if 0 <= action < len(names) else "no action"
        legal = [f"{other} ({names[other]})" for other in self.legal_actions(game)]
        return IllegalActionError(
            f"game {game}: action {action}, {name}, is not legal here; legal are {listed(legal)}"
        )

    # -- single games ---------------------------------------------------------------------

    def _index(self, game: int) -> int:
        index = WholeNumbers(0, self.n - 1).read(game, "game")
        self._check_started()
        return index

    def legal_actions(self, game: int) -> list[int]:
        """Ids of the legal actions of one game, ascending.

        Raises:
            ArgumentError: when there is no such game.
            NotResetError: when there was no `reset` yet.
        """
        game = self._index(game)
        actions: list[int] = self._lists[game, : self._counts[game]].tolist()
        return actions

    def state(self, game: int) -> State:
        """A copy of one game with its whole history, chance included: for pictures, debugging.

        It is the true state: `state.observation()` is what the player to move may know.

        Raises:
            ArgumentError: when there is no such game.
            NotResetError: when there was no `reset` yet.
        """
        game = self._index(game)
        words = self._games[game, : game_words(self.variant)].copy()
        return State.from_words(self.variant, words, self._roots.get(game))

    def set_state(self, game: int, state: State) -> Batch:
        """Put one game into a state; chance decides first where it is its turn.

        Returns:
            `self.batch`, of all games; rewards are 0, unless what chance decides ends the game:
            then all is as when an action ends it.

        Raises:
            VariantError: when the state is of another variant.
            ArgumentError: when the state's game is over, or there is no such game.
            NotResetError: when there was no `reset` yet.
        """
        game = self._index(game)
        if state.variant != self.variant:
            raise VariantError("the state is of another variant than the environment's games")
        if state.is_terminal():
            raise ArgumentError(
                f"the state's game is over ({state.outcome()}): nothing to be played"
            )
        self._games[game] = 0
        self._games[game, : len(state._words)] = state._words
        self._roots.pop(game, None)
        if state._root is not None:
            self._roots[game] = state._root
        self._actions[:] = self._kernels.SHOW
        return self._advance(False, None)

    # -- observations ---------------------------------------------------------------------

    def section(self, name: str, tensor: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """One section of the observation tensors, shaped: a view, no copy.

        Planes over the street hexes are `position` (n, seats, hexes), `open_manholes` and
        `lit_hexes` (n, hexes); `mrjack_ai.game.observation.tensor_sections` explains all of them.

        Args:
            name: a key of `tensor_sections(variant)`.
            tensor: tensors of this variant along the last axis; by default those of `self.batch`.

        Raises:
            ArgumentError: when there is no such section, naming those there are, or no planes.
        """
        sections = tensor_sections(self.variant)
        if name not in sections:
            raise ArgumentError(f"no section {shown(name)}; there are {', '.join(sections)}")
        if tensor is None:
            tensor = self.batch.observation_tensor
        if tensor.shape[-1] != tensor_size(self.variant):
            raise ArgumentError(
                f"no observation tensors: the last axis has size {tensor.shape[-1]}"
            )
        return split_tensor(tensor, sections)[name]


def _generator_words(seed: int | Sequence[int] | npt.NDArray[np.integer] | None, n: int) -> Words:
    """States of the generators of chance and of sampled actions, uint64 (2, n).

    Raises:
        ArgumentError: when a seed is none or out of range, or there is not one for each game.
    """
    if isinstance(seed, np.ndarray):
        seed = seed.tolist()
    if isinstance(seed, Sequence) and not isinstance(seed, (str, bytes)):
        numbers = [SEEDS.read(one, f"seed of game {game}") for game, one in enumerate(seed)]
        if len(numbers) != n:
            raise ArgumentError(f"there are {len(numbers)} seeds for {n} games")
        sequences = map(np.random.SeedSequence, numbers)
        words = np.array([one.generate_state(2, np.uint64) for one in sequences])
    else:
        number = None if seed is None else SEEDS.read(seed, "seed")
        # The first words do not depend on how many are asked for.
        words = np.random.SeedSequence(number).generate_state(2 * n, np.uint64).reshape(n, 2)
    return np.ascontiguousarray(words.T)
