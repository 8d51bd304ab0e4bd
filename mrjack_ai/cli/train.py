"""The command `mrjack train`."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from mrjack_ai.cli.console import progress_bar
from mrjack_ai.cli.options import AGENT, Command, Number, Options, seed_option, workers_option
from mrjack_ai.training import FitSettings, SelfPlay, train
from mrjack_ai.training.train import RECORD_FILE, WEIGHTS_FILE


def _train(options: Options) -> int:
    def report(epoch: int, measured: dict[str, float]) -> None:
        figures = ", ".join(f"{name} {value:.4f}" for name, value in measured.items())
        print(f"epoch {epoch}: {figures}", file=sys.stderr)

    with progress_bar() as advance:
        record = train(
            options.folder,
            options.games,
            SelfPlay(options.agent, options.seed),
            FitSettings(options.seed),
            workers=options.workers,
            commands=(shlex.join(["mrjack", *options.command_line]),),
            progress=advance,
            report=report,
        )
    print(
        f"{record['positions']} positions of {record['games']} games: loss "
        f"{record['test_loss']:.4f} nats on games kept apart, "
        f"{record['loss_without_features']:.4f} without looking at the position"
    )
    print(f"the weights are in {options.folder}/{WEIGHTS_FILE}, their record in {RECORD_FILE}")
    return 0


@click.command("train", cls=Command)
@click.argument("folder", metavar="FOLDER")
@click.option(
    "--agent",
    type=AGENT,
    default=SelfPlay.agent,
    show_default=True,
    help="plays against itself",
)
@click.option(
    "--games",
    type=Number(1, 10**7),
    default=40_000,
    show_default=True,
    help=f"games to learn from; rounded up to a multiple of {SelfPlay.games_per_file}",
)
@seed_option
@workers_option
@click.pass_context
def command(context: click.Context, /, **values: Any) -> int:
    """Fit a value function to games of an agent against itself. FOLDER keeps the games, so that
    the same command carries on after a break, and in the end the weights, which searching agents
    use with eval=FOLDER/value.npz.
    """
    return _train(Options.of(context))
