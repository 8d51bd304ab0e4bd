"""Monte Carlo tree search over information sets, compiled.

One kernel serves every search agent. A simulation samples what the root player cannot know
(`sample_hidden`), walks down the tree by UCB over the actions that are legal in that sample, adds
one node, plays the game out, and adds the result to the nodes it passed.

Trees hold information sets (Cowling, Powley, Whitehouse 2012): an edge is what the owner of the
tree perceives - an action, a deal, his own alibi card, the witnesses' answer - and a hidden draw
of the other player is one edge whatever was drawn. Single-observer search has one tree, the root
player's. Multiple-observer search has one tree a player: each chooses in his own, and the other
player's begins with what only he knows. Search of a fixed world (perfect information) uses one
tree and never samples.

Nodes are rows of arrays made by the caller. A node keeps its parent's edge code, visits, the
number of times its action was available (not only chosen), and the sum of the Detective's
returns. Values are read from the side of the player who chose the edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mrjack_ai.engine.bits import ONE, integer, nth_bit, popcount, random_below
from mrjack_ai.engine.compile import helper, kernel
from mrjack_ai.engine.layout import (
    EVENT_ALIBI,
    EVENT_DEAL,
    EVENT_HIDDEN_SEAT,
    EVENT_WITNESS,
    GENERATOR,
)
from mrjack_ai.engine.records import new_states, state_of, tables_of
from mrjack_ai.engine.tables import MAX_ACTIONS, NO_SEAT
from mrjack_ai.engine.turn import (
    alibi_pile,
    apply,
    detective_candidates,
    detective_return,
    drawing_player,
    is_last_chance,
    list_legal,
)
from mrjack_ai.engine.types import (
    ActionKind,
    GeneratorRecord,
    Integers,
    NodeKind,
    Player,
    StateRecord,
    TablesRecord,
    Words,
)
from mrjack_ai.search.heuristic import heuristic_value, rate_child
from mrjack_ai.search.value_network import ACTIVE, fitted_value, rate_by_value
from mrjack_ai.setup.variant import MAX_SEATS

# How worlds are sampled and which trees are kept.
FIXED_WORLD, SINGLE_OBSERVER, MULTIPLE_OBSERVER = range(3)
# How the players choose in a playout.
ROLLOUT_NONE, ROLLOUT_RANDOM, ROLLOUT_CAUTIOUS, ROLLOUT_GREEDY = range(4)
# How a position is rated where a playout stops.
EVALUATION_HEURISTIC, EVALUATION_FITTED = range(2)
# In which order actions are tried; also how far the actions of a node were rated so far.
ORDER_RANDOM, ORDER_HEURISTIC, ORDER_FITTED = range(3)

NODE = np.dtype(
    [
        ("value", "f8"),  # sum of the Detective's returns
        ("visits", "i4"),
        ("available", "i4"),
        ("first_child", "i4"),  # -1 when there is none
        ("next_sibling", "i4"),
        ("edge", "i4"),  # event code or action id that leads here
        ("rating", "f4"),  # rating of the action that leads here, for the player who chose it
        ("rated", "i4"),  # how the actions of this node were put in order so far
    ],
    align=True,
)
"""One node of a tree."""

NODE_WORDS = NODE.itemsize // 8
assert NODE.itemsize % 8 == 0

SETTINGS = np.dtype(
    [
        ("exploration", "f8"),
        ("widening", "f8"),  # most children: widening * visits ** widening_power
        ("widening_power", "f8"),
        ("kind", "i8"),
        ("rollout", "i8"),
        ("horizon", "i8"),
        ("player", "i8"),
        ("cumulative_belief", "f8", (MAX_SEATS,)),  # by seat: probability of it or one before it
        ("order", "i8"),  # how new actions are put in order
        ("refine", "i8"),  # visits from which a node's actions are ordered by fitted values
        ("evaluation", "i8"),  # how leaves are rated
        ("nodes", "i8"),  # nodes in use
        ("simulations", "i8"),  # simulations so far
        ("generator", GENERATOR),
    ]
)
"""Settings and counters of a search, kept between calls."""

_MOST_DEPTH = 160
_KEPT = 4
_FINENESS = 1 << 15
_FORGOTTEN = -1e9
_SECRET_EDGE = 0x5000
_LOGS = 4096
_LOG = np.log(np.maximum(np.arange(_LOGS), 1))
"""Logarithms of small counts: most of the time of UCB would go into them."""


# --- sampling what the root player cannot know ------------------------------------------------


@helper
def sample_hidden(
    s: StateRecord, t: TablesRecord, player: int, cumulative: Any, generator: GeneratorRecord
) -> None:
    """Fill the masked fields of `s` with a sample: the identity, the other's alibi cards.

    Args:
        s: the position as `player` sees it, changed in place.
        player: the observer.
        cumulative: his belief, by seat: the probability that Jack is that character or one before.
    """
    if s["jack"] == NO_SEAT:
        point = random_below(generator, _FINENESS) / _FINENESS
        seat = 0
        while point >= cumulative[seat]:
            seat += 1
        s["jack"] = seat
    other = 1 - player
    pile = np.uint64(alibi_pile(s, t))
    drawn = 0
    for _ in range(s["draws"][other]):
        seat = nth_bit(pile, random_below(generator, popcount(pile)))
        drawn |= 1 << seat
        pile &= ~(ONE << np.uint64(seat))
    s["drawn"][other] = drawn


# --- playing out ------------------------------------------------------------------------------


@helper
def _rollout_action(
    s: StateRecord,
    t: TablesRecord,
    rollout: int,
    actions: Integers,
    count: int,
    generator: GeneratorRecord,
) -> int:
    """An action of a playout; `actions` holds the legal ones in ascending order."""
    if rollout != ROLLOUT_RANDOM and s["node"] == NodeKind.USE and s["moved"] == 0:
        base = t["base"][ActionKind.ACCUSE]
        if s["player"] == Player.DETECTIVE:
            # Accusations have the lowest ids of all that is legal here.
            accusations = 0
            while accusations < count and base <= actions[accusations] < base + t["seats"]:
                accusations += 1
            if accusations > 0:
                left = detective_candidates(s, t)
                if popcount(np.uint64(left)) == 1 or is_last_chance(s, t):
                    wanted = 0
                    for index in range(accusations):
                        seat = actions[index] - base
                        if left >> seat & 1:
                            actions[wanted] = actions[index]
                            wanted += 1
                    if wanted > 0:
                        return actions[random_below(generator, wanted)]
                if count > accusations:
                    return actions[accusations + random_below(generator, count - accusations)]
        elif rollout == ROLLOUT_GREEDY:
            first = t["base"][ActionKind.ESCAPE]
            if first <= actions[0] < first + t["exit_places"]:
                return actions[0]
    return actions[random_below(generator, count)]


@helper
def rollout(
    s: StateRecord,
    t: TablesRecord,
    settings: Any,
    weights: Any,
    actions: Integers,
    rows: Integers,
    generator: GeneratorRecord,
) -> float:
    """Value of a leaf: play on in place, then the Detective's return or an estimate of it.

    `rollout` says how the players choose (ROLLOUT_NONE estimates at once), `horizon` how many
    calls for witnesses to play through before estimating.
    """
    rollout = settings["rollout"]
    last_turn = integer(s["turn"]) + settings["horizon"]
    while s["node"] != NodeKind.TERMINAL:
        if rollout == ROLLOUT_NONE or s["turn"] >= last_turn:
            if settings["evaluation"] == EVALUATION_FITTED:
                return fitted_value(s, t, weights, rows)
            return 2.0 * heuristic_value(s, t) - 1.0
        count = list_legal(s, t, actions)
        if s["player"] == Player.CHANCE:
            apply(s, t, actions[random_below(generator, count)])
        else:
            apply(s, t, _rollout_action(s, t, rollout, actions, count, generator))
    return float(detective_return(s))


# --- the tree ---------------------------------------------------------------------------------


@helper
def _new_node(nodes: Any, settings: Any, parent: int, edge: int) -> int:
    index = settings["nodes"]
    settings["nodes"] = index + 1
    node = nodes[index]
    node["value"] = 0.0
    node["visits"] = 0
    node["available"] = 1
    node["first_child"] = -1
    node["edge"] = edge
    node["rating"] = 0.0
    node["rated"] = ORDER_RANDOM
    if parent >= 0:
        above = nodes[parent]
        node["next_sibling"] = above["first_child"]
        above["first_child"] = index
    else:
        node["next_sibling"] = -1
    return index


@helper
def _child(nodes: Any, settings: Any, parent: int, edge: int) -> int:
    """The child along an edge, made if there is none."""
    child = nodes[parent]["first_child"]
    while child >= 0:
        if nodes[child]["edge"] == edge:
            return child
        child = nodes[child]["next_sibling"]
    return _new_node(nodes, settings, parent, edge)


@helper
def _chance_edge(s: StateRecord, t: TablesRecord, outcome: int, owner: int, fixed: bool) -> int:
    """What the owner of a tree perceives of a chance outcome."""
    if s["node"] != NodeKind.ALIBI:
        return EVENT_DEAL + outcome
    if fixed or drawing_player(s, t) == owner:
        return EVENT_ALIBI + outcome
    return EVENT_ALIBI + EVENT_HIDDEN_SEAT


@helper
def _power(visits: float, settings: Any) -> float:
    # The usual exponent is worth a case of its own: a root is ten times faster than a power.
    power = settings["widening_power"]
    return np.sqrt(visits) if power == 0.5 else visits**power


@helper
def _choose(
    nodes: Any,
    settings: Any,
    node: int,
    kept: int,
    work: Any,
    t: TablesRecord,
    actions: Integers,
    count: int,
    marks: Integers,
    weights: Any,
    rows: Integers,
    ratings: Any,
    generator: GeneratorRecord,
) -> int:
    """The child to go on to, by UCB over the available actions tried so far, or a new one.

    Args:
        kept: how many of the best rated new actions to keep as nodes not tried yet.
        marks: int64, by action id; nobody else writes to it.

    Returns:
        A child's index; one without visits is new.
    """
    s = work[1]
    mark = marks[MAX_ACTIONS] + 1  # larger than what earlier calls left behind
    marks[MAX_ACTIONS] = mark
    for index in range(count):
        marks[actions[index]] = mark
    best, best_child = -1e300, -1
    best_rating, best_new = -1e300, -1
    tried = 0
    sign = 1.0 if s["player"] == Player.DETECTIVE else -1.0
    exploration = settings["exploration"]
    child = nodes[node]["first_child"]
    while child >= 0:
        entry = nodes[child]
        if marks[entry["edge"]] == mark:
            visits = entry["visits"]
            if visits == 0:
                if entry["rating"] > best_rating and entry["rating"] > _FORGOTTEN:
                    best_rating, best_new = entry["rating"], child
            else:
                tried += 1
                marks[entry["edge"]] = 0
                available = entry["available"] + 1
                entry["available"] = available
                if available < _LOGS:
                    logarithm = _LOG[available]
                else:
                    logarithm = np.log(float(available))
                score = sign * entry["value"] / visits + exploration * np.sqrt(logarithm / visits)
                if score > best:
                    best, best_child = score, child
        child = entry["next_sibling"]
    if tried == count:
        return best_child
    visits = nodes[node]["visits"]
    if tried > 0 and tried >= settings["widening"] * _power(visits + 1.0, settings):
        return best_child
    # Actions not tried yet are those that still bear the mark.
    if settings["order"] == ORDER_RANDOM or count - tried == 1:
        skip = random_below(generator, count - tried)
        index = 0
        while marks[actions[index]] != mark or skip > 0:
            skip -= marks[actions[index]] == mark
            index += 1
        return _child(nodes, settings, node, actions[index])
    order = ORDER_HEURISTIC
    if settings["order"] == ORDER_FITTED and visits >= settings["refine"]:
        order = ORDER_FITTED
    if best_new >= 0 and nodes[node]["rated"] >= order:
        return best_new
    nodes[node]["rated"] = order
    # The two ways to rate have different scales: what was rated in the other way is forgotten.
    child = nodes[node]["first_child"]
    while child >= 0:
        nodes[child]["rating"] = _FORGOTTEN
        child = nodes[child]["next_sibling"]
    for index in range(count):
        if marks[actions[index]] != mark:
            ratings[index] = -1e300
            continue
        if order == ORDER_FITTED:
            rating = rate_by_value(s, t, work[2:], actions[index], weights, rows)
        else:
            work[2] = s
            rating = rate_child(s, t, work[2], actions[index])
        ratings[index] = rating + 1e-6 * random_below(generator, 1024)
    best_new = -1
    for _ in range(min(kept, count - tried)):
        top = 0
        for index in range(1, count):
            if ratings[index] > ratings[top]:
                top = index
        child = _child(nodes, settings, node, actions[top])
        nodes[child]["rating"] = ratings[top]
        ratings[top] = -1e300
        if best_new < 0:
            best_new = child
    return best_new


@kernel
def search(
    position: Words,
    tables: Words,
    weights: Any,
    settings_words: Any,
    nodes_words: Any,
    simulations: int,
) -> int:
    """Run simulations; the tree and the counters go on from where they were.

    Args:
        position: the position as the root player sees it (masked), or the true one when the
            world is fixed; left alone.
        weights: of the fitted value function, float32, shape `(WEIGHTS,)`.
        settings_words: one `SETTINGS` record as `uint64`.
        nodes_words: `NODE` records as `uint64`; node 0 is the root.
        simulations: how many to run at most.

    Returns:
        How many were run; fewer when the nodes are used up.
    """
    t = tables_of(tables)
    settings = settings_words.view(SETTINGS)[0]
    nodes = nodes_words.view(NODE)
    generator = settings["generator"]
    work = new_states(3)
    work[0] = state_of(position)
    actions = np.empty(MAX_ACTIONS, np.int64)
    marks = np.zeros(MAX_ACTIONS + 1, np.int64)
    path = np.empty(4 * _MOST_DEPTH, np.int64)
    current = np.zeros(2, np.int64)
    ratings = np.empty(MAX_ACTIONS)
    rows = np.empty(ACTIVE, np.int64)
    player = settings["player"]
    kind = settings["kind"]
    fixed = kind == FIXED_WORLD
    trees = 2 if kind == MULTIPLE_OBSERVER else 1
    if settings["nodes"] == 0:
        for _ in range(trees):
            _new_node(nodes, settings, -1, -1)
    done = 0
    # Every ply adds at most two nodes a tree: an edge and the witnesses' answer.
    while done < simulations and settings["nodes"] + 4 * _MOST_DEPTH + _KEPT < len(nodes):
        work[1] = work[0]
        s = work[1]
        if not fixed:
            sample_hidden(s, t, player, settings["cumulative_belief"], generator)
        length = 0
        for tree in range(trees):
            current[tree] = tree
            path[length] = tree
            length += 1
        if trees == 2:
            other = 1 - player
            # Of what only Jack knows his identity decides; told apart by his cards as well, his
            # trees would be too small to be of use.
            secret = _SECRET_EDGE
            secret += integer(s["jack"]) if other == Player.JACK else integer(s["drawn"][other])
            current[1] = _child(nodes, settings, 1, secret)
            path[length] = current[1]
            length += 1
        expanded = False
        while s["node"] != NodeKind.TERMINAL and not expanded:
            count = list_legal(s, t, actions)
            turn = s["turn"]
            if s["player"] == Player.CHANCE:
                action = actions[random_below(generator, count)]
                for tree in range(trees):
                    owner = player if tree == 0 else 1 - player
                    edge = _chance_edge(s, t, action, owner, fixed)
                    current[tree] = _child(nodes, settings, current[tree], edge)
            else:
                mover = s["player"]
                tree = 1 if trees == 2 and mover != player else 0
                shared = fixed or trees == 2 or mover == player or mover == Player.DETECTIVE
                kept = _KEPT if shared else 1
                child = _choose(
                    nodes,
                    settings,
                    current[tree],
                    kept,
                    work,
                    t,
                    actions,
                    count,
                    marks,
                    weights,
                    rows,
                    ratings,
                    generator,
                )
                expanded = nodes[child]["visits"] == 0
                action = integer(nodes[child]["edge"])
                current[tree] = child
                if trees == 2:
                    current[1 - tree] = _child(nodes, settings, current[1 - tree], action)
            for tree in range(trees):
                path[length] = current[tree]
                length += 1
            apply(s, t, action)
            if s["turn"] != turn and s["node"] != NodeKind.TERMINAL:
                for tree in range(trees):
                    edge = EVENT_WITNESS + integer(s["seen"])
                    current[tree] = _child(nodes, settings, current[tree], edge)
                    path[length] = current[tree]
                    length += 1
        result = rollout(s, t, settings, weights, actions, rows, generator)
        for index in range(length):
            node = nodes[path[index]]
            node["visits"] += 1
            node["value"] += result
        done += 1
    settings["simulations"] += done
    return done


@kernel
def extract_subtree(nodes_words: Any, root: int, out_words: Any) -> int:
    """Copy the nodes below one node, itself included, to the front of another array.

    Args:
        nodes_words: `NODE` records as `uint64`; left alone.
        root: index of the node that becomes node 0.
        out_words: `NODE` records as `uint64`, at least as many as are copied.

    Returns:
        How many were copied.
    """
    nodes = nodes_words.view(NODE)
    out = out_words.view(NODE)
    source = np.empty(len(out), np.int32)
    out[0] = nodes[root]
    out[0]["next_sibling"] = -1
    source[0] = root
    used = 1
    done = 0
    while done < used:
        child = nodes[source[done]]["first_child"]
        last = -1
        while child >= 0:
            out[used] = nodes[child]
            out[used]["next_sibling"] = -1
            source[used] = child
            if last < 0:
                out[done]["first_child"] = used
            else:
                out[last]["next_sibling"] = used
            last = used
            used += 1
            child = nodes[child]["next_sibling"]
        done += 1
    return used
