"""Organizers pause and resume uploads: what teams read, and that nothing is used up meanwhile."""

import json
from collections.abc import Iterator

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from portal.actions.base.errors import Conflict
from portal.actions.desk.pause import pause_uploads, resume_uploads
from portal.actions.uploads.submit import submit
from portal.models import AuditEntry, FailedAttempt, Quota, RejectedUpload, SharedTask, Submission, Team, User
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.web.conftest import Clock
from tests.portal.world import EVALUATION, GOOD, captain, organizer_of, run_file, send, send_run

MESSAGE = "The storage is being repaired until 15:00 UTC."


@remembered
def organizer(tiny: SharedTask) -> User:
    return organizer_of(tiny)


def test_uploads_are_rejected_without_using_anything_until_they_are_resumed(meltemi: Team, organizer: User) -> None:
    first = send(meltemi, "one_Meltemi_1.json", run_file(GOOD), EVALUATION, key="first")
    used = list(Quota.objects.order_by("pk").values())
    pause_uploads(organizer, meltemi.shared_task, EVALUATION, message=MESSAGE)
    with pytest.raises(Conflict, match="uploads-paused") as raised:
        send_run(meltemi, GOOD, 2, EVALUATION)
    assert MESSAGE in raised.value.message
    with pytest.raises(Conflict, match="uploads-paused"):
        send(meltemi, "three_Meltemi_1.json", run_file(GOOD), EVALUATION)  # an invalid name
    assert list(Quota.objects.order_by("pk").values()) == used
    assert not FailedAttempt.objects.exists()
    assert not RejectedUpload.objects.exists()
    repeated = send(meltemi, "one_Meltemi_1.json", run_file(GOOD), EVALUATION, key="first")
    assert repeated == first, "an upload whose receipt was lost gets it again"
    resume_uploads(organizer, meltemi.shared_task, EVALUATION)
    send_run(meltemi, GOOD, 2, EVALUATION)
    assert Submission.objects.count() == 2
    with pytest.raises(Conflict, match="not_paused"):
        resume_uploads(organizer, meltemi.shared_task, EVALUATION)
    assert AuditEntry.objects.get(verb="pause_uploads").detail == {"message": MESSAGE}


def test_a_pause_during_a_long_upload_rejects_it_at_its_end(meltemi: Team, organizer: User) -> None:
    def slow_body() -> Iterator[bytes]:
        yield run_file(GOOD)
        pause_uploads(organizer, SharedTask.objects.get(slug="tiny"), EVALUATION, message=MESSAGE)

    phase = meltemi.shared_task.phases.get(slug="evaluation")
    with pytest.raises(Conflict, match="uploads-paused"):
        submit(captain(meltemi), phase, EVALUATION, content=slow_body(), file_name="one_Meltemi_1.json")
    assert not Submission.objects.exists()
    assert not Quota.objects.filter(used__gt=0).exists()


@pytest.mark.slow
def test_the_pages_and_the_api_show_the_message(meltemi: Team, organizer: User, client: Client, at: Clock) -> None:
    at(EVALUATION)
    client.force_login(organizer)
    phases = "/tasks/tiny/organize/phases/"
    assert client.post(f"{phases}pause/", {"message": ""}).status_code == 422
    assert MESSAGE in client.post(f"{phases}pause/", {"message": MESSAGE}, follow=True).content.decode()
    sender = captain(meltemi)
    client.force_login(sender)
    assert MESSAGE in client.get("/tasks/tiny/submit/").content.decode()
    file = SimpleUploadedFile("one_Meltemi_1.json", run_file(GOOD))
    posted = client.post("/tasks/tiny/submit/", {"phase": "evaluation", "key": "k", "file": file})
    assert (posted.status_code, MESSAGE in posted.content.decode()) == (409, True)
    file = SimpleUploadedFile("one_Meltemi_1.json", run_file(GOOD))
    assert client.post("/tasks/tiny/validate/", {"phase": "evaluation", "file": file}).status_code == 303
    path = "/tasks/tiny/phases/evaluation/submissions?file_name=one_Meltemi_1.json"
    answer = Script(sender)(path, "POST", run_file(GOOD), Content_Type="application/octet-stream")
    assert (answer.status_code, json.loads(answer.content)["code"]) == (409, "uploads-paused")
    assert MESSAGE in json.loads(answer.content)["detail"]
    assert Script(sender, "organize")("/tasks/tiny/organize/uploads/resume", "POST").status_code == 403
    ask = Script(organizer, "organize")
    assert ask("/tasks/tiny/organize/uploads/resume", "POST").status_code == 204
    assert Script(sender)(path, "POST", run_file(GOOD), Content_Type="application/octet-stream").status_code == 201
    assert ask("/tasks/tiny/organize/uploads/resume", "POST").status_code == 409
    client.force_login(organizer)
    assert client.post(f"{phases}resume/").status_code == 409
