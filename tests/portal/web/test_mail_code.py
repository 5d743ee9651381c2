"""A stolen password is not enough to set up a second factor: setting up the first one needs an emailed code."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.webauthn.internal import auth as webauthn
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from portal.models import OutgoingMail, SharedTask, User
from tests.portal.web.conftest import Clock
from tests.portal.world import app_code, person, set_up_second_factor
from tests.services import MailServer, code_in, text_of

PASSWORD = "a long winter in the north"
APP, PASSKEY, ADDRESS = "/accounts/2fa/totp/activate/", "/accounts/2fa/webauthn/add/", "/accounts/email/"
CODE = "/settings/mail-code/"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CREDENTIAL = {"name": "Laptop", "credential": "{}"}


@pytest.fixture(autouse=True)
def _no_rate_limits(db: None) -> None:
    cache.clear()


@pytest.fixture
def oana(tiny: SharedTask) -> User:
    """An organizer without a second factor."""
    user = person("Oana")
    user.set_password(PASSWORD)
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    tiny.organizers.add(user)
    return user


def signed_in(user: User, password: str = PASSWORD) -> Client:
    """Return a client that someone who knows the password has signed in."""
    client = Client()
    assert client.post("/accounts/login/", {"login": user.email, "password": password}).status_code == 302
    client.post("/accounts/reauthenticate/", {"password": password})
    return client


def wrong(code: str) -> str:
    return code[:-1] + ("B" if code[-1] != "B" else "C")


def give(client: Client, code: str, onward: str = APP) -> Any:
    return client.post(CODE, {"code": code, "next": onward})


def ask(client: Client, onward: str = APP) -> Any:
    """Open a page that needs a code, and return the page that asks for the code."""
    return client.get(onward, follow=True)


def shown_by_app(page: Any) -> str:
    return app_code(page.context["form"].secret)


def cannot_enroll(client: Client) -> bool:
    """Return whether every request to set up a factor is redirected to the page that asks for a code."""
    answers = [client.get(APP), client.post(APP, {"code": "000000"}), client.put(APP)]
    answers += [client.get(PASSKEY), client.post(PASSKEY, CREDENTIAL)]
    secret = client.session.get("mfa.totp.secret", "")
    if secret:
        answers.append(client.post(APP, {"code": app_code(secret)}))
    return all(answer.status_code == 302 and answer.url.startswith(CODE) for answer in answers)


@pytest.mark.slow
def test_a_password_alone_sets_up_neither_an_app_nor_a_passkey(oana: User, smtp: MailServer) -> None:
    client = signed_in(oana)
    assert cannot_enroll(client)
    ask(client)
    code = code_in(smtp.mails[-1])
    for guess in ("", " ", "-", "\0", wrong(code), "Ω", code[:4]):
        assert give(client, guess).status_code in (422, 429)
        assert cannot_enroll(client)
    assert not oana.has_second_factor


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_with_the_code_the_first_app_is_set_up(oana: User, smtp: MailServer) -> None:
    client = signed_in(oana)
    page = ask(client)
    text = page.content.decode()
    assert "o…@example.org" in text
    assert "15 minutes" in text
    assert "Send new code" in text
    assert len(smtp.to(oana.email)) == 1
    assert "15 minutes" in text_of(smtp.mails[-1])
    # typed as people would type it
    answer = give(client, f" {code_in(smtp.mails[-1]).lower().replace('-', ' ')}")
    assert answer.url == APP
    page = client.get(APP)
    assert client.post(APP, {"code": shown_by_app(page)}).status_code == 302
    assert oana.has_second_factor


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_who_reads_the_mail_can_begin_with_a_new_password(oana: User, smtp: MailServer) -> None:
    client, new = Client(), "a short summer, too"
    client.post("/accounts/password/reset/", {"email": oana.email})
    (path,) = re.findall(r"http://[^/]+(/accounts/password/reset/key/\S+)", text_of(smtp.mails[0]))
    form = client.get(path, follow=True)
    client.post(form.redirect_chain[-1][0], {"password1": new, "password2": new})
    client = signed_in(oana, new)
    ask(client)
    give(client, code_in(smtp.mails[-1]))
    client.post(APP, {"code": shown_by_app(client.get(APP))})
    assert oana.has_second_factor


def test_a_code_that_cannot_be_mailed_is_not_asked_for(oana: User, smtp: MailServer) -> None:
    client = signed_in(oana)
    smtp.stop()
    page = ask(client)
    smtp.start()
    text = page.content.decode()
    assert (page.status_code, "We couldn’t send a code" in text, "We sent a code" in text) == (503, True, False)
    assert not OutgoingMail.objects.exists()  # no row in the outbox may contain the code
    assert "We sent a code" in ask(client).content.decode()


def test_with_the_code_a_passkey_can_be_added(oana: User, smtp: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in(oana)
    ask(client, PASSKEY)
    assert give(client, code_in(smtp.mails[-1]), PASSKEY).url == PASSKEY
    assert client.get(PASSKEY).status_code == 200
    begun = client.session[webauthn.STATE_SESSION_KEY]
    assert begun["challenge"]
    assert client.post(PASSKEY, CREDENTIAL).status_code == 200  # this passkey is invalid, so the form is shown again


def test_a_code_serves_once(oana: User, smtp: MailServer, at: Clock) -> None:
    client = signed_in(oana)
    at(NOON)
    ask(client)
    code = code_in(smtp.mails[-1])
    assert give(client, code).status_code == 302
    at(NOON + timedelta(minutes=15, seconds=1))
    assert cannot_enroll(client)
    assert give(client, code).status_code == 422
    assert cannot_enroll(client)


@pytest.mark.slow
def test_a_code_ends_after_a_quarter_of_an_hour(oana: User, smtp: MailServer, at: Clock) -> None:
    client = signed_in(oana)
    at(NOON)
    ask(client)
    code = code_in(smtp.mails[-1])
    at(NOON + timedelta(minutes=15, seconds=1))
    answer = give(client, code)
    assert answer.status_code == 422
    assert "expired" in answer.content.decode()
    assert cannot_enroll(client)
    ask(client)
    assert len(smtp.mails) == 2
    assert give(client, code_in(smtp.mails[-1])).status_code == 302


def test_a_new_code_ends_the_one_before(oana: User, smtp: MailServer) -> None:
    client = signed_in(oana)
    ask(client)
    ask(client)
    assert len(smtp.mails) == 1  # opening the page again sends no email
    first = code_in(smtp.mails[-1])
    assert client.post(CODE, {"send": "", "next": APP}).status_code == 302
    assert give(client, first).status_code == 422
    assert give(client, code_in(smtp.mails[-1])).url == APP


@pytest.mark.slow
def test_a_code_works_in_the_session_that_asked_for_it(oana: User, smtp: MailServer) -> None:
    owner, thief = signed_in(oana), signed_in(oana)
    ask(owner)
    code = code_in(smtp.mails[-1])
    assert give(thief, code).status_code == 422
    ask(thief)
    assert give(thief, code).status_code == 422
    assert cannot_enroll(thief)
    assert give(owner, code).status_code == 302
    assert cannot_enroll(thief)


@pytest.mark.slow
def test_codes_are_not_guessed(oana: User, smtp: MailServer) -> None:
    client = signed_in(oana)
    ask(client)
    code = code_in(smtp.mails[-1])
    assert [give(client, wrong(code)).status_code for _ in range(5)] == [422] * 5
    answer = give(client, code)
    assert answer.status_code == 429
    assert "Send new code" in answer.content.decode()
    assert 'name="code"' not in answer.content.decode()
    assert cannot_enroll(client)


@pytest.mark.slow
def test_codes_are_not_sent_for_ever(oana: User, smtp: MailServer) -> None:
    for _ in range(2):  # the limit covers all browsers together
        client = signed_in(oana)
        ask(client)
        answers = [client.post(CODE, {"send": "", "next": APP}).status_code for _ in range(3)]
    assert answers[-1] == 429
    assert len(smtp.mails) == 5
    assert give(client, code_in(smtp.mails[-1])).status_code == 302  # the latest code still works


@pytest.mark.slow
def test_codes_go_to_the_confirmed_address_alone(oana: User, smtp: MailServer) -> None:
    EmailAddress.objects.create(user=oana, email="thief@example.org", verified=False, primary=False)
    EmailAddress.objects.create(user=oana, email="old@example.org", verified=True, primary=False)
    ask(signed_in(oana))
    assert [mail["To"] for mail in smtp.mails] == [oana.email]
    EmailAddress.objects.update(verified=False)
    cache.clear()
    client = Client()
    client.force_login(oana)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    page = ask(client)
    assert "no confirmed email address" in page.content.decode()
    assert client.post(CODE, {"send": "", "next": APP}).status_code == 200
    assert len(smtp.mails) == 1


@pytest.mark.slow
def test_a_confirmation_ends_with_the_address(oana: User, smtp: MailServer) -> None:
    client = signed_in(oana)
    ask(client)
    give(client, code_in(smtp.mails[-1]))
    assert client.get(APP).status_code == 200
    EmailAddress.objects.filter(user=oana).update(email="new@example.org")
    assert cannot_enroll(client)


def test_the_password_is_asked_before_a_code_is_sent(oana: User, smtp: MailServer) -> None:
    client = Client()
    client.post("/accounts/login/", {"login": oana.email, "password": PASSWORD})
    assert client.get(CODE).url.startswith("/accounts/reauthenticate/")
    assert client.post(CODE, {"send": ""}).url.startswith("/accounts/reauthenticate/")
    assert smtp.mails == []


def test_next_leads_nowhere_else(oana: User, smtp: MailServer) -> None:
    client = signed_in(oana)
    ask(client)
    assert give(client, code_in(smtp.mails[-1]), "https://evil.example/").url == reverse("mfa_index")


def test_another_factor_needs_no_mail(oana: User, smtp: MailServer) -> None:
    set_up_second_factor(oana)
    client = Client()
    client.force_login(oana)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert client.get(PASSKEY).status_code == 200
    assert client.get(CODE).status_code == 302
    assert smtp.mails == []


@pytest.mark.slow
@pytest.mark.parametrize("role", ["organizer", "administrator"])
def test_who_organizes_changes_no_address_with_a_password_alone(
    role: str, oana: User, tiny: SharedTask, smtp: MailServer
) -> None:
    if role == "administrator":
        tiny.organizers.clear()
        User.objects.update(is_staff=True)
    client = signed_in(oana)
    for action in ({"action_add": "", "email": "thief@example.org"}, {"action_primary": "", "email": oana.email}):
        assert client.post(ADDRESS, action).url.startswith(CODE)
    assert list(EmailAddress.objects.values_list("email", flat=True)) == [oana.email]
    ask(client, ADDRESS)
    assert [mail["To"] for mail in smtp.mails] == [oana.email]
    assert give(client, code_in(smtp.mails[-1]), ADDRESS).url == ADDRESS
    client.post(ADDRESS, {"action_add": "", "email": "oana@new.example"})
    (path,) = re.findall(r"http://[^/]+(/accounts/confirm-email/\S+)", text_of(smtp.mails[-1]))
    client.post(path)
    oana.refresh_from_db()
    assert oana.email == "oana@new.example"
    assert cannot_enroll(client)  # the code was sent to the previous address


def test_all_others_change_it_as_ever(oana: User, tiny: SharedTask, smtp: MailServer) -> None:
    for change in (lambda: set_up_second_factor(oana), tiny.organizers.clear):
        change()
        client = Client()
        client.force_login(oana)
        client.post("/accounts/reauthenticate/", {"password": PASSWORD})
        assert client.get(ADDRESS).status_code == 200
        oana.authenticator_set.all().delete()
    assert smtp.mails == []
