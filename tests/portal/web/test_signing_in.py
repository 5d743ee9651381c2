"""Signing up, signing in and resetting passwords: accounts are not revealed, codes work once, guesses are limited."""

import re

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.utils import decrypt
from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import Client
from django.urls import reverse

from portal.models import User
from tests.portal.script import Script
from tests.portal.world import app_code, person, set_up_second_factor
from tests.services import code_in, text_of

PASSWORD = "a long winter in the north"
LOGIN, SIGNUP, RESET = "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/"


class CountingHasher(MD5PasswordHasher):
    """A password hasher that counts how often it hashes."""

    count = 0

    def encode(self, password: str, salt: str) -> str:
        CountingHasher.count += 1
        return super().encode(password, salt)


@pytest.fixture
def counting(settings):
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher"]


@pytest.fixture
def milo(db):
    user = person("Milo")
    user.set_password(PASSWORD)
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


@pytest.fixture
def code(milo):
    """Return the current code in Milo's app."""
    return app_code(set_up_second_factor(milo))


def sign_in(client, email="milo@example.org", password=PASSWORD):
    return client.post(LOGIN, {"login": email, "password": password})


def same_answer(known, unknown):
    """Return whether both responses are the same except for the email address and the CSRF token."""
    pages = []
    for response, address in (known, unknown):
        text = response.content.decode().replace(address, "ADDRESS")
        pages.append((response.status_code, re.sub(r'csrfmiddlewaretoken" value="\w+"', "", text)))
    return pages[0] == pages[1]


def hashes(post):
    before = CountingHasher.count
    response = post()
    return response, CountingHasher.count - before


def test_signing_in_does_not_reveal_which_of_password_and_address_is_wrong(milo, counting):
    milo.set_password(PASSWORD)
    milo.save()
    known, times = hashes(lambda: sign_in(Client(), "milo@example.org", "wrong"))
    unknown, times_unknown = hashes(lambda: sign_in(Client(), "nora@example.org", "wrong"))
    assert same_answer((known, "milo@example.org"), (unknown, "nora@example.org"))
    assert times == times_unknown == 1


def test_signing_up_says_who_one_is_and_sends_a_link(db, smtp):
    form = {"name": "Nora", "affiliation": "University of Porto", "country": "PT"}
    form |= {"email": "nora@example.org", "password1": PASSWORD, "password2": PASSWORD}
    response = Client(headers={"accept-language": "pt-PT"}).post(SIGNUP, form)
    assert response["Location"] == "/accounts/confirm-email/"
    (mail,) = smtp.mails
    assert mail["Subject"] == "Agon: confirme o seu endereço de correio"
    assert "/accounts/confirm-email/" in text_of(mail)
    nora = User.objects.get(email="nora@example.org")
    assert (nora.name, nora.origin, nora.language) == ("Nora", "University of Porto, Portugal", "pt")


def test_signing_up_accepts_only_names_that_settings_accept(db):
    form = {"name": "No\x07ra", "email": "nora@example.org", "password1": PASSWORD, "password2": PASSWORD}
    response = Client().post(SIGNUP, form)
    assert "Your name contains an invalid character. Enter the text again." in response.content.decode()
    assert not User.objects.exists()


def test_signing_up_does_not_reveal_that_the_address_is_used(milo, counting, smtp):
    def sign_up(address):
        form = {"name": "Milo Neri", "email": address, "password1": PASSWORD, "password2": PASSWORD}
        return Client().post(SIGNUP, form, follow=True)

    known, times = hashes(lambda: sign_up("milo@example.org"))
    free, times_free = hashes(lambda: sign_up("nora@example.org"))
    assert same_answer((known, "milo@example.org"), (free, "nora@example.org"))
    assert times == times_free == 1
    assert [mail["To"] for mail in smtp.mails] == ["milo@example.org", "nora@example.org"]
    assert not User.objects.filter(name="Milo Neri", email="milo@example.org").exists()


def test_a_forgotten_password_does_not_reveal_an_account(milo, counting, smtp):
    known, times = hashes(lambda: Client().post(RESET, {"email": "milo@example.org"}, follow=True))
    unknown, times_unknown = hashes(lambda: Client().post(RESET, {"email": "nora@example.org"}, follow=True))
    assert same_answer((known, "milo@example.org"), (unknown, "nora@example.org"))
    assert times == times_unknown
    assert [mail["To"] for mail in smtp.mails] == ["milo@example.org", "nora@example.org"]


@pytest.mark.slow
def test_passwords_are_hashed_by_argon2(db, settings):
    from portal import settings as own

    settings.PASSWORD_HASHERS = own.PASSWORD_HASHERS
    assert User.objects.create_user("nora@example.org", PASSWORD).password.startswith("argon2$argon2id$")


def test_a_code_of_the_app_serves_once(milo, code):
    for may_enter in (True, False):
        client = Client()
        assert sign_in(client).url == reverse("mfa_authenticate")
        response = client.post(reverse("mfa_authenticate"), {"code": code})
        assert (response.status_code == 302) is may_enter
        assert ("_auth_user_id" in client.session) is may_enter


def test_a_recovery_code_serves_once(milo, code):
    recovery = RecoveryCodes.activate(milo).generate_codes()[0]
    for may_enter in (True, False):
        client = Client()
        sign_in(client)
        client.post(reverse("mfa_authenticate"), {"code": recovery})
        assert ("_auth_user_id" in client.session) is may_enter


@pytest.mark.slow
def test_codes_are_not_guessed(milo, code):
    client = Client()
    sign_in(client)
    for _ in range(6):
        response = client.post(reverse("mfa_authenticate"), {"code": "000000" if code != "000000" else "111111"})
    assert response.status_code == 429
    assert "Too many failed login attempts" in response.content.decode()
    assert client.post(reverse("mfa_authenticate"), {"code": code}).status_code == 429
    assert "_auth_user_id" not in client.session


def test_passwords_are_not_guessed_by_however_many_browsers(milo):
    for _ in range(6):
        response = sign_in(Client(), password="wrong")
    assert response.status_code == 429
    assert "Too many failed login attempts" in response.content.decode()
    assert "_auth_user_id" not in Client().session
    assert sign_in(Client()).status_code == 429


def test_a_strangers_guesses_lock_out_no_one_else(milo):
    for _ in range(6):
        sign_in(Client(REMOTE_ADDR="192.0.2.1"), password="wrong")
    assert sign_in(Client(REMOTE_ADDR="192.0.2.1")).status_code == 429
    assert sign_in(Client(REMOTE_ADDR="192.0.2.2")).status_code == 302


def test_guesses_from_many_addresses_end_too_and_right_passwords_are_none(milo, settings):
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"login_failed_account": "3/h/key"}
    for number in range(4):
        assert sign_in(Client(REMOTE_ADDR=f"192.0.2.{number}")).status_code == 302
    for number in range(3):
        sign_in(Client(REMOTE_ADDR=f"198.51.100.{number}"), password="wrong")
    rejected = sign_in(Client(REMOTE_ADDR="203.0.113.1"))
    assert rejected.status_code == 429
    assert "Too many failed" in rejected.content.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "form", "limit"),
    [(SIGNUP, {}, 20), (RESET, {"email": "milo@example.org"}, 5), ("/accounts/2fa/webauthn/login/", {}, 10)],
)
def test_other_entry_points_are_limited_too(milo, address, form, limit):
    found = [Client().post(address, form).status_code for _ in range(limit + 1)]
    assert 429 not in found[:limit]
    assert found[limit] == 429


def test_secrets_of_second_factors_are_encrypted(milo):
    secret = set_up_second_factor(milo)
    kept = milo.authenticator_set.get().data["secret"]
    assert secret not in kept
    assert decrypt(kept) == secret


@pytest.mark.slow
def test_a_deactivated_account_loses_its_session_at_once(milo):
    client = Client()
    sign_in(client)
    assert client.get(reverse("settings")).status_code == 200
    User.objects.update(is_active=False)
    assert client.get(reverse("settings")).status_code == 302
    assert sign_in(Client()).url == reverse("account_inactive")


def test_a_new_password_ends_the_other_sessions(milo):
    one, other = Client(), Client()
    sign_in(one)
    sign_in(other)
    one.post("/accounts/reauthenticate/", {"password": PASSWORD})
    form = {"oldpassword": PASSWORD, "password1": "a short summer, too", "password2": "a short summer, too"}
    assert one.post("/accounts/password/change/", form).status_code == 302
    assert one.get(reverse("settings")).status_code == 200
    assert other.get(reverse("settings")).status_code == 302


def signed_in(user):
    client = Client()
    assert client.post(LOGIN, {"login": user.email, "password": PASSWORD}).status_code == 302
    return client


def is_signed_in(client):
    return client.get("/settings/").status_code == 200


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_first_second_factor_ends_all_other_sessions_and_all_tokens(milo, smtp):
    """A thief who knows the password may have created these sessions and tokens."""
    here, elsewhere, script = signed_in(milo), signed_in(milo), Script(milo)
    assert script("/me").status_code == 200
    here.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    here.get(reverse("mail_code"))
    here.post(reverse("mail_code"), {"code": code_in(smtp.mails[-1])})
    page = here.get("/accounts/2fa/totp/activate/")
    code = app_code(page.context["form"].secret)
    assert here.post("/accounts/2fa/totp/activate/", {"code": code}).status_code == 302
    assert milo.has_second_factor
    assert script("/me").status_code == 401
    assert (is_signed_in(here), is_signed_in(elsewhere)) == (True, False)
