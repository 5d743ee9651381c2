"""The run quotas of teams and people, and the statements that reserve them.

A run counts toward its team's quota and toward that of the person who uploaded it, whichever team it is for. So a
person who changes teams gets no new quota, and the new team does not pay for the person's earlier runs.
"""

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, F, Q, Subquery
from django.db.models.functions import Coalesce, Length

from portal.models.account import User
from portal.models.extra_runs import ExtraRuns
from portal.models.phase import Phase
from portal.models.prepared import PreparedQuery, PreparedUpdate
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


class QuotaQuerySet(models.QuerySet["Quota"]):
    def reserve(
        self, team: Team, user: User, phase: Phase, track: Track, runs: int, at: datetime, *, is_late: bool = False
    ) -> bool:
        """Reserve quota for this many runs. If a limit or the window does not allow it, count nothing and return False.

        Call this in a transaction. The rows are locked first, so that two simultaneous uploads cannot both get the last
        run: the team's rows before the person's, and the row for the whole phase before the day's. The team's row for
        the whole phase thus locks (team, phase, track) until the transaction ends. The UPDATE that increases the counts
        checks the window, as it is once the rows are locked. In phases with one submission per team, the team's other
        uploads do not count, because they are replaced. `is_late` skips the check of the window, for runs that were
        received in time and have since returned their quota. If rows are missing even after they were inserted, the
        limits cannot be checked, so nothing is reserved.
        """
        limits = _limits(phase, at)
        mine: dict[str, Any] = {"team": team.pk, "user": user.pk, "phase": phase.pk, "track": track.pk}
        mine |= {"whole": min(limits, key=len), "day": max(limits, key=len)}
        locked = _locked(**mine, rows=2 * len(limits))
        if not locked:
            owners: tuple[dict[str, Team | User], ...] = ({"team": team}, {"user": user})
            new = [Quota(**owner, phase=phase, track=track, day=day) for owner in owners for day in limits]
            Quota.objects.bulk_create(new, ignore_conflicts=True)
            locked = _locked(**mine, rows=len(new))
        if not locked:
            return False
        replaced = 0
        if phase.max_submissions is not None:
            replaced = Run.objects.replaceable(team, phase).filter(track=track, submission__sent_by=user).count()
        for of_team, day, used, extra in locked:
            if phase.max_submissions is not None:
                used = used - replaced if of_team is None else 0
            limit = limits[day]
            if limit is not None and used + runs > limit + (extra if day == mine["whole"] else 0):
                return False
        if is_late:
            return _rows(**mine).update(used=F("used") + runs) > 0
        return _use(**mine, runs=runs, at=at) > 0

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


def _rows(team: int, user: int, phase: int, track: int, whole: str, day: str) -> models.QuerySet[Quota]:
    """Select the rows of the team and the user, for the whole phase and for the day.

    Without a limit per day, `day` is the same as `whole`.
    """
    return Quota.objects.filter(Q(team=team) | Q(user=user), phase=phase, track=track, day__in=(whole, day))


@PreparedQuery
def _locked(
    team: int, user: int, phase: int, track: int, whole: str, day: str, rows: int
) -> models.QuerySet[Quota, tuple[int | None, str, int, int]]:
    """Lock all rows in the order of `reserve`, and select their team, day and count, and the team's extra runs.

    If some of them do not exist yet, lock and select none: they would have to be inserted while others are locked.
    """
    found = _rows(team, user, phase, track, whole, day)
    complete = found.values("phase").annotate(n=Count("pk")).filter(n=rows).values("phase")
    # The name of a day is longer than that of a whole phase.
    in_order = found.filter(phase__in=complete).order_by(F("user").asc(nulls_first=True), Length("day"))
    granted = ExtraRuns.objects.order_by().filter(phase=phase, team=team).values("runs")
    in_order = in_order.annotate(extra=Coalesce(Subquery(granted), 0))
    return in_order.select_for_update(no_key=True).values_list("team", "day", "used", "extra")


@PreparedUpdate
def _use(
    team: int, user: int, phase: int, track: int, whole: str, day: str, runs: int, at: datetime
) -> tuple[models.QuerySet[Quota], dict[str, Any]]:
    """Count the runs in all rows, if the phase is open."""
    is_open = Phase.objects.filter(pk=phase).open(at, team)
    return _rows(team, user, phase, track, whole, day).filter(phase__in=is_open), {"used": F("used") + runs}
