"""What happens in a game, what can be done and how the game is played, in plain words.

Everything is made from an `Observation`, so it cannot tell what the player may not know.
"""

from __future__ import annotations

from collections.abc import Iterable

from mrjack_ai.engine.layout import EVENT_ALIBI, EVENT_DEAL, EVENT_JACK, EVENT_WITNESS
from mrjack_ai.errors import ArgumentError
from mrjack_ai.game.actions import Action, action_space
from mrjack_ai.game.endings import ENDING_BY_NAME
from mrjack_ai.game.observation import Observation, event_text
from mrjack_ai.render.actions import deed, named
from mrjack_ai.render.facts import PLAYERS, SIDES
from mrjack_ai.setup.characters import KIND_BY_CODE, Ability
from mrjack_ai.setup.variant import DETECTIVE, Variant

ABILITY_TEXTS: dict[int, str] = {
    Ability.DRAW: "after moving, whoever plays him secretly draws an alibi card: "
    "that character is not Jack",
    Ability.AIM: "after moving, his lantern is aimed: it lights the straight line of streets "
    "in front of him",
    Ability.LAMP: "before or after moving, one lit gaslight is moved to a gaslight that is out",
    Ability.CORDON: "before or after moving, one cordon is moved to an exit that is open",
    Ability.NONE: "on her move she may cross buildings, gardens and gaslights; "
    "she must end on a street",
    Ability.WHISTLE: "before or after moving, he whistles one to three others nearer to him, "
    "3 steps in all",
    Ability.SWAP: "instead of moving he may swap places with any other character",
    Ability.COVER: "before or after moving, the cover of one manhole is moved to an open one",
}
"""The abilities (docs/rules.md sections 1 and 5), a line each."""


def capital(text: str) -> str:
    """A text with a capital first letter, the others left alone."""
    return text[:1].upper() + text[1:]


def listed(codes: Iterable[str]) -> str:
    """Codes, or `nobody`."""
    return ", ".join(codes) or "nobody"


def character_text(code: str) -> str:
    """A character's range and ability in one line."""
    kind = KIND_BY_CODE[code]
    return f"moves 1-{kind.range}; {ABILITY_TEXTS[kind.ability]}"


def winning_share(value: float) -> str:
    """A mean return from -1 to 1 as the share of games that are expected to be won."""
    return f"it expects to win {100 * (1 + value) / 2:.0f} in 100"


# -- what happened ------------------------------------------------------------------------


class Story:
    """What one player has seen happen, a line for each play, deal and call for witnesses.

    Args:
        player: whose story: 0 the Detective, 1 Jack.

    Attributes:
        lines: the lines so far; the last one grows while a card is being played.
    """

    def __init__(self, player: int) -> None:
        self.player = player
        self.lines: list[str] = []

    def copy(self) -> Story:
        """An independent copy."""
        copy = Story(self.player)
        copy.lines = list(self.lines)
        return copy

    def tell(self, before: Observation, after: Observation) -> None:
        """Add what happened between two observations that are one action or outcome apart."""
        space = action_space(after.variant)
        for code in after.events[len(before.events) :]:
            if code < EVENT_JACK:
                self._act(space.actions[code], before)
            elif code < EVENT_DEAL:
                self._identity(after)
            elif code < EVENT_ALIBI:
                self._turn(after)
            elif code < EVENT_WITNESS:
                self._alibi(event_text(space, code).split()[1], before)
            else:
                self._witness(before, after)
                if after.node == "pick":  # an even turn: its cards are not dealt
                    self._turn(after)

    def _act(self, action: Action, before: Observation) -> None:
        if action.kind == "pick":
            player = before.current_player()
            who = "You play" if player == self.player else f"{capital(PLAYERS[player])} plays"
            self.lines.append(f"{who} {named(str(action.arguments[0]))}:")
        else:
            words = [action.kind, *map(str, action.arguments)]
            code = before.playing or ""
            self._add(deed(words, code, before.positions, before.lit_gaslights).text)

    def _add(self, text: str) -> None:
        mark = " " if self.lines[-1].endswith(":") else "; "
        self.lines[-1] += mark + text

    def _identity(self, after: Observation) -> None:
        if after.identity is not None:
            self.lines.append(
                f"You are Jack, and Jack is {named(after.identity)}. Let nobody know."
            )
        else:
            self.lines.append("Jack has drawn his card; who he is, is for you to find out.")

    def _turn(self, after: Observation) -> None:
        self.lines.append(
            f"Turn {after.turn} of {after.variant.turns} begins. Cards: {listed(after.cards())}."
        )

    def _alibi(self, code: str, before: Observation) -> None:
        if code == "?":
            self._add("draws an alibi card and does not show it")
        else:
            self._add(f"draws the alibi of {named(code)}, who is not Jack; only you know")

    def _witness(self, before: Observation, after: Observation) -> None:
        new = [code for code in after.cleared() if code not in before.cleared()]
        seen = after.witness_seen
        why = "could not be seen" if seen else "could be seen"
        text = f"Witnesses of turn {before.turn}: Jack was {'seen' if seen else 'not seen'}. "
        if new:
            text += f"{listed(new)} {why}, and so {'is' if len(new) == 1 else 'are'} cleared."
        else:
            text += "That clears nobody new."
        text += f" May be Jack: {listed(after.candidates())}."
        if not seen:
            text += " Next turn Jack may escape."
        self.lines.append(text)
        gone = [hex for hex, number in before.lit_gaslights.items() if number == before.turn]
        # The action that ended the turn may have moved the tile.
        moved = after.events[len(before.events)]
        action = action_space(after.variant).actions[moved] if moved < EVENT_JACK else None
        if action is not None and action.kind == "lamp" and action.arguments[0] in gone:
            gone = [str(action.arguments[1])]
        for hex in gone:
            self.lines.append(f"Gaslight {before.turn}, on {hex}, goes out for good.")


def end_text(view: Observation, jack: str) -> str:
    """Who won and how.

    Args:
        view: what a player knows at the end.
        jack: who Jack was, now that everybody may know.

    Raises:
        ArgumentError: when the game goes on.
    """
    outcome = view.outcome()
    if outcome is None:
        raise ArgumentError("the game is not over")
    verdict = "You win" if outcome.winner == view.player else "You lose"
    return f"{verdict}: {ENDING_BY_NAME[outcome.ending].reason}. Jack was {named(jack)}."


# -- help ---------------------------------------------------------------------------------


def names_text(variant: Variant) -> str:
    """Codes, names and abilities of the cast."""
    return "\n".join(
        f"{code}  {KIND_BY_CODE[code].name}: {character_text(code)}." for code in variant.cast
    )


def _pattern(variant: Variant, turn: int) -> str:
    return ", ".join(SIDES[player] for player in variant.play_order(turn))


def help_topics(variant: Variant) -> dict[str, str]:
    """Help by topic.

    Args:
        variant: the variant; numbers of cards and turns are its own.
    """
    cards = variant.cards_per_turn
    return {
        "goal": (
            f"Jack is one of the {len(variant.cast)} characters, and only Jack's player knows "
            "which. Both players move all of them. The Detective wants to know who he is and "
            "to catch him; Jack wants to escape, or to stay unknown until dawn, after turn "
            f"{variant.turns}."
        ),
        "turn": (
            f"Each turn {cards} card{'s are' if cards > 1 else ' is'} played, each by one player: "
            f"on odd turns {_pattern(variant, 1)}; on even turns {_pattern(variant, 2)}. "
            "On an odd turn the cards are drawn at random, on an even turn the other half lies "
            "open. Playing a card: the character must move, and use the ability where it has one "
            "(only MS and WG may leave it); `names` lists them. A turn ends with the witnesses; "
            "then gaslight number 1 goes out in turn 1, and so on to 4."
        ),
        "moving": (
            "A character walks 1 to 3 street hexes (MS: 4), through others but onto a free hex. "
            "Buildings, gardens and gaslights stop all but MS. From an open manhole one step "
            "leads to any other open manhole; a covered one is plain street."
        ),
        "witness": (
            "A character can be seen next to a lit gaslight, in Watson's beam, or next to "
            "another character. After each turn Jack says whether he can be seen. If so, all "
            "who cannot be seen are cleared: they are not Jack. If not, all who can be seen "
            "are. The witness card shows the answer until the next call."
        ),
        "winning": (
            "The Detective wins by walking a character onto Jack's hex with `accuse`; accusing "
            "anybody else loses. Jack wins when he escapes: while the witness card shows "
            "`unseen`, his own character walks out of an exit without a cordon (never in turn "
            "1). He also wins when the last turn is over."
        ),
        "names": names_text(variant),
        "typing": (
            "Answer a menu with its number or word, Enter where there is one answer only, `back` "
            "to go up. Or type the action at once: `pick MS`, `move e5`, `lamp b2>f9`, `cordon "
            "NE>NW`, `cover c2>a5`, `swap JW`, `whistle MS h6 3` (who, where to, steps), `light "
            "NE`, `accuse JS`, `escape NW`. Short forms do (`m e5`, `w ms`, `pick holmes`), but "
            "`accuse` must be spelled out. Tab completes."
        ),
        "commands": COMMANDS_TEXT,
    }


COMMANDS = {
    "help": "help [TOPIC]: this, or a topic (also ?)",
    "board": "board: draw the board again",
    "facts": "facts: all you know, as text",
    "story": "story: everything that happened so far",
    "names": "names: the characters and what they can do",
    "actions": "actions [WORD]: every legal action, typed in full",
    "hint": "hint: let an agent look at your position, as far as you know it",
    "undo": "undo: take back your last decision, while the play goes on",
    "back": "back: one menu up",
    "save": "save [FILE]: keep the game there from now on, after every action; the file tells "
    "who Jack is to whoever reads it",
    "quit": "quit: leave; you are told how to carry on",
}
COMMANDS_TEXT = "\n".join(f"  {text}" for text in COMMANDS.values())


def side_text(player: int) -> str:
    """Which side one plays, and what it wants."""
    if player == DETECTIVE:
        return "You are the Detective: find out who Jack is, and catch him with `accuse`."
    return "You are Jack: stay unknown and get away, or hold out to the end."
