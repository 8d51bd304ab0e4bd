"""The notebooks run, on data made for the test; those committed have run, and say how."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mrjack_ai.engine.compile import JIT_DISABLED
from mrjack_ai.studies import SIZES, load_data, make_data
from mrjack_ai.studies.__main__ import main
from mrjack_ai.studies.data import TABLES
from mrjack_ai.studies.execute import NotebookError, execute_notebook, find_notebooks

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = find_notebooks([FOLDER])
MOST_BYTES = 1_500_000
MOST_DATA_BYTES = 3_000_000


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notebooks")
    assert make_data(folder / "data", SIZES["small"], "small", folder / "games")
    return folder / "data"


def test_all_four_are_there() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04"]


@pytest.mark.skipif(JIT_DISABLED, reason="takes too long in plain Python")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, small_data: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    out = tmp_path / path.name
    execute_notebook(path, out, small_data)
    assert path.read_bytes() == before
    assert [cell["execution_count"] for cell in code_cells(out)] == [
        *range(1, len(code_cells(out)) + 1)
    ]
    text = out.read_text(encoding="utf-8")
    assert "size `small`" in text or path.name.startswith("01")
    # nothing went wrong in silence
    for cell in code_cells(out):
        for output in cell["outputs"]:
            assert output.get("name") != "stderr", output.get("text")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_notebook_has_run(path: Path) -> None:
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert len(outputs) >= len(cells) / 2
    assert not any(
        output["output_type"] in ("error", "stream") and output.get("name") == "stderr"
        for output in outputs
    )
    assert all(output["output_type"] != "error" for output in outputs)
    pictures = [
        output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})
    ]
    assert pictures
    for picture in pictures:
        assert base64.b64decode(picture).startswith(b"\x89PNG")
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    assert not re.search(
        r'"/(home|root|tmp|work|Users|opt)/|[ (\'](/home|/root|/tmp|/work|/Users|/opt)/', text
    )
    notebook = read(path)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert all(cell["metadata"] == {} for cell in notebook["cells"])


def test_committed_notebooks_are_of_the_committed_data() -> None:
    data = load_data(FOLDER / "data")
    for path in NOTEBOOKS[1:]:
        texts = [
            "".join(output["data"]["text/markdown"])
            for cell in code_cells(path)
            for output in cell["outputs"]
            if "text/markdown" in output.get("data", {})
        ]
        assert any(data.summary() in text for text in texts), path.name


def test_committed_data_are_small_and_whole() -> None:
    files = {path.name: path.stat().st_size for path in (FOLDER / "data").iterdir()}
    assert set(files) == {"about.json", *(f"{name}.parquet" for name in TABLES)}
    assert sum(files.values()) < MOST_DATA_BYTES
    data = load_data(FOLDER / "data")
    assert data.about["size"] in SIZES
    assert data.about["games"] == len(data.games)
    assert set(data.calls["agent"]) == set(data.about["played"]["anatomy"])


def test_text_holds_no_figures_that_were_typed_in() -> None:
    """Results stand in outputs; what is written by hand has no percentages or intervals."""
    for path in NOTEBOOKS:
        for cell in read(path)["cells"]:
            if cell["cell_type"] == "markdown":
                text = "".join(cell["source"])
                found = re.findall(r"\d+(?:\.\d+)? ?%", text)
                assert set(found) <= {"95 %", "5 %", "50 %"}, (path.name, found)


NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"display_name": "x", "language": "python", "name": "python3"}},
}


def cell(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"cell-{len(source)}",
        "metadata": {"tags": ["x"]},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }


def test_a_failing_cell_leaves_the_notebook_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.ipynb"
    path.write_text(json.dumps(NOTEBOOK | {"cells": [cell("1 / 0")]}))
    before = path.read_bytes()
    assert main(["run", str(tmp_path)]) == 2
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["broken.ipynb"]
    path.write_text("no notebook")
    with pytest.raises(NotebookError, match="is no notebook"):
        execute_notebook(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no signals there")
def test_an_interrupted_run_leaves_the_notebook_alone(tmp_path: Path) -> None:
    path, begun = tmp_path / "slow.ipynb", tmp_path / "begun"
    source = f"import time; open({str(begun)!r}, 'w').close(); time.sleep(60)"
    path.write_text(json.dumps(NOTEBOOK | {"cells": [cell(source)]}))
    before = path.read_bytes()
    command = [sys.executable, "-m", "mrjack_ai.studies", "run", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not begun.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert error.endswith("interrupted\n")
    assert path.read_bytes() == before


def test_command_runs_in_place_with_the_data_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "good.ipynb"
    source = (
        "import os; print(os.environ['MRJACK_NOTEBOOK_DATA']); print(os.path.basename(os.getcwd()))"
    )
    path.write_text(json.dumps(NOTEBOOK | {"cells": [cell(source)]}))
    shutil.copy(path, tmp_path / "again.ipynb")
    monkeypatch.setenv("MRJACK_NOTEBOOK_DATA", "as before")
    assert main(["run", str(path), "--data", str(tmp_path / "numbers")]) == 0
    (found,) = code_cells(path)
    printed = "".join(found["outputs"][0]["text"]).split()
    assert printed == [str(tmp_path / "numbers"), tmp_path.name]
    assert found["metadata"] == {}
    assert os.environ["MRJACK_NOTEBOOK_DATA"] == "as before"
