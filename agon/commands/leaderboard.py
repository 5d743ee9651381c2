"""`leaderboard`: print a track's leaderboard, limited to what you are allowed to see."""

import argparse
import sys
from datetime import date

from agon.answers import Leaderboard
from agon.board_row import BoardRow
from agon.commands import chosen_task, declare, known, note, portal_of, show, table
from agon.errors import AgonError, WrongUsage
from agon.portal import Portal
from scoring.reports.printing import spelled_out


def add_options(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument(
        "board", nargs="?", default="", metavar="TASK[/TRACK]", help="task and track (default: AGON_TASK)"
    )
    phase = "phase (default: the last closed phase with public scores, as on the leaderboard's page)"
    parser.add_argument("--phase", default="", metavar="PHASE", help=phase)
    parser.add_argument("--all", action="store_true", help="list all runs, not only each team's official run")
    parser.add_argument(
        "--as-of", type=_day, metavar="DATE", help="only runs received by the end of this day (AoE), such as 2027-05-20"
    )
    parser.add_argument("--csv", action="store_true", help="print CSV with unrounded scores")
    declare(parser, run)


def run(options: argparse.Namespace) -> int:
    portal = portal_of(options)
    task, _, track = options.board.partition("/")
    task = chosen_task(task)
    track = track or _only_track(portal, task)
    try:
        _print(portal, task, track, options)
    except AgonError as error:
        if error.code == "not_found":  # list the slugs that exist
            known("track", track, (one.slug for one in portal.task(task).tracks))
            known("phase", options.phase, (one.slug for one in portal.phases(task)))
        raise
    return 0


def _print(portal: Portal, task: str, track: str, options: argparse.Namespace) -> None:
    if options.csv:
        content = portal.leaderboard_csv(task, track, phase=options.phase, all_runs=options.all, as_of=options.as_of)
        text = content.decode(errors="replace")
        print(spelled_out(text) if sys.stdout.isatty() else text, end="")
        return
    board = portal.leaderboard(task, track, phase=options.phase, all_runs=options.all, as_of=options.as_of)
    if board.hidden_reason:
        note(board.hidden_reason)
    show(options, board, lambda: f"{_phase(portal, board)}\n\n{_text(board)}")


def _phase(portal: Portal, board: Leaderboard) -> str:
    """Name the phase that is shown, and the others."""
    phases = [one for one in portal.phases(board.shared_task) if one.tracks is None or board.track in one.tracks]
    others = ", ".join(one.slug for one in phases if one.slug != board.phase)
    return f"Phase: {board.phase}.{f' For another phase, use --phase: {others}.' if others else ''}"


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a date. Use a date such as 2027-05-20.") from None


def _only_track(portal: Portal, task: str) -> str:
    slugs = [track.slug for track in portal.task(task).tracks]
    if len(slugs) != 1:
        raise WrongUsage(
            f"No track given. The tracks of {task} are {', '.join(slugs)}. Example: agon leaderboard {task}/{slugs[0]}"
        )
    return slugs[0]


def _text(board: Leaderboard) -> str:
    """Format the table, with intervals of ranks and of the ranking metric if there are any.

    Tie groups are shown only if ranks have no intervals.
    """
    keys = [metric.key for metric in board.metrics]
    head = ["rank", "team", "run", *keys]
    rows: list[tuple[object, ...]] = [
        (_rank(row), row.team, row.run, *(row.scores.get(key) for key in keys)) for row in board.rows
    ]
    if any(row.interval for row in board.rows):
        level = f"{100 * board.intervals.level:g}% " if board.intervals else ""
        head.append(f"{board.rank_by} {level}interval")
        rows = [(*cells, _interval(row)) for cells, row in zip(rows, board.rows, strict=True)]
    has_bounds = any(row.rank_low is not None for row in board.rows)
    if any(row.tie_group for row in board.rows) and not has_bounds:
        head.append("tie group")
        rows = [(*cells, row.tie_group) for cells, row in zip(rows, board.rows, strict=True)]
    notes = (f"note: {row.team or row.run}: {flag}" for row in board.rows for flag in row.flags)
    return "\n".join([table(head, rows), *notes])


def _rank(row: BoardRow) -> object:
    """Return the rank with its 95% confidence interval if it has one, such as `2 (1–4)`."""
    return row.rank if row.rank_low is None else f"{row.rank} ({row.rank_low}–{row.rank_high})"


def _interval(row: BoardRow) -> str:
    return "" if row.interval is None else " to ".join(f"{bound:.4f}" for bound in row.interval)
