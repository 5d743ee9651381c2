"""Detecting reported problems that the portal caused because it could not read a stored file."""

from portal.evaluation.errors import HostError
from scoring import Report

_OURS = {"annotators-unreadable", "unreadable-file", "items-unreadable", "items-unknown-split"}


def require_readable(report: Report) -> None:
    """Check that the portal did not cause any of the report's problems.

    Raises:
        HostError: the run's stored file or the track's items cannot be read.
    """
    if ours := {problem.code for problem in report} & _OURS:
        raise HostError(f"a file cannot be read: {', '.join(sorted(ours))}")
