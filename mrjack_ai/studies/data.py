"""Make the data of the notebooks, and read them.

    python -m mrjack_ai.studies data notebooks/data --size full --workers 2

plays the tournaments of `mrjack_ai.studies.plan` and writes a few small Parquet files. Results
are kept in a cache folder (`--cache`), game by game: after Ctrl-C, or whatever else ends it, the
same command carries on. The files are replaced together, when all is there.

| file | one row is |
|---|---|
| `games.parquet` | a game: `study`, `variant`, `detective`, `jack`, `deal`, `identity`, `dealt` |
| | (cards of turn 1), `winner`, `ending`, `length` (actions and chance outcomes), |
| | `detective_seconds`, `jack_seconds`, `detective_decisions`, `jack_decisions` |
| `nodes`, `kinds`, `plays`, `calls`, `hexes` | as in `replay.Anatomy`, with a column `agent` |
| `probes.parquet` | a walk down the game tree (`tree_size.probe_tree`) |
| `about.json` | not a table: how the data were made |
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from mrjack_ai.agents.registry import described_parameters
from mrjack_ai.common.files import replacing
from mrjack_ai.errors import TournamentError
from mrjack_ai.game.state import new_game
from mrjack_ai.studies.plan import SEED, STANDARD, Size, Study, studies
from mrjack_ai.studies.replay import Anatomy, take_apart
from mrjack_ai.studies.tree_size import probe_tree
from mrjack_ai.tournament.export import load
from mrjack_ai.tournament.runner import run_tournament
from mrjack_ai.tournament.standings import ENDING_NAMES
from mrjack_ai.tournament.store import ResultsReader
from mrjack_ai.version import RULES_VERSION, __version__

if TYPE_CHECKING:
    import pandas

DATA_VARIABLE = "MRJACK_NOTEBOOK_DATA"
"""Environment variable with the folder the notebooks read; by default `data` beside them."""

TABLES = ("games", "nodes", "kinds", "plays", "calls", "hexes", "probes")
"""Names of the Parquet files."""

_ABOUT = "about.json"
_GAME_COLUMNS = ("detective", "jack", "deal", "identity", "dealt", "winner", "ending", "length")
_TIME_COLUMNS = ("detective_seconds", "jack_seconds", "detective_decisions", "jack_decisions")

Report = Callable[[str, bool], None]
"""Takes a line that says how far it is, and whether a part of the work has just been finished."""


@dataclass(frozen=True)
class NotebookData:
    """The data of the notebooks: data frames as in the table above, and how they were made."""

    games: pandas.DataFrame
    nodes: pandas.DataFrame
    kinds: pandas.DataFrame
    plays: pandas.DataFrame
    calls: pandas.DataFrame
    hexes: pandas.DataFrame
    probes: pandas.DataFrame
    about: dict[str, Any]

    def study(self, name: str, variant: str | None = None) -> pandas.DataFrame:
        """The games of a study, or of one variant of it."""
        chosen = self.games["study"] == name
        if variant is not None:
            chosen &= self.games["variant"] == variant
        return self.games[chosen].reset_index(drop=True)

    def summary(self) -> str:
        """Where the data come from, in one sentence."""
        return (
            f"{len(self.games):,} games of size `{self.about['size']}`, seed {self.about['seed']}, "
            f"mrjack_ai {self.about['mrjack_ai']}, finished {self.about['made'][:10]}."
        )


def load_data(folder: str | Path | None = None) -> NotebookData:
    """Read the data of the notebooks.

    Args:
        folder: where they are; by default what the environment variable MRJACK_NOTEBOOK_DATA says,
            or else `data` in the working directory, which is that of the notebooks.

    Raises:
        TournamentError: when they cannot be read.
    """
    path = Path(folder or os.environ.get(DATA_VARIABLE) or "data")
    try:
        about = json.loads((path / _ABOUT).read_text(encoding="utf-8"))
        tables = {name: _read(path / f"{name}.parquet") for name in TABLES}
    except (OSError, ValueError) as error:
        raise TournamentError(
            f"cannot read the data of the notebooks in {str(path)!r}: {error}; "
            "python -m mrjack_ai.studies data FOLDER makes them"
        ) from None
    return NotebookData(**tables, about=about)


def _read(path: Path) -> pandas.DataFrame:
    import pandas  # not at the top: it takes longer to import than we do

    table = pandas.read_parquet(path)
    texts = [column for column in table.columns if table[column].dtype == "category"]
    return table.astype(dict.fromkeys(texts, "str"))  # categories only save room in the file


def games_frame(study: Study, path: str | Path) -> pandas.DataFrame:
    """The games of a study's results file, one row a game (see the module's description).

    Raises:
        TournamentError: when it cannot be read.
    """
    tables = load(path)
    games = tables.games
    ending = games["ending"].astype(object)
    games["ending"] = ending.where(ending.notna(), "forfeit").map(ENDING_NAMES)
    chance = [record.actions[:2] for record in tables.records]
    games["identity"] = [_argument(actions, 0) for actions in chance]
    games["dealt"] = [_argument(actions, 1) for actions in chance]
    games = games[[*_GAME_COLUMNS, *_TIME_COLUMNS]]
    games.insert(0, "study", study.name)
    games.insert(1, "variant", study.variant)
    return games


def _argument(actions: Sequence[str], place: int) -> str:
    return actions[place].split(" ", 1)[1] if len(actions) > place else ""


def make_data(
    folder: str | Path,
    size: Size,
    size_name: str,
    cache: str | Path,
    workers: int = 1,
    report: Report = lambda text, finished: None,
) -> bool:
    """Play what is missing in the cache, then write the data.

    Args:
        folder: where the data go; those there are replaced.
        size: how much is played.
        size_name: what that is called.
        cache: folder of the results files; may hold an interrupted run.
        workers: number of processes.
        report: told how far it is.

    Returns:
        False when interrupted; then the cache holds all games that were over, and the data are as
        before.

    Raises:
        TournamentError: when a folder or file cannot be written, or a file in the cache is
            damaged, of another tournament, or of agents with other parameters.
    """
    import pandas

    folder, cache = Path(folder), Path(cache)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TournamentError(f"cannot write the data: {error}") from None
    to_play = studies(size)
    whole = sum(study.settings.total_games for study in to_play)
    games, anatomies, before = [], [], 0
    for study in to_play:
        path = cache / study.file_name

        def tell(done: int, total: int, study: Study = study, before: int = before) -> None:
            agents = " - ".join(study.settings.agents)
            line = f"{before + done:,} of {whole:,} games; {study.name}, {study.variant}: {agents}"
            report(line, done == total)

        _check_agents(path, study)
        results = run_tournament(study.settings, workers, path, tell)
        if not results.complete:
            return False
        before += study.settings.total_games
        games.append(games_frame(study, path))
        (agent, *_) = study.settings.agents
        if (study.name, study.variant) == ("self-play", STANDARD) and agent in size.anatomy:
            report(f"replaying the games of {agent}", False)
            anatomies.append((agent, take_apart(results.records)))
    report(f"{size.probes:,} walks down the game tree", False)
    rng = np.random.default_rng(SEED)
    tables = {"games": pandas.concat(games, ignore_index=True)}
    tables |= _joined(anatomies)
    probes = probe_tree(new_game(), size.probes, rng)
    logs = [name for name in probes.columns if name.startswith("log_")]
    tables["probes"] = probes.astype(dict.fromkeys(logs, "float32"))  # half the room
    _write(folder, tables, _about(size, size_name, tables["games"]))
    return True


def _check_agents(path: Path, study: Study) -> None:
    """Defaults may have changed since an interrupted run; its games must not be mixed with new."""
    if not path.exists():
        return
    with ResultsReader(path) as reader:
        columns, rows = reader.table("agents")
    for row in rows:
        agent = dict(zip(columns, row, strict=True))
        if json.loads(agent["parameters"]) != described_parameters(agent["agent"]):
            raise TournamentError(
                f"the games in {str(path)!r} were played by {agent['agent']!r} with other "
                "parameters than it has now; remove the file, or the whole cache"
            )


def _joined(anatomies: Sequence[tuple[str, Anatomy]]) -> dict[str, pandas.DataFrame]:
    import pandas

    tables = {}
    for field in dataclasses.fields(Anatomy):
        frames = []
        for agent, anatomy in anatomies:
            frame = getattr(anatomy, field.name)
            frame.insert(0, "agent", agent)
            frames.append(frame)
        tables[field.name] = pandas.concat(frames, ignore_index=True)
    return tables


def _about(size: Size, size_name: str, games: pandas.DataFrame) -> dict[str, Any]:
    import pandas

    agents = dict.fromkeys([*games["detective"], *games["jack"]])
    return {
        "size": size_name,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "mrjack_ai": __version__,
        "rules": RULES_VERSION,
        "seed": SEED,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pandas": pandas.__version__,
        "games": len(games),
        "played": dataclasses.asdict(size),
        "agents": {agent: described_parameters(agent) for agent in agents},
    }


def _write(folder: Path, tables: dict[str, pandas.DataFrame], about: dict[str, Any]) -> None:
    """Old data stay until all new ones are complete."""
    with contextlib.ExitStack() as stack:

        def begin(name: str) -> BinaryIO:
            return stack.enter_context(replacing(folder / name, error=TournamentError))

        file: BinaryIO
        for name, table in tables.items():
            texts = [column for column in table.columns if table[column].dtype.kind not in "biuf"]
            packed = table.astype(dict.fromkeys(texts, "category"))
            file = begin(f"{name}.parquet")
            packed.to_parquet(file, index=False, engine="pyarrow", compression="zstd")
            file.flush()
        file = begin(_ABOUT)
        file.write(f"{json.dumps(about, indent=1)}\n".encode())
        file.flush()
