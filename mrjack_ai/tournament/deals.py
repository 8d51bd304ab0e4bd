"""Deals: everything chance decides in a game, fixed beforehand.

Two games on one deal differ only in what the players do, so playing each deal twice with the
sides swapped takes the luck of the cards out of a comparison.

A file of deals is text, one deal a line behind a header:

    mrjack deals 1
    cast: SH+JW+JS+IL
    turns: 4

    jack JS; deal SH,JW; deal JW,IL; pile IL,SH,JW

that is Jack's card, the cards dealt face up on each odd turn, and the alibi pile, top card first.
Deals fit every board; the cast and the number of turns must be those of the games played. Empty
lines, and lines that begin with `#`, are skipped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mrjack_ai.common.files import write_whole
from mrjack_ai.common.numbers import COUNTS, SEEDS, WholeNumbers
from mrjack_ai.common.reading import read_text
from mrjack_ai.common.text import lines_of, shown
from mrjack_ai.engine.tables import deal_outcomes
from mrjack_ai.errors import ArgumentError, MrJackError
from mrjack_ai.game.actions import action_space
from mrjack_ai.game.state import State
from mrjack_ai.setup.variant import MAX_SEATS, Variant

DEALS_FIRST_LINE = "mrjack deals 1"

_SEATS, _OUTCOMES = WholeNumbers(0, MAX_SEATS - 1), WholeNumbers(0, 69)
"""A deal is half of eight cards: one of 70."""

_DEAL_STREAM = 0
"""First element of the spawn key of every deal; agents' streams have another."""


class DealError(MrJackError):
    """A deal or a file of deals is damaged, or is for another variant; names the line."""


@dataclass(frozen=True)
class Deal:
    """What chance decides, independent of the players.

    Attributes:
        identity: seat of Jack.
        deals: outcome of the deal of each odd turn, in order.
        pile: seats on the alibi cards, top card first (2.2).
    """

    identity: int
    deals: tuple[int, ...]
    pile: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "identity", _SEATS.read(self.identity, "identity", DealError))
        for name, numbers in (("deals", _OUTCOMES), ("pile", _SEATS)):
            values = tuple(numbers.read(one, name, DealError) for one in getattr(self, name))
            object.__setattr__(self, name, values)

    def outcome(self, state: State) -> int:
        """The outcome of the chance node a game on this deal has reached.

        Raises:
            ArgumentError: when the state is at no chance node.
        """
        if state.node == "jack":
            return self.identity
        if state.node == "deal":
            return self.deals[state.turn // 2]
        if state.node == "alibi":
            return self.pile[state.alibi_count(0) + state.alibi_count(1)]
        raise ArgumentError(f"a {state.node} node is no chance node")


def make_deal(variant: Variant, rng: np.random.Generator) -> Deal:
    """A deal with the probabilities of the rules (2.2, 3.1).

    Args:
        variant: the variant.
        rng: source of randomness.
    """
    seats = len(variant.cast)
    cards = [int(seat) for seat in rng.permutation(seats)]
    outcomes = len(deal_outcomes(seats))
    return Deal(
        identity=cards[0],
        deals=tuple(int(n) for n in rng.integers(outcomes, size=(variant.turns + 1) // 2)),
        pile=tuple(cards[1:]),
    )


def seeded_deal(variant: Variant, seed: int, number: int) -> Deal:
    """Deal `number` of the endless row of deals that belongs to a seed.

    Whoever knows the seed knows the deals; see `keyed_generator` for games of which they do not.

    Raises:
        DealError: when seed or number are none, or out of range.
    """
    seed, number = SEEDS.read(seed, "seed", DealError), COUNTS.read(number, "number", DealError)
    sequence = np.random.SeedSequence(seed, spawn_key=(_DEAL_STREAM, number))
    return make_deal(variant, np.random.default_rng(sequence))


def keyed_generator(key: str, seed: int, *words: int) -> np.random.Generator:
    """A generator that tells nothing of others, nor of the seed, to who does not know the key.

    Args:
        key: hexadecimal digits, two for each byte.
        seed: the seed of a tournament.
        words: what the generator is for.
    """
    text = " ".join(map(str, (seed, *words))).encode()
    digest = hashlib.blake2b(text, key=bytes.fromhex(key), digest_size=32, person=b"mrjack_ai")
    return np.random.default_rng(int.from_bytes(digest.digest()))


def keyed_deal(variant: Variant, key: str, seed: int, number: int) -> Deal:
    """Deal `number` of the endless row of deals that belongs to a key and a seed."""
    return make_deal(variant, keyed_generator(key, seed, _DEAL_STREAM, number))


def deal_text(deal: Deal, variant: Variant) -> str:
    """A deal as one line; `parse_deal` inverts it."""
    names = action_space(variant).outcome_names
    pile = ",".join(variant.cast[seat] for seat in deal.pile)
    dealt = (names["deal"][outcome] for outcome in deal.deals)
    return "; ".join([names["jack"][deal.identity], *dealt, f"pile {pile}"])


def parse_deal(text: str, variant: Variant) -> Deal:
    """Read a deal from its text.

    Raises:
        DealError: when it is no deal of this variant, saying what is wrong.
    """
    parts = [part.split(None, 1) for part in text.split(";")]
    deals = (variant.turns + 1) // 2
    expected = ["jack", *["deal"] * deals, "pile"]
    if [part[0] if len(part) == 2 else None for part in parts] != expected:
        form = " ...; ".join(expected)
        raise DealError(f"a deal of {variant.turns} turns must read '{form} ...'")
    seats = [_seats(codes, variant) for _, codes in parts]
    (identity, *_), *dealt, pile = seats
    if len(seats[0]) != 1:
        raise DealError("'jack' takes one character")
    outcomes = {seats: number for number, seats in enumerate(deal_outcomes(len(variant.cast)))}
    half = len(variant.cast) // 2
    for cards, (_, codes) in zip(dealt, parts[1:], strict=False):
        if tuple(sorted(cards)) not in outcomes:
            told = shown(f"deal {codes.strip()}")
            raise DealError(f"{told} must name {half} different characters")
    if sorted([identity, *pile]) != list(range(len(variant.cast))):
        raise DealError("the pile must hold every character but Jack's, once")
    return Deal(identity, tuple(outcomes[tuple(sorted(cards))] for cards in dealt), pile)


def _seats(codes: str, variant: Variant) -> tuple[int, ...]:
    found = []
    for code in (part.strip() for part in codes.split(",")):
        if code not in variant.seat_of:
            raise DealError(f"{shown(code)} must be one of {', '.join(variant.cast)}")
        found.append(variant.seat_of[code])
    return tuple(found)


def write_deals(path: str | Path, deals: Sequence[Deal], variant: Variant) -> None:
    """Write a file of deals, for use in any number of tournaments; one that was there is replaced.

    Raises:
        DealError: when the file cannot be written.
    """
    header = [DEALS_FIRST_LINE, f"cast: {'+'.join(variant.cast)}", f"turns: {variant.turns}", ""]
    text = "\n".join([*header, *(deal_text(deal, variant) for deal in deals)]) + "\n"
    write_whole(path, text, error=DealError)


def read_deals(path: str | Path, variant: Variant) -> tuple[Deal, ...]:
    """Read a file of deals.

    Raises:
        DealError: when it cannot be read, is none, is for another cast or number of turns, or a
            line is damaged, naming the line.
    """
    text = read_text(path, DealError)
    stripped = ((number, line.strip()) for number, line in enumerate(lines_of(text), start=1))
    lines = [(number, line) for number, line in stripped if line and not line.startswith("#")]
    if not lines or lines[0][1] != DEALS_FIRST_LINE:
        raise DealError(f"{str(path)!r} is no file of deals: it must begin {DEALS_FIRST_LINE!r}")
    deals = []
    header = {"cast": "+".join(variant.cast), "turns": str(variant.turns)}
    for number, line in lines[1:]:
        try:
            field = re.fullmatch(r"(\w+)\s*:\s*(.*)", line)
            if field is None:
                deals.append(parse_deal(line, variant))
            elif field[1] not in header:
                raise DealError(f"{shown(field[1])} must be {' or '.join(header)}, each once")
            elif field[2] != (wanted := header.pop(field[1])):
                raise DealError(f"these deals are for {shown(line)}, the games for {wanted!r}")
        except DealError as error:
            raise DealError(f"{str(path)!r}, line {number}: {error}") from None
    if header:
        raise DealError(f"{str(path)!r}: the header has no {' and no '.join(header)}")
    if not deals:
        raise DealError(f"{str(path)!r} holds no deal")
    return tuple(deals)
