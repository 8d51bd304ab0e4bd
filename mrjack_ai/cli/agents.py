"""The command `mrjack agents`."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console
from rich.table import Table

from mrjack_ai.agents import (
    agent_class,
    agent_names,
    agent_usage,
    register_all_installed,
)
from mrjack_ai.cli.console import (
    TABLE_STYLE,
)
from mrjack_ai.cli.options import (
    Command,
    Options,
    code_option,
)
from mrjack_ai.common.text import printable


def _agents(options: Options) -> int:
    table = Table(title="Agents", **TABLE_STYLE)
    for name in ("name", "parameters (default)", "how it plays"):
        table.add_column(name, overflow="fold")
    broken = register_all_installed()
    for name in agent_names():
        description = (agent_class(name).__doc__ or "").strip().partition("\n")[0]
        table.add_row(name, *map(printable, (agent_usage(name), description)))
    for name, why in broken.items():
        table.add_row(printable(name), "", f"cannot be used: {why}")
    Console(markup=False).print(table)
    return 0


@click.command("agents", cls=Command)
@code_option
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """List the agents and their parameters, those of code files and installed packages too."""
    return _agents(Options.of(context))
