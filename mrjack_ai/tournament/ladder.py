"""The ladder: each rung plays the one below it, on paired deals, from both sides."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mrjack_ai.agents.registry import parse_agent
from mrjack_ai.errors import TournamentError
from mrjack_ai.setup.variant import Variant
from mrjack_ai.stats.scores import Rate
from mrjack_ai.tournament.runner import Results, run_tournament
from mrjack_ai.tournament.schedule import Settings
from mrjack_ai.tournament.standings import pairing_results

RUNGS: tuple[str, ...] = (
    "random",
    "cautious",
    "greedy",
    *(
        f"{agent}:sims={simulations}"
        for simulations in (100, 1000, 10000)
        for agent in ("pimc", "mo-ismcts", "ismcts")
    ),
    "ismcts:time=100",
)
"""The rungs played by default, from the weakest on."""

DOUBLINGS: tuple[str, ...] = tuple(f"ismcts:sims={50 * 2**n}" for n in range(8))
"""The strongest agent at budgets each twice the one before, played after the rungs."""

MARK = "greedy"
"""Every rung above it also plays this one."""


@dataclass(frozen=True)
class Step:
    """The result of one agent against another.

    Attributes:
        agent: the agent, as a specification string.
        against: its opponent.
        score: share of the games it won.
        as_detective: share of its games as the Detective it won.
        as_jack: share of its games as Jack it won.
    """

    agent: str
    against: str
    score: Rate
    as_detective: Rate
    as_jack: Rate


_LONGEST_NAME = 200
"""Most bytes of the name of a results file, before its endings."""


def ladder_pairs(rungs: Sequence[str] | None = None) -> list[tuple[str, str]]:
    """Which agents meet: each rung and the one below it, and those above the mark with it.

    Args:
        rungs: specification strings, the weakest first; by default `RUNGS`, and then each of
            `DOUBLINGS` and the one before it.
    """
    if rungs is None:
        return ladder_pairs(RUNGS) + ladder_pairs(DOUBLINGS)
    pairs = list(zip(rungs[1:], rungs[:-1], strict=True))
    if MARK in rungs:
        above = rungs[rungs.index(MARK) + 2 :]
        pairs += [(rung, MARK) for rung in above]
    return pairs


def games_of(pair: tuple[str, str], games: int) -> int:
    """How many games two agents play where `games` are the rule.

    A half where one searches 2,000 or more simulations a decision, a tenth from 10,000 on or on
    a clock, rounded down to an even number, at least 2.

    Raises:
        AgentError: when a specification is wrong.
    """
    share = 1
    for spec in pair:
        parameters = parse_agent(spec)[1]
        simulations = parameters.get("sims", 0)
        if parameters.get("time", 0) > 0 or simulations >= 10_000:
            share = 10
        elif simulations >= 2_000:
            share = max(share, 2)
    return max(2, games // share // 2 * 2) if share > 1 else games


def run_ladder(
    rungs: Sequence[str] | None = None,
    games: int = 1000,
    seed: int = 1,
    workers: int = 1,
    variant: Variant | None = None,
    out: str | Path | None = None,
    progress: Callable[[str, str, int, int], None] | None = None,
) -> list[Step]:
    """Play the ladder.

    Args:
        rungs: specification strings, the weakest first; see `ladder_pairs` for the default.
        games: games of each pairing, but see `games_of`.
        seed: seed; all pairings play the same deals.
        workers: number of processes.
        variant: the variant; the standard game by default.
        out: folder for the results file of each pairing, from which an interrupted ladder is
            carried on; None keeps nothing.
        progress: called with the two agents, games played, and games of their pairing.

    Returns:
        A step for each pairing that was finished, in the order of `ladder_pairs`; fewer when
        interrupted by Ctrl-C.

    Raises:
        TournamentError: for fewer than two rungs, and as `run_tournament`.
        AgentError: when a specification is wrong.
    """
    if rungs is not None and len(rungs) < 2:
        raise TournamentError("a ladder needs at least two rungs")
    folder = None if out is None else Path(out)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TournamentError(f"cannot write to {str(folder)!r}: {error}") from None
    pairs = ladder_pairs(rungs)
    described = [
        Settings(pair, games_of(pair, games), seed, variant or Variant()) for pair in pairs
    ]
    for settings in described:
        settings.check_agents()
    names = _file_names(pairs)
    steps = []
    for pair, settings in zip(pairs, described, strict=True):

        def report(done: int, total: int, pair: tuple[str, str] = pair) -> None:
            if progress is not None:
                progress(*pair, done, total)

        file = None if folder is None else folder / names[pair]
        results = run_tournament(settings, workers=workers, out=file, progress=report)
        if not results.complete:
            break
        steps.append(_step(results))
    return steps


def _file_names(pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A name for the results file of each pairing; a command can have any character and length."""
    plain = {pair: re.sub(r"[^\w.-]", "-", "_vs_".join(pair)) for pair in pairs}
    shared = Counter(name.lower() for name in plain.values())  # some systems ignore case
    names = {}
    for pair, name in plain.items():
        # SQLite and the lock put endings of their own behind the name.
        if shared[name.lower()] > 1 or len(name.encode()) > _LONGEST_NAME:
            start = name.encode()[: _LONGEST_NAME - 17].decode(errors="ignore")
            name = f"{start}-{hashlib.sha256(repr(pair).encode()).hexdigest()[:16]}"
        names[pair] = f"{name}.db"
    return names


def _step(results: Results) -> Step:
    (pairing,) = pairing_results(results)
    return Step(*pairing.agents, pairing.score, pairing.as_detective, pairing.as_jack)


def markdown_table(steps: Sequence[Step]) -> str:
    """The steps as a Markdown table: percentages with 95 % intervals, Elo difference."""
    lines = [
        "| agent | against | games | score % | Elo difference | as Detective % | as Jack % |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for step in steps:
        lines.append(
            f"| {step.agent} | {step.against} | {step.score.games} | {step.score.percent()} "
            f"| {step.score.elo().text()} "
            f"| {step.as_detective.percent()} | {step.as_jack.percent()} |"
        )
    return "\n".join(lines)
