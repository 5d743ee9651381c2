"""What organizers decide about teams."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.errors import Conflict, Invalid
from portal.actions.organizing import require_organizer
from portal.actions.team_records import audit, captain_of, locked, queue_mail
from portal.actions.texts import checked_text
from portal.models import Board, OutgoingMail, Team, User

REASON_LENGTH = 2000  # characters


@transaction.atomic
def approve_team(user: User, team: Team, at: datetime) -> None:
    """Let a team take part; the captain gets a mail, with the password for the data where the task has one.

    Raises:
        NotAllowed: the user does not organize the task.
        Conflict: the team waits for no decision.
    """
    _decide(user, team, Team.State.APPROVED, (Team.State.PENDING, Team.State.DECLINED), "", at)


@transaction.atomic
def decline_team(user: User, team: Team, reason: str, at: datetime) -> None:
    """Keep a team out, or shut an approved one out; the captain gets a mail with the reason.

    Its runs leave the boards that are not released yet; what was released with them stays as it is.

    Raises:
        NotAllowed: the user does not organize the task.
        Invalid: there is no reason, or it is too long.
        Conflict: the team is declined or withdrawn already.
    """
    reason = checked_text(reason, _("The reason"), REASON_LENGTH)
    if not reason:
        raise Invalid("no_reason", _("Write a reason: the team reads it, and may mend what it names."))
    states = (Team.State.PENDING, Team.State.APPROVED)
    _decide(user, team, Team.State.DECLINED, states, reason, at)


def _decide(
    user: User, team: Team, state: Team.State, before: tuple[Team.State, ...], reason: str, at: datetime
) -> None:
    team = locked(team)
    require_organizer(user, team.shared_task)
    if team.state not in before:
        names = {"team": team.name, "state": team.get_state_display()}
        raise Conflict("team_state", _("%(team)s is no longer to be decided on. Its state: %(state)s.") % names)
    team.state, team.reason, team.decided_at = state, reason, at
    team.data_password, team.data_password_at = "", None
    team.save(update_fields=["state", "reason", "decided_at", "data_password", "data_password_at"])
    Board.objects.filter(track__shared_task=team.shared_task).changed()
    is_approved = state == Team.State.APPROVED
    audit(user, team, "approve_team" if is_approved else "decline_team", at, reason=reason)
    captain = captain_of(team)
    if captain is not None:
        kind = OutgoingMail.Kind.TEAM_APPROVED if is_approved else OutgoingMail.Kind.TEAM_DECLINED
        queue_mail(team, kind, captain, at, reason=reason)
