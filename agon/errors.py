"""What a portal, or the way to it, can say no with. Each carries the exit code of the command line."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agon.answers import GoldUpload, Submission, Validation


class AgonError(Exception):
    """What could not be done, in a sentence for the person who asked.

    `code` is the portal's code of the error, empty where none answered; `problems` are those of an uploaded file, as
    `agon check --json` lists them; `retry_after` is how many seconds a limit lasts, where the portal says so.
    """

    exit_code = 1
    retry_after: int | None = None

    def __init__(self, message: str, code: str = "", problems: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.problems = list(problems)


class WrongUsage(AgonError):
    """An argument or a setting is missing or not valid."""

    exit_code = 2


class FileExists(AgonError):
    """A file of that name is there, and it is not, or can't be compared with, the portal's."""


class RunInvalid(AgonError):
    """The file has errors; `problems` lists all of them."""

    exit_code = 3


class NotSignedIn(AgonError):
    """The token is missing or not valid."""

    exit_code = 4


class NotAllowed(AgonError):
    """You may not do it (now): a phase is closed, a limit is reached, the token's scope is too small."""

    exit_code = 5


class WaitTimedOut(AgonError):
    """The result was not there in time; it is still on its way.

    `submission` is what was uploaded, as the portal last described it.
    """

    exit_code = 6

    def __init__(self, message: str, submission: "Submission | Validation | GoldUpload") -> None:
        super().__init__(message)
        self.submission = submission
