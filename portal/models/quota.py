"""The run quotas of teams and people, and the statements that reserve them.

A run counts toward its team's quota and toward that of the person who uploaded it, whichever team it is for. So a
person who changes teams gets no new quota, and the new team does not pay for the person's earlier runs.
"""

from datetime import UTC, datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from portal.models.account import User
from portal.models.phase import Phase
from portal.models.run import Run
from portal.models.task import Track
from portal.models.team import Team


def quota_day(at: datetime) -> str:
    """Return the UTC day toward which runs received at `at` count, such as `2024-05-01`."""
    return at.astimezone(UTC).date().isoformat()


def whole_phase(phase: Phase, at: datetime) -> str:
    """Return the `day` of rows for a whole phase: empty or, with rounds, the round's deadline, such as `20240501`."""
    end = phase.round_end(at)
    return "" if end is None else f"{end.astimezone(UTC):%Y%m%d}"


def _limits(phase: Phase, at: datetime) -> dict[str, int | None]:
    """Return the limit for each `day` under which a run is counted. None means no limit."""
    limits = {whole_phase(phase, at): phase.runs_per_track}
    if phase.runs_per_day is not None:
        limits[quota_day(at)] = phase.runs_per_day
    return limits


def _room(limit: int | None, runs: int, team: Team, user: User | None, phase: Phase, track: Track) -> Q:
    """Return the condition that a row of the team, or of this user, has room for these runs."""
    if limit is None:
        return Q()
    if phase.max_submissions is None:
        return Q(used__lte=limit - runs)
    if user is None:
        return Q() if runs <= limit else Q(pk__in=())
    replaceable = Run.objects.replaceable(team, phase).filter(track=track, submission__sent_by=user)
    return Q(used__lte=limit - runs + replaceable.count())


class QuotaQuerySet(models.QuerySet["Quota"]):
    def reserve(
        self, team: Team, user: User, phase: Phase, track: Track, runs: int, at: datetime, *, is_late: bool = False
    ) -> bool:
        """Reserve quota for this many runs. If a limit or the window does not allow it, count nothing and return False.

        Call this in a transaction. One conditional UPDATE per row checks the window and the limit and increases the
        count, so that two simultaneous uploads cannot both get the last run. The team's rows are updated before the
        person's, and the row for the whole phase before the day's. The team's row for the whole phase then locks (team,
        phase, track) until the transaction ends. In phases with one submission per team, the team's other uploads do
        not count, because they are replaced. `is_late` skips the check of the window, for runs that were received in
        time and have since returned their quota.
        """
        limits = _limits(phase, at)
        # The phase is a subquery, not a join. With a join, Django would also turn the condition on `used` into a
        # subquery, which PostgreSQL does not evaluate again after waiting for the row.
        phases = Phase.objects.filter(pk=phase.pk)
        is_open = phases if is_late else phases.open(at, team.pk)
        counted: list[Q] = []
        owners: tuple[dict[str, Team | User], ...] = ({"team": team}, {"user": user})
        rows = [Quota(**owner, phase=phase, track=track, day=day) for owner in owners for day in limits]
        Quota.objects.bulk_create(rows, ignore_conflicts=True)
        for owner in owners:
            for day, limit in limits.items():
                row = Q(**owner, track=track, day=day)
                room = _room(limit, runs, team, user if "user" in owner else None, phase, track)
                if not self.filter(row, room, phase__in=is_open).update(used=F("used") + runs):
                    for other in counted:
                        self.filter(other, phase=phase).update(used=F("used") - runs)
                    return False
                counted.append(row)
        return True

    def give_back(self, team: Team, user_id: int, phase: Phase, track: Track, reserved_at: datetime) -> None:
        """Release the quota that was reserved for a run at `reserved_at`.

        Rows are locked in the same order as in `reserve`, to avoid deadlocks.
        """
        for owner in (Q(team=team), Q(user=user_id)):
            for day in (whole_phase(phase, reserved_at), quota_day(reserved_at)):
                mine = self.filter(owner, phase=phase, track=track, day=day, used__gt=0)
                mine.update(used=F("used") - 1)


class Quota(models.Model):
    """The number of runs used in a phase and track by a team, or by a person across all teams.

    `day` is a UTC date, or the value of `whole_phase`.
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

    @property
    def is_of_round(self) -> bool:
        """Whether the row counts the runs of a round, or of a whole phase that was later divided into rounds."""
        return self.phase.round_days is not None and "-" not in self.day
