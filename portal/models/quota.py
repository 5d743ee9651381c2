"""The run quotas of teams and people, and the statements that reserve them.

A run counts for its team and for the person who uploaded it, whatever their team was. So changing teams gives a person
no new quota and does not use up that of the new team.
"""

from datetime import UTC, datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from portal.models.account import User
from portal.models.phase import Phase
from portal.models.task import Track
from portal.models.team import Team


def quota_day(at: datetime) -> str:
    """Return the UTC day on which runs at that time count, e.g. `2024-05-01`."""
    return at.astimezone(UTC).date().isoformat()


def _limits(phase: Phase, at: datetime) -> dict[str, int | None]:
    """Return the limits by day for the rows that count a run. The row without a day counts the whole phase."""
    limits = {"": phase.runs_per_track}
    if phase.runs_per_day is not None:
        limits[quota_day(at)] = phase.runs_per_day
    return limits


class QuotaQuerySet(models.QuerySet["Quota"]):
    def reserve(
        self, team: Team, user: User, phase: Phase, track: Track, runs: int, at: datetime, *, is_late: bool = False
    ) -> bool:
        """Reserve quota for so many runs. Return False, and count nothing, if a limit or the window does not allow it.

        Call it in a transaction. Window, limit and count are checked in one conditional UPDATE per row, so two
        simultaneous uploads cannot both get the last run. The team's rows are updated before the person's, and the
        whole phase before the day. The team's updated row of the whole phase is a lock on (team, phase, track) until
        the transaction ends. `is_late` skips the window for runs that were received in time and gave their quota back.
        """
        limits = _limits(phase, at)
        # The phase is a subquery, not a join. Django would turn a joined condition on `used` into a subquery too, which
        # PostgreSQL does not evaluate again after waiting for the row.
        phases = Phase.objects.filter(pk=phase.pk)
        is_open = phases if is_late else phases.open(at, team.pk)
        counted: list[Q] = []
        owners: tuple[dict[str, Team | User], ...] = ({"team": team}, {"user": user})
        rows = [Quota(**owner, phase=phase, track=track, day=day) for owner in owners for day in limits]
        Quota.objects.bulk_create(rows, ignore_conflicts=True)
        for owner in owners:
            for day, limit in limits.items():
                row = Q(**owner, track=track, day=day)
                room = Q() if limit is None else Q(used__lte=limit - runs)
                if not self.filter(row, room, phase__in=is_open).update(used=F("used") + runs):
                    for other in counted:
                        self.filter(other, phase=phase).update(used=F("used") - runs)
                    return False
                counted.append(row)
        return True

    def give_back(self, team: Team, user_id: int, phase: Phase, track: Track, reserved_at: datetime) -> None:
        """Return the quota of a run that was reserved at that time.

        Rows are locked in the order of `reserve`, to avoid deadlocks.
        """
        for owner in (Q(team=team), Q(user=user_id)):
            for day in ("", quota_day(reserved_at)):
                mine = self.filter(owner, phase=phase, track=track, day=day, used__gt=0)
                mine.update(used=F("used") - 1)


class Quota(models.Model):
    """The number of runs used by a team, or by a person in all teams, in a phase and track.

    `day` is a UTC date, or empty for the whole phase.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, null=True, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="+")
    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="+")
    day = models.CharField(max_length=10, blank=True)
    used = models.PositiveIntegerField(default=0)

    objects = QuotaQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("team", "phase", "track", "day"), name="one_quota_row"),
            models.UniqueConstraint(fields=("user", "phase", "track", "day"), name="one_quota_row_a_person"),
            models.CheckConstraint(
                condition=Q(team__isnull=False, user__isnull=True) | Q(team__isnull=True, user__isnull=False),
                name="quota_of_a_team_or_a_person",
            ),
            models.CheckConstraint(condition=Q(used__gte=0), name="quota_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.team or self.user} {self.phase} {self.track} {self.day}: {self.used}"
