"""The `mrjack` command: puts the commands together, each a module of its own."""

from __future__ import annotations

import difflib
import importlib
import io
import os
import sys
from collections.abc import Sequence

import click

from mrjack_ai.common.interrupts import Termination, termination_as_interrupt
from mrjack_ai.common.text import printable, shortened, shown
from mrjack_ai.errors import EXIT_BAD_INPUT, EXIT_INTERRUPTED, EXIT_TERMINATED, MrJackError
from mrjack_ai.version import RULES_VERSION, __version__

EXIT_FAILED = 1
_LONGEST = 400
"""Most characters of a message, besides the command's name and how to get help."""

_COMMANDS = {
    "tournament": "let agents play each other",
    "results": "show, export or recover the results of a tournament",
    "report": "write a results file as a web page",
    "deals": "write a file of deals",
    "ladder": "measure how strong the agents are",
    "train": "fit a value function to games of self-play",
    "perft": "count action sequences",
    "show": "draw a position or a moment of a record",
    "play": "play against an agent",
    "analyse": "what a searching agent thinks of a position",
    "replay": "check a file of records against the rules, or make a page of a game",
    "agents": "list the agents",
    "lab": "solve small variants, and measure agents against the solution",
    "bench": "measure the speed of this machine",
}
_EPILOG = """Completion by Tab: put eval "$(_MRJACK_COMPLETE=bash_source mrjack)" into ~/.bashrc, or
the same with zsh_source into ~/.zshrc; for fish, _MRJACK_COMPLETE=fish_source mrjack | source."""


class _LazyGroup(click.Group):
    """Imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(f"mrjack_ai.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0][:60], _COMMANDS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_COMMANDS)}"
            raise click.UsageError(f"unknown command {shown(args[0])}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, no_args_is_help=False, epilog=_EPILOG)
@click.version_option(
    __version__, message=f"mrjack_ai {__version__} (rules version {RULES_VERSION})"
)
def mrjack() -> None:
    """Play, check and study the board game Mr. Jack with AI agents."""


def parse_command(words: Sequence[str]) -> click.Context:
    """A parsed command line, not run; its `params` are the options.

    Raises:
        click.UsageError: for an unknown command, an unknown option or a wrong value.
    """
    top = click.Context(mrjack, info_name="mrjack", obj=list(words))
    name, command, rest = mrjack.resolve_command(top, list(words))
    assert command is not None
    return command.make_context(name, rest, top)


def _short(message: str) -> str:
    """A message on one line, cut where it is too long."""
    return shortened(printable(" ".join(message.split())), _LONGEST)


def _prepare_streams() -> None:
    """Survive closed streams, and characters that the terminal's encoding does not have."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - as long as we run
            setattr(sys, name, nowhere)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line without the program's name; by default `sys.argv`.

    Returns:
        Exit code: 0 success, 1 the output cannot be written, 2 bad input, 130 interrupted,
        143 interrupted by SIGTERM.
    """
    command_line = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_streams()
    name = "mrjack"
    termination = Termination()
    if command_line and command_line[0] in _COMMANDS:
        name = f"mrjack {command_line[0]}"
    try:
        with termination_as_interrupt() as termination:
            code = mrjack.main(command_line, "mrjack", standalone_mode=False, obj=command_line)
            sys.stdout.flush()
        if code == EXIT_INTERRUPTED and termination.seen:
            return EXIT_TERMINATED
        return int(code or 0)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx is not None else name
        message = _short(error.format_message())
        print(f"{path}: {message} (try {path} --help)", file=sys.stderr)
        return EXIT_BAD_INPUT
    except MrJackError as error:
        for note in getattr(error, "__notes__", ()):
            # The traceback of an agent, or what a program said: not our own text.
            print(printable(note, lines=True), file=sys.stderr)
        print(f"{name}: {_short(str(error))}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        print("interrupted", file=sys.stderr)
        return EXIT_TERMINATED if termination.seen else EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough, as with `mrjack show | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"{name}: cannot write the output: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED


if __name__ == "__main__":
    raise SystemExit(main())
