"""What happened in games, play by play: choices, cards, calls for witnesses, hexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mrjack_ai.errors import RecordError
from mrjack_ai.game.actions import action_space
from mrjack_ai.game.record import GameRecord
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.characters import KIND_BY_CODE, Ability
from mrjack_ai.setup.variant import DETECTIVE, PLAYER_NAMES, Variant
from mrjack_ai.studies.significance import Difference, contrast_by_deals, family, ratio_by_deals

if TYPE_CHECKING:
    import pandas

_ABILITIES = ("alibi", "light", "lamp", "cordon", "swap", "whistle", "cover")


@dataclass(frozen=True)
class Anatomy:
    """Games of one kind taken apart, as data frames.

    Attributes:
        nodes: how many decisions there were by `player`, `node` (kind of node) and `actions`
            (number of legal ones): `count`.
        kinds: by `player`, `node` and `kind` of action: `nodes` at which there was one,
            `offered` (legal actions of this kind there) and `chosen`.
        plays: one row a card played: `game`, `deal`, `turn`, `player`, `character`, `is_jack`,
            `ability` (kind of action that used it; empty when it was not, or cannot be told, as
            with Miss Stealthy).
        calls: one row a call for witnesses: `game`, `deal`, `turn`, `before` (identities the
            Detective had to reckon with), `alike` (those of them who were visible), `seen`,
            `after`.
        hexes: how often something was on a hex: `what` (`stands`: at the end of a turn; `jack`:
            Jack then; `caught`, `wrong accusation`: the accused; `escape`: Jack at the exit),
            `character`, `hex`, `count`.
    """

    nodes: pandas.DataFrame
    kinds: pandas.DataFrame
    plays: pandas.DataFrame
    calls: pandas.DataFrame
    hexes: pandas.DataFrame


@lru_cache(maxsize=8)
def kinds_of_actions(variant: Variant) -> tuple[str, ...]:
    """Kind of each action id: the first word of its text."""
    return tuple(name.split(" ", 1)[0] for name in action_space(variant).names)


class _Counts:
    def __init__(self) -> None:
        self.nodes: Counter[tuple[str, str, int]] = Counter()
        self.kinds: dict[tuple[str, str, str], list[int]] = {}
        self.hexes: Counter[tuple[str, str, str]] = Counter()
        self.plays: list[list[object]] = []
        self.calls: list[tuple[object, ...]] = []


def take_apart(records: Iterable[GameRecord]) -> Anatomy:
    """Replay games and note what happened.

    Args:
        records: games that are over; `details` holds the deal, as in a tournament's results.

    Raises:
        RecordError: when an action is not legal.
    """
    import pandas  # not at the top: it takes longer to import than we do

    counts = _Counts()
    for game, record in enumerate(records):
        _take_apart(counts, record, game)
    nodes = [(*key, count) for key, count in sorted(counts.nodes.items())]
    kinds = [(*key, *values) for key, values in sorted(counts.kinds.items())]
    hexes = [(*key, count) for key, count in sorted(counts.hexes.items())]
    plays = ["game", "deal", "turn", "player", "character", "is_jack", "ability"]
    calls = ["game", "deal", "turn", "before", "alike", "seen", "after"]
    return Anatomy(
        pandas.DataFrame(nodes, columns=["player", "node", "actions", "count"]),
        pandas.DataFrame(kinds, columns=["player", "node", "kind", "nodes", "offered", "chosen"]),
        pandas.DataFrame(counts.plays, columns=plays),
        pandas.DataFrame(counts.calls, columns=calls),
        pandas.DataFrame(hexes, columns=["what", "character", "hex", "count"]),
    )


def _take_apart(counts: _Counts, record: GameRecord, game: int) -> None:
    state = new_game(record.variant)
    deal = record.details.get("deal", game)
    turn, cleared = 0, frozenset[str]()
    for text in record.actions:
        kind = text.split(" ", 1)[0]
        player = state.current_player()
        if player >= 0:
            _note_decision(counts, state, player, kind)
        if kind == "pick":
            code = text.split(" ")[1]
            who = PLAYER_NAMES[player]
            row = [game, deal, state.turn, who, code, state.identity == code, ""]
            counts.plays.append(row)
        elif kind in _ABILITIES and _uses_own_ability(state, kind):
            counts.plays[-1][-1] = kind
        state.apply_action(text)
        if state.turn != turn:
            if turn:
                call = witness_call(state, cleared)
                counts.calls.append((game, deal, turn, *call))
                for code, hex in state.positions.items():
                    counts.hexes["stands", code, hex] += 1
                    if code == state.identity:
                        counts.hexes["jack", code, hex] += 1
            turn, cleared = state.turn, frozenset(state.cleared())
    outcome = state.outcome()
    if outcome is None and "forfeit" not in record.details:
        raise RecordError("the game is not over; only finished games can be taken apart")
    if outcome is not None and outcome.ending != "dawn":
        if state.accused is not None:
            code = state.accused
            hex = state.positions[code]
        else:
            code = state.identity or ""
            exit = record.actions[-1].split(" ")[1]
            hex = dict(record.variant.board.exits)[exit]
        counts.hexes[outcome.ending, code, hex] += 1


def _uses_own_ability(state: State, kind: str) -> bool:
    """Aiming the lantern after a whistle or swap has moved Watson is no ability of the player's."""
    return kind != "light" or KIND_BY_CODE[state.playing or ""].ability == Ability.AIM


def _note_decision(counts: _Counts, state: State, player: int, chosen: str) -> None:
    actions = state.legal_actions()
    name, node = PLAYER_NAMES[player], state.node
    counts.nodes[name, node, len(actions)] += 1
    kinds = kinds_of_actions(state.variant)
    offered = Counter([kinds[action] for action in actions])
    for kind, count in offered.items():
        values = counts.kinds.setdefault((name, node, kind), [0, 0, 0])
        values[0] += 1
        values[1] += count
        values[2] += kind == chosen


def witness_call(state: State, cleared: frozenset[str]) -> tuple[int, int, bool, int]:
    """The call for witnesses that has just ended a turn, as the Detective sees it.

    Args:
        state: after the call, before anything else.
        cleared: who was cleared before it.

    Returns:
        How many could be Jack before it, how many of them were visible, whether Jack was, and how
        many could be Jack after it. Those on alibi cards the Detective drew, and those whom a
        forced `stay` has exonerated, are not among them.
    """
    innocent = cleared | set(state.exonerated()) | set(state.alibis(DETECTIVE))
    before = set(state.variant.cast) - innocent
    after = len(before - set(state.cleared()))
    seen = state.witness_seen
    return len(before), after if seen else len(before) - after, seen, after


def entropy(alike: npt.ArrayLike, before: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Bits expected of a call when `alike` of `before` equally likely identities are visible.

    H(a / b) = -(a/b) log2 (a/b) - (1 - a/b) log2 (1 - a/b), at most 1 (Shannon, A mathematical
    theory of communication, Bell System Technical Journal 27, 1948). By the exact weights: all
    identities that are possible are equally likely (see `mrjack_ai.game.belief`).

    Returns:
        float64, of the shape of the arguments.
    """
    from scipy.special import xlogy  # not at the top: it takes longer to import than we do

    share = np.asarray(alike, np.float64) / np.asarray(before, np.float64)
    return np.asarray(-(xlogy(share, share) + xlogy(1 - share, 1 - share)) / np.log(2) + 0.0)


def gain(before: npt.ArrayLike, after: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Bits a call gave: log2 of how many times fewer can be Jack after it."""
    return np.asarray(np.log2(np.asarray(before, np.float64) / np.asarray(after, np.float64)))


def calls_by_turn(calls: pandas.DataFrame) -> pandas.DataFrame:
    """How fast the suspects shrink.

    Args:
        calls: as `Anatomy.calls`.

    Returns:
        By `turn`: `games` that came so far, mean `before`, `after` and `gain` (bits), `before` and
        `gain` with 95 % intervals by deals in `..._low` and `..._high`, mean `expected` (bits,
        `entropy`), `seen` (share of calls).
    """
    import pandas

    table = calls.assign(
        gain=gain(calls["before"], calls["after"]),
        expected=entropy(calls["alike"], calls["before"]),
    )
    rows = []
    for turn, group in table.groupby("turn"):
        row: dict[str, float] = {"turn": turn, "games": len(group)}
        for name in ("before", "after", "gain", "expected", "seen"):
            found = ratio_by_deals(group["deal"], group[name])
            row[name] = found.value
            if name in ("before", "gain"):
                row[f"{name}_low"], row[f"{name}_high"] = found.low, found.high
        rows.append(row)
    return pandas.DataFrame(rows)


def told_and_expected(calls: pandas.DataFrame) -> Difference:
    """How many bits more a call gave than the exact weights expect of it, over all calls.

    On average it is 0 where plays do not tell who Jack is: then every identity is as likely as its
    exact weight, and so is the answer. It is below 0 where Jack sees to it that he is on the
    larger side of the split.

    Args:
        calls: as `Anatomy.calls`.

    Returns:
        The difference in bits a call, by deals (`significance.ratio_by_deals`).
    """
    told = gain(calls["before"], calls["after"])
    expected = entropy(calls["alike"], calls["before"])
    return ratio_by_deals(calls["deal"], told - expected)


def branching(nodes: pandas.DataFrame) -> pandas.DataFrame:
    """Legal actions by player and kind of node.

    Args:
        nodes: as `Anatomy.nodes`.

    Returns:
        `player`, `node`, `decisions`, `mean`, `median`, `most`, and `bits` (mean log2 of the
        number of legal actions).
    """
    import pandas

    rows = []
    for (player, node), group in nodes.groupby(["player", "node"], observed=True):
        counts, actions = group["count"].to_numpy(), group["actions"].to_numpy()
        order = np.argsort(actions)
        half = np.searchsorted(np.cumsum(counts[order]), counts.sum() / 2)
        median = int(actions[order][half])
        mean = np.average(actions, weights=counts)
        bits = np.average(np.log2(actions), weights=counts)
        rows.append((player, node, int(counts.sum()), mean, median, int(actions.max()), bits))
    columns = ["player", "node", "decisions", "mean", "median", "most", "bits"]
    return pandas.DataFrame(rows, columns=columns)


def who_plays(plays: pandas.DataFrame, games: pandas.DataFrame) -> pandas.DataFrame:
    """The Detective's score by who plays which character in turns 1 and 2, with tests.

    In these two turns every character is played once, by one player or the other, unless the game
    ends before. Compared are all games of either kind: an association. The player who chose a card
    had his reasons, and they, not the card, may be what matters.

    Args:
        plays: as `Anatomy.plays`.
        games: one row a game, in the order replayed: `deal`, `winner`.

    Returns:
        As `significance.family`, the first column being `character`: how much higher the
        Detective's score is where he plays the character (`significance.contrast_by_deals`).
    """
    won = (games["winner"] == PLAYER_NAMES[DETECTIVE]).to_numpy()
    early = plays[plays["turn"] <= 2]
    found = {
        str(code): contrast_by_deals(
            group["deal"], won[group["game"].to_numpy()], group["player"] == PLAYER_NAMES[DETECTIVE]
        )
        for code, group in early.groupby("character", observed=True)
    }
    return family(found, "character", "Benjamini-Hochberg")


def heat(hexes: pandas.DataFrame, what: str, character: str | None = None) -> dict[str, float]:
    """Shares by hex, for a picture of the board.

    Args:
        hexes: as `Anatomy.hexes`.
        what: which of its rows.
        character: only this one; by default all.

    Returns:
        Hex name -> share of the times `what` happened, adding up to 1; empty if it never did.
    """
    rows = hexes[hexes["what"] == what]
    if character is not None:
        rows = rows[rows["character"] == character]
    counts = rows.groupby("hex", observed=True)["count"].sum()
    return {str(hex): float(count / counts.sum()) for hex, count in counts.items()}
