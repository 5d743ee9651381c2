"""Checking a gold standard before it is adopted."""

from dataclasses import asdict
from typing import Any

from portal.evaluation.confined.readable import require_readable
from scoring import Definition
from scoring.gold.changes import gold_changes
from scoring.reports.problems import Report
from scoring.score import GoldError, load_gold
from scoring.task_folder.gold_file import check_gold
from scoring.task_folder.own_score import own_score

SHOWN = 200  # maximum number of item ids per list


def check_gold_file(
    definition: Definition, track: str, split: str, content: bytes, known: bytes | None, imported: bytes | None
) -> dict[str, Any]:
    """Return the fields of a `GoldFinding`.

    `known` is the version in use, and `imported` is the version of the last import.
    """
    checked = check_gold(definition, track, content, split)
    require_readable(checked.report)
    warnings = own_score(definition, track, content, split) if checked.report.ok else Report()
    return {
        "changes": _changes(definition, track, split, known, content) if checked.report.ok else {},
        "ok": checked.report.ok,
        "is_new": content != known,
        "is_folders": content == imported,
        "problems": [problem.as_dict() for problem in (*checked.report, *warnings)],
        "counts": checked.counts,
    }


def _changes(definition: Definition, track: str, split: str, known: bytes | None, content: bytes) -> dict[str, Any]:
    """Return the number of items, and the first ids, for each kind of change.

    Empty if there is no gold to compare with.
    """
    if known is None:
        return {}
    try:
        before = load_gold(definition, track, known, split).answers
    except GoldError:  # the version in use was valid under earlier rules
        return {}
    found = asdict(gold_changes(before, load_gold(definition, track, content, split).answers))
    return {kind: {"count": len(ids), "items": ids[:SHOWN]} for kind, ids in found.items()}
