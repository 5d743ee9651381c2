"""The command line's parser, in which argparse does three things differently.

It prints the help if no command is given, adds hints to errors about mistyped words, and reads two things as people
type them: options whose value is optional, and words between options.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from scoring.reports.nearest import nearest

COMMAND, ACTION = "COMMAND", "ACTION"  # what the help calls commands, and the actions of a command
_NONE_GIVEN = re.compile(f"the following arguments are required: ({COMMAND}|{ACTION})$")
_NO_CHOICE = re.compile(
    r"argument (?P<what>.*): invalid choice: '(?P<given>[^']*)' \(choose from (?P<choices>.*)\)$", re.DOTALL
)
_REQUIRED = re.compile(r"the following arguments are required: |one of the arguments .* is required$")
_NO_OPTION = re.compile(r"unrecognized arguments: (?P<given>--?[\w-]+)")


class OptionalValue(argparse.Action):
    """An option such as `--json[=FIELDS]`, whose value is optional and follows an equals sign.

    argparse would take any next word as the value, also the file in `--wait FILE`. `takes_next` says which next words
    are values nevertheless, such as the number in `--wait 60`. Without a value, the option's value is the empty text.
    """

    def __init__(self, *given: Any, takes_next: Callable[[str], bool] | None = None, **named: Any) -> None:
        super().__init__(*given, **named)
        self.takes_next = takes_next or (lambda _word: False)

    def __call__(
        self, parser: argparse.ArgumentParser, found: argparse.Namespace, value: Any, option: str | None = None
    ) -> None:
        setattr(found, self.dest, value)


class Parser(argparse.ArgumentParser):
    """A parser for the command line or one of its commands."""

    _choices: "dict[str, Parser] | None" = None  # the parsers of its commands or actions
    scattered: argparse.Action | None = None
    """The list of words that may also stand between and after options. argparse accepts them only side by side."""
    _typed: Sequence[str] = ()

    def add_actions(self, metavar: str = ACTION) -> Any:
        """Return an object to which commands or actions can be added, as by `add_subparsers`."""
        actions = self.add_subparsers(required=True, metavar=metavar)
        self._choices = actions.choices
        return actions

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse the words, with the options and words described above."""
        self._typed = () if args is None else args
        found, unread = super().parse_known_args(None if args is None else self._with_values(args), namespace)
        if self.scattered is not None:
            words = [word for word in unread if not word.startswith("-")]
            getattr(found, self.scattered.dest).extend(words)
            unread = [word for word in unread if word not in words]
        return found, unread

    def _with_values(self, words: Sequence[str]) -> list[str]:
        """Write the value of each OptionalValue after an equals sign, as argparse expects it."""
        found: list[str] = []
        last: OptionalValue | None = None  # the option directly before the word
        for place, word in enumerate(words):
            if word == "--":
                return [*found, *words[place:]]
            if last is not None and last.takes_next(word):
                found[-1] += word
                last = None
                continue
            option = self._option_string_actions.get(word)
            last = option if isinstance(option, OptionalValue) else None
            found.append(f"{word}=" if last else word)
        return found

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
        if _REQUIRED.match(message) and (unknown := self._first_unknown_option()):
            meant = nearest(unknown, self._options())
            return f"unrecognized arguments: {unknown}" + (f". Did you mean {meant}?" if meant else f"; {message}")
        return message

    def _first_unknown_option(self) -> str | None:
        """Return the first typed option that does not exist. argparse reports missing arguments instead."""
        known = self._options()
        for word in self._typed:
            name = word.partition("=")[0]
            if word == "--":
                break
            if name.startswith("--") and not any(option.startswith(name) for option in known):
                return name
        return None

    def _options(self) -> list[str]:
        own = [text for action in self._actions for text in action.option_strings]
        parts = [] if self._choices is None else dict.fromkeys(self._choices.values())
        return [*own, *(text for part in parts for text in part._options())]
