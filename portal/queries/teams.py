"""Teams as seen by their members, with what they may do, and as seen by organizers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from django.utils.translation import gettext as _

from portal.models import Membership, OutgoingMail, Phase, SharedTask, Team, User


@dataclass(frozen=True, slots=True)
class Right:
    """Something that a team may or may not do now."""

    may: bool
    what: str


@dataclass(frozen=True, slots=True)
class TeamView:
    """A team as its members see it. `is_closed` means that no one can join anymore.

    `has_password` means that the team can use a password for the task's data.
    """

    team: Team
    own: Membership
    members: list[Membership]
    answers: list[tuple[str, str]]  # questions and answers
    rights: list[Right]
    is_closed: bool
    invitations: list[OutgoingMail]  # emailed invitations, newest first
    has_password: bool

    @property
    def others(self) -> list[Membership]:
        return [member for member in self.members if member.pk != self.own.pk]

    @property
    def may_invite(self) -> bool:
        return self._is_active and not self.is_closed and not self.team.is_full

    @property
    def may_leave(self) -> bool:
        return not (self._is_active and self.is_closed)

    @property
    def _is_active(self) -> bool:
        return self.team.state in Team.ACTIVE


def team_view(team: Team, user: User, at: datetime, *, has_signed: bool) -> TeamView:
    """Return the user's team as the user sees it. `has_signed` means that there is no agreement left to sign."""
    members = list(team.memberships.select_related("user").order_by("-is_captain", "joined_at"))
    return TeamView(
        team=team,
        own=next(member for member in members if member.user_id == user.pk),
        members=members,
        answers=answers_of(team),
        rights=_rights(team, at, has_signed=has_signed),
        is_closed=team.shared_task.teams_are_closed(at),
        invitations=list(team.mails.filter(kind=OutgoingMail.Kind.INVITATION)),
        has_password=team.takes_part and team.shared_task.has_password_data,
    )


def answers_of(team: Team) -> list[tuple[str, str]]:
    """Return the team's answers to the task's current questions."""
    questions = team.shared_task.definition.team.questions
    return [(question.label, team.answers.get(question.key, "")) for question in questions]


def _rights(team: Team, at: datetime, *, has_signed: bool) -> list[Right]:
    accesses = {dataset.access for dataset in team.shared_task.definition.datasets}
    words = {
        "registered": _("Download data for registered teams"),
        "approved": _("Download data for approved teams"),
        "password": _("Download password-protected data"),
    }
    data = [
        Right(team.state in states and has_signed, words[access])
        for access, states in Team.DATA.items()
        if access in accesses
    ]
    is_open = any(phase.is_open(at, team.pk) for phase in team.shared_task.phases.prefetch_related("extra_times"))
    if not has_signed:
        runs = [Right(False, _("Upload runs and appear on leaderboards (after you sign the data agreement)"))]
    elif is_open:
        runs = [Right(team.takes_part, _("Upload runs and appear on leaderboards"))]
    else:
        uploads = Right(False, _("Upload runs (no phase is accepting runs)"))
        runs = [uploads, Right(team.takes_part, _("Appear on leaderboards"))]
    return [Right(True, _("Read all public pages and download public data")), *data, *runs]


@dataclass(frozen=True, slots=True)
class TeamLine:
    """A team in the organizers' list. `flags` are sentences about possible problems."""

    team: Team
    members: list[Membership]  # the captain comes first
    answers: list[tuple[str, str]]
    runs: int
    flags: list[str]


def team_lines(shared_task: SharedTask) -> list[TeamLine]:
    """Return all teams: first those waiting for approval, oldest first, then the others by name."""
    teams = list(shared_task.teams.select_related("shared_task").prefetch_related("memberships__user", "runs"))
    waiting = [team for team in teams if team.state == Team.State.PENDING]
    others = [team for team in teams if team.state != Team.State.PENDING]
    teams = sorted(waiting, key=attrgetter("pk")) + sorted(others, key=lambda team: (team.name.lower(), team.pk))
    withdrawn = [team for team in teams if team.withdrawn_at is not None]
    phases = list(shared_task.phases.prefetch_related("extra_times")) if withdrawn else []
    elsewhere = _senders_elsewhere(shared_task)
    return [
        TeamLine(
            team=team,
            members=sorted(team.memberships.all(), key=lambda member: (not member.is_captain, member.joined_at)),
            answers=answers_of(team),
            runs=len(team.runs.all()),
            flags=[*_unranked(team), *_withdrawal(team, phases), *elsewhere.get(team.pk, ())],
        )
        for team in teams
    ]


def _unranked(team: Team) -> list[str]:
    return [_("The team has no rank, because a member is or was an organizer of the task.")] if team.unranked_at else []


def _withdrawal(team: Team, phases: Iterable[Phase]) -> Iterator[str]:
    """Yield a note for each phase that was open when the team withdrew and in which the team has runs."""
    if team.withdrawn_at is None:
        return
    with_runs = {run.phase_id for run in team.runs.all()}
    for phase in phases:
        if phase.pk in with_runs and phase.is_open(team.withdrawn_at, team.pk):
            message = _(
                "The team withdrew while %(phase)s was open. Its runs are not on the leaderboards of that phase."
            )
            yield message % {"phase": phase.title}


def _senders_elsewhere(shared_task: SharedTask) -> dict[int, list[str]]:
    """Return notes, by team, about uploaders who have also uploaded for other teams."""
    pairs = shared_task.submissions.order_by("sent_by", "team").values_list("sent_by", "team").distinct()
    teams_of: dict[int, list[int]] = defaultdict(list)
    for person, team in pairs:
        teams_of[person].append(team)
    several = {person: teams for person, teams in teams_of.items() if len(teams) > 1}
    if not several:
        return {}
    people, names = User.objects.in_bulk(several), dict(shared_task.teams.values_list("pk", "name"))
    found: dict[int, list[str]] = defaultdict(list)
    for person, teams in several.items():
        for team in teams:
            others = ", ".join(names[other] for other in teams if other != team)
            message = _("%(person)s has also uploaded runs for %(teams)s.")
            found[team].append(message % {"person": people[person], "teams": others})
    return found
