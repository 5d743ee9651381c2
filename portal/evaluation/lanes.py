"""Lanes of background work: separate queues, so that long work delays nothing that people wait for.

A worker uses all of them, or those given with `--queues`.
"""

from enum import StrEnum


class Lane(StrEnum):
    SCORING = "scoring"  # uploads and their runs
    BULK = "bulk"  # rescoring, baselines, reconciliation
    MAIL = "mail"


def message_list(lane: str, priority: int) -> str:
    """The Redis list with the lane's messages of that priority, as Celery names it."""
    return f"{lane}\x06\x16{priority}" if priority else lane
