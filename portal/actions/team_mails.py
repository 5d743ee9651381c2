"""Emails about a team. Their outbox rows are written in the action's transaction."""

from datetime import datetime
from typing import Any

from django.db import transaction

from portal import jobs
from portal.models import OutgoingMail, Team, User


def queue_mail(team: Team, kind: OutgoingMail.Kind, to: User | str, at: datetime, **details: Any) -> OutgoingMail:
    """Add a row to the outbox and queue a message after the commit. `to` is an account or an address."""
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


def notify_organizers(team: Team, at: datetime) -> None:
    """Queue an email to each organizer, saying that the team is waiting for approval. The sweep sends these emails."""
    for organizer in team.shared_task.organizers.filter(is_active=True).order_by("pk"):
        OutgoingMail.objects.notify(
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
