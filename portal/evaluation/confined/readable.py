"""Detecting problems in a report that are ours: a stored file cannot be read now."""

from portal.evaluation.errors import HostError
from scoring import Report

_OURS = {"unreadable-file", "items-unreadable", "items-unknown-split"}


def require_readable(report: Report) -> None:
    """Check that the report has no problem that is ours.

    Raises:
        HostError: the run's stored file or the track's items cannot be read.
    """
    if ours := {problem.code for problem in report} & _OURS:
        raise HostError(f"a file cannot be read: {', '.join(sorted(ours))}")
