"""Signing in with GitHub or ORCID. A local server stands in for GitHub."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from django.test import Client

from portal.models import User
from tests.portal.world import person
from tests.services import serving

CALLBACK = "/accounts/github/login/callback/"
ANSWERS = {
    "/token": {"access_token": "t0ken", "token_type": "bearer"},
    "/user": {"id": 7, "login": "nora", "name": "Nora North"},
    "/emails": [{"email": "nora@example.org", "verified": True, "primary": True}],
}


class GitHub(BaseHTTPRequestHandler):
    """A stand-in for GitHub that identifies everyone as Nora."""

    def do_GET(self) -> None:
        body = json.dumps(ANSWERS[self.path]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with serving(GitHub) as address:
        for name, path in {"access_token_url": "/token", "profile_url": "/user", "emails_url": "/emails"}.items():
            monkeypatch.setattr(GitHubOAuth2Adapter, name, f"http://{address}{path}")
        yield


def come_back(client: Client, process: str = "login") -> str:
    """Go to GitHub and back, and return the URL to which the portal then redirects."""
    away = urlsplit(client.post(f"/accounts/github/login/?process={process}")["Location"])
    assert away.netloc == "github.com"
    state = parse_qs(away.query)["state"][0]
    return client.get(CALLBACK, {"code": "c0de", "state": state})["Location"]


def test_newcomers_need_no_password(db: None) -> None:
    client = Client()
    assert come_back(client) == "/accounts/3rdparty/signup/"
    page = client.get("/accounts/3rdparty/signup/").content.decode()
    assert 'value="Nora North"' in page
    client.post("/accounts/3rdparty/signup/", {"name": "Nora", "email": "nora@example.org"})
    user = User.objects.get(email="nora@example.org")
    assert (user.name, user.has_usable_password()) == ("Nora", False)
    assert EmailAddress.objects.get(user=user).verified
    again = Client()
    assert come_back(again) == "/"
    assert again.session["_auth_user_id"] == str(user.pk)


def test_an_account_of_that_address_is_not_taken_over(db: None) -> None:
    nora = person("Nora")
    EmailAddress.objects.create(user=nora, email=nora.email, verified=True, primary=True)
    client = Client()
    come_back(client)
    client.post("/accounts/3rdparty/signup/", {"name": "Nora", "email": "nora@example.org"})
    assert "_auth_user_id" not in client.session
    assert not SocialAccount.objects.exists()


def test_a_signed_in_person_connects_and_disconnects(db: None) -> None:
    nora = person("Nora")
    EmailAddress.objects.create(user=nora, email=nora.email, verified=True, primary=True)
    nora.set_password("a long winter")
    nora.save()
    client = Client()
    client.force_login(nora)
    client.post("/accounts/reauthenticate/", {"password": "a long winter"})
    assert come_back(client, "connect") == "/accounts/3rdparty/"
    account = SocialAccount.objects.get(user=nora)
    assert "GitHub: nora" in client.get("/accounts/3rdparty/").content.decode()
    client.post("/accounts/3rdparty/", {"account": account.pk})
    assert not SocialAccount.objects.exists()


def test_answers_that_no_one_asked_for_sign_no_one_in(db: None) -> None:
    client = Client()
    assert client.get(CALLBACK, {"code": "c0de", "state": "made-up"}).status_code == 401
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("page", ["/accounts/login/", "/accounts/signup/"])
def test_buttons_are_shown_only_where_the_portal_is_registered(db: None, page: str, settings) -> None:
    text = Client().get(page).content.decode()
    assert "Continue with GitHub" in text
    assert "Continue with ORCID" in text
    settings.SOCIALACCOUNT_PROVIDERS = {}
    assert "Use " not in Client().get(page).content.decode().replace("Use a passkey", "")
