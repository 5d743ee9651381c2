"""An upload's signed receipt, the public key, and the verification page."""

import json
import stat
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Submission, Team
from portal.secret import kept_secret
from scoring.receipts import new_private_key, public_key, verify
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, POST, archive, run_file, send, work_off

PAGE = "/receipt/verify/"
KEY = "/.well-known/agon-receipt-key"


@remembered
def submission(meltemi: Team) -> Submission:
    body = archive({"two_Meltemi_1.json": run_file(GOOD), "one_Meltemi_1.json": run_file(GOOD)})
    return send(meltemi, "tiny_Meltemi.zip", body, POST, "post")


def address(submission: Submission) -> str:
    return f"/tasks/tiny/submissions/{submission.pk}/receipt.json"


def test_the_receipt_says_what_we_got_from_whom_and_when(
    sender: Client, anybody: Client, submission: Submission
) -> None:
    response = sender.get(address(submission))
    receipt = response.json()
    assert f'filename="receipt_{submission.pk}.json"' in response["Content-Disposition"]
    assert receipt["number"] == str(submission.pk)
    assert (receipt["shared_task"], receipt["phase"], receipt["team"]) == ("tiny", "post", "Meltemi")
    assert (receipt["file_name"], receipt["sha256"]) == ("tiny_Meltemi.zip", submission.sha256)
    assert [(run["track"], run["number"]) for run in receipt["runs"]] == [("one", 1), ("two", 1)]
    assert receipt["received_at"] == POST.isoformat()
    assert receipt["definition_sha256"] == submission.shared_task.definition_sha256
    key = anybody.get(KEY).content.decode()
    assert verify(response.content, key).ok


@pytest.mark.slow
def test_the_receipt_is_the_same_for_ever(sender: Client, tiny_folder: Path, submission: Submission) -> None:
    before = sender.get(address(submission)).content
    work_off(POST)
    (tiny_folder / "pages" / "overview.md").write_text("# Changed")
    import_shared_task(None, tiny_folder, EVALUATION)
    assert sender.get(address(submission)).content == before


@pytest.mark.slow
def test_a_rejected_upload_has_a_receipt_for_its_bytes(sender: Client, meltemi: Team) -> None:
    rejected = send(meltemi, "one_Meltemi_1.json", b"[]", POST, "post")
    work_off(POST)
    assert sender.get(address(rejected)).json()["sha256"] == rejected.sha256


def test_who_gets_a_receipt(
    submission: Submission, teammate: Client, organizer: Client, stranger: Client, newcomer: Client, anybody: Client
) -> None:
    clients = (teammate, organizer, stranger, newcomer, anybody)
    assert [client.get(address(submission)).status_code for client in clients] == [200, 200, 404, 404, 302]
    assert teammate.post(address(submission)).status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert anybody.post(KEY).status_code == HTTPStatus.METHOD_NOT_ALLOWED


def test_the_page_links_to_it(sender: Client, submission: Submission) -> None:
    text = sender.get(f"/tasks/tiny/submissions/{submission.pk}/").content.decode()
    assert address(submission) in text
    assert PAGE in text


def test_a_receipt_is_verified_pasted_or_as_a_file(sender: Client, anybody: Client, submission: Submission) -> None:
    receipt = sender.get(address(submission)).content
    for fields in ({"text": receipt.decode()}, {"file": SimpleUploadedFile("receipt.json", receipt)}):
        response = anybody.post(PAGE, fields)
        assert response.status_code == HTTPStatus.OK
        assert "Valid: signed by this portal" in response.content.decode()


def test_a_changed_receipt_fails_with_a_sentence(sender: Client, anybody: Client, submission: Submission) -> None:
    receipt = sender.get(address(submission)).json()
    response = anybody.post(PAGE, {"text": json.dumps({**receipt, "team": "<script>alert(1)</script>"})})
    text = response.content.decode()
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "The signature is not valid" in text
    assert "<script>alert" not in text


@pytest.mark.parametrize("text", ["", "  ", "hello", "{}", "[" * 50_000, "\ud800"])
def test_what_is_no_receipt_is_called_so(anybody: Client, db: None, text: str) -> None:
    file = SimpleUploadedFile("receipt.json", text.encode(errors="replace"))
    response = anybody.post(PAGE, {"file": file})
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


def test_a_verification_needs_a_token(db: None) -> None:
    assert Client(enforce_csrf_checks=True).post(PAGE, {"text": "{}"}).status_code == HTTPStatus.FORBIDDEN
    assert Client().put(PAGE).status_code == HTTPStatus.METHOD_NOT_ALLOWED


def test_a_key_that_is_given_signs(settings: Any, sender: Client, anybody: Client, submission: Submission) -> None:
    settings.RECEIPT_KEY = new_private_key()
    assert anybody.get(KEY).content.decode() == public_key(settings.RECEIPT_KEY)
    assert verify(sender.get(address(submission)).content, public_key(settings.RECEIPT_KEY)).ok


def test_the_portals_own_key_is_made_once_and_kept_from_others(
    settings: Any, tmp_path: Path, anybody: Client, db: None
) -> None:
    settings.STATE_ROOT = tmp_path
    first, second = (anybody.get(KEY).content for _ in range(2))
    assert first == second
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert b"PRIVATE" not in first


def test_a_secret_of_another_process_counts(tmp_path: Path) -> None:
    path = tmp_path / "secret"

    def make() -> str:
        path.write_text("theirs")  # a different process was faster
        return "ours"

    assert kept_secret(path, make) == "theirs"
    assert list(tmp_path.iterdir()) == [path]
