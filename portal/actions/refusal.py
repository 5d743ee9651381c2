"""Refusals that a person can act on; a page shows the message, the API the code and the status."""

from collections.abc import Iterable

from portal.models import Refusal


class ActionRefused(Exception):  # noqa: N818 - a refusal, not an error
    """The action was not done; `message` says why and what to do, in the reader's language."""

    http_status = 400

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class NotAllowed(ActionRefused):
    """This person, or this moment, is not the right one."""

    http_status = 403


class Conflict(ActionRefused):
    """Something of that name or number is there already, or is being changed at this moment."""

    http_status = 409


class NotAcceptable(ActionRefused):
    """What was sent cannot be taken as it is."""

    http_status = 422


class LimitReached(ActionRefused):
    """More than the limits of the phase allow."""

    http_status = 429


def count_refusal(codes: Iterable[str]) -> None:
    """One refused upload more, in the figures; after the transaction that the refusal has undone."""
    Refusal.objects.count_one(codes)
