"""Legal actions and their effects, from set-up to the end of a game, compiled.

Helpers on records: `s` is a `STATE`, `t` a `TABLES` record. Numbers in comments are those of
docs/rules.md. Functions here change `s` in place and trust their arguments; the checked entry
points are in `mrjack_ai.engine.kernels`.
"""

from __future__ import annotations

from mrjack_ai.engine.abilities import ability_usable, list_ability, manhole_bit
from mrjack_ai.engine.bits import ZERO, bit, integer
from mrjack_ai.engine.compile import helper
from mrjack_ai.engine.movement import list_moves, open_exits, visible_seats
from mrjack_ai.engine.tables import NO_SEAT, WHISTLE_STEPS
from mrjack_ai.engine.types import (
    ActionKind,
    EndingKind,
    Integers,
    NodeKind,
    Player,
    StateRecord,
    TablesRecord,
)
from mrjack_ai.engine.whistle import list_whistles, whistle_spendable
from mrjack_ai.setup.board import DIRECTIONS
from mrjack_ai.setup.characters import Ability
from mrjack_ai.setup.variant import MAX_SEATS, MAX_TURNS

N_DIRECTIONS = len(DIRECTIONS)


@helper
def list_legal(s: StateRecord, t: TablesRecord, out: Integers) -> int:
    """Write the legal actions (outcome ids at chance nodes) in ascending order.

    Returns:
        How many there are; 0 exactly at the end of the game.
    """
    node = s["node"]
    count = 0
    if node == NodeKind.PICK:
        for seat in range(t["seats"]):
            if integer(s["remaining"]) >> seat & 1:
                out[count] = t["base"][ActionKind.PICK] + seat
                count += 1
    elif node == NodeKind.USE:
        if s["moved"] == 0:
            count = list_moves(s, t, out, count)
        if s["ability"] == 1:
            count = list_ability(s, t, out, count)
        if count == 0:
            out[0] = t["base"][ActionKind.STAY]  # 4.6
            count = 1
    elif node == NodeKind.WHISTLE:
        count = list_whistles(s, t, s["steps"], out, count)
    elif node == NodeKind.AIM:
        for direction in range(N_DIRECTIONS):
            out[count] = t["base"][ActionKind.LIGHT] + direction
            count += 1
    elif node == NodeKind.JACK:
        for seat in range(t["seats"]):
            out[count] = seat
            count += 1
    elif node == NodeKind.DEAL:
        for outcome in range(t["deals"]):
            out[count] = outcome
            count += 1
    elif node == NodeKind.ALIBI:
        pile = alibi_pile(s, t)
        for seat in range(t["seats"]):
            if pile >> seat & 1:
                out[count] = seat
                count += 1
    return count


@helper
def alibi_pile(s: StateRecord, t: TablesRecord) -> int:
    """Mask of the seats whose alibi cards are still in the pile."""
    drawn = integer(s["drawn"][0] | s["drawn"][1])
    return integer(t["cast"]) & ~(drawn | (1 << integer(s["jack"])))


@helper
def public_candidates(s: StateRecord, t: TablesRecord) -> int:
    """Mask of the seats that everybody holds possible: not cleared, not exonerated by a `stay`."""
    return integer(t["cast"]) & ~integer(s["cleared"] | s["exonerated"])


@helper
def detective_candidates(s: StateRecord, t: TablesRecord) -> int:
    """Mask of the seats the Detective holds possible: his alibi cards count too."""
    return public_candidates(s, t) & ~integer(s["drawn"][Player.DETECTIVE])


@helper
def plays_left(s: StateRecord, t: TablesRecord, player: int, first: int) -> int:
    """Cards `player` plays this turn from the play with index `first` on."""
    plays = 0
    for play in range(first, t["seats"] // 2):
        plays += t["play_order"][s["turn"] & 1, play] == player
    return plays


@helper
def detective_turns(s: StateRecord, t: TablesRecord) -> int:
    """Number of later turns in which the Detective plays a card."""
    turns = 0
    for turn in range(integer(s["turn"]) + 1, t["turns"] + 1):
        for play in range(t["seats"] // 2):
            if t["play_order"][turn & 1, play] == Player.DETECTIVE:
                turns += 1
                break
    return turns


@helper
def is_last_chance(s: StateRecord, t: TablesRecord) -> bool:
    """Whether the play in progress, the Detective's, is their last of the game (7.3)."""
    later = plays_left(s, t, Player.DETECTIVE, integer(s["play"]) + 1)
    return later == 0 and detective_turns(s, t) == 0


@helper
def set_up(s: StateRecord, t: TablesRecord) -> None:
    """Section 2: the position before Jack draws his card. `s` must hold zeroes only."""
    for seat in range(MAX_SEATS):
        s["position"][seat] = t["start_position"][seat]
        if seat < t["seats"]:
            s["occupied"] |= bit(t["start_position"][seat])
    for number in range(MAX_TURNS):
        s["tile_place"][number] = t["start_tile_place"][number]
    s["covered"] = t["start_covered"]
    s["lit"] = t["start_lit"]
    s["cordons"] = t["start_cordons"]
    s["node"] = NodeKind.JACK
    s["player"] = Player.CHANCE
    s["jack"] = NO_SEAT
    s["seen"] = 1
    s["light"] = t["start_light"]
    s["seat"] = NO_SEAT
    s["accused"] = NO_SEAT


@helper
def end_game(s: StateRecord, ending: int) -> None:
    s["node"] = NodeKind.TERMINAL
    s["player"] = Player.TERMINAL
    s["ending"] = ending


@helper
def start_turn(s: StateRecord, t: TablesRecord) -> None:
    """3.1: cards are dealt on odd turns; on even turns the other half is face up."""
    s["turn"] += 1
    s["play"] = 0
    if s["turn"] & 1:
        s["dealt"] = 0
        s["remaining"] = 0
        s["node"] = NodeKind.DEAL
        s["player"] = Player.CHANCE
    else:
        s["remaining"] = integer(t["cast"]) & ~integer(s["dealt"])
        start_play(s, t)


@helper
def start_play(s: StateRecord, t: TablesRecord) -> None:
    s["node"] = NodeKind.PICK
    s["player"] = t["play_order"][s["turn"] & 1, s["play"]]


@helper
def call_witnesses(s: StateRecord, t: TablesRecord) -> None:
    """6.2, 6.3: clear those who do not match Jack, and turn the witness card."""
    visible = visible_seats(s, t)
    if visible >> s["jack"] & 1:
        s["seen"] = 1
        s["cleared"] |= integer(t["cast"]) & ~visible
    else:
        s["seen"] = 0
        s["cleared"] |= visible


@helper
def end_turn(s: StateRecord, t: TablesRecord) -> None:
    """3.4, 7.3."""
    if s["turn"] == t["turns"]:
        end_game(s, EndingKind.DAWN)
        return
    call_witnesses(s, t)
    number = s["turn"] - 1
    place = s["tile_place"][number]
    if place != NO_SEAT:
        s["lit"] &= ~bit(place)
        s["tile_place"][number] = NO_SEAT
    start_turn(s, t)


@helper
def end_play(s: StateRecord, t: TablesRecord) -> None:
    s["remaining"] &= ~(1 << s["seat"])
    s["seat"] = NO_SEAT
    s["moved"] = 0
    s["ability"] = 0
    s["steps"] = 0
    s["whistled"] = 0
    s["play"] += 1
    if s["remaining"] == 0:
        end_turn(s, t)
    else:
        start_play(s, t)


@helper
def go_on(s: StateRecord, t: TablesRecord) -> None:
    """Find the next node of the play in progress, or end it."""
    if s["steps"] > 0:
        if whistle_spendable(s, t, s["steps"]) > 0:
            s["node"] = NodeKind.WHISTLE
            return
        s["steps"] = 0
    s["whistled"] = 0
    if s["moved"] == 0:
        s["node"] = NodeKind.USE
        return
    if s["ability"] == 1 and ability_usable(s, t):
        ability = t["seat_ability"][s["seat"]]
        if ability == Ability.DRAW:
            s["node"] = NodeKind.ALIBI
            s["player"] = Player.CHANCE
        elif ability == Ability.AIM:
            s["node"] = NodeKind.AIM
        else:
            s["node"] = NodeKind.USE
        return
    end_play(s, t)


@helper
def go_on_after(s: StateRecord, t: TablesRecord, carried: int) -> None:
    """As `go_on`, but first aim the lantern when its bearer was just whistled or swapped (5.3)."""
    if carried == t["light_seat"]:
        s["node"] = NodeKind.AIM
    else:
        go_on(s, t)


@helper
def place(s: StateRecord, seat: int, hex: int) -> None:
    s["occupied"] = (s["occupied"] & ~bit(s["position"][seat])) | bit(hex)
    s["position"][seat] = hex


@helper
def apply_chance(s: StateRecord, t: TablesRecord, outcome: int) -> None:
    """Apply the outcome of a chance node."""
    if s["node"] == NodeKind.JACK:
        s["jack"] = outcome
        start_turn(s, t)
    elif s["node"] == NodeKind.DEAL:
        s["dealt"] = t["deal_mask"][outcome]
        s["remaining"] = s["dealt"]
        start_play(s, t)
    else:
        player = drawing_player(s, t)
        s["drawn"][player] |= 1 << outcome
        s["draws"][player] += 1
        s["ability"] = 0
        end_play(s, t)


@helper
def drawing_player(s: StateRecord, t: TablesRecord) -> int:
    """Who draws the alibi card at an alibi node: whoever plays the card (5.1)."""
    return integer(t["play_order"][s["turn"] & 1, s["play"]])


@helper
def apply_player(s: StateRecord, t: TablesRecord, action: int) -> None:
    """Apply a legal action of a player."""
    kind = t["kind"][action]
    first = t["argument"][action, 0]
    second = t["argument"][action, 1]
    if kind == ActionKind.PICK:
        s["seat"] = first
        s["ability"] = t["seat_ability"][first] != Ability.NONE
        s["node"] = NodeKind.USE
    elif kind == ActionKind.MOVE:
        place(s, s["seat"], first)
        s["moved"] = 1
        if t["seat_ability"][s["seat"]] == Ability.SWAP:
            s["ability"] = 0  # 5.5: moves or swaps, never both
        go_on(s, t)
    elif kind == ActionKind.LIGHT:
        s["light"] = first
        if t["seat_ability"][s["seat"]] == Ability.AIM:
            s["ability"] = 0
        go_on(s, t)
    elif kind == ActionKind.LAMP:
        s["lit"] = (s["lit"] & ~bit(first)) | bit(second)
        for number in range(MAX_TURNS):
            if s["tile_place"][number] == first:
                s["tile_place"][number] = second
        s["ability"] = 0
        go_on(s, t)
    elif kind == ActionKind.CORDON:
        s["cordons"] = (s["cordons"] & ~bit(first)) | bit(second)
        s["ability"] = 0
        go_on(s, t)
    elif kind == ActionKind.COVER:
        s["covered"] = (s["covered"] & ~manhole_bit(t, first)) | manhole_bit(t, second)
        s["ability"] = 0
        go_on(s, t)
    elif kind == ActionKind.WHISTLE:
        if s["steps"] == 0:
            s["steps"] = WHISTLE_STEPS
        s["ability"] = 0
        s["steps"] -= t["argument"][action, 2]
        s["whistled"] |= 1 << first
        place(s, first, second)
        go_on_after(s, t, first)
    elif kind == ActionKind.SWAP:
        here, there = s["position"][s["seat"]], s["position"][first]
        s["position"][s["seat"]] = there
        s["position"][first] = here
        s["ability"] = 0
        s["moved"] = 1
        go_on_after(s, t, first)
    elif kind == ActionKind.ACCUSE:
        s["accused"] = first
        end_game(s, EndingKind.CAUGHT if first == s["jack"] else EndingKind.WRONG_ACCUSATION)
    elif kind == ActionKind.ESCAPE:
        end_game(s, EndingKind.ESCAPE)
    elif kind == ActionKind.STAY:
        if s["player"] == Player.JACK and s["seen"] == 0 and open_exits(s, t, s["seat"]) != ZERO:
            # He could have left, were he Jack, and would have had to.
            s["exonerated"] |= 1 << s["seat"]
        s["moved"] = 1
        go_on(s, t)


@helper
def apply(s: StateRecord, t: TablesRecord, action: int) -> None:
    """Apply a legal action or a chance outcome."""
    if s["player"] == Player.CHANCE:
        apply_chance(s, t, action)
    else:
        apply_player(s, t, action)


@helper
def detective_return(s: StateRecord) -> int:
    """+1, -1, or 0 before the end (7.4)."""
    if s["ending"] == EndingKind.NOT_ENDED:
        return 0
    return 1 if s["ending"] == EndingKind.CAUGHT else -1
