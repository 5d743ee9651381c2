"""Sessions: an ID known before sign-in cannot be used to take over the session, and an ended session is useless."""

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from portal.models import SharedTask, User
from portal.web.sessions import LIFETIME, LIFETIME_WITH_RIGHTS
from tests.services import MailServer, text_of

LOGIN = "/accounts/login/"
PASSWORD = "a long winter"


def person() -> User:
    user = User.objects.create_user("cleo@agon.example", PASSWORD, name="Cleo")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def sign_in(client: Client, **options: str):
    return client.post(LOGIN, {"login": "cleo@agon.example", "password": PASSWORD, **options})


def test_a_session_from_before_sign_in_is_useless(db: None) -> None:
    person()
    client = Client()
    session = client.session
    session["planted"] = True
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = known = session.session_key
    assert sign_in(client).status_code == 302
    assert client.cookies[settings.SESSION_COOKIE_NAME].value != known
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = known
    assert thief.get("/accounts/email/").status_code == 302


def test_the_cookie_is_useless_after_signing_out(db: None) -> None:
    person()
    client = Client()
    sign_in(client)
    kept = client.cookies[settings.SESSION_COOKIE_NAME].value
    # The page asks for confirmation, because a link must not sign people out.
    assert client.get("/accounts/logout/").status_code == 200
    client.post("/accounts/logout/")
    assert not Session.objects.filter(session_key=kept).exists()
    again = Client()
    again.cookies[settings.SESSION_COOKIE_NAME] = kept
    assert again.get("/accounts/email/").status_code == 302


def test_next_leads_nowhere_else(db: None) -> None:
    person()
    for place in (
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "http:evil.example",
    ):
        answer = sign_in(Client(), next=place)
        assert answer.status_code == 302
        assert answer["Location"] == "/", place
    assert sign_in(Client(), next="/guide/")["Location"] == "/guide/"


def test_links_in_mails_do_not_follow_the_host(db: None, settings, smtp: MailServer) -> None:
    person()
    settings.ALLOWED_HOSTS = ["agon.example", "other.example"]
    settings.PUBLIC_URL = "https://agon.example"
    Client(headers={"host": "other.example"}).post("/accounts/password/reset/", {"email": "cleo@agon.example"})
    (mail,) = smtp.mails
    assert "https://agon.example/accounts/password/reset/key/" in text_of(mail)
    assert "other.example" not in text_of(mail)


def signed_in(**rights: bool) -> Client:
    user = person()
    User.objects.filter(pk=user.pk).update(**rights)
    client = Client()
    sign_in(client)
    client.get("/settings/")
    return client


def is_signed_in_after(client: Client, unused: timedelta) -> bool:
    """Request a page after a session has been unused for this long."""
    session = client.session
    session["last_use"] -= int(unused.total_seconds())
    session.save()
    return client.get("/settings/").status_code == 200


def test_a_session_ends_after_two_weeks_without_use(db: None) -> None:
    client = signed_in()
    assert is_signed_in_after(client, LIFETIME - timedelta(minutes=1))
    assert is_signed_in_after(client, LIFETIME - timedelta(minutes=1))  # each use renews it
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    assert not is_signed_in_after(client, LIFETIME)
    assert not Session.objects.filter(session_key=key).exists()
    assert "You were signed out because you were inactive." in client.get("/accounts/login/").text


@pytest.mark.parametrize("right", ["is_staff", "is_superuser"])
def test_an_administrators_session_ends_after_twelve_hours(db: None, right: str) -> None:
    client = signed_in(**{right: True})
    assert is_signed_in_after(client, LIFETIME_WITH_RIGHTS - timedelta(minutes=1))
    assert not is_signed_in_after(client, LIFETIME_WITH_RIGHTS)


def test_so_does_that_of_a_person_who_became_an_organizer_meanwhile(gated: SharedTask) -> None:
    client = signed_in()
    gated.organizers.add(User.objects.get(email="cleo@agon.example"))
    assert is_signed_in_after(client, LIFETIME_WITH_RIGHTS - timedelta(minutes=1))
    assert not is_signed_in_after(client, LIFETIME_WITH_RIGHTS)


def test_a_session_is_written_once_in_ten_minutes(db: None) -> None:
    client = signed_in()
    with CaptureQueriesContext(connection) as asked:
        client.get("/settings/")
    assert [query["sql"] for query in asked if query["sql"].startswith(("INSERT", "UPDATE"))] == []


def test_a_session_without_a_recorded_use_gets_one(db: None) -> None:
    """It began before a version that records them."""
    client = signed_in()
    session = client.session
    del session["last_use"]
    session.save()
    assert client.get("/settings/").status_code == 200
    assert client.session["last_use"]


def test_pages_can_be_read_while_sessions_cannot_be_saved(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in()
    session = client.session
    session["last_use"] -= 3600
    session.save()

    def fail(*_args: object, **_options: object) -> None:
        raise OperationalError("disk full")

    monkeypatch.setattr(Session, "save", fail)
    assert client.get("/settings/").status_code == 200


def test_a_session_that_ends_while_its_use_is_recorded_is_over(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in()
    session = client.session
    session["last_use"] -= 3600
    session.save()
    save = Session.save

    def end_first(row: Session, *given: Any, **options: Any) -> None:
        Session.objects.all().delete()
        save(row, *given, **options)

    monkeypatch.setattr(Session, "save", end_first)
    answer = client.get("/settings/")
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/settings/")
