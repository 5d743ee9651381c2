"""The API's write endpoints: they follow the same rules as the pages, and every action has an endpoint or a stated
reason for not having one.
"""

import json
from datetime import timedelta
from typing import Annotated, get_args, get_origin

import pytest
from annotated_types import MaxLen
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pydantic import ValidationError

from portal.actions.base.registry import every_action
from portal.actions.teams import register_team
from portal.api.actions import ROUTES, WITHOUT_URL, body_of
from portal.api.json_body import JSON_BYTES
from portal.api.routes import router
from portal.api.urls import api
from portal.evaluation.gold import check_gold_upload
from portal.evaluation.preview import preview_gold
from portal.models import Announcement, GoldUpload, Phase, Refusal, Submission, Team, Validation
from portal.storage import open_gold
from portal.web.bodies import FORM_BYTES, IS_CUT
from tests.portal.api.test_requests import problem
from tests.portal.script import Script, token_of
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    RELEASE,
    captain,
    judged,
    organizer_of,
    person,
    run_file,
    send_run,
    without_children,
    work_off,
)

UPLOADS = "/tasks/tiny/phases/evaluation/submissions"
NAME = "one_Meltemi_1.json"
STATEMENTS = (
    25  # database queries for an accepted upload; one more if the times of the team's runs decide which is official
)


@pytest.fixture
def member(meltemi):
    return Script(captain(meltemi))


@pytest.fixture
def organizer(gated):
    return Script(organizer_of(gated), "organize")


@pytest.fixture
def bora(gated):
    """The captain of a team that is waiting for approval."""
    return register_team(person("Ana"), gated, EVALUATION, name="Bora", answers={"use": "research"})


def test_every_action_has_an_address_or_a_reason_for_none():
    operations = {one.url_name for view in router.path_operations.values() for one in view.operations}
    here = every_action().keys() & operations
    assert here | WITHOUT_URL.keys() == every_action().keys()
    assert not here & WITHOUT_URL.keys()


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_examples_are_valid_and_there_where_something_is_to_be_said(route):
    body = body_of(route)
    if body is None:
        assert not route.example
    else:
        assert route.example
        body.model_validate_json(json.dumps(route.example))


@pytest.mark.slow
def test_a_run_is_submitted_as_it_is(member, meltemi):
    answer = member(f"{UPLOADS}?file_name={NAME}", "POST", run_file(GOOD))
    assert answer.status_code == 201
    body = answer.json()
    assert (body["state"], body["file_name"], body["runs"][0]["name"]) == ("received", NAME, NAME)
    path = answer["Location"].partition("8000")[2]
    assert member(path).json()["id"] == body["id"]
    work_off(EVALUATION)
    assert member(path).json()["is_finished"]
    assert Submission.objects.get().sent_by == captain(meltemi)


def test_a_run_is_submitted_by_a_form(meltemi):
    client = Client(headers={"Authorization": f"Bearer {token_of(captain(meltemi))}"})
    answer = client.post(f"/api/v1{UPLOADS}", {"file": SimpleUploadedFile(NAME, run_file(GOOD))})
    assert answer.status_code == 201
    assert answer.json()["file_name"] == NAME


def test_the_same_key_gives_the_same_submission(member):
    path = f"{UPLOADS}?file_name={NAME}"
    first, again = (member(path, "POST", run_file(GOOD), Idempotency_Key="once") for _ in range(2))
    assert first.json()["id"] == again.json()["id"]
    assert problem(member(path, "POST", run_file(PERFECT), Idempotency_Key="once")) == (422, "key_reused")
    assert problem(member(path, "POST", run_file(PERFECT))) == (409, "run_number_taken")


@pytest.mark.slow
@pytest.mark.parametrize("official", ["all", "best", "last", "chosen"])
def test_a_submission_needs_few_statements(member, meltemi, official):
    Phase.objects.update(official=official)
    send_run(meltemi, GOOD, 1, EVALUATION)
    send_run(meltemi, PERFECT, 2, EVALUATION)
    work_off(EVALUATION)
    with CaptureQueriesContext(connection) as asked:
        answer = member(f"{UPLOADS}?file_name=one_Meltemi_3.json", "POST", run_file(GOOD))
    assert answer.json()["runs"][0]["is_official"] is (official != "best")  # the new run has no score yet
    statements = [query["sql"] for query in asked if query["sql"].startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))]
    assert len(statements) <= STATEMENTS + (official in ("last", "chosen")), "\n".join(statements)


def test_an_input_that_is_not_valid_is_named_as_it_is_sent(member, gated):
    slot = member(f"{UPLOADS}?file_name={NAME}&slot=best", "POST", b"[]").json()["errors"]
    assert [one["field"] for one in slot] == ["slot"]
    assert slot[0]["detail"].startswith("Slot must be one of")
    assert [one["field"] for one in member(UPLOADS, "POST", b"[]").json()["errors"]] == ["file_name"]
    form = Client(headers={"Authorization": f"Bearer {token_of(person('Ana'))}"})
    listed = form.post("/api/v1/tasks/gated/team", b"[]", content_type="application/json").json()["errors"]
    assert listed[0]["detail"].endswith("Send a JSON object.")


def test_a_form_without_its_boundary(member, meltemi):
    for media in ("multipart/form-data", "multipart/form-data; boundary="):
        answer = member(UPLOADS, "POST", b"x", **{"Content-Type": media})
        assert problem(answer) == (400, "not_readable")


def test_a_form_without_a_file(meltemi):
    client = Client(headers={"Authorization": f"Bearer {token_of(captain(meltemi))}"})
    answer = client.post(f"/api/v1{UPLOADS}", {"other": "x"})
    assert problem(answer) == (422, "required")
    assert [one["field"] for one in answer.json()["errors"]] == ["file"]


@pytest.mark.parametrize(
    ("path", "media", "expected"),
    [
        ("/tasks/gated/announcements", "application/x-www-form-urlencoded", "application/json"),
        ("/tasks/gated/announcements", "multipart/form-data; boundary=x", "application/json"),
        ("/tasks/gated/organize/gold/one/test", "multipart/form-data; boundary=x", "application/octet-stream"),
        ("/tasks/gated/organize/datasets/sample", "multipart/mixed; boundary=x", "application/octet-stream"),
    ],
)
def test_bodies_of_another_type(organizer, path, media, expected):
    answer = organizer(path, "POST", b'{"title": "News", "text": "Well."}', **{"Content-Type": media})
    assert problem(answer) == (415, "media_type")
    assert expected in answer.json()["detail"]
    assert not Announcement.objects.exists()


@pytest.mark.parametrize("path", ["gold/one/test", "datasets/sample"])
def test_a_large_body_needs_a_length(gated, path):
    """Without one, only its first part has been read."""
    headers = {"Authorization": f"Bearer {token_of(organizer_of(gated), 'organize')}"}
    client = Client(headers=headers, **{IS_CUT: True})
    answer = client.post(f"/api/v1/tasks/gated/organize/{path}", b"x", content_type="application/octet-stream")
    assert problem(answer) == (411, "length_required")
    assert not GoldUpload.objects.exists()


ANNOUNCEMENTS = "/tasks/gated/announcements"
NEWS = {"title": "News", "text": "Well."}


@pytest.mark.parametrize("size", [JSON_BYTES, JSON_BYTES + 1])
def test_json_over_64_kibibytes_is_not_read(organizer, monkeypatch, size):
    body = json.dumps(NEWS).encode().ljust(size)
    if size > JSON_BYTES:
        monkeypatch.setattr("portal.api.json_body.StrictJson.parse_body", None)
        answer = organizer(ANNOUNCEMENTS, "POST", body)
        assert problem(answer) == (413, "too_large")
        assert answer.json()["params"] == {"limit": JSON_BYTES}
    else:
        assert organizer(ANNOUNCEMENTS, "POST", body).status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(NEWS | dict.fromkeys(map(str, range(5000)), 1)).encode(),
        json.dumps(NEWS | {"x" * 60_000: 1} | dict.fromkeys(map(str, range(30)), 1)).encode(),
    ],
)
def test_few_problems_are_listed_with_their_number(organizer, body):
    answer = organizer(ANNOUNCEMENTS, "POST", body)
    assert problem(answer) == (422, "not_valid")
    found = answer.json()
    assert len(found["errors"]) == 20
    assert found["errors_total"] in (5000, 31)
    assert f"There are {found['errors_total']} problems; the first 20 are listed." in found["detail"]
    assert len(answer.content) < 16_000


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/tasks/gated/organize/scores", {"wanted": ["x"] * 5000, "note": "New."}, "wanted"),
        ("/tasks/tiny/team", {"name": "Bora", "answers": dict.fromkeys(map(str, range(3000)), "")}, "answers"),
    ],
)
def test_a_long_list_is_one_problem(tiny, organizer, path, body, field):
    answer = organizer(path, "POST", body)
    assert problem(answer) == (422, "not_valid")
    (found,) = answer.json()["errors"]
    assert found["field"] == field
    assert "at most" in found["detail"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"title": "News", "text": "Well.", "title": "Other"}', "“title” occurs more than once"),
        (b'{"title": "News", "text": {"a": 1, "a": 2}}', "“a” occurs more than once"),
        (json.dumps(NEWS).encode("utf-16"), "UTF-8"),
        (json.dumps(NEWS).encode("utf-16-le"), "UTF-8"),
        (json.dumps(NEWS).encode("utf-32"), "UTF-8"),
        (b'{"title": "News", "text": NaN}', "NaN"),
        (b'{"title": "News", "text": -Infinity}', "-Infinity"),
        (b'{"title": "News", "text": ' + b"9" * 5000 + b"}", "UTF-8"),
        (b"[" * 60_000, "UTF-8"),
        (b'{"a":' * 10_000, "UTF-8"),
        (b"\xff", "UTF-8"),
        (b'{"title": "News", "text": "Well.", "\\ud800": 1}', "invalid character"),
        (b'{"title": "News", "text": {"a\\u0000": "b"}}', "invalid character"),
    ],
)
def test_json_is_read_strictly(organizer, body, reason):
    answer = organizer(ANNOUNCEMENTS, "POST", body)
    assert problem(answer) == (400, "not_readable")
    assert reason in answer.json()["detail"]
    assert not Announcement.objects.exists()


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/tasks/tiny/team/hand-over", {"member": True}, "member"),
        ("/tasks/tiny/team/invite", {"address": True}, "address"),
    ],
)
def test_true_is_no_number(member, path, body, field):
    answer = member(path, "POST", body)
    assert problem(answer) == (422, "not_valid")
    assert [one["field"] for one in answer.json()["errors"]] == [field]


@pytest.mark.parametrize("given", [1, "yes", "true", 0, None])
def test_only_true_and_false_are_true_and_false(organizer, given):
    with pytest.raises(ValidationError):
        body_of(next(route for route in ROUTES if route.name == "apply_push")).model_validate({"is_sure": given})


def lists(schema, schemas):
    """Yield the lists and mappings in a schema."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if schema.get("type") == "array" or schema.get("additionalProperties"):
        yield schema
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *schema.get("allOf", ())]
    parts += [one for one in (schema.get("items"), schema.get("additionalProperties")) if isinstance(one, dict)]
    for part in parts:
        yield from lists(part, schemas)


def test_every_list_that_a_request_has_is_limited():
    found = api.get_openapi_schema()
    schemas = found["components"]["schemas"]
    limited = []
    for operation in (one for methods in found["paths"].values() for one in methods.values()):
        bodies = [one["schema"] for one in operation.get("requestBody", {}).get("content", {}).values()]
        given = [*(one["schema"] for one in operation.get("parameters", ())), *bodies]
        limited += [
            (operation["operationId"], "maxItems" in one or "maxProperties" in one)
            for schema in given
            for one in lists(schema, schemas)
        ]
    assert {"register_team", "apply_scores", "describe_run", "submit"} <= {name for name, _ in limited}
    assert [name for name, is_limited in limited if not is_limited] == []


def limits_of_lists(annotation, metadata=()):
    """Yield, for each list and mapping in an annotation, whether it is limited."""
    parts = get_args(annotation)
    if get_origin(annotation) is Annotated:
        yield from limits_of_lists(parts[0], [found for one in parts[1:] for found in getattr(one, "metadata", [one])])
        return
    if get_origin(annotation) in (list, dict):
        yield any(isinstance(one, MaxLen) for one in metadata)
    for part in parts:
        yield from limits_of_lists(part)


def test_every_list_that_an_action_takes_is_limited():
    """Also those of actions that only pages call."""
    found = {
        f"{action.name}: {name}": list(limits_of_lists(field.annotation, field.metadata))
        for action in every_action().values()
        for name, field in action.Input.model_fields.items()
    }
    assert found["register_team: answers"] == found["apply_scores: wanted"] == [True]
    assert [name for name, limits in found.items() if not all(limits)] == []


def test_who_organizes_and_uses_a_token_of_another_scope_learns_which(gated, bora):
    path = f"/tasks/gated/organize/teams/{bora.pk}/password"
    answer = Script(organizer_of(gated), "submit")(path, "POST")
    assert problem(answer) == (403, "token_scope")
    assert answer.json()["params"] == {"scope": "submit", "needed": "organize"}


def test_all_problems_of_a_file_come_at_once(member):
    answer = member(f"{UPLOADS}?file_name=two_Notus_9.csv", "POST", run_file(GOOD))
    assert problem(answer) == (422, "upload_rejected")
    assert {one["code"] for one in answer.json()["problems"]} >= {"name-team"}


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        (UPLOADS, b"[]", (422, "required")),
        (f"{UPLOADS}?file_name={NAME}&slot=best", b"[]", (422, "not_a_choice")),
        ("/tasks/tiny/phases/post/submissions?file_name=one_Meltemi_1.json", b"[]", (403, "phase_closed")),
        ("/tasks/tiny/phases/none/submissions?file_name=x", b"[]", (404, "not_found")),
    ],
)
def test_uploads_that_cannot_be(member, path, body, expected):
    assert problem(member(path, "POST", body)) == expected


def test_a_file_that_is_too_large_is_not_read(member, monkeypatch):
    monkeypatch.setattr("portal.api.files.UPLOAD_BYTES", 10)
    assert problem(member(f"{UPLOADS}?file_name={NAME}", "POST", b"x" * 11)) == (413, "too_large")
    assert problem(member(f"{UPLOADS}?file_name={NAME}", "POST", b"x" * 100_000)) == (413, "too_large")
    path, media = UPLOADS.replace("submissions", "validations"), {"Content-Type": "multipart/form-data; boundary=x"}
    assert problem(member(path, "POST", b"x" * (FORM_BYTES + 11), **media)) == (413, "too_large")
    assert list(Refusal.objects.values_list("code", "uploads")) == [("too_large", 3)]  # as on the page


def test_who_may_not_submit_is_rejected_before_the_body_is_read(tiny, meltemi):
    path = f"{UPLOADS}?file_name={NAME}"
    for script, expected in (
        (Script(), (401, "signed_out")),
        (Script(person("Eve")), (403, "no_team")),
        (Script(captain(meltemi), "read"), (403, "token_scope")),
    ):
        assert problem(script(path, "POST", run_file(GOOD))) == expected
    assert not Submission.objects.exists()


@pytest.mark.slow
def test_a_file_is_validated_only(member):
    answer = member(f"/tasks/tiny/phases/evaluation/validations?file_name={NAME}", "POST", run_file(GOOD))
    assert answer.status_code == 202
    path = answer["Location"].partition("8000")[2]
    assert not member(path).json()["is_finished"]
    work_off(EVALUATION)
    assert member(path).json()["would_be_accepted"]
    assert (Validation.objects.count(), Submission.objects.count()) == (1, 0)


@pytest.mark.slow
def test_a_team_from_its_registration_to_its_end(tiny):
    ana, bea = person("Ana"), person("Bea")
    first, second = Script(ana), Script(bea)
    made = first("/tasks/tiny/team", "POST", {"name": "Bora"})
    assert (made.status_code, made.json()["name"]) == (201, "Bora")
    joined = second("/tasks/tiny/team/join", "POST", {"code": made.json()["invitation_code"]})
    key = next(one["id"] for one in joined.json()["members"] if not one["is_captain"])
    assert problem(second("/tasks/tiny/team/hand-over", "POST", {"member": key})) == (403, "no_captain")
    assert first("/tasks/tiny/team/hand-over", "POST", {"member": key}).status_code == 204
    assert first("/tasks/tiny/team/invite", "POST", {"address": "cleo@uni.example"}).status_code == 204
    assert first("/tasks/tiny/team/paper", "POST", {"link": "https://example.org/"}).status_code == 204
    wrong = first("/tasks/tiny/team/paper", "POST", {"bibtex": "none"})
    assert (problem(wrong), wrong.json()["problems"]) == ((422, "bibtex"), [])
    assert first("/tasks/tiny/team/leave", "POST").status_code == 204
    assert second("/tasks/tiny/team/withdraw", "POST").status_code == 204
    assert Team.objects.get().state == Team.State.WITHDRAWN


@pytest.mark.slow
def test_runs_are_chosen_described_and_withdrawn(meltemi, member):
    Phase.objects.filter(shared_task__slug="tiny").update(official=Phase.Official.CHOSEN)
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    path = f"/tasks/tiny/runs/{run.pk}"
    assert member(f"{path}/choose", "POST").json()["is_chosen"]
    assert member(f"{path}/describe", "POST", {"method": "SVM", "system_type": "features"}).json()["method"] == "SVM"
    assert problem(member(f"{path}/describe", "POST", {"link": "nowhere"})) == (422, "not_valid")
    assert problem(member(f"{path}/withdraw", "POST", {})) == (422, "required")
    assert member(f"{path}/withdraw", "POST", {"reason": "Wrong file"}).json()["is_withdrawn"]


def test_the_agreement_is_read_and_signed(gated):
    eve = Script(person("Eve"))
    text = eve("/tasks/gated/agreement").json()
    assert not text["is_signed"]
    given = {"typed_name": "Eve Example", "sha256": text["sha256"]}
    assert eve("/tasks/gated/agreement", "POST", given).status_code == 204
    assert eve("/tasks/gated/agreement").json()["is_signed"]
    assert problem(eve("/tasks/gated/agreement", "POST", given | {"sha256": "0"})) == (409, "agreement_changed")


def test_what_is_not_of_the_input_is_rejected(gated):
    answer = Script(person("Eve"))("/tasks/gated/team", "POST", {"name": "Bora", "state": "approved"})
    assert problem(answer) == (422, "not_valid")
    assert answer.json()["errors"][0]["field"] == "state"
    assert not Team.objects.exists()


@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b"\xff", b'{"name": "a\\u0000b"}', b'{"name": "\\ud800"}'])
def test_a_body_that_cannot_be_read(gated, body):
    answer = Script(person("Eve"))("/tasks/gated/team", "POST", body)
    assert problem(answer)[0] in (400, 422)


def test_organizers_decide_about_teams(organizer, bora):
    path = f"/tasks/gated/organize/teams/{bora.pk}"
    assert organizer(f"{path}/approve", "POST").status_code == 204
    assert organizer(f"{path}/password", "POST").status_code in (204, 409)
    assert organizer(f"{path}/decline", "POST", {"reason": "No."}).status_code == 204
    bora.refresh_from_db()
    assert (bora.state, bora.reason) == (Team.State.DECLINED, "No.")
    assert problem(Script(person("Eve"), "organize")(f"{path}/approve", "POST")) == (403, "no_organizer")


def test_organizers_announce_and_take_back(organizer):
    made = organizer("/tasks/gated/announcements", "POST", {"title": "News", "text": "Well."})
    assert made.status_code == 201
    assert organizer(f"/tasks/gated/announcements/{made.json()['id']}", "DELETE").status_code == 204
    assert not Announcement.objects.exists()


def test_organizers_move_phases_and_grant_time(organizer, bora, at):
    at(EVALUATION)
    path = "/tasks/gated/phases/evaluation"
    phase = Phase.objects.get(shared_task__slug="gated", slug="evaluation")
    closes = phase.closes + timedelta(days=1)
    given = {"opens": phase.opens.isoformat(), "closes": closes.isoformat(), "note": "More time."}
    assert organizer(f"{path}/window", "POST", given).status_code == 204
    until = (closes + timedelta(days=1)).isoformat()
    extra = {"team": "Bora", "until": until, "reason": "An outage."}
    assert organizer(f"{path}/extra-time", "POST", extra).status_code == 204
    extra_time = phase.extra_times.get()
    assert extra_time.team == bora
    assert organizer(f"{path}/extra-time/{extra_time.pk}", "DELETE").status_code == 204
    assert not phase.extra_times.exists()
    assert problem(organizer(f"{path}/extra-time", "POST", extra | {"team": "None"})) == (404, "not_found")
    assert problem(organizer(f"{path}/release", "POST", {"when": "soon"})) == (422, "not_valid")
    assert problem(organizer(f"{path}/release", "POST"))[0] == 409


def test_organizers_take_back_the_release_that_they_saw(organizer, at):
    at(RELEASE)
    phase = Phase.objects.get(shared_task__slug="gated", slug="evaluation")
    Phase.objects.filter(pk=phase.pk).update(closes=EVALUATION, released=RELEASE)
    path = "/tasks/gated/phases/evaluation/release/take-back"
    seen = {"seen": EVALUATION.isoformat()}
    assert problem(organizer(path, "POST", seen)) == (422, "release_changed")
    assert organizer(path, "POST", {"seen": RELEASE.isoformat()}).status_code == 204
    assert problem(organizer(path, "POST")) == (409, "no_release")


@pytest.mark.parametrize(
    ("moment", "reason"),
    [
        ("2026-05-20T12:00:00", "a date, a time and a time zone"),
        ("2026-05-20", "a date, a time and a time zone"),
        ("2026-05-20Z", "a date, a time and a time zone"),
        ("9999-12-31T23:59:59-14:00", "between the years 2000 and 2199"),
        ("9999-12-31T23:59:59Z", "between the years 2000 and 2199"),
        ("0001-01-01T00:00:00+14:00", "between the years 2000 and 2199"),
    ],
)
def test_moments_have_a_zone_and_a_year_that_pages_can_show(organizer, moment, reason):
    path = "/tasks/gated/phases/evaluation"
    given = {
        "window": {"opens": moment, "closes": moment, "note": "Why."},
        "extra-time": {"until": moment, "reason": "Why."},
        "release": {"when": moment},
    }
    for address, body in given.items():
        answer = organizer(f"{path}/{address}", "POST", body)
        assert problem(answer) == (422, "not_valid")
        assert reason in answer.json()["errors"][0]["detail"]


def test_organizers_ask_for_scores_and_close_papers(organizer):
    assert organizer("/tasks/gated/organize/rescore", "POST", {"reason": "A metric."}).status_code == 204
    assert organizer("/tasks/gated/organize/retry", "POST").status_code == 204
    assert problem(organizer("/tasks/gated/organize/scores", "POST", {"wanted": ["1 2 3"], "note": "Why"})) == (
        409,
        "changed",
    )
    assert organizer("/tasks/gated/organize/papers/close", "POST").status_code == 204
    assert organizer("/tasks/gated").json()["papers_closed"]


@pytest.mark.slow
def test_gold_is_sealed_as_it_comes(organizer, tiny):
    assert organizer("/tasks/gated/organize/gold/one/test", "POST", b'[{"id": "a"}]').status_code == 202
    upload = GoldUpload.objects.filter(is_imported=False).get()
    assert open_gold(upload.sealed_sha256) == b'[{"id": "a"}]'
    assert problem(organizer("/tasks/gated/organize/gold/one/none", "POST", b"[]")) == (422, "no_such_split")
    assert problem(organizer("/tasks/tiny/organize/gold/one/test", "POST", b"[]")) == (403, "no_organizer")


@pytest.mark.parametrize(("limit", "path"), [("GOLD_BYTES", "gold/one/test"), ("PUSH_BYTES", "pushes")])
def test_organizers_files_that_are_too_large_are_not_read(organizer, monkeypatch, limit, path):
    monkeypatch.setattr(f"portal.api.files.{limit}", 10)
    monkeypatch.setattr("portal.api.uploads.SealedFile", None)
    answer = organizer(f"/tasks/gated/organize/{path}", "POST", b"x" * 11)
    assert (problem(answer), answer.json()["params"]) == ((413, "too_large"), {"limit": 10})


@pytest.mark.slow
def test_a_correction_of_the_gold_is_previewed_then_applied_and_taken_back(tiny, meltemi):
    organizer = Script(organizer_of(tiny), "organize")
    send_run(meltemi, PERFECT, 1, EVALUATION)
    work_off(EVALUATION)
    sent = organizer("/tasks/tiny/organize/gold/one/test", "POST", run_file(GOOD))
    assert (sent.status_code, sent.json()["state"], sent.json()["is_finished"]) == (202, "received", False)
    place = f"/tasks/tiny/organize/gold-uploads/{sent.json()['id']}"
    assert sent["Location"].endswith(place)
    assert problem(organizer(f"{place}/apply", "POST", {"note": "Why."})) == (409, "not_ready")
    upload = GoldUpload.objects.get(pk=sent.json()["id"])
    check_gold_upload(upload.pk, EVALUATION)
    with without_children():
        preview_gold(upload.pk, EVALUATION)
    found = organizer(place).json()
    assert (found["state"], found["is_finished"], found["is_stale"]) == ("ready", True, False)
    assert (found["listed_items"], found["split_items"]) == (4, 4)
    assert found["changes"]["changed"] == {"count": 1, "items": ["c"]}
    (board,) = [one for one in found["boards"] if one["phase"] == "evaluation"]
    (own,) = [one for one in board["runs"] if one["team"]]
    assert (own["before"]["scores"]["accuracy"], own["after"]["scores"]["accuracy"]) == (1.0, 0.75)
    assert (own["before"]["rank"], own["after"]["rank"], board["rescored"]) == (1, 1, 2)
    assert problem(organizer(f"{place}/apply", "POST", {"note": ""})) == (422, "required")
    applied = organizer(f"{place}/apply", "POST", {"note": "Item c was labeled wrong."}).json()
    assert (applied["version"], applied["note"]) == (2, "Item c was labeled wrong.")
    assert organizer(place).json()["version"] == 2
    line = organizer("/tasks/tiny/organize/gold").json()[0]
    assert (line["newest"]["version"], line["upload"], line["upload_state"]) == (2, str(upload.pk), "accepted")
    work_off(EVALUATION)
    back = organizer(f"/tasks/tiny/organize/gold/{line['former'][0]['id']}/preview", "POST")
    assert (back.status_code, back.json()["state"]) == (202, "received")
    place = back["Location"].partition("/api/v1")[2]
    judged(GoldUpload.objects.get(pk=back.json()["id"]), EVALUATION)
    (board,) = [one for one in organizer(place).json()["boards"] if one["phase"] == "evaluation"]
    (own,) = [one for one in board["runs"] if one["team"]]
    assert (own["before"]["scores"]["accuracy"], own["after"]["scores"]["accuracy"]) == (0.75, 1.0)
    assert organizer(f"{place}/apply", "POST", {"note": "We were wrong."}).json()["version"] == 3
    in_use = f"/tasks/tiny/organize/gold/{line['former'][0]['id']}/preview"
    assert problem(organizer(in_use, "POST")) == (409, "in_use")


def test_a_dataset_gets_another_file(organizer, gated):
    path = "/tasks/gated/organize/datasets/sample"
    assert organizer(path, "POST", b"a new sample").status_code == 204
    answer = organizer("/tasks/gated/datasets/sample/file")
    assert b"".join(answer.streaming_content) == b"a new sample"
    assert problem(organizer(path, "POST", b"a new sample")) == (422, "same_file")
    assert problem(organizer("/tasks/gated/organize/datasets/none", "POST", b"x")) == (404, "not_found")
