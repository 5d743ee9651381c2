"""The `agon` command: everything in `python -m scoring`, and commands that use a portal.

Exit codes of the portal commands: 0 success, 1 failure, 2 usage error, 3 invalid run, 4 not signed in, 5 not allowed
(phase closed, limit reached, team or signature missing), 6 timeout.
"""

import re
import sys
from collections.abc import Sequence
from importlib import import_module
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
_INPUT = re.compile(r"\w+=")
_WITHOUT_VALUE = ("--json", "--wait")  # options whose value is optional, and given with `=`


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] in (*COMMANDS, *(alias for aliases in ALIASES.values() for alias in aliases)):
        given = _with_equals_signs(given)
    if given[:1] == ["call"]:  # argparse accepts options anywhere, but all other words only side by side
        given = [f"--input={word}" if _INPUT.match(word) else word for word in given]
    try:
        engine = import_module("scoring.__main__")
    except KeyboardInterrupt:  # during the imports, which take most of the startup time
        return INTERRUPTED
    return int(engine.main(given, _add_commands, _missing_folder))


def _with_equals_signs(words: Sequence[str]) -> list[str]:
    """Write `--wait FILE` as `--wait= FILE`, so that the file is not read as the value.

    Only a number after `--wait` is its value: `--wait 60` becomes `--wait=60`.
    """
    found: list[str] = []
    for word in words:
        if found[-1:] == ["--wait="] and word.isdecimal():
            found[-1] += word
        else:
            found.append(f"{word}=" if word in _WITHOUT_VALUE else word)
    return found


def _missing_folder(folder: Path) -> str:
    return str(import_module("agon.commands.missing_folder").explain(folder))


def _add_commands(commands: Any, typed: str) -> None:
    for name, purpose in COMMANDS.items():
        aliases = ALIASES.get(name, [])
        parser = commands.add_parser(name, aliases=aliases, help=purpose, description=f"{purpose.capitalize()}.")
        if typed in (name, *aliases):
            import_module(f"agon.commands.{_MODULES.get(name, name)}").add_options(parser, name)


if __name__ == "__main__":
    sys.exit(main())
