"""Links that turn off one kind of email for one person without signing in. Their signature authorizes the request."""

from dataclasses import dataclass

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

from portal.models import OutgoingMail, User

_SIGNER = "portal.mail.unsubscribe"
_WISHES = frozenset(OutgoingMail.WISHES.values())


@dataclass(frozen=True, slots=True)
class Unsubscription:
    """The user's id, and the field of `User` to turn off."""

    user_id: int
    field: str


def address(user: User, field: str) -> str:
    """Return the link to put in an email."""
    return f"{settings.PUBLIC_URL}{reverse('stop_mails', args=[token(user, field)])}"


def token(user: User, field: str) -> str:
    """Return a token without an expiry date, because people also unsubscribe from old emails."""
    return Signer(salt=_SIGNER).sign(f"{user.pk}:{field}")


def read(token: str) -> Unsubscription | None:
    """Return the content of a token, or None if its signature is invalid or its field is unknown."""
    try:
        user_id, field = Signer(salt=_SIGNER).unsign(token).split(":")
    except (BadSignature, ValueError):
        return None
    return Unsubscription(int(user_id), field) if field in _WISHES else None
