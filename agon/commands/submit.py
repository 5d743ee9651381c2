"""`submit`: upload a run or a zip of several runs, and wait for the result."""

import argparse
import re
from pathlib import Path

from msgspec.structs import replace

from agon.answers import Phase, Submission, Validation
from agon.commands import (
    chosen_task,
    confirmed,
    declare,
    keyed_texts,
    known,
    note,
    portal_of,
    print_json,
    progress_of,
    report_of,
    say,
    seconds,
    task_option,
    watch_of,
)
from agon.commands.runs import run_text
from agon.downloads import sha256_of
from agon.errors import AgonError, NotAllowed, RunInvalid, WrongUsage
from agon.portal import WAIT, Portal
from scoring.commands.parser import OptionalValue
from scoring.reports.printing import report_text
from scoring.uploads.folders import zipped

_NOT_ALLOWED = ("phase_closed", "no_runs_left")


def add_options(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="run file, zip of several runs, or folder; the naming rules are the same as for agon check",
    )
    task_option(parser)
    parser.add_argument(
        "-m", "--message", default="", metavar="MESSAGE", help="description of the runs, which others can read"
    )
    parser.add_argument(
        "--field",
        action="append",
        default=[],
        metavar="KEY=TEXT",
        help="fill in one of the task's run fields, such as the model; repeat this option for each field",
    )
    parser.add_argument(
        "--phase", default="", metavar="PHASE", help="phase (default: the open phase that closes first)"
    )
    parser.add_argument(
        "--slot", default="", choices=["primary", "contrastive"], help="slot for the run, if the phase has slots"
    )
    parser.add_argument(
        "--wait",
        action=OptionalValue,
        takes_next=str.isdecimal,
        type=wait_seconds,
        metavar="[=SECONDS]",
        help="wait until the runs are scored or, while scores are hidden, until they are checked, for at most SECONDS "
        f"(default: {WAIT:g})",
    )
    parser.add_argument("--dry-run", action="store_true", help="validate the file on the portal without submitting it")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    declare(parser, run)


def wait_seconds(text: str) -> float:
    """Read the value of `--wait`. Without a value, wait for the default time."""
    return seconds(text) if text else WAIT


def run(options: argparse.Namespace) -> int:
    """Show what will be submitted, ask for confirmation, and submit. A folder is packed first."""
    if not options.file.is_dir():
        return _run(options)
    with zipped(options.file) as options.file:
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    if not options.file.is_file():
        raise WrongUsage(f"File not found: {options.file}.")
    if options.phase:
        known("phase", options.phase, (one.slug for one in portal.phases(task)))
    phase = options.phase or portal.open_phase(task)
    if options.dry_run:
        wait = WAIT if options.wait is None else options.wait
        return _validated(options, portal.validate(options.file, task, phase=phase, slot=options.slot, wait=wait))
    fields = _checked_fields(portal, task, keyed_texts(options.field, "run field"))
    if not options.quiet or not options.yes:
        note(_summary(portal, task, phase, options))
    if not confirmed(options, "Submit this file?", "Nothing was submitted."):
        return 1
    sent = portal.submit(
        options.file,
        task,
        phase=phase,
        slot=options.slot,
        message=options.message,
        fields=fields,
        progress=progress_of(options, options.file.name),
    )
    if not options.quiet:
        note(f"Submitted: {sent.id}, SHA-256 {sent.sha256}.")
    if sent.not_described:
        note(f"{sent.id} was submitted, but the description was not saved: {sent.not_described}")
    if options.wait is not None:
        sent = replace(
            portal.wait(task, sent.id, options.wait, watch=watch_of(options)), not_described=sent.not_described
        )
    _print(options, sent)
    return _exit_code(sent)


def _checked_fields(portal: Portal, task: str, given: dict[str, str]) -> dict[str, str]:
    """Return the texts of the run fields. If one is missing or unknown, nothing has been uploaded yet."""
    fields = portal.task(task).run_fields
    labels = {one.key: one.label for one in fields}
    if unknown := given.keys() - labels.keys():
        there = "".join(f"\n  {key}: {label}" for key, label in labels.items()) or " none"
        raise WrongUsage(f"Unknown run field {min(unknown)}. The task's run fields:{there}")
    missing = [one for one in fields if one.required and not given.get(one.key, "").strip()]
    if missing:
        options = "".join(f'\n  --field {one.key}="…"  {one.label}' for one in missing)
        raise WrongUsage(f"The task requires these run fields. Add to the command:{options}")
    return given


def _summary(portal: Portal, task: str, slug: str, options: argparse.Namespace) -> str:
    """Summarize the file, its destination, and the remaining limits."""
    found = portal.task(task)
    phase = next(one for one in portal.phases(task) if one.slug == slug)
    path = options.file
    lines = [f"{path.name} ({path.stat().st_size} bytes, SHA-256 {sha256_of(path)[:12]}…)"]
    lines += [f"to {found.title}, {phase.title}, as {found.your_team or 'yourself'} on {portal.address}"]
    lines += [_replacing(phase)] if phase.submissions == 1 else []
    lines += [_left(phase, path.name)] if phase.limits else []
    return "\n".join(lines)


def _replacing(phase: Phase) -> str:
    """Say that the phase keeps one upload per team, and which earlier one this upload replaces."""
    if phase.replaces is None:
        return "Each team has one submission in this phase. A later upload replaces this one and all its runs."
    earlier = f"{phase.replaces.file_name}, {phase.replaces.received_at:%Y-%m-%d %H:%M} UTC"
    return f"As soon as this upload is accepted, it replaces your earlier submission, with all its runs: {earlier}."


def _left(phase: Phase, file_name: str) -> str:
    """List the runs left in the track of the file. If it is an archive, or its name has no track, list all tracks."""
    is_archive = file_name.casefold().endswith(".zip")
    named = [] if is_archive else _tracks_named_in(file_name, [one.track for one in phase.limits])
    limits = [one for one in phase.limits if not named or one.track in named]
    whole = "in this upload" if phase.submissions == 1 else "in this round" if phase.round_days else "in this phase"
    when = {"day": "today (UTC)", "phase": whole}
    counted = [f"{one.track} {one.left} of {one.limit} {when[one.period]}" for one in limits if one.limit is not None]
    return f"Runs left: {', '.join(counted)}." if counted else "There is no limit on runs."


def _tracks_named_in(file_name: str, tracks: list[str]) -> list[str]:
    """Return the tracks whose slug is in the file's name, with any separators: `task1_hard` is read as `task1-hard`."""

    def words(text: str) -> str:
        return " ".join(["", *re.findall(r"[^\W_]+", text.casefold()), ""])

    found = [slug for slug in tracks if words(slug) in words(file_name)]
    return [slug for slug in found if not any(words(slug) in words(other) for other in found if other != slug)]


def _print(options: argparse.Namespace, sent: Submission) -> None:
    if options.json is not None:
        print_json(sent.as_dict() | {"ok": sent.state != "rejected", "problems": sent.all_problems}, options.json)
        return
    parts = [report_text(report_of(sent.problems))] if sent.problems else []
    say("\n\n".join([*parts, *map(run_text, sent.runs)]))


def _exit_code(sent: Submission) -> int:
    states = {sent.state, *(run.state for run in sent.runs)}
    if "rejected" in states:
        return RunInvalid.exit_code
    return AgonError.exit_code if "failed" in states else 0


def _validated(options: argparse.Namespace, found: Validation) -> int:
    code = _exit_code_of_validation(found)
    if options.json is not None:
        print_json(found.as_dict() | {"ok": code == 0, "problems": found.all_problems}, options.json)
    else:
        say(report_text(report_of(found.all_problems), found.file_name, tracks=[one.track for one in found.runs]))
    if found.rejection:
        note(f"If you submitted the file now, it would be rejected: {found.rejection.detail}")
    if code == AgonError.exit_code and found.rejection is None:
        if found.state == "replaced":
            note("agon: The file was not checked because you have sent another file since.")
        else:
            note("agon: The portal could not check the file. Try again later.")
    return code


def _exit_code_of_validation(found: Validation) -> int:
    """Return the exit code that submitting the file would have had."""
    if found.state == "failed" or found.is_valid is None:
        return AgonError.exit_code
    if not found.is_valid:
        return RunInvalid.exit_code
    if found.rejection is None:
        return 0
    return NotAllowed.exit_code if found.rejection.code in _NOT_ALLOWED else AgonError.exit_code
