"""`runs`: the state of your runs, and your official runs."""

import argparse
from collections.abc import Sequence

from agon.answers import Run, Track
from agon.commands import (
    chosen_task,
    confirmed,
    declare,
    known,
    note,
    portal_of,
    print_json,
    report_of,
    saving_options,
    say,
    show,
    show_paths,
    table,
    task_option,
)
from agon.errors import FileExists, RunInvalid, WrongUsage
from agon.portal import Portal
from scoring.commands.parser import Parser
from scoring.reports.printing import report_text, scores_text

ACTIONS = {
    "list": "list your team's runs, newest first",
    "view": "show a run's state, report and scores",
    "report": "show every problem in a run's upload, in the format of agon check",
    "download": "download a run as it was uploaded",
    "receipt": "download the signed receipt for a run's upload and the key to verify it",
    "select": "make a run your team's official run in its track",
    "withdraw": "remove a run from the leaderboard permanently",
}


def add_options(parser: Parser, _command: str) -> None:
    actions = parser.add_actions()
    for action, purpose in ACTIONS.items():
        own = actions.add_parser(action, help=purpose, description=f"{purpose.capitalize()}.")
        task_option(own)
        if action == "list":
            own.add_argument("--phase", default="", metavar="PHASE")
            own.add_argument("--track", default="", metavar="TRACK")
        else:
            own.add_argument("run", metavar="RUN", help="id of the run, the beginning of its id, or its name")
        if action in ("download", "receipt"):
            saving_options(own, "file", "an existing file")
        if action == "withdraw":
            reason = "reason for the withdrawal, which the organizers can see"
            own.add_argument("-m", "--reason", required=True, metavar="REASON", help=reason)
            own.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        declare(own, globals()[f"_{action}"])


def find(portal: Portal, task: str, given: str) -> Run:
    """Return your run with that id or name, or the only run whose id begins with it.

    Raises:
        WrongUsage: no run matches, or several do.
    """
    runs = list(portal.runs(task))
    found = [one for one in runs if given in (one.id, one.name)] or [one for one in runs if one.id.startswith(given)]
    if len(found) == 1:
        return found[0]
    if found:
        raise WrongUsage(f"{len(found)} of your runs match {given}. Use the id of one run:\n\n{runs_table(found)}")
    raise WrongUsage(f"None of your runs has the name or id {given}. “agon runs list -t {task}” lists them.")


def _list(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    if options.phase:
        known("phase", options.phase, (one.slug for one in portal.phases(task)))
    if options.track:
        known("track", options.track, (one.slug for one in portal.task(task).tracks))
    runs = list(portal.runs(task, phase=options.phase, track=options.track))
    if not runs:
        _hint(options, f"No runs found. Submit one with “agon submit FILE -t {task}”.")
    if any(run.scores_are_hidden for run in runs):
        _hint(options, "The scores are hidden until they are released.")
    show(options, runs, lambda: runs_table(runs, portal.task(task).tracks))
    return 0


def _hint(options: argparse.Namespace, text: str) -> None:
    if not options.quiet:
        note(text)


def runs_table(runs: Sequence[Run], tracks: Sequence[Track] = ()) -> str:
    """Format one line per run, with ids that are as short as possible.

    Args:
        tracks: the tracks whose ranking metric and score are shown. The portal leaves out scores that are hidden.
    """
    head = ["id", "run", "track", "phase", "state", "received", "official"]
    ranking = {track.slug: track.rank_by for track in tracks}
    length = next(length for length in range(8, 37) if len({one.id[:length] for one in runs}) == len(runs))
    rows: list[Sequence[object]] = [
        (one.id[:length], one.name, one.track, one.phase, state(one), one.received_at, _mark(one)) for one in runs
    ]
    if any(run.scores for run in runs) and ranking:
        metrics = [ranking.get(one.track, "") for one in runs]
        scores = [(metric, one.scores.get(metric)) for one, metric in zip(runs, metrics, strict=True)]
        head, rows = [*head, "metric", "score"], [(*row, *own) for row, own in zip(rows, scores, strict=True)]
    return table(head, rows)


def _mark(run: Run) -> str:
    if run.is_official:
        return "selected" if run.is_chosen else "yes"
    return run.slot or ""


def state(run: Run) -> str:
    """Return the run's state in one word."""
    if run.is_replaced:
        return "replaced"
    return "withdrawn" if run.is_withdrawn else run.state


def _view(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    run = find(portal, task, options.run)
    show(options, run, lambda: run_text(run))
    return 0


def run_text(run: Run) -> str:
    """Describe a run: its state, every problem, and the scores."""
    lines = [f"{run.name}: {state(run)}. Track {run.track}, phase {run.phase}, id {run.id}."]
    if run.problems:
        lines += ["", report_text(report_of(run.problems))]
    if run.scores:
        lines += ["", scores_text(run.scores), *(f"note: {flag}" for flag in run.flags)]
    elif run.waits_for_gold:
        lines += ["The organizers haven’t added the gold standard yet. The run is scored once they have."]
    elif run.scores_are_hidden:
        lines += ["The scores are hidden until they are released."]
    elif run.state == "scored" and run.ladder_step is not None:
        lines += [
            "The run was scored, but its score is hidden. A score is shown only if it beats, by more than "
            f"{run.ladder_step:g}, every score already shown to your team or to you."
        ]
    return "\n".join(lines)


def _report(options: argparse.Namespace) -> int:
    """Print the upload's report. Return 3 if the upload was rejected."""
    portal, task = portal_of(options), chosen_task(options.slug)
    run = find(portal, task, options.run)
    if run.submission is None:
        raise WrongUsage(f"{run.name} was not uploaded to the portal, so it has no report.")
    sent = portal.submission(task, run.submission)
    is_valid = sent.state != "rejected"
    if options.json is None:
        tracks = [one.track for one in sent.runs]
        say(report_text(report_of(sent.all_problems), sent.file_name, tracks=tracks))
    else:
        print_json({"ok": is_valid, "problems": sent.all_problems}, options.json)
    return 0 if is_valid else RunInvalid.exit_code


def _download(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    run = find(portal, task, options.run)
    show_paths(options, [portal.download_run(task, run.id, options.path, force=options.overwrite)])
    return 0


def _receipt(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    run = find(portal, task, options.run)
    if run.submission is None:
        raise WrongUsage(f"{run.name} was not uploaded to the portal, so it has no receipt.")
    files = {
        options.path / f"receipt_{run.submission}.json": portal.receipt(task, run.submission),
        options.path / "agon-receipt-key": portal.receipt_key(),
    }
    try:
        for path, content in files.items():
            if not options.overwrite and path.exists() and path.read_bytes() != content:
                raise FileExists(f"{path} already exists and differs from the portal’s file.")
        options.path.mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            path.write_bytes(content)
    except OSError as error:
        raise WrongUsage(f"{error.filename}: {error.strerror}.") from None
    show_paths(options, list(files))
    return 0


def _select(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    run = portal.select(task, find(portal, task, options.run).id)
    show(options, run, lambda: f"{run.name} is your official run in {run.track}, {run.phase}.")
    return 0


def _withdraw(options: argparse.Namespace) -> int:
    portal, task = portal_of(options), chosen_task(options.slug)
    run = find(portal, task, options.run)
    question = (
        f"Withdraw {run.name} from {run.track}, {run.phase}? You can't undo this, and the run still counts "
        "toward your limits."
    )
    if not confirmed(options, question, "Nothing was withdrawn."):
        return 1
    run = portal.withdraw(task, run.id, options.reason)
    show(options, run, lambda: f"{run.name} was withdrawn.")
    return 0
