"""A slow, literal engine for Mr. Jack, written from the rules text.

Numbers in comments are rule numbers. Hexes are strings such as "e5", characters are two-letter
codes, actions are strings in the notation of section 9. Only the standard library is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

# Section 1: the characters, in table order.
TABLE_ORDER = ("SH", "JW", "JS", "IL", "MS", "SG", "WG", "JB")

# Section 1: how far each character may move.
RANGE = {"SH": 3, "JW": 3, "JS": 3, "IL": 3, "MS": 4, "SG": 3, "WG": 3, "JB": 3}

# Section 1: abilities that must be used, before or after moving.
BEFORE_OR_AFTER = ("JS", "IL", "SG", "JB")

# 5.6: steps of a whistle.
WHISTLE_STEPS = 3

# The six directions as (columns to the right, change of number), from the board file.
DIRECTIONS = {"N": (0, 1), "NE": (1, 1), "SE": (1, 0), "S": (0, -1), "SW": (-1, -1), "NW": (-1, 0)}

# Section 9: who decides.
CHANCE = -1
DETECTIVE = 0
JACK = 1
TERMINAL = -4

# 3.2 and 11.1: who plays the cards of a turn; True is the player who starts that turn.
CARD_PATTERN = {4: (True, False, False, True), 2: (True, False), 1: (True,)}


def neighbour(hex_: str, direction: str) -> str:
    """The hex next to `hex_` in a direction; it need not be on the board."""
    right, up = DIRECTIONS[direction]
    return chr(ord(hex_[0]) + right) + str(int(hex_[1:]) + up)


def neighbours(hex_: str) -> list[str]:
    """The six hexes around `hex_`; they need not be on the board."""
    return [neighbour(hex_, direction) for direction in DIRECTIONS]


def in_board_order(hexes: set[str]) -> list[str]:
    """Hexes sorted by column, then number."""
    return sorted(hexes, key=lambda hex_: (hex_[0], int(hex_[1:])))


def in_table_order(codes: set[str]) -> list[str]:
    """Codes sorted as in the table of section 1."""
    return [code for code in TABLE_ORDER if code in codes]


class Board:
    """The parts of a board file that never change during a game."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.streets: set[str] = set(data["streets"])
        self.obstacles: set[str] = set(data["obstacles"])
        self.gaslights: set[str] = set(data["gaslights"])
        self.manholes: set[str] = set(data["manholes"])
        self.exits: dict[str, str] = dict(data["exits"])
        # 4.2: every hex MS may step on during her own move.
        self.stealthy_hexes = self.streets | self.obstacles | self.gaslights
        self.around: dict[str, list[str]] = {hex_: neighbours(hex_) for hex_ in self.stealthy_hexes}
        self._distances: dict[str, dict[str, int]] = {}

    def street_distances(self, goal: str) -> dict[str, int]:
        """Street steps without manholes from each hex to `goal` (5.6), where there is a way."""
        if goal not in self._distances:
            distance = {goal: 0}
            queue = [goal]
            for here in queue:
                for there in self.around[here]:
                    if there in self.streets and there not in distance:
                        distance[there] = distance[here] + 1
                        queue.append(there)
            self._distances[goal] = distance
        return self._distances[goal]


class ReferenceGame:
    """One game, from the choice of Jack's card to its end."""

    def __init__(
        self,
        board: dict[str, Any],
        cast: Sequence[str] = TABLE_ORDER,
        turns: int = 8,
        first: str = "detective",
    ) -> None:
        """Set the game up; `board` is the parsed board file (11.1 to 11.4)."""
        if len(set(cast)) != len(cast) or not set(cast) <= set(TABLE_ORDER):
            raise ValueError(f"bad cast: {cast!r}")
        if len(cast) not in (2, 4, 8):  # 11.1
            raise ValueError(f"bad cast size: {len(cast)}")
        if turns not in range(1, 9):  # 11.2
            raise ValueError(f"bad number of turns: {turns!r}")
        if first not in ("detective", "jack"):  # 11.3
            raise ValueError(f"bad first player: {first!r}")
        self.board = Board(board)
        self.cast: list[str] = in_table_order(set(cast))
        self.turns = turns
        self.first = first

        # 2.1: everything starts as in the board file; 11.1: only the cast is on the board.
        self.positions: dict[str, str] = {code: board["start"][code] for code in self.cast}
        self.lit: dict[str, int | None] = dict(board["lit_gaslights"])
        self.covers: set[str] = set(board["covered_manholes"])
        self.cordons: set[str] = set(board["cordons"])
        self.watson_light: str | None = board["watson_light"] if "JW" in self.cast else None

        # 2.2, 2.3.
        self.jack: str | None = None
        self.pile: set[str] = set()
        self.alibis: dict[int, set[str]] = {DETECTIVE: set(), JACK: set()}
        self.cleared: set[str] = set()
        self.witness_seen = True
        self.turn = 1

        # The cards face up and not yet played, and those kept for the even turn (3.1).
        self.face_up: set[str] = set()
        self.other_half: set[str] = set()
        self.cards_played = 0

        # The card being played: its character, and what he has done so far.
        self.playing: str | None = None
        self.moved = False
        self.ability_used = False
        self.whistled: set[str] = set()
        self.whistle_spent = 0

        # The kind of the present node: jack, deal, pick, use, whistle, light, alibi or over.
        self.node = "jack"
        self._ending: str | None = None

    def clone(self) -> ReferenceGame:
        """An independent copy; only the unchanging board is shared."""
        copy = object.__new__(ReferenceGame)
        copy.__dict__.update(self.__dict__)
        copy.cast = list(self.cast)
        copy.positions = dict(self.positions)
        copy.lit = dict(self.lit)
        copy.covers = set(self.covers)
        copy.cordons = set(self.cordons)
        copy.pile = set(self.pile)
        copy.alibis = {player: set(cards) for player, cards in self.alibis.items()}
        copy.cleared = set(self.cleared)
        copy.face_up = set(self.face_up)
        copy.other_half = set(self.other_half)
        copy.whistled = set(self.whistled)
        return copy

    # ------------------------------------------------------------------ whose turn, how it ended

    def player(self) -> int:
        """Who decides now: -1 chance, 0 the Detective, 1 Jack, -4 nobody (the game is over)."""
        if self.node == "over":
            return TERMINAL
        if self.node in ("jack", "deal", "alibi"):
            return CHANCE
        return self._card_player()

    def _card_player(self) -> int:
        """Who plays the present card of this turn (3.2, 11.1, 11.3)."""
        first = DETECTIVE if self.first == "detective" else JACK
        starter = first if self.turn % 2 == 1 else 1 - first
        plays_starter = CARD_PATTERN[len(self.cast) // 2][self.cards_played]
        return starter if plays_starter else 1 - starter

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.node == "over"

    def ending(self) -> str | None:
        """How the game ended: "caught", "wrong", "escape", "dawn", or None if it has not."""
        return self._ending

    def returns(self) -> tuple[float, float]:
        """The results (Detective, Jack), 7.4; zeros while the game goes on."""
        if self._ending is None:
            return (0.0, 0.0)
        return (1.0, -1.0) if self._ending == "caught" else (-1.0, 1.0)

    # ------------------------------------------------------------------ who is seen, who is suspect

    def beam(self) -> set[str]:
        """The street hexes lit by Watson's lantern (5.2)."""
        lit: set[str] = set()
        if self.watson_light is None:
            return lit
        # 5.2: he does not light his own hex; the first hex that is not a street hex ends the beam.
        hex_ = neighbour(self.positions["JW"], self.watson_light)
        while hex_ in self.board.streets:
            lit.add(hex_)
            hex_ = neighbour(hex_, self.watson_light)
        return lit

    def visible(self) -> set[str]:
        """The codes of the characters that are visible now (6.1)."""
        beam = self.beam()
        seen = set()
        for code, hex_ in self.positions.items():
            around = self.board.around[hex_]
            by_gaslight = any(there in self.lit for there in around)
            in_beam = hex_ in beam
            by_another = any(there in around for there in self.positions.values())
            if by_gaslight or in_beam or by_another:
                seen.add(code)
        return seen

    def suspects(self) -> set[str]:
        """The Detective's suspects: not cleared and not among his alibi cards (section 8)."""
        return set(self.cast) - self.cleared - self.alibis[DETECTIVE]

    # ------------------------------------------------------------------ legal actions

    def chance_outcomes(self) -> dict[str, Fraction]:
        """The outcomes of a chance node with their probabilities; empty at other nodes."""
        if self.player() != CHANCE:
            return {}
        outcomes = self.legal()
        # 2.2, 3.1, section 9: equally likely.
        return {outcome: Fraction(1, len(outcomes)) for outcome in outcomes}

    def legal(self) -> list[str]:
        """The actions or chance outcomes of the present node, in the notation of section 9."""
        if self.node == "jack":
            # 2.2, 11.1: Jack is any one of the cast.
            return [f"jack {code}" for code in self.cast]
        if self.node == "deal":
            # 3.1, 11.1: half of the cards, named in table order.
            hands = combinations(self.cast, len(self.cast) // 2)
            return ["deal " + ",".join(hand) for hand in hands]
        if self.node == "alibi":
            # 5.1, section 9: any card of the pile.
            return [f"alibi {code}" for code in in_table_order(self.pile)]
        if self.node == "pick":
            # 3.3: a card that is face up and not yet played.
            return [f"pick {code}" for code in in_table_order(self.face_up)]
        if self.node == "light":
            # 5.2: any of the six, the same one again too.
            return [f"light {direction}" for direction in DIRECTIONS]
        if self.node == "whistle":
            return self._whistle_actions()
        if self.node == "use":
            return self._use_actions()
        return []

    def _use_actions(self) -> list[str]:
        """The actions of a "use it" node."""
        if self.moved:
            # Section 1: the character has moved, so only his ability is left, and it is a must.
            return self._ability_actions()
        actions = self._move_actions() + self._ability_actions()
        if not actions:
            # 4.6: only where there would be no legal action at all.
            return ["stay"]
        return actions

    # ------------------------------------------------------------------ moving (4, 7.1, 7.2)

    def _steps(self, code: str, here: str) -> Iterator[str]:
        """The hexes one step of `code` leads to from `here`."""
        # 4.2: only street hexes; MS crosses obstacles and gaslights, one step each.
        enterable = self.board.stealthy_hexes if code == "MS" else self.board.streets
        for there in self.board.around[here]:
            if there in enterable:
                yield there
        # 4.4, 4.5: from an open manhole to any other open manhole.
        open_manholes = self.board.manholes - self.covers
        if here in open_manholes:
            for there in open_manholes:
                if there != here:
                    yield there

    def _reach(self, code: str) -> dict[str, int]:
        """Fewest steps of `code` to each hex within his range, his own hex (0 steps) included."""
        start = self.positions[code]
        distance = {start: 0}
        queue = [start]
        for here in queue:
            if distance[here] == RANGE[code]:
                continue
            # 4.3: characters do not block.
            for there in self._steps(code, here):
                if there not in distance:
                    distance[there] = distance[here] + 1
                    queue.append(there)
        return distance

    def _move_actions(self) -> list[str]:
        """Moves, accusations and escapes of the character being played."""
        mover = self.playing
        assert mover is not None
        reach = self._reach(mover)
        who_is_at = {hex_: code for code, hex_ in self.positions.items()}

        # 4.2: a move ends on a street hex (MS too, section 1); 4.1: on another hex.
        ends = {hex_ for hex_ in reach if hex_ in self.board.streets}
        ends.discard(self.positions[mover])

        # 4.3: on a free hex.
        moves = [f"move {hex_}" for hex_ in in_board_order(ends) if hex_ not in who_is_at]

        # 7.2: only the Detective may end on an occupied hex, which accuses who stands there.
        accused: set[str] = set()
        if self._card_player() == DETECTIVE:
            accused = {who_is_at[hex_] for hex_ in ends if hex_ in who_is_at}
        accusations = [f"accuse {code}" for code in in_table_order(accused)]

        # 7.1: Jack, with his own character, while the witness card shows "not seen", through an
        # exit without a cordon; leaving from the exit's hex is one more step of the range. The
        # exit's hex may be occupied, and may be the hex where the move begins.
        escapes: list[str] = []
        if self._card_player() == JACK and mover == self.jack and not self.witness_seen:
            for name, hex_ in self.board.exits.items():
                if name in self.cordons:
                    continue
                if hex_ in reach and reach[hex_] + 1 <= RANGE[mover]:
                    escapes.append(f"escape {name}")

        return moves + accusations + escapes

    # ------------------------------------------------------------------ abilities (5)

    def _ability_actions(self) -> list[str]:
        """The actions of the ability of the character being played, if it is open now."""
        if self.ability_used:
            return []  # 3.3: one use for one card.
        if self.playing == "JS":
            # 5.4: any tile on the board to a gaslight hex that is out.
            out = in_board_order(self.board.gaslights - set(self.lit))
            return [f"lamp {a}>{b}" for a in in_board_order(set(self.lit)) for b in out]
        if self.playing == "IL":
            # 5.4: a cordon to an exit that has none.
            free = sorted(set(self.board.exits) - self.cordons)
            return [f"cordon {a}>{b}" for a in sorted(self.cordons) for b in free]
        if self.playing == "JB":
            # 5.4: a cover to an open manhole.
            open_ = in_board_order(self.board.manholes - self.covers)
            return [f"cover {a}>{b}" for a in in_board_order(self.covers) for b in open_]
        if self.playing == "WG" and not self.moved:
            # 5.5: instead of moving; 5.8: anybody.
            return [f"swap {code}" for code in self.cast if code != "WG"]
        if self.playing == "SG":
            return self._whistle_actions()
        # SH draws and JW aims only after moving; MS has no action of her own (section 1).
        return []

    def _walks(
        self, positions: dict[str, str], whistled: set[str], steps_left: int
    ) -> list[tuple[str, str, int]]:
        """Every single walk (who, where to, steps spent) of a whistle, by 5.6 alone."""
        # 5.6: distance to SG from where he stands now, in street steps without manholes.
        distance = self.board.street_distances(positions["SG"])
        occupied = set(positions.values())
        walks = []
        for code in in_table_order(set(positions)):
            # 5.6: other characters; section 9: nobody is whistled twice.
            if code == "SG" or code in whistled:
                continue
            start = positions[code]
            if start not in distance:
                continue  # No way along the streets, so no walk ends nearer.
            here_after: set[str] = {start}
            for steps in range(1, steps_left + 1):
                # 5.6: one more step on the surface, through others too, never growing the distance.
                here_after = {
                    there
                    for here in here_after
                    for there in self.board.around[here]
                    if there in self.board.streets and distance[there] <= distance[here]
                }
                # 5.6: the walk ends strictly nearer than it began, on a free hex.
                for end in in_board_order(here_after):
                    if distance[end] < distance[start] and end not in occupied:
                        walks.append((code, end, steps))
        return walks

    def _most_steps(self, positions: dict[str, str], whistled: set[str], steps_left: int) -> int:
        """The most steps that any sequence of further walks spends (5.7)."""
        best = 0
        for code, end, steps in self._walks(positions, whistled, steps_left):
            after = {**positions, code: end}
            total = steps + self._most_steps(after, whistled | {code}, steps_left - steps)
            best = max(best, total)
            if best == steps_left:
                break  # No sequence spends more than there is.
        return best

    def _whistle_actions(self) -> list[str]:
        """The legal walks of a whistle; none if nothing more can be spent (5.6, 5.7)."""
        steps_left = WHISTLE_STEPS - self.whistle_spent
        most = self._most_steps(self.positions, self.whistled, steps_left)
        actions = []
        for code, end, steps in self._walks(self.positions, self.whistled, steps_left):
            after = {**self.positions, code: end}
            rest = self._most_steps(after, self.whistled | {code}, steps_left - steps)
            # 5.7: legal only if some continuation reaches the maximum.
            if steps + rest == most:
                actions.append(f"whistle {code} {end} {steps}")
        return actions

    # ------------------------------------------------------------------ playing

    def apply(self, action: str) -> None:
        """Play an action or a chance outcome; ValueError if it is not legal."""
        if action not in self.legal():
            raise ValueError(f"not legal: {action!r}")
        kind, *words = action.split()
        if kind == "jack":
            self._apply_jack(words[0])
        elif kind == "deal":
            self._apply_deal(words[0].split(","))
        elif kind == "pick":
            self._apply_pick(words[0])
        elif kind == "alibi":
            self._apply_alibi(words[0])
        elif kind == "light":
            self._apply_light(words[0])
        elif kind == "move":
            self._apply_move(words[0])
        elif kind == "stay":
            self._apply_move(None)
        elif kind == "accuse":
            # 7.2: the game is over at once.
            self._end("caught" if words[0] == self.jack else "wrong")
        elif kind == "escape":
            # 7.1, 7.2: the game is over at once.
            self._end("escape")
        elif kind == "swap":
            self._apply_swap(words[0])
        elif kind == "whistle":
            self._apply_whistle(words[0], words[1], int(words[2]))
        else:
            self._apply_piece(kind, *words[0].split(">"))

    def _end(self, ending: str) -> None:
        """End the game."""
        self.node = "over"
        self._ending = ending

    def _apply_jack(self, code: str) -> None:
        """2.2: Jack's card is drawn; the other cards of the cast form the pile."""
        self.jack = code
        self.pile = set(self.cast) - {code}
        self.node = "deal"

    def _apply_deal(self, codes: list[str]) -> None:
        """3.1: these cards are face up; the others wait for the even turn."""
        self.face_up = set(codes)
        self.other_half = set(self.cast) - set(codes)
        self.node = "pick"

    def _apply_pick(self, code: str) -> None:
        """3.3: a card is played; now its character moves and uses its ability."""
        self.face_up.remove(code)
        self.playing = code
        self.moved = False
        self.ability_used = False
        self.whistled = set()
        self.whistle_spent = 0
        self.node = "use"

    def _apply_move(self, hex_: str | None) -> None:
        """A move to `hex_`, or a skipped one (4.6)."""
        assert self.playing is not None
        if hex_ is not None:
            self.positions[self.playing] = hex_
        self.moved = True
        if self.playing == "SH" and self.pile:
            # 5.1, 4.6: whoever plays SH draws; from an empty pile nothing is drawn.
            self.node = "alibi"
        elif self.playing == "JW":
            # Section 1, 4.6: Watson is aimed after moving.
            self.node = "light"
        else:
            self._go_on()

    def _apply_alibi(self, code: str) -> None:
        """5.1: the player of SH draws a card, which is never put back."""
        self.pile.remove(code)
        self.alibis[self._card_player()].add(code)
        self.ability_used = True
        self._end_card()

    def _apply_light(self, direction: str) -> None:
        """5.2: Watson is aimed."""
        self.watson_light = direction
        if self.playing == "JW":
            self.ability_used = True
        self._go_on()

    def _apply_piece(self, kind: str, origin: str, target: str) -> None:
        """5.4: a gaslight tile, a cordon or a cover is moved."""
        if kind == "lamp":
            self.lit[target] = self.lit.pop(origin)
        elif kind == "cordon":
            self.cordons.remove(origin)
            self.cordons.add(target)
        elif kind == "cover":
            self.covers.remove(origin)
            self.covers.add(target)
        else:
            raise AssertionError(kind)
        self.ability_used = True
        self._go_on()

    def _apply_swap(self, code: str) -> None:
        """5.5: WG swaps places instead of moving."""
        self.positions["WG"], self.positions[code] = self.positions[code], self.positions["WG"]
        self.moved = True
        self.ability_used = True
        if code == "JW":
            self.node = "light"  # 5.3
        else:
            self._go_on()

    def _apply_whistle(self, code: str, hex_: str, steps: int) -> None:
        """5.6: one walk of a whistle."""
        self.positions[code] = hex_
        self.whistled.add(code)
        self.whistle_spent += steps
        if code == "JW":
            self.node = "light"  # 5.3: at once, before any further walk.
        else:
            self._go_on()

    def _go_on(self) -> None:
        """Find the next node of the card being played, or end its play."""
        if self.whistle_spent > 0 and not self.ability_used:
            # Section 9, 5.7: further walks until all that can be spent is spent.
            if self._whistle_actions():
                self.node = "whistle"
                return
            self.ability_used = True
        if not self.moved:
            # 3.3: the ability came first, the move is still to be made.
            self.node = "use"
            return
        if self.playing in BEFORE_OR_AFTER and self._ability_actions():
            # Section 1: the ability must be used, if it can be (4.6, 5.7).
            self.node = "use"
            return
        self._end_card()

    def _end_card(self) -> None:
        """The play of a card ends; perhaps the turn ends too."""
        self.playing = None
        self.cards_played += 1
        if self.face_up:
            self.node = "pick"
        else:
            self._end_turn()

    def _end_turn(self) -> None:
        """The last card of the turn has been played (3.4, 7.3)."""
        if self.turn == self.turns:
            # 7.3, 11.2: Jack wins at once, without a call and without removing a gaslight.
            self._end("dawn")
            return

        # 3.4: first the call for witnesses.
        visible = self.visible()
        invisible = set(self.cast) - visible
        if self.jack in visible:
            self.witness_seen = True  # 6.3
            self.cleared |= invisible  # 6.2
        else:
            self.witness_seen = False  # 6.3
            self.cleared |= visible  # 6.2

        # 3.4: then the tile with the turn's number leaves the board, wherever it is.
        self.lit = {hex_: number for hex_, number in self.lit.items() if number != self.turn}

        # 3.4: then the next turn.
        self.turn += 1
        self.cards_played = 0
        if self.turn % 2 == 1:
            self.node = "deal"  # 3.1: odd turn.
        else:
            self.face_up = self.other_half  # 3.1: even turn, the other half.
            self.other_half = set()
            self.node = "pick"
