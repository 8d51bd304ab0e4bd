"""Damage results files at random, and see what is left of them.

    python tests/damage.py --count 1000 --seed 1

damages copies of a file of some hundred games, in every way of `KINDS` in turn, and looks at what
each command makes of each of them. Prints a row for every kind of damage:

- refused: files that reading refused; read: files that were read, the damage being where nothing
  is kept; lost: files with whole games, but none of the copies of the settings;
- games: those of all files of the kind; whole: those whose bytes were whole; saved: those that
  `recover` saved.

What may never happen ends the program: an exception that is no `MrJackError`, a value that is not
the original one, a whole game that is not saved, a file left behind by a recovery that failed.

A game is whole when the bytes of its cell stand together on some page, wherever that is, and its
overflow pages, if it has any, where they were. To tell, the original file is taken apart here by
its tree of pages, as SQLite does and `recover` does not.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas

from mrjack_ai.cli.main import main as command
from mrjack_ai.errors import MrJackError
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import Settings, export, load, recover, summarize
from mrjack_ai.tournament.runner import load_results
from mrjack_ai.tournament.schedule import GameResult
from mrjack_ai.tournament.store import ResultsReader, ResultsWriter

PAGE = 4096
FRAME_HEADER, LOG_HEADER = 24, 32
SETTINGS = Settings(
    ("random", "cautious", "greedy"), 120, 5, make_variant("mews", "SH+JW+SG+WG", 4)
)
GAMES = SETTINGS.total_games - 30
"""So many of the games are in the file."""

Random = np.random.Generator


# -- the file -----------------------------------------------------------------------------


def results() -> list[GameResult]:
    """The games; some with so long a log that they need overflow pages."""
    found = []
    for number in range(GAMES):
        result = SETTINGS.game(number).result(SETTINGS)
        if number % 9 == 0:
            lines = "".join(
                f"game {number}, line {line}: éß\n" for line in range(40 * (number % 7))
            )
            result = result._replace(detective_log=lines or None)
        found.append(result)
    return found


def write(path: Path, games: list[GameResult], killed: bool = False) -> None:
    """Write a file in two runs; of one that is killed the last games are in the log alone."""
    half = len(games) // 2
    for run, part in enumerate((games[:half], games[half:]), start=1):
        writer = ResultsWriter(path, SETTINGS, workers=2)
        for start in range(0, len(part), 7):
            writer.add(part[start : start + 7])
            if run == 2 and start == 70:  # the log begins anew, over the old one
                assert writer._connection is not None
                writer._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        kept = [(file, file.read_bytes()) for file in (path, Path(f"{path}-wal")) if file.exists()]
        writer.close()
    if killed:
        for file, data in kept:
            file.write_bytes(data)


# -- its pages ----------------------------------------------------------------------------


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = 0
    for count in range(8):
        byte = data[place + count]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place + count + 1
    return number << 8 | data[place + 8], place + 9


@dataclass(frozen=True)
class Cell:
    """A row as it stands in the file: its cell, and its overflow pages by number."""

    cell: bytes
    overflow: tuple[tuple[int, bytes], ...]


def cells(pages: dict[int, bytes], root: int) -> dict[int, Cell]:
    """The rows of a table by their numbers."""
    page = pages[root]
    start = 100 if root == 1 else 0
    count = int.from_bytes(page[start + 3 : start + 5])
    header = 12 if page[start] == 5 else 8
    places = [
        int.from_bytes(page[start + header + 2 * cell : start + header + 2 * cell + 2])
        for cell in range(count)
    ]
    found: dict[int, Cell] = {}
    if page[start] == 5:
        children = [int.from_bytes(page[place : place + 4]) for place in places]
        for child in (*children, int.from_bytes(page[start + 8 : start + 12])):
            found |= cells(pages, child)
        return found
    assert page[start] == 13
    for place in places:
        length, after = _varint(page, place)
        number, after = _varint(page, after)
        overflow: list[tuple[int, bytes]] = []
        local = length
        if length > PAGE - 35:
            least = (PAGE - 12) * 32 // 255 - 23
            local = least + (length - least) % (PAGE - 4)
            local = least if local > PAGE - 35 else local
            link = int.from_bytes(page[after + local : after + local + 4])
            while link:
                overflow.append((link, pages[link]))
                link = int.from_bytes(pages[link][:4])
            local += 4
        found[number] = Cell(page[place : after + local], tuple(overflow))
    return found


def images(path: Path) -> list[bytes]:
    """All pages of a file and its log, in all their versions."""
    data = path.read_bytes()
    found = [data[start : start + PAGE] for start in range(0, len(data), PAGE)]
    log = Path(f"{path}-wal")
    if log.exists():
        found += [image for _, image in frames(log.read_bytes(), old=True)]
    return found


def frames(log: bytes, old: bool = False) -> list[tuple[int, bytes]]:
    """Number and content of each page in a log; also those left from before it began anew."""
    return [
        (
            int.from_bytes(log[start : start + 4]),
            log[start + FRAME_HEADER : start + FRAME_HEADER + PAGE],
        )
        for start in range(LOG_HEADER, len(log) - FRAME_HEADER, FRAME_HEADER + PAGE)
        if old or log[start + 8 : start + 16] == log[16:24]
    ]


def newest(path: Path) -> dict[int, bytes]:
    """The pages of a file by number, as SQLite sees them: those in the log come first."""
    data = path.read_bytes()
    pages = {1 + start // PAGE: data[start : start + PAGE] for start in range(0, len(data), PAGE)}
    log = Path(f"{path}-wal")
    if log.exists():
        pages.update(frames(log.read_bytes()))
    return pages


@dataclass
class Original:
    """A file that is whole, and all that is in it."""

    path: Path
    games: dict[int, tuple[object, ...]] = field(default_factory=dict)
    cells: dict[int, Cell] = field(default_factory=dict)
    settings: list[Cell] = field(default_factory=list)

    @classmethod
    def made(cls, path: Path, killed: bool) -> Original:
        write(path, results(), killed)
        original = cls(path)
        pages = newest(path)
        with ResultsReader(original.copy(path.with_suffix(".read"))) as reader:
            roots = dict(reader._connection.execute("SELECT name, rootpage FROM sqlite_master"))
            for result, run, finished in reader.results_and_runs():
                original.games[result.number] = (*result, run, finished)
        assert len(original.games) == GAMES
        original.cells = cells(pages, roots["games"])
        for table in ("tournament", "copies"):
            original.settings += cells(pages, roots[table]).values()
        assert len(original.settings) >= 3
        return original

    def copy(self, path: Path) -> Path:
        for ending in ("", "-wal"):
            if Path(f"{self.path}{ending}").exists():
                shutil.copy(f"{self.path}{ending}", f"{path}{ending}")
        return path

    def whole(self, path: Path) -> set[int]:
        """The games that are whole in a damaged copy."""
        pages, numbered = images(path), newest(path)
        return {number for number, cell in self.cells.items() if _is_whole(cell, pages, numbered)}

    def settings_left(self, path: Path) -> bool:
        """Whether some copy of the settings is."""
        pages, numbered = images(path), newest(path)
        return any(_is_whole(cell, pages, numbered) for cell in self.settings)


def _is_whole(cell: Cell, pages: list[bytes], numbered: dict[int, bytes]) -> bool:
    # The length that a cell begins with is no part of what the checksum covers.
    if not any(cell.cell in page for page in pages):
        return False
    return all(numbered.get(number) == content for number, content in cell.overflow)


# -- damage -------------------------------------------------------------------------------


def _flip(data: bytearray, rng: Random, count: int) -> None:
    for place in rng.integers(len(data), size=count):
        data[place] ^= int(rng.integers(1, 256))


def _flip_one(data: bytearray, rng: Random) -> None:
    _flip(data, rng, 1)


def _flip_many(data: bytearray, rng: Random) -> None:
    _flip(data, rng, int(rng.integers(2, 200)))


def _flip_in_header(data: bytearray, rng: Random) -> None:
    data[int(rng.integers(100))] ^= int(rng.integers(1, 256))


def _flip_in_page_headers(data: bytearray, rng: Random) -> None:
    """Where a page says what it is, and where its cells are."""
    for page in rng.integers(len(data) // PAGE, size=5):
        data[int(page) * PAGE + int(rng.integers(40))] ^= int(rng.integers(1, 256))


def _pages(data: bytearray, rng: Random, count: int) -> list[int]:
    return [int(page) * PAGE for page in rng.choice(len(data) // PAGE, count, replace=False)]


def _zero_a_page(data: bytearray, rng: Random) -> None:
    for start in _pages(data, rng, 1):
        data[start : start + PAGE] = bytes(PAGE)


def _zero_pages(data: bytearray, rng: Random) -> None:
    for start in _pages(data, rng, int(rng.integers(2, 12))):
        data[start : start + PAGE] = bytes(PAGE)


def _zero_the_first_pages(data: bytearray, rng: Random) -> None:
    size = PAGE * int(rng.integers(1, 7))
    data[:size] = bytes(size)


def _zero_sectors(data: bytearray, rng: Random) -> None:
    for sector in rng.integers(len(data) // 512, size=int(rng.integers(1, 10))):
        data[int(sector) * 512 : int(sector) * 512 + 512] = bytes(512)


def _garble(data: bytearray, rng: Random) -> None:
    """Noise over some length, also across pages."""
    start, size = int(rng.integers(len(data))), int(rng.integers(1, 3 * PAGE))
    data[start : start + size] = rng.bytes(len(data[start : start + size]))


def _truncate(data: bytearray, rng: Random) -> None:
    """An empty file is no damaged one, but a new one."""
    del data[int(rng.integers(1, len(data))) :]


def _truncate_at_a_page(data: bytearray, rng: Random) -> None:
    del data[int(rng.integers(1, len(data) // PAGE)) * PAGE :]


def _swap(data: bytearray, rng: Random, pairs: int) -> None:
    for _ in range(pairs):
        one, other = _pages(data, rng, 2)
        first, second = data[one : one + PAGE], data[other : other + PAGE]
        data[one : one + PAGE], data[other : other + PAGE] = second, first


def _swap_two_pages(data: bytearray, rng: Random) -> None:
    _swap(data, rng, 1)


def _swap_pages(data: bytearray, rng: Random) -> None:
    _swap(data, rng, int(rng.integers(2, 10)))


def _overwrite_with_another_page(data: bytearray, rng: Random) -> None:
    one, other = _pages(data, rng, 2)
    data[one : one + PAGE] = data[other : other + PAGE]


KINDS: dict[str, Callable[[bytearray, Random], None]] = {
    "a byte": _flip_one,
    "2 to 200 bytes": _flip_many,
    "a byte of the header": _flip_in_header,
    "bytes of page headers": _flip_in_page_headers,
    "a page zeroed": _zero_a_page,
    "2 to 11 pages zeroed": _zero_pages,
    "the first 1 to 6 pages zeroed": _zero_the_first_pages,
    "1 to 9 sectors zeroed": _zero_sectors,
    "noise": _garble,
    "cut": _truncate,
    "cut at a page": _truncate_at_a_page,
    "two pages swapped": _swap_two_pages,
    "2 to 9 pairs swapped": _swap_pages,
    "a page over another": _overwrite_with_another_page,
}
LOGGED = {
    "killed: the file": "",
    "killed: the log": "-wal",
}
"""The same kinds, to one of the two files that a killed run leaves."""


# -- what becomes of it -------------------------------------------------------------------


@dataclass
class Files:
    """The two files that are damaged."""

    rest: Original
    killed: Original

    @classmethod
    def in_folder(cls, folder: Path) -> Files:
        folder.mkdir(exist_ok=True)
        return cls(
            Original.made(folder / "rest.db", killed=False),
            Original.made(folder / "killed.db", killed=True),
        )


def damaged(files: Files, kind: str, rng: Random, path: Path) -> Original:
    """Make a damaged copy; returns the file it is a copy of."""
    original, ending, damage = files.rest, "", KINDS.get(kind)
    if damage is None:
        original, ending = files.killed, LOGGED[kind]
        damage = list(KINDS.values())[int(rng.integers(len(KINDS)))]
    original.copy(path)
    place = Path(f"{path}{ending}")
    data = bytearray(place.read_bytes())
    damage(data, rng)
    place.write_bytes(data)
    return original


def check(files: Files, kind: str, rng: Random, folder: Path) -> Counter[str]:
    """Damage a copy, and see what every reader makes of it.

    Returns:
        Counts of files refused, read, and lost; and of games, whole and saved.

    Raises:
        AssertionError: when something is wrong.
        Exception: that a reader raises and should not.
    """
    path, new = folder / "r.db", folder / "new.db"
    for file in folder.iterdir():
        file.unlink()
    original = damaged(files, kind, rng, path)
    counts = Counter(files=1, games=len(original.games))
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    whole, settings = original.whole(path), original.settings_left(path)

    # As it is: SQLite itself tidies up what a killed run left, on the first occasion.
    counts["whole"] += len(whole)
    try:
        saved = recover(path, new)
    except MrJackError:
        assert not (settings and whole)
        counts["lost"] += bool(whole)
    else:
        counts["saved"] += saved
        found = _games(new)
        assert saved == len(found) > 0
        assert whole <= set(found)
        assert found.items() <= original.games.items()
        tables = load(new)
        assert list(tables.agents.agent) == list(SETTINGS.agents)
        assert set(tables.games.run) <= set(tables.runs.run)
        new.unlink()
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before

    read = _read(path, original, exact=kind in KINDS)
    counts["read" if read else "refused"] += 1
    return counts


def _games(path: Path) -> dict[int, tuple[object, ...]]:
    with ResultsReader(path) as reader:
        return {game.number: (*game, *rest) for game, *rest in reader.results_and_runs()}


def _read(path: Path, original: Original, exact: bool) -> bool:
    """Read a damaged file in every way.

    Args:
        path: the file.
        original: what it was.
        exact: whether it has to be refused or to be read whole. What is lost with the end of the
            log cannot be missed.

    Returns:
        True when it was not refused.
    """

    def same(found: dict[int, tuple[object, ...]]) -> None:
        assert found.items() <= original.games.items()
        assert not exact or found == original.games

    answers = []
    with contextlib.suppress(MrJackError):
        same(_games(path))
        answers.append(True)
    with contextlib.suppress(MrJackError):
        results = load_results(path)
        summary = summarize(results)
        assert not exact or summary.games == GAMES
        for record in results.records:
            number = record.details["game"] - 1
            expected = GameResult(*original.games[number][:-2])  # type: ignore[arg-type]
            assert record == expected.record(SETTINGS)
    with contextlib.suppress(MrJackError), ResultsReader(path) as reader:
        for number in (0, 1, GAMES // 2, GAMES - 1):
            with contextlib.suppress(MrJackError):
                assert tuple(reader.result(number)) == original.games[number][:-2]
    with contextlib.suppress(MrJackError):
        tables, expected = load(path), load(original.copy(path.with_name("o.db")))
        pandas.testing.assert_frame_equal(tables.agents, expected.agents)
        assert exact is False or tables.games.equals(expected.games)
        pandas.testing.assert_frame_equal(tables.runs, expected.runs.iloc[: len(tables.runs)])
    outs = [path.with_name(name) for name in ("g.csv", "g.jsonl")]
    with contextlib.suppress(MrJackError):
        count = export(path, *outs)
        assert not exact or count == GAMES
        assert len(pandas.read_csv(outs[0])) == outs[1].read_text().count("\n") == count
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        assert command(["results", str(path)]) in (0, 2)
    assert "Traceback" not in said.getvalue()
    with contextlib.suppress(MrJackError):
        writer = ResultsWriter(path, SETTINGS)
        count = writer.outcomes.count
        writer.close()
        answers.append(True)
        same(found := _games(path))
        assert count == len(found)
    return any(answers)


def main(arguments: list[str] | None = None) -> int:
    """Run the check; returns the exit code."""
    parser = argparse.ArgumentParser(description="Damage results files at random.")
    parser.add_argument("--count", type=int, default=1000, help="damages (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the damage (%(default)s)")
    options = parser.parse_args(arguments)
    kinds = [*KINDS, *LOGGED]
    found = {kind: Counter[str]() for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        files = Files.in_folder(Path(folder) / "originals")
        place = Path(folder) / "damaged"
        place.mkdir()
        for number in range(options.count):
            kind = kinds[number % len(kinds)]
            try:
                rng = np.random.default_rng([options.seed, number])
                found[kind] += check(files, kind, rng, place)
            except BaseException:
                print(f"damage {number} of seed {options.seed}: {kind}", file=sys.stderr)
                raise
    names = ("files", "read", "refused", "lost", "games", "whole", "saved")
    print(f"{'damage':32}{''.join(f'{name:>9}' for name in names)}")
    for kind, counts in [*found.items(), ("all", sum(found.values(), Counter()))]:
        print(f"{kind:32}{''.join(f'{counts[name]:9,}' for name in names)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
