"""Run notebooks from the first cell to the last and keep what they print."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mrjack_ai.common.files import write_whole
from mrjack_ai.errors import MrJackError
from mrjack_ai.studies.data import DATA_VARIABLE

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


class NotebookError(MrJackError):
    """A notebook cannot be read or run; names the file, and the error of the cell."""


def find_notebooks(paths: Sequence[str | Path]) -> list[Path]:
    """The notebooks among some files and folders, those of a folder by name.

    Raises:
        NotebookError: when there is none.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        found += sorted(path.glob("*.ipynb")) if path.is_dir() else [path]
    if not found:
        raise NotebookError(f"no notebook in {', '.join(map(str, paths))}")
    return found


def execute_notebook(
    path: str | Path, out: str | Path | None = None, data: str | Path | None = None
) -> None:
    """Run a notebook in its own folder and write it with its outputs.

    What differs from run to run without a reason, such as times of execution, is left out. The
    file appears when the run is over.

    Args:
        path: the notebook.
        out: where it goes; by default in its own place.
        data: folder of the data (`load_data`); by default `data` beside the notebook.

    Raises:
        NotebookError: when it cannot be read, run or written, or a cell fails; then nothing is
            written.
    """
    try:  # an extra; and nbclient alone takes longer to import than we do
        import nbformat
        from nbclient import NotebookClient
        from nbclient.exceptions import CellExecutionError, DeadKernelError
    except ImportError as error:
        raise NotebookError(
            f"{error}; notebooks need the extra: pip install 'mrjack_ai[notebooks]'"
        ) from None

    path = Path(path)
    out = path if out is None else Path(out)
    try:
        notebook = nbformat.read(path, as_version=4)
    except OSError as error:
        raise NotebookError(f"cannot read {str(path)!r}: {error}") from None
    except (ValueError, AttributeError, KeyError, TypeError, nbformat.ValidationError) as error:
        raise NotebookError(f"{str(path)!r} is no notebook: {error}") from None
    client = NotebookClient(
        notebook,
        timeout=None,
        kernel_name=_KERNEL["name"],
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],  # the kernel warns of what does not matter here
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        with _environment(None if data is None else str(Path(data).resolve())):
            client.execute()
    except Exception as error:
        # After Ctrl-C the client shuts down its kernel, and then fails in one way or another.
        if getattr(client, "_async_cleanup_kernel_future", None) is not None:
            raise KeyboardInterrupt from None
        if isinstance(error, (CellExecutionError, DeadKernelError)):
            raise NotebookError(f"{path}: {error}") from None
        raise
    _tidy(notebook)
    write_whole(out, nbformat.writes(notebook) + "\n", error=NotebookError)


@contextlib.contextmanager
def _environment(data: str | None) -> Iterator[None]:
    """The data's folder in the environment, which the kernel inherits."""
    before = os.environ.get(DATA_VARIABLE)
    if data is not None:
        os.environ[DATA_VARIABLE] = data
    try:
        yield
    finally:
        if data is not None:
            os.environ.pop(DATA_VARIABLE)
            if before is not None:
                os.environ[DATA_VARIABLE] = before


def _tidy(notebook: dict) -> None:  # type: ignore[type-arg]
    notebook["metadata"] = {"kernelspec": dict(_KERNEL), "language_info": {"name": "python"}}
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def execute_all(
    paths: Sequence[str | Path],
    data: str | Path | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> None:
    """Run several notebooks in place, one after the other.

    Args:
        paths: notebooks, and folders of notebooks.
        data: as for `execute_notebook`.
        report: told which one begins.

    Raises:
        NotebookError: as `execute_notebook`; those before are written.
    """
    notebooks = find_notebooks(paths)
    for number, path in enumerate(notebooks, start=1):
        report(f"{number} of {len(notebooks)}: {path.name}")
        execute_notebook(path, data=data)
