"""API tokens, rate limits and response headers."""

import json
from base64 import urlsafe_b64encode

import pytest
from django.test import Client

from portal.actions.base.action import GONE
from portal.actions.base.registry import every_error
from portal.api import rates
from portal.api.problems import OWN_ERRORS
from portal.models import AccessToken
from portal.storage import StorageUnavailable
from tests.portal.script import Script, token_of
from tests.portal.world import EVALUATION, captain, organizer_of, person


def problem(answer) -> tuple[int, str]:
    assert answer["Content-Type"] == "application/problem+json"
    body = json.loads(answer.content)
    assert body["status"] == answer.status_code
    assert body["type"].endswith(f"/errors/{body['code']}/")
    assert body["detail"]
    return answer.status_code, body["code"]


def test_a_token_says_who_asks(gated):
    user = person("Ana")
    body = Script(user, "read", gated)("/me").json()
    assert (body["name"], body["token"]["scope"], body["token"]["task"]) == ("Ana", "read", "gated")


def test_without_a_token_what_is_public_can_be_read_and_nothing_else(gated):
    anyone = Script()
    assert anyone("/tasks").json()["items"][0]["slug"] == "gated"
    for path in ("/me", "/tasks/gated/team", "/tasks/gated/runs", "/tasks/gated/organize/teams"):
        answer = anyone(path)
        assert problem(answer) == (401, "signed_out")
        assert answer["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ["/tasks/gated/organize/papers/close", "/tasks/gated/team/leave", "/tasks/none/team"])
def test_nothing_is_changed_without_a_token(gated, path):
    assert problem(Script()(path, "POST")) == (401, "signed_out")


def test_sessions_are_ignored(meltemi):
    client = Client()
    client.force_login(captain(meltemi))
    assert problem(client.get("/api/v1/me")) == (401, "signed_out")


def expired(token, user):
    token.expires_at = EVALUATION
    token.save()


def of_an_inactive_account(token, user):
    type(user).objects.filter(pk=user.pk).update(is_active=False)


def after_a_new_password(token, user):
    user.set_password("a long winter")
    user.save()


@pytest.mark.parametrize("end", [expired, of_an_inactive_account, after_a_new_password])
def test_a_token_that_has_ended_is_rejected_even_for_public_addresses(db, end):
    user = person("Ana")
    script = Script(user)
    assert script("/tasks").status_code == 200
    end(AccessToken.objects.get(), user)
    assert problem(script("/tasks")) == (401, "token_invalid")


@pytest.mark.parametrize("given", ["Bearer", "Bearer x", "Basic YTpi", "Bearer agon_" + "0" * 36, "Token \x80"])
def test_what_is_no_token_is_rejected(db, given):
    assert problem(Script()("/tasks", Authorization=given)) == (401, "token_invalid")


def test_wrong_tokens_are_counted(db, monkeypatch):
    monkeypatch.setattr(rates, "WRONG_TOKENS", 2)
    answers = [Script()("/tasks", Authorization="Bearer x") for _ in range(3)]
    assert [problem(one)[0] for one in answers] == [401, 401, 429]
    assert int(answers[-1]["Retry-After"]) <= 60


def test_a_token_for_one_task_is_good_for_no_other(gated, tiny):
    script = Script(person("Ana"), "read", gated)
    assert script("/tasks/gated").status_code == 200
    assert problem(script("/tasks/tiny")) == (403, "token_task")
    assert script("/me").json()["teams"] == []


def test_organizers_see_more_by_a_token_that_may_organize(gated):
    organizer = organizer_of(gated)
    path = "/tasks/gated/organize/teams"
    assert Script(organizer, "organize")(path).json() == []
    assert problem(Script(organizer, "submit")(path)) == (403, "token_scope")
    assert problem(Script(person("Eve"), "organize")(path)) == (403, "no_organizer")


def test_requests_are_limited_and_the_answers_say_how(db, monkeypatch):
    monkeypatch.setattr(rates, "REQUESTS", 2)
    script = Script(person("Ana"))
    found = [script("/tasks") for _ in range(3)]
    assert [one.status_code for one in found] == [200, 200, 429]
    assert [one["RateLimit-Remaining"] for one in found] == ["1", "0", "0"]
    assert problem(found[-1]) == (429, "too_many_requests")
    assert found[-1]["Retry-After"] == found[-1]["RateLimit-Reset"]
    assert Script(person("Bea"))("/tasks").status_code == 200


def test_what_has_not_changed_is_not_sent_again(gated):
    script = Script(person("Ana"))
    first = script("/tasks/gated")
    again = script("/tasks/gated", If_None_Match=first["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    assert first["Cache-Control"] == "private, no-cache"
    assert "Authorization" in first["Vary"]


@pytest.mark.parametrize(
    ("path", "method", "expected"),
    [
        ("/nothing", "GET", (404, "not_found")),
        ("/tasks/none", "GET", (404, "not_found")),
        ("/tasks/gated/leaderboards/none", "GET", (404, "not_found")),
        ("/tasks/gated/leaderboards/one?phase=none", "GET", (404, "not_found")),
        ("/tasks/gated", "PUT", (405, "method_not_allowed")),
        ("/tasks/gated/leaderboards/one?phase=%00", "GET", (400, "not_readable")),
        ("/tasks?limit=0", "GET", (422, "not_valid")),
        ("/tasks?limit=many", "GET", (422, "not_valid")),
        ("/tasks?cursor=x", "GET", (422, "not_valid")),
        ("/tasks/gated/leaderboards/one?runs=mine", "GET", (422, "not_a_choice")),
        ("/tasks/gated/datasets/none", "GET", (404, "not_found")),
    ],
)
def test_what_cannot_be_is_a_problem_in_json(gated, path, method, expected):
    assert problem(Script(person("Ana"))(path, method)) == expected


@pytest.mark.parametrize(
    "content",
    [
        '[1e999, "x"]',
        r'["2024", "\ud800"]',
        r'["2024", "a\u0000"]',
        '{"2024": 1, "x": 2}',
        '["0001-01-01T00:00:00+14:00", "5"]',
        '["9999-12-31T23:59:59-14:00", "5"]',
        '["2024-05-01T00:00:00", "5"]',
        '["2024-05-01", "5"]',
        "null",
    ],
)
@pytest.mark.parametrize("path", ["/tasks", "/tasks/gated/announcements"])
def test_a_cursor_that_no_page_named(gated, path, content):
    cursor = urlsafe_b64encode(content.encode()).decode()
    assert problem(Script(person("Ana"))(f"{path}?cursor={cursor}")) == (422, "not_valid")


@pytest.mark.parametrize("path", ["/tasks", "/tasks/gated/announcements", "/tasks/gated/runs"])
def test_a_cursor_with_huge_numbers_is_no_internal_error(gated, path):
    for values in (["9" * 100] * 2, ["2024-05-01T00:00:00+00:00", "9" * 100], ["-" + "9" * 100] * 2):
        cursor = urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")
        assert Script(person(f"P{len(cursor)}{values[0][:2]}"))(f"{path}?cursor={cursor}").status_code in (200, 422)


def test_each_part_of_the_input_has_its_own_problem(gated):
    body = Script()("/tasks?limit=0&cursor=" + "x" * 501).json()
    assert {one["field"] for one in body["errors"]} == {"limit", "cursor"}


def test_an_internal_error_is_a_problem_too(gated, monkeypatch):
    monkeypatch.setattr("portal.api.tasks.TaskAnswer.seen", lambda page, at: 1 / 0)
    client = Client(raise_request_exception=False)
    answer = client.get("/api/v1/tasks/gated")
    assert problem(answer) == (500, "server_error")
    assert b"division" not in answer.content


def test_while_nothing_can_be_saved_a_script_gets_retry_after(gated, monkeypatch):
    def fail(_page, _at):
        raise StorageUnavailable(28, "No space left on device")

    monkeypatch.setattr("portal.api.tasks.TaskAnswer.seen", fail)
    answer = Client(raise_request_exception=False).get("/api/v1/tasks/gated")
    assert problem(answer) == (503, "unavailable")
    assert answer.headers["Retry-After"] == "60"


@pytest.mark.slow
def test_every_code_has_its_page(client, db):
    codes = {*every_error(), *(one.code for one in OWN_ERRORS), "missing-items"}
    assert GONE.code in codes
    for code in codes:
        page = client.get(f"/errors/{code}/")
        assert page.status_code == 200, code
        assert code in page.content.decode()
    assert client.get("/errors/none/").status_code == 404


def test_a_list_continues_on_the_next_page(tiny, gated):
    token = token_of(person("Ana"))
    client = Client(headers={"Authorization": f"Bearer {token}"})
    first = client.get("/api/v1/tasks?limit=1")
    assert first["Link"] == f'<{first.json()["next"]}>; rel="next"'
    second = client.get(first.json()["next"])
    assert second.json()["next"] is None
    assert not second.has_header("Link")
    assert {one["slug"] for page in (first, second) for one in page.json()["items"]} == {"tiny", "gated"}


@pytest.mark.slow
def test_the_specification_is_there_to_read_and_to_use(client, db):
    found = client.get("/api/v1/openapi.json").json()
    assert found["openapi"].startswith("3.1")
    names = {tag["name"] for tag in found["tags"]}
    operations = [one for methods in found["paths"].values() for one in methods.values()]
    assert {tag for one in operations for tag in one["tags"]} == names
    assert len({one["operationId"] for one in operations}) == len(operations)
    assert 'data-url="/api/v1/openapi.json"' in client.get("/api/").content.decode()


def test_the_specification_says_nothing_twice_and_lists_things_before_one_thing(client, db):
    found = client.get("/api/v1/openapi.json").json()["paths"]
    operations = [one for methods in found.values() for one in methods.values()]
    descriptions = [one.get("description", "").strip().removesuffix(".") for one in operations]
    assert any(descriptions)
    assert not [one["summary"] for one, text in zip(operations, descriptions, strict=True) if text == one["summary"]]
    paths = list(found)
    assert paths.index("/api/v1/tasks") < paths.index("/api/v1/tasks/{task}/announcements")
