"""Mails about accounts: allauth's flows, our look, the reader's language, and a mail server that is down."""

import re
from pathlib import Path

import allauth
import pytest
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.test import Client
from django.utils.translation import override

from portal.mail.letters.accounts import LETTERS
from portal.models import User
from tests.portal.world import RELEASE, person

BY_CODE = {"login_code", "password_reset_code"}  # flows that are not switched on
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
    assert names - BY_CODE <= set(LETTERS)


def test_the_link_of_a_sign_up_confirms_the_address(anybody, smtp, settings):
    settings.PUBLIC_URL = "https://agon.example"
    assert anybody.post("/accounts/signup/", SIGN_UP).status_code == 302
    (mail,) = smtp.to("zoe@example.org")
    assert mail["Subject"] == "Agon: confirm your mail address"
    links = set()
    for kind in ("plain", "html"):
        links |= set(re.findall(r"https://agon\.example(/accounts/confirm-email/[^/]+/)", body(mail, kind)))
    (link,) = links
    anybody.post(link)
    assert EmailAddress.objects.get(email="zoe@example.org").verified


def body(mail, kind="plain"):
    return mail.get_body((kind,)).get_content()


def test_a_new_password_is_chosen_by_the_link_and_the_change_is_told(anybody, zoe, smtp):
    anybody.post("/accounts/password/reset/", {"email": zoe.email}, headers={"host": "localhost"})
    (path,) = re.findall(r"http://127\.0\.0\.1:8000(/accounts/password/reset/key/\S+)", body(smtp.mails[0]))  # F70
    form = anybody.get(path, follow=True)
    new = "another long winter"
    anybody.post(form.redirect_chain[-1][0], {"password1": new, "password2": new})
    zoe.refresh_from_db()
    assert zoe.check_password(new)
    assert "127.0.0.1" in body(smtp.mails[1])


def test_a_stranger_learns_nothing_but_the_owner_of_the_address_does(anybody, zoe, smtp):  # B36
    for page, data in (
        ("/accounts/signup/", SIGN_UP),
        ("/accounts/password/reset/", {"email": "nobody@example.org"}),
    ):
        assert anybody.post(page, data).status_code == 302
    already, unknown = smtp.mails
    assert already["To"] == "zoe@example.org"
    assert "/accounts/password/reset/" in body(already)
    assert unknown["To"] == "nobody@example.org"
    assert "/accounts/signup/" in body(unknown)


def test_a_mail_server_that_is_down_is_said_on_the_page(anybody, smtp, db):
    smtp.stop()
    page = anybody.post("/accounts/signup/", SIGN_UP, follow=True)
    assert page.status_code == 200
    assert "The mail could not be sent just now" in page.content.decode()
    smtp.start()
    assert User.objects.filter(email="zoe@example.org").exists()


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
    for name, letter in LETTERS.items():
        with override("en"):
            english = letter(context)
        with override(language):
            own = letter(context)
        assert english.subject != own.subject
        assert english.why != own.why
        words = [block for block in own.blocks if block.text and block.kind != "secret"]
        assert [block.text for block in words if block in english.blocks] == [], name
