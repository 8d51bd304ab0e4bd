"""The replay page: what it shows at every moment, to whom, and how it is driven."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import misbehaving
import pytest
from helpers import LOUD, random_walk

from mrjack_ai.cli.main import main
from mrjack_ai.errors import RecordError
from mrjack_ai.game.record import GameRecord
from mrjack_ai.game.state import State, new_game
from mrjack_ai.render import board_svg
from mrjack_ai.render.svg import LAYERS
from mrjack_ai.reports.replay import PERSPECTIVES, replay_page
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import Settings, run_tournament

NASTY = "</script><script>document.title='broken'</script>\"'&lt;"


def played(seed: int, avoid: tuple[str, ...] = LOUD, **variant: Any) -> State:
    """The end of a random game."""
    *_, last = random_walk(new_game(**variant), random.Random(seed), avoid)
    return last


@pytest.fixture(scope="module")
def record() -> GameRecord:
    """A long game in which Holmes was played by both."""
    for seed in range(100):
        state = played(seed)
        if all(state.alibi_count(player) for player in (0, 1)):
            return GameRecord.from_state(state, ("greedy", NASTY), 7)
    raise AssertionError("no such game")


@pytest.fixture(scope="module")
def page(record: GameRecord) -> str:
    return replay_page(record)


def data_of(page: str) -> dict[str, Any]:
    """What the page's program reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def view_of(state: State, player: int | None) -> Any:
    return state if player is None or state.is_terminal() else state.observation(player)


# -- the page as text -----------------------------------------------------------------------


def test_every_moment_has_the_parts_of_its_picture(record: GameRecord, page: str) -> None:
    data = data_of(page)
    states = list(record.states())
    assert len(set(data["parts"])) == len(data["parts"])
    for index, (_, player) in enumerate(PERSPECTIVES):
        assert len(data["frames"][index]) == len(states)
        for moment in range(0, len(states), 7):
            picture = board_svg(view_of(states[moment], player))
            for numbers in data["frames"][index][moment]:
                # Layers lie one upon the other, each with its parts in order.
                layer = "".join(data["parts"][number] for number in numbers)
                assert layer in picture
        views = [view_of(state, player) for state in states]
        assert data["candidates"][index] == [len(view.candidates()) for view in views]


def test_a_player_sees_no_secret_of_the_other(record: GameRecord) -> None:
    """Games that differ only in what a player does not know give him the same moments."""
    states = list(record.states())
    jack = states[-1].identity
    data = data_of(replay_page(record))
    for code in record.variant.cast:
        if code == jack or code in states[-1].alibis(0) or code in states[-1].alibis(1):
            continue
        actions = (f"jack {code}", *record.actions[1:])
        try:
            twin = replace(record, actions=actions)
            others = list(twin.states())
        except RecordError:
            continue
        if others[-1].outcome() != states[-1].outcome():
            continue
        same = [a.observation(0) == b.observation(0) for a, b in zip(states, others, strict=True)]
        until = same.index(False) if False in same else len(states) - 1
        assert until > 5
        found = data_of(replay_page(twin))
        for moment in range(until):
            assert pictures(found, 0, moment) == pictures(data, 0, moment)
            assert found["titles"][0][moment] == data["titles"][0][moment]
        return
    raise AssertionError("no twin of the game can be played")


def pictures(data: dict[str, Any], view: int, moment: int) -> list[list[str]]:
    return [[data["parts"][n] for n in numbers] for numbers in data["frames"][view][moment]]


def test_actions_hide_what_the_other_drew(record: GameRecord, page: str) -> None:
    secrets = data_of(page)["secrets"]
    state = new_game()
    for number, action in enumerate(record.actions, start=1):
        word = action.split()[0]
        if word == "jack":
            assert secrets[str(number)] == ["jack ?", action, action]
        elif word == "alibi":
            order = state.variant.play_order(state.turn)
            drawer = order[4 - len(state.cards())]
            expected = ["alibi ?", "alibi ?", action]
            expected[drawer] = action
            assert secrets[str(number)] == expected
        else:
            assert str(number) not in secrets
        state.apply_action(action)


def test_the_page_is_small_and_refers_to_nothing(page: str) -> None:
    assert len(page) < 1_000_000
    assert "default-src 'none'" in page
    assert page.count("script-src 'sha256-") == 1
    assert "<script>document.title" not in page
    for word in ("http://", "https://", "@import", "url(", " src="):
        assert word not in page.replace("http://www.w3.org/2000/svg", "")
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert {f"layer-{name}" for name in LAYERS} <= set(ids)
    # The program names the layers in the same order.
    assert f"const layers = {json.dumps(list(LAYERS))}" in page


def test_the_same_game_gives_the_same_page(record: GameRecord, page: str) -> None:
    assert replay_page(GameRecord.from_dict(record.to_dict())) == page


@pytest.mark.parametrize("cast", ["SH+JW", "SH+IL+MS+JB"])
def test_other_variants_and_unfinished_games(cast: str) -> None:
    state = played(3, (), board="mews", cast=cast, turns=3)
    whole = GameRecord.from_state(state)
    shown = replay_page(whole)
    assert str(state.outcome()).capitalize() in shown
    for length in (0, 1, len(whole.actions) - 1):
        part = replace(whole, actions=whole.actions[:length], ending=None)
        text = replay_page(part)
        assert "not finished" in text
        assert len(data_of(text)["frames"][0]) == length + 1


def test_a_broken_record_is_refused(record: GameRecord) -> None:
    with pytest.raises(RecordError, match="action 3: 'pick ZZ'"):
        replay_page(replace(record, actions=(*record.actions[:2], "pick ZZ")))
    with pytest.raises(RecordError, match="the record says caught"):
        replay_page(replace(record, ending="caught"))
    with pytest.raises(RecordError, match="version 99"):
        replay_page(replace(record, rules=99))


# -- the command ----------------------------------------------------------------------------


def test_the_command_for_every_kind_of_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    games = [
        GameRecord.from_state(played(seed, (), board="mews", cast="SH+JW", turns=2))
        for seed in (1, 2)
    ]
    Path("games.txt").write_text("\n".join(game.to_text() for game in games))
    Path("games.jsonl").write_text("\n".join(json.dumps(game.to_dict()) for game in games))
    for file in ("games.txt", "games.jsonl"):
        assert main(["replay", file, "--html", "first.html"]) == 0
        assert capsys.readouterr().out == "the game is in first.html\n"
        assert Path("first.html").read_text() == replay_page(games[0])
        assert main(["replay", file, "--game", "2", "--html", "second.html"]) == 0
        assert Path("second.html").read_text() == replay_page(games[1])
        capsys.readouterr()
    misbehaving.register()
    agents = ("scripts-in-tests", "greedy")
    variant = make_variant("mews", "SH+JW+SG+WG", 4)
    run_tournament(Settings(agents, 4, 5, variant), out="r.db")
    capsys.readouterr()
    assert main(["replay", "r.db", "--game", "2", "--html", "second.html"]) == 0
    assert "scripts-in-tests" in Path("second.html").read_text()
    assert "forfeits" in Path("second.html").read_text()
    before = Path("games.txt").read_bytes()
    capsys.readouterr()
    for words, message in (
        (["games.txt", "--game", "3", "--html", "x.html"], "has no game 3; games are counted"),
        (["r.db", "--game", "99", "--html", "x.html"], "99"),
        (["games.txt", "--game", "1"], "--game needs --html"),
        (["games.txt", "--html", "games.txt"], "give another name"),
        (["games.txt", "--html", "no/x.html"], "cannot write 'no/x.html'"),
        (["missing.txt", "--html", "x.html"], "cannot read 'missing.txt'"),
    ):
        assert main(["replay", *words]) == 2
        errors = capsys.readouterr().err
        assert errors.count("\n") == 1
        assert message in errors
    assert Path("games.txt").read_bytes() == before
    assert not Path("x.html").exists()
    assert not list(tmp_path.glob("*.part"))


# -- the page in a browser ------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replay") / "game.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture
def opened(file: Path, browser: Any) -> Iterator[Any]:
    """The page in the browser, which must have nothing to complain about."""
    emulate(browser, "light", 1300)
    browser.get(file.as_uri())
    yield browser
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.title.startswith("greedy (Detective) vs </script>")


def emulate(browser: Any, scheme: str, width: int) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def moment(browser: Any) -> int:
    """The moment that the slider, the chart, the list and the status line agree on."""
    slider, now, status, current = browser.execute_script("""
        return [document.getElementById("slider").value,
            document.getElementById("now").getAttribute("x1"),
            document.getElementById("status").textContent,
            [...document.querySelectorAll("[aria-current]")].map(one => one.dataset.moment)]""")
    assert slider == now == status.split(" ")[0]
    assert current == ([] if slider == "0" else [slider])
    return int(slider)


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def drawn(browser: Any) -> str:
    """Texts of the picture, in order."""
    script = """
        return [...document.querySelectorAll(".picture > svg text")].map(
            text => text.textContent).join("|")"""
    return browser.execute_script(script)


def texts_of(picture: str) -> str:
    return "|".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture)).replace("&#x27;", "'")


def click(browser: Any, selector: str) -> None:
    browser.find_element("css selector", selector).click()


def test_step_keys_slider_and_list(record: GameRecord, opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    states, last = list(record.states()), len(record.actions)
    assert moment(opened) == 0
    for action, expected in (
        (lambda: press(opened, Keys.ARROW_RIGHT), 1),
        (lambda: click(opened, "#next"), 2),
        (lambda: press(opened, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT), 3),
        (lambda: click(opened, "#back"), 2),
        (lambda: click(opened, "#last"), last),
        (lambda: press(opened, Keys.ARROW_RIGHT), last),
        (lambda: press(opened, Keys.HOME), 0),
        (lambda: press(opened, Keys.ARROW_LEFT), 0),
        (lambda: press(opened, Keys.END), last),
        (lambda: click(opened, "#first"), 0),
        (lambda: click(opened, "[data-moment='9']"), 9),
    ):
        action()
        assert moment(opened) == expected
        assert drawn(opened) == texts_of(board_svg(states[expected]))
    # Keys are not taken twice while the slider has the focus.
    click(opened, "#slider")
    at = moment(opened)
    assert 0 < at < last
    press(opened, Keys.ARROW_RIGHT)
    assert moment(opened) == at + 1
    opened.execute_script("""
        const slider = document.getElementById("slider");
        slider.value = 20; slider.dispatchEvent(new Event("input"));""")
    assert moment(opened) == 20
    assert drawn(opened) == texts_of(board_svg(states[20]))
    status = opened.find_element("id", "status").text
    assert status.endswith(record.actions[19])
    # The chart: half of its width is half of the game.
    click(opened, "#chart")
    assert abs(moment(opened) - last / 2) <= 1


def test_play_and_pause(record: GameRecord, opened: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    click(opened, "#play")
    assert opened.find_element("id", "play").text == "Pause"
    WebDriverWait(opened, 10).until(lambda _: moment(opened) >= 2)
    click(opened, "#play")
    assert opened.find_element("id", "play").text == "Play"
    at = moment(opened)
    opened.execute_async_script("setTimeout(arguments[0], 1000)")
    assert moment(opened) == at
    # It stops at the end by itself, and begins again from there.
    click(opened, f"[data-moment='{len(record.actions) - 1}']")
    click(opened, "#play")
    WebDriverWait(opened, 10).until(lambda _: opened.find_element("id", "play").text == "Play")
    assert moment(opened) == len(record.actions)
    click(opened, "#play")
    assert moment(opened) <= 1
    click(opened, "#back")  # any step stops it
    assert opened.find_element("id", "play").text == "Play"


def test_perspectives(record: GameRecord, opened: Any) -> None:
    states = list(record.states())
    at = next(n for n, state in enumerate(states) if all(map(state.alibi_count, (0, 1))))
    click(opened, f"[data-moment='{at}']")
    everything = texts_of(board_svg(states[at]))
    assert drawn(opened) == everything
    jack = states[at].identity
    script = """
        return [document.getElementById("actions").innerText,
            [...document.querySelectorAll("[data-line]")].map(l => l.getAttribute("visibility"))]"""
    for index, (name, player) in enumerate(PERSPECTIVES):
        click(opened, f"[data-perspective='{index}']")
        pressed = opened.find_elements("css selector", "[aria-pressed=true]")
        assert [button.text for button in pressed] == [name]
        view = states[at] if player is None else states[at].observation(player)
        assert drawn(opened) == texts_of(board_svg(view))
        assert (drawn(opened) == everything) == (player is None)
        listed, lines = opened.execute_script(script)
        assert lines == ["visible" if n == index else "hidden" for n in range(3)]
        assert (f"jack {jack}" in listed) == (player != 0)
        assert ("jack ?" in listed) == (player == 0)
        drawn_cards = [a for a in record.actions if a.startswith("alibi")]
        for card in drawn_cards:
            owner = 0 if card.split()[1] in states[-1].alibis(0) else 1
            assert (card in listed) == (player in (None, owner))
        shown = int(opened.find_element("id", "count").text)
        assert shown == len(view.candidates())
    # Once the game is over all cards lie on the table.
    click(opened, "[data-perspective='0']")
    click(opened, "#last")
    assert drawn(opened) == texts_of(board_svg(states[-1]))
    assert f"Jack: {jack}" in drawn(opened)
    click(opened, "#back")
    assert "Jack: not known" in drawn(opened)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1300])
def test_light_and_dark_wide_and_narrow(opened: Any, scheme: str, width: int) -> None:
    emulate(opened, scheme, width)
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    ground = opened.execute_script("return getComputedStyle(document.body).backgroundColor")
    bright = sum(map(int, re.findall(r"\d+", ground)[:3])) > 380
    assert bright == (scheme == "light")
    # The picture has a ground of its own in both.
    paper = opened.execute_script(
        "return getComputedStyle(document.querySelector('.picture > svg > rect')).fill"
    )
    assert sum(map(int, re.findall(r"\d+", paper)[:3])) > 700


def test_the_moment_stays_in_sight_in_the_list(opened: Any) -> None:
    click(opened, "#last")
    inside = opened.execute_script("""
        const list = document.getElementById("actions").getBoundingClientRect();
        const one = document.querySelector("[aria-current]").getBoundingClientRect();
        return one.top >= list.top && one.bottom <= list.bottom + 1""")
    assert inside


def test_texts_stay_in_the_picture(opened: Any) -> None:
    """As wide as this browser's font makes them, at every moment and for everybody."""
    widest, seen = opened.execute_script("""
        const picture = document.querySelector(".picture > svg");
        const edge = () => picture.getBoundingClientRect().right;
        let widest = -1e9, seen = 0;
        for (const view of document.querySelectorAll("[data-perspective]")) {
            view.click();
            for (const one of document.querySelectorAll("[data-moment]")) {
                one.click();
                for (const text of document.querySelectorAll("#layer-panel text")) {
                    widest = Math.max(widest, text.getBoundingClientRect().right - edge());
                    seen += 1;
                }
            }
        }
        return [widest, seen]""")
    assert seen > 3000
    assert widest < 0
