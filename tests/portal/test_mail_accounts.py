"""Emails about accounts: allauth's flows, in the portal's style and the recipient's language, even during outages."""

import json
import re
from datetime import timedelta
from pathlib import Path

import allauth
import pytest
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.test import Client
from django.utils.translation import override

from portal.mail.texts.accounts import TEXTS
from portal.models import OutgoingMail
from portal.models.clock import database_now
from tests.portal.world import RELEASE, deliver, person

BY_CODE = {"login_code", "password_reset_code"}  # for sign-in methods that are not enabled
SIGN_UP = {"name": "Zoë", "email": "zoe@example.org"} | dict.fromkeys(("password1", "password2"), "a long winter")


@pytest.fixture(autouse=True)
def _no_rate_limits(db):
    cache.clear()


@pytest.fixture
def anybody():
    return Client(SERVER_NAME="127.0.0.1")


@pytest.fixture
def zoe():
    user = person("Zoe")
    user.language = "es"
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def test_every_mail_of_allauth_has_a_letter():
    templates = Path(allauth.__file__).parent.glob("templates/*/email/*_subject.txt")
    names = {path.name.removesuffix("_subject.txt") for path in templates}
    assert names - BY_CODE <= set(TEXTS)


def test_the_link_of_a_sign_up_confirms_the_address(anybody, smtp, settings):
    settings.PUBLIC_URL = "https://agon.example"
    assert anybody.post("/accounts/signup/", SIGN_UP).status_code == 302
    (mail,) = smtp.to("zoe@example.org")
    assert mail["Subject"] == "Agon: confirm your email address"
    links = set()
    for kind in ("plain", "html"):
        links |= set(re.findall(r"https://agon\.example(/accounts/confirm-email/[^/]+/)", body(mail, kind)))
    (link,) = links
    anybody.post(link)
    assert EmailAddress.objects.get(email="zoe@example.org").verified


@pytest.mark.parametrize("is_late", [False, True])
def test_a_confirmation_leads_back_to_the_task_on_any_device(anybody, smtp, tiny, is_late):
    if is_late:
        smtp.stop()
    page = anybody.post("/accounts/signup/?next=/tasks/tiny/team/", SIGN_UP, follow=True)
    assert "zoe@example.org" in page.content.decode()
    if is_late:
        smtp.start()
        deliver(database_now() + timedelta(minutes=20))
    (link,) = re.findall(r"(/accounts/confirm-email/\S+)", body(smtp.to("zoe@example.org")[0]))
    elsewhere = Client()
    confirmed = elsewhere.post(link)
    assert confirmed["Location"] == "/tasks/tiny/team/"


def test_a_confirmation_leads_to_no_other_site(anybody, smtp):
    anybody.post("/accounts/signup/?next=https://elsewhere.example/", SIGN_UP)
    assert "elsewhere" not in body(smtp.to("zoe@example.org")[0])


def body(mail, kind="plain"):
    return mail.get_body((kind,)).get_content()


def test_a_new_password_is_chosen_by_the_link_and_the_change_is_mailed(anybody, zoe, smtp):
    anybody.post("/accounts/password/reset/", {"email": zoe.email}, headers={"host": "localhost"})
    (path,) = re.findall(r"http://127\.0\.0\.1:8000(/accounts/password/reset/key/\S+)", body(smtp.mails[0]))
    form = anybody.get(path, follow=True)
    new = "another long winter"
    anybody.post(form.redirect_chain[-1][0], {"password1": new, "password2": new})
    zoe.refresh_from_db()
    assert zoe.check_password(new)
    assert "127.0.0.1" in body(smtp.mails[1])


def test_a_stranger_learns_nothing_but_the_owner_of_the_address_does(anybody, zoe, smtp):
    for page, data in (
        ("/accounts/signup/", SIGN_UP),
        ("/accounts/password/reset/", {"email": "unknown@example.org"}),
    ):
        assert anybody.post(page, data).status_code == 302
    already, unknown = smtp.mails
    assert already["To"] == "zoe@example.org"
    assert "/accounts/password/reset/" in body(already)
    assert unknown["To"] == "unknown@example.org"
    assert "/accounts/signup/" in body(unknown)


LATER = "The mail server is not responding right now."
SENT = re.compile("(?<!will be )sent|on its way", re.IGNORECASE)


def test_with_the_mail_server_down_sign_up_says_so_and_the_mail_comes_later(anybody, smtp, db):
    smtp.stop()
    page = anybody.post("/accounts/signup/", SIGN_UP, follow=True)
    text = page.content.decode()
    assert (page.status_code, text.count(LATER), text.count('role="status"'), SENT.findall(text)) == (200, 1, 1, [])
    deliver(database_now())
    smtp.start()
    assert smtp.mails == []
    kept = OutgoingMail.objects.get(address="zoe@example.org", details__letter="email_confirmation_signup")
    assert not re.search(r"[A-Za-z0-9_-]{15}:|http", json.dumps(kept.details))  # neither the key nor the link is stored
    deliver(database_now() + timedelta(minutes=20))
    (mail,) = smtp.to("zoe@example.org")
    assert mail["Subject"] == "Agon: confirm your email address"
    (link,) = re.findall(r"http://127\.0\.0\.1:8000(/accounts/confirm-email/\S+)", body(mail))
    anybody.post(link)
    assert EmailAddress.objects.get(email="zoe@example.org").verified


def test_a_late_mail_to_an_address_that_is_confirmed_by_then_is_canceled(anybody, smtp, db):
    smtp.stop()
    anybody.post("/accounts/signup/", SIGN_UP)
    smtp.start()
    EmailAddress.objects.update(verified=True)
    deliver(database_now())
    assert smtp.mails == []
    assert OutgoingMail.objects.get().state == OutgoingMail.State.CANCELED


def test_a_late_link_leads_to_a_new_password(anybody, zoe, smtp):
    smtp.stop()
    for address in (zoe.email, "unknown@example.org"):
        page = anybody.post("/accounts/password/reset/", {"email": address}, follow=True).content.decode()
        assert (page.count(LATER), SENT.findall(page)) == (1, [])
    smtp.start()
    deliver(database_now())
    mail, unknown = smtp.mails
    assert unknown["To"] == "unknown@example.org"
    (path,) = re.findall(r"http://127\.0\.0\.1:8000(/accounts/password/reset/key/\S+)", body(mail))
    form = anybody.get(path, follow=True)
    new = "another long winter"
    smtp.stop()
    anybody.post(form.redirect_chain[-1][0], {"password1": new, "password2": new})
    smtp.start()
    zoe.refresh_from_db()
    assert zoe.check_password(new)
    deliver(database_now())
    assert "127.0.0.1" in body(smtp.mails[-1])  # even a notice that is sent later has the network address


def test_an_address_that_the_mail_server_rejects_is_reported(anybody, smtp, db):
    smtp.answers["RCPT"] = "550 no such mailbox"
    page = anybody.post("/accounts/signup/", SIGN_UP, follow=True).content.decode()
    assert "the mail server does not accept this address" in page
    assert not OutgoingMail.objects.exists()


@pytest.mark.parametrize("language", ["es", "pt"])
def test_every_letter_is_in_the_reader_s_language(language):
    context = {
        "activate_url": "http://127.0.0.1/a/",
        "password_reset_url": "http://127.0.0.1/b/",
        "timestamp": RELEASE,
        "ip": "192.0.2.1",
        "user_agent": "Lynx",
        "from_email": "a@example.org",
        "to_email": "b@example.org",
        "deleted_email": "a@example.org",
        "provider": "ORCID",
        "code": "BCDF-GHJK",
    }
    for name, content in TEXTS.items():
        with override("en"):
            english = content(context)
        with override(language):
            own = content(context)
        assert english.subject != own.subject
        assert english.why != own.why
        words = [block for block in own.blocks if block.text and block.kind != "secret"]
        assert [block.text for block in words if block in english.blocks] == [], name
