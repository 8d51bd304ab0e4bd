"""Position text: one line that a person can read and type.

A position is a line of `name=value` words, in any order:

    node=pick turn=1 SH=g5 JW=a3:NE JS=g8 IL=e5 MS=i4 SG=m10 WG=e9 JB=i8
    lamps=b2:1,c7:3,f5,h8,k6:4,l11:2 covers=c2,l12 cordons=NE,SW witness=seen
    jack=JS cards=SH,JW,JS,IL dealt=SH,JW,JS,IL

| word | meaning | when it is left out |
|---|---|---|
| board, cast, turns, first | the variant; the board by its name | the standard game |
| node | jack, deal, pick, use, whistle, aim, alibi or terminal | pick |
| turn | number of the turn, 0 before Jack's card is drawn | 1 |
| SH, JW, ... | hex of a character; Watson's with the direction of his lantern | his start |
| lamps | lit gaslights, numbered tiles with their number | as at the start of that turn |
| covers, cordons | covered manholes, exits with a cordon | as at the start |
| witness | seen or unseen | seen |
| cleared | characters cleared by witnesses | none |
| jack | who Jack is | not drawn yet |
| alibis | cards drawn by the Detective / by Jack | `-/-` |
| dealt | cards dealt on the odd turn of this pair of turns | none |
| cards | cards of this turn not played to their end | none |
| using | character being played | none |
| moved, ability | `yes` when he has moved; `open` when his ability is still to be used | no |
| steps, whistled | steps of a whistle still to be spent, characters whistled | 0, none |
| exonerated | characters whose forced `stay` shows they are not Jack | none |
| accused, ending | end of the game: caught, wrong, escape or dawn | going on |

A board of your own is named only, so such a text is read together with its variant (give the
board a name that no built-in one has). Lists are joined by commas and `-` is the empty list. In
the text of an observation `?` stands for what the observer does not know; such text is for
reading and is not parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from mrjack_ai.common.numbers import WholeNumbers
from mrjack_ai.common.text import shown
from mrjack_ai.engine.layout import STATE_WORDS
from mrjack_ai.engine.tables import NO_SEAT, WHISTLE_STEPS
from mrjack_ai.engine.types import NODE_NAMES, EndingKind, NodeKind, Player, StateRecord, Words
from mrjack_ai.errors import ArgumentError, MrJackError, NotationError
from mrjack_ai.game.endings import ENDING_BY_NUMBER, ENDING_BY_WORD
from mrjack_ai.game.position import set_bits, state_record
from mrjack_ai.setup.board import DIRECTIONS, Board
from mrjack_ai.setup.characters import KIND_BY_CODE, Ability
from mrjack_ai.setup.variant import DEFAULT_VARIANT, MAX_TURNS, Variant, make_variant

_WORDS = ["board", "cast", "turns", "first", "node", "turn", "lamps", "covers", "cordons"]
_WORDS += ["witness", "cleared", "jack", "alibis", "dealt", "cards", "using", "moved", "ability"]
_WORDS += ["steps", "whistled", "exonerated", "accused", "ending"]


def variant_words(variant: Variant) -> list[str]:
    """The words of a position text that give the variant; none for the standard game."""
    words = []
    if variant.board != DEFAULT_VARIANT.board:
        words.append(f"board={variant.board.name}")
    if variant.cast != DEFAULT_VARIANT.cast:
        words.append(f"cast={'+'.join(variant.cast)}")
    if variant.turns != DEFAULT_VARIANT.turns:
        words.append(f"turns={variant.turns}")
    if variant.first != DEFAULT_VARIANT.first:
        words.append(f"first={variant.first}")
    return words


def _joined(names: Iterable[str]) -> str:
    return ",".join(names) or "-"


def position_text(variant: Variant, words: Words) -> str:
    """The text of a packed position, masked or not.

    Args:
        variant: the variant.
        words: `uint64`, at least `STATE_WORDS` of them.
    """
    s = state_record(words)
    board, cast = variant.board, variant.cast

    def codes(mask: int) -> str:
        return _joined(cast[seat] for seat in set_bits(mask))

    def alibis(player: int) -> str:
        known = [cast[seat] for seat in set_bits(s["drawn"][player])]
        return _joined(known + ["?"] * (int(s["draws"][player]) - len(known)))

    text = variant_words(variant)
    text += [f"node={NODE_NAMES[s['node']]}", f"turn={s['turn']}"]
    for seat, kind in enumerate(variant.kinds):
        light = f":{DIRECTIONS[s['light']]}" if kind.ability == Ability.AIM else ""
        text.append(f"{kind.code}={board.streets[s['position'][seat]]}{light}")
    numbers = {int(place): n + 1 for n, place in enumerate(s["tile_place"])}
    lamps = _joined(
        board.gaslights[lamp] + (f":{numbers[lamp]}" if lamp in numbers else "")
        for lamp in set_bits(s["lit"])
    )
    text.append(f"lamps={lamps}")
    text.append(f"covers={_joined(board.streets[hex] for hex in set_bits(s['covered']))}")
    text.append(f"cordons={_joined(board.exit_names[exit] for exit in set_bits(s['cordons']))}")
    text.append(f"witness={'seen' if s['seen'] else 'unseen'}")
    if s["cleared"]:
        text.append(f"cleared={codes(s['cleared'])}")
    if s["node"] != NodeKind.JACK:
        text.append(f"jack={'?' if s['jack'] == NO_SEAT else cast[s['jack']]}")
    if s["draws"].any():
        text.append(f"alibis={alibis(Player.DETECTIVE)}/{alibis(Player.JACK)}")
    if s["dealt"]:
        text.append(f"dealt={codes(s['dealt'])}")
    if s["remaining"]:
        text.append(f"cards={codes(s['remaining'])}")
    if s["seat"] != NO_SEAT:
        text.append(f"using={cast[s['seat']]}")
    if s["moved"]:
        text.append("moved=yes")
    if s["ability"]:
        text.append("ability=open")
    if s["steps"]:
        text.append(f"steps={s['steps']}")
    if s["whistled"]:
        text.append(f"whistled={codes(s['whistled'])}")
    if s["exonerated"]:
        text.append(f"exonerated={codes(s['exonerated'])}")
    if s["accused"] != NO_SEAT:
        text.append(f"accused={cast[s['accused']]}")
    if s["ending"] != EndingKind.NOT_ENDED:
        text.append(f"ending={ENDING_BY_NUMBER[int(s['ending'])].word}")
    return " ".join(text)


class _Parser:
    """Reads the words of a position text and complains by word."""

    def __init__(self, text: str) -> None:
        self.words: dict[str, str] = {}
        for word in text.split():
            name, equals, value = word.partition("=")
            if not equals or not value:
                raise NotationError(f"position text: {shown(word)} must read name=value")
            if name not in _WORDS and name not in KIND_BY_CODE:
                known = ", ".join([*_WORDS, *KIND_BY_CODE])
                raise NotationError(
                    f"position text: unknown word in {shown(word)}; known are {known}"
                )
            if name in self.words:
                raise NotationError(f"position text: {name!r} is given twice")
            if "?" in value:
                raise NotationError(
                    f"position text: {shown(word)} hides something; only a full position can be "
                    "read"
                )
            self.words[name] = value

    def fail(self, name: str, message: str) -> NotationError:
        word = shown(f"{name}={self.words[name]}") if name in self.words else name
        return NotationError(f"position text: {word}: {message}")

    def items(self, name: str) -> list[str]:
        value = self.words.get(name, "-")
        items = [] if value == "-" else value.split(",")
        if len(set(items)) != len(items):
            raise self.fail(name, "an item is listed twice")
        return items

    def number(self, name: str, default: int, low: int, high: int) -> int:
        numbers = WholeNumbers(low, high)
        try:
            return numbers.parse(self.words.get(name, str(default)), name)
        except ArgumentError:
            raise self.fail(name, f"must be a whole number from {numbers}") from None

    def choice(self, name: str, default: str, choices: Iterable[str]) -> str:
        value = self.words.get(name, default)
        if value not in choices:
            raise self.fail(name, f"must be one of {', '.join(choices)}")
        return value

    def index(self, name: str, item: str, index: dict[str, int], what: str) -> int:
        if item not in index:
            known = ", ".join(index) or "none"
            raise self.fail(name, f"{shown(item)} is {what}; known are {known}")
        return index[item]

    def mask(self, name: str, index: dict[str, int], what: str) -> int:
        return sum(1 << self.index(name, item, index, what) for item in self.items(name))

    def variant(self, board: Board | None = None) -> Variant:
        turns = self.number("turns", DEFAULT_VARIANT.turns, 1, MAX_TURNS)
        named = self.words.get("board", DEFAULT_VARIANT.board.name)
        try:
            return make_variant(
                board=named if board is None else board,
                cast=self.words.get("cast", DEFAULT_VARIANT.cast),
                turns=turns,
                first=self.words.get("first", DEFAULT_VARIANT.first),
            )
        except MrJackError as error:
            raise NotationError(f"position text: {error}") from None


def variant_of(text: str, board: Board | None = None) -> Variant:
    """The variant that a position text gives.

    Args:
        text: the text.
        board: the board; by default the text names a built-in one.

    Raises:
        NotationError: when the text is malformed or its words give no variant.
    """
    parser = _Parser(text)
    if board is not None:
        parser.words.pop("board", None)
    return parser.variant(board)


def parse_position(text: str, variant: Variant | None = None) -> tuple[Variant, Words]:
    """Read a position text.

    Args:
        text: the text, see the module's description.
        variant: the variant; by default the text says it. Needed where the board is not built in.

    Returns:
        The variant and the packed position, `uint64` of shape `(STATE_WORDS,)`.

    Raises:
        NotationError: when the text is malformed or no position of the game, naming the word.
    """
    if not isinstance(text, str):
        raise NotationError(f"position text must be a string, not {type(text).__name__}")
    parser = _Parser(text)
    if variant is None:
        variant = parser.variant()
    else:
        _check_same_variant(parser, variant)
    words = np.zeros(STATE_WORDS, np.uint64)
    s = state_record(words)
    _check_names(parser, variant)
    _read_turn(parser, variant, s)
    _read_board(parser, variant, s)
    _read_suspicion(parser, variant, s)
    _read_play(parser, variant, s)
    return variant, words


def _check_same_variant(parser: _Parser, variant: Variant) -> None:
    given = dict(word.split("=", 1) for word in variant_words(variant))
    for name in ("board", "cast", "turns", "first"):
        if name in parser.words and parser.words[name] != given.get(name):
            standard = {
                "board": variant.board.name,
                "cast": "+".join(variant.cast),
                "turns": str(variant.turns),
                "first": variant.first,
            }
            if parser.words[name] != standard[name]:
                raise parser.fail(name, f"the variant played has {name}={standard[name]}")


def _check_names(parser: _Parser, variant: Variant) -> None:
    """Names that nothing has are told before anything that is missing or does not fit."""
    streets, what = variant.board.street_index, "not in the cast"
    for code in KIND_BY_CODE:
        if code not in parser.words:
            continue
        if code not in variant.seat_of:
            raise parser.fail(code, f"{code} is not in the cast {'+'.join(variant.cast)}")
        parser.index(code, parser.words[code].partition(":")[0], streets, "no street hex")
    for name in ("cleared", "jack", "dealt", "cards", "using", "whistled", "exonerated", "accused"):
        parser.mask(name, variant.seat_of, what)


def _read_turn(parser: _Parser, variant: Variant, s: StateRecord) -> None:
    node = NODE_NAMES.index(parser.choice("node", "pick", NODE_NAMES))
    s["node"] = node
    s["turn"] = parser.number("turn", 0 if node == NodeKind.JACK else 1, 0, variant.turns)
    if (s["turn"] == 0) != (node == NodeKind.JACK):
        raise parser.fail("turn", "turn 0 is the one before Jack's card is drawn (node=jack)")
    if node == NodeKind.DEAL and s["turn"] % 2 == 0:
        raise parser.fail("node", "cards are dealt on odd turns")
    seats = variant.seat_of
    what = "not in the cast"
    s["dealt"] = parser.mask("dealt", seats, what)
    s["remaining"] = parser.mask("cards", seats, what)
    dealt = int(s["dealt"])
    cards = 0 if node in (NodeKind.JACK, NodeKind.DEAL) else variant.cards_per_turn
    if dealt.bit_count() != cards:
        example = ",".join(variant.cast[: variant.cards_per_turn])
        count = f"{variant.cards_per_turn} cards are dealt on odd turns, as in dealt={example}"
        raise parser.fail("dealt", count if "dealt" in parser.words else f"is missing; {count}")
    face_up = dealt if s["turn"] % 2 else (1 << len(variant.cast)) - 1 & ~dealt
    left = int(s["remaining"])
    if left & ~face_up:
        raise parser.fail("cards", "only cards that are face up this turn can be left")
    if node == NodeKind.TERMINAL:
        s["play"] = variant.cards_per_turn - left.bit_count()
    elif node not in (NodeKind.JACK, NodeKind.DEAL):
        if not left:
            raise parser.fail("cards", f"a {NODE_NAMES[node]} node has cards left to play")
        s["play"] = variant.cards_per_turn - left.bit_count()
    elif left:
        raise parser.fail("cards", f"no card is face up at a {NODE_NAMES[node]} node")


def _read_board(parser: _Parser, variant: Variant, s: StateRecord) -> None:
    board = variant.board
    start = dict(board.start)
    s["position"][:] = NO_SEAT
    s["light"] = NO_SEAT
    occupied: dict[str, str] = {}
    for seat, kind in enumerate(variant.kinds):
        hex, colon, light = parser.words.get(kind.code, start[kind.code]).partition(":")
        if colon and not light:
            raise parser.fail(kind.code, "nothing stands behind the colon")
        index = parser.index(kind.code, hex, board.street_index, "no street hex")
        if hex in occupied:
            raise parser.fail(kind.code, f"{occupied[hex]} stands on {hex} already")
        occupied[hex] = kind.code
        s["position"][seat] = index
        s["occupied"] |= np.uint64(1 << index)
        if kind.ability == Ability.AIM:
            light = light or board.watson_light or ""
            if light not in DIRECTIONS:
                raise parser.fail(
                    kind.code, f"the lantern shines in one of {', '.join(DIRECTIONS)}"
                )
            s["light"] = DIRECTIONS.index(light)
        elif light:
            raise parser.fail(kind.code, "has no lantern")

    _read_lamps(parser, variant, s)
    manholes = {hex: board.street_index[hex] for hex in board.manholes}

    def tokens(
        name: str, default: tuple[str, ...], index_of: dict[str, int], what: str
    ) -> np.uint64:
        parser.words.setdefault(name, _joined(default))
        mask = parser.mask(name, index_of, what)
        if mask.bit_count() != len(default):
            raise parser.fail(name, f"this board has {len(default)} {name}")
        return np.uint64(mask)

    s["covered"] = tokens("covers", board.covered_manholes, manholes, "no manhole")
    s["cordons"] = tokens("cordons", board.cordons, board.exit_index, "no exit")


def _read_lamps(parser: _Parser, variant: Variant, s: StateRecord) -> None:
    """Tiles never leave but by their number (3.4, 5.4), so the turn says which must be there."""
    board = variant.board
    turn = max(1, int(s["turn"]))
    expected = {number for _, number in board.lit_gaslights if number and number >= turn}
    plain = sum(number is None for _, number in board.lit_gaslights)
    if "lamps" not in parser.words:
        parser.words["lamps"] = _joined(
            hex if number is None else f"{hex}:{number}"
            for hex, number in board.lit_gaslights
            if number is None or number >= turn
        )
    s["tile_place"][:] = NO_SEAT
    found: set[int] = set()
    for item in parser.items("lamps"):
        hex, colon, number = item.partition(":")
        if colon and not number:
            raise parser.fail("lamps", f"nothing stands behind the colon of {hex}")
        lamp = parser.index("lamps", hex, board.gaslight_index, "no gaslight hex")
        if int(s["lit"]) >> lamp & 1:
            raise parser.fail("lamps", f"{hex!r} is listed twice")
        s["lit"] |= np.uint64(1 << lamp)
        if not number:
            plain -= 1
            continue
        if number not in {str(n) for n in expected - found}:
            raise parser.fail("lamps", f"tile {number!r} cannot be on {hex} in turn {turn}")
        found.add(int(number))
        s["tile_place"][int(number) - 1] = lamp
    if found != expected:
        missing = ", ".join(str(number) for number in sorted(expected - found))
        raise parser.fail("lamps", f"tile {missing} must be on the board in turn {turn}")
    if plain != 0:
        raise parser.fail("lamps", "the number of plain tiles never changes")


def _read_suspicion(parser: _Parser, variant: Variant, s: StateRecord) -> None:
    seats, what = variant.seat_of, "not in the cast"
    s["seen"] = parser.choice("witness", "seen", ("seen", "unseen")) == "seen"
    s["cleared"] = parser.mask("cleared", seats, what)
    s["exonerated"] = parser.mask("exonerated", seats, what)
    if s["turn"] <= 1:
        for name, given in (("cleared", s["cleared"]), ("exonerated", s["exonerated"])):
            if given:
                raise parser.fail(name, "the first call for witnesses is at the end of turn 1")
        if not s["seen"]:
            raise parser.fail("witness", "the first call for witnesses is at the end of turn 1")
    s["jack"] = NO_SEAT
    if s["node"] == NodeKind.JACK:
        for name in ("jack", "alibis", "exonerated"):
            if name in parser.words:
                raise parser.fail(name, "Jack's card is not drawn yet at node=jack")
    else:
        if "jack" not in parser.words:
            raise parser.fail("jack", "is missing: say who Jack is")
        s["jack"] = parser.index("jack", parser.words["jack"], seats, what)
    detective, slash, jack = parser.words.get("alibis", "-/-").partition("/")
    if not slash:
        raise parser.fail("alibis", "must read DETECTIVE'S/JACK'S, e.g. SH,IL/-")
    for player, cards in ((Player.DETECTIVE, detective), (Player.JACK, jack)):
        for code in [] if cards == "-" else cards.split(","):
            seat = parser.index("alibis", code, seats, what)
            if (int(s["drawn"][0]) | int(s["drawn"][1])) >> seat & 1:
                raise parser.fail("alibis", f"{code} is drawn twice")
            s["drawn"][player] |= 1 << seat
            s["draws"][player] += 1
    if s["draws"].any() and not any(kind.ability == Ability.DRAW for kind in variant.kinds):
        raise parser.fail("alibis", "nobody in the cast draws alibi cards")
    innocent = int(s["cleared"]) | int(s["exonerated"]) | int(s["drawn"][0]) | int(s["drawn"][1])
    if s["jack"] != NO_SEAT and innocent >> int(s["jack"]) & 1:
        raise parser.fail("jack", "is cleared, exonerated or on a drawn alibi card")


def _read_play(parser: _Parser, variant: Variant, s: StateRecord) -> None:
    node = int(s["node"])
    seats, what = variant.seat_of, "not in the cast"

    def named_seat(name: str) -> int:
        given = parser.words.get(name)
        return NO_SEAT if given is None else parser.index(name, given, seats, what)

    s["seat"] = named_seat("using")
    s["accused"] = named_seat("accused")
    s["moved"] = parser.choice("moved", "no", ("no", "yes")) == "yes"
    s["ability"] = parser.choice("ability", "used", ("used", "open")) == "open"
    s["steps"] = parser.number("steps", 0, 0, WHISTLE_STEPS - 1)
    s["whistled"] = parser.mask("whistled", seats, what)
    if "ending" in parser.words:
        s["ending"] = ENDING_BY_WORD[parser.choice("ending", "", ENDING_BY_WORD)].number
    if (node == NodeKind.TERMINAL) != (s["ending"] != EndingKind.NOT_ENDED):
        raise parser.fail("ending", "is given exactly at node=terminal")
    if node == NodeKind.TERMINAL:
        s["player"] = Player.TERMINAL
    elif node in (NodeKind.JACK, NodeKind.DEAL, NodeKind.ALIBI):
        s["player"] = Player.CHANCE
    else:
        s["player"] = variant.play_order(int(s["turn"]))[int(s["play"])]
    _check_play(parser, variant, s)


def _check_play(parser: _Parser, variant: Variant, s: StateRecord) -> None:
    """The words of a play in progress must fit the node and the character."""
    node, seat = int(s["node"]), int(s["seat"])
    accusing = s["ending"] in (EndingKind.CAUGHT, EndingKind.WRONG_ACCUSATION)
    in_play = node in (NodeKind.USE, NodeKind.WHISTLE, NodeKind.AIM, NodeKind.ALIBI) or (
        node == NodeKind.TERMINAL and s["ending"] != EndingKind.DAWN
    )
    if in_play != (seat != NO_SEAT):
        raise parser.fail("using", "is given exactly while a card is being played")
    if accusing != (s["accused"] != NO_SEAT):
        raise parser.fail("accused", "is given exactly when the game ended by an accusation")
    if not in_play:
        for name in ("moved", "ability", "steps", "whistled"):
            if s[name]:
                raise parser.fail(name, "belongs to a card being played")
        if node == NodeKind.TERMINAL and (s["turn"] != variant.turns or s["remaining"]):
            raise parser.fail("ending", "dawn comes after the last card of the last turn")
        return
    if not int(s["remaining"]) >> seat & 1:
        raise parser.fail("using", "must be one of the cards left")
    ability = variant.kinds[seat].ability
    if s["ability"] and ability == Ability.NONE:
        raise parser.fail("ability", f"{variant.cast[seat]} has none to use")
    if s["whistled"] and ability != Ability.WHISTLE:
        raise parser.fail("whistled", f"{variant.cast[seat]} has no whistle")
    whistling = bool(s["steps"] or s["whistled"])
    mover = (1 << seat) & int(s["whistled"])
    if int(s["steps"]) + int(s["whistled"]).bit_count() > WHISTLE_STEPS:
        raise parser.fail("whistled", f"a whistle spends {WHISTLE_STEPS} steps in all")
    if mover or (s["steps"] and not s["whistled"]) or (whistling and s["ability"]):
        raise parser.fail("whistled", "is given, with steps, while a whistle is in progress")
    used_first = node == NodeKind.USE and not s["moved"] and not s["ability"]
    if used_first and ability in _NOT_BEFORE_MOVING:
        raise parser.fail("ability", f"{variant.cast[seat]} cannot have used it before moving")
    aims_himself = ability == Ability.AIM
    fits: dict[int, Callable[[], bool]] = {
        NodeKind.USE: lambda: (
            not whistling
            and (not s["moved"] or (bool(s["ability"]) and ability not in _NOT_AFTER_MOVING))
        ),
        NodeKind.WHISTLE: lambda: bool(s["steps"]),
        NodeKind.AIM: lambda: (
            bool(s["moved"] and s["ability"]) if aims_himself else _aims_for_another(variant, s)
        ),
        NodeKind.ALIBI: lambda: bool(s["moved"] and s["ability"]) and ability == Ability.DRAW,
        NodeKind.TERMINAL: lambda: not whistling and not s["moved"],
    }
    if not fits[node]():
        raise parser.fail("node", "moved, ability, steps and whistled do not belong to such a node")
    if node == NodeKind.TERMINAL:
        _check_end(parser, variant, s)


_NOT_BEFORE_MOVING = (Ability.DRAW, Ability.AIM, Ability.SWAP)
_NOT_AFTER_MOVING = (Ability.NONE, Ability.DRAW, Ability.AIM, Ability.SWAP)


def _aims_for_another(variant: Variant, s: StateRecord) -> bool:
    """5.3: the whistle or a swap has just moved the lantern's bearer."""
    bearer = [seat for seat, kind in enumerate(variant.kinds) if kind.ability == Ability.AIM]
    if not bearer:
        return False
    ability = variant.kinds[int(s["seat"])].ability
    if ability == Ability.SWAP:
        return bool(s["moved"]) and not s["ability"]
    return ability == Ability.WHISTLE and bool(int(s["whistled"]) >> bearer[0] & 1)


def _check_end(parser: _Parser, variant: Variant, s: StateRecord) -> None:
    player = variant.play_order(int(s["turn"]))[int(s["play"])]
    ending = int(s["ending"])
    if ending == EndingKind.ESCAPE:
        if player != Player.JACK or s["seat"] != s["jack"] or s["seen"]:
            raise parser.fail("ending", "only Jack escapes, unseen, playing his own character")
    elif player != Player.DETECTIVE or (ending == EndingKind.CAUGHT) != (s["accused"] == s["jack"]):
        raise parser.fail("ending", "the Detective accuses; caught means he accused Jack")
    elif s["accused"] == s["seat"]:
        raise parser.fail("accused", "a character cannot accuse himself")


__all__ = ["parse_position", "position_text", "variant_words"]
