"""Leases: one worker at a time holds a row. It gets the row by a conditional UPDATE that changes exactly one row.

The condition uses only columns of the row itself. A joined column would become a subquery, which PostgreSQL does not
evaluate again after waiting for another claim on the same row.
"""

from datetime import datetime, timedelta
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

from django.db import models, transaction
from django.db.models import Q

Row = TypeVar("Row", bound=models.Model)


def ended(lease: str, at: datetime) -> Q:
    """Select rows whose lease in that column has ended or was never given."""
    return Q(**{f"{lease}__isnull": True}) | Q(**{f"{lease}__lte": at})


class LeaseQuerySet(models.QuerySet[Row]):
    """Rows of a `Leased` model."""

    def due(self, at: datetime) -> Self:
        """Rows that no worker holds and whose last hint is too old to wait for."""
        return self.filter(ended("lease_ends", at))

    def claim(self, at: datetime, seconds: float, **changes: Any) -> UUID | None:
        """Claim a row for one worker and return the token.

        Return None if another worker holds it or it is not in this set.
        """
        token = uuid4()
        free = self.filter(Q(token__isnull=True) | Q(lease_ends__lte=at))
        is_won = free.update(token=token, lease_ends=at + timedelta(seconds=seconds), **changes)
        return token if is_won else None

    def held(self, row: models.Model, token: UUID) -> Self:
        """The row, if the token still holds it, else nothing."""
        return self.filter(pk=row.pk, token=token)

    def renew(self, at: datetime, seconds: float, **changes: Any) -> bool:
        """Extend the lease. Return False if it was lost."""
        return bool(self.update(lease_ends=at + timedelta(seconds=seconds), **changes))

    def release(self, until: datetime | None = None, /, **changes: Any) -> int:
        """Release the rows and return their number. With `until`, the sweep skips them until that time."""
        return self.update(token=None, lease_ends=until, **changes)

    @transaction.atomic
    def hint(self, at: datetime, seconds: float, at_most: int) -> list[Any]:
        """Mark the first of these rows as hinted and return their keys. Waiting rows are not due again for `seconds`.

        Rows that another sweep is marking are skipped (SQLite waits instead). A row whose worker's lease has ended
        keeps that lease, so that it can be claimed.
        """
        locked = self.select_for_update(skip_locked=True, of=("self",), no_key=True)
        found = list(locked.values_list("pk", flat=True)[:at_most])
        waiting = self.model._default_manager.filter(pk__in=found, token__isnull=True)
        waiting.update(lease_ends=at + timedelta(seconds=seconds))
        return found


class Leased(models.Model):
    """Work that one worker at a time can hold. Without a token, `lease_ends` is when another hint may be queued."""

    token = models.UUIDField(null=True, editable=False)
    lease_ends = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True
