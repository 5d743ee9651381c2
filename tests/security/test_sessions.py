"""Sessions: an ID known before sign-in cannot be used to take over the session, and an ended session is useless."""

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from portal.models import User
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
