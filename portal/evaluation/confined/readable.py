"""Problems in a report that are ours: a stored file cannot be read now."""

from portal.evaluation.errors import HostError
from scoring import Report

_OURS = {"unreadable-file", "items-unreadable", "items-unknown-split"}


def require_readable(report: Report) -> None:
    """Check, in the child, that the report has none of these problems.

    Raises:
        HostError: the run's stored file or the track's items cannot be read.
    """
    if ours := {problem.code for problem in report} & _OURS:
        raise HostError(f"a file cannot be read: {', '.join(sorted(ours))}")
