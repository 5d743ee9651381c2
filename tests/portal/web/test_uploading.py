"""The upload page, and what becomes of an upload."""

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from portal.models import OutgoingMail, Phase, Run, SharedTask, Submission, Team
from portal.models.clock import database_now
from portal.queries.mails import facts
from portal.queries.upload_page import UploadPage
from portal.web.templatetags.problems import anchor
from scoring.limits import UPLOAD_BYTES
from tests.portal.remembered import remembered
from tests.portal.world import PERFECT, POST, RELEASE, archive, run_file, send_run, work_off

PAGE = "/tasks/tiny/submit/"
VALIDATE = "/tasks/tiny/validate/"
STATEMENTS = 20  # database queries for an accepted upload; one more if an agreement must be signed


def upload(client: Client, name: str, body: bytes, phase: str = "post", key: str = "", **extra: Any) -> Any:
    return client.post(PAGE, {"file": SimpleUploadedFile(name, body), "phase": phase, "key": key}, **extra)


@remembered
def submission(meltemi: Team) -> Submission:
    """An upload by Meltemi with a scored run, in a phase that shows scores immediately."""
    send_run(meltemi, PERFECT, 1, POST, "post")
    work_off(POST)
    return Submission.objects.get()


def test_the_page_shows_names_that_are_right_for_this_team_and_what_is_left(sender: Client) -> None:
    text = sender.get(PAGE).content.decode()
    assert "one_Meltemi_1.json" in text
    assert "tiny_Meltemi.zip" in text
    assert "2 of 2" in text
    assert "--team Meltemi" in text


def test_anonymous_people_sign_in_first(anybody: Client, tiny: SharedTask) -> None:
    assert anybody.get(PAGE)["Location"] == f"/accounts/login/?next={PAGE}"
    assert upload(anybody, "one_Meltemi_1.json", b"[]").status_code == 302
    assert not Submission.objects.exists()


def test_people_without_a_team_are_asked_to_make_one(newcomer: Client) -> None:
    assert "Create or join a team" in newcomer.get(PAGE).content.decode()
    assert upload(newcomer, "one_Meltemi_1.json", b"[]").status_code == HTTPStatus.FORBIDDEN


def test_a_double_click_is_one_upload_with_one_receipt(sender: Client) -> None:
    page = sender.get(PAGE)
    key = page.context["key"]
    assert f'name="key" value="{key}"' in page.content.decode()
    first, second = (upload(sender, "one_Meltemi_1.json", run_file(PERFECT), key=key) for _ in range(2))
    assert first["Location"] == second["Location"]
    assert Submission.objects.count() == 1
    assert upload(sender, "one_Meltemi_1.json", b"[]", key=key).status_code == HTTPStatus.UNPROCESSABLE_ENTITY


def test_a_run_is_accepted_and_its_receipt_shown(sender: Client) -> None:
    response = upload(sender, "one_Meltemi_1.json", run_file(PERFECT))
    submission = Submission.objects.get()
    assert response.status_code == HTTPStatus.SEE_OTHER
    assert response["Location"] == f"/tasks/tiny/submissions/{submission.pk}/"
    text = sender.get(response["Location"]).content.decode()
    assert "Received: one run" in text
    assert submission.sha256[:8] in text
    assert "hx-get" in text  # the page polls for progress


def test_htmx_is_sent_on_by_a_header(sender: Client) -> None:
    response = upload(sender, "one_Meltemi_1.json", run_file(PERFECT), headers={"HX-Request": "true"})
    assert response["HX-Redirect"] == f"/tasks/tiny/submissions/{Submission.objects.get().pk}/"


def test_an_archive_of_runs_is_accepted(sender: Client) -> None:
    body = archive({"one_Meltemi_1.json": run_file(PERFECT), "two_Meltemi_1.json": run_file(PERFECT)})
    assert upload(sender, "tiny_Meltemi.zip", body).status_code == HTTPStatus.SEE_OTHER
    assert Run.objects.filter(kind="team").count() == 2


def test_a_wrong_name_is_rejected_with_the_right_one(sender: Client) -> None:
    response = upload(sender, "one_Meltmi_1.json", run_file(PERFECT))
    text = response.content.decode()
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "Rejected: no run was submitted" in text
    assert '<ins class="be">Meltemi</ins>' in text
    assert "if you mean this run" not in text  # the track is certain, because the name contains it
    assert not Submission.objects.exists()


def test_a_name_is_only_a_suggestion_if_the_track_is_uncertain(sender: Client) -> None:
    text = upload(sender, "on_Meltemi_1.json", run_file(PERFECT)).content.decode()
    assert "if you mean this run, rename the file to" in " ".join(text.split())


@pytest.mark.slow
def test_under_a_wrong_name_the_content_is_judged_too(sender: Client) -> None:
    wrong = json.dumps([{"id": "a", "value": "YESS"}, {"id": "b", "value": "NO"}]).encode()
    text = upload(sender, "one_Meltmi_1.json", wrong).content.decode()
    assert '<ins class="be">Meltemi</ins>' in text
    assert "YESS" not in text  # the worker has not checked the content yet
    address = text.partition('hx-get="')[2].partition('"')[0].replace("&amp;", "&")
    work_off(database_now())
    contents = sender.get(address).content.decode()
    assert "label-outside-domain" in contents
    assert "missing-items" in contents
    assert "name-pattern" not in contents  # the page has already shown this problem
    assert not Submission.objects.exists()


def test_where_no_run_is_left_there_is_nothing_to_fix(sender: Client) -> None:
    for number in (1, 2):
        upload(sender, f"one_Meltemi_{number}.json", run_file(PERFECT))
    text = upload(sender, "one_Meltemi_3.json", run_file(PERFECT)).content.decode()
    assert "Runs left today (UTC) for Track one: 0 of 2." in text
    assert "Upload another file" not in text


def test_names_to_copy_have_a_number_that_is_free(sender: Client, tiny: SharedTask) -> None:
    tiny.phases.filter(slug="post").update(run_numbers=Phase.RunNumbers.ONCE)
    upload(sender, "one_Meltemi_1.json", run_file(PERFECT))
    assert [one.name for one in sender.get(PAGE).context["upload"].names.runs] == [
        "one_Meltemi_2.json",
        "two_Meltemi_1.json",
    ]


def test_the_rule_for_run_numbers_is_said_once_if_all_open_phases_share_it(sender: Client, tiny: SharedTask) -> None:
    tiny.phases.filter(slug="without-gold").update(closes=database_now() + timedelta(days=1))
    tiny.phases.update(run_numbers=Phase.RunNumbers.FREE)
    assert sender.get(PAGE).content.decode().count("You can use a number more than once") == 1
    tiny.phases.filter(slug="post").update(run_numbers=Phase.RunNumbers.ONCE)
    text = sender.get(PAGE).content.decode()
    assert "you can use a number more than once" in text
    assert "you can use each number once per track" in text


def test_the_open_phase_that_counts_is_selected_and_all_limits_are_shown(sender: Client, tiny: SharedTask) -> None:
    now = database_now()
    tiny.phases.filter(slug="without-gold").update(closes=now + timedelta(days=1))
    tiny.phases.filter(slug="evaluation").update(closes=now + timedelta(days=2), released=None)
    text = sender.get(PAGE).content.decode()
    assert re.search(r'value="evaluation"\s+checked', text)
    assert "Runs left in Evaluation" in text
    assert "Runs left today in Post-evaluation" in text
    for slug in ("evaluation", "without-gold"):
        assert f'<span class="nowrap">--phase</span> {slug}' in text
    assert '<span class="nowrap">--split</span> later' in text


@pytest.mark.slow
def test_content_that_breaks_the_rules_is_listed_with_place_and_fix(sender: Client) -> None:
    wrong = json.dumps([{"id": "a", "value": "YESS"}, {"id": "b", "value": "NO"}]).encode()
    page = upload(sender, "one_Meltemi_1.json", wrong)["Location"]
    work_off(POST)
    text = sender.get(page).content.decode()
    assert "Rejected: no run was submitted" in text
    assert "YESS" in text
    assert "closest match" in text
    assert "<mark>YESS</mark>" in text  # the line of the run
    assert "/errors/label-outside-domain/" in text
    assert "hx-get" not in text  # the state is final, so the page does not poll
    problems = sender.get(f"{page}report.json").json()
    assert not problems["ok"]
    assert {problem["severity"] for problem in problems["problems"]} == {"error"}
    assert "excerpt" in problems["problems"][0]
    mail = OutgoingMail.objects.get(kind=OutgoingMail.Kind.RUNS_REJECTED)
    assert '"value": "YESS"' not in str(facts(mail, POST))  # the line is not quoted
    assert sender.get(PAGE).context["upload"].limits[0][1][0].left == 2


@pytest.mark.slow
def test_a_rejected_upload_is_corrected_on_its_own_page(sender: Client) -> None:
    wrong = json.dumps([{"id": item, "value": "YESS"} for item in "abcd"], indent=1).encode()
    names = ["one_Meltemi_1.json", "one_Meltemi_2.json"]
    page = upload(sender, "tiny_Meltemi.zip", archive(dict.fromkeys(names, wrong)))["Location"]
    work_off(POST)
    text = sender.get(page).content.decode()
    assert text.count("/errors/label-outside-domain/") == 1  # the same in both runs
    assert text.count("<mark>YESS</mark>") == 3
    assert f'href="#{anchor(names[1])}"' in text
    assert f'id="{anchor(names[1])}"' in text
    assert 'href="#upload"' in text
    key = re.search(r'name="key" value="(\w+)"', text)
    assert key is not None
    done = upload(sender, names[0], run_file(PERFECT), key=key[1])
    assert done.status_code == HTTPStatus.SEE_OTHER
    assert done["Location"] != page


def try_out(client: Client, name: str, body: bytes, **extra: Any) -> Any:
    return client.post(VALIDATE, {"file": SimpleUploadedFile(name, body), "phase": "post"}, **extra)


def report_after(client: Client, response: Any) -> str:
    """Have a worker run, and return the page to which the response redirects."""
    assert response.status_code == HTTPStatus.SEE_OTHER
    work_off(database_now())
    return str(client.get(response["Location"]).content.decode())


@pytest.mark.slow
def test_validating_says_what_would_become_of_an_upload(sender: Client) -> None:
    text = report_after(sender, try_out(sender, "one_Meltemi_1.json", run_file(PERFECT)))
    assert "Valid: this file would be accepted" in text
    assert "1 of 2" in text  # the worker has checked the content, too
    assert not Submission.objects.exists()


@pytest.mark.slow
def test_validating_lists_every_problem_of_content_and_names(sender: Client) -> None:
    body = archive({"one_Meltemi_1.json": b'[{"id": "a", "value": "YESS"}]', "two_Meltmi_1.json": run_file(PERFECT)})
    text = report_after(sender, try_out(sender, "tiny_Meltemi.zip", body))
    assert "Invalid: this file would be rejected" in text
    assert "YESS" in text
    assert '<ins class="be">Meltemi</ins>' in text


@pytest.mark.slow
def test_validating_knows_the_limits(sender: Client) -> None:
    upload(sender, "one_Meltemi_1.json", run_file(PERFECT))
    text = report_after(sender, try_out(sender, "one_Meltemi_1.json", run_file(PERFECT)))
    assert "Valid, but can’t be submitted now" in text


@pytest.mark.slow
def test_a_validation_page_waits_for_its_report_with_and_without_javascript(sender: Client) -> None:
    page = try_out(sender, "one_Meltemi_1.json", run_file(PERFECT))["Location"]
    waiting = sender.get(page).content.decode()
    assert "Waiting for a worker" in waiting
    assert f'hx-get="{page}status/?seen=waiting"' in waiting
    assert re.search(r'<noscript>\s*<meta http-equiv="refresh" content="2">\s*</noscript>', waiting)
    assert sender.get(f"{page}status/?seen=waiting").status_code == HTTPStatus.NO_CONTENT
    assert page in sender.get("/tasks/tiny/submit/").content.decode()
    work_off(database_now())
    for text in (sender.get(f"{page}status/?seen=waiting"), sender.get(page)):
        assert "Valid: this file would be accepted" in text.content.decode()
        assert "hx-get" not in text.content.decode()  # the state is final, so the page does not poll
        assert 'http-equiv="refresh"' not in text.content.decode()


@pytest.mark.slow
def test_a_newer_validation_replaces_an_unfinished_one_and_its_page_says_so(sender: Client) -> None:
    first = try_out(sender, "one_Meltemi_1.json", run_file(PERFECT))["Location"]
    second = try_out(sender, "one_Meltemi_2.json", run_file(PERFECT))["Location"]
    text = sender.get(first).content.decode()
    assert f'<a href="{second}">report for one_Meltemi_2.json</a>' in text
    assert "hx-get" not in text
    rejected = upload(sender, "three_Meltemi_1.json", run_file(PERFECT)).content.decode()
    assert f'<a href="{second}">one_Meltemi_2.json</a>' in rejected  # the page says why contents were not checked


def test_with_htmx_the_report_appears_beneath_the_form(sender: Client) -> None:
    response = try_out(sender, "one_Meltemi_1.json", run_file(PERFECT), headers={"HX-Request": "true"})
    assert response.status_code == HTTPStatus.ACCEPTED
    text = response.content.decode()
    assert '<section id="validation"' in text
    assert "hx-get" in text
    assert "<html" not in text


def test_who_may_validate_and_how(sender: Client, teammate: Client, newcomer: Client, anybody: Client) -> None:
    name, body = "one_Meltemi_1.json", run_file(PERFECT)
    answers = [try_out(client, name, body).status_code for client in (teammate, newcomer, anybody)]
    assert answers == [HTTPStatus.SEE_OTHER, HTTPStatus.FORBIDDEN, HTTPStatus.FOUND]
    assert sender.get(VALIDATE).status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert sender.post(VALIDATE, {}, CONTENT_LENGTH=str(UPLOAD_BYTES * 2)).status_code == 413
    careful = Client(enforce_csrf_checks=True)
    careful.cookies = sender.cookies
    assert try_out(careful, name, body).status_code == HTTPStatus.FORBIDDEN


def test_a_report_is_its_senders_alone(sender: Client, teammate: Client, organizer: Client, anybody: Client) -> None:
    page = try_out(sender, "one_Meltemi_1.json", run_file(PERFECT))["Location"]
    for address in (page, f"{page}status/"):
        answers = [client.get(address).status_code for client in (sender, teammate, organizer, anybody)]
        assert answers == [200, 404, 404, 302]


def test_the_old_address_leads_to_the_new_one_with_the_file(sender: Client) -> None:
    response = sender.post("/tasks/tiny/check/", {"file": SimpleUploadedFile("one_Meltemi_1.json", b"[]")})
    assert (response.status_code, response["Location"]) == (HTTPStatus.PERMANENT_REDIRECT, VALIDATE)


def test_a_form_that_is_wrong_replaces_the_whole_page(sender: Client) -> None:
    response = sender.post(VALIDATE, {"phase": "post"}, headers={"HX-Request": "true"})
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert response["HX-Retarget"] == "#main"


def test_more_than_the_limit_is_rejected_with_a_message(sender: Client) -> None:
    for number in (1, 2):
        upload(sender, f"one_Meltemi_{number}.json", run_file(PERFECT))
    response = upload(sender, "one_Meltemi_3.json", run_file(PERFECT))
    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "0 of 2" in response.content.decode()


def test_a_used_number_is_a_conflict(sender: Client) -> None:
    upload(sender, "one_Meltemi_1.json", run_file(PERFECT))
    response = upload(sender, "one_Meltemi_1.json", run_file(PERFECT))
    assert response.status_code == HTTPStatus.CONFLICT
    assert "Available numbers: 2, 3, 4, 5" in response.content.decode()


def test_a_closed_phase_and_a_missing_file_are_rejected(sender: Client) -> None:
    file = SimpleUploadedFile("one_Meltemi_1.json", b"[]")
    late = sender.post(PAGE, {"phase": "evaluation", "file": file})
    assert late.status_code == HTTPStatus.FORBIDDEN
    assert "No run was submitted because the upload finished after Evaluation had closed" in late.content.decode()
    for fields in ({"phase": "post"}, {"phase": "none", "file": file}):
        response = sender.post(PAGE, fields)
        assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert "errors-box" in response.content.decode()


def sent_in_vain(sender: Client, monkeypatch: pytest.MonkeyPatch) -> str:
    """Upload a file whose body must not be read, and return the page."""
    monkeypatch.setattr("portal.web.views.uploads._received", lambda *_: pytest.fail("the body was read"))
    response = sender.post(PAGE, {"phase": "post", "file": SimpleUploadedFile("one_Meltemi_1.json", run_file(PERFECT))})
    assert response.status_code == HTTPStatus.FORBIDDEN
    return response.content.decode()


def test_while_no_phase_is_open_no_body_is_read(
    sender: Client, monkeypatch: pytest.MonkeyPatch, at: Callable[[datetime], None]
) -> None:
    Phase.objects.update(closes=RELEASE)
    at(RELEASE + timedelta(hours=1))
    assert "because the upload finished after" in sent_in_vain(sender, monkeypatch)


def test_without_a_team_that_takes_part_no_body_is_read(
    sender: Client, meltemi: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    meltemi.state = Team.State.PENDING
    meltemi.save()
    sent_in_vain(sender, monkeypatch)


def test_an_upload_that_was_accepted_is_answered_again_after_the_closing(
    sender: Client, at: Callable[[datetime], None]
) -> None:
    def send() -> HttpResponse:
        file = SimpleUploadedFile("one_Meltemi_1.json", run_file(PERFECT))
        return sender.post(PAGE, {"phase": "post", "file": file, "key": "k"})

    first = send()
    assert first.status_code == HTTPStatus.SEE_OTHER
    Phase.objects.update(closes=RELEASE)
    at(RELEASE + timedelta(hours=1))
    again = send()
    assert (again.status_code, again["Location"]) == (HTTPStatus.SEE_OTHER, first["Location"])


def test_an_upload_needs_few_statements(sender: Client) -> None:
    upload(sender, "one_Meltemi_1.json", run_file(PERFECT))
    with CaptureQueriesContext(connection) as asked:
        assert upload(sender, "one_Meltemi_2.json", run_file(PERFECT)).status_code == HTTPStatus.SEE_OTHER
    statements = [query["sql"] for query in asked if query["sql"].startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))]
    assert len(statements) <= STATEMENTS, "\n".join(statements)


def test_the_page_reads_the_file_names_of_each_phase_once(
    sender: Client, tiny: SharedTask, django_assert_num_queries: Any
) -> None:
    tiny.phases.filter(slug="without-gold").update(closes=database_now() + timedelta(days=1))
    upload = sender.get(PAGE).context["upload"]
    page = UploadPage(upload.page, upload.at, upload.phase)
    with django_assert_num_queries(len(page.page.open_phases)):  # the run numbers that are used in each phase
        assert [phase.slug for phase, _commands in page.commands] == ["without-gold", "post"]
        assert page.names.runs[0].name == "one_Meltemi_1.json"


def test_after_a_missed_phase_one_that_is_open_is_selected(sender: Client, tiny: SharedTask) -> None:
    tiny.phases.filter(slug="without-gold").update(closes=database_now() + timedelta(days=1))
    page = upload(sender, "one_Meltemi_1.json", run_file(PERFECT), phase="evaluation")
    assert page.context["upload"].missed.phase.slug == "evaluation"
    assert re.search(r'value="without-gold"\s+checked', page.content.decode())


def test_the_page_of_a_rejected_upload_is_about_its_phase(sender: Client, tiny: SharedTask) -> None:
    tiny.phases.filter(slug="without-gold").update(closes=database_now() + timedelta(days=1))
    page = upload(sender, "one_Meltmi_1.json", run_file(PERFECT), phase="post").context["upload"]
    assert page.phase.slug == page.commands[0][0].slug == "post"
    assert page.rejection.wrong_names == {"one_Meltmi_1.json"}


def test_a_body_beyond_the_cap_is_not_read(sender: Client) -> None:
    response = sender.post(PAGE, {}, CONTENT_LENGTH=str(UPLOAD_BYTES * 2))
    assert response.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert "64 MiB" in response.content.decode()


def test_without_a_token_nothing_is_accepted(sender: Client) -> None:
    careful = Client(enforce_csrf_checks=True)
    careful.cookies = sender.cookies
    response = upload(careful, "one_Meltemi_1.json", run_file(PERFECT))
    assert response.status_code == HTTPStatus.FORBIDDEN
    assert "Nothing was changed" in response.content.decode()
    assert not Submission.objects.exists()


def test_the_upload_page_accepts_get_and_post_alone(sender: Client) -> None:
    assert sender.put(PAGE).status_code == HTTPStatus.METHOD_NOT_ALLOWED


def test_nothing_rejected_is_left_on_disk(sender: Client, settings: Any) -> None:
    upload(sender, "nonsense.json", b"[]")
    assert not list((Path(settings.DATA_ROOT) / "incoming").iterdir())


@pytest.mark.slow
def test_the_status_is_silent_until_something_changes(sender: Client, submission: Submission) -> None:
    address = f"/tasks/tiny/submissions/{submission.pk}/status/"
    first = sender.get(address)
    assert first.status_code == HTTPStatus.OK
    assert "hx-get" not in first.content.decode()  # everything is done
    assert sender.get(f"{address}?seen={first.context['signature']}").status_code == HTTPStatus.NO_CONTENT


@pytest.mark.slow
@pytest.mark.parametrize("part", ["", "status/", "report.json"])
def test_who_sees_a_submission(
    part: str,
    submission: Submission,
    sender: Client,
    teammate: Client,
    organizer: Client,
    stranger: Client,
    anybody: Client,
) -> None:
    address = f"/tasks/tiny/submissions/{submission.pk}/{part}"
    assert [client.get(address).status_code for client in (sender, teammate, organizer)] == [200, 200, 200]
    assert stranger.get(address).status_code == 404
    assert anybody.get(address).status_code == 302
    assert sender.post(address).status_code == 405


@pytest.mark.slow
def test_who_sees_a_run_and_its_file(
    submission: Submission, sender: Client, teammate: Client, organizer: Client, stranger: Client, anybody: Client
) -> None:
    run = submission.runs.get()
    for client in (sender, teammate, organizer):
        assert "1.0000" in client.get(f"/runs/{run.pk}/").content.decode()
        assert client.get(f"/runs/{run.pk}/file/").getvalue() == run_file(PERFECT)
    for client in (stranger, anybody):  # the phase's scores are public
        shown = client.get(f"/runs/{run.pk}/").content.decode()
        assert "1.0000" in shown
        assert "/file/" not in shown
    assert stranger.get(f"/runs/{run.pk}/file/").status_code == 404
    assert anybody.get(f"/runs/{run.pk}/file/").status_code == 302


def test_a_run_comes_out_of_its_archive_as_it_went_in(sender: Client) -> None:
    upload(sender, "tiny_Meltemi.zip", archive({"runs/one_Meltemi_1.json": run_file(PERFECT)}))
    run = Run.objects.get(kind="team")
    response = sender.get(f"/runs/{run.pk}/file/")
    assert response.getvalue() == run_file(PERFECT)
    assert 'filename="one_Meltemi_1.json"' in response["Content-Disposition"]


def test_baselines_are_seen_by_anybody_and_their_files_by_organizers(
    tiny: SharedTask, anybody: Client, sender: Client, organizer: Client
) -> None:
    baseline = Run.objects.filter(kind="baseline").first()
    assert baseline is not None
    assert anybody.get(f"/runs/{baseline.pk}/").status_code == 200
    assert sender.get(f"/runs/{baseline.pk}/file/").status_code == 404
    assert organizer.get(f"/runs/{baseline.pk}/file/").status_code == 200


@pytest.mark.slow
def test_the_runs_of_a_team(sender: Client, newcomer: Client, anybody: Client, submission: Submission) -> None:
    text = sender.get("/tasks/tiny/runs/").content.decode().replace("<wbr>", "")
    assert "one_Meltemi_1.json" in text
    assert "1.0000" in text
    assert "Create or join a team" in newcomer.get("/tasks/tiny/runs/").content.decode()
    assert anybody.get("/tasks/tiny/runs/").status_code == 302


@pytest.mark.slow
def test_a_valid_run_in_a_rejected_upload_says_where_the_problem_is(sender: Client) -> None:
    body = archive({"one_Meltemi_1.json": run_file(PERFECT), "two_Meltemi_1.json": b"[]"})
    page = upload(sender, "tiny_Meltemi.zip", body)["Location"]
    work_off(POST)
    run = Run.objects.get(name="one_Meltemi_1.json")
    text = sender.get(f"/runs/{run.pk}/").content.decode()
    assert "This run is valid" in text
    assert f'href="{page}"' in text
