"""How many more runs a team and the uploading person can submit."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db.models import Q, Subquery

from portal.models import ExtraRuns, Phase, Quota, Run, Team, Track, Viewer
from portal.models.quota import quota_day, whole_phase


@dataclass(frozen=True, slots=True)
class TrackLimits:
    """The tightest limit in a track: `used` of `limit` runs in the phase or UTC day. A `limit` of None means no limit.

    This is the person's limit if the person has used more runs, across all their teams, than the team has.
    """

    track: Track
    used: int
    limit: int | None
    period: Literal["phase", "day"]
    whose: Literal["team", "person"] = "team"

    @property
    def left(self) -> int | None:
        return None if self.limit is None else max(0, self.limit - self.used)


def remaining(team: Team, user: Viewer, phase: Phase, at: datetime) -> list[TrackLimits]:
    """Return what the person can still upload for the team, with an entry for each track of the phase.

    Rejected runs have returned their quota, so they do not count as used. Runs that the upload would replace do not
    count, either.
    """
    today, whole = quota_day(at), whole_phase(phase, at)
    mine = Q(team=team) | Q(user=user.pk, user__isnull=False)
    granted = ExtraRuns.objects.order_by().filter(team=team, phase=phase).values_list("runs", flat=True)
    counted = Quota.objects.filter(mine, phase=phase, day__in=(whole, today))
    rows = list(counted.values_list("track", "day", "team", "used", Subquery(granted)))
    extra = (rows[0][-1] if rows else granted.first()) or 0  # usually without a statement of its own
    used: Counter[tuple[int, str, str]] = Counter()
    for track, day, of_team, count, _extra in rows:
        used[track, day, "person" if of_team is None else "team"] = count
    for track, sender in Run.objects.replaceable(team, phase).values_list("track", "submission__sent_by"):
        used[track, whole, "team"] -= 1
        used[track, whole, "person"] -= sender == user.pk

    in_phase = None if phase.runs_per_track is None else phase.runs_per_track + extra

    def tightest(track: Track) -> TrackLimits:
        limits: list[TrackLimits] = []
        for whose in ("team", "person"):
            limits.append(TrackLimits(track, used[track.pk, whole, whose], in_phase, "phase", whose))
            if phase.runs_per_day is not None:
                limits.append(TrackLimits(track, used[track.pk, today, whose], phase.runs_per_day, "day", whose))
        return min(limits, key=lambda line: float("inf") if line.left is None else line.left)

    return [tightest(track) for track in phase.tracks()]
