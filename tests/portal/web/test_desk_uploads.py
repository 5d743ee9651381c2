"""The organizers' table of all uploads: what is in it, its filters and pages, one upload's report and file."""

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client

from portal.actions.base.errors import ActionError
from portal.models import RejectedUpload, SharedTask, Submission, Team, User
from portal.queries.desk.uploads import UploadFilter, uploads_page
from portal.task_exports import MANIFEST
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.world import (
    EVALUATION,
    GOOD,
    captain,
    new_team,
    organizer_of,
    queries,
    run_file,
    send,
    send_run,
    work_off,
)

pytestmark = pytest.mark.postgres

PAGE = "/tasks/tiny/organize/uploads/"
BAD = run_file(["YES", "Yes", "NO", "NO"])
MINUTE = timedelta(minutes=1)


@remembered
def campaign(tiny: SharedTask) -> SharedTask:
    """A task with two accepted uploads, one with an unknown label, and one rejected on receipt."""
    for number, name in enumerate(("Meltemi", "Notus")):
        team = new_team(tiny, name)
        send_run(team, GOOD, 1, EVALUATION + number * MINUTE)
    send(Team.objects.get(name="Meltemi"), "one_Meltemi_2.json", BAD, EVALUATION + 5 * MINUTE)
    with pytest.raises(ActionError):
        send(Team.objects.get(name="Notus"), "three_Notus_1.json", BAD, EVALUATION + 6 * MINUTE)
    work_off(EVALUATION + 7 * MINUTE)
    return tiny


def names(shared_task: SharedTask, **wanted: str) -> list[str]:
    return [row.upload.file_name for row in uploads_page(shared_task, UploadFilter(**wanted)).rows]


ALL = ["three_Notus_1.json", "one_Meltemi_2.json", "one_Notus_1.json", "one_Meltemi_1.json"]


def test_every_upload_is_in_the_table_and_filters_select(campaign: SharedTask) -> None:
    rejected = Submission.objects.get(file_name="one_Meltemi_2.json")
    assert rejected.problem_codes == " label-outside-domain "
    on_receipt = RejectedUpload.objects.get()
    code = on_receipt.problem_codes.split()[0]
    expected = {
        (): ALL,
        ("state", "rejected"): ALL[:2],
        ("state", "accepted"): ALL[2:],
        ("state", "failed"): [],
        ("state", "nonsense"): [],
        ("code", "label-outside-domain"): ALL[1:2],
        ("code", code): ALL[:1],
        ("code", "label"): [],
        ("track", "one"): ALL[1:],
        ("track", "two"): [],
        ("phase", "evaluation"): ALL,
        ("phase", "post"): [],
        ("team", "notus"): [ALL[0], ALL[2]],
        ("search", "MELTEMI@example"): [ALL[1], ALL[3]],
        ("search", str(rejected.pk)[:9]): ALL[1:2],
        ("search", str(on_receipt.pk)): ALL[:1],
    }
    found = {key: names(campaign, **dict([key] if key else [])) for key in expected}
    assert found == expected


def test_pages_follow_each_other_even_if_times_are_equal(campaign: SharedTask) -> None:
    Submission.objects.update(received_at=EVALUATION)
    RejectedUpload.objects.update(received_at=EVALUATION)
    seen, cursor = [], ""
    for _page in range(4):
        found = uploads_page(campaign, UploadFilter(), cursor, size=1)
        seen += [row.upload.pk for row in found.rows]
        cursor = found.older
    assert cursor == ""
    assert len(set(seen)) == 4


def test_the_number_of_statements_does_not_depend_on_the_number_of_uploads(campaign: SharedTask) -> None:
    few = queries(lambda: uploads_page(campaign, UploadFilter()))
    for number in (2, 3):
        send_run(Team.objects.get(name="Notus"), GOOD, number, EVALUATION)
    assert queries(lambda: uploads_page(campaign, UploadFilter())) == few


@pytest.mark.slow
def test_organizers_open_reports_and_files(campaign: SharedTask, client: Client) -> None:
    client.force_login(organizer_of(campaign))
    text = client.get(PAGE).content.decode().replace("<wbr>", "")
    assert all(name in text for name in ALL)
    stored = Submission.objects.get(file_name="one_Meltemi_2.json")
    assert f"/tasks/tiny/submissions/{stored.pk}/" in text
    report = client.get(f"/tasks/tiny/submissions/{stored.pk}/").content.decode()
    assert "Yes" in report, "the offending value"
    response = client.get(f"{PAGE}{stored.pk}/file/")
    assert b"".join(response.streaming_content) == BAD  # type: ignore[attr-defined]
    on_receipt = RejectedUpload.objects.get()
    page = client.get(f"/tasks/tiny/organize/rejected/{on_receipt.pk}/").content.decode()
    assert on_receipt.problem_codes.split()[0] in page
    assert "No uploads match" in client.get(f"{PAGE}?state=failed").content.decode()
    assert client.get(f"{PAGE}?cursor=nonsense").status_code == 200


def test_a_selection_is_a_zip_with_a_manifest(campaign: SharedTask, client: Client) -> None:
    client.force_login(organizer_of(campaign))
    response: Any = client.get(f"{PAGE}files.zip?state=rejected")
    packed = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
    manifest = json.loads(packed.read(MANIFEST))["uploads"]
    assert [(one["file_name"], one["state"]) for one in manifest] == [(name, "rejected") for name in (ALL[1], ALL[0])]
    assert packed.read(manifest[0]["path"]) == BAD
    assert manifest[1]["path"] is None, "nothing is stored of what was rejected on receipt"


def test_nothing_of_another_task_is_shown(campaign: SharedTask, gated: SharedTask, client: Client) -> None:
    organizer = organizer_of(gated, "Other")
    client.force_login(organizer)
    stored, on_receipt = Submission.objects.first(), RejectedUpload.objects.get()
    assert stored is not None
    text = client.get("/tasks/gated/organize/uploads/").content.decode()
    assert "No one has uploaded a run yet." in text
    for address in (f"uploads/{stored.pk}/file/", f"rejected/{on_receipt.pk}/"):
        assert client.get(f"/tasks/gated/organize/{address}").status_code == 404
        assert client.get(f"/tasks/tiny/organize/{address}").status_code == 404
    ask = Script(organizer, "organize")
    assert ask("/tasks/gated/organize/uploads").json()["items"] == []
    for pk in (stored.pk, on_receipt.pk):
        assert ask(f"/tasks/gated/organize/uploads/{pk}").status_code == 404


def test_a_script_reads_the_same_page_by_page(campaign: SharedTask) -> None:
    caches["rates"].clear()
    ask = Script(organizer_of(campaign), "organize")
    first = ask("/tasks/tiny/organize/uploads?limit=3").json()
    rest = ask(first["next"].partition("/api/v1")[2]).json()
    assert [item["file_name"] for item in (*first["items"], *rest["items"])] == ALL
    assert rest["next"] is None
    assert [item["is_stored"] for item in first["items"]] == [False, True, True]
    assert ask(f"/tasks/tiny/organize/uploads/{first['items'][1]['id']}").json()["problems"][0]["excerpt"]
    assert ask(f"/tasks/tiny/organize/uploads/{first['items'][0]['id']}").json()["state"] == "rejected"
    assert ask(f"/tasks/tiny/organize/uploads/{first['items'][1]['id']}/file").getvalue() == BAD
    assert ask("/tasks/tiny/organize/uploads?cursor=nonsense").status_code == 422


def test_the_log_of_uploads_belongs_to_the_sender_too(campaign: SharedTask, client: Client) -> None:
    sender: User = captain(Team.objects.get(name="Notus"))
    client.force_login(sender)
    assert "three_Notus_1.json" in client.get("/settings/export/").content.decode()
