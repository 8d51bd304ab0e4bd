"""Which games a tournament consists of, with what randomness, and what comes of each."""

from __future__ import annotations

import re
import secrets
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from mrjack_ai.agents import make_agent
from mrjack_ai.agents.registry import canonical_spec, is_built_in, is_same_agent, name_of
from mrjack_ai.common.numbers import SEEDS, RealNumbers, WholeNumbers
from mrjack_ai.common.text import printable, shown
from mrjack_ai.errors import AgentError, TournamentError
from mrjack_ai.game.record import GameRecord, ending_word
from mrjack_ai.game.state import State
from mrjack_ai.setup.variant import DETECTIVE, JACK, PLAYER_NAMES, Variant
from mrjack_ai.stats.sprt import Sprt
from mrjack_ai.tournament.deals import (
    Deal,
    deal_text,
    keyed_deal,
    keyed_generator,
    parse_deal,
    seeded_deal,
)
from mrjack_ai.tournament.match import Forfeit, Watch, play_timed
from mrjack_ai.version import RULES_VERSION

# First element of every spawn key of an agent's generator; that of deals is another.
_AGENT_STREAM = 1

_LIMIT = "move time limit in milliseconds"

_LONGEST_LOG = 4000
"""So much of the end of a log is shown."""

FORMATS: dict[str, str] = {
    "round-robin": "each agent against each other one",
    "match": "two agents",
    "gauntlet": "the first agent against each other one",
    "self-play": "each agent against itself",
}
"""What can be played, and who meets whom in it."""

GAMES = WholeNumbers(1, 10**12)
"""How many games a pairing can have; whether they are even is asked apart."""
MOST_GAMES = GAMES.most
"""Most games a pairing."""
MOST_SEED = SEEDS.most
"""Seeds go from 0 to this number."""
MOVE_TIME_LIMITS = RealNumbers(0, 10**9, above=True)
"""Milliseconds for a decision."""

_LEAST_AGENTS = {"round-robin": 2, "match": 2, "gauntlet": 2, "self-play": 1}


@dataclass(frozen=True)
class Settings:
    """A tournament: everything that decides its games.

    Attributes:
        agents: specification strings, no two of the same agent: two for a match, at least one for
            self-play, at least two else. A gauntlet is the first one's against the others. They
            are kept in one spelling (see `canonical_spec`).
        games: games of each pairing, 2 to 10^12; even, since each deal is played with both sides.
            With a sequential test, the most that are played.
        seed: 0 to 2^128-1.
        variant: the variant.
        format: one of `FORMATS`.
        deals: the deals to play, in this order; None draws them from the seed.
        move_time_limit: most milliseconds an agent may take for a decision, or it forfeits the
            game; None for no limit.
        sprt: a sequential test that stops a match of two agents when it is decided; None plays
            all games.
        key: 64 hexadecimal digits. With a key, deals and the agents' randomness follow from key
            and seed together, and nobody who lacks the key can compute the ones or the seed from
            the others. Without, they follow from the seed alone.

    A tournament of built-in agents needs no key: the same seed gives the same games. Agents from
    outside (code files, packages, programs, classes of your own) might know the seed, so
    `run_tournament` gives theirs a random key unless there is one; it is kept in the results, and
    the same seed and key give the same games again, with any number of workers, resumed or not.

    The key keeps secrets from an agent that uses what it is given and the library's globals. It is
    no wall within one process: who reads the interpreter's frames, the memory, or the results file
    finds it. Given deals (`deals`) are as secret as the file they come from.

    Raises:
        TournamentError: when such a tournament cannot be played.
    """

    agents: tuple[str, ...]
    games: int
    seed: int
    variant: Variant
    format: str = "round-robin"
    deals: tuple[Deal, ...] | None = None
    move_time_limit: float | None = None
    sprt: Sprt | None = None
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.format, str) or self.format not in FORMATS:
            raise TournamentError(f"format {shown(self.format)} must be {', '.join(FORMATS)}")
        self._set("agents", _specs(self.agents))
        if self.deals is not None:
            self._set("deals", tuple(self.deals))
        self._set("games", GAMES.read(self.games, "games", TournamentError))
        self._set("seed", SEEDS.read(self.seed, "seed", TournamentError))
        if self.move_time_limit is not None:
            limit = MOVE_TIME_LIMITS.read(self.move_time_limit, _LIMIT, TournamentError)
            self._set("move_time_limit", limit)
        count, least = len(self.agents), _LEAST_AGENTS[self.format]
        if count < least or (self.format == "match" and count != 2):
            few = {1: "at least one agent", 2: "at least two agents"}[least]
            wanted = "exactly two agents" if self.format == "match" else few
            name = "tournament" if self.format == "round-robin" else self.format
            raise TournamentError(f"a {name} needs {wanted}, not {count}")
        if len(set(self.agents)) != count:
            raise TournamentError(
                f"an agent is listed twice in {shlex.join(self.agents)}; "
                "the format self-play lets agents play themselves"
            )
        if self.games < 2 or self.games % 2:
            raise TournamentError(
                f"games {self.games} must be even and at least 2: each deal is played twice, "
                "with the sides swapped"
            )
        if self.total_games >= 2**63:
            raise TournamentError(f"games {self.games} of each pairing are 2^63 or more in all")
        if self.deals is not None and self.games > 2 * len(self.deals):
            raise TournamentError(
                f"games {self.games} are more than twice the {len(self.deals)} deals given"
            )
        if self.key is not None and not (
            isinstance(self.key, str) and re.fullmatch("[0-9a-f]{64}", self.key)
        ):
            raise TournamentError("a key must be 64 hexadecimal digits, in lower case")
        if self.sprt is not None and (count != 2 or self.format == "self-play"):
            what = "self-play" if self.format == "self-play" else f"{count} agents"
            raise TournamentError(
                f"a sequential test is for a match of two agents, not for {what}; leave out "
                "--sprt, or the other agents"
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def check_agents(self, allow_cheats: bool = False) -> frozenset[int]:
        """Build every agent once.

        Returns:
            Indices of the agents that cheat: those to be shown the true state, and no others.

        Raises:
            AgentError: when a specification is wrong.
            TournamentError: for an agent that cheats, unless that is allowed, and for two
                specifications of one agent.
        """
        cheats = set()
        for one, other in combinations(self.agents, 2):
            if is_same_agent(one, other):
                raise TournamentError(
                    f"{one!r} and {other!r} are the same agent; the format self-play lets agents "
                    "play themselves"
                )
        for number, spec in enumerate(self.agents):
            if not type(make_agent(spec)).cheats:
                continue
            if not allow_cheats:
                raise TournamentError(
                    f"agent {spec!r} looks at what it may not know; give --allow-cheats "
                    "(from Python: allow_cheats=True) to let it play all the same"
                )
            cheats.add(number)
        return frozenset(cheats)

    @property
    def needs_key(self) -> bool:
        """True when an agent from outside could compute the deals, since there is no key."""
        return self.key is None and not all(is_built_in(name_of(spec)) for spec in self.agents)

    def with_key(self, key: str | None = None) -> Settings:
        """These settings with a key, a random one by default."""
        return replace(self, key=secrets.token_hex(32) if key is None else key)

    @cached_property
    def pairings(self) -> list[tuple[int, int]]:
        """Indices of the two agents of each pairing; the same one twice in self-play."""
        count = len(self.agents)
        if self.format == "self-play":
            return [(agent, agent) for agent in range(count)]
        if self.format == "gauntlet":
            return [(0, other) for other in range(1, count)]
        return list(combinations(range(count), 2))

    @property
    def total_games(self) -> int:
        """Games of the whole tournament."""
        return self.games * len(self.pairings)

    def to_dict(self) -> dict[str, Any]:
        """JSON form, kept with the results; `from_dict` inverts it."""
        deals = self.deals
        return {
            "format": self.format,
            "agents": list(self.agents),
            "games": self.games,
            "seed": self.seed,
            "key": self.key,
            "deals": None if deals is None else [deal_text(deal, self.variant) for deal in deals],
            "move_time_limit": self.move_time_limit,
            "sprt": None if self.sprt is None else str(self.sprt),
            "rules": RULES_VERSION,
            **self.variant.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """Read the JSON form.

        Raises:
            MrJackError: when it describes no tournament, or one by other rules.
        """
        if data.get("rules") != RULES_VERSION:
            raise TournamentError(
                f"the games follow version {data.get('rules')} of the rules; this is "
                f"{RULES_VERSION}"
            )
        try:
            variant = Variant.from_dict(data)
            deals = data["deals"]
            test = data.get("sprt")  # missing in files older than the test
            return cls(
                agents=tuple(data["agents"]),
                games=data["games"],
                seed=data["seed"],
                variant=variant,
                format=data["format"],
                deals=None if deals is None else tuple(parse_deal(text, variant) for text in deals),
                move_time_limit=data["move_time_limit"],
                sprt=None if test is None else Sprt.parse(test.split()),
                key=data.get("key"),  # missing in files older than keys
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise TournamentError(f"the settings are damaged: {error!r}") from None

    def game(self, number: int) -> Game:
        """Game `number` of the schedule, counted from 0: deal by deal, then by pairing."""
        return _game(number, self.pairings)

    def schedule(self) -> Iterator[Game]:
        """All games in order."""
        pairings = self.pairings
        return (_game(number, pairings) for number in range(self.total_games))


def _game(number: int, pairings: list[tuple[int, int]]) -> Game:
    deal, place = divmod(number, 2 * len(pairings))
    pairing, swapped = divmod(place, 2)
    one, other = pairings[pairing]
    return Game(pairing, deal, (other, one) if swapped else (one, other), number)


def _specs(agents: object) -> tuple[str, ...]:
    """Specifications in one spelling; those that are not known here stay as they are."""
    if isinstance(agents, (str, bytes)) or not isinstance(agents, Iterable):
        raise TournamentError(f"agents {shown(agents)} must be specification strings")
    found = []
    for spec in agents:
        if not isinstance(spec, str):
            raise TournamentError(f"agent {shown(spec)} must be a specification string")
        if not spec.isprintable():
            raise TournamentError(
                f"agent {shown(spec)} must be one line without control characters"
            )
        try:
            found.append(canonical_spec(spec))
        except AgentError:  # told when they are to play
            found.append(spec.strip())
    return tuple(found)


@dataclass(frozen=True)
class Game:
    """One game of the schedule.

    Attributes:
        pairing: index of the pairing.
        deal: number of the deal; equal numbers are equal deals, in every pairing.
        players: indices of the agents that play the Detective and Jack.
        number: place in the schedule.
    """

    pairing: int
    deal: int
    players: tuple[int, int]
    number: int

    def make_deal(self, settings: Settings) -> Deal:
        """What chance decides in this game."""
        if settings.deals is not None:
            return settings.deals[self.deal]
        if settings.key is not None:
            return keyed_deal(settings.variant, settings.key, settings.seed, self.deal)
        return seeded_deal(settings.variant, settings.seed, self.deal)

    def result(
        self,
        settings: Settings,
        watch: Watch | None = None,
        cheats: frozenset[int] | None = None,
    ) -> GameResult:
        """Play the game; but for times it depends on nothing but the settings and this game.

        Args:
            settings: the tournament.
            watch: told what goes on.
            cheats: what `Settings.check_agents` has returned; None asks the classes now.
        """
        # An agent that plays itself sits there as two, which swap sides like any two.
        keys = self.players
        if keys[0] == keys[1]:
            keys = (1, 0) if self.number % 2 else (0, 1)
        generators = [
            _generator(settings, self.pairing, self.deal, key, side)
            for side, key in enumerate(keys)
        ]
        makers: list[Callable[[], Any]] = [
            partial(make_agent, settings.agents[player]) for player in self.players
        ]
        limit = settings.move_time_limit
        played = play_timed(
            settings.variant,
            makers,
            self.make_deal(settings),
            generators,
            None if limit is None else limit / 1000,
            watch,
            [cheats is None or player in cheats for player in self.players],
        )
        return self.finished(
            played.state,
            played.forfeit,
            played.seconds,
            played.thinking,
            played.decisions,
            played.logs,
        )

    def finished(
        self,
        state: State,
        forfeit: Forfeit | None,
        seconds: float,
        thinking: tuple[float, float] = (0.0, 0.0),
        decisions: tuple[int, int] = (0, 0),
        logs: tuple[str, str] = ("", ""),
    ) -> GameResult:
        """The result of this game when it ended in a state."""
        actions = state.history_strings()
        ending = ending_word(state)
        if forfeit is not None:
            winner = 1 - forfeit.player
        else:
            winner = DETECTIVE if state.returns()[DETECTIVE] > 0 else JACK
        return GameResult(
            number=self.number,
            pairing=self.pairing,
            deal=self.deal,
            detective=self.players[DETECTIVE],
            jack=self.players[JACK],
            winner=PLAYER_NAMES[winner],
            ending=ending if forfeit is None else None,
            length=len(actions),
            seconds=seconds,
            detective_seconds=thinking[DETECTIVE],
            jack_seconds=thinking[JACK],
            detective_decisions=decisions[DETECTIVE],
            jack_decisions=decisions[JACK],
            forfeit_by=None if forfeit is None else PLAYER_NAMES[forfeit.player],
            forfeit_kind=None if forfeit is None else forfeit.kind,
            forfeit_message=None if forfeit is None else forfeit.message,
            forfeit_traceback=None if forfeit is None else forfeit.traceback,
            detective_log=logs[DETECTIVE] or None,
            jack_log=logs[JACK] or None,
            actions="; ".join(actions),
        )

    def play(self, settings: Settings) -> GameRecord:
        """Play the game and keep the record (see `result`)."""
        return self.result(settings).record(settings)


def _generator(settings: Settings, *words: int) -> np.random.Generator:
    """The generator of an agent in a game."""
    if settings.key is not None:
        return keyed_generator(settings.key, settings.seed, _AGENT_STREAM, *words)
    sequence = np.random.SeedSequence(settings.seed, spawn_key=(_AGENT_STREAM, *words))
    return np.random.default_rng(sequence)


class GameResult(NamedTuple):
    """One game that was played, in plain values: a row of the results file.

    Attributes:
        number: place in the schedule, from 0.
        pairing: index of the pairing.
        deal: number of the deal.
        detective: index of the agent that played the Detective.
        jack: index of the agent that played Jack.
        winner: `detective` or `jack`.
        ending: `caught`, `wrong`, `escape` or `dawn`; None when the game was forfeited.
        length: number of actions and chance outcomes.
        seconds: time the game took.
        detective_seconds: time the Detective took for its decisions.
        jack_seconds: the same of Jack.
        detective_decisions: how many decisions the Detective made.
        jack_decisions: the same of Jack.
        forfeit_by: `detective` or `jack`, whoever broke its contract; None as a rule.
        forfeit_kind: one of `match.FORFEIT_KINDS`, or None.
        forfeit_message: what happened, in one line, or None.
        forfeit_traceback: Python's traceback, or None.
        detective_log: what the Detective said beside the game (`Agent.log`), or None; of a program
            this is the end of its standard error.
        jack_log: the same of Jack.
        actions: texts of all actions and outcomes, joined by `; `.
    """

    number: int
    pairing: int
    deal: int
    detective: int
    jack: int
    winner: str
    ending: str | None
    length: int
    seconds: float
    detective_seconds: float
    jack_seconds: float
    detective_decisions: int
    jack_decisions: int
    forfeit_by: str | None
    forfeit_kind: str | None
    forfeit_message: str | None
    forfeit_traceback: str | None
    detective_log: str | None
    jack_log: str | None
    actions: str

    def record(self, settings: Settings) -> GameRecord:
        """The game's record; times are not in it, so that equal games have equal records.

        `details` holds `game` (place in the schedule, from 1), `pairing`, `deal` and, when the game
        was forfeited, `forfeit` with `by`, `kind` and `message`.
        """
        details: dict[str, Any] = {"game": self.number + 1}
        details |= {"pairing": self.pairing, "deal": self.deal}
        if self.forfeit_by is not None:
            details["forfeit"] = {
                "by": self.forfeit_by,
                "kind": self.forfeit_kind,
                "message": self.forfeit_message,
            }
        return GameRecord(
            variant=settings.variant,
            # The same few hundred texts in every game.
            actions=tuple(map(sys.intern, self.actions.split("; "))) if self.actions else (),
            ending=self.ending,
            agents=(settings.agents[self.detective], settings.agents[self.jack]),
            seed=settings.seed,
            details=details,
        )


def log_texts(result: GameResult, settings: Settings) -> list[tuple[str, str]]:
    """What the agents of a game said beside it: title and text for each that said something.

    Only the end of long texts, and nothing that the traceback of a forfeit shows anyway.
    """
    found = []
    for agent, side, log in (
        (result.detective, "Detective", result.detective_log),
        (result.jack, "Jack", result.jack_log),
    ):
        text = printable((log or "").strip()[-_LONGEST_LOG:], lines=True)
        if text and text not in (result.forfeit_traceback or ""):
            found.append((f"log of {settings.agents[agent]} as {side}", text))
    return found


def forfeit_text(record: GameRecord) -> str:
    """Who forfeited a game of a tournament, and why, in one line."""
    forfeit = record.details["forfeit"]
    agent = record.agents[PLAYER_NAMES.index(forfeit["by"])]
    side = forfeit["by"].capitalize()
    return printable(f"{agent} as {side} forfeits ({forfeit['kind']}): {forfeit['message']}")
