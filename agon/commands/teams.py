"""`teams`: list the teams of a task that you organize, and approve or decline them."""

import argparse
import sys

from agon.answers import OrganizedTeam
from agon.commands import chosen_task, confirmed, declare, done, show, table, task_argument
from agon.commands.task import portal_of
from agon.errors import WrongUsage
from scoring.reports.printing import spelled_out

FILTERS = {
    "search": "only teams with this text in their name, their affiliation or a member's name",
    "state": "only teams that are pending, approved, declined or withdrawn",
    "answer": "only teams that gave this answer, as KEY=ANSWER",
    "signed": "yes or no: whether a member signed the agreement",
    "downloaded": "yes or no: whether a member downloaded a file",
    "uploaded": "yes or no: whether there is an upload, even a rejected one",
    "valid": "yes or no: whether there is a valid run",
    "phase": "slug of the phase of these uploads and runs",
    "seen": "day, week or not-week: when a member last did something",
}


def add_options(parser: argparse.ArgumentParser, _command: str) -> None:
    task_argument(parser)
    parser.add_argument(
        "--csv", action="store_true", help="print CSV with one row per member, with email address and answers"
    )
    for name, meaning in FILTERS.items():
        parser.add_argument(f"--{name}", default="", metavar=name.upper(), help=meaning)
    decision = parser.add_mutually_exclusive_group()
    decision.add_argument("--approve", metavar="TEAM", help="approve a team")
    decision.add_argument("--decline", metavar="TEAM", help="decline a team")
    parser.add_argument(
        "-m", "--reason", default="", metavar="REASON", help="reason for declining the team, which its captain can read"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    declare(parser, run)


def run(options: argparse.Namespace) -> int:
    """Print the teams, or approve or decline a team."""
    portal, task = portal_of(options), chosen_task(options.slug)
    filters = {name: getattr(options, name) for name in FILTERS}
    if options.csv and any(filters.values()):
        raise WrongUsage("--csv prints all teams. The “Teams” page has a CSV of the selected ones.")
    if options.csv:
        text = portal.teams_csv(task).decode()
        print(spelled_out(text) if sys.stdout.isatty() else text, end="")
        return 0
    name = options.approve or options.decline
    if name is None:
        selected = portal.teams(task, **filters)
        show(options, selected, lambda: _text(selected))
        return 0
    teams = portal.teams(task)
    team = next((one for one in teams if one.name == name), None)
    if team is None:
        raise WrongUsage(f"{task} has no team {name}. “agon teams {task}” lists all teams.")
    if options.decline and not options.reason:
        raise WrongUsage("Add a reason with -m REASON.")
    what = "Approve" if options.approve else "Decline"
    if not confirmed(options, f"{what} {team.name}? Its captain will get an email."):
        return 1
    if options.approve:
        portal.approve_team(task, team.id)
    else:
        portal.decline_team(task, team.id, options.reason)
    return done(options, f"{team.name} is {what.lower()}d.", {"task": task, "team": team.name})


def _text(teams: list[OrganizedTeam]) -> str:
    rows = []
    for team in teams:
        about = (team.name, team.state, team.affiliation, ", ".join(team.members))
        rows.append((*about, team.uploads, team.valid_runs, team.last_seen or ""))
    return table(["team", "state", "affiliation", "members", "uploads", "valid runs", "last seen"], rows)
