"""Tables as CSV and JSON, safe for spreadsheets.

Boards are exported with full precision and with the gold and scorer versions. `BoardRow` and the types after it are the
parts of their JSON. The columns of the CSV and the API's specification follow from them.
"""

import csv
import io
import json
from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from pydantic import BaseModel, Field

from portal.figures.figure import Figure
from portal.models import BoardChange, Download
from portal.queries.boards.overall import Combined, OverallBoard, TrackResult
from portal.queries.boards.table import BoardTable, CombinedRow, Comparison, Row


def defused(cell: str) -> str:
    """Return the text, with an apostrophe added before a leading =, +, -, @, tab or carriage return.

    Without the apostrophe, spreadsheets would read the text as a formula.
    """
    return f"'{cell}" if cell[:1] in tuple("=+-@\t\r") else cell


class BoardRow(BaseModel):
    """A team's run with its rank, or a reference without one."""

    rank: int | None
    kind: str = Field(description="team, baseline or gold")
    team: str = Field(description="Team name or alias. Empty for baselines and the gold standard")
    run: str
    number: int | None
    method: str
    system_type: str
    slot: str | None
    fields: dict[str, str] = Field(description="Texts of the task’s run fields, by key")
    scores: dict[str, float | None]
    interval: list[float] | None
    rank_low: int | None = Field(description="Lower end of the 95% confidence interval of the rank")
    rank_high: int | None
    tie_group: str = Field(deprecated=True, description="Use rank_low and rank_high")
    flags: list[str]
    received_at: datetime
    run_id: UUID


class ChangeAnswer(BaseModel):
    """New scores that the organizers applied after the release."""

    at: datetime
    note: str
    gold_version: list[int]
    scorer: list[str]
    runs: int
    ranks: int


class IntervalsAnswer(BaseModel):
    """The methods used to compute the intervals."""

    level: float
    rounds: int
    seed: int


class CellAnswer(BaseModel):
    """A team's official run in a track."""

    rank: int | None
    value: float | None


class OverallRowAnswer(BaseModel):
    """A team in all tracks."""

    team: str
    tracks: dict[str, CellAnswer]


class OverallTrackAnswer(BaseModel):
    """A track in the overall board."""

    track: str
    rank_by: str
    gold_version: int | None
    scorer: str
    changelog: list[ChangeAnswer]


class CombinedRowAnswer(BaseModel):
    """A team's result in a ranking over several tracks."""

    rank: int | None
    team: str
    value: float | None
    interval: list[float] | None  # only mean scores have intervals and bounds of ranks
    rank_low: int | None
    rank_high: int | None
    tie_group: str = Field(deprecated=True, description="Use rank_low and rank_high")


class CombinedAnswer(BaseModel):
    """A ranking over several tracks."""

    slug: str
    title: str
    tracks: list[str]
    by: str
    weights: list[float]  # in the order of the tracks; empty if all are equal
    missing: str  # how a track counts in which a team has no ranked run
    intervals: IntervalsAnswer | None
    rows: list[CombinedRowAnswer]


class OverallAnswer(BaseModel):
    """The tracks of a phase side by side."""

    shared_task: str
    phase: str
    ladder_step: float | None
    tracks: list[OverallTrackAnswer]
    rows: list[OverallRowAnswer]
    overall: list[CombinedAnswer]


def board_csv(board: BoardTable) -> bytes:
    """Return one row per run, and one column per metric and run field.

    Undefined scores are empty, and so is `slice` if the scores are on all items.
    """
    same = {"slice": board.slice and board.slice.key, "gold_version": board.gold_version, "scorer": board.scorer}
    parts = {
        "fields": [*(f"field_{field.key}" for field in board.run_fields), "received_at"],
        "scores": [column.key for column in board.columns],
        "interval": ["low", "high"],
        "received_at": list(same),  # the time itself comes before the scores
    }
    head = [*chain.from_iterable(parts.get(name, [name]) for name in BoardRow.model_fields)]
    rows = [_flat(row) | same for row in board.rows]
    return table([head, *([row.get(name) for name in head] for row in rows)])


def _flat(row: Row) -> dict[str, Any]:
    """Return the row with a cell per column of the CSV."""
    plain, fields = _row(row), {f"field_{key}": text for key, text in row.fields.items()}
    low, high = row.interval or (None, None)
    more = {"low": low, "high": high, "flags": " ".join(row.flags), "received_at": row.received_at.isoformat()}
    return {**plain, **fields, **row.scores, **more}


def overall_csv(board: OverallBoard) -> bytes:
    """Return one row per team, with its rank and value in each track and then in each overall ranking."""
    head = ["team"]
    for track, column in board.heads:
        head += [f"{track.slug} rank", f"{track.slug} {column.key}"]
    for ranking in board.combined:
        head += [f"overall {ranking.rule.slug} {name}" for name in ("rank", ranking.rule.by, *_uncertainty(ranking))]
    places = [(ranking, {row.team: row for row in ranking.rows}) for ranking in board.combined]
    lines = [
        [
            row.team,
            *chain.from_iterable(map(_placed, row.cells)),
            *chain.from_iterable(_combined(ranking, rows.get(row.team)) for ranking, rows in places),
        ]
        for row in board.rows
    ]
    return table([head, *lines])


def _uncertainty(ranking: Combined) -> tuple[str, ...]:
    """Return the columns with the interval, the bounds of the rank and the tie group, which only mean scores have."""
    return ("low", "high", "rank low", "rank high", "tie group") if ranking.rule.by == "mean-score" else ()


def _combined(ranking: Combined, row: CombinedRow | None) -> list[Any]:
    if not _uncertainty(ranking):
        return [*_placed(row)]
    low, high = (row and row.interval) or ("", "")
    return [*_placed(row), low, high, *((row.rank_low, row.rank_high, row.group) if row else ("", "", ""))]


def _placed(row: TrackResult | CombinedRow | None) -> tuple[Any, Any]:
    return (row.rank, row.value) if row else ("", "")


def overall_json(board: OverallBoard) -> bytes:
    return as_json(overall_content(board))


def overall_content(board: OverallBoard) -> dict[str, Any]:
    """Return the overall board as JSON, with the gold and scorer versions."""
    return {
        "shared_task": board.phase.shared_task.slug,
        "phase": board.phase.slug,
        "ladder_step": board.step,
        "tracks": [
            _content(
                OverallTrackAnswer,
                track_board,
                track=track_board.track.slug,
                changelog=[_change(change) for change in track_board.changes],
            )
            for track_board in board.boards
        ],
        "rows": [
            {
                "team": row.team,
                "tracks": {head[0].slug: _content(CellAnswer, cell) for cell, head in cells if cell},
            }
            for row, cells in board.lines
        ],
        "overall": [
            _content(
                CombinedAnswer,
                ranking.rule,
                intervals=_intervals(ranking.comparison),
                rows=[_content(CombinedRowAnswer, row, tie_group=row.group) for row in ranking.rows],
            )
            for ranking in board.combined
        ],
    }


def figure_csv(figure: Figure) -> bytes:
    """Return a figure's data at full precision."""
    keys = [field.key for field in figure.fields]
    return table([keys, *([datum.get(key) for key in keys] for datum in figure.data)])


def downloads_csv(rows: Iterable[Download]) -> bytes:
    """Return one row per download. Public downloads have no person."""
    head = ["at", "person", "address", "team", "dataset", "sha256", "first_byte"]
    lines = [[row.at.isoformat(), *_who(row), row.dataset, row.sha256, row.first_byte] for row in rows]
    return table([head, *lines])


def _who(row: Download) -> tuple[str, str, str]:
    team = row.team.name if row.team else ""
    return (row.user.name, row.user.email, team) if row.user else ("", "", team)


def table(lines: Iterable[list[Any]]) -> bytes:
    """Return the table as CSV, in which no cell can be a formula. All exported tables use this function."""
    text = io.StringIO()
    csv.writer(text).writerows([defused(cell) if isinstance(cell, str) else cell for cell in line] for line in lines)
    return text.getvalue().encode()


def board_json(board: BoardTable) -> bytes:
    return as_json(board_content(board))


def board_content(board: BoardTable) -> dict[str, Any]:
    """Return the board as JSON, with the gold and scorer versions."""
    return {
        "shared_task": board.track.shared_task.slug,
        "track": board.track.slug,
        "phase": board.phase.slug,
        "rank_by": board.rank_by,
        "gold_version": board.gold_version,
        "scorer": board.scorer,
        "released": board.released,
        "changelog": [_change(change) for change in board.changes],
        "ladder_step": board.step,
        "slice": board.slice and board.slice.key,
        "slice_items": board.slice and board.slice.items,
        "intervals": _intervals(board.comparison),
        "run_fields": [{"key": field.key, "label": field.label} for field in board.run_fields],
        "metrics": [
            {"key": column.key, "title": column.title, "higher_is_better": column.higher_is_better}
            for column in board.columns
        ],
        "rows": [_row(row) for row in board.rows],
    }


def _intervals(made: Comparison | None) -> dict[str, Any] | None:
    return None if made is None else _content(IntervalsAnswer, made)


def _change(change: BoardChange) -> dict[str, Any]:
    gold, scorer = [change.gold_before.version, change.gold_after.version], [change.scorer_before, change.scorer_after]
    return _content(ChangeAnswer, change, gold_version=gold, scorer=scorer)


def _row(row: Row) -> dict[str, Any]:
    renamed = {"run": row.name, "system_type": row.system, "slot": row.slot or None, "tie_group": row.group}
    return _content(BoardRow, row, **renamed)


def _content(form: type[BaseModel], source: object, **values: Any) -> dict[str, Any]:
    """Return the fields of this type, from `values` or else from the source's attributes of the same names."""
    return {name: values[name] if name in values else getattr(source, name) for name in form.model_fields}


def as_json(body: dict[str, Any] | list[Any]) -> bytes:
    return json.dumps(body, cls=DjangoJSONEncoder, indent=1, ensure_ascii=False).encode()
