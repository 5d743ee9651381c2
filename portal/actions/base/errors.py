"""Errors that actions raise. They are declared next to the action and translated only when they are shown."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import Choices
from django.utils.functional import Promise

_PARAMETER = re.compile(r"%\((\w+)\)[sd]")


class ActionError(Exception):
    """An error raised by an action. When it is raised, nothing has been changed.

    Pages show `message`; the API sends `code`, `params` and `http_status`.
    """

    http_status: ClassVar[int] = 400

    def __init__(self, code: str, sentence: str | Promise, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.params = params or {}
        self._sentence = sentence

    @classmethod
    def declare(cls, code: str, sentence: str | Promise) -> "ErrorCode":
        """Declare an error for an action's `errors`. `sentence` has a `%(name)s` placeholder for each parameter."""
        return ErrorCode(cls, code, sentence)

    @property
    def message(self) -> str:
        """The error and how to fix it, in the active language."""
        words = {name: _in_words(value) for name, value in self.params.items()}
        return str(self._sentence % words) if words else str(self._sentence)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def _in_words(value: Any) -> Any:
    """Return a parameter as a sentence shows it: states by label, errors by message, a list with a line per entry."""
    if isinstance(value, Choices):
        return value.label
    if isinstance(value, ActionError):
        return value.message
    return "\n".join(str(_in_words(one)) for one in value) if isinstance(value, list) else value


class NotAllowed(ActionError):
    """The person is not allowed to do this, or not now."""

    http_status = 403


class Conflict(ActionError):
    """The action conflicts with the current state or with a simultaneous change."""

    http_status = 409


class Invalid(ActionError):
    """The input is not valid."""

    http_status = 422


class TooLarge(ActionError):
    """The file is larger than allowed."""

    http_status = 413


class LimitReached(ActionError):
    """The action would exceed a limit."""

    http_status = 429


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A declared error. Use it as `raise TOO_LATE(phase=phase.title)`."""

    error: type[ActionError]
    code: str
    sentence: str | Promise

    def __call__(self, **params: Any) -> ActionError:
        return self.error(self.code, self.sentence, params)

    @property
    def pattern(self) -> str:
        """The sentence with `{name}` in place of each parameter.

        A sentence with plural forms needs a number, so it is filled in with example values.
        """
        some = {"label": "{label}", "length": 2, "limit": 1, "n": 2}
        return _PARAMETER.sub(r"{\1}", str(self.sentence) or str(self.sentence % some)).replace("\n", " ")
