"""The `agon` command: everything in `python -m scoring`, and commands that use a portal.

Exit codes of the portal commands: 0 success, 1 failure, 2 usage error, 3 invalid run, 4 not signed in, 5 not allowed
(phase closed, limit reached, team or signature missing), 6 timeout.
"""

import sys
from collections.abc import Sequence
from importlib import import_module  # noqa: TID251 - by the name of the command
from pathlib import Path
from typing import Any

COMMANDS = {
    "login": "sign in to a portal with your browser",
    "logout": "delete the access token from this computer",
    "doctor": "check whether you can submit runs, and show how to fix problems",
    "completion": "print the shell completion script",
    "whoami": "show the account you are signed in with, and your teams",
    "tasks": "list the shared tasks with open phases and next deadlines",
    "team": "show, create, join or leave your team, or invite a member",
    "sign": "print and sign a task's data agreement",
    "files": "list a task's data files",
    "download": "download a task's rules and data",
    "submit": "submit a run or a zip of several runs",
    "runs": "list, view, download, select or withdraw your runs",
    "leaderboard": "print a leaderboard",
    "task": "for organizers: create, check, push, open, hide and release a task, and manage its gold standards and "
    "exports",
    "teams": "for organizers: list, approve or decline a task's teams",
    "uploads": "for organizers: list, view and download the uploads of a task, including rejected ones",
    "organizers": "for organizers: list, add or remove a task's organizers",
    "call": "list and call all other operations of the portal, such as publish_announcement",
}
ALIASES = {"runs": ["submissions"]}
_MODULES = (
    dict.fromkeys(["login", "logout", "whoami"], "account")
    | dict.fromkeys(["tasks", "files", "download"], "data")
    | {"sign": "team"}
)
INTERRUPTED = 128 + 2  # the exit code that shells report for a program ended by SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        from scoring.__main__ import main as run  # noqa: PLC0415 - Ctrl+C may interrupt it, as it takes most of the time
    except KeyboardInterrupt:
        return INTERRUPTED
    return run(arguments, _add_commands, _missing_folder)


def _missing_folder(folder: Path) -> str:
    from agon.commands.missing_folder import explain  # noqa: PLC0415 - only if a folder is missing

    return explain(folder)


def _add_commands(commands: Any, typed: str) -> None:
    for name, purpose in COMMANDS.items():
        aliases = ALIASES.get(name, [])
        parser = commands.add_parser(name, aliases=aliases, help=purpose, description=f"{purpose.capitalize()}.")
        if typed in (name, *aliases):
            import_module(f"agon.commands.{_MODULES.get(name, name)}").add_options(parser, name)


if __name__ == "__main__":
    sys.exit(main())
