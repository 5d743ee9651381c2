"""Records for organizers: sent emails, the audit log and downloads."""

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from portal.models import AuditEntry, Download, OutgoingMail, SharedTask, Team
from portal.models.task import DatasetDefinition, StoredDataset
from portal.queries.audit_words import ActionWords, event_words
from portal.queries.visible import audit_log

PAGE_SIZE = 100
TEAM_DOWNLOADS = 20


def mails(shared_task: SharedTask, page: str, kind: str = "", state: str = "") -> Page[OutgoingMail]:
    """Return a page of a task's emails, newest first, optionally filtered by kind and state."""
    rows = OutgoingMail.objects.filter(shared_task=shared_task).select_related("team").order_by("-queued_at", "pk")
    wanted = {name: value for name, value in (("kind", kind), ("state", state)) if value}
    return Paginator(rows.filter(**wanted), PAGE_SIZE).get_page(page)


def audit_entries(shared_task: SharedTask, page: str, verb: str = "") -> Page[AuditEntry]:
    """Return a page of a task's audit log, newest first, optionally for only one kind of event."""
    return Paginator(audit_log(shared_task, verb), PAGE_SIZE).get_page(page)


def audit_verbs(shared_task: SharedTask, actions: ActionWords) -> list[tuple[str, str]]:
    """Return the kinds of events in the task's log, with words for each."""
    verbs = audit_log(shared_task).order_by("verb")
    return [(verb, event_words(verb, actions)) for verb in verbs.values_list("verb", flat=True).distinct()]


def downloads(shared_task: SharedTask) -> QuerySet[Download]:
    """Return the downloads of the task's data, newest first."""
    return shared_task.downloads.select_related("user", "team").order_by("-at", "-pk")


def download_count(shared_task: SharedTask, dataset: DatasetDefinition, stored: StoredDataset) -> int:
    """Count the downloads of this version of the file, not including resumed ones."""
    return shared_task.downloads.filter(dataset=dataset.slug, sha256=stored.sha256, first_byte=0).count()


def downloads_page(shared_task: SharedTask, page: str) -> Page[Download]:
    """Return a page of the downloads of the task's data, newest first."""
    return Paginator(downloads(shared_task), PAGE_SIZE).get_page(page)


def team_downloads(team: Team) -> QuerySet[Download]:
    """Return the most recent downloads by members of a team."""
    return downloads(team.shared_task).filter(team=team)[:TEAM_DOWNLOADS]
