"""Teams as seen by their members, with what they may do."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from portal.models import Membership, OutgoingMail, Team, User


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
