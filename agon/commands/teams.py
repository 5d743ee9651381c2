"""`teams`: list the teams of a task that you organize, and approve or decline them."""

import argparse
import sys

from agon.answers import OrganizedTeam
from agon.commands import chosen_task, confirmed, declare, done, show, table, task_argument
from agon.commands.task import portal_of
from agon.errors import WrongUsage
from scoring.reports.printing import spelled_out


def add_options(parser: argparse.ArgumentParser, _command: str) -> None:
    task_argument(parser)
    parser.add_argument(
        "--csv", action="store_true", help="print CSV with one row per member, with email address and answers"
    )
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
    if options.csv:
        text = portal.teams_csv(task).decode()
        print(spelled_out(text) if sys.stdout.isatty() else text, end="")
        return 0
    teams = portal.teams(task)
    name = options.approve or options.decline
    if name is None:
        show(options, teams, lambda: _text(teams))
        return 0
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
    rows = [(one.name, one.state, one.affiliation, ", ".join(one.members), one.runs) for one in teams]
    return table(["team", "state", "affiliation", "members", "runs"], rows)
