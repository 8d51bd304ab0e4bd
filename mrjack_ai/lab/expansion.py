"""Nodes of a public tree, and their children: compiled. See `public_tree`.

An edge can exclude identities: an escape belongs to one of them, and the witnesses' answer at the
end of a turn splits them. So each node has the set of identities that have not been ruled out by
what everybody saw, and an action has two children where witnesses are called.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from mrjack_ai.engine.bits import integer
from mrjack_ai.engine.compile import helper, kernel
from mrjack_ai.engine.layout import STATE_WORDS
from mrjack_ai.engine.records import states_of, tables_of
from mrjack_ai.engine.tables import MAX_ACTIONS, NO_SEAT
from mrjack_ai.engine.turn import apply, list_legal
from mrjack_ai.engine.types import ActionKind, NodeKind


class PublicNode(IntEnum):
    """Kinds of nodes; the first two are also the player who decides."""

    DETECTIVE_DECIDES = 0
    JACK_DECIDES = 1
    CARDS_DEALT = 2
    CARD_DRAWN = 3  # of an alibi card, by `mover`
    ACCUSED = 4
    JACK_GONE = 5  # by an escape, or at dawn


NODE = np.dtype(
    [
        ("parent", "i4"),  # -1 for the root
        ("first", "i4"),  # first child; children are adjacent, in the order of their slots
        ("children", "i4"),
        ("action", "i2"),  # of the edge that leads here: action id, or outcome of a deal
        ("slot", "i2"),  # index of that action among those of the parent
        ("slots", "i2"),  # how many actions there are here
        ("kind", "u1"),
        ("mover", "u1"),  # who decides, or draws
        ("identities", "u1"),  # mask of the seats that can be Jack, as far as everybody knows
        ("accused", "u1"),  # of ACCUSED
        ("draws", "u1", (2,)),  # cards drawn by each player so far
        ("last", "u1"),  # 1 when the game ends here by dawn
        ("turn", "u1"),
        ("seen", "u1"),  # the witness card
    ],
    align=True,
)
"""A node of the public tree."""

MOST_CHILDREN = 2 * MAX_ACTIONS


@helper
def _assume(s: Any, seat: int) -> None:
    """Let `seat` be Jack in a public record, and the drawn cards some that he leaves."""
    s["jack"] = seat
    drawn, card = 0, 0
    for _ in range(integer(s["draws"][0]) + integer(s["draws"][1])):
        if card == seat:
            card += 1
        drawn |= 1 << card
        card += 1
    s["drawn"][0] = drawn
    s["drawn"][1] = 0


@helper
def _forget(s: Any) -> None:
    """Back to what everybody sees."""
    s["jack"] = NO_SEAT
    s["drawn"][0] = 0
    s["drawn"][1] = 0


@helper
def _describe(node: Any, s: Any, t: Any, identities: int) -> None:
    """Fill a node in from the public record there."""
    node["identities"] = identities
    node["draws"][0] = s["draws"][0]
    node["draws"][1] = s["draws"][1]
    node["turn"] = s["turn"]
    node["seen"] = s["seen"]
    if s["node"] == NodeKind.TERMINAL:
        node["kind"] = PublicNode.JACK_GONE
        node["last"] = 1
    elif s["node"] == NodeKind.DEAL:
        node["kind"] = PublicNode.CARDS_DEALT
    elif s["node"] == NodeKind.ALIBI:
        node["kind"] = PublicNode.CARD_DRAWN
        node["mover"] = t["play_order"][s["turn"] & 1, s["play"]]
    else:
        node["kind"] = s["player"]
        node["mover"] = s["player"]


@helper
def _same(one: Any, other: Any) -> bool:
    """Whether two public records, as words, are equal."""
    for word in range(STATE_WORDS):  # noqa: SIM110 - kernels have no generators
        if one[word] != other[word]:
            return False
    return True


@kernel
def expand(
    tables: Any, frontier: Any, places: Any, done: int, count: int, nodes: Any, used: int, out: Any,
    out_places: Any, out_used: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Add the children of the nodes of one level, as far as there is room.

    Args:
        tables: of the variant.
        frontier: `uint64[n, STATE_WORDS]`: public records of the level's nodes that go on.
        places: `int64[n]`: their indices in `nodes`.
        done: how many of them have their children already.
        count: how many there are.
        nodes: `NODE[m]`; the first `used` are filled in.
        out: as `frontier`, for the next level; the first `out_used` are filled in.
        out_places: as `places`, for the next level.

    Returns:
        `done`, `used` and `out_used` afterwards.
    """
    t = tables_of(tables)
    actions = np.zeros(MAX_ACTIONS, np.int64)
    allowed = np.zeros(MAX_ACTIONS, np.uint8)  # identities by action, or by outcome
    words = np.zeros((2, STATE_WORDS), np.uint64)
    s = states_of(words)
    while done < count:
        if used + MOST_CHILDREN > len(nodes) or out_used + MOST_CHILDREN > len(out):
            break
        here = places[done]
        identities = integer(nodes[here]["identities"])
        is_chance = nodes[here]["kind"] > PublicNode.JACK_DECIDES
        top = 0
        for seat in range(t["seats"]):
            if not identities >> seat & 1:
                continue
            for word in range(STATE_WORDS):
                words[0, word] = frontier[done, word]
            _assume(s[0], seat)
            listed = list_legal(s[0], t, actions)
            if nodes[here]["kind"] == PublicNode.CARD_DRAWN:
                allowed[0] |= 1 << seat  # which card it is, only the player who draws sees
                actions[1] = actions[0]
                listed = 1
                top = 1
                continue
            for index in range(listed):
                allowed[actions[index]] |= 1 << seat
                top = max(top, actions[index] + 1)
        nodes[here]["first"] = used
        slot = 0
        for action in range(top):
            who = integer(allowed[action])
            allowed[action] = 0
            if who == 0:
                continue
            kind = -1 if is_chance else integer(t["kind"][action])
            begin = used
            if kind == ActionKind.ACCUSE or kind == ActionKind.ESCAPE:
                nodes[used]["kind"] = (
                    PublicNode.ACCUSED if kind == ActionKind.ACCUSE else PublicNode.JACK_GONE
                )
                nodes[used]["identities"] = who
                nodes[used]["accused"] = t["argument"][action, 0]
                nodes[used]["draws"][0] = nodes[here]["draws"][0]
                nodes[used]["draws"][1] = nodes[here]["draws"][1]
                nodes[used]["turn"] = nodes[here]["turn"]
                used += 1
            else:
                group = out_used
                for seat in range(t["seats"]):
                    if not who >> seat & 1:
                        continue
                    for word in range(STATE_WORDS):
                        words[1, word] = frontier[done, word]
                    _assume(s[1], seat)
                    outcome = action
                    if nodes[here]["kind"] == PublicNode.CARD_DRAWN:
                        outcome = 0
                        taken = integer(s[1]["drawn"][0]) | 1 << seat
                        while taken >> outcome & 1:
                            outcome += 1
                    apply(s[1], t, outcome)
                    _forget(s[1])
                    found = -1
                    for other in range(group, out_used):
                        if _same(out[other], words[1]):
                            found = other
                    if found < 0:
                        found = out_used
                        for word in range(STATE_WORDS):
                            out[found, word] = words[1, word]
                        out_places[found] = used
                        _describe(nodes[used], s[1], t, 0)
                        used += 1
                        out_used += 1
                    nodes[out_places[found]]["identities"] |= 1 << seat
                if out_used > group and nodes[begin]["kind"] == PublicNode.JACK_GONE:
                    out_used = group  # dawn: nothing goes on
            for child in range(begin, used):
                nodes[child]["parent"] = here
                nodes[child]["action"] = action
                nodes[child]["slot"] = slot
            slot += 1
        nodes[here]["slots"] = slot
        nodes[here]["children"] = used - nodes[here]["first"]
        done += 1
    return done, used, out_used
