"""The ladder: each rung plays the one below it, on paired deals, from both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mrjack_ai.errors import TournamentError
from mrjack_ai.tournament.runner import Results, run_tournament
from mrjack_ai.tournament.schedule import Settings
from mrjack_ai.tournament.standings import Standing, pairing_results, standings
from mrjack_ai.tournament.statistics import Rate
from mrjack_ai.variant import Variant

RUNGS: tuple[str, ...] = (
    "random",
    "cautious",
    "greedy",
    "pimc:sims=100",
    "ismcts:sims=100",
    "mo-ismcts:sims=100",
    "pimc:sims=1000",
    "ismcts:sims=1000",
    "mo-ismcts:sims=1000",
)
"""The rungs played by default, the weakest first."""

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


def ladder_pairs(rungs: Sequence[str]) -> list[tuple[str, str]]:
    """Which agents meet: each rung and the one below it, and those above the mark with it."""
    pairs = list(zip(rungs[1:], rungs[:-1], strict=True))
    if MARK in rungs:
        above = rungs[rungs.index(MARK) + 2 :]
        pairs += [(rung, MARK) for rung in above]
    return pairs


def run_ladder(
    rungs: Sequence[str] = RUNGS,
    games: int = 1000,
    seed: int = 1,
    workers: int = 1,
    variant: Variant | None = None,
    out: str | Path | None = None,
    progress: Callable[[str, str, int, int], None] | None = None,
) -> list[Step]:
    """Play the ladder.

    Args:
        rungs: specification strings, the weakest first.
        games: games of each pairing.
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
    if len(rungs) < 2:
        raise TournamentError("a ladder needs at least two rungs")
    folder = None if out is None else Path(out)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TournamentError(f"cannot write to {str(folder)!r}: {error}") from None
    pairs = ladder_pairs(rungs)
    described = [Settings(pair, games, seed, variant or Variant()) for pair in pairs]
    for settings in described:
        settings.check_agents()
    steps = []
    for pair, settings in zip(pairs, described, strict=True):

        def report(done: int, total: int, pair: tuple[str, str] = pair) -> None:
            if progress is not None:
                progress(*pair, done, total)

        name = "_vs_".join(pair).translate(str.maketrans(":=,", "---"))
        file = None if folder is None else folder / f"{name}.db"
        results = run_tournament(settings, workers=workers, out=file, progress=report)
        if not results.complete:
            break
        steps.append(_step(results))
    return steps


def _step(results: Results) -> Step:
    (pairing,) = pairing_results(results)
    agent, against = pairing.agents
    standing: Standing = next(s for s in standings(results) if s.agent == agent)
    return Step(agent, against, pairing.score, standing.as_detective, standing.as_jack)


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
