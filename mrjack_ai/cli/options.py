"""What the commands share: kinds of options, options of several commands, and their meaning."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from itertools import islice
from types import SimpleNamespace
from typing import Any

import click

from mrjack_ai.common.numbers import RealNumbers, WholeNumbers
from mrjack_ai.errors import ArgumentError, MrJackError, NotationError
from mrjack_ai.game.notation import variant_of
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.board import built_in_boards, load_board
from mrjack_ai.setup.variant import (
    DEFAULT_VARIANT,
    FULL_CAST,
    PLAYER_NAMES,
    Variant,
    make_variant,
)
from mrjack_ai.tournament import MOST_GAMES, MOST_SEED, read_game

PERFT_START = "jack JS; deal SH,JW,JS,IL"
PLAY_AGAINST = "ismcts:time=500"

GAME_HELP = (
    "which game: of a results file its number in the schedule, as in the report and in messages, "
    "else its place in the file  [default: the first]"
)


class Options(SimpleNamespace):
    """The values of a command's options, and the words of the command line."""

    @classmethod
    def of(cls, context: click.Context) -> Options:
        """The options of a command that has been parsed; loads the files of --code.

        Raises:
            AgentError: when one of them cannot be loaded.
        """
        if context.params.get("code"):
            from mrjack_ai.agents import load_code

            for file in context.params["code"]:
                load_code(file)
        return cls(**context.params, command_line=context.obj, context=context)

    def over(self, described: Mapping[str, Any]) -> Options:
        """These options, where not given on the command line as `described`.

        Raises:
            click.UsageError: when a described value is none of its option.
        """
        words = dict(described)
        if "sprt" in words:
            words["sprt"] = words["sprt"].split()
        context: click.Context = self.context
        again = context.command.make_context(
            context.info_name, self.command_line[1:], context.parent, default_map=words
        )
        return Options.of(again)


# -- kinds of options ---------------------------------------------------------------------


class Number(click.ParamType):  # type: ignore[type-arg]
    """A whole number within bounds, which the help states."""

    name = "number"

    def __init__(self, least: int, most: int) -> None:
        self.numbers = WholeNumbers(least, most)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return str(self.numbers).replace(" to ", "..")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        name = param.opts[0] if param is not None else "number"
        try:
            if isinstance(value, str):
                return self.numbers.parse(value, name)
            return self.numbers.read(value, name)  # a default, or a value of a TOML file
        except ArgumentError as error:
            raise click.UsageError(str(error), ctx) from None


class RealNumber(click.ParamType):  # type: ignore[type-arg]
    """A finite number within bounds, which the help states."""

    name = "number"

    def __init__(self, numbers: RealNumbers) -> None:
        self.numbers = numbers

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        name = param.opts[0] if param is not None else "number"
        try:
            if isinstance(value, str):
                return self.numbers.parse(value, name)
            return self.numbers.read(value, name)
        except ArgumentError as error:
            raise click.UsageError(str(error), ctx) from None


class _Agent(click.ParamType):  # type: ignore[type-arg]
    """Specification of an agent; the shell completes its name."""

    name = "agent"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        from mrjack_ai.agents import agent_names

        item = click.shell_completion.CompletionItem
        return [item(name) for name in agent_names() if name.startswith(incomplete)]


class _Board(click.ParamType):  # type: ignore[type-arg]
    """A built-in board, which the shell completes, or the name of a file."""

    name = "board"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        item = click.shell_completion.CompletionItem
        names = [item(name) for name in built_in_boards() if name.startswith(incomplete)]
        return [*names, item(incomplete, type="file")]


AGENT, BOARD = _Agent(), _Board()


_UNFINISHED = "mrjack_ai.unfinished"
"""Key of a context's `meta`: the option with several values that a line to complete ends with."""


class _Many(click.Option):
    """An option with several values, as in `--agents greedy random`."""


class Command(click.Command):
    """A command whose `_Many` options take all the words up to the next option.

    Given twice, such an option counts the second time only, as every option does.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        many = {name for param in self.params if isinstance(param, _Many) for name in param.opts}
        rest: list[str] = []
        values: dict[str, list[str]] = {}
        place = 0
        while place < len(args):
            name, equals, value = args[place].partition("=")
            if args[place] == "--":
                break
            if name not in many:
                rest.append(args[place])
                place += 1
                continue
            place += 1
            found = [value] if equals else []
            while not equals and place < len(args) and not args[place].startswith("-"):
                found.append(args[place])
                place += 1
            if not found and ctx.resilient_parsing:  # the shell asks how the word could end
                rest.append(name)
            elif not found:
                raise click.UsageError(f"{name} needs at least one value", ctx)
            values[name] = found
            if ctx.resilient_parsing and found and place == len(args) and not equals:
                ctx.meta[_UNFINISHED] = next(p for p in self.params if name in p.opts)
        front = [word for name, words in values.items() for one in words for word in (name, one)]
        return super().parse_args(ctx, [*front, *rest, *args[place:]])

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        option = ctx.meta.get(_UNFINISHED)
        if option is not None and not incomplete.startswith("-"):
            found: list[click.shell_completion.CompletionItem] = option.shell_complete(
                ctx, incomplete
            )
            return found
        return super().shell_complete(ctx, incomplete)


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def many_option(name: str, **words: Any) -> Decorator:
    """An option of a `Command` that takes several values; None when not given."""
    return click.option(
        name, cls=_Many, multiple=True, callback=lambda ctx, param, value: value or None, **words
    )


# -- options of several commands ----------------------------------------------------------


def _all_of(*decorators: Decorator) -> Decorator:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


code_option = click.option(
    "--code",
    multiple=True,
    callback=lambda ctx, param, files: list(files),
    metavar="FILE",
    help="Python file that registers agents of your own; can be given several times",
)
seed_option = click.option(
    "--seed", type=Number(0, MOST_SEED), default=1, show_default=True, help="seed"
)
workers_option = click.option(
    "--workers", type=Number(1, 1024), default=1, show_default=True, help="processes"
)
game_option = click.option("--game", type=Number(1, MOST_GAMES), help=GAME_HELP)
COLOR = ("auto", "always", "never")
drawing_options = _all_of(
    click.option("--color", type=click.Choice(COLOR), default="auto", show_default=True),
    click.option("--ascii", is_flag=True, help="plain ASCII characters only"),
)
variant_options = _all_of(
    click.option(
        "--board",
        type=BOARD,
        metavar="BOARD",
        default="whitechapel",
        show_default=True,
        help=f"built-in board ({', '.join(built_in_boards())}) or board file",
    ),
    click.option(
        "--cast", default="+".join(FULL_CAST), show_default=True, help="2, 4 or 8 characters"
    ),
    click.option("--turns", type=Number(1, 8), default=8, show_default=True, help="1 to 8"),
    click.option(
        "--first",
        type=click.Choice(PLAYER_NAMES),
        default="detective",
        show_default=True,
        help="who plays first on odd turns",
    ),
)


# -- what they mean -----------------------------------------------------------------------


def option_variant(options: Options) -> Variant:
    return make_variant(options.board, options.cast, options.turns, options.first)


def position_state(options: Options, default_actions: str) -> State:
    """The state that --position, --actions and the variant options describe."""
    if options.position is not None and options.actions is not None:
        raise NotationError("--position and --actions exclude each other")
    if options.position is not None:
        return _typed_position(options.position, options)
    state = new_game(option_variant(options))
    actions = options.actions
    if actions is None and state.variant.is_default():
        actions = default_actions
    for action in (actions or "").split(";"):
        if action.strip():
            state.apply_action(action)
    return state


def _typed_position(text: str, options: Options) -> State:
    """A position text says its variant itself, but for a board of the user's own."""
    board = load_board(options.board)
    return State(text, variant_of(text, None if board == DEFAULT_VARIANT.board else board))


def uses_color(options: Options) -> bool:
    return options.color == "always" or (
        options.color == "auto" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    )


def uses_unicode(options: Options) -> bool:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return not options.ascii and encoding == "utf8"


def moment(options: Options) -> State:
    what = options.what
    if what is None or ("=" in what and not os.path.exists(what)):
        if options.at is not None or options.game is not None:
            raise NotationError("--at and --game need a file of records")
        return new_game(option_variant(options)) if what is None else _typed_position(what, options)
    record = read_game(what, options.game)
    at: int = len(record.actions) if options.at is None else options.at
    if not 0 <= at <= len(record.actions):
        raise NotationError(f"--at {at} must be from 0 to {len(record.actions)}")
    try:
        return next(islice(record.states(), at, None))
    except MrJackError as error:
        raise type(error)(f"{what}: {error}") from None
