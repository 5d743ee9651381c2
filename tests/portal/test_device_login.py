"""Command-line sign-in with a browser (RFC 8628): codes expire, work only once, and belong to one person."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.test import Client

from portal.actions.accounts import delete_account
from portal.actions.base.errors import ActionError
from portal.actions.device_login import (
    MOST_WAITING,
    TOO_MANY_CODES,
    allow_device_login,
    deny_device_login,
    issue_device_token,
    start_device_login,
)
from portal.models import AccessToken, AuditEntry, DeviceLogin, SharedTask, User
from portal.models.access_token import is_well_formed
from portal.queries.personal_data import personal_data
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION, organizer_of, person

pytestmark = pytest.mark.postgres

PASSWORD = "a long winter in the north"
GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def after(seconds: float) -> datetime:
    return EVALUATION + timedelta(seconds=seconds)


def start(scope: str = "submit", at: datetime = EVALUATION, address: str = "192.0.2.1", task: str = "") -> DeviceLogin:
    given = {"name": "laptop", "scope": AccessToken.Scope(scope), "task": task}
    login, _text = start_device_login(AnonymousUser(), DeviceLogin(address=address), at, **given)
    return login


def allow(user: User, login: DeviceLogin, at: datetime = EVALUATION) -> None:
    allow_device_login(user, user, at, code=login.shown_code)


def collect(login: DeviceLogin, at: datetime) -> tuple[AccessToken, str]:
    return issue_device_token(AnonymousUser(), DeviceLogin.objects.get(pk=login.pk), at)


def code(call: Any, *args: Any, **given: Any) -> str:
    with pytest.raises(ActionError) as caught:
        call(*args, **given)
    return caught.value.code


def test_a_person_allows_it_and_the_command_line_gets_a_token_once(db: None) -> None:
    user, login = person("Ana"), start()
    assert code(collect, login, after(0)) == "authorization_pending"
    allow(user, login)
    token, text = collect(login, after(5))
    assert (token.user, token.name, token.scope, token.shared_task) == (user, "laptop", "submit", None)
    assert AccessToken.objects.find(text, after(6)) == token
    assert not DeviceLogin.objects.exists()
    assert code(issue_device_token, AnonymousUser(), login, after(60)) == "expired_token"
    assert list(AuditEntry.objects.order_by("pk").values_list("actor", "verb")) == [
        (user.pk, "allow_device_login"),
        (user.pk, "create_token"),
    ]


def test_the_device_code_is_kept_nowhere(db: None) -> None:
    login, text = start_device_login(AnonymousUser(), DeviceLogin(), EVALUATION, name="laptop")
    assert len(text) >= 43
    assert text not in str(vars(DeviceLogin.objects.get()))
    assert login.code.isalpha()


def test_codes_end(db: None) -> None:
    user, login = person("Ana"), start()
    assert code(allow, user, login, after(600)) == "unknown_code"
    allow(user, login, after(599))
    assert code(collect, login, after(600)) == "expired_token"
    assert not AccessToken.objects.exists()
    start(at=after(601))
    assert DeviceLogin.objects.count() == 1  # the expired login is deleted


def test_a_code_is_decided_once(db: None) -> None:
    ana, eve, login = person("Ana"), person("Eve"), start()
    allow(ana, login)
    assert code(allow, eve, login) == "unknown_code"
    assert code(deny_device_login, eve, eve, EVALUATION, code=login.code) == "unknown_code"
    assert collect(login, after(0))[0].user == ana


def test_the_code_may_be_typed_in_any_way(db: None) -> None:
    user, login = person("Ana"), start()
    allow_device_login(user, user, EVALUATION, code=f" {login.code[:4].lower()} {login.code[4:].lower()}")
    assert DeviceLogin.objects.get().state == "allowed"
    assert code(allow_device_login, user, user, EVALUATION, code="----") == "unknown_code"


def test_a_denied_login_gets_nothing(db: None) -> None:
    user, login = person("Ana"), start()
    deny_device_login(user, user, EVALUATION, code=login.code)
    assert code(collect, login, after(0)) == "access_denied"
    assert code(allow, user, login) == "unknown_code"
    assert not AccessToken.objects.exists()


def test_who_polls_too_often_has_to_wait_longer(db: None) -> None:
    login = start()
    asked = {0: "authorization_pending", 4.9: "slow_down", 10: "slow_down", 25: "authorization_pending"}
    assert {seconds: code(collect, login, after(seconds)) for seconds in asked} == asked
    assert DeviceLogin.objects.get().interval == 15


def test_a_second_factor_is_needed_to_organize(gated: Any) -> None:
    plain, organizer = person("Paul"), organizer_of(gated)
    login = start("organize")
    assert code(allow, plain, login) == "no_second_factor"
    allow(organizer, login)
    organizer.authenticator_set.all().delete()
    assert code(collect, login, after(0)) == "no_second_factor"
    assert not AccessToken.objects.exists()


def test_a_token_can_be_for_one_task_that_its_owner_sees(gated: SharedTask) -> None:
    ana, login = person("Ana"), start(task=gated.slug)
    allow(ana, login)
    token, _text = collect(login, after(0))
    assert token.shared_task == gated
    hidden = start(task=gated.slug, at=after(1))
    nothing = start(task="nothing", at=after(1))
    SharedTask.objects.update(state=SharedTask.State.HIDDEN)
    assert code(allow, ana, nothing, after(2)) == code(allow, ana, hidden, after(2)) == "no_such_task"
    SharedTask.objects.update(state=SharedTask.State.OPEN)
    allow(ana, hidden, after(3))
    SharedTask.objects.update(state=SharedTask.State.HIDDEN)
    assert code(collect, hidden, after(4)) == "no_such_task"
    assert AccessToken.objects.count() == 1


@pytest.mark.parametrize("end", ["password", "deactivated", "deleted"])
def test_what_ends_tokens_ends_an_allowed_login(db: None, end: str) -> None:
    user, login = person("Ana"), start()
    allow(user, login)
    if end == "deleted":
        delete_account(user, user, EVALUATION)
    elif end == "password":
        user.set_password(PASSWORD)
        user.save()
    else:
        user.is_active = False
        user.save()
    assert code(issue_device_token, AnonymousUser(), login, after(0)) == "expired_token"
    assert not DeviceLogin.objects.exists()
    assert not AccessToken.objects.exists()


def test_no_token_allows_a_login(db: None) -> None:
    user, login = person("Ana"), start()
    allow(user, login)
    user.token, _text = collect(login, after(0))
    assert code(allow, user, start()) == "not_by_token"


def test_attempts_are_limited_in_actions_even_if_they_fail(db: None, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"device_code": "3/h/user"}
    cache.clear()
    ana, eve, login = person("Ana"), person("Eve"), start()
    for decide in (allow_device_login, deny_device_login, allow_device_login):
        assert code(decide, ana, ana, EVALUATION, code="BBBB-BBBB") == "unknown_code"
    for decide in (allow_device_login, deny_device_login):
        assert code(decide, ana, ana, EVALUATION, code=login.code) == "too_many_codes"
        assert TOO_MANY_CODES in decide.errors
    assert DeviceLogin.objects.get().state == "waiting"
    allow(eve, login)


def test_a_network_has_so_many_that_wait(db: None) -> None:
    for _ in range(MOST_WAITING):
        start()
    assert code(start) == "too_many_logins"
    start(address="192.0.2.2")
    start(at=after(601))


def test_a_persons_own_data_have_no_code(db: None) -> None:
    user, login = person("Ana"), start()
    allow(user, login)
    found = str(personal_data(user))
    assert "laptop" in found
    assert login.code not in found
    assert login.sha256 not in found


@pytest.fixture
def browser(db: None, at: Any) -> Client:
    """Ana's browser, just after she entered her password."""
    at(EVALUATION)
    cache.clear()
    user = person("Ana")
    user.set_password(PASSWORD)
    user.save()
    user.emailaddress_set.create(email=user.email, verified=True, primary=True)
    client = Client()
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def ask(**given: str) -> Any:
    return Client(enforce_csrf_checks=True).post("/device/code/", {"client_id": "agon", "name": "laptop"} | given)


def poll(device_code: str, **given: str) -> tuple[int, Any]:
    asked = {"client_id": "agon", "grant_type": GRANT, "device_code": device_code} | given
    answer = Client(enforce_csrf_checks=True).post("/device/token/", asked)
    assert "no-store" in answer["Cache-Control"]
    return answer.status_code, answer.json()


def test_the_addresses_speak_the_standard(browser: Client, at: Any, caplog: pytest.LogCaptureFixture) -> None:
    codes = ask(scope="read").json()
    assert codes["verification_uri_complete"].endswith(f"/device/?code={codes['user_code']}")
    assert (codes["expires_in"], codes["interval"]) == (600, 5)
    assert poll(codes["device_code"])[1]["error"] == "authorization_pending"
    assert poll(codes["device_code"])[1]["error"] == "slow_down"
    assert "/device/token/" not in caplog.text  # polls are no warnings
    page = browser.get("/device/", {"code": codes["user_code"]}).content.decode()
    for text in ("<code>read</code>: Read", codes["user_code"], "laptop", "127.0.0.1"):
        assert text in page
    assert "Access allowed." in browser.post("/device/", {"code": codes["user_code"], "allow": ""}).content.decode()
    at(after(20))
    status, found = poll(codes["device_code"])
    assert (status, found["token_type"], found["scope"]) == (200, "Bearer", "read")
    assert is_well_formed(found["access_token"])
    assert poll(codes["device_code"])[1]["error"] == "invalid_grant"
    assert "Bad Request: /device/token/" in caplog.text


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"client_id": "other"}, "invalid_client"),
        ({"scope": "everything"}, "invalid_request"),
        ({"name": ""}, "invalid_request"),
        ({"name": "a\x00b"}, "invalid_request"),
        ({"name": "x" * 81}, "invalid_request"),
        ({"task": "x" * 51}, "invalid_request"),
    ],
)
def test_a_request_that_is_not_valid(browser: Client, given: dict[str, str], error: str) -> None:
    answer = ask(**given)
    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert not DeviceLogin.objects.exists()


def test_a_poll_that_is_not_valid(browser: Client) -> None:
    text = ask().json()["device_code"]
    assert poll("made up")[1]["error"] == "invalid_grant"
    assert poll("")[1]["error"] == "invalid_grant"
    assert poll(text, client_id="other")[1]["error"] == "invalid_grant"
    assert poll(text, grant_type="password")[1]["error"] == "unsupported_grant_type"
    assert poll(DeviceLogin.objects.get().sha256)[1]["error"] == "invalid_grant"


def test_nothing_is_allowed_by_opening_the_link_or_from_another_site(browser: Client) -> None:
    given = {"code": ask().json()["user_code"], "allow": ""}
    browser.get("/device/", given)
    browser.handler.enforce_csrf_checks = True
    assert browser.post("/device/", given).status_code == 403
    assert DeviceLogin.objects.get().state == "waiting"


@pytest.mark.slow
def test_the_page_names_the_only_task(browser: Client, gated: SharedTask) -> None:
    codes = ask(task=gated.slug).json()
    assert f"{gated.title} only" in browser.get("/device/", {"code": codes["user_code"]}).content.decode()
    browser.post("/device/", {"code": codes["user_code"], "allow": ""})
    assert poll(codes["device_code"])[0] == 200
    assert AccessToken.objects.get().shared_task == gated
    other = ask(task="nothing").json()["user_code"]
    page = browser.get("/device/", {"code": other}).content.decode()
    assert "the task “nothing” doesn’t exist or isn’t visible to you" in page
    assert "Allow access" not in page
    assert browser.post("/device/", {"code": other, "allow": ""}).status_code == 409
    assert "All tasks" in browser.get("/device/", {"code": ask().json()["user_code"]}).content.decode()


def test_allowing_asks_for_the_password_again(browser: Client) -> None:
    given = {"code": ask().json()["user_code"], "allow": ""}
    browser.post("/accounts/logout/")
    browser.post("/accounts/login/", {"login": User.objects.get().email, "password": PASSWORD})
    address = f"/device/?code={given['code']}"
    for answer in (browser.get(address), browser.post(address, given)):
        assert answer.url == f"/accounts/reauthenticate/?next=%2Fdevice%2F%3Fcode%3D{given['code']}"
    assert DeviceLogin.objects.get().state == "waiting"


def test_the_page_denies(browser: Client) -> None:
    codes = ask().json()
    assert "Access denied." in browser.post("/device/", {"code": codes["user_code"], "deny": ""}).content.decode()
    assert poll(codes["device_code"]) == (
        400,
        {"error": "access_denied", "error_description": "The sign-in was denied in the browser."},
    )


def test_the_page_says_that_a_second_factor_is_missing(browser: Client) -> None:
    given = {"code": ask(scope="organize").json()["user_code"]}
    page = browser.get("/device/", given).content.decode()
    assert "requires a second factor" in page
    assert "Allow access" not in page
    assert browser.post("/device/", given | {"allow": ""}).status_code == 403
    assert DeviceLogin.objects.get().state == "waiting"


@pytest.mark.slow
def test_guesses_are_limited(browser: Client) -> None:
    assert browser.get("/device/").status_code == 200
    for _ in range(60):
        assert "This code is invalid or has expired" in browser.get("/device/", {"code": "BBBB-BBBB"}).content.decode()
    given = {"code": ask().json()["user_code"], "allow": ""}
    assert browser.get("/device/", given).status_code == 429
    assert browser.post("/device/", given).status_code == 429
    assert DeviceLogin.objects.get().state == "waiting"
