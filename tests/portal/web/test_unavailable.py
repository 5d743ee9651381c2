"""While the database or storage accepts no writes, uploads get status 503 with advice, and /readyz reports it."""

import json
from contextlib import contextmanager

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InterfaceError, connection
from django.test import Client

from portal.models import Run, Submission
from tests.portal.script import Script
from tests.portal.world import GOOD, captain, run_file

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def read_only():
    """Make the database read-only, as on a standby server or with a full or broken disk."""
    on, off = {
        "sqlite": ("PRAGMA query_only = ON", "PRAGMA query_only = OFF"),
        "postgresql": ("SET default_transaction_read_only = on", "SET default_transaction_read_only = off"),
    }[connection.vendor]
    connection.cursor().execute(on)
    try:
        yield
    finally:
        connection.cursor().execute(off)


@pytest.fixture
def upload(meltemi):
    client = Client()
    client.force_login(captain(meltemi))

    def upload(page="submit"):
        file = SimpleUploadedFile("one_Meltemi_1.json", run_file(GOOD))
        return client.post(f"/tasks/tiny/{page}/", {"phase": "post", "key": "k", "file": file})

    return upload


@pytest.mark.parametrize("page", ["submit", "validate"])
def test_an_upload_to_a_read_only_database(upload, page):
    with read_only():
        answer = upload(page)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    assert "it was not accepted and no quota was used" in answer.content.decode()
    assert Submission.objects.count() == 0
    assert upload(page).status_code == 303


@pytest.mark.parametrize("page", ["submit", "validate"])
def test_an_upload_to_a_disk_that_is_nearly_full(upload, page, monkeypatch):
    with monkeypatch.context() as full:
        full.setattr("portal.objects.folder.SPARE_BYTES", 10**18)
        answer = upload(page)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    assert (Submission.objects.count(), Run.objects.filter(kind="team").count()) == (0, 0)
    assert upload(page).status_code == 303


def test_a_token_reads_a_read_only_database(meltemi):
    script = Script(captain(meltemi), "read")
    with read_only():
        found = script("/tasks/tiny/team")
    assert (found.status_code, found.json()["name"]) == (200, "Meltemi")


def test_a_board_whose_state_cannot_be_asked_for_is_a_problem_in_the_api(tiny, monkeypatch):
    def fail(*_names):
        raise InterfaceError("connection already closed")

    for module in ("portal.web.board_cache", "portal.api.boards"):
        monkeypatch.setattr(f"{module}.board_head", fail)
    answer = Client(raise_request_exception=False).get("/api/v1/tasks/tiny/leaderboards/one")
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")


def test_readyz_tries_a_write(client, monkeypatch):
    def parts():
        answer = client.get("/readyz")
        return answer.status_code, json.loads(answer.content)["parts"]

    assert parts()[0] == 200
    with read_only():
        status, found = parts()
    assert (status, found["database"]) == (503, f"not accepting writes ({READ_ONLY_ERROR[connection.vendor]})")
    with monkeypatch.context() as full:
        full.setattr("portal.objects.folder.SPARE_BYTES", 10**18)
        assert parts() == (503, parts()[1] | {"storage": "No space left on device", "database": "ok"})
    assert parts()[0] == 200


READ_ONLY_ERROR = {"sqlite": "OperationalError", "postgresql": "InternalError"}
