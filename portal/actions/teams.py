"""Registering a team, joining it, withdrawing it, and applying again after it was declined."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from allauth.account.models import EmailAddress
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid, NotAllowed
from portal.actions.base.input import TOO_LONG, column
from portal.actions.base.roles import CAPTAIN, SIGNED_IN
from portal.actions.organizers import remove_organizer
from portal.actions.team_mails import notify_organizers, queue_mail
from portal.models import AuditEntry, Board, Membership, OutgoingMail, SharedTask, Team, User
from portal.models.team_name import has_invisible_characters, name_key
from scoring.limits import ENTRIES

ANSWER_LENGTH = 1000  # maximum length of an answer to an organizer's question

Answers = Annotated[dict[str, str], Field(title="Answers", max_length=ENTRIES)]  # answers by question key

TEAM_STATE = Conflict.declare("team_state", _("This is not possible in the team’s current state (%(state)s)."))
TEAM_NAME = Invalid.declare("team_name", _("This team name is not allowed. Use %(rule)s."))
INVISIBLE_CHARACTER = Invalid.declare(
    "team_name", _("The team name contains an invisible character, such as a text direction mark. Type the name again.")
)
TEAM_ANSWERS = Invalid.declare("team_answers", _("Answer this question: %(question)s"))
NAME_TAKEN = Conflict.declare("team_name_taken", _("The team name %(name)s is already taken. Choose another name."))
NAME_TOO_SIMILAR = Conflict.declare(
    "team_name_taken",
    _("The name %(name)s is too similar to the existing team %(other)s. Choose a clearly different name."),
)
HAS_A_TEAM = Conflict.declare("has_a_team", _("You are already on the team %(team)s in %(task)s."))
TEAMS_CLOSED = NotAllowed.declare(
    "teams_closed",
    _("Registration for this task is closed, so you can’t create or join a team. Contact the organizers."),
)
TEAM_FULL = Conflict.declare(
    "team_full", _("The team %(team)s is full: in this task, teams can have at most %(limit)d members.")
)
ORGANIZES = NotAllowed.declare(
    "organizes",
    _(
        "You are or were an organizer of this task and may have seen hidden scores, so you can’t join the team "
        "%(team)s, which is ranked. You can create a team of your own, which has no rank."
    ),
)
NO_SUCH_INVITATION = NotAllowed.declare(
    "no_such_invitation", _("This invitation is not valid. Ask your captain for a new link.")
)


def _taken_meanwhile(_act: ActionCall, shared_task: SharedTask, *, name: str, **_others: Any) -> Team:
    _require_free_name(shared_task, name)
    raise


@action(
    who=SIGNED_IN,
    says=_("registered the team"),
    errors=[TEAMS_CLOSED, TEAM_NAME, INVISIBLE_CHARACTER, TEAM_ANSWERS, NAME_TAKEN, NAME_TOO_SIMILAR, HAS_A_TEAM],
    on_race=_taken_meanwhile,
    locks=True,  # the person may be made an organizer at the same time
)
def register_team(
    call: ActionCall,
    shared_task: SharedTask,
    *,
    name: Annotated[str, column(Team, "name", required=True, title="Team name")],
    affiliation: Annotated[str, column(Team, "affiliation")] = "",
    answers: Answers | None = None,
) -> Team:
    """Create a team with you as captain. If the task requires no approval, the team can take part immediately.

    A team of someone who organizes the task, or did, has no rank.
    """
    own = Membership.objects.filter(user=call.user, shared_task=shared_task).select_related("team").first()
    if own is not None:
        raise HAS_A_TEAM(team=own.team.name, task=shared_task.title)
    require_open_teams(shared_task, call.at)
    check_team_name(shared_task, name)
    given = checked_answers(shared_task, answers or {})
    state = Team.State.APPROVED if _is_approved_at_once(call.user, shared_task) else Team.State.PENDING
    _require_free_name(shared_task, name)
    team = Team.objects.create(
        shared_task=shared_task,
        name=name,
        name_key=name_key(name),
        affiliation=affiliation,
        answers=given,
        state=state,
        decided_at=call.at if state == Team.State.APPROVED else None,
        unranked_at=call.at if _has_organized(call.user, shared_task) else None,
        created_at=call.at,
    )
    _add_member(call, team, is_captain=True)
    call.record(subject=team.audit_subject, state=state)
    if state == Team.State.PENDING:
        notify_organizers(team, call.at)
    if team.takes_part and shared_task.has_password_data:
        queue_mail(team, OutgoingMail.Kind.TEAM_APPROVED, call.user, call.at)
    return team


@action(
    who=SIGNED_IN,
    says=_("joined the team"),
    errors=[NO_SUCH_INVITATION, ORGANIZES, TEAMS_CLOSED, TEAM_FULL, HAS_A_TEAM],
    repeatable=True,
    locks=True,  # the person may be made an organizer at the same time
)
def join_team(
    call: ActionCall, shared_task: SharedTask, *, code: Annotated[str, column(Team, "invitation_code")]
) -> Membership:
    """Join the team that has this invitation code."""
    teams = Team.objects.locked()  # the last member may be leaving at the same time
    team = teams.filter(shared_task=shared_task, invitation_code=code, state__in=Team.ACTIVE).first()
    if team is None:
        raise NO_SUCH_INVITATION()
    membership = Membership.objects.filter(team=team, user=call.user).first()
    if membership is None:
        if team.unranked_at is None and _has_organized(call.user, shared_task):
            raise ORGANIZES(team=team.name)
        require_open_teams(team.shared_task, call.at)
        require_room(team)
        membership = _add_member(call, team, is_captain=False)
        call.record(subject=team.audit_subject)
    return membership


@action(who=CAPTAIN, says=_("withdrew the team"), errors=[TEAM_STATE], locks=True)
def withdraw_team(call: ActionCall, team: Team) -> None:
    """Withdraw the team permanently. Its runs are removed from the leaderboards of open phases.

    No other team can use its name.
    """
    require_state(team, *Team.ACTIVE, Team.State.DECLINED)
    withdraw(call, team)
    call.record()


@action(who=CAPTAIN, says=_("requested team approval again"), errors=[TEAM_STATE, TEAM_ANSWERS], locks=True)
def ask_again(
    call: ActionCall, team: Team, *, affiliation: Annotated[str, column(Team, "affiliation")] = "", answers: Answers
) -> None:
    """Ask the organizers to reconsider a declined team, with new answers."""
    require_state(team, Team.State.DECLINED)
    team.affiliation, team.answers = affiliation, checked_answers(team.shared_task, answers)
    team.state = Team.State.PENDING
    team.save(update_fields=["affiliation", "answers", "state"])
    call.record()
    notify_organizers(team, call.at)


def withdraw(call: ActionCall, team: Team) -> None:
    """Withdraw the team without writing an audit entry."""
    gone = {"state": Team.State.WITHDRAWN, "withdrawn_at": call.at, "data_password": "", "data_password_at": None}
    Team.objects.filter(pk=team.pk).update(**gone)
    Board.objects.filter(track__shared_task=team.shared_task).changed()


def require_state(team: Team, *states: Team.State) -> None:
    """Raise Conflict unless the team is in one of these states."""
    if team.state not in states:
        raise TEAM_STATE(state=Team.State(team.state))


def check_team_name(shared_task: SharedTask, name: str) -> None:
    """Raise Invalid if the name breaks the task's rule or contains invisible characters."""
    rules = shared_task.definition.team
    if not re.fullmatch(rules.name, name):
        raise TEAM_NAME(rule=rules.name_in_words)
    if has_invisible_characters(name):
        raise INVISIBLE_CHARACTER()


def checked_answers(shared_task: SharedTask, answers: Mapping[str, str]) -> dict[str, str]:
    """Return the answers to the task's questions.

    Raises:
        Invalid: a question has no valid answer.
    """
    given = {}
    for question in shared_task.definition.team.questions:
        answer = answers.get(question.key, "")
        if len(answer) > ANSWER_LENGTH:
            raise TOO_LONG(label=question.label, length=len(answer), limit=ANSWER_LENGTH)
        is_choice = not question.choices or answer in question.choices
        if (question.required and not answer) or (answer and not is_choice):
            raise TEAM_ANSWERS(question=question.label)
        given[question.key] = answer
    return given


def require_open_teams(shared_task: SharedTask, at: datetime) -> None:
    """Raise NotAllowed if registration has closed."""
    if shared_task.teams_are_closed(at):
        raise TEAMS_CLOSED()


def require_room(team: Team) -> None:
    """Raise Conflict if the team already has as many members as the task allows."""
    if team.is_full:
        raise TEAM_FULL(team=team.name, limit=team.shared_task.definition.team.max_members)


def _require_free_name(shared_task: SharedTask, name: str) -> None:
    """Raise Conflict if another team of the task has a name that is too similar."""
    other = shared_task.teams.filter(name_key=name_key(name)).first()
    if other is not None:
        raise NAME_TAKEN(name=name) if other.name == name else NAME_TOO_SIMILAR(name=name, other=other.name)


def _has_organized(user: User, shared_task: SharedTask) -> bool:
    """Return whether the person organizes the task, or did until they were removed, perhaps by themselves."""
    verbs = (remove_organizer.name, AuditEntry.Event.ADMIN_CHANGE)
    removed = AuditEntry.objects.filter(shared_task=shared_task, verb__in=verbs, detail__account=user.pk)
    return shared_task.is_assigned_to(user) or removed.exists()


def _is_approved_at_once(user: User, shared_task: SharedTask) -> bool:
    rules = shared_task.definition.team
    if rules.approval != "domains":
        return rules.approval == "automatic"
    addresses = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    hosts = [f".{address.rpartition('@')[2].lower()}" for address in addresses]
    return any(host.endswith(f".{domain}") for host in hosts for domain in rules.domains)


def _add_member(call: ActionCall, team: Team, *, is_captain: bool) -> Membership:
    member, is_new = Membership.objects.get_or_create(
        user=call.user,
        shared_task=team.shared_task,
        defaults={"team": team, "is_captain": is_captain, "joined_at": call.at},
    )
    if not is_new and member.team_id != team.pk:
        raise HAS_A_TEAM(team=member.team.name, task=team.shared_task.title)
    return member
