"""Judges a gold standard before it is adopted."""

from typing import Any

from portal.evaluation.confined.readable import require_readable
from scoring import Definition
from scoring.gold.check import check_gold


def judge(
    definition: Definition, track: str, split: str, content: bytes, known: bytes | None, imported: bytes | None
) -> dict[str, Any]:
    """The fields of a `GoldFinding`; `known` is the version in use, `imported` the last that an import brought."""
    checked = check_gold(definition, track, content, split)
    require_readable(checked.report)
    return {
        "ok": checked.report.ok,
        "is_new": content != known,
        "is_folders": content == imported,
        "problems": [problem.as_dict() for problem in checked.report],
        "counts": checked.counts,
    }
