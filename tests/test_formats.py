"""What is played against what, on which deals, and how that is described."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import mrjack_ai
from mrjack_ai.cli.main import main, parse_command
from mrjack_ai.cli.options import Options
from mrjack_ai.cli.tournament import tournament_settings
from mrjack_ai.setup.variant import Variant, make_variant
from mrjack_ai.tournament import (
    FORMATS,
    DealError,
    Settings,
    TournamentError,
    ladder,
    load_results,
    load_settings,
    make_settings,
    pairing_results,
    read_deals,
    run_tournament,
    seeded_deal,
    standings,
    write_deals,
)
from mrjack_ai.tournament.deals import deal_text, parse_deal
from mrjack_ai.tournament.ladder import games_of, ladder_pairs

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
THREE = ("random", "cautious", "greedy")


def of(format: str, agents: tuple[str, ...] = THREE, games: int = 4) -> Settings:
    return Settings(agents, games, 5, SMALL, format)


# -- formats ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "pairings"),
    [
        (of("round-robin"), [(0, 1), (0, 2), (1, 2)]),
        (of("gauntlet"), [(0, 1), (0, 2)]),
        (of("match", THREE[:2]), [(0, 1)]),
        (of("self-play"), [(0, 0), (1, 1), (2, 2)]),
        (of("self-play", THREE[:1]), [(0, 0)]),
    ],
)
def test_schedules(settings: Settings, pairings: list[tuple[int, int]]) -> None:
    """Deal by deal, pairing by pairing, each deal with both sides."""
    expected = [
        (pairing, deal, players)
        for deal in range(2)
        for pairing, (one, other) in enumerate(pairings)
        for players in ((one, other), (other, one))
    ]
    games = list(settings.schedule())
    assert [(game.pairing, game.deal, game.players) for game in games] == expected
    assert [game.number for game in games] == list(range(settings.total_games))
    assert all(settings.game(game.number) == game for game in games)


def test_every_format_is_tested() -> None:
    assert set(FORMATS) == {"round-robin", "gauntlet", "match", "self-play"}


@pytest.mark.parametrize(
    ("format", "agents", "message"),
    [
        ("swiss", THREE, "format 'swiss' must be round-robin, match"),
        ("match", THREE, "a match needs exactly two agents, not 3"),
        ("match", THREE[:1], "a match needs exactly two agents, not 1"),
        ("gauntlet", THREE[:1], "a gauntlet needs at least two agents"),
        ("self-play", (), "a self-play needs at least one agent"),
        ("match", ("random", "random"), "listed twice .* self-play"),
    ],
)
def test_bad_formats(format: str, agents: tuple[str, ...], message: str) -> None:
    with pytest.raises(TournamentError, match=message):
        of(format, agents)


def test_a_gauntlet_holds_the_games_of_the_round_robin() -> None:
    """The same deals, and for the first pairing the same games."""
    robin, gauntlet = run_tournament(of("round-robin")), run_tournament(of("gauntlet"))
    for pair in (THREE[:2], THREE[1::-1]):
        games = [
            [record.actions for record in results.records if record.agents == pair]
            for results in (robin, gauntlet)
        ]
        assert games[0] == games[1] != []
    assert {frozenset(record.agents) for record in gauntlet.records} == {
        frozenset(("random", "cautious")),
        frozenset(("random", "greedy")),
    }
    table = {standing.agent: standing for standing in standings(gauntlet)}
    assert table["random"].score.games == 8
    assert table["greedy"].score.games == 4


def test_self_play_has_different_games_on_one_deal_and_equal_scores() -> None:
    results = run_tournament(of("self-play", ("random", "cautious"), games=20))
    for one, other in zip(results.records[::2], results.records[1::2], strict=True):
        assert one.agents == other.agents
        assert one.actions[0] == other.actions[0]  # Jack's identity
        assert one.actions != other.actions
    for standing in standings(results):
        assert standing.score.value == 0.5
        assert standing.as_detective.games == standing.as_jack.games == 20
        assert standing.as_detective.value == pytest.approx(1 - standing.as_jack.value)
    assert [pairing.agents for pairing in pairing_results(results)] == [
        ("random", "random"),
        ("cautious", "cautious"),
    ]


# -- deals --------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", [Variant(), SMALL, make_variant("mews", "SH+JB", 3)])
def test_files_of_deals_are_read_as_written(tmp_path: Path, variant: Variant) -> None:
    path = tmp_path / "deals.txt"
    deals = tuple(seeded_deal(variant, 3, number) for number in range(20))
    write_deals(path, deals, variant)
    assert read_deals(path, variant) == deals
    for deal in deals:
        assert parse_deal(f"  {deal_text(deal, variant)} ".replace(",", " , "), variant) == deal


def test_a_suite_is_played_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "deals.txt"
    deals = [seeded_deal(SMALL, 3, number) for number in range(6)]
    write_deals(path, deals, SMALL)
    small = {"board": "mews", "cast": "SH+JW+SG+WG", "turns": 4}
    settings = make_settings(THREE, seed=5, deals=path, **small)  # type: ignore[arg-type]
    assert settings.games == 12
    assert settings.deals == tuple(deals)
    results = run_tournament(settings, out=tmp_path / "r.db")
    for record in results.records:
        deal = deals[record.details["deal"]]
        for state, action in zip(record.states(), record.actions, strict=False):
            if state.is_chance_node():
                assert state.action_to_string(deal.outcome(state)) == action
    assert Counter(record.details["deal"] for record in results.records) == dict.fromkeys(
        range(6), 6
    )
    assert load_results(tmp_path / "r.db").settings == settings
    # Drawn from the same seed, the games are the same.
    seeded = Settings(THREE, 12, 3, SMALL)
    assert [seeded.game(n).make_deal(seeded) for n in range(36)] == [
        settings.game(n).make_deal(settings) for n in range(36)
    ]
    with path.open("a") as file:  # a suite may grow
        file.write(deal_text(deals[0], SMALL) + "\n")
    fewer = make_settings(THREE, games=12, seed=5, deals=path, **small)  # type: ignore[arg-type]
    assert fewer == settings
    with pytest.raises(TournamentError, match="games 16 are more than twice the 7 deals"):
        make_settings(THREE, games=16, deals=path, **small)  # type: ignore[arg-type]


GOOD = """mrjack deals 1
cast: SH+JW+SG+WG
turns: 4

# two deals
jack SG; deal SH,JW; deal JW,WG; pile WG,SH,JW
jack JW; deal SG,WG; deal SH,SG; pile SH,SG,WG
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mrjack deals 1", "mrjack deals 2", "is no file of deals"),
        ("cast: SH+JW+SG+WG", "cast: SH+JW+SG+JB", "line 2: these deals are for 'cast: SH"),
        ("turns: 4", "turns: 8", "line 3: these deals are for 'turns: 8', the games for '4'"),
        ("turns: 4", "turns: 4\nturns: 4", "line 4: 'turns' must be"),
        ("turns: 4\n", "", "the header has no turns"),
        ("cast:", "caste:", "line 2: 'caste' must be"),
        ("jack JW", "jack JB", "line 7: 'JB' must be one of SH, JW, SG, WG"),
        ("jack JW", "jack JW,SH", "line 7: 'jack' takes one"),
        ("jack JW", "jack SH", "line 7: the pile must hold every character but Jack's"),
        ("deal SG,WG", "deal SG", "line 7: 'deal SG' must name 2 different"),
        ("deal SG,WG", "deal SG,SG", "line 7: 'deal SG,SG' must name 2 different"),
        ("deal SG,WG; ", "", "line 7: a deal of 4 turns must read 'jack ...; deal ...; deal"),
        ("pile SH,SG,WG", "pile", "line 7: a deal of 4 turns"),
        ("pile SH,SG,WG", "pile SH,SG", "line 7: the pile"),
        ("pile SH,SG,WG", "pile SH,SG,", "line 7: '' must be one of"),
        ("jack JW; deal", "x", "line 7"),
    ],
)
def test_damaged_files_of_deals_name_the_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "deals.txt"
    path.write_text(GOOD)
    assert len(read_deals(path, SMALL)) == 2
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(DealError, match=message):
        read_deals(path, SMALL)


def test_files_that_hold_no_deals(tmp_path: Path) -> None:
    path = tmp_path / "deals.txt"
    for data in (b"", b"\xff\xfe", b"mrjack deals 1\ncast: SH+JW+SG+WG\nturns: 4\n"):
        path.write_bytes(data)
        with pytest.raises(DealError, match=r"deals\.txt"):
            read_deals(path, SMALL)
    with pytest.raises(DealError, match="cannot read"):
        read_deals(tmp_path / "missing.txt", SMALL)


def test_the_command_writes_deals_and_plays_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = str(tmp_path / "suite.txt")
    variant = ["--cast", "SH+JW+SG+WG", "--turns", "4", "--board", "mews"]
    assert main(["deals", path, "--count", "3", "--seed", "9", *variant]) == 0
    assert read_deals(path, SMALL) == tuple(seeded_deal(SMALL, 9, n) for n in range(3))
    before = Path(path).read_bytes()
    assert main(["deals", path, *variant]) == 2
    assert "exists already" in capsys.readouterr().err
    assert Path(path).read_bytes() == before
    out = str(tmp_path / "r.db")
    arguments = ["tournament", "--agents", "greedy", "random", "--out", out, *variant]
    assert main([*arguments, "--deals", path]) == 0
    assert len(load_results(out).records) == 6
    assert main([*arguments, "--games", "6"]) == 2  # other deals
    assert "(deals differ)" in capsys.readouterr().err


# -- descriptions -------------------------------------------------------------------------

TOML = """
format = "gauntlet"
agents = ["greedy", "ismcts:sims=20", "random"]
games = 4
seed = 7
deals = "suite.txt"
move_time_limit = 500
board = "mews"
cast = "SH+JW+SG+WG"
turns = 4
first = "jack"
"""


def test_a_file_and_options_describe_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite, file, out = tmp_path / "suite.txt", tmp_path / "night.toml", tmp_path / "r.db"
    suite.write_text(GOOD)
    file.write_text(TOML)
    described = load_settings(file)
    variant = make_variant("mews", "SH+JW+SG+WG", 4, "jack")
    agents = ("greedy", "ismcts:sims=20", "random")
    assert described == Settings(agents, 4, 7, variant, "gauntlet", read_deals(suite, variant), 500)
    options = ["tournament", "--format", "gauntlet", "--agents", *agents, "--games", "4"]
    options += ["--seed", "7", "--deals", str(suite), "--move-time-limit", "500"]
    options += ["--board", "mews", "--cast", "SH+JW+SG+WG", "--turns", "4", "--first", "jack"]
    assert tournament_settings(Options.of(parse_command(options))) == described
    assert main(["tournament", "--settings", str(file), "--out", str(out)]) == 0
    assert main([*options, "--out", str(out)]) == 0  # carries on, that is, has nothing to do
    assert load_results(out).settings == described
    assert described == Settings.from_dict(described.to_dict())
    # An option comes before the file.
    capsys.readouterr()
    assert main(["tournament", "--settings", str(file), "--games", "2"]) == 0
    assert "4 games, seed 7" in capsys.readouterr().out


def test_a_board_file_is_found_beside_the_description(tmp_path: Path) -> None:
    import json

    board = mrjack_ai.load_board("mews").to_dict() | {"name": "mine"}
    (tmp_path / "mine.json").write_text(json.dumps(board))
    (tmp_path / "night.toml").write_text('board = "mine.json"\ncast = "SH+JW"\n')
    settings = load_settings(tmp_path / "night.toml")
    assert settings.variant.board.name == "mine"
    assert settings == Settings.from_dict(json.loads(json.dumps(settings.to_dict())))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agents = [", r"cannot read .*end of document"),
        ("agent = ['random']", "unknown 'agent'; known are format, agents"),
        ("agents = 'random'", "agents = 'random' must be a list of texts"),
        ("agents = ['random', 3]", "must be a list of texts"),
        ("games = 4.0", "games = 4.0 must be a whole number"),
        ("games = true", "games = True must be a whole number"),
        ("games = 3", "games 3 must be even"),
        ("move_time_limit = 'fast'", "must be a number of milliseconds"),
        ("move_time_limit = -1", "move time limit in milliseconds -1"),
        ("format = 'swiss'", "format 'swiss'"),
        ("turns = 9", "turns 9"),
        ("cast = 'SH+XX'", "unknown character 'XX'"),
        ("board = 'soho'", "soho"),
        ("deals = 'missing.txt'", r"cannot read .*missing\.txt"),
    ],
)
def test_bad_descriptions(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "night.toml"
    path.write_text(text)
    with pytest.raises(mrjack_ai.MrJackError, match=message):
        load_settings(path)
    assert main(["tournament", "--settings", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_results_of_a_ladder_have_names_of_their_own() -> None:
    """Plain ones as a rule; a command can be long, or differ only in what a name cannot hold."""
    assert ladder._file_names([("greedy", "random")]) == {
        ("greedy", "random"): "greedy_vs_random.db"
    }
    pairs = [("cmd:a b", "x"), ("cmd:a?b", "x"), ("cmd:A-b", "x")]
    pairs += [("cmd:" + "\u00e9" * 300, "x"), ("cmd:" + "\u00e9" * 300 + "1", "x")]
    names = ladder._file_names(pairs)
    assert list(names) == pairs
    assert len({name.lower() for name in names.values()}) == 5
    assert max(len(f"{name}-journal".encode()) for name in names.values()) < 255
    assert names == ladder._file_names(pairs)


def test_the_ladder_meets_as_it_says() -> None:
    pairs = ladder_pairs()
    assert len(set(pairs)) == len(pairs)
    assert pairs[:2] == [("cautious", "random"), ("greedy", "cautious")]
    assert ("ismcts:sims=10000", "greedy") in pairs
    assert [pair for pair in pairs if pair[1] == "ismcts:sims=3200"] == [
        ("ismcts:sims=6400", "ismcts:sims=3200")
    ]
    assert ladder_pairs(["random", "cautious"]) == [("cautious", "random")]


@pytest.mark.parametrize(
    ("pair", "games"),
    [
        (("greedy", "random"), 1000),
        (("ismcts:sims=1600", "ismcts:sims=800"), 1000),
        (("ismcts:sims=3200", "ismcts:sims=1600"), 500),
        (("ismcts:sims=10000", "greedy"), 100),
        (("greedy", "ismcts:time=100"), 100),
    ],
)
def test_large_budgets_play_fewer_games(pair: tuple[str, str], games: int) -> None:
    assert games_of(pair, 1000) == games
    assert games_of(pair, 2) == 2
    assert games_of(pair, 46) % 2 == 0
