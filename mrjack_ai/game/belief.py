"""Belief: exact weights over what a player cannot know, and samples from them.

All of it is chance: Jack's card and the alibi cards. The deck is shuffled once, so given what an
observer has seen every identity that fits is equally likely, and so is every set of cards the
other player may hold. An identity fits when it is a suspect (section 8), was not exonerated by a
forced `stay` (4.6), and agrees with how the game ended. Plays are not used as evidence here: how
somebody chooses is not a rule.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mrjack_ai.engine.layout import (
    COUNT_WORD,
    EVENT_ALIBI,
    EVENT_DEAL,
    EVENT_HIDDEN_SEAT,
    EVENT_JACK,
    EVENT_WITNESS,
    EVENTS_WORD,
    STATE_WORDS,
    game_words,
)
from mrjack_ai.engine.tables import NO_SEAT
from mrjack_ai.engine.types import EndingKind, NodeKind, Player, Words
from mrjack_ai.game.observation import Observation
from mrjack_ai.game.position import set_bits, state_record
from mrjack_ai.game.state import State


def public_identities(observation: Observation) -> int:
    """Mask of the seats that can be Jack as far as everybody knows."""
    s = observation._record
    everybody = (1 << len(observation.variant.cast)) - 1
    return everybody & ~(int(s["cleared"]) | int(s["exonerated"]))


def possible_identities(observation: Observation) -> int:
    """Mask of the seats that can be Jack, given everything the observer knows.

    All of them are equally likely. 0 before Jack's card is drawn.
    """
    s = observation._record
    if int(s["node"]) == NodeKind.JACK:
        return 0
    if int(s["jack"]) != NO_SEAT:
        return 1 << int(s["jack"])
    ending = int(s["ending"])
    if ending == EndingKind.CAUGHT:
        return 1 << int(s["accused"])
    if ending == EndingKind.ESCAPE:
        return 1 << int(s["seat"])
    innocent = int(s["drawn"][Player.DETECTIVE])
    if ending == EndingKind.WRONG_ACCUSATION:
        innocent |= 1 << int(s["accused"])
    return public_identities(observation) & ~innocent


def identity_probabilities(observation: Observation) -> npt.NDArray[np.float64]:
    """Probability of each seat to be Jack, given everything the observer has seen.

    Returns:
        float64, shape `(seats,)`, adding up to 1; all 0 before Jack's card is drawn.
    """
    probabilities = np.zeros(len(observation.variant.cast))
    seats = list(set_bits(possible_identities(observation)))
    if seats:
        probabilities[seats] = 1.0 / len(seats)
    return probabilities


def determinize(
    observation: Observation,
    rng: np.random.Generator,
    probabilities: npt.NDArray[np.float64] | None = None,
) -> State:
    """A state that the observer cannot tell from the true one, sampled with its exact probability.

    The identity (for the Detective) and the other player's alibi cards are drawn; the history is
    filled in accordingly, so the observation of the sample equals the given one.

    Args:
        observation: what the player knows; the state it came from is not needed.
        rng: source of randomness; equal generators give equal samples.
        probabilities: of each seat to be Jack in place of the exact one, float64, shape
            `(seats,)`; only seats that can be Jack may have any. Not used where he is known.
    """
    variant = observation.variant
    words = np.zeros(game_words(variant), np.uint64)
    words[:STATE_WORDS] = observation.position_words()
    s = state_record(words)
    player, other = observation.player, 1 - observation.player

    if int(s["jack"]) == NO_SEAT and int(s["node"]) != NodeKind.JACK:
        seats = list(set_bits(possible_identities(observation)))
        if probabilities is None:
            s["jack"] = seats[int(rng.integers(len(seats)))]
        else:
            s["jack"] = int(rng.choice(len(variant.cast), p=probabilities))
    innocent = (1 << len(variant.cast)) - 1 & ~int(s["drawn"][player])
    if int(s["jack"]) != NO_SEAT:
        innocent &= ~(1 << int(s["jack"]))
    draws = int(s["draws"][other])
    cards = [int(card) for card in rng.permutation(list(set_bits(innocent)))[:draws]]
    s["drawn"][other] = sum(1 << card for card in cards)

    # Cards drawn before a set-up position belong to it; the later ones to the events.
    root: Words | None = None
    known = 0
    if observation.root is not None:
        root = np.frombuffer(observation.root, np.uint64).copy()
        r = state_record(root)
        known = int(r["draws"][other])
        if int(r["node"]) != NodeKind.JACK:
            r["jack"] = s["jack"]
        r["drawn"][other] = sum(1 << card for card in cards[:known])
    drawn_later = iter(cards[known:])
    codes = []
    for code in observation.events:
        if code >= EVENT_JACK and code & 0x0F == EVENT_HIDDEN_SEAT:
            if code < EVENT_DEAL:
                code = EVENT_JACK + int(s["jack"])
            elif EVENT_ALIBI <= code < EVENT_WITNESS:
                code = EVENT_ALIBI + 16 * other + next(drawn_later)
        codes.append(code)
    words[EVENTS_WORD:].view(np.uint16)[: len(codes)] = codes
    words[COUNT_WORD] = len(codes)
    return State.from_words(variant, words, root)
