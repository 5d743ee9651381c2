"""Errors from a portal or the connection to it. Each has an exit code for the command line."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agon.answers import GoldUpload, Push, Submission, Validation


class AgonError(Exception):
    """An error with a message for the user.

    `code` is the portal's error code, or empty if there was no response. `problems` are the problems in an uploaded
    file, as in `agon check --json`. `retry_after` is the number of seconds until a limit is reset, if the portal
    reports it.
    """

    exit_code = 1
    retry_after: int | None = None

    def __init__(self, message: str, code: str = "", problems: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.problems = list(problems)


class WrongUsage(AgonError):
    """An argument or a setting is missing or invalid. Its code is `usage`."""

    exit_code = 2

    def __init__(self, message: str, code: str = "usage") -> None:
        super().__init__(message, code)


class FileExists(AgonError):
    """A file with this name exists and differs from the portal's file, or cannot be compared with it."""


class RunInvalid(AgonError):
    """The file has errors, which `problems` lists."""

    exit_code = 3


class NotFound(AgonError):
    """The portal has no such task, file or other resource, or you don't have access to it."""


class NotSignedIn(AgonError):
    """The token is missing or invalid."""

    exit_code = 4


class NotAllowed(AgonError):
    """The action is not allowed now.

    A phase is closed, a limit is reached, a team or a signature is missing, or the token's scope is too narrow.
    """

    exit_code = 5


class Unavailable(AgonError):
    """The portal did not respond, or responded with 502, 503 or 504."""


class WaitTimedOut(AgonError):
    """The result was not ready in time. The portal is still computing it.

    `submission` is the upload in the state that the portal last reported, or None if it has not reported any.
    """

    exit_code = 6

    def __init__(
        self, message: str, code: str = "", submission: "Submission | Validation | Push | GoldUpload | None" = None
    ) -> None:
        super().__init__(message, code)
        self.submission = submission
