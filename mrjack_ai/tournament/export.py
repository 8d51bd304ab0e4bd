"""Results as tables: data frames to work with, and files for other programs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
            1), `pairing`, `deal`, `seed`; `detective`, `jack`, `winning_agent` (specifications),
            `winner` (`detective` or `jack`), `ending` (missing when forfeited), `length` (actions
            and chance outcomes); `seconds`, `detective_seconds`, `jack_seconds` (thinking time),
            `detective_decisions`, `jack_decisions`; `forfeit_by`, `forfeit_kind`,
            `forfeit_message`, `forfeit_traceback`, `detective_log`,
            `jack_log` (missing as a rule); `run`, `finished` (UTC).
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
        settings = reader.settings
        rows = []
        for result, run, finished in reader.results_and_runs():
            rows.append((*result[:-1], run, finished))  # all but the actions
        agents = _unfold(*reader.table("agents"), "parameters")
        runs = _unfold(*reader.table("runs"), "versions")
    columns = [*GameResult._fields[:-1], "run", "finished"]
    games = pandas.DataFrame(rows, columns=columns)
    games["finished"] = pandas.to_datetime(games["finished"], utc=True, format="ISO8601")
    games.insert(0, "game", games.pop("number") + 1)
    games.insert(3, "seed", settings.seed)
    for side in ("detective", "jack"):
        games[side] = games[side].map(dict(enumerate(settings.agents)))
    won = games["winner"] == "detective"
    games.insert(7, "winning_agent", games["detective"].where(won, games["jack"]))
    for name in _CATEGORIES:
        games[name] = games[name].astype("category")
    runs["started"] = pandas.to_datetime(runs["started"], utc=True, format="ISO8601")
    return Tables(
        settings.to_dict(),
        games,
        agents,
        runs,
        StoredRecords(path, len(games)),
    )


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


def export(path: str | Path, out: str | Path) -> int:
    """Write the games of a results file in another form, chosen by the ending of the name.

    - `.csv`, `.parquet`: one row a game, the columns of `Tables.games`;
    - `.jsonl`: one game record a line, as JSON;
    - `.txt`: the game records as text, one after the other.

    The file appears when it is complete; one that was there is replaced.

    Returns:
        Number of games written.

    Raises:
        TournamentError: for another ending, when the results cannot be read, or the file cannot
            be written.
    """
    out = Path(out)
    if out.suffix not in _FORMS:
        raise TournamentError(f"{str(out)!r} must end in {', '.join(_FORMS)}")
    try:
        if out.exists() and os.path.samefile(path, out):
            raise TournamentError(f"{str(out)!r} is the results file itself; give another name")
        with replacing(out) as part:
            count = _FORMS[out.suffix](path, part)
    except OSError as error:
        raise TournamentError(f"cannot write {str(out)!r}: {error}") from None
    return count


def _export_csv(path: str | Path, out: Path) -> int:
    games = load(path).games
    games.to_csv(out, index=False)
    return len(games)


def _export_parquet(path: str | Path, out: Path) -> int:
    games = load(path).games
    games.to_parquet(out, index=False, engine="pyarrow")
    return len(games)


def _export_lines(path: str | Path, out: Path) -> int:
    return _write(out, (json.dumps(record.to_dict()) + "\n" for record in _records(path)))


def _export_text(path: str | Path, out: Path) -> int:
    return _write(out, (_text(record) for record in _records(path)))


def _text(record: GameRecord) -> str:
    forfeit = f"# {forfeit_text(record)}\n" if "forfeit" in record.details else ""
    return f"{record.to_text()}{forfeit}\n"


def _records(path: str | Path) -> Iterator[GameRecord]:
    with ResultsReader(path) as reader:
        yield from reader.records()


def _write(out: Path, texts: Iterator[str]) -> int:
    count = 0
    with out.open("w", encoding="utf-8") as file:
        for text in texts:
            file.write(text)
            count += 1
    return count


_FORMS: dict[str, Callable[[str | Path, Path], int]] = {
    ".csv": _export_csv,
    ".parquet": _export_parquet,
    ".jsonl": _export_lines,
    ".txt": _export_text,
}
