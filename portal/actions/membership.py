"""What members and captains do with their team: invite, leave, hand over, withdraw, ask again, renew the password."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.errors import Conflict, Invalid, LimitReached, NotAllowed
from portal.actions.team_records import audit, captain_of, locked, queue_mail, tell_organizers
from portal.actions.teams import checked_answers, require_open_teams
from portal.actions.texts import checked_field
from portal.models import AuditEntry, Board, Membership, OutgoingMail, Team, User

INVITATIONS_A_DAY = 20  # of one team, and of one person in a task, so that no one sends junk through the portal

_STANDING = (Team.State.PENDING, Team.State.APPROVED)


@transaction.atomic
def invite_by_mail(user: User, team: Team, address: str, at: datetime) -> OutgoingMail:
    """Send the team's link to an address; the person need not have an account yet.

    Raises:
        NotAllowed: the user is no member, or nobody joins the team any more.
        Invalid: it is no mail address.
        LimitReached: too many invitations of the team, or of the person for any team of the task, in 24 hours.
    """
    team = locked(team)  # in which the person stays until the end: their invitations come one after the other, too
    _membership(user, team)
    _require_state(team, _STANDING)
    require_open_teams(team.shared_task, at)
    try:
        validate_email(address)
    except ValidationError:
        raise Invalid("mail_address", _("%(address)s is no mail address.") % {"address": address}) from None
    _require_few_invitations(user, team, at)
    audit(user, team, "invite_by_mail", at, address=address)
    return queue_mail(team, OutgoingMail.Kind.INVITATION, address, at, inviter=str(user), language=user.language)


@transaction.atomic
def leave_team(user: User, team: Team, at: datetime) -> None:
    """End one's membership; a team that nobody is left in is withdrawn.

    Raises:
        Conflict: a captain whose team has other members hands it over first.
    """
    team = locked(team)
    membership = _membership(user, team)
    others = team.memberships.exclude(pk=membership.pk)
    is_last = not others.exists()
    if membership.is_captain and not is_last:
        raise Conflict("hand_over_first", _("You are the captain: hand the team over to another member first."))
    membership.delete()
    audit(user, team, "leave_team", at)
    if is_last and team.state in _STANDING:
        _withdraw(user, team, at)


@transaction.atomic
def hand_over(user: User, team: Team, member: Membership, at: datetime) -> None:
    """Make another member the captain.

    Raises:
        NotAllowed: the user is not the captain, or the other is no member of the team.
    """
    team = locked(team)
    own = _captaincy(user, team)
    if not team.memberships.filter(pk=member.pk).exclude(pk=own.pk).update(is_captain=True):
        raise NotAllowed("no_member", _("Choose another member of your team."))
    team.memberships.filter(pk=own.pk).update(is_captain=False)
    audit(user, team, "hand_over", at, captain=member.user_id)


@transaction.atomic
def withdraw_team(user: User, team: Team, at: datetime) -> None:
    """Take no further part, for good. Runs leave the boards of phases that are open; the name stays taken.

    Raises:
        NotAllowed: the user is not the captain.
        Conflict: the team is withdrawn already.
    """
    team = locked(team)
    _captaincy(user, team)
    _require_state(team, (*_STANDING, Team.State.DECLINED))
    _withdraw(user, team, at)


@transaction.atomic
def ask_again(user: User, team: Team, affiliation: str, answers: Mapping[str, str], at: datetime) -> None:
    """Put a declined team before the organizers once more, with mended answers.

    Raises:
        NotAllowed: the user is not the captain.
        Invalid: an answer is missing or wrong.
        Conflict: the team is not declined.
    """
    team = locked(team)
    _captaincy(user, team)
    _require_state(team, (Team.State.DECLINED,))
    team.affiliation = checked_field(affiliation, Team._meta.get_field("affiliation"))
    team.answers = checked_answers(team.shared_task, answers)
    team.state = Team.State.PENDING
    team.save(update_fields=["affiliation", "answers", "state"])
    audit(user, team, "ask_again", at)
    tell_organizers(team, at)


@transaction.atomic
def renew_password(user: User, team: Team, at: datetime) -> None:
    """End the team's password for the data at once and have a new one sent to the captain.

    Raises:
        NotAllowed: the user is neither the captain nor an organizer.
        Conflict: the team takes no part, or the task has no data with a password.
    """
    team = locked(team)
    if not team.shared_task.is_organized_by(user):
        _captaincy(user, team)
    _require_state(team, (Team.State.APPROVED,))
    captain = captain_of(team)
    if captain is None or not team.shared_task.has_password_data:
        raise Conflict("no_password", _("This team has no password that could be renewed."))
    Team.objects.filter(pk=team.pk).update(data_password="", data_password_at=None)
    audit(user, team, "renew_password", at)
    waiting = team.mails.filter(
        kind__in=(OutgoingMail.Kind.DATA_PASSWORD, OutgoingMail.Kind.TEAM_APPROVED),
        state=OutgoingMail.State.QUEUED,
        attempts=0,
    )
    if not waiting.exists():  # else the mail that waits will bring a new one
        queue_mail(team, OutgoingMail.Kind.DATA_PASSWORD, captain, at)


def _require_few_invitations(user: User, team: Team, at: datetime) -> None:
    a_day_ago = at - timedelta(days=1)
    by_team = team.mails.filter(kind=OutgoingMail.Kind.INVITATION, queued_at__gt=a_day_ago)
    by_person = AuditEntry.objects.filter(
        actor=user, shared_task=team.shared_task, verb="invite_by_mail", at__gt=a_day_ago
    )
    if max(by_team.count(), by_person.count()) >= INVITATIONS_A_DAY:
        message = _("A team or a person can send %(limit)d invitations a day. Share the link, or try again tomorrow.")
        raise LimitReached("too_many_invitations", message % {"limit": INVITATIONS_A_DAY})


def _withdraw(user: User, team: Team, at: datetime) -> None:
    gone = {"state": Team.State.WITHDRAWN, "withdrawn_at": at, "data_password": "", "data_password_at": None}
    Team.objects.filter(pk=team.pk).update(**gone)
    audit(user, team, "withdraw_team", at)
    Board.objects.filter(track__shared_task=team.shared_task).changed()


def _membership(user: User, team: Team) -> Membership:
    membership = team.memberships.filter(user=user).first()
    if membership is None:
        raise NotAllowed("no_member", _("Only members of the team may do that."))
    return membership


def _captaincy(user: User, team: Team) -> Membership:
    membership = _membership(user, team)
    if not membership.is_captain:
        raise NotAllowed("no_captain", _("Only the captain of the team may do that."))
    return membership


def _require_state(team: Team, states: tuple[Team.State, ...]) -> None:
    if team.state not in states:
        message = _("That cannot be done now. State of the team: %(state)s.")
        raise Conflict("team_state", message % {"state": team.get_state_display()})
