"""Environment variables. All problems with them are collected and listed together before anything starts."""

import os
import subprocess
import sys
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured
from environ.fileaware_mapping import FileAwareMapping

OWN = "AGON_"  # prefix of Agon's own variables, used to find misspelled ones
_FILE = "_FILE"
_BOOLEANS = {*environ.Env.BOOLEAN_TRUE_STRINGS, "false", "off", "n", "no", "0", ""}
_KINDS = {bool: "true or false", int: "a whole number", list: "names separated by commas"}


class Environment(environ.FileAwareEnv):
    """Read environment variables and collect the problems with their values.

    A value can also come from the file named by `<VARIABLE>_FILE`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ENVIRON = FileAwareMapping()
        self._problems: list[str] = []
        self.asked: set[str] = set()

    def get_value(self, var: str, cast: Any = None, default: Any = None, parse_default: bool = False) -> Any:
        """Return the value, or the default if the value is missing or invalid."""
        self.asked.add(var)
        try:
            return self._read(var, cast, default, parse_default)
        except OSError as error:
            self._problems.append(
                f"{var}{_FILE} points to {os.environ[var + _FILE]}, which can’t be read: {error.strerror}."
            )
        except (ValueError, ImproperlyConfigured):
            self._problems.append(f"{var} has an invalid value. Expected: {_KINDS.get(cast, 'see the guide')}.")
        return default

    def _read(self, var: str, cast: Any, default: Any, parse_default: bool) -> Any:
        text = self.ENVIRON.get(var)
        if text is None:
            return default
        if f"{var}{_FILE}" in os.environ:  # a final line break comes from a text editor and is not part of the secret
            self.ENVIRON.files_cache[var] = text = text.rstrip("\r\n")
        if cast is bool and text.lower() not in _BOOLEANS:
            raise ValueError(text)
        return super().get_value(var, cast, default, parse_default)

    def database(self, var: str, default: str) -> dict[str, Any]:
        """Return Django's settings for the database at this URL."""
        try:
            found = dict(self.db_url_config(self.str(var, default)))
        except (ValueError, ImproperlyConfigured):
            found = {}
        if found.get("ENGINE") not in ("django.db.backends.sqlite3", "django.db.backends.postgresql"):
            self._problems.append(f"{var} has an invalid value. Expected: postgres://user:password@host:5432/name.")
            return dict(self.db_url_config(default))
        return found

    def problem_if(self, is_wrong: bool, sentence: str) -> None:
        """Add the sentence as a problem if the condition is true."""
        if is_wrong:
            self._problems.append(sentence)

    def need(self, module: str, is_used: bool, variable: str) -> None:
        """Add a problem if the package that the variable needs is missing."""
        self.problem_if(
            is_used and find_spec(module) is None,
            f"{variable} needs the Python package {module}, which is not installed. Run ./run setup without --small.",
        )

    def find_unknown(self) -> None:
        """Add a problem for each `AGON_` variable that was not read, because no such variable exists."""
        for name in sorted(os.environ):
            if name.startswith(OWN) and name not in self.asked and name.removesuffix(_FILE) not in self.asked:
                near = get_close_matches(name, [*self.asked, *(known + _FILE for known in self.asked)], n=1)
                self._problems.append(f"{name} is not an Agon setting.{f' Did you mean {near[0]}?' if near else ''}")

    def exit_on_problems(self) -> None:
        """If there are any problems, list them and exit."""
        if self._problems:
            sys.exit("\n- ".join(["Agon can’t start with these settings:", *self._problems]))


def checked_out_revision(folder: Path) -> str:
    """Return the commit of a git clone, which may belong to a different user.

    Return an empty string if the folder is not a clone or git is not installed.
    """
    command = ["git", "-c", f"safe.directory={folder}", "rev-parse", "--verify", "HEAD"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()
