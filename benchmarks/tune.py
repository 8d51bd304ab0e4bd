"""Choose the settings of the searching agents by matches.

    python benchmarks/tune.py            # plays what is not in benchmarks/tuning.jsonl yet
    python benchmarks/tune.py --markdown # prints the table of what is there
    python benchmarks/tune.py --match ismcts:c=0.7 ismcts --games 1000 --seed 21  # one of your own

Each comparison plays one changed setting against the default, on paired deals from both sides: at
an equal number of simulations where a change costs no time, at equal time where it does. Results
are appended to the file one by one, so an interrupted run carries on.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from mrjack_ai import Variant, __version__
from mrjack_ai.agents.registry import described_parameters
from mrjack_ai.errors import MrJackError
from mrjack_ai.tournament import Settings, pairing_results, run_tournament

RESULTS = Path(__file__).with_name("tuning.jsonl")


@dataclass(frozen=True)
class Comparison:
    """A setting and what it plays against, as agent specifications."""

    agent: str
    against: str
    games: int


def comparisons(simulations: int, milliseconds: int, games: int) -> list[Comparison]:
    """All of them: those on a clock first, then in the order of the parameters."""
    equal = f"ismcts:sims={simulations}"
    timed = f"ismcts:time={milliseconds}"
    changes = [f"c={c}" for c in (0.2, 0.35, 0.7, 1.0)]
    changes += [f"widening={w}" for w in (0.25, 1.0, 2.0)]
    changes += [f"power={p}" for p in (0.35, 0.65)]
    changes += ["reuse=false"]
    changes += ["belief=exact", *(f"inverse_temperature={x}" for x in (1, 4, 8))]
    changes += [f"observer_inverse_temperature={x}" for x in (4, 16)]
    changes += [f"concealment={d}" for d in (0, 0.02, 0.05, 0.2)]
    found = [Comparison(f"{equal},{change}", equal, games) for change in changes]
    plain = f"{equal},concealment=0"  # with concealment Jack's choice is another one
    found.append(Comparison(f"{plain},final=value", plain, games))
    # What Jack gives up to hide must not cost him against those who do not look.
    exact = f"{equal},belief=exact"
    found += [Comparison(f"{equal},concealment={d}", exact, games) for d in (0, 0.05, 0.1, 0.2)]
    costly = ["rollout=greedy", "rollout=random", "rollout=cautious"]
    costly += [
        "eval=heuristic",
        "eval=heuristic,rollout=greedy",
        "eval=heuristic,rollout=greedy,horizon=8",
    ]
    costly += ["order=heuristic", "order=random,widening=1000,power=1", "refine=1", "refine=16"]
    return [Comparison(f"{timed},{change}", timed, games // 4 * 2) for change in costly] + found


def identity(line: dict) -> str:
    """What makes a line of the results another one: all parameters, defaults too, of both agents.

    So a comparison is played again when a default has changed since.
    """
    names = ("agent", "against", "agent_parameters", "against_parameters", "games", "seed")
    return json.dumps([line[name] for name in names], sort_keys=True)


def start_line(comparison: Comparison, seed: int) -> dict[str, object]:
    """The part of a line that is known before the games."""
    return {
        "agent": comparison.agent,
        "against": comparison.against,
        "games": comparison.games,
        "seed": seed,
        "mrjack_ai": __version__,
        "agent_parameters": described_parameters(comparison.agent),
        "against_parameters": described_parameters(comparison.against),
    }


def play(comparison: Comparison, seed: int, workers: int) -> dict[str, object]:
    """One comparison as a line of the results."""
    agents = (comparison.agent, comparison.against)
    settings = Settings(agents, comparison.games, seed, Variant())
    results = run_tournament(settings, workers=workers)
    if not results.complete:
        raise KeyboardInterrupt
    (found,) = pairing_results(results)
    sides = {"score": found.score, "as_detective": found.as_detective, "as_jack": found.as_jack}
    return {
        **start_line(comparison, seed),
        **{
            name: [round(x, 4) for x in (rate.value, rate.low, rate.high)]
            for name, rate in sides.items()
        },
    }


def read_results(path: Path) -> list[dict]:
    """The lines of a results file; none when there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def markdown(lines: list[dict]) -> str:
    """The results as a table."""
    table = ["| agent | against | games | score % | as Detective % | as Jack % |"]
    table.append("|---|---|---:|---:|---:|---:|")
    for line in lines:
        shares = [
            "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * x for x in line[name]))
            for name in ("score", "as_detective", "as_jack")
        ]
        row = [line["agent"], line["against"], str(line["games"]), *shares]
        table.append(f"| {' | '.join(row)} |")
    return "\n".join(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--games", type=int, default=400, help="games a comparison; half as many on a clock"
    )
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--milliseconds", type=int, default=5)
    parser.add_argument(
        "--match", nargs=2, metavar="AGENT", help="play and record the match of these two only"
    )
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="comparisons that hold a text")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--markdown", action="store_true", help="print the table only")
    options = parser.parse_args()
    try:
        return run(options)
    except MrJackError as error:
        print(f"tune.py: {error}", file=sys.stderr)
        return 2


def run(options: argparse.Namespace) -> int:
    """What the options ask for."""
    known = read_results(options.out)
    if options.markdown:
        print(markdown(known))
        return 0
    done = {identity(line) for line in known}
    if options.match:
        wanted = [Comparison(*options.match, options.games)]
    else:
        wanted = comparisons(options.simulations, options.milliseconds, options.games)
    todo = [
        comparison
        for comparison in wanted
        if identity(start_line(comparison, options.seed)) not in done
        and (options.only is None or any(text in comparison.agent for text in options.only))
    ]
    for number, comparison in enumerate(todo, start=1):
        try:
            line = play(comparison, options.seed, options.workers)
        except KeyboardInterrupt:
            print("stopped; the same command carries on", file=sys.stderr)
            return 130
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{number} of {len(todo)}: {markdown([line]).splitlines()[-1]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
