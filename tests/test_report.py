"""The report page: complete in itself, right in its figures, safe with any name."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import misbehaving
import numpy as np
import pytest

from mrjack_ai.cli.main import main
from mrjack_ai.render.html import Axis, Markup, element
from mrjack_ai.reports import tournament_games, write_report
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import (
    Settings,
    Sprt,
    TournamentError,
    load_results,
    run_tournament,
    summarize,
)

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)
NASTY = "scripts-in-tests:text=</style><script>document.title='broken'</script>\"'&lt;"
AGENTS = ("greedy", "cautious", "ismcts:sims=20", NASTY)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A results file with forfeits and a nasty name, and its report."""
    misbehaving.register()
    folder = tmp_path_factory.mktemp("report")
    path, page = folder / "r.db", folder / "report.html"
    run_tournament(Settings(AGENTS, 16, 5, SMALL), out=path)
    assert write_report(path, page) == 96
    return path, page


# -- the page as text ---------------------------------------------------------------------


class Reader(HTMLParser):
    """Checks that elements nest, and collects what a page refers to."""

    VOID = ("meta", "link")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attributes:
            assert not name.startswith("on"), name
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "srcset", "action", "data"):
                self.targets.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(page: Path) -> Reader:
    reader = Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    assert reader.open == []
    return reader


def test_the_page_is_complete_in_itself(played: tuple[Path, Path]) -> None:
    _, page = played
    reader = read(page)
    assert not {"script", "iframe", "object", "img", "form"} & set(reader.names)
    assert len(set(reader.ids)) == len(reader.ids)
    inside = [target[1:] for target in reader.targets if target.startswith("#")]
    assert set(reader.targets) - {f"#{name}" for name in inside} == {"data:,"}
    assert set(inside) <= set(reader.ids)
    text = page.read_text(encoding="utf-8")
    assert "@import" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "&lt;script&gt;document.title" in text


def test_every_forfeit_is_shown_and_told(played: tuple[Path, Path]) -> None:
    path, page = played
    records = load_results(path).records
    forfeited = [n for n, record in enumerate(records, start=1) if "forfeit" in record.details]
    assert len(forfeited) > 10
    reader = read(page)
    assert {f"game-{number}" for number in forfeited} <= set(reader.ids)
    assert page.read_text().count("Traceback (most recent call last)") == len(forfeited)


def test_the_same_results_give_the_same_page(played: tuple[Path, Path], tmp_path: Path) -> None:
    path, page = played
    write_report(path, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["again.html"]


def test_the_page_stays_small(
    played: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, page = played
    monkeypatch.setattr(tournament_games, "MOST_BOARDS", 20_000)
    monkeypatch.setattr(tournament_games, "MOST_GAMES", 12)
    monkeypatch.setattr(tournament_games, "MOST_FORFEITS", 3)
    small = tmp_path / "small.html"
    write_report(path, small)
    assert small.stat().st_size < page.stat().st_size / 4
    shown = [name for name in read(small).ids if name.startswith("game-")]
    assert 12 <= len(shown) <= 15


@pytest.mark.parametrize("format", ["self-play", "match", "gauntlet"])
def test_any_format_and_any_state(tmp_path: Path, format: str) -> None:
    agents = AGENTS[:2] if format == "match" else AGENTS[:3]
    path, page = tmp_path / "r.db", tmp_path / "r.html"
    for last in (0, 1, 2, 12):

        def stop(done: int, total: int, last: int = last) -> None:
            if done == last:
                raise KeyboardInterrupt

        settings = Settings(agents, 20, 5, SMALL, format=format)
        run_tournament(settings, out=path, progress=stop)
        assert write_report(path, page) == last
        read(page)
        text = page.read_text()
        assert ("No game has been played yet" if last == 0 else "not complete") in text


def test_a_match_with_a_sequential_test(tmp_path: Path) -> None:
    path, page = tmp_path / "r.db", tmp_path / "r.html"
    test = Sprt(0, 40, 0.05, 0.05)
    run_tournament(Settings(AGENTS[:2], 2000, 5, SMALL, sprt=test), out=path)
    write_report(path, page)
    text = page.read_text()
    assert summarize(load_results(path)).sprt_text() in text
    assert "not complete" not in text
    assert "<title>greedy against cautious - Mr. Jack</title>" in text


def test_the_command_and_its_errors(
    played: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, page = played
    monkeypatch.chdir(tmp_path)
    shutil.copy(path, "mine.db")
    assert main(["report", "mine.db"]) == 0
    assert capsys.readouterr().out == "the report of 96 games is in mine.html\n"
    assert main(["report", "mine.db", "-o", "other.html"]) == 0
    shown = Path("other.html").read_text()
    assert shown == page.read_text().replace("r.db", "mine.db")
    for words, message in (
        (["mine.html"], "is no results file"),
        (["missing.db"], "cannot read 'missing.db'"),
        (["mine.db", "-o", "mine.db"], "is what is read here; give another name"),
        (["mine.db", "-o", "no/page.html"], "cannot write 'no/page.html'"),
        (["mine.db", "-o", "a\0b"], "cannot write"),
    ):
        capsys.readouterr()
        assert main(["report", *words]) == 2
        errors = capsys.readouterr().err
        assert errors.count("\n") == 1
        assert message in errors
    assert {file.name for file in tmp_path.iterdir()} == {"mine.db", "mine.html", "other.html"}
    with pytest.raises(TournamentError, match="cannot read"):
        write_report(tmp_path / "missing.db", tmp_path / "x.html")


def test_elements_escape_what_they_are_given() -> None:
    assert element("p", "<b>", Markup("<i></i>"), 3, None, class_='a"b') == (
        '<p class="a&quot;b">&lt;b&gt;<i></i>3</p>'
    )


@pytest.mark.parametrize(
    ("values", "ends", "ticks"),
    [
        ((-507, 227), (-600, 400), 6),
        ((0.2, 0.2), (0.2, 0.4), 2),
        ((np.inf, -3, 8), (-5, 10), 4),
        ((np.inf,), (0, 0.2), 2),
    ],
)
def test_axes_have_round_ends(
    values: tuple[float, ...], ends: tuple[float, float], ticks: int
) -> None:
    axis = Axis.around(values)
    assert all(axis.low <= value <= axis.high for value in values if np.isfinite(value))
    assert (axis.low, axis.high) == ends == (axis.ticks[0], axis.ticks[-1])
    assert len(axis.ticks) == ticks
    assert axis.at(axis.low) == 0
    assert axis.at(np.inf) == axis.at(axis.high) == 100
    steps = np.diff(axis.ticks)
    np.testing.assert_allclose(steps, steps[0])


# -- the page in a browser ----------------------------------------------------------------


def cells(browser: Any, name: str) -> list[list[str]]:
    """Texts of the rows of a table."""
    script = """
        return [...document.querySelectorAll(arguments[0] + " tbody tr")].map(
            row => [...row.children].map(cell => cell.textContent))"""
    return browser.execute_script(script, f"#{name}")


@pytest.fixture
def opened(played: tuple[Path, Path], browser: Any) -> Iterator[Any]:
    """The report in the browser, which must have nothing to complain about."""
    browser.get(played[1].as_uri())
    yield browser
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.title == "Round-robin of 4 agents - Mr. Jack"


def test_figures_against_the_file(played: tuple[Path, Path], opened: Any) -> None:
    path, _ = played
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    games = database.execute("SELECT * FROM games ORDER BY number").fetchall()
    database.close()
    summary = summarize(load_results(path))
    place = {standing.agent: n for n, standing in enumerate(summary.standings, start=1)}

    rows = {row[0]: row[1:] for row in cells(opened, "standings-table")}
    assert list(rows) == list(place)
    for standing in summary.standings:
        number = AGENTS.index(standing.agent)
        mine = [game for game in games if number in (game["detective"], game["jack"])]
        won = sum(game[game["winner"]] == number for game in mine)
        row = rows[standing.agent]
        assert int(row[0]) == len(mine)
        assert row[2].split()[0] == f"{100 * won / len(mine):.1f}"
        assert standing.rating is not None
        assert row[1:] == [
            standing.rating.text(),
            standing.score.percent(),
            standing.as_detective.percent(),
            standing.as_jack.percent(),
        ]

    crossed = cells(opened, "cross")
    for pairing in summary.pairings:
        one, other = (place[agent] for agent in pairing.agents)
        for row, column, score in (
            (one, other, pairing.score),
            (other, one, pairing.score.complement()),
        ):
            assert crossed[row - 1][column] == score.percent().replace(" ", "", 1)
    assert all(crossed[n][n + 1] == "" for n in range(4))

    for row, pairing in zip(cells(opened, "pairings"), summary.pairings, strict=True):
        assert row[:5] == [*pairing.agents, "16", pairing.score.percent(), pairing.elo.text()]
        assert row[5:] == [f"{100 * pairing.superiority:.1f}", f"{100 * pairing.redundancy:.1f}"]

    endings = {tuple(row[:2]): row[2:] for row in cells(opened, "endings")}
    sides = {tuple(row[:2]): row[2:] for row in cells(opened, "sides")}
    assert len(endings) == len(sides) + 1 == 13
    for (detective, jack), shown in sides.items():
        mine = [
            game
            for game in games
            if (AGENTS[game["detective"]], AGENTS[game["jack"]]) == (detective, jack)
        ]
        wins = sum(game["winner"] == "detective" for game in mine)
        assert shown[0] == "8"
        assert shown[1].split()[0] == f"{100 * wins / 8:.1f}"
        words = ("caught", "wrong", "escape", "dawn", None)
        counts = [sum(game["ending"] == word for game in mine) for word in words]
        assert list(map(int, endings[detective, jack])) == [8, *counts]
    assert endings["all", ""][0] == "96"

    for row, pairing in zip(cells(opened, "lengths"), summary.pairings, strict=True):
        lengths = [g["length"] for g in games if summary.pairings[g["pairing"]] is pairing]
        expected = [f"{np.mean(lengths):.1f}", f"{np.median(lengths):g}"]
        assert row[2:] == [*expected, str(min(lengths)), str(max(lengths))]

    for row in cells(opened, "thinking"):
        number, _, agent = row[0].partition(" ")
        assert int(number) == place[agent]
        seconds = decisions = 0
        for game in games:
            for side in ("detective", "jack"):
                if AGENTS[game[side]] == agent:
                    seconds += game[f"{side}_seconds"]
                    decisions += game[f"{side}_decisions"]
        assert int(row[1]) == decisions
        assert float(row[2]) == pytest.approx(1000 * seconds / decisions, rel=0.01)


def test_charts_show_the_figures(played: tuple[Path, Path], opened: Any) -> None:
    """Markers stand in the order of the values, whiskers enclose them, and bars fill the width."""
    script = """
        const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.right]; };
        return [...document.querySelectorAll(arguments[0] + " ~ * .row, " + arguments[0] +
            " ~ .row")].map(row => [row.querySelector(".label").textContent,
            [...row.querySelectorAll(arguments[1])].map(box)])"""
    summary = summarize(load_results(played[0]))
    rows = opened.execute_script(script, "#standings", ".marker")[:4]
    assert [name for name, _ in rows] == [standing.agent for standing in summary.standings]
    centres = [sum(boxes[0]) / 2 for _, boxes in rows]
    values = [standing.rating.value for standing in summary.standings if standing.rating]
    slope = np.polyfit(values, centres, 1)
    np.testing.assert_allclose(np.polyval(slope, values), centres, atol=0.5)
    whiskers = opened.execute_script(script, "#standings", ".whisker")[:4]
    for standing, (_, boxes) in zip(summary.standings, whiskers, strict=True):
        assert standing.rating is not None
        ends = np.polyval(slope, (standing.rating.low, standing.rating.high))
        np.testing.assert_allclose(boxes[0], ends, atol=1.5)
    bars = opened.execute_script(script, "#endings-section", ".bar")
    assert len(bars) >= 13
    widths = {round(boxes[-1][1] - boxes[0][0]) for _, boxes in bars[:13]}
    assert len(widths) == 1


def test_links_lead_to_games(played: tuple[Path, Path], opened: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    path, page = played
    opened.execute_script("document.querySelector('#cross tbody a').click()")
    target = opened.execute_script("return location.hash.slice(1)")
    heading = opened.find_element("id", target)
    assert heading.tag_name == "h3"
    number = int(target.removeprefix("pairing-"))
    pairing = summarize(load_results(path)).pairings[number]
    assert heading.text == " vs ".join(pairing.agents)
    game = opened.find_elements("css selector", "details.game > div")[7].get_attribute("id")
    opened.get(f"{page.as_uri()}#{game}")
    opened.refresh()
    script = "return document.getElementById(arguments[0]).closest('details').open"
    # Opened, since it was asked for; the page may still be loading.
    WebDriverWait(opened, 10).until(lambda page: page.execute_script(script, game))
    record = load_results(path).records[int(game.removeprefix("game-")) - 1]
    shown = opened.execute_script(
        "return [...document.getElementById(arguments[0]).querySelectorAll('pre')].map("
        "pre => pre.textContent)",
        game,
    )
    assert record.to_text() in shown
    boards = [text for text in shown if "May be Jack" in text]
    assert len(boards) == int(re.findall(r"turn (\d+)", record.to_text())[-1])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_light_and_dark_wide_and_narrow(opened: Any, scheme: str, width: int) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    style = "const s = getComputedStyle(arguments[0]); return [s.color, s.backgroundColor]"
    body = opened.find_element("tag name", "body")
    text, ground = (luminance(colour) for colour in opened.execute_script(style, body))
    assert (text > ground) == (scheme == "dark")
    assert contrast(text, ground) > 12
    for name in ("a", "caption", "dt", "thead th"):
        found = opened.find_element("css selector", name)
        assert contrast(luminance(opened.execute_script(style, found)[0]), ground) >= 4.5


def luminance(colour: str) -> float:
    """Relative luminance of a colour (Web Content Accessibility Guidelines 2.1)."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(one: float, other: float) -> float:
    """Contrast of two luminances, 1 to 21."""
    high, low = max(one, other), min(one, other)
    return (high + 0.05) / (low + 0.05)
