"""What a player can know: views leak nothing, tell everything public, and split as they should."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from helpers import (
    DETECTIVE,
    EIGHT,
    JACK,
    LOUD,
    NODES,
    join_words,
    kinds,
    legal,
    parse_words,
    play,
    playing,
    quiet_choice,
    random_state,
    random_walk,
    raw,
)

from mrjack_ai.errors import IllegalActionError, NotationError
from mrjack_ai.game.belief import determinize
from mrjack_ai.game.observation import (
    EVENT_BITS,
    Observation,
    max_events,
    tensor_sections,
    tensor_size,
)
from mrjack_ai.game.state import State, new_game
from mrjack_ai.setup.variant import Variant, make_variant

PLAYERS = (DETECTIVE, JACK)


def everything(view: Observation) -> tuple[object, ...]:
    """All that a player gets to see of a view."""
    return (
        view,
        view.information_state_string(),
        view.observation_string(),
        str(view),
        view.observation_tensor().tobytes(),
        view.information_state_tensor().tobytes(),
        view.legal_actions_mask().tobytes(),
        view.legal_actions(),
        view.history(),
        view.position,
        view.suspects(),
        view.visible(),
        view.identity,
        [view.alibis(player) for player in PLAYERS],
    )


def hidden(state: State, player: int) -> tuple[object, ...]:
    """What a player cannot know of a state."""
    identity = None if player == JACK else state.identity
    return identity, state.alibis(1 - player)


def some_states(
    games: int, cast: str = "+".join(EIGHT), board: str = "whitechapel", seed: int = 0
) -> Iterator[State]:
    """Moments of random games, one in three."""
    rng = random.Random(seed)
    for _ in range(games):
        avoid = rng.choice((("accuse",), LOUD, ("escape",)))
        for state in random_walk(new_game(board=board, cast=cast), rng, avoid):
            if state.is_terminal() or rng.random() < 0.34:
                yield state.clone()


# --- nothing leaks --------------------------------------------------------------------------


def test_states_that_differ_in_what_he_cannot_know_look_the_same_to_a_player() -> None:
    generator = np.random.default_rng(1)
    met: Counter[tuple[int, str]] = Counter()
    for state in some_states(8):
        for player in PLAYERS:
            view = state.observation(player)
            for _ in range(3):
                twin = determinize(view, generator)
                assert everything(twin.observation(player)) == everything(view)
                assert twin.legal_actions_mask(player).tolist() == (
                    state.legal_actions_mask(player).tolist()
                )
                if hidden(twin, player) != hidden(state, player):
                    assert raw(twin) != raw(state)
                    met[player, state.node] += 1
    for player in PLAYERS:
        for node in NODES:
            if node != "jack":
                assert met[player, node] > 0, f"no twins of player {player} at {node}"


HIDDEN_TWINS = [
    (DETECTIVE, "jack", "WG", "MS"),
    (DETECTIVE, "alibis", "IL,JB/SH", "IL,JB/JW"),
    (JACK, "alibis", "IL,JB/SH", "IL,MS/SH"),
    (JACK, "alibis", "IL,JB/SH", "JW,MS/SH"),
]
PHASES = {
    "deal": "node=deal turn=5",
    "pick": "node=pick turn=5 dealt=SH,JW,SG,JS cards=SH,SG",
    "use": "node=use turn=5 dealt=SH,JW,SG,JS cards=SH,SG using=SG ability=open",
    "whistle": "node=whistle turn=5 dealt=SH,JW,SG,JS cards=SG using=SG steps=2 whistled=JB",
    "aim": "node=aim turn=5 dealt=SH,JW,SG,JS cards=JW using=JW moved=yes ability=open",
    "alibi": "node=alibi turn=5 dealt=SH,JW,SG,JS cards=SH using=SH moved=yes ability=open",
    "terminal": "node=terminal turn=8 dealt=SH,JW,SG,JS ending=dawn",
}


@pytest.mark.parametrize("node", PHASES)
@pytest.mark.parametrize(("player", "word", "one", "two"), HIDDEN_TWINS)
def test_one_hidden_word_changes_nothing_he_sees(
    node: str, player: int, word: str, one: str, two: str
) -> None:
    words = {"jack": "WG", "alibis": "IL,JB/SH", **parse_words(PHASES[node])}
    first = State(join_words({**words, word: one}))
    second = State(join_words({**words, word: two}))
    assert raw(first) != raw(second)
    assert everything(first.observation(player)) == everything(second.observation(player))
    # The other player knows his own secret.
    other = 1 - player
    if word == "alibis" or other == JACK:
        one_view, two_view = first.observation(other), second.observation(other)
        assert one_view.observation_string() != two_view.observation_string()
        assert one_view.information_state_string() != two_view.information_state_string()
        assert (one_view.observation_tensor() != two_view.observation_tensor()).any()


def test_the_detectives_text_never_names_jack() -> None:
    seen = 0
    for state in some_states(4, seed=3):
        view = state.observation(DETECTIVE)
        assert view.identity is None
        for text in (view.observation_string(), view.information_state_string()):
            words = text.replace(";", " ").split()
            assert not any(word.startswith("jack=") and word != "jack=?" for word in words)
            if "jack" in words[1:] and "wins:" not in words:
                assert words[words.index("jack", 1) + 1] == "?"
                seen += 1
    assert seen > 50


def test_the_escape_is_never_in_the_detectives_view() -> None:
    escapes = 0
    for state in some_states(80, "JS+IL+MS+SG", "mews", seed=4):
        actions = state.observation(DETECTIVE).legal_actions()
        texts = [state.action_to_string(0, action) for action in actions]
        assert not any(text.startswith("escape") for text in texts)
        if state.current_player() == JACK and "escape" in kinds(state):
            escapes += 1
            assert actions == []
            assert not state.observation(DETECTIVE).legal_actions_mask().any()
            assert "escape" not in state.observation_string(DETECTIVE)
            assert "escape" not in state.information_state_string(DETECTIVE)
    assert escapes > 5


def test_the_possible_escape_does_not_show_while_jack_decides() -> None:
    # On i4 Stealthy could leave by SE if she were Jack.
    words = "witness=unseen dealt=SH,JW,JS,IL cards=MS,SG,WG,JB"
    could, cannot = (
        playing("MS", "jack", f"jack=MS {words}"),
        playing("MS", "jack", f"jack=WG {words}"),
    )
    assert "escape" in kinds(could)
    assert "escape" not in kinds(cannot)
    assert everything(could.observation(DETECTIVE)) == everything(cannot.observation(DETECTIVE))


def test_legal_actions_are_empty_for_who_is_not_to_move() -> None:
    met: Counter[str] = Counter()
    for state in some_states(3, seed=5):
        for player in PLAYERS:
            view = state.observation(player)
            if player == state.current_player():
                assert view.legal_actions() == state.legal_actions(player) == state.legal_actions()
                assert np.flatnonzero(view.legal_actions_mask()).tolist() == view.legal_actions()
                assert view.legal_actions()
                assert [view.action_to_string(a) for a in view.legal_actions()] == legal(state)
                assert [view.string_to_action(text) for text in legal(state)] == (
                    view.legal_actions()
                )
            else:
                assert view.legal_actions() == state.legal_actions(player) == []
                assert not view.legal_actions_mask().any()
                assert not state.legal_actions_mask(player).any()
                met[state.node] += 1
    assert set(met) == set(NODES)


def test_a_view_needs_a_player() -> None:
    state = new_game()
    for player in (-1, 2, -4, None):
        with pytest.raises(ValueError, match="player"):
            state.observation(player)
    state = play(state, "jack JS", "deal SH,JW,JS,IL")
    assert state.observation() == state.observation(DETECTIVE)
    assert state.information_state_string() == state.information_state_string(DETECTIVE)
    assert state.observation_string() == state.observation_string(DETECTIVE)


def test_a_view_does_not_change_when_the_game_goes_on() -> None:
    state = play(new_game(), "jack JS", "deal SH,JW,JS,IL")
    view = state.observation(DETECTIVE)
    before = everything(view)
    for _ in random_walk(state, random.Random(2), plies=40):
        pass
    assert everything(view) == before


def test_a_view_takes_texts_of_player_actions_only() -> None:
    view = play(new_game(), "jack JS", "deal SH,JW,JS,IL").observation(DETECTIVE)
    assert view.action_to_string(view.string_to_action("pick SH")) == "pick SH"
    with pytest.raises(NotationError):
        view.string_to_action("walk e5")
    # The ids of outcomes are others: this would be `pick SH`.
    with pytest.raises((NotationError, IllegalActionError)):
        view.string_to_action("jack SH")
    with pytest.raises(ValueError, match="must be a whole number from 0"):
        view.action_to_string(-1)


# --- everything else tells ------------------------------------------------------------------


def seen_history(moments: list[State], player: int) -> tuple[str, ...]:
    """What a player saw and heard of a game, from the states after each of its actions."""
    seen = []
    for before, after in pairwise(moments):
        text = after.history_strings()[-1]
        kind = text.split(" ")[0]
        if kind == "jack" and player == DETECTIVE:
            text = "jack drawn"
        elif kind == "alibi":
            drawer = DETECTIVE if before.alibis(DETECTIVE) != after.alibis(DETECTIVE) else JACK
            text = f"{text if drawer == player else 'alibi'} by {drawer}"
        seen.append(text)
        if after.turn > before.turn > 0:
            seen.append(f"witness {after.witness_seen}")
        if after.is_terminal():
            seen.append(str(after.outcome()))
    return tuple(seen)


def test_information_texts_are_equal_exactly_for_equal_histories() -> None:
    """Perfect recall, over many short games that share their beginnings."""
    variant = make_variant("mews", "SH+SG", 2)
    by_text: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    by_tensor: dict[bytes, set[tuple[object, ...]]] = defaultdict(set)
    by_history: dict[tuple[object, ...], set[str]] = defaultdict(set)
    actions: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    states = 0
    for seed in range(250):
        moments: list[State] = []
        for state in random_walk(new_game(variant), random.Random(seed), ()):
            moments.append(state.clone())
            for player in PLAYERS:
                key = (player, *seen_history(moments, player))
                view = state.observation(player)
                by_text[view.information_state_string()].add(key)
                by_tensor[view.information_state_tensor().tobytes()].add(key)
                by_history[key].add(view.information_state_string())
                actions[view.information_state_string()].add(tuple(state.legal_actions(player)))
                states += 1
    for groups in (by_text, by_tensor, by_history, actions):
        assert all(len(group) == 1 for group in groups.values())
        assert 100 < len(groups) < states // 2


def test_information_texts_recall_histories_that_lead_to_equal_positions() -> None:
    start = play(new_game(), "jack JS", "deal SH,JW,JS,IL", "pick JS")
    one = play(start, "move g7", "lamp f5>f9")
    two = play(start, "lamp f5>f9", "move g7")
    assert raw(one) == raw(two)
    for player in PLAYERS:
        assert one.observation_string(player) == two.observation_string(player)
        assert one.information_state_string(player) != two.information_state_string(player)
        tensors = [state.information_state_tensor(player) for state in (one, two)]
        assert (tensors[0] != tensors[1]).any()


@pytest.mark.parametrize(
    ("cast", "turns"), [("SH+SG", 2), ("JW+WG", 2), ("IL+MS", 3), ("SH+JW+SG+WG", 2)]
)
def test_texts_and_tensors_split_states_alike(cast: str, turns: int) -> None:
    variant = make_variant("mews", cast, turns)
    pairs: dict[str, set[tuple[object, object]]] = {"observation": set(), "information": set()}
    views = 0
    for seed in range(150):
        for state in random_walk(new_game(variant), random.Random(seed), ()):
            for player in PLAYERS:
                view = state.observation(player)
                views += 1
                pairs["observation"].add(
                    (view.observation_string(), view.observation_tensor().tobytes())
                )
                pairs["information"].add(
                    (view.information_state_string(), view.information_state_tensor().tobytes())
                )
    for kind, found in pairs.items():
        texts, tensors = {text for text, _ in found}, {tensor for _, tensor in found}
        assert len(texts) == len(tensors) == len(found), kind
        assert 100 < len(found) < views, kind


ACCUSING = "node=terminal jack=WG dealt=SH,JW,JS,IL cards=SH,JW,JS,IL"
PUBLIC_CHANGES = [
    *((f"node=deal turn=1 jack=WG {code}={{}}", ("c3", "d3")) for code in EIGHT if code != "JW"),
    ("node=deal turn=1 jack=WG JW={}", ("a3:NE", "a4:NE")),
    ("node=deal turn=1 jack=WG JW={}", ("a3:NE", "a3:S")),
    # Both light nothing.
    ("node=deal turn=1 jack=WG SH=a3 JW={}", ("g5:SW", "g5:NW")),
    (
        "node=deal turn=1 jack=WG lamps={}",
        ("b2:1,c7:3,f5,h8,k6:4,l11:2", "b2:1,c7:3,f9,h8,k6:4,l11:2"),
    ),
    (
        "node=deal turn=1 jack=WG lamps={}",
        ("b2:1,c7:3,f5,h8,k6:4,l11:2", "b2:1,c7:4,f5,h8,k6:3,l11:2"),
    ),
    (
        "node=deal turn=1 jack=WG lamps={}",
        ("b2:1,c7:3,f5,h8,k6:4,l11:2", "b2,c7:3,f5:1,h8,k6:4,l11:2"),
    ),
    ("node=deal turn=1 jack=WG covers={}", ("c2,l12", "c2,a5")),
    ("node=deal turn=1 jack=WG cordons={}", ("NE,SW", "NE,SE")),
    ("node=deal turn=3 jack=WG witness={}", ("seen", "unseen")),
    ("node=deal turn=3 jack=WG cleared={}", ("SH", "SH,JW")),
    ("node=deal turn=3 jack=WG cleared={}", ("SH", "JW")),
    ("node=deal turn=3 jack=WG exonerated={}", ("-", "JW")),
    ("node=deal turn=3 jack=WG exonerated={}", ("MS", "JW")),
    ("node=deal turn=3 jack=WG alibis={}", ("SH/-", "SH,JW/-")),
    ("node=deal turn=3 jack=WG alibis={}", ("SH/-", "SH/JW")),
    ("node=deal turn=3 jack=WG alibis={}", ("SH/-", "-/SH")),
    ("node=deal turn={} jack=WG", ("5", "7")),
    ("node=deal jack=WG lamps=f5,h8 turn={}", ("5", "7")),
    ("node=pick jack=WG dealt={} cards=SH", ("SH,JW,JS,IL", "SH,JW,JS,MS")),
    ("node=pick jack=WG dealt=SH,JW,JS,IL cards={}", ("SH,JW", "SH,JS")),
    ("node=pick jack=WG dealt=SH,JW,JS,IL cards={}", ("SH,JW", "SH,JW,JS")),
    ("node=use jack=WG dealt=JS,IL,SG,JB cards=JS,IL using={} ability=open", ("JS", "IL")),
    (
        "node=use jack=WG dealt=JS,IL,SG,JB cards=JS,IL using=JS moved={} ability=open",
        ("yes", "no"),
    ),
    ("node=use jack=WG dealt=JS,IL,SG,JB cards=JS,IL using=JS ability={}", ("open", "used")),
    ("node=whistle jack=WG dealt=JS,IL,SG,JB cards=SG using=SG whistled=JB steps={}", ("1", "2")),
    ("node=whistle jack=WG dealt=JS,IL,SG,JB cards=SG using=SG steps=1 whistled={}", ("JB", "JS")),
    (
        "node=whistle jack=WG dealt=JS,IL,SG,JB cards=SG using=SG steps=1 whistled={}",
        ("JB", "JB,JS"),
    ),
    (
        "node=whistle jack=WG dealt=JS,IL,SG,JB cards=SG using=SG steps=1 whistled=JB moved={}",
        ("yes", "no"),
    ),
    ("node={} jack=WG dealt=JS,IL,SG,JW cards=SG using=SG steps=1 whistled=JW", ("aim", "whistle")),
    (f"{ACCUSING} using=SH ending=wrong accused={{}}", ("IL", "JS")),
    (f"{ACCUSING} using={{}} ending=caught accused=WG", ("JS", "IL")),
]


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize(("text", "values"), PUBLIC_CHANGES)
def test_every_public_fact_shows_in_texts_and_tensors(
    text: str, values: tuple[str, str], player: int
) -> None:
    one, two = (State(text.format(value)).observation(player) for value in values)
    assert one != two
    assert one.observation_string() != two.observation_string()
    assert one.information_state_string() != two.information_state_string()
    assert (one.observation_tensor() != two.observation_tensor()).any()
    assert (one.information_state_tensor() != two.information_state_tensor()).any()


def test_the_public_facts_are_all_there() -> None:
    """Every word of the position text that is public is changed by some case above."""
    changed = {
        name
        for text, _ in PUBLIC_CHANGES
        for name, value in parse_words(text).items()
        if "{" in value
    }
    everything_public = {*EIGHT, "lamps", "covers", "cordons", "witness", "cleared", "exonerated"}
    everything_public |= {"alibis", "turn", "dealt", "cards", "using", "moved", "ability"}
    everything_public |= {"steps", "whistled", "accused", "node"}
    assert changed == everything_public


@pytest.mark.parametrize("ending", ["caught", "wrong accusation", "escape", "dawn"])
def test_the_end_shows(ending: str) -> None:
    texts = {
        "caught": f"{ACCUSING} using=JW accused=WG ending=caught",
        "wrong accusation": f"{ACCUSING} using=JW accused=IL ending=wrong",
        "escape": "node=terminal jack=JW turn=2 dealt=SH,MS,JS,IL cards=JW,SG,WG,JB"
        " witness=unseen using=JW ending=escape",
        "dawn": "node=terminal jack=JW turn=8 dealt=SH,MS,JS,IL ending=dawn",
    }
    state = State(texts[ending])
    for player in PLAYERS:
        view = state.observation(player)
        assert view.outcome() == state.outcome()
        assert f"end {state.outcome()}" in view.information_state_string()


# --- tensors --------------------------------------------------------------------------------


def sections(view: Observation) -> dict[str, np.ndarray]:
    """The tensor cut into its sections."""
    tensor, at, found = view.observation_tensor(), 0, {}
    for name, shape in tensor_sections(view.variant).items():
        size = int(np.prod(shape))
        found[name] = tensor[at : at + size].reshape(shape)
        at += size
    assert at == len(tensor) == tensor_size(view.variant)
    return found


def check_tensor(state: State, player: int) -> None:
    """Every section against what can be read off the state."""
    board, cast = state.variant.board, state.variant.cast
    found = sections(state.observation(player))
    other = 1 - player

    def one_hot(section: np.ndarray, index: int | None) -> None:
        expected = np.zeros(section.shape, np.float32)
        if index is not None:
            expected[index] = 1
        assert section.tolist() == expected.tolist()

    def marks(section: np.ndarray, names: tuple[str, ...], chosen: object) -> None:
        assert {name for name, bit in zip(names, section, strict=True) if bit} == set(chosen)  # type: ignore[call-overload]

    assert all(set(np.unique(section)) <= {0.0, 1.0} for section in found.values())
    one_hot(found["observer"], player)
    to_move = {player: 0, other: 1}.get(state.current_player())
    one_hot(found["to_move"], to_move)
    one_hot(found["node"], NODES.index(state.node))
    one_hot(found["turn"], state.turn - 1 if state.turn else None)
    for seat, code in enumerate(cast):
        one_hot(found["position"][seat], board.street_index[state.positions[code]])
    marks(found["open_manholes"], board.streets, state.open_manholes)
    marks(found["lit_hexes"], board.streets, state.lit_hexes())
    marks(found["visible"], cast, state.visible())
    marks(found["lamps"], board.gaslights, state.lit_gaslights)
    for number in range(1, 9):
        places = [hex for hex, tile in state.lit_gaslights.items() if tile == number]
        marks(found["tiles"][number - 1], board.gaslights, places)
    marks(found["cordons"], board.exit_names, state.cordons)
    directions = ("N", "NE", "SE", "S", "SW", "NW")
    marks(found["light"], directions, [state.watson_light] if state.watson_light else [])
    assert found["witness_seen"].tolist() == [float(state.witness_seen)]
    marks(found["cleared"], cast, state.cleared())
    marks(found["exonerated"], cast, state.exonerated())
    known = [state.identity] if player == JACK and state.identity else []
    marks(found["identity"], cast, known)
    marks(found["own_alibis"], cast, state.alibis(player))
    for drawer in PLAYERS:
        count = state.alibi_count(drawer)
        one_hot(found["alibi_counts"][drawer], count - 1 if count else None)
    words = parse_words(str(state))

    def listed(name: str) -> set[str]:
        return set(words.get(name, "-").split(",")) - {"-"}

    marks(found["dealt"], cast, listed("dealt"))
    marks(found["cards"], cast, state.cards())
    marks(found["playing"], cast, [state.playing] if state.playing else [])
    assert found["play"].tolist() == [float(state.has_moved), float(state.ability_open)]
    one_hot(found["whistle_steps"], state.whistle_steps - 1 if state.whistle_steps else None)
    marks(found["whistled"], cast, listed("whistled"))
    marks(found["accused"], cast, listed("accused"))
    endings = ("", "caught", "wrong accusation", "escape", "dawn")
    outcome = state.outcome()
    one_hot(found["ending"], endings.index("" if outcome is None else outcome.ending))


@pytest.mark.parametrize(
    "variant",
    [
        make_variant(),
        make_variant("whitechapel_2016", turns=3, first="jack"),
        make_variant("mews", "SH+JW+SG+WG"),
        make_variant("mews", "SH+SG", 4),
        make_variant("mews", "IL+MS"),
    ],
    ids=["whitechapel", "2016", "four", "two", "two without Holmes"],
)
def test_tensor_sections_hold_what_they_say(variant: Variant) -> None:
    met: Counter[str] = Counter()
    for seed in range(6):
        rng = random.Random(seed)
        avoid = LOUD if seed % 2 else ("accuse",) if seed % 3 else ()
        for state in random_walk(new_game(variant), rng, avoid):
            for player in PLAYERS:
                check_tensor(state, player)
            met[state.node] += 1
            met["whistling"] += state.whistle_steps > 0
            met["cleared"] += bool(state.cleared())
    assert met["terminal"] == 6
    if variant.is_default():
        assert set(met) == {*NODES, "whistling", "cleared"}
        assert min(met.values()) > 0


def test_tensors_of_rare_positions() -> None:
    for text, values in PUBLIC_CHANGES:
        for state in (State(text.format(value)) for value in values):
            for player in PLAYERS:
                check_tensor(state, player)


def test_information_tensor_holds_the_events_one_by_one() -> None:
    for state in some_states(2, seed=9):
        for player in PLAYERS:
            view = state.observation(player)
            tensor = view.information_state_tensor()
            size = tensor_size(state.variant)
            assert tensor.dtype == np.float32
            assert tensor[:size].tolist() == view.observation_tensor().tolist()
            codes = tensor[size:].reshape(max_events(state.variant), EVENT_BITS)
            weights = 2 ** np.arange(EVENT_BITS)
            numbers = (codes @ weights).astype(int).tolist()
            count = len(view.events)
            assert numbers[:count] == [code + 1 for code in view.events]
            assert not any(numbers[count:])


def test_histories_of_views_read_as_the_game_went() -> None:
    for seed in range(4):
        moments: list[State] = []
        for state in random_walk(new_game(), random.Random(seed)):
            moments.append(state.clone())
        for player in PLAYERS:
            expected = [
                text.replace(" drawn", " ?")
                .replace("witness True", "witness seen")
                .replace("witness False", "witness unseen")
                for text in seen_history(moments, player)
            ]
            expected = [
                "alibi ?" if text.startswith("alibi by") else text.partition(" by ")[0]
                for text in expected
                if "wins" not in text
            ]
            assert list(moments[-1].observation(player).history()) == expected


def test_random_states_come_from_everywhere() -> None:
    """The helper used above and elsewhere is not stuck at the beginning of games."""
    rng = random.Random(1)
    turns = Counter(random_state(rng, make_variant("mews")).turn for _ in range(100))
    assert len(turns) > 4
    assert quiet_choice(rng, ["move a1"]) == "move a1"
