"""Strength against OpenSpiel's Python ISMCTSBot on this game, at equal simulations and equal time.

    python benchmarks/against_openspiel.py

Its bot plays as it comes: one random rollout a simulation to the end of the game, UCB constant 1.4.
First both get the same number of simulations a decision. Then ours gets a clock set to the time
that its bot was measured to take for a decision in those games.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager

from mrjack_ai import Variant
from mrjack_ai.agents import Agent
from mrjack_ai.openspiel.agents import OpenSpielAgent
from mrjack_ai.tournament import Settings, pairing_results, run_tournament


@contextmanager
def clock(agent: type[Agent]) -> Iterator[list[float]]:
    """Seconds of each decision of an agent's class, made in this process."""
    taken: list[float] = []
    act = agent.act

    def timed(self: Agent, observation: object) -> int:
        started = time.perf_counter()
        action = act(self, observation)  # type: ignore[arg-type]
        taken.append(time.perf_counter() - started)
        return action

    agent.act = timed  # type: ignore[method-assign]
    try:
        yield taken
    finally:
        agent.act = act  # type: ignore[method-assign]


def play(ours: str, theirs: str, games: int, seed: int) -> float:
    """Print one match; returns the seconds a decision of theirs took."""
    with clock(OpenSpielAgent) as taken:
        results = run_tournament(Settings((ours, theirs), games, seed, Variant()))
    (found,) = pairing_results(results)
    print(
        f"| {ours} | {theirs} | {games} | {found.score.percent()} "
        f"| {found.as_detective.percent()} | {found.as_jack.percent()} "
        f"| {1000 * sum(taken) / len(taken):.1f} |",
        flush=True,
    )
    return sum(taken) / len(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--games", type=int, default=200, help="of each match")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sims = options.simulations
    theirs = f"openspiel:ismcts,sims={sims}"
    print("| ours | theirs | games | score % | as Detective % | as Jack % | their ms a decision |")
    print("|---|---|---:|---:|---:|---:|---:|")
    plain = "rollout=random,horizon=8,order=random,widening=1000,power=1,belief=exact,reuse=false"
    for ours in (f"ismcts:sims={sims}", f"ismcts:sims={sims},c=1.4,{plain}"):
        seconds = play(ours, theirs, options.games, options.seed)
    play(f"ismcts:time={max(1, round(1000 * seconds))}", theirs, options.games, options.seed)


if __name__ == "__main__":
    main()
