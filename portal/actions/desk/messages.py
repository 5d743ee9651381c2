"""Messages by email to selected teams: prepared with a preview, tested, then sent once."""

from typing import Annotated

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal import jobs
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid
from portal.actions.base.input import column
from portal.actions.base.roles import ORGANIZERS
from portal.models import Membership, MessageRecipient, OutgoingMail, SharedTask, Team, TeamMessage
from portal.models.team_message import PLACEHOLDERS, unknown_placeholders
from portal.queries.desk.team_filter import TeamFilter, selected_teams

UNKNOWN_PLACEHOLDER = Invalid.declare(
    "unknown_placeholder", _("{%(name)s} is not a placeholder. Use only these: %(known)s.")
)
NO_RECIPIENTS = Conflict.declare("no_recipients", _("No team matches the filters, so no one would get the message."))
ALREADY_SENT = Conflict.declare("already_sent", _("This message has already been sent."))
HIDDEN_TASK = Conflict.declare(
    "task_hidden", _("Teams can’t see the task at the moment, so no emails are sent to them. Open the task first.")
)
_FIRST = 20  # emails queued immediately; the sweep queues the others


@action(who=ORGANIZERS, says=_("prepared a message to teams"), errors=[UNKNOWN_PLACEHOLDER, NO_RECIPIENTS, HIDDEN_TASK])
def prepare_message(
    call: ActionCall,
    shared_task: SharedTask,
    *,
    subject: Annotated[str, column(TeamMessage, "subject", required=True)],
    text: Annotated[str, column(TeamMessage, "text", required=True)],
    audience: TeamMessage.Audience = TeamMessage.Audience.MEMBERS,
    wanted: TeamFilter | None = None,
    team: Team | None = None,
) -> TeamMessage:
    """Prepare a message to the selected teams, to one `team` or to all, and fix who gets it. Nothing is sent yet.

    `text` is Markdown. In it and in the subject, {team}, {captain} and {runs_left} are replaced. A message
    replaces the one that you prepared before in this task, unless that was sent.
    """
    if unknown := unknown_placeholders(f"{subject} {text}"):
        raise UNKNOWN_PLACEHOLDER(name=unknown[0], known=", ".join(f"{{{name}}}" for name in PLACEHOLDERS))
    if shared_task.state != SharedTask.State.OPEN:
        raise HIDDEN_TASK()
    teams = selected_teams(shared_task, wanted or TeamFilter(), call.at)
    if team is not None:
        teams = teams.filter(pk=team.pk)
    people = Membership.objects.filter(team__in=teams.order_by().values("pk"), user__is_active=True)
    if audience == TeamMessage.Audience.CAPTAINS:
        people = people.filter(is_captain=True)
    found = list(people.order_by("team__name", "-is_captain", "joined_at", "pk").values_list("team", "user"))
    if not found:
        raise NO_RECIPIENTS()
    TeamMessage.objects.unsent_of(call.user, shared_task).delete()
    message = TeamMessage.objects.create(
        shared_task=shared_task, subject=subject, text=text, audience=audience, by=call.user, prepared_at=call.at
    )
    MessageRecipient.objects.bulk_create(
        [MessageRecipient(message=message, team_id=of_team, user_id=user) for of_team, user in found], batch_size=500
    )
    call.record(subject=message.audit_subject, recipients=len(found))
    return message


@action(who=ORGANIZERS, says=_("sent themselves a test of a message"))
def send_test_message(call: ActionCall, message: TeamMessage, *, recipient: int | None = None) -> None:
    """Email the message to yourself, as this recipient would get it or, without one, as the first would."""
    rows = message.recipients.all()
    shown = (rows.filter(pk=recipient) if recipient is not None else rows).first() or rows.first()
    details = {
        "message": message.pk,
        "team": shown.team_id if shown else None,
        "user": shown.user_id if shown else None,
    }
    mail = OutgoingMail.objects.create(
        kind=OutgoingMail.Kind.MESSAGE,
        shared_task=message.shared_task,
        user=call.user,
        address=call.user.email,
        details=details,
        queued_at=call.at,
    )
    call.record()
    transaction.on_commit(lambda: jobs.publish_mails([mail.pk]))


@action(who=ORGANIZERS, says=_("sent a message to teams"), errors=[HIDDEN_TASK], repeatable=True, locks=True)
def send_message(call: ActionCall, message: TeamMessage) -> TeamMessage:
    """Send the message to exactly the people in its preview, once. A repeated call sends nothing."""
    if message.sent_at is not None:
        return message
    if message.shared_task.state != SharedTask.State.OPEN:
        raise HIDDEN_TASK()
    recipients = list(message.recipients.select_related("user"))
    for recipient in recipients:
        recipient.mail = OutgoingMail(
            kind=OutgoingMail.Kind.MESSAGE,
            shared_task=message.shared_task,
            team_id=recipient.team_id,
            user=recipient.user,
            address=recipient.user.email,
            occasion=message.occasion,
            details={"message": message.pk},
            queued_at=call.at,
        )
    mails = OutgoingMail.objects.bulk_create(
        [recipient.mail for recipient in recipients if recipient.mail], batch_size=500
    )
    MessageRecipient.objects.bulk_update(recipients, ["mail"], batch_size=500)
    message.sent_at = call.at
    message.save(update_fields=["sent_at"])
    call.record(recipients=len(recipients))
    transaction.on_commit(lambda: jobs.publish_mails([mail.pk for mail in mails[:_FIRST]]))
    return message


@action(who=ORGANIZERS, says=_("discarded a message to teams"), errors=[ALREADY_SENT], locks=True)
def discard_message(call: ActionCall, message: TeamMessage) -> None:
    """Delete a message that has not been sent."""
    if message.sent_at is not None:
        raise ALREADY_SENT()
    call.record()
    message.delete()
