"""Problems in a report that no upload can be blamed for: a file of ours cannot be read at the moment."""

from portal.evaluation.errors import HostError
from scoring import Report

_OURS = {"unreadable-file", "items-unreadable", "items-unknown-split"}


def require_readable(report: Report) -> None:
    """In the child, before a report counts.

    Raises:
        HostError: the run's stored file or the track's items cannot be read.
    """
    if ours := {problem.code for problem in report} & _OURS:
        raise HostError(f"a file cannot be read: {', '.join(sorted(ours))}")
