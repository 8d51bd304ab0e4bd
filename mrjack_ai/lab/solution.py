"""Solved variants: solving with checkpoints, solution files, and what a policy says at a node."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mrjack_ai.common.archives import read_archive
from mrjack_ai.common.files import replacing
from mrjack_ai.engine.layout import (
    EVENT_ALIBI,
    EVENT_DEAL,
    EVENT_JACK,
    EVENT_WITNESS,
)
from mrjack_ai.errors import LabError
from mrjack_ai.game.observation import Observation
from mrjack_ai.lab.expansion import PublicNode
from mrjack_ai.lab.information_states import actions_at, path_to
from mrjack_ai.lab.miniatures import MINIATURES
from mrjack_ai.lab.public_tree import PublicTree, build_public_tree
from mrjack_ai.lab.solver import RANGE, Exploitability, Solver, TreeEvaluator, Vector
from mrjack_ai.setup.variant import Player, Variant

_FORMAT = 1
_SECONDS_BETWEEN_CHECKPOINTS = 60.0
_ROW_SECONDS = 2.0


@dataclass(frozen=True)
class Progress:
    """One line of a solver's course.

    Attributes:
        iterations: how many so far.
        seconds: spent solving so far, earlier runs included.
        exploitability: of the average policy.
        first: whether this is the first line of a run.
        solver: what is solving.
    """

    iterations: int
    seconds: float
    exploitability: Exploitability
    first: bool
    solver: Solver


@dataclass(frozen=True)
class Solution:
    """Policies of both players for a variant.

    Attributes:
        variant: the variant.
        policy: float64, as `TreeEvaluator` lays it out.
        method: how it was found.
        iterations: of that method.
        course: iterations, seconds, the value to the Detective, and the NashConv on the way:
            float64, shape `(n, 4)`.
    """

    variant: Variant
    policy: Vector
    method: str
    iterations: int
    course: npt.NDArray[np.float64]

    @cached_property
    def tree(self) -> PublicTree:
        """The public tree; enumerated when first asked for."""
        return build_public_tree(self.variant)

    @cached_property
    def evaluator(self) -> TreeEvaluator:
        """Passes over that tree.

        Raises:
            LabError: when the policy does not fit the tree: it was made with other rules.
        """
        evaluator = TreeEvaluator(self.tree)
        if evaluator.entries != len(self.policy):
            raise LabError(
                f"the solution has {len(self.policy)} entries, its variant {evaluator.entries}: "
                "solve it again with this version"
            )
        return evaluator

    def write(self, path: str | Path) -> None:
        """Write the solution to a file: a `.npz` archive.

        Raises:
            LabError: when it cannot be written.
        """
        with replacing(path, error=LabError) as file:
            np.savez_compressed(
                file,
                format=np.array(_FORMAT),
                variant=np.array(json.dumps(self.variant.to_dict())),
                policy=self.policy.astype(np.float32),
                method=np.array(self.method),
                iterations=np.array(self.iterations),
                course=self.course,
            )

    @classmethod
    def load(cls, path: str | Path) -> Solution:
        """Read a solution.

        Raises:
            LabError: when there is no such file, or it holds no solution.
        """
        try:
            found = read_archive(path)
            if int(found["format"]) != _FORMAT:
                raise ValueError(f"format {found['format']} is not known")
            policy = found["policy"].astype(np.float64)
            if policy.ndim != 1 or not np.isfinite(policy).all() or (policy < 0).any():
                raise ValueError("its policy holds what is no probability")
            return cls(
                variant=Variant.from_dict(json.loads(str(found["variant"]))),
                policy=policy,
                method=str(found["method"]),
                iterations=int(found["iterations"]),
                course=found["course"].astype(np.float64).reshape(-1, 4),
            )
        except KeyError as error:
            reason = f"it has no {error}"
        except (ValueError, TypeError, AttributeError) as error:
            reason = str(error)
        raise LabError(
            f"cannot read a solution from {str(path)!r}: {reason}; "
            "write one with: mrjack lab solve --out FILE"
        )

    # -- reading it -----------------------------------------------------------------------

    def node_of(self, observation: Observation) -> tuple[int, int]:
        """Node of the public tree, and the private state of the observer.

        Raises:
            LabError: when the observation is of another variant, or of a set-up position.
        """
        if observation.variant != self.variant or observation.root is not None:
            raise LabError(
                f"the solution is for {describe(self.variant)}; it says nothing of "
                f"{'set-up positions' if observation.root else describe(observation.variant)}"
            )
        nodes, seats = self.tree.nodes, self.tree.seats
        at = private = 0
        pending: list[int] = []
        for code in observation.events:
            if EVENT_JACK <= code < EVENT_DEAL:
                private = code & 0xFF if observation.player == Player.JACK else 0
                continue
            if code >= EVENT_WITNESS:
                fitting = [child for child in pending if int(nodes[child]["seen"]) == (code & 1)]
                at = (fitting or pending)[0]
                continue
            children = self.tree.children(at)
            if code >= EVENT_ALIBI:
                if code >> 4 & 1 == observation.player:
                    private = private * seats + (code & 0x0F)
                pending = list(children)
            else:
                action = code & 0xFF if code >= EVENT_DEAL else code
                pending = [child for child in children if int(nodes[child]["action"]) == action]
            at = pending[0]
        return at, private

    def probabilities(self, at: int, private: int) -> npt.NDArray[np.float64]:
        """The policy at a node in a private state: float64, shape `(slots,)`."""
        return self.evaluator.table(self.policy, at)[:, private]

    def belief(self, at: int, held: int = 0) -> npt.NDArray[np.float64]:
        """Probability of each seat to be Jack, for a Detective who knows Jack's policy.

        Args:
            at: node of the public tree.
            held: the Detective's private state.

        Returns:
            float64, shape `(seats,)`, adding up to 1; all 0 where the policy never gets.
        """
        tree = self.tree
        draws = tree.nodes[at]["draws"]
        reach = self._jack_reach(at)
        weights = (
            tree.chance_weights(int(draws[Player.DETECTIVE]), int(draws[Player.JACK]))[held] * reach
        )
        by_identity = weights.reshape(tree.seats, -1).sum(axis=1)
        total = by_identity.sum()
        belief: npt.NDArray[np.float64] = by_identity / total if total > 0 else by_identity
        return belief

    def _jack_reach(self, at: int) -> npt.NDArray[np.float64]:
        """Jack's part of the probability of getting to a node, by his private state."""
        tree, nodes = self.tree, self.tree.nodes
        reach = np.ones(tree.seats)
        path = path_to(tree, at)
        for before, after in pairwise(path):
            scale = tree.seats ** int(nodes[before]["draws"][Player.JACK])
            identities = np.arange(len(reach)) // scale
            reach = reach * (int(nodes[after]["identities"]) >> identities & 1)
            if nodes[before]["kind"] == PublicNode.JACK_DECIDES:
                reach = reach * self.evaluator.table(self.policy, before)[nodes[after]["slot"]]
            if (
                nodes[before]["kind"] == PublicNode.CARD_DRAWN
                and nodes[before]["mover"] == Player.JACK
            ):
                reach = np.repeat(reach, tree.seats)
        return reach

    def actions(self, at: int) -> npt.NDArray[np.int64]:
        """Ids of the actions at a node, in the order of the slots."""
        return actions_at(self.tree, at)


def describe(variant: Variant) -> str:
    """A variant in a few words."""
    for name, known in MINIATURES.items():
        if known() == variant:
            return f"the miniature {name!r}"
    return (
        f"board {variant.board.name!r}, cast {'+'.join(variant.cast)}, {variant.turns} turns, "
        f"{variant.first} first"
    )


def checkpoint_of(path: str | Path) -> Path:
    """The file beside a solution that keeps what is needed to go on."""
    return Path(f"{path}.checkpoint.npz")


def solve(
    variant: Variant,
    out: str | Path | None = None,
    method: str = "pcfr+",
    target: float = 1e-4,
    iterations: int = 100_000,
    threads: int = 1,
    progress: Callable[[Progress], None] | None = None,
    checkpoint_seconds: float = _SECONDS_BETWEEN_CHECKPOINTS,
) -> Solution:
    """Solve a variant by regret minimisation.

    With a file, a checkpoint is kept beside it, also when interrupted; called again with the same
    variant and method the solver goes on from there, and every iterate is what it would have been.

    Args:
        variant: a small one.
        out: where the solution goes.
        method: see `Solver`.
        target: stop when the NashConv is at most this share of the range of returns.
        iterations: stop after so many, whatever the NashConv.
        threads: how many to use.
        progress: called now and then.
        checkpoint_seconds: time between checkpoints.

    Raises:
        LabError: when the tree is too large, the checkpoint belongs to something else, or a file
            cannot be written.
    """
    solver = Solver(build_public_tree(variant), method, threads)
    course: list[tuple[float, float, float, float]] = []
    spent = 0.0
    keep = None if out is None else checkpoint_of(out)
    if keep is not None and keep.exists():
        spent, course = _restore(solver, variant, keep)
    started = saved = time.monotonic()

    def save() -> None:
        if keep is not None:
            _save_checkpoint(solver, variant, spent + time.monotonic() - started, course, keep)

    try:
        pause, first = 1, 0.0
        while True:
            batch = min(pause, max(0, iterations - solver.iterations))
            begun = time.monotonic()
            first = first or begun
            solver.iterate(batch)
            now = time.monotonic()
            found = solver.exploitability()
            row = Progress(solver.iterations, spent + now - started, found, begun == first, solver)
            course.append((row.iterations, row.seconds, found.value, found.nash_conv))
            if progress is not None:
                progress(row)
            if found.nash_conv <= target * RANGE or solver.iterations >= iterations:
                break
            if now - begun < _ROW_SECONDS:
                pause = min(2 * pause, 4096)
            if time.monotonic() - saved > checkpoint_seconds:
                save()
                saved = time.monotonic()
    except KeyboardInterrupt:
        save()
        raise
    solution = Solution(
        variant, solver.average_policy(), method, solver.iterations, np.array(course).reshape(-1, 4)
    )
    if out is not None and keep is not None:
        solution.write(out)
        keep.unlink(missing_ok=True)
    return solution


def _save_checkpoint(
    solver: Solver,
    variant: Variant,
    seconds: float,
    course: list[tuple[float, float, float, float]],
    path: Path,
) -> None:
    with replacing(path, error=LabError) as file:
        np.savez(
            file,
            variant=np.array(json.dumps(variant.to_dict())),
            seconds=np.array(seconds),
            course=np.array(course).reshape(-1, 4),
            **solver.state(),
        )


def _restore(
    solver: Solver, variant: Variant, path: Path
) -> tuple[float, list[tuple[float, float, float, float]]]:
    try:
        state = read_archive(path)
        if json.loads(str(state["variant"])) != json.loads(json.dumps(variant.to_dict())):
            raise LabError("it belongs to another variant")
        solver.restore(state)
        rows = state["course"].astype(np.float64).reshape(-1, 4).tolist()
        return float(state["seconds"]), [(a, b, c, d) for a, b, c, d in rows]
    except KeyError as error:
        reason = f"it has no {error}"
    except (ValueError, TypeError) as error:
        reason = str(error)
    raise LabError(
        f"cannot go on from the checkpoint {os.fspath(path)!r}: {reason}; "
        "remove it to begin anew, or choose another --out"
    )
