"""One team as its organizers see it: members, answers, history, downloads, uploads, emails and notes."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q
from django.utils.functional import Promise

from portal.models import AuditEntry, Download, ExtraRuns, OutgoingMail, Team, TeamNote
from portal.queries.audit_words import AuditLine, audit_line
from portal.queries.desk.teams import TeamRow, team_rows
from portal.queries.desk.uploads import UploadFilter, UploadPage, uploads_page
from portal.queries.records import team_downloads
from portal.queries.visible import audit_log

LISTED = 20  # most uploads, emails and events; each list links to all of them


@dataclass(frozen=True, slots=True)
class TeamDesk:
    """Everything about a team that its organizers see on one page."""

    row: TeamRow
    notes: list[TeamNote]
    uploads: UploadPage
    downloads: list[Download]
    mails: list[OutgoingMail]
    history: list[AuditLine]
    extra_runs: list[ExtraRuns]


def team_desk(team: Team, words: Mapping[str, str | Promise]) -> TeamDesk:
    """Return the team for its organizers. `words` are those of the actions in the audit log."""
    (row,) = team_rows(team.shared_task, [team])
    return TeamDesk(
        row=row,
        notes=list(TeamNote.objects.filter(team=team).select_related("by")),
        uploads=uploads_page(team.shared_task, UploadFilter(team=team.name), size=LISTED),
        downloads=list(team_downloads(team)),
        mails=list(team.mails.select_related("user").order_by("-queued_at", "pk")[:LISTED]),
        history=_history(row, words),
        extra_runs=list(ExtraRuns.objects.filter(team=team, runs__gt=0).select_related("phase")),
    )


def _history(row: TeamRow, words: Mapping[str, str | Promise]) -> list[AuditLine]:
    """Return the newest events about the team, and those of its members in this task except uploads."""
    of_team = Q(subject=row.team.audit_subject) | Q(actor__in=[member.user_id for member in row.members])
    events = audit_log(row.team.shared_task).filter(of_team).exclude(verb=AuditEntry.Event.SUBMIT)
    return [audit_line(event, words) for event in events[:LISTED]]
