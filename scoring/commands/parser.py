"""The command line's parser: help instead of an error if no command is given, and hints for mistyped words."""

import argparse
import re
from typing import Any, NoReturn

from scoring.reports.nearest import nearest

COMMAND, ACTION = "COMMAND", "ACTION"  # what the help calls commands, and the actions of a command
_NONE_GIVEN = re.compile(f"the following arguments are required: ({COMMAND}|{ACTION})$")
_NO_CHOICE = re.compile(
    r"argument (?P<what>.*): invalid choice: '(?P<given>[^']*)' \(choose from (?P<choices>.*)\)$", re.DOTALL
)
_NO_OPTION = re.compile(r"unrecognized arguments: (?P<given>--?[\w-]+)")


class Parser(argparse.ArgumentParser):
    """A parser for the command line or one of its commands."""

    _choices: "dict[str, Parser] | None" = None  # the parsers of its commands or actions

    def add_actions(self, metavar: str = ACTION) -> Any:
        """Return an object to which commands or actions can be added, as by `add_subparsers`."""
        actions = self.add_subparsers(required=True, metavar=metavar)
        self._choices = actions.choices
        return actions

    def error(self, message: str) -> NoReturn:
        """Print the help if no command or action is given. Otherwise, exit with the error and a hint."""
        if _NONE_GIVEN.search(message):
            self.print_help()
            self.exit(0)
        super().error(self._with_hint(message))

    def _with_hint(self, message: str) -> str:
        """Add the command, choice or option that a mistyped word probably stands for."""
        if match := _NO_CHOICE.match(message):
            choices = re.findall(r"[\w-]+", match["choices"])
            meant = nearest(match["given"], choices)
            fix = f"Did you mean {meant}?" if meant else f"Use one of {', '.join(choices)}."
            if match["what"] in (COMMAND, ACTION):
                return f"there is no {match['what'].lower()} {match['given']}. {fix}"
            return f"{match['what']}: {match['given']} is not allowed. {fix}"
        if match := _NO_OPTION.match(message):
            options = self._options()
            meant = None if match["given"] in options else nearest(match["given"], options)  # or another command's
            return f"{message}. Did you mean {meant}?" if meant else message
        return message

    def _options(self) -> list[str]:
        own = [text for action in self._actions for text in action.option_strings]
        parts = [] if self._choices is None else dict.fromkeys(self._choices.values())
        return [*own, *(text for part in parts for text in part._options())]
