"""`task`: organizers' commands for their tasks, from creating the folder to downloading exports."""

import argparse
import tempfile
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from agon.answers import Gold, GoldBoard, GoldUpload, Push
from agon.commands import (
    chosen_task,
    confirmed,
    declare,
    done,
    known,
    note,
    print_json,
    progress_of,
    report_of,
    saving_options,
    say,
    seconds,
    show,
    show_paths,
    table,
    task_argument,
    watch_of,
)
from agon.errors import AgonError, RunInvalid, WrongUsage
from agon.organizing import EXPORTS, OrganizersPortal
from agon.portal import WAIT
from agon.task_folder import DEFAULT_TEMPLATE, TEMPLATE_NAMES, checked_folder, new_folder, packed_folder, read_folder
from scoring.commands.parser import Parser
from scoring.reports.printing import problem_line, report_text

ACTIONS = {
    "new": "create a task folder with synthetic data from a template; works without a portal",
    "check": "check a task folder: task.yaml and all files that it uses; works without a portal",
    "push": "upload a task folder; a new task becomes a draft, and changes to an existing task are shown before "
    "they are applied",
    "diff": "show what pushing a task folder would change",
    "pull": "save the folder of a task that you organize, to edit it and push it again",
    "open": "publish a draft",
    "hide": "hide an open task from everyone except its organizers",
    "show": "show a hidden task again",
    "delete": "delete a draft",
    "gold": "list, upload or correct gold standards, or use an earlier version again",
    "release": "release a phase's scores, or hide them again",
    "export": f"download exports: {', '.join(EXPORTS)}",
}
_OF_FOLDERS = ("new", "check", "push", "diff")


def add_options(parser: Parser, _command: str) -> None:
    actions = parser.add_actions()
    for action, purpose in ACTIONS.items():
        own = actions.add_parser(action, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        if action in _OF_FOLDERS:
            own.add_argument("folder", type=Path, metavar="FOLDER", help="task folder")
        else:
            task_argument(own)
        if action in _OPTIONS:
            _OPTIONS[action](own)
        if action not in ("new", "check", "diff", "pull", "export"):
            own.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        declare(own, globals()[f"_{action}"])


def _new_options(parser: argparse.ArgumentParser) -> None:
    purpose = f"template to copy: {', '.join(TEMPLATE_NAMES)} (default: {DEFAULT_TEMPLATE})"
    parser.add_argument("--like", default=DEFAULT_TEMPLATE, metavar="TEMPLATE", help=purpose)
    parser.add_argument("--slug", default="", metavar="SLUG", help="slug of the task (default: the folder's name)")


def _wait_option(parser: argparse.ArgumentParser) -> None:
    purpose = f"stop waiting after this time (default: {WAIT:g})"
    parser.add_argument("--timeout", type=seconds, default=WAIT, metavar="SECONDS", help=purpose)


def _gold_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("track", nargs="?", default="", metavar="TRACK", help="slug of the gold standard's track")
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="gold file to upload; if omitted, the versions are listed"
    )
    parser.add_argument("--split", default="test", help="split of the gold standard (default: test)")
    parser.add_argument(
        "-m", "--note", default="", metavar="REASON", help="reason for the change, which everyone can read"
    )
    parser.add_argument("--return-to", type=int, metavar="VERSION", help="use this earlier version again")
    parser.add_argument("--dry-run", action="store_true", help="show the preview without applying the change")
    _wait_option(parser)


def _release_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("phase", metavar="PHASE", help="slug of the phase")
    purpose = "release time with time zone, such as 2027-05-20T12:00:00Z (default: now)"
    parser.add_argument("--at", type=_moment, metavar="TIME", help=purpose)
    parser.add_argument("--take-back", action="store_true", help="hide the scores again, or cancel a scheduled release")


def _pull_options(parser: argparse.ArgumentParser) -> None:
    saving_options(parser, "task’s folder", "existing files")


def _export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of the exports to download (default: all)")
    saving_options(parser, "files", "existing files")


_OPTIONS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "new": _new_options,
    "push": _wait_option,
    "diff": _wait_option,
    "pull": _pull_options,
    "gold": _gold_options,
    "release": _release_options,
    "export": _export_options,
}


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a time. Use a time such as 2027-05-20T12:00:00Z.") from None
    if found.tzinfo is None:
        raise argparse.ArgumentTypeError("add the time zone, for example Z for UTC")
    return found


def portal_of(options: argparse.Namespace) -> OrganizersPortal:
    return OrganizersPortal(options.portal)


def _new(options: argparse.Namespace) -> int:
    slug = options.slug or options.folder.resolve().name
    definition = new_folder(options.folder, options.like, slug)
    if options.json is None:
        say(f"Created {definition} for the task {slug}, based on {options.like}, with synthetic data.")
        if not options.quiet:
            folder = options.folder
            note(f"Next, edit {definition}, then run “agon task check {folder}” and “agon task push {folder}”.")
    else:
        print_json({"path": str(definition), "task": slug, "template": options.like}, options.json)
    return 0


def _check(options: argparse.Namespace) -> int:
    definition, warnings = checked_folder(options.folder)
    said = f"{options.folder} is valid. Task {definition.slug}, {_counted(len(definition.tracks), 'track')}."
    lines = [said, *(f"warning: {problem_line(warning)}" for warning in warnings)]
    return done(options, "\n".join(lines), {"task": definition.slug, "problems": [one.as_dict() for one in warnings]})


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _diff(options: argparse.Namespace) -> int:
    portal, slug = portal_of(options), read_folder(options.folder).slug
    if not portal.is_organizer(slug):
        raise WrongUsage(
            f"{portal.address} has no task {slug} that you organize. “agon task push {options.folder}” creates a draft."
        )
    pushed = _pushed(portal, slug, options)
    show(options, pushed, lambda: _difference(pushed))
    return 0


def _push(options: argparse.Namespace) -> int:
    portal, slug = portal_of(options), read_folder(options.folder).slug
    is_change = portal.is_organizer(slug)
    pushed = _pushed(portal, slug if is_change else None, options)
    if pushed.state == "ready" and pushed.changes:
        note(_difference(pushed))
        if not confirmed(options, "Apply these changes?"):
            return 1
        pushed = portal.apply_push(pushed.id, is_sure=True)
    show(options, pushed, lambda: _said_of(pushed, slug, portal.address))
    return 0


def _pushed(portal: OrganizersPortal, task: str | None, options: argparse.Namespace) -> Push:
    """Upload the folder and return the result of the portal's checks."""
    with tempfile.TemporaryDirectory() as temporary:
        archive = Path(temporary) / "task.zip"
        packed_folder(options.folder, archive)
        pushed = portal.push(
            archive,
            task,
            wait=options.timeout,
            progress=progress_of(options, str(options.folder)),
            watch=watch_of(options),
        )
    if pushed.state == "rejected":
        raise RunInvalid(f"{options.folder} was rejected; nothing was changed.", "push_rejected", pushed.problems)
    if pushed.state == "failed":
        raise AgonError("The portal could not check the folder. Push it again later.", "push_failed")
    if pushed.problems:
        note(report_text(report_of(pushed.problems)))
    return pushed


def _difference(pushed: Push) -> str:
    return "\n".join([*pushed.changes, *(["", *pushed.effects] if pushed.effects else [])]) or "There are no changes."


def _said_of(pushed: Push, slug: str, address: str) -> str:
    if pushed.is_first:
        return (
            f"{slug} is a draft that only its organizers can see: {address}/tasks/{slug}/. To publish it, run: "
            f"agon task open {slug}"
        )
    return f"{slug} now matches the folder." if pushed.changes else "There are no changes."


def _pull(options: argparse.Namespace) -> int:
    task = chosen_task(options.slug)
    folder = portal_of(options).pull(task, options.path, force=options.overwrite)
    if options.json is None and not options.quiet:
        note(f"Gold, votes and datasets stay on the portal. After editing, run: agon task push {folder}")
    show_paths(options, [folder])
    return 0


def _open(options: argparse.Namespace) -> int:
    question = "Open {task} to everyone? An open task can be hidden but not deleted."
    return _changed(options, question, OrganizersPortal.open_task, "{task} is open.")


def _hide(options: argparse.Namespace) -> int:
    question = "Hide {task} from everyone except its organizers? Teams can’t reach their runs while the task is hidden."
    return _changed(options, question, OrganizersPortal.hide_task, "{task} is hidden.")


def _show(options: argparse.Namespace) -> int:
    return _changed(options, "Show {task} to everyone again?", OrganizersPortal.show_task, "{task} is open.")


def _delete(options: argparse.Namespace) -> int:
    question = "Delete the draft {task} permanently?"
    return _changed(options, question, OrganizersPortal.delete_task, "{task} was deleted.")


def _changed(
    options: argparse.Namespace, question: str, change: Callable[[OrganizersPortal, str], None], said: str
) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    if not confirmed(options, question.format(task=task)):
        return 1
    change(portal, task)
    return done(options, said.format(task=task), {"task": task})


def _gold(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    found = portal.gold(task)
    known("track", options.track, dict.fromkeys(one.track for one in found))
    lines = [one for one in found if not options.track or one.track == options.track]
    if options.file is None and options.return_to is None:
        show(options, lines, lambda: _gold_text(lines))
        return 0
    if not options.track:
        raise WrongUsage(f"Specify a track: {', '.join(dict.fromkeys(one.track for one in found))}.")
    line = next((one for one in lines if one.split == options.split), None)
    if line is None:
        raise WrongUsage(
            f"{options.track} has no split {options.split}. Its splits are {', '.join(one.split for one in lines)}."
        )
    if options.return_to is not None:
        return _preview_former_gold(portal, task, line, options)
    return _upload_gold(portal, task, line, options)


def _gold_text(lines: Sequence[Gold]) -> str:
    rows = []
    for one in lines:
        newest = (one.newest.version, one.newest.created_at) if one.newest else (None, None)
        former = ", ".join(str(version.version) for version in one.former)
        rows.append((one.track, one.split, *newest, former, one.upload_state or ""))
    return table(["track", "split", "version", "since", "earlier", "last file"], rows)


def _preview_former_gold(portal: OrganizersPortal, task: str, line: Gold, options: argparse.Namespace) -> int:
    former = next((one for one in line.former if one.version == options.return_to), None)
    if former is None:
        versions = ", ".join(str(one.version) for one in line.former) or "none"
        raise WrongUsage(
            f"{line.track} {line.split} has no earlier version {options.return_to}. Earlier versions: {versions}."
        )
    if not options.dry_run:
        _require_note(options)
    upload = portal.preview_former_gold(task, former.id, wait=options.timeout)
    return _previewed(portal, task, upload, options)


def _upload_gold(portal: OrganizersPortal, task: str, line: Gold, options: argparse.Namespace) -> int:
    if line.newest and not options.dry_run:
        _require_note(options)
    upload = portal.upload_gold(
        task,
        line.track,
        line.split,
        options.file,
        wait=options.timeout,
        progress=progress_of(options, options.file.name),
        watch=watch_of(options),
    )
    return _previewed(portal, task, upload, options)


def _previewed(portal: OrganizersPortal, task: str, upload: GoldUpload, options: argparse.Namespace) -> int:
    """Show the preview and apply it after confirmation, unless this is a dry run."""
    if upload.state == "rejected":
        raise RunInvalid("The gold standard was rejected; nothing was changed.", "gold_rejected", upload.problems)
    if upload.state in ("failed", "conflict"):
        raise AgonError("The portal could not check the gold standard. Try again later.", "gold_failed")
    if upload.state == "ready":
        note(_preview(upload))
        if options.dry_run:
            note("Nothing was changed.")
        elif confirmed(options, f"Apply this version? Public leaderboards will show “{options.note}”."):
            portal.apply_gold(task, upload.id, options.note)
            upload = portal.gold_upload(task, upload.id)
        else:
            return 1
    show(options, upload, lambda: _said_of_gold(upload))
    return 0


def _require_note(options: argparse.Namespace) -> None:
    if not options.note:
        raise WrongUsage("State the reason for the change, which everyone can read: -m REASON.")


def _said_of_gold(upload: GoldUpload) -> str:
    if upload.state == "ready":
        return f"A preview of {upload.track} {upload.split} is ready: {upload.id}."
    if upload.state == "unchanged":
        return f"The gold is identical to version {upload.version}, so nothing was changed."
    return (
        f"{upload.track} {upload.split} now has gold version {upload.version}. All runs are now being scored "
        "with this version."
    )


def _preview(upload: GoldUpload) -> str:
    """Format the preview that organizers see before they apply a correction."""
    counted = [f"{kind}: {part.count}" for kind, part in upload.changes.items()]
    lines = [f"{upload.listed_items} of {upload.split_items} items have gold. Items {', '.join(counted)}."]
    for board in upload.boards:
        effects = (
            f"Runs with a new score: {board.rescored}, with a new rank: {board.reranked}, in a different tie group: "
            f"{board.regrouped}."
        )
        lost = f" {_counted(board.lost, 'run')} can’t be scored." if board.lost else ""
        state = "public" if board.is_public else "hidden"
        lines += ["", f"{board.phase} ({state}). {effects}{lost}", _board_text(board)]
    return "\n".join(lines)


def _board_text(board: GoldBoard) -> str:
    keys = list(dict.fromkeys(key for one in board.runs for key in (one.before.scores or {})))[:1]
    head = ["run", "team", *(f"{key} {when}" for key in keys for when in ("before", "after")), "rank", "tie group"]
    rows = [
        (
            one.run,
            one.team or "",
            *(side.scores.get(key) if side.scores else None for key in keys for side in (one.before, one.after)),
            _change(one.before.rank, one.after.rank),
            _change(one.before.tie_group, one.after.tie_group),
        )
        for one in board.runs
    ]
    return table(head, rows)


def _change(before: object, after: object) -> str:
    old, new = (str(one) if one not in (None, "") else "–" for one in (before, after))
    return old if old == new else f"{old} → {new}"


def _release(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    phases = {one.slug: one for one in portal.phases(task)}
    known("phase", options.phase or '""', phases)
    phase = phases[options.phase]
    if options.take_back:
        question = f"Hide the scores of {options.phase} again? People may already have seen them."
        said = f"The scores of {options.phase} are hidden now."
        if phase.released and not phase.scores_are_public:
            when = f"{phase.released.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
            question = f"Cancel the release of {options.phase}, scheduled for {when}?"
            said = f"The scheduled release of {options.phase} was canceled."
        act: Callable[[], None] = partial(portal.take_back_release, task, options.phase, phase.released)
    else:
        when = f"at {options.at.isoformat()}" if options.at else "now"
        question = (
            f"Release the scores of {options.phase} {when}? Everyone will see them on all pages and in all exports, "
            "and all teams and organizers will get an email. The phase will no longer accept runs."
        )
        act = partial(portal.release, task, options.phase, options.at)
        released = f"will be public {when}" if options.at else "are now public"
        said = f"The scores of {options.phase} {released}."
    if not confirmed(options, question):
        return 1
    act()
    return done(options, said, {"task": task, "phase": options.phase})


def _export(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    names: Iterable[str] = options.names or EXPORTS
    for name in names:
        known("export", name, EXPORTS)
    export = partial(portal.export, task, folder=options.path, force=options.overwrite)
    show_paths(options, [export(name, progress=progress_of(options, name)) for name in names])
    return 0
