"""Which teams of a task organizers select, in their table and for actions on many teams."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from allauth.usersessions.models import UserSession
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.enums import TextChoices
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Lower
from django.db.models.lookups import Exact
from django.utils.translation import gettext_lazy as _
from pydantic import ConfigDict

from portal.models import (
    AccessToken,
    Download,
    Membership,
    RejectedUpload,
    Run,
    SharedTask,
    Signature,
    Submission,
    Team,
)

_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)


class YesNo(TextChoices):
    """Choices of filters by whether a team has done something."""

    YES = "yes", _("yes")
    NO = "no", _("no")


class Seen(TextChoices):
    """Choices of the filter by when someone of the team last did something."""

    DAY = "day", _("in the last day")
    WEEK = "week", _("in the last 7 days")
    NOT_WEEK = "not-week", _("not in the last 7 days")


@dataclass(frozen=True)
class TeamFilter:
    """Which teams are selected. An empty value selects all."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", str_max_length=200)

    search: str = ""  # in the name and affiliation of the team, and in the names and addresses of its members
    state: str = ""  # a Team.State
    answer: str = ""  # `key=value`: the answer to a question
    signed: str = ""  # a YesNo, as all that follow except `phase` and `seen`: whether a member signed the agreement
    downloaded: str = ""  # whether a member downloaded a file of the task
    uploaded: str = ""  # whether there is an upload, even a rejected one
    valid: str = ""  # whether there is a valid run that was not withdrawn
    phase: str = ""  # the slug of the phase of these uploads and runs; empty for any phase
    seen: str = ""  # a Seen

    @property
    def is_empty(self) -> bool:
        return self == TeamFilter()


def selected_teams(shared_task: SharedTask, wanted: TeamFilter, at: datetime) -> QuerySet[Team]:
    """Select teams: first those waiting for approval, oldest first, then the others by name."""
    rows = shared_task.teams.filter(*_conditions(shared_task, wanted, at))
    for condition, answer in _facts(shared_task, wanted):
        if answer not in ("", *YesNo.values):
            return rows.none()
        if answer:
            rows = rows.filter(condition if answer == YesNo.YES else ~condition)
    if wanted.answer:
        key, _separator, value = wanted.answer.partition("=")
        if key not in {question.key for question in shared_task.definition.team.questions}:
            return rows.none()
        rows = rows.filter(Exact(KeyTextTransform(key, "answers"), value))
    waiting_first = Case(When(state=Team.State.PENDING, then=Value(0)), default=Value(1))
    oldest_first = Case(When(state=Team.State.PENDING, then=F("created_at")))
    return rows.select_related("shared_task").order_by(waiting_first, oldest_first, Lower("name"), "pk")


def _conditions(shared_task: SharedTask, wanted: TeamFilter, at: datetime) -> Iterator[Q]:
    if wanted.state:
        yield Q(state=wanted.state)
    if wanted.search:
        people = Membership.objects.filter(team=OuterRef("pk"))
        is_found = Q(user__name__icontains=wanted.search) | Q(user__email__icontains=wanted.search)
        own = Q(name__icontains=wanted.search) | Q(affiliation__icontains=wanted.search)
        yield own | Q(Exists(people.filter(is_found)))
    match wanted.seen:
        case "":
            return
        case Seen.DAY:
            yield _seen_since(at - _DAY)
        case Seen.WEEK:
            yield _seen_since(at - _WEEK)
        case Seen.NOT_WEEK:
            yield ~_seen_since(at - _WEEK)
        case _:
            yield Q(pk__in=[])


def _facts(shared_task: SharedTask, wanted: TeamFilter) -> list[tuple[Any, str]]:
    """Return the conditions about what a team has done, each with the answer that is wanted."""
    of_team = {"team": OuterRef("pk")}
    in_phase = of_team | ({"phase__slug": wanted.phase} if wanted.phase else {})
    uploads = Exists(Submission.objects.filter(**in_phase)) | Exists(RejectedUpload.objects.filter(**in_phase))
    return [
        (Exists(current_signatures(shared_task).filter(user__memberships__team=OuterRef("pk"))), wanted.signed),
        (Exists(Download.objects.filter(**of_team)), wanted.downloaded),
        (uploads, wanted.uploaded),
        (Exists(valid_runs().filter(**in_phase)), wanted.valid),
    ]


def current_signatures(shared_task: SharedTask) -> QuerySet[Signature]:
    agreement = shared_task.definition.agreement
    version = agreement.version if agreement else ""
    return Signature.objects.filter(shared_task=shared_task, version=version)


def valid_runs() -> QuerySet[Run]:
    return Run.objects.filter(state__in=Run.CHECKED, withdrawn_at__isnull=True)


def _seen_since(moment: datetime) -> Q:
    """Return the condition that someone of the team did something since then."""
    here = Membership.objects.filter(team=OuterRef("pk"))
    own = {"user__memberships__team": OuterRef("pk")}
    return (
        Q(Exists(here.filter(user__last_login__gte=moment)))
        | Q(Exists(UserSession.objects.filter(**own, last_seen_at__gte=moment)))
        | Q(Exists(AccessToken.objects.filter(**own, last_used_at__gte=moment)))
        | Q(Exists(Download.objects.filter(team=OuterRef("pk"), at__gte=moment)))
        | Q(Exists(Submission.objects.filter(team=OuterRef("pk"), received_at__gte=moment)))
    )
