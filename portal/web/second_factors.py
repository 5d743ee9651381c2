"""Second factors: how they are stored and named, and how setting up the first one ends all other access.

If an account has a second factor, each of its sessions has used it: allauth asks for it at every sign-in by password,
ORCID or emailed link, and a passkey counts as both factors. When an account gets its first second factor, all
sessions and access tokens end, except for the session that set it up. So it is enough to check whether the account has
a second factor.
"""

from base64 import urlsafe_b64encode
from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added
from allauth.usersessions.models import UserSession
from cryptography.fernet import Fernet
from django.contrib.auth.base_user import AbstractBaseUser
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from portal.models import User
from portal.models.account import SECOND_FACTORS
from portal.models.clock import database_now


class SecondFactors(DefaultMFAAdapter):
    """allauth's adapter with encrypted secrets, so that a copy of the database cannot be used to generate codes."""

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _cipher().decrypt(encrypted_text.encode()).decode()

    def generate_authenticator_name(self, user: AbstractBaseUser, type: Authenticator.Type) -> str:
        number = Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1
        return _("Passkey %(number)d") % {"number": number}


@receiver(authenticator_added)
def end_other_access(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    """End other sessions and tokens when the first second factor is added.

    This receiver is always connected in time: allauth loads this module for the adapter before it adds a second factor.
    """
    kept = user.authenticator_set.filter(type__in=SECOND_FACTORS)  # type: ignore[attr-defined]
    if authenticator.type in SECOND_FACTORS and not kept.exclude(pk=authenticator.pk).exists():
        for session in UserSession.objects.filter(user=user).exclude(session_key=request.session.session_key):
            session.end()
        user.end_tokens(database_now(), "second_factor")


def _cipher() -> Fernet:
    key = salted_hmac("portal.web.second_factors", "key", algorithm="sha256").digest()
    return Fernet(urlsafe_b64encode(key))
