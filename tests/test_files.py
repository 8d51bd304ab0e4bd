"""Files appear when they are complete: whatever writes one goes through `common.files`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers import as_nobody, files_of_at_most, folder_of_nobody

from mrjack_ai.cli.main import main
from mrjack_ai.common.files import replacing, replacing_database, write_whole
from mrjack_ai.errors import MrJackError
from mrjack_ai.game.record import write_record
from mrjack_ai.reports import write_report
from mrjack_ai.search.weights import save_weights
from mrjack_ai.setup.variant import make_variant
from mrjack_ai.tournament import Settings, export, read_game, recover, run_tournament, write_deals
from mrjack_ai.tournament.deals import seeded_deal

SMALL = make_variant("mews", "SH+JW+SG+WG", 4)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "r.db"
    run_tournament(Settings(("random", "cautious"), 20, 5, SMALL), out=path)
    return path


def _record(results: Path, out: Path) -> None:
    write_record(read_game(results, 1), out)


def _deals(results: Path, out: Path) -> None:
    write_deals(out, [seeded_deal(SMALL, 1, number) for number in range(100)], SMALL)


def _weights(results: Path, out: Path) -> None:
    save_weights(out, np.ones((300, 30)), np.ones(30), np.ones(30), np.ones(1))


def _exported(results: Path, out: Path) -> None:
    export(results, out)


def _recovered(results: Path, out: Path) -> None:
    recover(results, out)


def _report(results: Path, out: Path) -> None:
    write_report(results, out)


WRITERS: list[tuple[Callable[[Path, Path], object], str]] = [
    (_record, "r.txt"),
    (_deals, "deals.txt"),
    (_weights, "w.npz"),
    *((_exported, f"g.{ending}") for ending in ("csv", "parquet", "jsonl", "txt")),
    (_recovered, "new.db"),
    (_report, "r.html"),
]


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_a_full_disk_leaves_nothing_and_blames_the_file_that_is_written(
    played: Path, tmp_path: Path, write: Callable[[Path, Path], object], name: str
) -> None:
    out = tmp_path / name
    with (
        files_of_at_most(100),
        pytest.raises(MrJackError, match=rf"^cannot write .*{name}': ") as error,
    ):
        write(played, out)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []
    write(played, out)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "words",
    [
        ["show", "{results}", "--svg", "{out}"],
        ["replay", "{results}", "--game", "2", "--html", "{out}"],
        ["report", "{results}", "--out", "{out}"],
        ["deals", "{out}"],
        ["results", "export", "{results}", "{out}.csv", "{out}.txt"],
        ["results", "recover", "{results}", "{out}"],
    ],
)
def test_commands_write_whole_files_or_none(
    played: Path, tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = [word.format(results=played, out=out) for word in words]
    with files_of_at_most(100):
        assert main(command) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"cannot write '{out}" in said
    assert list(tmp_path.iterdir()) == []
    assert main(command) == 0
    assert {path.name for path in tmp_path.iterdir()} <= {"out", "out.csv", "out.txt"}


def test_only_regular_files_are_replaced_and_links_followed(tmp_path: Path) -> None:
    real, link, pipe = tmp_path / "real", tmp_path / "link", tmp_path / "pipe"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o600
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/null"), ""):
        with pytest.raises(MrJackError, match="no regular file"):
            write_whole(path, "new")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(MrJackError, match=r"cannot write .*null"):
        write_whole("a\0b", "new")


@pytest.mark.parametrize(
    "error", [OSError("no space left"), KeyboardInterrupt(), ZeroDivisionError()]
)
def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "game.json"
    write_whole(path, "old")
    wanted = MrJackError if isinstance(error, OSError) else type(error)

    def fail_in_a_file() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise error

    def fail_in_a_database() -> None:
        with replacing_database(path) as part:
            part.write_text("new")
            Path(f"{part}-wal").write_text("new")
            raise error

    for fail in (fail_in_a_file, fail_in_a_database):
        with pytest.raises(wanted):
            fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_source_is_not_replaced_whatever_its_name(tmp_path: Path) -> None:
    path, other = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text("old")
    os.link(path, other)
    with pytest.raises(MrJackError, match="is what is read here; give another name"):
        write_whole(other, "new", None, "no such file", path)
    assert path.read_text() == "old"


def test_names_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    for name in ("x" * 255, "ü" * 127):
        write_whole(tmp_path / name, "new")
        assert (tmp_path / name).read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(MrJackError, match=r"cannot write .*too long"):
        write_whole(tmp_path / ("x" * 256), "new")


def test_a_file_that_is_protected_stays() -> None:
    with folder_of_nobody() as folder:
        path = folder / "a.txt"
        path.write_text("old")
        path.chmod(0o444)
        with as_nobody(), pytest.raises(MrJackError, match="may not be written"):
            write_whole(path, "new")
        assert path.read_text() == "old"


def test_text_that_is_no_unicode_is_written_readably(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.txt", "a\udcffb")
    assert (tmp_path / "a.txt").read_text() == "a\\udcffb"
