"""Registering a team and joining one."""

import re
from collections.abc import Mapping
from datetime import datetime

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from portal.actions.errors import Conflict, Invalid, NotAllowed
from portal.actions.team_records import audit, locked, queue_mail, tell_organizers
from portal.actions.texts import checked_field, checked_text
from portal.models import Membership, OutgoingMail, SharedTask, Team, User
from portal.models.team_name import has_invisible_characters, name_key

ANSWER_LENGTH = 1000  # characters of an answer to an organizers' question


def register_team(
    user: User,
    shared_task: SharedTask,
    name: str,
    affiliation: str,
    at: datetime,
    answers: Mapping[str, str] | None = None,
) -> Team:
    """A new team with the user as its captain; where the task approves it without asking it takes part at once.

    Raises:
        Invalid: the name breaks the task's rule, or an answer to the organizers' questions is missing or wrong.
        NotAllowed: the task's teams are closed.
        Conflict: the name is taken, or the user has a team already.
    """
    require_open_teams(shared_task, at)
    check_team_name(shared_task, name)
    affiliation = checked_field(affiliation, Team._meta.get_field("affiliation"))
    given = checked_answers(shared_task, answers or {})
    state = Team.State.APPROVED if _is_approved_at_once(user, shared_task) else Team.State.PENDING
    try:
        with transaction.atomic():
            _require_free_name(shared_task, name)
            team = Team.objects.create(
                shared_task=shared_task,
                name=name,
                name_key=name_key(name),
                affiliation=affiliation,
                answers=given,
                state=state,
                decided_at=at if state == Team.State.APPROVED else None,
                created_at=at,
            )
            _add_member(user, team, at, is_captain=True)
            audit(user, team, "register_team", at, state=state)
            if state == Team.State.PENDING:
                tell_organizers(team, at)
            if team.takes_part and shared_task.has_password_data:
                queue_mail(team, OutgoingMail.Kind.TEAM_APPROVED, user, at)
    except IntegrityError:  # another team was as quick
        _require_free_name(shared_task, name)
        raise
    return team


def check_team_name(shared_task: SharedTask, name: str) -> None:
    """Invalid for a name that breaks the task's rule."""
    rule = shared_task.definition.team.name
    if not re.fullmatch(rule, name):
        raise Invalid("team_name", _("A team's name here must match %(rule)s.") % {"rule": rule})
    checked_field(name, Team._meta.get_field("name"))
    if has_invisible_characters(name):
        message = _("The team name contains an invisible character, such as a mark of text direction. Type it again.")
        raise Invalid("team_name", message)


def _require_free_name(shared_task: SharedTask, name: str) -> None:
    """Conflict where the task has a team that readers could take for this one."""
    other = shared_task.teams.filter(name_key=name_key(name)).first()
    if other is None:
        return
    if other.name == name:
        message = _("There is a team %(name)s already. Choose another name.")
    else:
        message = _("%(name)s is too similar to the team %(other)s. Choose a name that no one can mistake for it.")
    raise Conflict("team_name_taken", message % {"name": name, "other": other.name})


def checked_answers(shared_task: SharedTask, answers: Mapping[str, str]) -> dict[str, str]:
    """The answers to the questions that the task asks; Invalid names the question that lacks a good one."""
    given = {}
    for question in shared_task.definition.team.questions:
        answer = checked_text(answers.get(question.key, ""), question.label, ANSWER_LENGTH)
        is_choice = not question.choices or answer in question.choices
        if (question.required and not answer) or (answer and not is_choice):
            raise Invalid("team_answers", _("Please answer: %(question)s") % {"question": question.label})
        given[question.key] = answer
    return given


def join_team(user: User, code: str, at: datetime) -> Membership:
    """Membership of the team whose invitation code that is; asking again changes nothing.

    Raises:
        NotAllowed: there is no such invitation, or nobody joins any more.
        Conflict: the user is in another team of the shared task.
    """
    with transaction.atomic():
        invited_to = Team.objects.filter(invitation_code=code).first()
        team = invited_to and locked(invited_to)  # whose last member may be leaving
        if team is None or team.state not in (Team.State.PENDING, Team.State.APPROVED):
            raise NotAllowed("no_such_invitation", _("This invitation is not valid. Ask your captain for a new link."))
        membership = Membership.objects.filter(team=team, user=user).first()
        if membership is None:
            require_open_teams(team.shared_task, at)
            membership = _add_member(user, team, at, is_captain=False)
            audit(user, team, "join_team", at)
    return membership


def require_open_teams(shared_task: SharedTask, at: datetime) -> None:
    """NotAllowed once the phase has opened with which the task closes its teams."""
    if shared_task.teams_are_closed(at):
        message = _("Registration for this task is closed: no one can create or join a team. Ask the organizers.")
        raise NotAllowed("teams_closed", message)


def _is_approved_at_once(user: User, shared_task: SharedTask) -> bool:
    rules = shared_task.definition.team
    if rules.approval != "domains":
        return rules.approval == "automatic"
    addresses = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    hosts = [f".{address.rpartition('@')[2].lower()}" for address in addresses]
    return any(host.endswith(f".{domain}") for host in hosts for domain in rules.domains)


def _add_member(user: User, team: Team, at: datetime, *, is_captain: bool) -> Membership:
    member, is_new = Membership.objects.get_or_create(
        user=user,
        shared_task=team.shared_task,
        defaults={"team": team, "is_captain": is_captain, "joined_at": at},
    )
    if not is_new and member.team_id != team.pk:
        names = {"team": member.team.name, "task": team.shared_task.title}
        raise Conflict("has_a_team", _("You are in the team %(team)s of %(task)s already.") % names)
    return member
