"""How second factors are kept, and what they are called where people see them."""

from base64 import urlsafe_b64encode

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet
from django.contrib.auth.base_user import AbstractBaseUser
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _


class SecondFactors(DefaultMFAAdapter):
    """A copy of the database alone makes no codes: their secrets are encrypted with the portal's secret key."""

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _cipher().decrypt(encrypted_text.encode()).decode()

    def generate_authenticator_name(self, user: AbstractBaseUser, type: Authenticator.Type) -> str:
        number = Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1
        return _("Passkey %(number)d") % {"number": number}


def _cipher() -> Fernet:
    key = salted_hmac("portal.web.second_factors", "key", algorithm="sha256").digest()
    return Fernet(urlsafe_b64encode(key))
