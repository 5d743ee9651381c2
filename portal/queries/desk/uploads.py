"""All uploads of a task for its organizers, rejected ones included, newest first, with filters and pages."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.db.models.enums import TextChoices
from django.utils.translation import gettext_lazy as _

from portal.models import RejectedUpload, Run, SharedTask, Submission
from scoring.limits import EARLIEST, LATEST

PAGE_SIZE = 50
_ID = re.compile(r"[0-9a-f]{8,32}", re.ASCII)
Upload = Submission | RejectedUpload


class UploadState(TextChoices):
    """States that organizers can filter by."""

    WAITING = "waiting", _("waiting to be checked")
    ACCEPTED = "accepted", _("accepted")
    REJECTED = "rejected", _("rejected")
    FAILED = "failed", _("failed on our side")
    REPLACED = "replaced", _("replaced")
    WITHDRAWN = "withdrawn", _("with a withdrawn run")


@dataclass(frozen=True, slots=True)
class UploadFilter:
    """Which uploads are shown. An empty value selects all."""

    search: str = ""  # in the names of file and team and the sender's name and address, or the beginning of its id
    state: str = ""  # an UploadState
    code: str = ""  # the code of one of its problems
    track: str = ""  # the slug of a track for which it has a run
    phase: str = ""
    team: str = ""  # the team's name, in any case

    @property
    def is_empty(self) -> bool:
        return self == UploadFilter()


@dataclass(frozen=True, slots=True)
class UploadRow:
    """An upload in the table. Uploads that were rejected on receipt have no runs and no stored file."""

    upload: Upload
    runs: list[Run] = field(default_factory=list)

    @property
    def is_stored(self) -> bool:
        return isinstance(self.upload, Submission)

    @property
    def state(self) -> str:
        return self.upload.state if isinstance(self.upload, Submission) else Submission.State.REJECTED

    @property
    def codes(self) -> list[str]:
        """The codes of all problems in the upload and its runs."""
        return self.upload.problem_codes.split()

    @property
    def problems(self) -> list[dict[str, Any]]:
        """All problems in the upload and its runs."""
        return [*self.upload.problems, *chain.from_iterable(run.problems for run in self.runs)]

    @property
    def run_states(self) -> list[tuple[Run, str]]:
        """The runs with their states as organizers see them."""
        return [(run, run.state_shown(scores_are_visible=True)) for run in self.runs]


@dataclass(frozen=True, slots=True)
class UploadPage:
    """A page of uploads. `older` is the cursor of the next page, or empty on the last one."""

    rows: list[UploadRow]
    older: str


def uploads_page(shared_task: SharedTask, wanted: UploadFilter, cursor: str = "", size: int = PAGE_SIZE) -> UploadPage:
    """Return the uploads after the cursor, newest first. The number of statements is constant."""
    after = read_cursor(cursor)
    stored, rejected = selected_uploads(shared_task, wanted), rejected_uploads(shared_task, wanted)
    found: list[Upload] = [*_first(stored, after, size + 1), *_first(rejected, after, size + 1)]
    found.sort(key=attrgetter("received_at", "pk"), reverse=True)
    shown = found[:size]
    older = written_cursor(shown[-1]) if len(found) > size else ""
    return UploadPage([_row(upload) for upload in shown], older)


def find_upload(shared_task: SharedTask, pk: UUID) -> UploadRow | None:
    """Return the task's upload with this key, or None if there is none."""
    stored = shared_task.submissions.filter(pk=pk).prefetch_related("runs__track").first()
    if stored is not None:
        return _row(stored)
    rejected = shared_task.rejected_uploads.filter(pk=pk).first()
    return None if rejected is None else UploadRow(rejected)


def selected_uploads(shared_task: SharedTask, wanted: UploadFilter) -> QuerySet[Submission]:
    """Select the stored uploads, with what a row shows."""
    runs = Run.objects.defer("problems").select_related("track").order_by("track__position", "number", "pk")
    rows = shared_task.submissions.select_related("phase", "team", "sent_by").defer("problems")
    rows = rows.filter(_common(wanted)).prefetch_related(Prefetch("runs", queryset=runs))
    own_runs = Run.objects.filter(submission=OuterRef("pk"))
    if wanted.track:
        rows = rows.filter(Exists(own_runs.filter(track__slug=wanted.track, track__shared_task=shared_task)))
    match wanted.state:
        case "":
            return rows
        case UploadState.WAITING:
            return rows.unchecked()
        case UploadState.FAILED:
            failed = own_runs.filter(state__in=(Run.State.FAILED, Run.State.UNSCORABLE))
            return rows.filter(Q(state=Submission.State.FAILED) | Exists(failed))
        case UploadState.REPLACED:
            return rows.filter(replaced_by__isnull=False)
        case UploadState.WITHDRAWN:
            return rows.filter(Exists(own_runs.filter(withdrawn_at__isnull=False)), replaced_by__isnull=True)
        case UploadState.ACCEPTED | UploadState.REJECTED:
            return rows.filter(state=wanted.state)
    return rows.none()


def rejected_uploads(shared_task: SharedTask, wanted: UploadFilter) -> QuerySet[RejectedUpload]:
    """Select the uploads that were rejected on receipt. They have no track, because they have no runs."""
    if wanted.track or wanted.state not in ("", UploadState.REJECTED):
        return RejectedUpload.objects.none()
    rows = shared_task.rejected_uploads.select_related("phase", "team", "sent_by").defer("problems")
    return rows.filter(_common(wanted))


def codes_of(shared_task: SharedTask) -> list[str]:
    """Return the codes of all problems in the newest uploads with problems, for the filter's choices."""
    found: set[str] = set()
    for rows in (shared_task.submissions, shared_task.rejected_uploads):
        newest = rows.exclude(problem_codes="").order_by("-received_at")
        for codes in newest.values_list("problem_codes", flat=True)[:1000]:
            found.update(codes.split())
    return sorted(found)


def _common(wanted: UploadFilter) -> Q:
    """Return the condition for what all uploads have."""
    condition = Q()
    if wanted.search:
        columns = ("file_name", "team__name", "sent_by__name", "sent_by__email")
        found = Q(*((f"{column}__icontains", wanted.search) for column in columns), _connector=Q.OR)
        condition &= found | _with_id(wanted.search)
    if wanted.code:
        condition &= Q(problem_codes__contains=f" {wanted.code} ")
    if wanted.phase:
        condition &= Q(phase__slug=wanted.phase)
    if wanted.team:
        condition &= Q(team__name__iexact=wanted.team)
    return condition


def _with_id(beginning: str) -> Q:
    """Return the condition that an upload's id begins with this text, if it can: eight hexadecimal digits or more."""
    digits = beginning.replace("-", "").lower()
    if not _ID.fullmatch(digits):
        return Q(pk__in=[])
    return Q(pk__range=(UUID(hex=digits.ljust(32, "0")), UUID(hex=digits.ljust(32, "f"))))


def _first(rows: QuerySet[Any], after: tuple[datetime, UUID] | None, size: int) -> Iterable[Any]:
    if after is not None:
        at, key = after
        rows = rows.filter(Q(received_at__lt=at) | Q(received_at=at, pk__lt=key), received_at__lte=at)
    return rows.order_by("-received_at", "-pk")[:size]


def _row(upload: Upload) -> UploadRow:
    if not isinstance(upload, Submission):
        return UploadRow(upload)
    runs = list(upload.runs.all())
    for run in runs:
        run.submission = upload
    return UploadRow(upload, runs)


def written_cursor(upload: Upload) -> str:
    """Return the text that stands for the place after this upload."""
    return f"{upload.received_at.isoformat()}_{upload.pk.hex}"


def read_cursor(text: str) -> tuple[datetime, UUID] | None:
    """Return the place that the text stands for, or None if it is not one: then the list starts at its beginning."""
    moment, _separator, key = text.partition("_")
    try:
        at, found = datetime.fromisoformat(moment), UUID(hex=key)
    except ValueError:
        return None
    return (at, found) if at.tzinfo is not None and EARLIEST <= at < LATEST else None
