"""The lanes of background work: queues of their own, so that what takes long delays nothing that people wait for.

A worker takes from all of them, or from those that `--queues` names.
"""

from enum import StrEnum


class Lane(StrEnum):
    SCORING = "scoring"  # uploads and the runs in them, as they come
    BULK = "bulk"  # rescoring, baselines, reconciliation
    MAIL = "mail"


def message_list(lane: str, priority: int) -> str:
    """The list in which Redis keeps the lane's messages of that priority, by Celery's naming."""
    return f"{lane}\x06\x16{priority}" if priority else lane
