"""Leases, which let only one worker at a time hold a row.

A worker claims a row with a conditional UPDATE. The condition uses only the row's own columns: joined columns would
become a subquery, which PostgreSQL does not evaluate again after it has waited for another claim on the same row.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

from django.db import models, transaction
from django.db.models import Q

Row = TypeVar("Row", bound=models.Model)


def ended(lease: str, at: datetime) -> Q:
    """Return the condition that the lease in this column has ended or was never granted."""
    return Q(**{f"{lease}__isnull": True}) | Q(**{f"{lease}__lte": at})


def has_ended(lease: datetime | None, at: datetime) -> bool:
    """Return whether `ended` holds for a row in memory."""
    return lease is None or lease <= at


class HeldQuerySet(models.QuerySet[Row]):
    """Rows with the column `busy_until`, which a worker holds while it works on them."""

    def free(self, at: datetime) -> Self:
        """Select rows that no worker holds."""
        return self.filter(ended("busy_until", at))

    @contextmanager
    def hold(self, key: str, at: datetime, seconds: float) -> Iterator[bool]:
        """Hold a row for this worker until the context ends, for at most this many seconds.

        Yield False if another worker holds it.
        """
        until = at + timedelta(seconds=seconds)
        is_won = bool(self.filter(pk=key).free(at).update(busy_until=until))
        try:
            yield is_won
        finally:
            if is_won:
                self.filter(pk=key, busy_until=until).update(busy_until=None)


class LeaseQuerySet(models.QuerySet[Row]):
    """Rows of a `Leased` model."""

    def due(self, at: datetime) -> Self:
        """Select rows that no worker holds and for which it is time to queue a message."""
        return self.filter(ended("lease_ends", at))

    def locked(self) -> Self:
        """Lock the rows until the transaction ends, in the order of their keys to avoid deadlocks."""
        return self.order_by("pk").select_for_update(of=("self",), no_key=True)

    def claim(self, at: datetime, seconds: float, **changes: Any) -> UUID | None:
        """Claim a row for one worker and return the token.

        Return None if another worker holds the row or if the row is not in this set.
        """
        token = uuid4()
        free = self.filter(Q(token__isnull=True) | Q(lease_ends__lte=at))
        is_won = free.update(token=token, lease_ends=at + timedelta(seconds=seconds), **changes)
        return token if is_won else None

    def held(self, row: models.Model, token: UUID) -> Self:
        """Select the row if the token still holds it."""
        return self.filter(pk=row.pk, token=token)

    def renew(self, at: datetime, seconds: float, **changes: Any) -> bool:
        """Extend the lease. Return False if the lease was lost."""
        return bool(self.update(lease_ends=at + timedelta(seconds=seconds), **changes))

    def release(self, until: datetime | None = None, /, **changes: Any) -> int:
        """Release the rows and return how many there were. If `until` is given, the sweep skips them until then."""
        return self.update(token=None, lease_ends=until, **changes)

    @transaction.atomic
    def hint(self, at: datetime, seconds: float, at_most: int) -> list[Any]:
        """Mark the first `at_most` of these rows as queued and return their keys.

        Rows that no worker holds are not due again for `seconds`. Rows that another sweep is marking are skipped (on
        SQLite, this sweep waits for the other one instead). If a worker's lease has ended, its row keeps that lease so
        that it can be claimed.
        """
        locked = self.select_for_update(skip_locked=True, of=("self",), no_key=True)
        found = list(locked.values_list("pk", flat=True)[:at_most])
        waiting = self.model._default_manager.filter(pk__in=found, token__isnull=True)
        waiting.update(lease_ends=at + timedelta(seconds=seconds))
        return found


class Leased(models.Model):
    """Work that only one worker at a time can hold.

    While no worker holds it, `token` is None and `lease_ends` is when the next message may be queued.
    """

    token = models.UUIDField(null=True, editable=False)
    lease_ends = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True
