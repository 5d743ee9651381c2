"""Messages to teams: their previews, and what was sent, with the state of each delivery."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet
from django.utils.safestring import SafeString

from portal.markdown import render
from portal.models import MailedMessage, MessageRecipient, OutgoingMail, SharedTask, Team, TeamMessage, User, Viewer
from portal.models.team_message import filled_in
from portal.queries.quota import remaining

PAGE_SIZE = 50
_State = OutgoingMail.State


@dataclass(frozen=True, slots=True)
class MessageLine:
    """A message with the number of its recipients, and how many of its emails are in each state."""

    message: TeamMessage
    recipients: int
    states: list[tuple[str, int]]  # labels of OutgoingMail.State that occur


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message, a page of its recipients, and how one of them reads it."""

    line: MessageLine
    recipients: Page[MessageRecipient]
    shown: MessageRecipient
    subject: str
    html: SafeString


def sent_messages(shared_task: SharedTask, page: str) -> tuple[Page[TeamMessage], list[MessageLine]]:
    """Return a page of the messages that were sent, newest first. The number of statements is constant."""
    rows = shared_task.team_messages.filter(sent_at__isnull=False).select_related("by").order_by("-sent_at", "-pk")
    found = Paginator(rows, PAGE_SIZE).get_page(page)
    return found, _lines(list(found.object_list))


def readable_messages(shared_task: SharedTask, user: Viewer) -> QuerySet[TeamMessage]:
    """Select the messages that were sent, and those that this organizer has prepared."""
    own = Q(sent_at__isnull=False) | Q(by=user.pk)
    return shared_task.team_messages.select_related("shared_task", "by").filter(own)


def prepared_message(shared_task: SharedTask, user: User) -> TeamMessage | None:
    """Return the message that the person has prepared but not sent, if any."""
    return TeamMessage.objects.unsent_of(user, shared_task).first()


def message_view(message: TeamMessage, page: str, recipient: int | None, at: datetime) -> MessageView:
    """Return the message as this recipient reads it or, if it is not a recipient, as the first one does."""
    rows = message.recipients.select_related("team__shared_task", "user", "mail")
    shown = (rows.filter(pk=recipient).first() if recipient is not None else None) or rows[0]
    mailed = mailed_message(message, shown.team, shown.user, at)
    (line,) = _lines([message])
    return MessageView(line, Paginator(rows, PAGE_SIZE).get_page(page), shown, mailed.subject, mailed.html)


def mailed_message(message: TeamMessage, team: Team, user: User, at: datetime) -> MailedMessage:
    """Return the subject and the text of the message for this member of the team."""
    captain = team.memberships.filter(is_captain=True).select_related("user").first()
    values = {
        "team": team.name,
        "captain": str(captain.user) if captain else "",
        "runs_left": _runs_left(team, user, at),
    }
    html = render(filled_in(message.text, values, as_markdown=True))
    return MailedMessage(filled_in(message.subject, values), filled_in(message.text, values), html)


def _runs_left(team: Team, user: User, at: datetime) -> str:
    """Return the number of runs left in the open phase that closes first or, if it has several tracks, for each."""
    phases = [phase for phase in team.shared_task.phases.prefetch_related("extra_times") if phase.is_open(at, team.pk)]
    if not phases:
        return "0"
    phase = min(phases, key=lambda phase: phase.closing_order(team.pk))
    limits = remaining(team, user, phase, at)
    counts = [(limit.track.slug, "∞" if limit.left is None else str(limit.left)) for limit in limits]
    return counts[0][1] if len(counts) == 1 else ", ".join(f"{track}: {left}" for track, left in counts)


def _lines(messages: Sequence[TeamMessage]) -> list[MessageLine]:
    columns = {state: Count("pk", filter=Q(mail__state=state)) for state in _State.values}
    rows = MessageRecipient.objects.filter(message__in=[message.pk for message in messages]).order_by()
    found = rows.values("message").annotate(people=Count("pk"), **columns)
    counts: dict[int, dict[str, Any]] = {row["message"]: dict(row) for row in found}
    return [
        MessageLine(
            message=message,
            recipients=counts[message.pk]["people"],
            states=[(str(state.label), n) for state in _State if (n := counts[message.pk][state.value])],
        )
        for message in messages
    ]
