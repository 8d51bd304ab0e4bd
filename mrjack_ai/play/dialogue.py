"""What is said to the human at his decisions, and what his answers do; no input or output here."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mrjack_ai.agents import analyse, make_agent
from mrjack_ai.agents.search import SearchAgent
from mrjack_ai.common.files import reason_of, write_whole
from mrjack_ai.common.text import shown
from mrjack_ai.errors import AgentError, MrJackError, RecordError
from mrjack_ai.game.actions import action_space
from mrjack_ai.game.belief import identity_probabilities
from mrjack_ai.game.observation import Observation
from mrjack_ai.play.choices import Menu, NoMatchError, completions, match, text_of
from mrjack_ai.play.session import Session
from mrjack_ai.render import phrases
from mrjack_ai.render.actions import EXPLANATIONS, named
from mrjack_ai.render.facts import PLAYERS, SIDES
from mrjack_ai.render.terminal import board_text, board_width, describe
from mrjack_ai.setup.characters import KIND_BY_CODE

DEFAULT_HINT = "ismcts:sims=2000"
"""Agent that gives hints where the opponent does not search."""

_BEST = 4
"""Actions shown by a hint."""
_LONG_MENU = 12
"""From so many answers on a menu is set in columns."""
_WIDEST_TEXT = 100


@dataclass(frozen=True)
class Drawing:
    """How to draw.

    Attributes:
        color: with ANSI escape codes.
        unicode: with more than ASCII.
        width: asked for the columns of the terminal.
    """

    color: bool = False
    unicode: bool = True
    width: Callable[[], int] = lambda: 120


def hint_agent(wanted: str | None, opponent: str) -> str:
    """Specification of the agent that gives hints.

    Args:
        wanted: what the human asked for, or None.
        opponent: the agent he plays against.

    Raises:
        AgentError: when the agent asked for does not search, or would need to see the secrets.
    """
    spec = opponent if wanted is None else wanted
    agent = make_agent(spec)
    if isinstance(agent, SearchAgent) and not type(agent).cheats:
        return spec
    if wanted is not None:
        raise AgentError(
            f"agent {wanted!r} cannot give hints; it takes one that searches with what you know, "
            f"as {DEFAULT_HINT}"
        )
    return DEFAULT_HINT


class Dialogue:
    """The talk with the human during one game.

    Args:
        session: the game.
        drawing: how to draw.
        hints: agent that gives hints, see `hint_agent`.
        file: where the game is saved after every action; None for nowhere yet.
        code: files of agents that must be given again to carry on.

    Attributes:
        finished: True once the human has left.
    """

    def __init__(
        self,
        session: Session,
        drawing: Drawing | None = None,
        hints: str = DEFAULT_HINT,
        file: Path | None = None,
        code: Sequence[str] = (),
    ) -> None:
        self.session = session
        self.drawing = drawing or Drawing()
        self.hints = hints
        self.file = file
        self.code = tuple(code)
        self.finished = False
        self._menus: list[Menu] = []
        self._shown = 0
        self._commands: dict[str, Callable[[str], str]] = {
            "help": self._help,
            "board": lambda _: self.board(),
            "facts": lambda _: self._facts(),
            "story": lambda _: "\n".join(map(self._wrap, self.session.story.lines)),
            "names": lambda _: self._paragraphs(phrases.names_text(self.session.variant)),
            "actions": self._actions,
            "hint": lambda _: self._hint(),
            "undo": lambda _: self._undo(),
            "back": lambda _: self._back(),
            "save": self._save,
            "quit": lambda _: self._quit(),
        }

    # -- what is shown --------------------------------------------------------------------

    def greeting(self) -> str:
        """Said once at the start."""
        session = self.session
        return self._wrap(
            f"{phrases.side_text(session.human)} {session.opponent} plays "
            f"{PLAYERS[1 - session.human]}"
            + (", and looks at what it may not know" if session.agent_sees else "")
            + ". Type `help` for the rules and the commands."
        )

    def news(self) -> str:
        """What happened since the human last looked."""
        lines = self.session.story.lines
        text = "\n".join(map(self._wrap, lines[min(self._shown, len(lines)) :]))
        # A play in progress goes on in its line, which is shown again.
        self._shown = len(lines) - (self.session.view().playing is not None)
        return text

    def screen(self) -> str:
        """The board, the news and the menu, at a decision of the human."""
        self._menus = []
        return "\n\n".join(text for text in (self.board(), self.news(), self.menu_text()) if text)

    def board(self) -> str:
        """The board as the human knows it, or only its facts where the terminal is too narrow."""
        view, drawing = self.session.view(), self.drawing
        width = drawing.width()
        if width < board_width(view):
            needed = f"(The board needs {board_width(view)} columns; this terminal has {width}.)"
            return self._facts() + "\n" + self._wrap(needed)
        return board_text(view, color=drawing.color, unicode=drawing.unicode, width=width)

    def prompt(self) -> str:
        """What stands before the human's input."""
        menu = self._menu
        # At a node with one kind of action the word is plain from the question.
        path = text_of(menu.path) if len(self._menus) > 1 else ""
        return f"{SIDES[self.session.human]} {path}".rstrip() + "> "

    def completions(self, typed: str) -> list[str]:
        """How the human's input could go on, as whole lines."""
        menu = self._menu
        found = completions(self.session.view(), typed, menu.path)
        found += [name for name in phrases.COMMANDS if name.startswith(typed) and name != typed]
        if typed.startswith("help "):
            topics = phrases.help_topics(self.session.variant)
            found += [line for line in (f"help {t}" for t in topics) if line.startswith(typed)]
        return list(dict.fromkeys(found))

    def menu_text(self) -> str:
        """The question and the answers to choose from."""
        menu, view = self._menu, self.session.view()
        answers = menu.next_words()
        title = self._question(menu, view)
        if not answers:
            what = EXPLANATIONS[menu.path[0]].meaning
            if menu.path[0] == "pick":
                code = menu.path[1]
                what = f"{KIND_BY_CODE[code].name}: {phrases.character_text(code)}"
            return f"{title}\n" + self._wrap(f"  1  {text_of(menu.path)}  {what}", 5)
        labels = [self._label(menu, view, word) for word in answers]
        numbers = _numbers(answers)
        number = max(map(len, numbers))
        rows = [f"  {at:>{number}}  {text}" for at, text in zip(numbers, labels, strict=True)]
        if len(rows) >= _LONG_MENU:
            rows = self._columns(rows)
        return "\n".join([title, *(self._wrap(row, number + 4) for row in rows)])

    def _columns(self, cells: list[str]) -> list[str]:
        width = max(map(len, cells))
        columns = max(1, min(_WIDEST_TEXT, self.drawing.width() - 1) // width)
        height = -(-len(cells) // columns)
        rows = ("".join(f"{cell:<{width}}" for cell in cells[row::height]) for row in range(height))
        return [row.rstrip() for row in rows]

    def _question(self, menu: Menu, view: Observation) -> str:
        if menu.path:
            questions = EXPLANATIONS[menu.path[0]].questions
            at = len(menu.path) - 1
            asked = questions[at] if at < len(questions) else "Only this is possible:"
            if menu.path[0] == "pick":
                left = view.remaining_plays(view.player)
                more = f" You play {left} cards this turn, this one included." if left > 1 else ""
                return self._wrap(f"{asked}{more}")
            if menu.path[0] == "whistle" and at == 0 and view.whistle_steps:
                asked += f" Steps left: {view.whistle_steps}."
            return self._wrap(f"{view.playing}, {text_of(menu.path)}: {asked}")
        code = view.playing or ""
        what = f"{named(code)} {phrases.character_text(code)}."
        if view.has_moved:
            what += " He has moved." if code != "MS" else " She has moved."
        elif KIND_BY_CODE[code].ability and not view.ability_open:
            what += " The ability has been used."
        return self._wrap(f"{what} What now?")

    def _label(self, menu: Menu, view: Observation, word: str) -> str:
        count = menu.count(word)
        if not menu.path:
            ways = "" if count == 1 else f" ({count} ways)"
            one = menu.choose(view, word)
            shown = text_of(one.path) if count == 1 else word
            return f"{shown}  {EXPLANATIONS[word].meaning}{ways}"
        kind, at = menu.path[0], len(menu.path)
        if kind == "pick":
            return f"{word}  {KIND_BY_CODE[word].name}: {phrases.character_text(word)}"
        if kind in ("accuse", "swap", "whistle") and at == 1:
            suspect = "suspect" if word in view.candidates() else "not Jack"
            if word == view.identity:
                suspect = "Jack"
            return f"{word}  {KIND_BY_CODE[word].name} on {view.positions[word]}, {suspect}"
        if kind in ("move", "whistle") and at == (1 if kind == "move" else 2):
            return f"{word} lit  " if word in view.lit_hexes() else f"{word}  "
        if word.isdecimal():
            return "step" if word == "1" else "steps"
        if kind == "lamp" and view.lit_gaslights.get(word) is not None:
            return f"{word} (number {view.lit_gaslights[word]})"
        return f"{word}  "

    def _wrap(self, text: str, indent: int = 2) -> str:
        width = max(30, min(_WIDEST_TEXT, self.drawing.width() - 1))
        return textwrap.fill(
            text,
            width,
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
            replace_whitespace=False,
            drop_whitespace=True,
        )

    # -- what is answered -----------------------------------------------------------------

    @property
    def _menu(self) -> Menu:
        if not self._menus:
            self._menus = [Menu.of(self.session.view())]
        return self._menus[-1]

    def answer(self, line: str) -> tuple[str, bool]:
        """Do what the human typed.

        Args:
            line: his input.

        Returns:
            What to say, and whether the position has changed.
        """
        line = line.strip()
        if line == "?" or line.startswith("?"):
            line = f"help {line[1:].strip()}".strip()
        word, _, rest = line.partition(" ")
        if word.lower() in self._commands:
            before = self.session.state.move_number()
            try:
                text = self._commands[word.lower()](rest.strip())
            except MrJackError as error:
                text = self._wrap(str(error))
            changed = self.session.state.move_number() != before
            if changed:
                self._menus = []
            return text, changed
        try:
            return self._choose(line)
        except NoMatchError as error:
            close = [name for name in self._commands if len(word) > 1 and name.startswith(word)]
            if len(close) == 1:
                return self.answer(f"{close[0]} {rest}".strip())
            return self._wrap(f"{error}. `help` lists the commands."), False

    def _choose(self, line: str) -> tuple[str, bool]:
        menu, view = self._menu, self.session.view()
        answers = menu.next_words()
        numbers = _numbers(answers) or ("1",)
        if not line:
            if len(numbers) > 1:
                return self.menu_text(), False
            line = numbers[0]
        if line.isdecimal():  # hexes and codes begin with a letter
            if line not in numbers:
                known = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else numbers[0]
                return self._wrap(f"There is no answer {line}; answer {known}."), False
            chosen = menu.choose(view, answers[numbers.index(line)]) if answers else menu
        else:
            chosen = Menu.of(view, match(view, line, menu.path))
        if len(chosen.ids) > 1:
            self._menus.append(chosen)
            return self.menu_text(), False
        (action,) = chosen.ids
        self.session.choose(action)
        self._menus = []
        return "", True

    # -- commands -------------------------------------------------------------------------

    def _help(self, topic: str) -> str:
        topics = phrases.help_topics(self.session.variant)
        if not topic:
            parts = [phrases.side_text(self.session.human)]
            parts += [topics[name] for name in ("goal", "turn", "witness", "winning", "typing")]
            parts.append("Commands:\n" + topics["commands"])
            parts.append(f"More: `help TOPIC` with one of {', '.join(topics)}.")
            return "\n\n".join(map(self._paragraphs, parts))
        found = [name for name in topics if name.startswith(topic.lower())]
        code = topic.upper()
        if code in self.session.variant.cast:
            return self._wrap(f"{named(code)} {phrases.character_text(code)}.")
        kinds = [kind for kind in EXPLANATIONS if kind.startswith(topic.lower())]
        if not found and kinds:
            return "\n".join(f"{kind}: {EXPLANATIONS[kind].meaning}" for kind in kinds)
        if len(found) != 1:
            known = ", ".join(topics)
            return self._wrap(f"There is no help on {shown(topic)}; topics are {known}.")
        return self._paragraphs(topics[found[0]])

    def _paragraphs(self, text: str) -> str:
        return "\n".join(self._wrap(line, 4) for line in text.split("\n"))

    def _facts(self) -> str:
        view = self.session.view()
        seen = view.visible()
        hidden = [code for code in view.variant.cast if code not in seen]
        mine = ", ".join(view.alibis(view.player)) or "none"
        return "\n".join(
            [
                *describe(view),
                "",
                self._wrap(f"Alibi cards you drew: {mine}"),
                self._wrap(
                    f"Could be seen now: {phrases.listed(seen)}; not: {phrases.listed(hidden)}"
                ),
            ]
        )

    def _actions(self, word: str) -> str:
        view = self.session.view()
        names = [view.action_to_string(action) for action in view.actions]
        chosen = [name for name in names if name.lower().startswith(word.lower())]
        if not chosen:
            return self._wrap(f"No legal action begins with {shown(word)}.")
        return "\n".join(self._columns([f"  {name}" for name in chosen]))

    def _hint(self) -> str:
        view = self.session.view()
        try:
            found = analyse(view, self.hints, self.session.seed)
        except Exception as error:  # anybody's agent can give hints
            raise AgentError(f"no hint: {self.hints} failed: {shown(error, 300)}") from error
        best = found.actions_frame()
        best = best[best.visits > 0].head(_BEST)
        lines = [f"{self.hints}, asked with what you know, likes best:"]
        space = action_space(view.variant)
        for name, share, value in zip(best.action, best.share, best.value, strict=True):
            action = space.actions[space.parse(name)]
            what = EXPLANATIONS[action.kind].meaning.partition(":")[0]
            text = f"{name} ({what}): {phrases.winning_share(value)}"
            lines.append(self._wrap(f"  {text}; {100 * share:.0f} % of its attention", 4))
        weights = identity_probabilities(view) if found.suspicion is None else found.suspicion
        pairs = sorted(zip(weights, view.variant.cast, strict=True), reverse=True)
        who = ", ".join(f"{code} {100 * weight:.0f} %" for weight, code in pairs if weight > 0.005)
        lead = "Jack may be" if view.identity is None else "To the Detective, Jack may be"
        lines.append(self._wrap(f"{lead}: {who}"))
        return "\n".join(lines)

    def _undo(self) -> str:
        self.session.undo()
        return "Taken back."

    def _back(self) -> str:
        if len(self._menus) <= 1:
            return self._wrap("This is the first menu; `undo` takes back a decision.")
        self._menus.pop()
        return self.menu_text()

    def _save(self, name: str) -> str:
        if not name:
            if self.file is None:
                raise RecordError("save where? type `save FILE`")
            self.keep()
        else:
            try:
                path = Path(name).expanduser()
                there = path != self.file and path.exists()
            except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: no such user
                raise RecordError(f"cannot save in {name!r}: {reason_of(error)}") from None
            if there:
                raise RecordError(f"{name!r} exists already; nothing is overwritten")
            write_whole(path, self.session.save_text())
            self.file = path
        return self._wrap(
            f"The game is in {self.file}, and is kept there after every action. Do not look into "
            "the file: it tells the secrets. To carry on: " + self.resume_command()
        )

    def _quit(self) -> str:
        self.finished = True
        return ""

    # -- files ----------------------------------------------------------------------------

    def keep(self) -> None:
        """Save the game where it is saved, if anywhere.

        Raises:
            MrJackError: when the file cannot be written.
        """
        if self.file is not None:
            write_whole(self.file, self.session.save_text())

    def resume_command(self) -> str:
        """The command that carries on with the saved game."""
        code = [word for file in self.code for word in ("--code", file)]
        return shlex.join(["mrjack", "play", "--resume", str(self.file), *code])


def _numbers(answers: Sequence[str]) -> tuple[str, ...]:
    """What is typed for each answer: its place, or itself where the answers are numbers."""
    if all(word.isdecimal() for word in answers):
        return tuple(answers)
    return tuple(str(place) for place in range(1, len(answers) + 1))


def unused_name(names: Iterable[str]) -> Path:
    """The first of some names that no file has.

    Raises:
        RecordError: when all are taken.
    """
    for name in names:
        if not Path(name).exists():
            return Path(name)
    raise RecordError("every name for the saved game is taken")
