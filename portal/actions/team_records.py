"""What every deed on a team leaves behind: an audit row and, for some, a mail in the outbox."""

from datetime import datetime
from typing import Any

from django.db import transaction

from portal import jobs
from portal.models import AuditEntry, OutgoingMail, Team, User


def locked(team: Team) -> Team:
    """The team as it is now, nobody else's to change until the transaction ends; uploads go on."""
    return Team.objects.select_for_update(of=("self",), no_key=True).select_related("shared_task").get(pk=team.pk)


def audit(user: User, team: Team, verb: str, at: datetime, **detail: Any) -> None:
    AuditEntry.objects.create(
        actor=user, shared_task=team.shared_task, verb=verb, subject=f"team {team.name}", detail=detail, at=at
    )


def queue_mail(team: Team, kind: OutgoingMail.Kind, to: User | str, at: datetime, **details: Any) -> OutgoingMail:
    """A row of the outbox in this transaction, and a hint on the queue when it is committed; `to` may be an address."""
    user, address = (to, to.email) if isinstance(to, User) else (None, to)
    mail = OutgoingMail.objects.create(
        shared_task=team.shared_task,
        team=team,
        user=user,
        address=address,
        kind=kind,
        details=details,
        queued_at=at,
    )
    transaction.on_commit(lambda: jobs.publish_mails([mail.pk]))
    return mail


def tell_organizers(team: Team, at: datetime) -> None:
    """A mail to each organizer that the team awaits approval; the sweep sends it."""
    for organizer in team.shared_task.organizers.filter(is_active=True).order_by("pk"):
        OutgoingMail.objects.tell(
            organizer,
            OutgoingMail.Kind.TEAM_WAITING,
            f"team {team.pk} {at.isoformat()}",
            at,
            shared_task_id=team.shared_task_id,
            team_id=team.pk,
        )


def captain_of(team: Team) -> User | None:
    captaincy = team.memberships.filter(is_captain=True).select_related("user").first()
    return captaincy.user if captaincy else None
