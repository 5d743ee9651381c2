"""Emails that are due because of a date or a new agreement. Each query yields those that have not been queued yet."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from portal.models import ExtraTime, Membership, OutgoingMail, Phase, Run, SharedTask, Signature, Team, User

# How long the scheduler can be down without losing these emails. People who join later get none.
RELEASE_IS_NEWS = timedelta(days=7)
AGREEMENT_IS_NEWS = timedelta(days=30)  # after that, people who got no email are asked at their next upload
_FIRST, _LAST = timedelta(hours=72), timedelta(hours=24)

Kind = OutgoingMail.Kind


@dataclass(frozen=True, slots=True)
class Notice:
    """An email to a person, with the arguments of `OutgoingMail.objects.notify`."""

    user: User
    kind: OutgoingMail.Kind
    occasion: str
    about: dict[str, Any]


def notices(at: datetime) -> Iterator[Notice]:
    """Yield all notices that are due now and have no row in the outbox."""
    yield from _deadlines(at)
    yield from _releases(at)
    yield from _new_agreements(at)


def _deadlines(at: datetime) -> Iterator[Notice]:
    """Notify teams 72 and 24 hours before a deadline if they already had the data then and have no valid run.

    The occasion includes the deadline, so that a moved deadline or extra time gets its own emails. Phases with rounds
    are for practice, so they send none.
    """
    extended = ExtraTime.objects.order_by().filter(until__gt=at, until__lte=at + _FIRST).values("phase")
    near = Phase.objects.order_by().filter(closes__gt=at, closes__lte=at + _FIRST).values("pk").union(extended)
    phases = Phase.objects.of_public_tasks().filter(pk__in=near, opens__lte=at, round_days__isnull=True)
    phases = phases.select_related("shared_task").prefetch_related("extra_times")
    for phase in phases:
        for closes, teams in _closings(phase):
            if at < closes <= at + _FIRST:
                kind, ahead = (Kind.DEADLINE_24, _LAST) if closes <= at + _LAST else (Kind.DEADLINE_72, _FIRST)
                idle = teams.filter(~_has_valid_run(phase), state=Team.State.APPROVED)
                with_data = idle.filter(downloads__at__lte=closes - ahead)
                details = {"closes": closes.isoformat()}
                yield from _to_members(kind, f"{phase.pk} {closes.isoformat()}", with_data, phase, details)


def _closings(phase: Phase) -> Iterator[tuple[datetime, QuerySet[Team]]]:
    """Yield each closing time of the phase with its teams. Each team with its own extra time is yielded separately."""
    own = {extra_time.team_id for extra_time in phase.extra_times.all() if extra_time.team_id is not None}
    teams = Team.objects.filter(shared_task=phase.shared_task)
    groups = [(None, teams.exclude(pk__in=own)), *((pk, teams.filter(pk=pk)) for pk in own)]
    for team_id, those in groups:
        closes = phase.closes_for(team_id)
        if closes is not None:
            yield closes, those


def _has_valid_run(phase: Phase) -> Exists:
    """Return the condition that a team has a run that may be official in the phase."""
    return Exists(Run.objects.eligible().filter(team=OuterRef("pk"), phase=phase))


def _releases(at: datetime) -> Iterator[Notice]:
    """Notify teams with a valid run in a recently released phase. If there are any, also notify the organizers."""
    recent = {"released__lte": at, "released__gt": at - RELEASE_IS_NEWS}
    released = Phase.objects.of_public_tasks().filter(scores=Phase.Scores.ON_RELEASE, **recent)
    for phase in released.select_related("shared_task"):
        assert phase.released is not None
        occasion = f"{phase.pk} {phase.released.isoformat()}"
        teams = Team.objects.filter(_has_valid_run(phase), shared_task=phase.shared_task)
        teams = teams.exclude(pk__in=Team.objects.shut_out(phase))
        if teams.exists():
            yield from _to_members(Kind.RELEASED, occasion, teams, phase, {})
            organizers = phase.shared_task.organizers.filter(_not_mailed("pk", Kind.RELEASED, occasion), is_active=True)
            for user in organizers:
                yield Notice(user, Kind.RELEASED, occasion, {"shared_task": phase.shared_task, "phase": phase})


def _new_agreements(at: datetime) -> Iterator[Notice]:
    """Notify team members who signed an earlier version of an agreement, if a recent import has a new version."""
    imported = SharedTask.objects.public().filter(imported_at__gt=at - AGREEMENT_IS_NEWS)
    for shared_task in imported.filter(Exists(Signature.objects.filter(shared_task=OuterRef("pk")))):
        agreement = shared_task.definition.agreement
        if agreement is None:
            continue
        occasion = f"{shared_task.pk} {agreement.version}"
        signed = Signature.objects.filter(shared_task=shared_task, user=OuterRef("user"))
        asked = Membership.objects.filter(
            Exists(signed), ~Exists(signed.filter(version=agreement.version)), team__state__in=Team.ACTIVE
        )
        asked = asked.filter(_not_mailed("user", Kind.AGREEMENT_CHANGED, occasion), shared_task=shared_task)
        for member in asked.filter(user__is_active=True).select_related("user", "team"):
            about = {"shared_task": shared_task, "team": member.team, "details": {"version": agreement.version}}
            yield Notice(member.user, Kind.AGREEMENT_CHANGED, occasion, about)


def _to_members(
    kind: OutgoingMail.Kind, occasion: str, teams: QuerySet[Team], phase: Phase, details: dict[str, str]
) -> Iterator[Notice]:
    members = Membership.objects.filter(_not_mailed("user", kind, occasion), team__in=teams, user__is_active=True)
    for member in members.select_related("user", "team"):
        about = {"shared_task": phase.shared_task, "team": member.team, "phase": phase, "details": details}
        yield Notice(member.user, kind, occasion, about)


def _not_mailed(user: str, kind: OutgoingMail.Kind, occasion: str) -> Q:
    """Select rows whose person has not been emailed about the occasion. `user` is the column with the person."""
    return Q(~Exists(OutgoingMail.objects.filter(user=OuterRef(user), kind=kind, occasion=occasion)))
