"""How many runs a team has used, and the one statement that takes from a quota."""

from datetime import UTC, datetime

from django.db import models
from django.db.models import F, Q

from portal.models.task import Phase, Track
from portal.models.team import Team


def quota_day(at: datetime) -> str:
    """The UTC day to which a moment's runs count, e.g. `2024-05-01`."""
    return at.astimezone(UTC).date().isoformat()


def _limits(phase: Phase, at: datetime) -> dict[str, int | None]:
    """Day → limit of the rows that count a run at that moment; the whole phase is always counted."""
    limits = {"": phase.runs_per_track}
    if phase.runs_per_day is not None:
        limits[quota_day(at)] = phase.runs_per_day
    return limits


class QuotaQuerySet(models.QuerySet["Quota"]):
    def take(self, team: Team, phase: Phase, track: Track, runs: int, at: datetime) -> bool:
        """Count that many runs at that moment; False, and nothing is counted, where a limit or the window forbids it.

        To be called in a transaction. Window, limit and count are one conditional UPDATE a row: two uploads at once
        cannot both see the last free place. The updated row of the whole phase is a lock on (team, phase, track) until
        the transaction ends.
        """
        limits = _limits(phase, at)
        rows = [Quota(team=team, phase=phase, track=track, day=day) for day in limits]
        Quota.objects.bulk_create(rows, ignore_conflicts=True)
        # The phase as a subquery, not a join: Django would move a joined condition on `used` into a subquery too, where
        # PostgreSQL does not look at it again after waiting for the row.
        mine = self.filter(team=team, track=track, phase__in=Phase.objects.filter(pk=phase.pk).open(at, team.pk))
        taken: list[str] = []
        for day, limit in limits.items():
            room = Q() if limit is None else Q(used__lte=limit - runs)
            if not mine.filter(room, day=day).update(used=F("used") + runs):
                self.filter(team=team, phase=phase, track=track, day__in=taken).update(used=F("used") - runs)
                return False
            taken.append(day)
        return True

    def give_back(self, team: Team, phase: Phase, track: Track, taken_at: datetime) -> None:
        """Undo the taking of one run at that moment; row by row in the order of `take`, so that none waits for ever."""
        for day in ("", quota_day(taken_at)):
            self.filter(team=team, phase=phase, track=track, day=day, used__gt=0).update(used=F("used") - 1)


class Quota(models.Model):
    """How many runs a team has used in a phase and track; `day` is empty for the whole phase, else a UTC date."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="+")
    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="+")
    day = models.CharField(max_length=10, blank=True)
    used = models.PositiveIntegerField(default=0)

    objects = QuotaQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("team", "phase", "track", "day"), name="one_quota_row"),
            models.CheckConstraint(condition=Q(used__gte=0), name="quota_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.team} {self.phase} {self.track} {self.day}: {self.used}"
