"""OpenSpiel's view of the game: a thin layer over the engine.

A `MrJackState` keeps one NumPy array, since OpenSpiel clones a Python state by deep-copying its
attributes; what depends on the variant alone lies on a class made for that variant. What is read
out of that array again and again is kept in slots, which are no attributes to OpenSpiel: a clone
begins without.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np
import pyspiel

from mrjack_ai.common.numbers import SEEDS, WholeNumbers
from mrjack_ai.common.reading import parse_json
from mrjack_ai.common.text import shown
from mrjack_ai.engine import features, kernels
from mrjack_ai.engine.layout import game_words, node_of, player_of
from mrjack_ai.engine.tables import build_tables, max_game_length
from mrjack_ai.engine.types import NODE_NAMES, Player, Words
from mrjack_ai.engine.warmup import ENGINE
from mrjack_ai.errors import ArgumentError, BoardError
from mrjack_ai.game.actions import ActionSpace, action_space
from mrjack_ai.game.belief import determinize
from mrjack_ai.game.notation import position_text
from mrjack_ai.game.observation import (
    EVENT_BITS,
    Observation,
    event_bits,
    event_text,
    mask_event,
    max_events,
    observe_game,
    observe_public,
    split_tensor,
    tensor_sections,
    tensor_size,
)
from mrjack_ai.game.position import returns_of, set_bits, state_record
from mrjack_ai.game.state import State
from mrjack_ai.setup.board import board_from_dict
from mrjack_ai.setup.variant import (
    DEFAULT_VARIANT,
    PLAYER_NAMES,
    Variant,
    checked_player,
    make_variant,
)

# Plain numbers: they are looked up and compared at every decision.
_CHANCE, _TERMINAL = int(Player.CHANCE), int(Player.TERMINAL)

GAME_TYPE = pyspiel.GameType(
    short_name="mrjack",
    long_name="Mr. Jack (Whitechapel)",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification={
        "board": DEFAULT_VARIANT.board.name,
        "cast": "+".join(DEFAULT_VARIANT.cast),
        "turns": DEFAULT_VARIANT.turns,
        "first": DEFAULT_VARIANT.first,
    },
)

_INLINE = "inline-"
"""Begins a `board` parameter that holds the board itself."""
_LARGEST_BOARD = 10**6
"""Bytes of its JSON text."""


class MrJackGame(pyspiel.Game):  # type: ignore[misc]
    """The game with its parameters `board`, `cast`, `turns` and `first`.

    Attributes:
        variant: the `Variant` the parameters describe.

    Args:
        params: the parameters, as OpenSpiel passes them.

    Raises:
        VariantError, BoardError: when the parameters describe no variant.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.variant = _variant_of(params or {})
        # A board of the user's own is kept itself in them, not the name of its file: that may be
        # elsewhere or changed when the game is loaded again.
        own = _parameters(self.variant)
        params = {name: own[name] for name in params or {}}
        ENGINE.ensure()
        space = action_space(self.variant)
        info = pyspiel.GameInfo(
            num_distinct_actions=space.num_actions,
            max_chance_outcomes=space.max_chance_outcomes,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=max_game_length(self.variant),
        )
        super().__init__(GAME_TYPE, info, params)
        start = np.zeros(game_words(self.variant), np.uint64)
        kernels.start_game(start, build_tables(self.variant))
        self._state_class = type(
            "MrJackState",
            (MrJackState,),
            {
                "__doc__": MrJackState.__doc__,
                "_variant": self.variant,
                "_tables": build_tables(self.variant),
                "_space": space,
                "_start": start,
            },
        )

    def new_initial_state(self) -> MrJackState:
        """The state before Jack's card is drawn."""
        state: MrJackState = self._state_class(self)
        return state

    def __reduce__(self) -> tuple[Any, ...]:
        # OpenSpiel's own way restores the C++ half only.
        return (pyspiel.load_game, (str(self),))

    def max_chance_nodes_in_history(self) -> int:
        """Most chance nodes of one game."""
        return self.variant.max_chance_nodes

    def make_py_observer(
        self,
        iig_obs_type: pyspiel.IIGObservationType | None = None,
        params: dict[str, Any] | None = None,
    ) -> MrJackObserver:
        """An observer; see `MrJackObserver`."""
        return MrJackObserver(
            self.variant, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params
        )


class MrJackState(pyspiel.State):  # type: ignore[misc]
    """A state of the game; see OpenSpiel's `pyspiel.State` for what its methods mean."""

    # Set on the class that `MrJackGame` makes for its variant.
    _variant: Variant
    _tables: Words
    _space: ActionSpace
    _start: Words

    _words: Words

    __slots__ = ("_known_actions", "_known_player")

    _known_actions: list[int] | None
    """The legal actions, once they are known; never given away, since a list can be changed."""
    _known_player: int | None

    def __init__(self, game: MrJackGame) -> None:
        super().__init__(game)
        self._words = self._start.copy()  # type: ignore[misc] # beside the slots there is a dict
        self._known_actions = self._known_player = None

    def current_player(self) -> int:
        """0 Detective, 1 Jack, `pyspiel.PlayerId.CHANCE` or `TERMINAL`."""
        player = self._known_player
        if player is None:
            player = self._known_player = player_of(self._words)
        return player

    def is_terminal(self) -> bool:
        """True when the game is over."""
        player = self._known_player
        return (self.current_player() if player is None else player) == _TERMINAL

    def is_chance_node(self) -> bool:
        """True when chance decides."""
        return self.current_player() == _CHANCE

    def _actions(self) -> list[int]:
        actions = self._known_actions
        if actions is None:
            out = kernels.scratch.actions
            count = kernels.legal_actions(self._words, self._tables, out)
            actions = self._known_actions = out[:count].tolist()
        return actions

    def _legal_actions(self, player: int) -> list[int]:
        return self._actions()

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Ids of the legal actions, ascending; outcome ids at a chance node.

        OpenSpiel's own method comes to the same by way of four calls back from C++.

        Args:
            player: the list is empty for a player who is not to move.
        """
        if player is None or player == self.current_player():
            return self._actions().copy()
        actions: list[int] = super().legal_actions(player)
        return actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcome ids and probabilities."""
        outcomes = self._actions()
        return list(zip(outcomes, repeat(1.0 / max(1, len(outcomes)))))

    def _apply_action(self, action: int) -> None:
        out = kernels.scratch.actions
        count = kernels.apply_action(self._words, self._tables, action, out)
        if count < 0:
            self.to_native().apply_action(action)  # raises, saying what would be legal
        self._known_actions = out[:count].tolist()
        self._known_player = player_of(self._words)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == _CHANCE:
            node = NODE_NAMES[node_of(self._words)]
            # Asked about an outcome at another node, there is only one sensible reading.
            names = self._space.outcome_names.get(node, self._space.outcome_names["jack"])
        else:
            names = self._space.names
        return names[WholeNumbers(0, len(names) - 1).read(action, "action")]

    def string_to_action(self, *player_and_text: Any) -> int:
        """Id of an action from its text.

        Raises:
            NotationError, IllegalActionError: see `mrjack_ai.State.string_to_action`.
        """
        return self.to_native().string_to_action(player_and_text[-1])

    def returns(self) -> list[float]:
        """+1 and -1 at the end, 0 before."""
        return returns_of(state_record(self._words))

    def __str__(self) -> str:
        return position_text(self._variant, self._words)

    def __reduce__(self) -> tuple[Any, ...]:
        # The class was made for one variant and cannot be found by name.
        return (_deserialize, (pyspiel.serialize_game_and_state(self.get_game(), self),))

    def __deepcopy__(self, memo: object) -> MrJackState:
        state: MrJackState = self.clone()
        return state

    # -- beyond pyspiel.State -------------------------------------------------------------

    def to_native(self) -> State:
        """This state as a `mrjack_ai.State` of its own."""
        return State.from_words(self._variant, self._words.copy())

    def observation(self, player: int) -> Observation:
        """What a player may know, as `mrjack_ai.Observation`.

        Raises:
            ArgumentError: unless the player is 0 or 1.
        """
        player = checked_player(player)
        actions = tuple(self._legal_actions(player)) if self.current_player() == player else ()
        return observe_game(self._variant, self._words, None, player, actions)

    def resample_from_infostate(
        self, player_id: int, probability_sampler: Callable[[], float]
    ) -> MrJackState:
        """A state that `player_id` cannot tell from this one, sampled with its exact weight.

        Args:
            player_id: 0 or 1.
            probability_sampler: returns numbers from [0, 1); OpenSpiel's bots pass one.
        """
        seeds = [int(probability_sampler() * 2**32) for _ in range(2)]
        return self._resample(player_id, np.random.default_rng(seeds))

    def _resample(self, player: int, rng: np.random.Generator) -> MrJackState:
        sample = determinize(self.observation(player), rng)
        state: MrJackState = self.get_game().new_initial_state()
        for action in sample.history():
            state.apply_action(action)
        return state


def _deserialize(text: str) -> MrJackState:
    _, state = pyspiel.deserialize_game_and_state(text)
    deserialized: MrJackState = state
    return deserialized


def make_resampler(seed: int) -> Callable[[MrJackState, int], MrJackState]:
    """A repeatable resampler for OpenSpiel's `ISMCTSBot.set_resampler`.

    Args:
        seed: seed of its random generator, 0 to 2^128-1.

    Raises:
        ArgumentError: for another seed.
    """
    rng = np.random.default_rng(SEEDS.read(seed, "seed"))

    def resample(state: MrJackState, player: int) -> MrJackState:
        return state._resample(player, rng)

    return resample


class MrJackObserver:
    """OpenSpiel's observer interface (see `open_spiel.python.observation`).

    Supports every combination of public and private information. `dict` holds the sections of
    `mrjack_ai.game.observation.tensor_sections` by name, and with perfect recall also `events`, the
    event codes so far in binary. Without public information only `identity` and `own_alibis`
    are left (and the events that only the observer knows); without private information they are
    missing, as is who is looking; with that of all players it is given for both.

    Attributes:
        tensor: float32, 1-D, the sections one after the other.
        dict: the sections as views of it.
    """

    def __init__(
        self,
        variant: Variant,
        iig_obs_type: pyspiel.IIGObservationType,
        params: dict[str, Any] | None,
    ) -> None:
        if params:
            raise ArgumentError(f"observer parameters {shown(params)} are unknown; there are none")
        self._variant = variant
        self._space = action_space(variant)
        self._public = bool(iig_obs_type.public_info)
        self._private = iig_obs_type.private_info
        self._recall = bool(iig_obs_type.perfect_recall)
        seats = len(variant.cast)
        shapes: dict[str, tuple[int, ...]] = {}
        if self._public:
            shapes.update(tensor_sections(variant))
            if self._recall:
                shapes["events"] = (max_events(variant), EVENT_BITS)
            if self._private == pyspiel.PrivateInfoType.NONE:
                # Neither secrets nor who is looking.
                for name in ("identity", "own_alibis", "observer", "to_move"):
                    del shapes[name]
        elif self._private != pyspiel.PrivateInfoType.NONE:
            shapes = {"identity": (seats,), "own_alibis": (seats,)}
            if self._recall:
                shapes["events"] = (max_events(variant), EVENT_BITS)
        if self._private == pyspiel.PrivateInfoType.ALL_PLAYERS:
            shapes["all_identity"] = (seats,)
            shapes["all_alibis"] = (2, seats)
        size = sum(int(np.prod(shape)) for shape in shapes.values())
        self.tensor = np.zeros(size, np.float32)
        self.dict = split_tensor(self.tensor, shapes)
        self._whole = np.zeros(tensor_size(variant), np.float32)
        whole = split_tensor(self._whole, tensor_sections(variant))
        self._copied = [(self.dict[name], part) for name, part in whole.items() if name in shapes]

    def _observation(self, state: MrJackState, player: int) -> Observation:
        player = checked_player(player)
        if self._private == pyspiel.PrivateInfoType.NONE:
            return observe_public(self._variant, state._words, player)
        return observe_game(self._variant, state._words, None, player, ())

    def set_from(self, state: MrJackState, player: int) -> None:
        """Fill `tensor` and `dict` with what `player` sees of `state`."""
        player = checked_player(player)
        self.tensor.fill(0)
        self._whole.fill(0)
        features.features(state._words, state._tables, player, self._whole)
        for ours, part in self._copied:
            ours[:] = part
        if "events" in self.dict:
            events = self._observation(state, player).events
            if not self._public:
                events = tuple(code for code in events if _is_secret(code, player))
            self.dict["events"][:] = event_bits(self._variant, events)
        if "all_identity" in self.dict:
            record = state_record(state._words)
            if record["jack"] < len(self._variant.cast):
                self.dict["all_identity"][record["jack"]] = 1
            for drawer in (0, 1):
                for seat in set_bits(record["drawn"][drawer]):
                    self.dict["all_alibis"][drawer, seat] = 1

    def string_from(self, state: MrJackState, player: int) -> str:
        """What `player` sees of `state`, as text."""
        private = "; ".join(self._private_texts(state, player))
        if not self._public:
            return private
        observation = self._observation(state, player)
        if self._recall:
            text = observation.information_state_string()
        else:
            text = observation.observation_string()
        if self._private == pyspiel.PrivateInfoType.NONE:
            return text.replace(PLAYER_NAMES[player], "public", 1)
        if self._private == pyspiel.PrivateInfoType.ALL_PLAYERS:
            return f"{text}; {private}"
        return text

    def _private_texts(self, state: MrJackState, player: int) -> list[str]:
        player = checked_player(player)
        if self._private == pyspiel.PrivateInfoType.NONE:
            return []
        players = (0, 1) if self._private == pyspiel.PrivateInfoType.ALL_PLAYERS else (player,)
        native = State.from_words(self._variant, state._words)
        texts = []
        for who in players:
            if who == 1 and native.identity is not None:
                texts.append(f"jack {native.identity}")
            secrets = [code for code in native.events() if _is_secret(code, who)]
            cards = [event_text(self._space, code).split()[1] for code in secrets]
            cards = cards[1:] if who == 1 else cards  # the first is the identity
            if cards:
                # Which order they came in is remembered with perfect recall only.
                cards = cards if self._recall else list(native.alibis(who))
                texts.append(f"alibis {PLAYER_NAMES[who]} {','.join(cards)}")
        return texts


def _is_secret(code: int, player: int) -> bool:
    """True for an event that this player knows and the other does not."""
    return mask_event(code, player) == code != mask_event(code, 1 - player)


def load_game(variant: Variant) -> MrJackGame:
    """The OpenSpiel game of a variant.

    A board that is not built in travels inside the `board` parameter, so that the game and its
    states can be serialised anywhere.
    """
    game: MrJackGame = pyspiel.load_game(GAME_TYPE.short_name, _parameters(variant))
    return game


def _parameters(variant: Variant) -> dict[str, Any]:
    """Parameters of the game that say everything by themselves."""
    board = variant.to_dict()["board"]
    if not isinstance(board, str):
        packed = zlib.compress(json.dumps(board, separators=(",", ":")).encode(), 9)
        # Neither `=` nor `,` may stand in a parameter string.
        board = _INLINE + base64.urlsafe_b64encode(packed).decode().rstrip("=")
    return {
        "board": board,
        "cast": "+".join(variant.cast),
        "turns": variant.turns,
        "first": variant.first,
    }


def _variant_of(params: dict[str, Any]) -> Variant:
    board = params.get("board", "")
    if not board.startswith(_INLINE):
        return make_variant(**params)
    text = board[len(_INLINE) :]
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        data = parse_json(_unpacked(packed).decode("utf-8"), BoardError)
    except (ValueError, zlib.error) as error:
        raise BoardError(f"the board inside the parameters is damaged: {error}") from None
    return make_variant(**{**params, "board": board_from_dict(data)})


def _unpacked(packed: bytes) -> bytes:
    """What was packed, unless it is far larger than any board: a few bytes can become gigabytes."""
    unpack = zlib.decompressobj()
    content = unpack.decompress(packed, _LARGEST_BOARD)
    if unpack.unconsumed_tail or not unpack.eof:
        raise BoardError("it is too large for a board, or cut off")
    return content


pyspiel.register_game(GAME_TYPE, MrJackGame)
