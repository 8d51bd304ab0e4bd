"""The command `mrjack analyse`."""

from __future__ import annotations

from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from mrjack_ai.agents import (
    analyse,
)
from mrjack_ai.cli.console import TABLE_STYLE, identities_text
from mrjack_ai.cli.options import (
    AGENT,
    Command,
    Number,
    Options,
    code_option,
    game_option,
    moment,
    seed_option,
    variant_options,
)
from mrjack_ai.setup.variant import DETECTIVE, PLAYER_NAMES
from mrjack_ai.tournament import MOST_GAMES


def _analyse(options: Options) -> int:
    analysis = analyse(moment(options), options.agent, options.seed)
    view, found = analysis.observation, analysis.statistics
    print(f"Turn {view.turn}, {PLAYER_NAMES[view.player]} to move, {view.node} node")
    print(f"Jack can be: {identities_text(view.variant, analysis.identity_probabilities)}")
    if analysis.suspicion is not None and not np.allclose(
        analysis.suspicion, analysis.identity_probabilities
    ):
        who = "by his plays" if view.player == DETECTIVE else "as everybody sees it, by his plays"
        print(f"  {who}: {identities_text(view.variant, analysis.suspicion)}")
    table = Table(title="Best actions", **TABLE_STYLE)
    table.add_column("action")
    for name in ("visits", "share", "value"):
        table.add_column(name, justify="right")
    for row in analysis.actions_frame().head(options.best).itertuples(index=False):
        value = f"{row.value:+.3f}" if row.visits else "-"
        table.add_row(row.action, str(row.visits), f"{100 * row.share:.1f} %", value)
    Console().print(table)
    print(f"Expected: {'; '.join(analysis.principal_variation)}")
    print(f"{found.simulations} simulations, {found.nodes} nodes, {analysis.seconds:.2f} s")
    return 0


@click.command("analyse", cls=Command)
@click.argument("what")
@click.option(
    "--agent",
    type=AGENT,
    metavar="AGENT",
    default="ismcts:sims=20000",
    show_default=True,
    help="an agent that searches",
)
@game_option
@click.option("--at", type=Number(0, MOST_GAMES), help="after the first N actions")
@seed_option
@click.option(
    "--best", type=Number(1, 10_000), default=10, show_default=True, help="how many actions to show"
)
@code_option
@variant_options
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Who can be Jack and how likely, the best actions with visits and values, and the line
    expected to follow, as the player to move sees the position: a position text or a moment
    in a file of games.
    """
    return _analyse(Options.of(context))
