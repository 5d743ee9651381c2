"""Failed attempts, counted for rate limits and, by reason, for statistics."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from portal.models.account import User
from portal.models.team import Team

KEPT = timedelta(days=1)
AN_HOUR = timedelta(hours=1)
GUESSES = 20  # incorrect data passwords per person per hour
GUESSES_OF_A_TEAM = 100  # incorrect data passwords per team per hour; after that, each member has only FIRST_GUESSES
FIRST_GUESSES = 3


class FailedAttemptQuerySet(models.QuerySet["FailedAttempt"]):
    def add(self, user: User, team: Team | None, kind: str, at: datetime) -> "FailedAttempt":
        """Add an attempt. Delete the person's rows that are too old to count toward any limit."""
        self.filter(user=user, at__lte=at - KEPT).delete()
        return self.create(user=user, team=team, kind=kind, at=at)

    def within_an_hour(self, user: User, team: Team, kind: str, at: datetime) -> Self:
        """Select attempts in the last hour: those by the person, for any team, and those for the team, by anyone."""
        return self.since(user.pk, team.pk, kind, at - AN_HOUR)

    def since(self, user_id: int, team_id: int, kind: str, at: datetime) -> Self:
        """Select attempts after `at`, by the person or for the team."""
        return self.filter(Q(user=user_id) | Q(team=team_id), kind=kind, at__gt=at)

    def guesses_are_used_up(self, user: User, team: Team, at: datetime) -> bool:
        """Return whether the person may not try another password now.

        Other members of the team may still have attempts left.
        """
        found = self.within_an_hour(user, team, FailedAttempt.Kind.DATA_PASSWORD, at).values_list("user", "team")
        own, of_team = sum(one == user.pk for one, _ in found), sum(one == team.pk for _, one in found)
        return own >= (GUESSES if of_team < GUESSES_OF_A_TEAM else FIRST_GUESSES)


class FailedAttempt(models.Model):
    """A failed attempt. A failed upload is one that was rejected for its names or structure before it was stored."""

    class Kind(models.TextChoices):
        UPLOAD = "upload"
        DATA_PASSWORD = "data_password"
        ORGANIZER = "organizer"  # an email address entered to add an organizer, whether or not it has an account

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, null=True, related_name="+")  # None if not for a team
    kind = models.CharField(max_length=13, choices=Kind)
    at = models.DateTimeField()

    objects = FailedAttemptQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=("user", "kind", "at"), name="failed_attempts_of_a_person"),
            models.Index(fields=("team", "kind", "at"), name="failed_attempts_of_a_team"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.user}"


class RefusalQuerySet(models.QuerySet["Refusal"]):
    def count_one(self, codes: Iterable[str]) -> None:
        """Count one rejected upload for each of these codes, in a fixed order to avoid deadlocks."""
        wanted = sorted(set(codes))
        Refusal.objects.bulk_create([Refusal(code=code) for code in wanted], ignore_conflicts=True)
        for code in wanted:
            self.filter(code=code).update(uploads=F("uploads") + 1)


class Refusal(models.Model):
    """The number of uploads rejected with a code: from a check (`missing-item`) or the upload page (`no_runs_left`)."""

    code = models.CharField(max_length=60, unique=True)
    uploads = models.PositiveBigIntegerField(default=0)

    objects = RefusalQuerySet.as_manager()

    class Meta:
        ordering = ("code",)

    def __str__(self) -> str:
        return f"{self.code}: {self.uploads}"
