"""Lanes of background work: separate queues, so that long jobs do not delay work that people are waiting for.

A worker serves all lanes, or those given with `--queues`.
"""

from enum import StrEnum


class Lane(StrEnum):
    SCORING = "scoring"  # uploads and their runs, gold and pushed folders: work that people are waiting for
    HIDDEN = "hidden"  # first scores that are hidden until the release; nothing else may wait for them
    BULK = "bulk"  # rescoring, baselines, reconciliation
    MAIL = "mail"


def message_list(lane: str, priority: int) -> str:
    """Return the name of the Redis list in which Celery keeps the lane's messages with this priority."""
    return f"{lane}\x06\x16{priority}" if priority else lane
