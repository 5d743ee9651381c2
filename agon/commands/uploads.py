"""`uploads`: all uploads of a task that you organize, including rejected ones, with their problems and files."""

import argparse
from collections.abc import Sequence
from itertools import islice

from agon.answers import OrganizedUpload
from agon.commands import (
    chosen_task,
    declare,
    print_json,
    report_of,
    saving_options,
    say,
    show,
    show_paths,
    table,
    task_option,
)
from agon.commands.task import portal_of
from agon.errors import RunInvalid, WrongUsage
from agon.organizing import OrganizersPortal
from scoring.commands.parser import Parser
from scoring.reports.printing import report_text

ACTIONS = {
    "list": "list the uploads, newest first",
    "report": "show every problem in an upload, in the format of agon check",
    "download": "download an upload's file",
}
FILTERS = {
    "search": "part of the file name, the team's name or the sender's name",
    "state": "waiting, accepted, rejected, failed, replaced or withdrawn",
    "code": "code of a problem",
    "track": "slug of a track",
    "phase": "slug of a phase",
    "team": "name of the team",
}
SHOWN = 50


def add_options(parser: Parser, _command: str) -> None:
    actions = parser.add_actions()
    for action, purpose in ACTIONS.items():
        own = actions.add_parser(action, help=purpose, description=f"{purpose.capitalize()}.")
        task_option(own)
        if action == "list":
            for name, meaning in FILTERS.items():
                own.add_argument(f"--{name}", default="", metavar=name.upper(), help=meaning)
            own.add_argument("--all", action="store_true", help=f"list all uploads, not only the newest {SHOWN}")
        else:
            own.add_argument("upload", metavar="UPLOAD", help="id of the upload, or at least its first 8 characters")
        if action == "download":
            saving_options(own, "file", "an existing file")
        declare(own, globals()[f"_{action}"])


def _list(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    found = portal.uploads(task, **{name: getattr(options, name) for name in FILTERS})
    uploads = list(found if options.all else islice(found, SHOWN))
    show(options, uploads, lambda: _text(uploads))
    return 0


def _text(uploads: Sequence[OrganizedUpload]) -> str:
    rows = []
    for upload in uploads:
        runs = ", ".join(f"{run.track} {run.state}" for run in upload.runs)
        about = (upload.id[:8], upload.file_name, upload.team, upload.phase, upload.state)
        rows.append((*about, runs, " ".join(upload.problem_codes), upload.received_at))
    return table(["id", "file", "team", "phase", "state", "runs", "problems", "received"], rows)


def _find(portal: OrganizersPortal, task: str, given: str) -> OrganizedUpload:
    """Return the only upload whose id begins like this.

    Raises:
        WrongUsage: no upload matches, or several do.
    """
    found = [upload for upload in portal.uploads(task, search=given) if upload.id.startswith(given)]
    if len(found) == 1:
        return found[0]
    if found:
        raise WrongUsage(f"{len(found)} uploads match {given}. Use the whole id of one:\n\n{_text(found)}")
    raise WrongUsage(f"{task} has no upload with the id {given}. “agon uploads list -t {task}” lists them.")


def _report(options: argparse.Namespace) -> int:
    """Print the upload's report. Return 3 if the upload was rejected."""
    portal, task = portal_of(options), chosen_task(options.slug)
    upload = _find(portal, task, options.upload)
    found = portal.upload_problems(task, upload.id)
    if options.json is None:
        tracks = [run.track for run in upload.runs]
        say(report_text(report_of(found.problems), upload.file_name, tracks=tracks))
    else:
        print_json({"ok": found.state != "rejected", "problems": found.problems}, options.json)
    return 0 if found.state != "rejected" else RunInvalid.exit_code


def _download(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    upload = _find(portal, task, options.upload)
    if not upload.is_stored:
        raise WrongUsage(f"{upload.file_name} was rejected on receipt, so its file was not stored.")
    show_paths(options, [portal.download_upload(task, upload, options.path, force=options.overwrite)])
    return 0
