"""Results as tables: data frames to work with, and files for other programs."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from mrjack_ai.common.files import replacing
from mrjack_ai.errors import TournamentError
from mrjack_ai.game.record import GameRecord
from mrjack_ai.stats.scores import EloEstimate, Rate
from mrjack_ai.tournament.runner import Results, StoredRecords
from mrjack_ai.tournament.schedule import GameResult, forfeit_text
from mrjack_ai.tournament.standings import ALL_ENDINGS, Summary, summarize
from mrjack_ai.tournament.store import ResultsReader

if TYPE_CHECKING:
    import pandas

_CATEGORIES = ["detective", "jack", "winner", "winning_agent", "ending"]
_CATEGORIES += ["forfeit_by", "forfeit_kind"]


@dataclass(frozen=True)
class Tables:
    """A results file as data frames.

    Attributes:
        settings: the settings as plain values (see `Settings.to_dict`).
        games: one row a game, in the order of the schedule. `game` (place in the schedule, from
            1), `pairing`, `deal`, `seed` (text); `detective`, `jack`, `winning_agent`
            (specifications), `winner` (`detective` or `jack`), `ending` (missing when forfeited),
            `length` (actions and chance outcomes); `seconds`, `detective_seconds`, `jack_seconds`
            (thinking time), `detective_decisions`, `jack_decisions`; `forfeit_by`, `forfeit_kind`,
            `forfeit_message`, `forfeit_traceback`, `detective_log`, `jack_log` (missing as a rule);
            `run`, `finished` (UTC).
        agents: one row an agent: `number`, `agent` (specification), `name`, and a column for each
            parameter, such as `sims`; missing where an agent has no such parameter.
        runs: one row a run that added games: `run`, `started` (UTC), `workers`, and the versions
            of the software.
        records: the games with their actions, read from the file whenever asked for.
    """

    settings: dict[str, Any]
    games: pandas.DataFrame
    agents: pandas.DataFrame
    runs: pandas.DataFrame
    records: Sequence[GameRecord]


def load(path: str | Path) -> Tables:
    """Read a results file into data frames; it may be written meanwhile.

    Raises:
        TournamentError: when it cannot be read, is no results file, or a game is damaged.
    """
    import pandas  # not at the top: it takes longer to import than we do

    with ResultsReader(path) as reader:
        reader.hold()
        games = _games_frame(reader)
        agents = _unfold(*reader.table("agents"), "parameters")
        runs = _unfold(*reader.table("runs"), "versions")
    runs["started"] = pandas.to_datetime(runs["started"], utc=True, format="ISO8601")
    return Tables(
        reader.settings.to_dict(),
        games,
        agents,
        runs,
        StoredRecords(path, len(games)),
    )


def _games_frame(reader: ResultsReader) -> pandas.DataFrame:
    import pandas

    settings = reader.settings
    rows = [
        (*result[:-1], run, finished)  # all but the actions
        for result, run, finished in reader.results_and_runs()
    ]
    columns = [*GameResult._fields[:-1], "run", "finished"]
    games = pandas.DataFrame(rows, columns=columns)
    games["finished"] = pandas.to_datetime(games["finished"], utc=True, format="ISO8601")
    games.insert(0, "game", games.pop("number") + 1)
    # Of up to 39 digits, which no column of numbers holds.
    games.insert(3, "seed", pandas.Series(str(settings.seed), games.index, dtype="str"))
    for side in ("detective", "jack"):
        games[side] = games[side].map(dict(enumerate(settings.agents)))
    won = games["winner"] == "detective"
    games.insert(7, "winning_agent", games["detective"].where(won, games["jack"]))
    for name in _CATEGORIES:
        games[name] = games[name].astype("category")
    return games


def _unfold(columns: list[str], rows: list[tuple[Any, ...]], name: str) -> pandas.DataFrame:
    """A table whose column `name` holds JSON objects, with a column for each of their entries."""
    import pandas

    table = pandas.DataFrame(rows, columns=columns)
    entries = pandas.DataFrame([json.loads(text) for text in table.pop(name)], index=table.index)
    taken = {column: f"{column}_parameter" for column in entries.columns if column in table.columns}
    return table.join(entries.rename(columns=taken))


def standings_frame(results: Results | Summary) -> pandas.DataFrame:
    """The standings as a data frame, the best agent first.

    Columns: `agent`, `games`, `rating` (Elo points, the mean of all agents is 0; missing when there
    are no ratings), `score`, `as_detective`, `as_jack` (shares of games won, 0 to 1), each of these
    four with its 95 % interval in `..._low` and `..._high`; `won_by_...` and `lost_by_...`, games
    by ending.
    """
    import pandas

    rows = []
    for standing in _summary(results).standings:
        row: dict[str, Any] = {"agent": standing.agent, "games": standing.games}
        row |= _interval("rating", standing.rating)
        for name in ("score", "as_detective", "as_jack"):
            row |= _interval(name, getattr(standing, name))
        for name in ("won_by", "lost_by"):
            counts = getattr(standing, name)
            row |= {f"{name}_{ending}": counts.get(ending, 0) for ending in ALL_ENDINGS}
        rows.append(row)
    return pandas.DataFrame(rows)


def pairings_frame(results: Results | Summary) -> pandas.DataFrame:
    """The pairings as a data frame, in the order of the settings, seen from the first agent.

    Columns: `agent`, `opponent`, `games`, `pairs_lost`, `pairs_split`, `pairs_won`; `score`, `elo`
    (both missing in self-play), `as_detective`, `as_jack`, each with its 95 % interval in `..._low`
    and `..._high`; `superiority` (likelihood that the first one is the better, 0 to 1); games by
    ending; `length_mean`, `length_median`, `length_shortest`, `length_longest`; `redundancy` (share
    of games that repeat an earlier one, 0 to 1).
    """
    import pandas

    rows = []
    for pairing in _summary(results).pairings:
        row: dict[str, Any] = {
            "agent": pairing.agents[0],
            "opponent": pairing.agents[1],
            "games": pairing.games,
        }
        row |= {f"pairs_{name}": count for name, count in asdict(pairing.pairs).items()}
        for name in ("score", "elo", "as_detective", "as_jack"):
            row |= _interval(name, getattr(pairing, name))
        row["superiority"] = pairing.superiority
        for ending in ALL_ENDINGS:
            row[ending] = sum(counts.get(ending, 0) for counts in pairing.endings)
        row |= {f"length_{name}": value for name, value in asdict(pairing.lengths).items()}
        row["redundancy"] = pairing.redundancy
        rows.append(row)
    return pandas.DataFrame(rows)


def _summary(results: Results | Summary) -> Summary:
    return results if isinstance(results, Summary) else summarize(results)


def _interval(name: str, estimate: Rate | EloEstimate | None) -> dict[str, float]:
    value = low = high = math.nan
    if estimate is not None:
        value, low, high = estimate.value, estimate.low, estimate.high
    return {name: value, f"{name}_low": low, f"{name}_high": high}


# -- files for other programs -------------------------------------------------------------


def export(path: str | Path, *outs: str | Path) -> int:
    """Write the games of a results file in other forms, chosen by the endings of the names.

    - `.csv`, `.parquet`: one row a game, the columns of `Tables.games`;
    - `.jsonl`: one game record a line, as JSON;
    - `.txt`: the game records as text, one after the other.

    All names are checked before anything is written. The files appear when all are complete; those
    that were there are replaced.

    Args:
        path: the results file.
        outs: the files to write.

    Returns:
        Number of games written, to each file.

    Raises:
        TournamentError: for another ending or a name that is given twice, when the results cannot
            be read, or a file cannot be written; none of them is changed then.
    """
    for number, out in enumerate(outs):
        if Path(out).suffix not in _FORMS:
            raise TournamentError(f"{str(out)!r} must end in {', '.join(_FORMS)}")
        if os.path.realpath(out) in map(os.path.realpath, outs[:number]):
            raise TournamentError(f"{str(out)!r} is given twice; give another name")
    with contextlib.ExitStack() as stack:
        files = [
            (Path(out).suffix, stack.enter_context(replacing(out, path, error=TournamentError)))
            for out in outs
        ]
        reader = stack.enter_context(ResultsReader(path))
        reader.hold()
        for suffix, file in files:
            _FORMS[suffix](reader, file)
            file.flush()
        return reader.count()


def _export_csv(reader: ResultsReader, file: BinaryIO) -> None:
    _games_frame(reader).to_csv(file, index=False)


def _export_parquet(reader: ResultsReader, file: BinaryIO) -> None:
    _games_frame(reader).to_parquet(file, index=False, engine="pyarrow")


def _export_lines(reader: ResultsReader, file: BinaryIO) -> None:
    for record in reader.records():
        file.write(f"{json.dumps(record.to_dict())}\n".encode())


def _export_text(reader: ResultsReader, file: BinaryIO) -> None:
    for record in reader.records():
        forfeit = f"# {forfeit_text(record)}\n" if "forfeit" in record.details else ""
        file.write(f"{record.to_text()}{forfeit}\n".encode(errors="backslashreplace"))


_FORMS: dict[str, Callable[[ResultsReader, BinaryIO], None]] = {
    ".csv": _export_csv,
    ".parquet": _export_parquet,
    ".jsonl": _export_lines,
    ".txt": _export_text,
}
