"""The commands `mrjack lab solve`, `lab strategy` and `lab exploit`."""

from __future__ import annotations

import os
import sys
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from mrjack_ai.cli.console import TABLE_STYLE, identities_text, progress_bar
from mrjack_ai.cli.options import (
    AGENT,
    Command,
    Number,
    Options,
    RealNumber,
    code_option,
    seed_option,
)
from mrjack_ai.common.numbers import RealNumbers
from mrjack_ai.common.text import listed, shown
from mrjack_ai.errors import EXIT_INTERRUPTED, LabError
from mrjack_ai.game.actions import action_space
from mrjack_ai.lab.agent_policies import SideExploitability, exploit
from mrjack_ai.lab.expansion import PublicNode
from mrjack_ai.lab.information_states import complete, private_cards
from mrjack_ai.lab.miniatures import MINIATURES, miniature
from mrjack_ai.lab.solution import Progress, Solution, checkpoint_of, describe, solve
from mrjack_ai.lab.solver import METHODS, RANGE
from mrjack_ai.render.facts import SIDES
from mrjack_ai.setup.variant import PLAYER_NAMES, Player

_LEAST_SHOWN = 0.0005


@click.group("lab", no_args_is_help=False, invoke_without_command=False)
def command() -> None:
    """Solve a variant that is small enough, read its solution, and measure how exploitable an
    agent is there.
    """


variant_option = click.option(
    "--variant",
    type=click.Choice(list(MINIATURES)),
    default="micro",
    show_default=True,
    help="which miniature",
)


# -- solve --------------------------------------------------------------------------------


def _print_progress(row: Progress) -> None:
    found = row.exploitability
    if row.first:
        tree = row.solver.evaluator.tree
        print(
            f"{tree.histories} histories, {len(tree.nodes)} public nodes, "
            f"{_memory(row.solver.bytes)} of memory"
        )
        print(f"{'iterations':>9} {'seconds':>8} {'value':>10} {'NashConv':>12} {'of range':>11}")
    print(
        f"{row.iterations:>9} {row.seconds:>9.1f} {found.value:>+10.6f} {found.nash_conv:>12.3e} "
        f"{100 * found.nash_conv / RANGE:>9.4f} %",
        flush=True,
    )


@command.command("solve", cls=Command)
@variant_option
@click.option("--out", metavar="FILE", help="where the solution goes; with it the work can resume")
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="pcfr+",
    show_default=True,
    help="kind of regret minimisation",
)
@click.option(
    "--target",
    type=RealNumber(RealNumbers(0, 1)),
    default=1e-4,
    show_default=True,
    help="stop when the NashConv is this share of the range of returns",
)
@click.option(
    "--iterations",
    type=Number(1, 10**9),
    default=100_000,
    show_default=True,
    help="most iterations",
)
@click.option(
    "--threads",
    type=Number(1, 256),
    default=os.cpu_count() or 1,
    help="threads  [default: as many as processors]",
)
@click.pass_context
def _solve(context: click.Context, /, **values: Any) -> int:
    """Solve a miniature by regret minimisation along its public tree.

    Prints how exploitable the average policy is on the way. With --out the same command goes on
    where it was interrupted.
    """
    options = Options.of(context)
    variant = miniature(options.variant)
    if options.out is not None and checkpoint_of(options.out).exists():
        print(f"going on from {checkpoint_of(options.out)}")
    try:
        solution = solve(
            variant,
            options.out,
            method=options.method,
            target=options.target,
            iterations=options.iterations,
            threads=options.threads,
            progress=_print_progress,
        )
    except KeyboardInterrupt:
        if options.out is None:
            raise
        print(f"interrupted; the same command with --out {options.out} goes on", file=sys.stderr)
        return EXIT_INTERRUPTED
    value, conv = solution.course[-1][2:]
    print(f"value to the Detective {value:+.6f}, each player's gain by deviating {conv / 2:.2e}")
    if options.out is not None:
        print(f"the solution is in {options.out}")
    return 0


def _memory(size: int) -> str:
    """A number of bytes as a person would say it."""
    return f"{size / 1e6:.1f} MB" if size < 1e9 else f"{size / 1e9:.2f} GB"


# -- strategy -----------------------------------------------------------------------------


def _node_after(solution: Solution, text: str) -> int:
    """The public node after actions, separated by semicolons; witnesses' answers as `seen`."""
    tree = solution.tree
    at = 0
    words = [word.strip() for word in text.split(";") if word.strip()]
    for place, word in enumerate(words):
        if word in ("seen", "not seen"):
            continue
        names = {child: _edge(solution, at, child) for child in tree.children(at)}
        fitting = [child for child, name in names.items() if name == word]
        if not fitting:
            known = listed(dict.fromkeys(names.values())) or "nothing: the game is over"
            raise LabError(f"{shown(word)} cannot follow here; possible are {known}")
        if len(fitting) > 1:
            answer = words[place + 1] if place + 1 < len(words) else ""
            if answer not in ("seen", "not seen"):
                raise LabError(
                    f"witnesses are called after {word!r}: go on with 'seen' or 'not seen'"
                )
            fitting = [c for c in fitting if bool(tree.nodes[c]["seen"]) == (answer == "seen")]
        at = fitting[0]
    return at


def _edge(solution: Solution, at: int, child: int) -> str:
    """Text of the action or deal that leads to a child."""
    tree, space = solution.tree, action_space(solution.variant)
    kind, action = int(tree.nodes[at]["kind"]), int(tree.nodes[child]["action"])
    if kind == PublicNode.CARDS_DEALT:
        return space.outcome_names["deal"][action]
    if kind == PublicNode.CARD_DRAWN:
        return "alibi"
    return space.names[action]


def _print_strategy(solution: Solution, at: int) -> None:
    tree, node = solution.tree, solution.tree.nodes[at]
    cast = solution.variant.cast
    kind = int(node["kind"])
    print(f"Turn {int(node['turn'])}, witness card: {'seen' if node['seen'] else 'not seen'}")
    possible = [code for seat, code in enumerate(cast) if int(node["identities"]) >> seat & 1]
    print(f"Jack can be: {', '.join(possible)}")
    draws = int(node["draws"][Player.DETECTIVE])
    for held in range(tree.private_states(Player.DETECTIVE, draws)):
        cards = [cast[seat] for seat in private_cards(tree, Player.DETECTIVE, draws, held)]
        belief = solution.belief(at, held)
        if belief.sum() == 0:
            continue
        knowing = f" who holds {'+'.join(cards)}" if cards else ""
        print(f"The Detective{knowing} believes: {identities_text(solution.variant, belief)}")
    if kind == PublicNode.CARDS_DEALT:
        print(f"Next: {', '.join(_edge(solution, at, child) for child in tree.children(at))}")
        return
    if kind not in (PublicNode.DETECTIVE_DECIDES, PublicNode.JACK_DECIDES):
        ends = "the game is over" if kind >= PublicNode.ACCUSED else "an alibi card is drawn"
        print(f"Next: {ends}")
        return
    _print_choices(solution, at, kind)


def _print_choices(solution: Solution, at: int, player: int) -> None:
    tree, node, cast = solution.tree, solution.tree.nodes[at], solution.variant.cast
    draws = int(node["draws"][player])
    table = Table(title=f"What {SIDES[player]} plays", **TABLE_STYLE)
    table.add_column("action")
    columns = []
    for private in range(tree.private_states(player, draws)):
        if complete(tree, at, private) is None:
            continue
        cards = [cast[seat] for seat in private_cards(tree, player, draws, private)]
        if player == Player.JACK:
            name = f"as {cards[0]}" + (f" holding {'+'.join(cards[1:])}" if cards[1:] else "")
        else:
            name = f"holding {'+'.join(cards)}" if cards else "probability"
        table.add_column(name, justify="right")
        columns.append(solution.probabilities(at, private))
    shares = np.array(columns)
    names = action_space(solution.variant).names
    for slot, action in enumerate(solution.actions(at).tolist()):
        if shares[:, slot].max() < _LEAST_SHOWN:
            continue
        table.add_row(names[action], *(f"{100 * share:.1f} %" for share in shares[:, slot]))
    Console().print(table)


@command.command("strategy", cls=Command)
@click.argument("file", metavar="FILE")
@click.argument("position", metavar="[POSITION]", default="")
def _strategy(file: str, position: str) -> int:
    """What both players of a solution do in a position: each identity's mixture of actions, and
    what the Detective believes.

    POSITION is what has happened since Jack's card was drawn, separated by semicolons: "deal
    JS,IL; pick JS; move b2". A call for witnesses is answered by "seen" or "not seen".
    """
    solution = Solution.load(file)
    print(f"Solution of {describe(solution.variant)}, {solution.method}, ", end="")
    print(f"{solution.iterations} iterations, NashConv {solution.course[-1][3]:.2e}")
    _print_strategy(solution, _node_after(solution, position))
    return 0


# -- exploit ------------------------------------------------------------------------------


def _row(found: SideExploitability, value: float) -> list[str]:
    """A row of the table: returns of the agent, whose worst case is the opponent's best."""
    fair = value if found.player == Player.DETECTIVE else -value
    low, high = -found.high, -found.low
    worst = f"{low:+.4f}" if low == high else f"{low:+.4f} to {high:+.4f}"
    loss = f"{fair - low:.4f}" if low == high else f"{fair - high:.4f} to {fair - low:.4f}"
    how = "told its policy" if found.samples == 0 else f"asked {found.samples} times each"
    return [SIDES[found.player], f"{fair:+.4f}", worst, loss, f"{found.asked}, {how}"]


@command.command("exploit", cls=Command)
@click.argument("agent", type=AGENT, metavar="AGENT")
@variant_option
@click.option("--side", type=click.Choice(PLAYER_NAMES), help="one side only")
@click.option(
    "--samples",
    type=Number(2, 10_000),
    default=16,
    show_default=True,
    help="how often an agent is asked that does not tell its policy; even",
)
@seed_option
@click.option("--solution", metavar="FILE", help="solution of the miniature, for its value")
@code_option
@click.pass_context
def _exploit(context: click.Context, /, **values: Any) -> int:
    """The exact best response to an agent on a miniature: what the agent is left with against an
    opponent who knows how it plays.
    """
    options = Options.of(context)
    variant = miniature(options.variant)
    if options.solution is None:
        solution = solve(variant, target=1e-4)
    else:
        solution = Solution.load(options.solution)
        if solution.variant != variant:
            raise LabError(f"{options.solution!r} is no solution of {options.variant}")
    value = float(solution.course[-1][2])
    players = (Player.DETECTIVE, Player.JACK)
    if options.side is not None:
        players = (PLAYER_NAMES.index(options.side),)  # type: ignore[assignment]
    with progress_bar() as advance:
        found = exploit(
            solution.tree, options.agent, options.samples, options.seed, players, advance
        )
    table = Table(title=f"{options.agent} on {options.variant}", **TABLE_STYLE)
    for name in ("side", "value of the game", "against the best response", "loss", "asked"):
        table.add_column(name, justify="left" if name in ("side", "asked") else "right")
    for side in found:
        table.add_row(*_row(side, value))
    Console().print(table)
    if len(found) == 2:
        low, high = sum(side.low for side in found), sum(side.high for side in found)
        text = f"{high:.4f}" if low == high else f"from {low:.4f} to {high:.4f}"
        print(f"NashConv {text} (returns from -1 to 1; 0 at an equilibrium)")
    return 0
