"""Boards, scores, answers and votes as pandas DataFrames, and DataFrames saved as CSV, Parquet and Excel files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agon.board_row import BoardRow
from scoring.analysis.field import summary, summary_table
from scoring.analysis.item_answers import item_answers
from scoring.definition import Track
from scoring.extras import install_command
from scoring.gold.agreement import agreement_table
from scoring.gold.track_votes import agreement_on_classes, columns_of, rules_of
from scoring.gold.votes_file import read_votes
from scoring.reports.tables import TextTable
from scoring.score import Result

try:
    import pandas as pd
except ImportError as missing:
    raise ImportError(f"agon.frames requires pandas: {install_command(missing)}") from None

_FORMULA = tuple("=+-@\t\r")  # characters that make a spreadsheet treat text as a formula
_PACKAGES = {".parquet": "pyarrow", ".xlsx": "openpyxl"}


class TaskData(pd.DataFrame):  # type: ignore[misc]
    """A data file of a task as a DataFrame. Slicing it returns plain DataFrames."""

    def to_datasets(self) -> Any:
        """Convert to a Hugging Face `datasets.Dataset`.

        Raises:
            ImportError: the `datasets` package is missing. The message explains how to install it.
        """
        try:
            import datasets  # noqa: PLC0415 - few people have it
        except ImportError as missing:
            raise ImportError(
                f"to_datasets requires the package datasets. Install it with: {install_command(missing)}"
            ) from None
        is_numbered = self.index.equals(pd.RangeIndex(len(self)))
        return datasets.Dataset.from_pandas(pd.DataFrame(self), preserve_index=not is_numbered)


def board(source: str | Path | bytes) -> pd.DataFrame:
    """Read a leaderboard from the JSON that its page exports, with a row per run.

    The columns are those of the CSV: each metric and each run field of the task has one. Undefined scores are NaN, and
    `received_at` is in UTC. `attrs` has everything else: track, phase, metrics, and versions of gold and scorer.

    Raises:
        ValueError: the source is not JSON, or not a leaderboard.
    """
    try:
        made = json.loads(source if isinstance(source, bytes) else Path(source).read_bytes())
        rows, metrics = made.pop("rows"), [metric["key"] for metric in made["metrics"]]
        fields = [f"field_{field['key']}" for field in made.get("run_fields", ())]  # older exports have none
        parts = {"fields": fields, "scores": metrics, "interval": ["low", "high"]}
        columns = [column for name in BoardRow.__struct_fields__ for column in parts.get(name, [name])]
        frame = pd.DataFrame(map(_board_row, rows), columns=columns)
    except (ValueError, KeyError, TypeError, AttributeError):
        name = "This" if isinstance(source, bytes) else source
        raise ValueError(
            f"{name} is not a leaderboard. Download a leaderboard with the JSON link on its page."
        ) from None
    types = dict.fromkeys([*metrics, "low", "high"], "float64") | dict.fromkeys(
        ["rank", "rank_low", "rank_high", "number"], "Int64"
    )
    frame = frame.astype(types).assign(received_at=pd.to_datetime(frame["received_at"], utc=True, format="ISO8601"))
    frame.attrs = made
    return frame


def _board_row(row: dict[str, Any]) -> dict[str, Any]:
    low, high = row["interval"] or (None, None)
    fields = {f"field_{key}": text for key, text in row.get("fields", {}).items()}
    return {**row, **fields, **row["scores"], "low": low, "high": high, "flags": " ".join(row["flags"])}


def scores(results: Mapping[str, Result]) -> pd.DataFrame:
    """Return the scores of several runs, with a row per run (named as in `results`) and a column per metric."""
    rows = [result.to_pandas() for result in results.values()] or [pd.DataFrame()]
    return pd.concat(rows).set_axis(pd.Index(results, name="run"))


def items(result: Result) -> pd.DataFrame:
    """Return the gold answer and the run's answer to each item as text, and how similar they are.

    The last column is `right` (1 or 0), `overlap` for weights, or `f1` for spans. It is NaN if the gold has no answer.

    Raises:
        ValueError: the run has errors, or the track is a ranking.
    """
    if result.comparison is None:
        raise ValueError("The run has errors, so it has no answers to compare. See result.report.")
    found = item_answers(result.comparison)
    columns = {"gold": map(", ".join, found.gold), "run": map(", ".join, found.run), found.measure: found.values}
    frame = pd.DataFrame({name: list(values) for name, values in columns.items()}, pd.Index(found.ids, name="item"))
    return frame.astype({found.measure: "float64"})


def votes(path: str | Path, field: str | None = None) -> pd.DataFrame:
    """Return annotators' votes with a row per label. Annotators are numbered by their index in the lists of votes.

    In a table, annotators are numbered in the order of their names. A missing label means that there is no vote.

    Raises:
        VotesError: the file cannot be read. The message explains why.
    """
    rows = [
        (item, annotator, label)
        for item, given in read_votes(Path(path), field).items()
        for annotator, labels in enumerate(given)
        for label in (labels or [None])  # type: ignore[list-item]
    ]
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


def agreement(path: str | Path, track: Track, field: str | None = None) -> pd.DataFrame:
    """Return the annotators' agreement with a row per class and a row for whole answers.

    Raises:
        VotesError: the file cannot be read. The message explains why.
        ValueError: a vote is for a class that the track does not have.
    """
    votes = read_votes(Path(path), field, columns=columns_of(track))
    return of_table(agreement_table(agreement_on_classes(votes, rules_of(track))))


def statistics(scores: pd.DataFrame) -> pd.DataFrame:
    """Return statistics of several runs, such as mean, quartiles and standard deviation, for each metric or column."""
    metrics = [metric["key"] for metric in scores.attrs.get("metrics", []) if metric["key"] in scores]
    columns = scores[metrics or list(scores)].items()
    return of_table(summary_table({name: summary(column.dropna().tolist()) for name, column in columns}))


def of_table(table: TextTable) -> pd.DataFrame:
    """Convert one of the engine's tables to a DataFrame whose index is the table's first column."""
    name, *columns = table.head
    frame = pd.DataFrame([row[1:] for row in table.rows], pd.Index([row[0] for row in table.rows], name=name), columns)
    frame.attrs = {"title": table.title}
    return frame


def read(path: Path) -> TaskData:
    """Read a data file of a task: CSV, TSV, JSON (a list of rows, or rows by id) or JSON lines.

    Raises:
        ValueError: the extension is unknown, or does not match the content.
    """
    match path.suffix:
        case ".csv":
            return TaskData(pd.read_csv(path))
        case ".tsv":
            return TaskData(pd.read_csv(path, sep="\t"))
        case ".jsonl":
            return TaskData(pd.read_json(path, lines=True, dtype=False))
        case ".json":
            content = json.loads(path.read_text(encoding="utf-8-sig"))
            rows = pd.DataFrame.from_dict(content, "index") if isinstance(content, dict) else pd.DataFrame(content)
            return TaskData(rows)
    raise ValueError(f"{path} is not a CSV, TSV or JSON file. Its page describes how to open it.")


def write(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a DataFrame to a `.csv`, `.parquet` (needs pyarrow) or `.xlsx` (needs openpyxl) file.

    In CSV and Excel files, an apostrophe is put in front of text that a spreadsheet would treat as a formula. Times in
    Excel files are in UTC.

    Raises:
        ValueError: the file name has any other extension.
        ImportError: a package is missing. The message explains how to install it.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    try:
        match suffix:
            case ".csv":
                _for_spreadsheets(frame).to_csv(path, index=False)
            case ".parquet":
                frame.to_parquet(path)
            case ".xlsx":
                _without_zones(_for_spreadsheets(frame)).to_excel(path, index=False)
            case _:
                raise ValueError(f"{path.name} must end in .csv, .parquet or .xlsx.")
    except ImportError:
        package = ImportError(name=_PACKAGES[suffix])
        raise ImportError(
            f"Writing {suffix} files requires an additional package. Install it with: {install_command(package)}"
        ) from None


def _for_spreadsheets(frame: pd.DataFrame) -> pd.DataFrame:
    flat = frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()
    return flat.map(lambda cell: f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell)


def _without_zones(frame: pd.DataFrame) -> pd.DataFrame:
    """Remove time zones, which Excel does not support."""
    zoned = frame.select_dtypes("datetimetz")
    return frame.assign(**{name: times.dt.tz_convert("UTC").dt.tz_localize(None) for name, times in zoned.items()})
