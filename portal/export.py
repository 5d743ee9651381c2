"""Tables as CSV and JSON, safe for spreadsheets.

Boards are exported with full precision and with the gold and scorer versions.
"""

import csv
import io
import json
from collections.abc import Iterable
from itertools import chain
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from portal.figures.figure import Figure
from portal.models import BoardChange, Download
from portal.queries.board_table import BoardTable, CombinedRow, Comparison, Row
from portal.queries.overall import Combined, OverallBoard, TrackResult


def defused(cell: str) -> str:
    """Return the text, with an apostrophe added before a leading =, +, -, @, tab or carriage return.

    Without the apostrophe, spreadsheets would read the text as a formula.
    """
    return f"'{cell}" if cell[:1] in tuple("=+-@\t\r") else cell


# Columns of a row in all exports: heading → field of `Row`.
_ROW = {"rank": "rank", "kind": "kind", "team": "team", "run": "name", "number": "number"}
_ROW |= {"method": "method", "system_type": "system", "slot": "slot"}


def board_csv(board: BoardTable) -> bytes:
    """Return one row per run, and one column per metric and run field.

    Undefined scores are empty, and so is `slice` if the scores are on all items.
    """
    keys = [column.key for column in board.columns]
    head = [*_ROW, *(f"field_{field.key}" for field in board.run_fields), "received_at", *keys]
    head += ["low", "high", "tie_group", "flags", "slice", "gold_version", "scorer", "run_id"]
    return table([head, *(_cells(row, keys, board) for row in board.rows)])


def _cells(row: Row, keys: list[str], board: BoardTable) -> list[Any]:
    values = [row.scores.get(key) for key in keys]
    interval = row.interval or (None, None)
    versions = [" ".join(row.flags), board.slice and board.slice.key, board.gold_version, board.scorer, row.run_id]
    words = [getattr(row, name) for name in _ROW.values()]
    words += [row.fields.get(field.key, "") for field in board.run_fields]
    return [*words, row.received_at.isoformat(), *values, *interval, row.group, *versions]


def overall_csv(board: OverallBoard) -> bytes:
    """Return one row per team, with its rank and value in each track and then in each overall ranking."""
    head = ["team"]
    for track, column in board.heads:
        head += [f"{track.slug} rank", f"{track.slug} {column.key}"]
    for one in board.combined:
        head += [f"overall {one.rule.slug} {name}" for name in ("rank", one.rule.by, *_uncertainty(one))]
    places = [(one, {row.team: row for row in one.rows}) for one in board.combined]
    lines = [
        [
            row.team,
            *chain.from_iterable(map(_placed, row.cells)),
            *chain.from_iterable(_combined(one, rows.get(row.team)) for one, rows in places),
        ]
        for row in board.rows
    ]
    return table([head, *lines])


def _uncertainty(one: Combined) -> tuple[str, ...]:
    """Return the columns with the interval and the tie group, which only mean scores have."""
    return ("low", "high", "tie group") if one.rule.by == "mean-score" else ()


def _combined(one: Combined, row: CombinedRow | None) -> list[Any]:
    low, high = (row and row.interval) or ("", "")
    return [*_placed(row), *((low, high, row.group if row else "") if _uncertainty(one) else ())]


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
            {
                "track": one.track.slug,
                "rank_by": one.rank_by,
                "gold_version": one.gold_version,
                "scorer": one.scorer,
                "changelog": [_change(change) for change in one.changes],
            }
            for one in board.boards
        ],
        "rows": [
            {
                "team": row.team,
                "tracks": {head[0].slug: {"rank": cell.rank, "value": cell.value} for cell, head in cells if cell},
            }
            for row, cells in board.lines
        ],
        "overall": [
            {
                "slug": one.rule.slug,
                "title": one.rule.title,
                "tracks": one.rule.tracks,
                "by": one.rule.by,
                "weights": one.rule.weights,
                "missing": one.rule.missing,
                "intervals": _intervals(one.comparison),
                "rows": [
                    {
                        "rank": row.rank,
                        "team": row.team,
                        "value": row.value,
                        "interval": row.interval,
                        "tie_group": row.group,
                    }
                    for row in one.rows
                ],
            }
            for one in board.combined
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
    return None if made is None else {"level": made.level, "rounds": made.rounds, "seed": made.seed}


def _change(change: BoardChange) -> dict[str, Any]:
    """Describe a change to the scores after the release."""
    return {
        "at": change.at,
        "note": change.note,
        "gold_version": [change.gold_before.version, change.gold_after.version],
        "scorer": [change.scorer_before, change.scorer_after],
        "runs": change.runs,
        "ranks": change.ranks,
    }


def as_json(body: dict[str, Any] | list[Any]) -> bytes:
    return json.dumps(body, cls=DjangoJSONEncoder, indent=1, ensure_ascii=False).encode()


def _row(row: Row) -> dict[str, Any]:
    return {
        **{word: getattr(row, name) for word, name in _ROW.items()},
        "slot": row.slot or None,
        "fields": row.fields,
        "scores": row.scores,
        "interval": row.interval,
        "tie_group": row.group,
        "flags": row.flags,
        "received_at": row.received_at,
        "run_id": row.run_id,
    }
