"""The command `agon`: all of `python -m scoring`, and commands that use a portal.

Exit codes of these: 0 done, 1 failed, 2 wrong usage, 3 the run is invalid, 4 not signed in, 5 not allowed (closed,
limit), 6 timed out.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from scoring.__main__ import main as scoring_main

COMMANDS = {
    "login": "sign in to a portal, in your browser",
    "logout": "delete the access token from this computer",
    "doctor": "say what stands between you and a submission, and how to fix it",
    "completion": "print the script by which your shell completes commands",
    "whoami": "whose token it is, and your teams",
    "tasks": "list the shared tasks, what is open and the next deadline",
    "team": "show, create, join or leave your team; invite a member",
    "sign": "print a task's data agreement, and sign it",
    "files": "list the files of a task's data",
    "download": "download a task's rules and data",
    "submit": "submit a run, or a zip of several",
    "runs": "list, view, download, select or withdraw your runs",
    "leaderboard": "print a leaderboard",
    "task": "organizers: make, check, push, open, hide and release a task; its gold and exports",
    "teams": "organizers: list a task's teams, approve or decline one",
    "organizers": "list, add or remove a task's organizers",
}
ALIASES = {"runs": ["submissions"]}
_MODULES = (
    dict.fromkeys(["login", "logout", "whoami"], "account")
    | dict.fromkeys(["tasks", "files", "download"], "data")
    | {"sign": "team"}
)
_WITHOUT_VALUE = ("--json", "--wait")  # their value is given with `=` only


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] in (*COMMANDS, *(alias for aliases in ALIASES.values() for alias in aliases)):
        given = [f"{word}=" if word in _WITHOUT_VALUE else word for word in given]
    return scoring_main(given, _add_commands)


def _add_commands(commands: Any, typed: str) -> None:
    for name, purpose in COMMANDS.items():
        aliases = ALIASES.get(name, [])
        parser = commands.add_parser(name, aliases=aliases, help=purpose, description=f"{purpose.capitalize()}.")
        if typed in (name, *aliases):
            import_module(f"agon.commands.{_MODULES.get(name, name)}").add_options(parser, name)


if __name__ == "__main__":
    sys.exit(main())
