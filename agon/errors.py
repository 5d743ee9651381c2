"""Errors of a portal, or of the connection to it. Each has the exit code of the command line."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agon.answers import GoldUpload, Push, Submission, Validation


class AgonError(Exception):
    """An error, with a sentence for the user.

    `code` is the portal's code of the error, empty without an answer; `problems` are those of an uploaded file, as in
    `agon check --json`; `retry_after` is the number of seconds that a limit lasts, if the portal says so.
    """

    exit_code = 1
    retry_after: int | None = None

    def __init__(self, message: str, code: str = "", problems: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.problems = list(problems)


class WrongUsage(AgonError):
    """An argument or a setting is missing or invalid."""

    exit_code = 2


class FileExists(AgonError):
    """A file with that name exists, and is not, or cannot be compared with, the portal's."""


class RunInvalid(AgonError):
    """The file has errors; `problems` lists all of them."""

    exit_code = 3


class NotSignedIn(AgonError):
    """The token is missing or invalid."""

    exit_code = 4


class NotAllowed(AgonError):
    """You may not do this (now): a phase is closed, a limit is reached, the token's scope is too small."""

    exit_code = 5


class WaitTimedOut(AgonError):
    """The result was not ready in time; it is still being computed.

    `submission` is what was uploaded, as the portal last described it.
    """

    exit_code = 6

    def __init__(self, message: str, submission: "Submission | Validation | Push | GoldUpload") -> None:
        super().__init__(message)
        self.submission = submission
