"""The organizers' table of teams: what each team has done, and notes about possible problems."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import chain
from typing import Any

from allauth.usersessions.models import UserSession
from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, QuerySet
from django.utils.translation import gettext as _

from portal.models import (
    AccessToken,
    Download,
    Membership,
    Phase,
    RejectedUpload,
    Run,
    SharedTask,
    Submission,
    Team,
    User,
)
from portal.queries.desk.team_filter import TeamFilter, current_signatures, selected_teams, valid_runs
from portal.queries.teams import answers_of

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class TeamRow:
    """A team in the organizers' table. `flags` are sentences about possible problems."""

    team: Team
    members: list[Membership]  # the captain comes first
    answers: list[tuple[str, str]]
    has_signed: bool  # whether a member signed the current agreement; True if there is none
    downloads: int
    uploads: int  # stored uploads and those rejected on receipt
    rejected: int
    runs: int
    valid_runs: int
    seen_on: date | None  # day (UTC) of the last sign-in, use of a token, download or upload by a member
    flags: list[str] = field(default_factory=list)


def teams_page(
    shared_task: SharedTask, wanted: TeamFilter, page: str, at: datetime
) -> tuple[Page[Team], list[TeamRow]]:
    """Return a page of the selected teams, and its rows. The number of statements is constant."""
    found = Paginator(selected_teams(shared_task, wanted, at), PAGE_SIZE).get_page(page)
    return found, team_rows(shared_task, list(found.object_list))


def all_team_rows(shared_task: SharedTask, wanted: TeamFilter, at: datetime) -> list[TeamRow]:
    """Return the rows of all selected teams."""
    return team_rows(shared_task, list(selected_teams(shared_task, wanted, at)))


def team_rows(shared_task: SharedTask, teams: Sequence[Team]) -> list[TeamRow]:
    """Return a row for each team, in the same order. The number of statements is constant."""
    here = {"team__in": [team.pk for team in teams]}
    members = _members(here)
    people = [member.user_id for of_team in members.values() for member in of_team]
    signed = set(current_signatures(shared_task).filter(user__in=people).values_list("user", flat=True))
    has_agreement = shared_task.definition.agreement is not None
    downloads = _counted(Download.objects.filter(**here))
    stored, on_receipt = _counted(Submission.objects.filter(**here)), _counted(RejectedUpload.objects.filter(**here))
    rejected = _counted(Submission.objects.filter(**here, state=Submission.State.REJECTED))
    runs, valid = _counted(Run.objects.filter(**here)), _counted(valid_runs().filter(**here))
    seen, flags = _seen(here, members), _flags(shared_task, teams)
    return [
        TeamRow(
            team=team,
            members=members[team.pk],
            answers=answers_of(team),
            has_signed=not has_agreement or any(member.user_id in signed for member in members[team.pk]),
            downloads=downloads[team.pk],
            uploads=stored[team.pk] + on_receipt[team.pk],
            rejected=rejected[team.pk] + on_receipt[team.pk],
            runs=runs[team.pk],
            valid_runs=valid[team.pk],
            seen_on=seen.get(team.pk),
            flags=flags[team.pk],
        )
        for team in teams
    ]


def _members(here: dict[str, Any]) -> dict[int, list[Membership]]:
    """Return the members of each team, its captain first."""
    found: dict[int, list[Membership]] = defaultdict(list)
    for member in Membership.objects.filter(**here).select_related("user").order_by("-is_captain", "joined_at", "pk"):
        found[member.team_id].append(member)
    return found


def _counted(rows: QuerySet[Any]) -> Counter[int]:
    """Return the number of rows by team."""
    return Counter(dict(rows.order_by().values_list("team").annotate(Count("pk"))))


def _seen(here: dict[str, Any], members: dict[int, list[Membership]]) -> dict[int, date]:
    """Return the day on which someone of each team last did something. Teams without such a day are missing."""
    found: dict[int, list[datetime | None]] = defaultdict(list)
    teams_of = {member.user_id: team for team, of_team in members.items() for member in of_team}
    for of_team in members.values():
        for member in of_team:
            found[member.team_id].append(member.user.last_login)
    sessions = UserSession.objects.filter(user__in=teams_of).order_by().values_list("user")
    tokens = AccessToken.objects.filter(user__in=teams_of).order_by().values_list("user")
    for user, moment in (*sessions.annotate(Max("last_seen_at")), *tokens.annotate(Max("last_used_at"))):
        found[teams_of[user]].append(moment)
    downloads = Download.objects.filter(**here).order_by().values_list("team").annotate(Max("at"))
    uploads = Submission.objects.filter(**here).order_by().values_list("team").annotate(Max("received_at"))
    for team, moment in (*downloads, *uploads):
        found[team].append(moment)
    known = {team: [moment for moment in moments if moment is not None] for team, moments in found.items()}
    return {team: max(moments).astimezone(UTC).date() for team, moments in known.items() if moments}


def _flags(shared_task: SharedTask, teams: Sequence[Team]) -> dict[int, list[str]]:
    """Return sentences about possible problems, by team."""
    withdrawn = [team for team in teams if team.withdrawn_at is not None]
    phases = list(shared_task.phases.prefetch_related("extra_times")) if withdrawn else []
    with_runs: dict[int, set[int]] = defaultdict(set)
    if withdrawn:
        runs = Run.objects.filter(team__in=withdrawn).order_by()
        for team_id, phase_id in runs.values_list("team", "phase").distinct():
            with_runs[team_id].add(phase_id)
    elsewhere = _senders_elsewhere(shared_task, teams)
    return {
        team.pk: [*_unranked(team), *_withdrawal(team, phases, with_runs[team.pk]), *elsewhere[team.pk]]
        for team in teams
    }


def _unranked(team: Team) -> list[str]:
    return [_("The team has no rank, because a member is or was an organizer of the task.")] if team.unranked_at else []


def _withdrawal(team: Team, phases: Iterable[Phase], with_runs: set[int]) -> Iterator[str]:
    """Yield a note for each phase that was open when the team withdrew and in which the team has runs."""
    if team.withdrawn_at is None:
        return
    for phase in phases:
        if phase.pk in with_runs and phase.is_open(team.withdrawn_at, team.pk):
            message = _(
                "The team withdrew while %(phase)s was open. Its runs are not on the leaderboards of that phase."
            )
            yield message % {"phase": phase.title}


def _senders_elsewhere(shared_task: SharedTask, teams: Sequence[Team]) -> dict[int, list[str]]:
    """Return notes, by team, about uploaders who have also uploaded for other teams."""
    own = shared_task.submissions.filter(team__in=[team.pk for team in teams])
    pairs = shared_task.submissions.filter(sent_by__in=own.order_by().values("sent_by"))
    teams_of: dict[int, list[int]] = defaultdict(list)
    for person, team in pairs.order_by("sent_by", "team").values_list("sent_by", "team").distinct():
        teams_of[person].append(team)
    several = {person: of_person for person, of_person in teams_of.items() if len(of_person) > 1}
    found: dict[int, list[str]] = defaultdict(list)
    if not several:
        return found
    keys = set(chain.from_iterable(several.values()))
    names = dict(shared_task.teams.filter(pk__in=keys).values_list("pk", "name"))
    people = User.objects.in_bulk(several)
    for person, of_person in several.items():
        for team in of_person:
            others = ", ".join(names[other] for other in of_person if other != team)
            message = _("%(person)s has also uploaded runs for %(teams)s.")
            found[team].append(message % {"person": people[person], "teams": others})
    return found
