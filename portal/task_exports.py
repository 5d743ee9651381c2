"""Organizers' exports of a task. Each is a table or a zip, created for one organizer."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from stat import S_IFREG
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from stream_zip import ZIP_64, stream_zip

from portal import export
from portal.models import Board, Evaluation, Run, SharedTask, User
from portal.objects.interface import data_objects
from portal.queries.desk.team_filter import TeamFilter
from portal.queries.desk.teams import all_team_rows
from portal.queries.desk.uploads import Upload, UploadFilter, UploadRow, rejected_uploads, selected_uploads
from portal.queries.records import downloads
from portal.queries.uploads import run_body
from portal.queries.visible import audit_log
from portal.queries.working_copy import files_in, packed_files
from portal.storage import pieces_of, stored_name

MANIFEST = "manifest.json"
_PIECE = 256 * 1024  # bytes
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+|^\.+")

Content = bytes | Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Export:
    """A file to download. `name` is the last part of its URLs, on the website and in the API."""

    name: str
    title: str | Promise
    about: str | Promise
    media_type: str
    content: Callable[[SharedTask, User, datetime], Content]


def _teams(shared_task: SharedTask, _organizer: User, at: datetime) -> bytes:
    return teams_csv(shared_task, TeamFilter(), at)


def teams_csv(shared_task: SharedTask, wanted: TeamFilter, at: datetime) -> bytes:
    """Return the selected teams as CSV, with a row for each member."""
    questions = shared_task.definition.team.questions
    head = ["team", "state", "affiliation", "name", "address", "captain", "joined_at", "team_created_at", "team_runs"]
    head += ["signed", "downloads", "uploads", "rejected_uploads", "valid_runs", "last_seen"]
    lines = [
        [
            *(row.team.name, row.team.state, row.team.affiliation),
            *(member.user.name, member.user.email, "yes" if member.is_captain else "no", member.joined_at.isoformat()),
            *(row.team.created_at.isoformat(), row.runs, "yes" if row.has_signed else "no", row.downloads),
            *(row.uploads, row.rejected, row.valid_runs, row.seen_on.isoformat() if row.seen_on else ""),
            *(row.team.answers.get(question.key, "") for question in questions),
        ]
        for row in all_team_rows(shared_task, wanted, at)
        for member in row.members
    ]
    return export.table([[*head, *(question.key for question in questions)], *lines])


def _downloads(shared_task: SharedTask, _organizer: User, _at: datetime) -> bytes:
    return export.downloads_csv(downloads(shared_task))


def _scores(shared_task: SharedTask, organizer: User, at: datetime) -> bytes:
    head = ["phase", "track", "kind", "team", "run", "number", "run_id", "received_at", "withdrawn"]
    lines: list[list[Any]] = [[*head, "replaced_by", "official", "gold_version", "scorer", "metric", "value"]]
    boards = Board.objects.filter(track__shared_task=shared_task, gold__isnull=False).defer("comparison")
    for board in boards.select_related("phase", "track", "gold").order_by("phase__position", "track__position"):
        lines += _scores_of(board, Evaluation.objects.visible_to(organizer, at))
    return export.table(lines)


def _scores_of(board: Board, seen: Any) -> Iterator[list[Any]]:
    """Yield a row per run and metric, for all runs scored with the board's gold and scorer versions."""
    assert board.gold is not None
    official = set(seen.official(board.phase, board.gold, board.scorer).values_list("pk", flat=True))
    found = seen.filter(phase=board.phase, gold=board.gold, scorer=board.scorer).defer("details")
    for evaluation in found.select_related("run__team", "run__submission").order_by("run__received_at", "run__name"):
        run = evaluation.run
        about = [board.phase.slug, board.track.slug, run.kind, run.team.name if run.team else "", run.name, run.number]
        about += [str(run.pk), run.received_at.isoformat(), "yes" if run.withdrawn_at else "no"]
        about += [run.submission.replaced_by_id or "" if run.submission else ""]
        about += ["yes" if evaluation.pk in official else "no", board.gold.version, board.scorer]
        yield from ([*about, metric, value] for metric, value in evaluation.scores.items())


def _audit_table(shared_task: SharedTask, _organizer: User, _at: datetime) -> bytes:
    head = ["at", "name", "address", "verb", "subject", "detail"]
    lines = []
    for entry in _audit(shared_task):
        entry["at"], entry["detail"] = entry["at"].isoformat(), json.dumps(entry["detail"], ensure_ascii=False)
        lines.append([entry[name] for name in head])
    return export.table([head, *lines])


def _audit_json(shared_task: SharedTask, _organizer: User, _at: datetime) -> bytes:
    return export.as_json(list(_audit(shared_task)))


def _audit(shared_task: SharedTask) -> Iterator[dict[str, Any]]:
    """Yield the audit log, newest first. Entries made by the portal itself have no name."""
    for entry in audit_log(shared_task):
        name, address = (entry.actor.name, entry.actor.email) if entry.actor else ("", "")
        about = {"at": entry.at, "name": name, "address": address}
        yield about | {"verb": entry.verb, "subject": entry.subject, "detail": entry.detail}


def _runs(shared_task: SharedTask, _organizer: User, at: datetime) -> Iterator[bytes]:
    """Yield a zip of all runs that were not rejected, exactly as uploaded. The manifest comes last."""
    found = Run.objects.filter(track__shared_task=shared_task).exclude(state=Run.State.REJECTED)
    runs = found.exclude(kind=Run.Kind.GOLD).select_related("team", "track", "phase", "submission")
    ordered = list(runs.order_by("phase__position", "track__position", "received_at", "pk"))
    return iter(stream_zip(_entries(shared_task, ordered, at)))


def _entries(shared_task: SharedTask, runs: Iterable[Run], at: datetime) -> Iterator[tuple[Any, ...]]:
    """Yield the entries of the zip. Each run is kept in memory only while it is being sent."""
    listed = []
    for run in runs:
        about = _about(run)
        try:
            content = run_body(run)
        except OSError:
            listed.append(about | {"path": None, "problem": "its file cannot be read"})
            continue
        path = path_of(run)
        listed.append(about | {"path": path, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()})
        yield path, run.received_at, S_IFREG | 0o644, ZIP_64, [content]
    body = export.as_json({"shared_task": shared_task.slug, "made_at": at, "runs": listed})
    yield MANIFEST, at, S_IFREG | 0o644, ZIP_64, [body]


def uploads_zip(shared_task: SharedTask, wanted: UploadFilter, at: datetime) -> Iterator[bytes]:
    """Yield a zip of the selected uploads, exactly as received. The manifest comes last.

    The manifest also lists uploads that were rejected on receipt. Their files are not stored.
    """
    return iter(stream_zip(_upload_entries(shared_task, wanted, at)))


def _upload_entries(shared_task: SharedTask, wanted: UploadFilter, at: datetime) -> Iterator[tuple[Any, ...]]:
    """Yield the entries of the zip. Each file is read in pieces while it is being sent."""
    listed = []
    for upload in selected_uploads(shared_task, wanted).order_by("received_at", "pk").iterator(chunk_size=500):
        about = _about_upload(upload) | {"sha256": upload.sha256}
        try:
            file = data_objects().open(stored_name(upload.sha256))
        except OSError:
            listed.append(about | {"path": None, "problem": "its file cannot be read"})
            continue
        names = (_UNSAFE.sub("_", upload.team.name), f"{upload.pk.hex[:12]}_{_UNSAFE.sub('_', upload.file_name)}")
        path = "/".join(("uploads", upload.phase.slug, *names))
        listed.append(about | {"path": path})
        with closing(file):
            yield path, upload.received_at, S_IFREG | 0o644, ZIP_64, iter(partial(file.read, _PIECE), b"")
    why = {"path": None, "problem": "it was rejected on receipt"}
    rejected = rejected_uploads(shared_task, wanted).order_by("received_at", "pk")
    listed += [_about_upload(upload) | why for upload in rejected]
    body = export.as_json({"shared_task": shared_task.slug, "made_at": at, "uploads": listed})
    yield MANIFEST, at, S_IFREG | 0o644, ZIP_64, [body]


def _about_upload(upload: Upload) -> dict[str, Any]:
    row = UploadRow(upload)
    return {
        "id": upload.pk,
        "team": upload.team.name,
        "phase": upload.phase.slug,
        "file_name": upload.file_name,
        "size": upload.size,
        "state": row.state,
        "problem_codes": row.codes,
        "received_at": upload.received_at,
    }


def _folder(shared_task: SharedTask, _organizer: User, _at: datetime) -> Iterator[bytes]:
    """Yield a zip of the task's folder as it was last applied, in a folder with the task's name."""
    files = files_in(shared_task.definition.folder)
    return iter(
        stream_zip(packed_files({f"{shared_task.slug}/{path}": pieces_of(file) for path, file in files.items()}))
    )


def path_of(run: Run) -> str:
    """Return the run's path in the zip. No team or file name can lead out of the folder or to another run's path."""
    team = _UNSAFE.sub("_", run.team.name) if run.team else run.kind
    return f"runs/{run.phase.slug}/{run.track.slug}/{team}/{run.pk.hex[:12]}_{_UNSAFE.sub('_', run.name)}"


def _about(run: Run) -> dict[str, Any]:
    return {
        "id": run.pk,
        "kind": run.kind,
        "run": run.name,
        "number": run.number,
        "team": run.team.name if run.team else None,
        "phase": run.phase.slug,
        "track": run.track.slug,
        "state": run.state_shown(scores_are_visible=True),
        "received_at": run.received_at,
        "withdrawn_at": run.withdrawn_at,
        "submission": run.submission_id,
        "replaced_by": run.submission.replaced_by_id if run.submission else None,
        "upload_sha256": run.file_sha256,
        "method": run.method,
        "system_type": run.system_type,
        "description": run.description,
        "link": run.link,
        "fields": run.fields,
    }


_CSV, _JSON, _ZIP = "text/csv; charset=utf-8", "application/json", "application/zip"
EXPORTS = {
    exported.name: exported
    for exported in (
        Export(
            "teams.csv",
            _("Teams"),
            _("One row per member: email address, the team’s answers, uploads, valid runs and more."),
            _CSV,
            _teams,
        ),
        Export(
            "runs.zip",
            _("Runs"),
            _("Every run that was not rejected, exactly as uploaded, and a manifest with all SHA-256 checksums."),
            _ZIP,
            _runs,
        ),
        Export("scores.csv", _("Scores"), _("One row per run and metric, at full precision."), _CSV, _scores),
        Export("downloads.csv", _("Downloads"), _("Who downloaded which data and when."), _CSV, _downloads),
        Export("audit.csv", _("Audit log, CSV"), _("Who did what and when."), _CSV, _audit_table),
        Export(
            "task.zip",
            _("Task folder"),
            _("The rules, pages, items and baselines as last applied, without gold, votes and datasets."),
            _ZIP,
            _folder,
        ),
        Export("audit.json", _("Audit log, JSON"), _("The same log with all recorded details."), _JSON, _audit_json),
    )
}
