"""A damaged results file is refused or read as it was, and every whole game of it is saved."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from damage import KINDS, LOGGED, Files, check

FILES_OF_A_KIND = 6
"""`python tests/damage.py` tries any number."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files.in_folder(tmp_path_factory.mktemp("originals"))


@pytest.mark.parametrize("kind", [*KINDS, *LOGGED])
def test_damage_at_random(kind: str, files: Files, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for number in range(FILES_OF_A_KIND):
        counts += check(files, kind, np.random.default_rng([7, number]), tmp_path)
    assert counts["files"] == FILES_OF_A_KIND
    assert counts["whole"] > 0
    assert counts["saved"] >= counts["whole"] or counts["lost"]


def test_files_that_are_whole_are_read_and_recovered_whole(files: Files, tmp_path: Path) -> None:
    """What the test above compares with."""
    for original in (files.rest, files.killed):
        path = original.copy(tmp_path / "r.db")
        assert original.whole(path) == set(original.games)
        assert original.settings_left(path)
    assert any(cell.overflow for cell in files.rest.cells.values())
    assert Path(f"{files.killed.path}-wal").stat().st_size > 0
