"""Downloads: records made before the first byte is sent, byte ranges, and who may download which file."""

import csv
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client

from portal.actions.approval import approve_team
from portal.actions.base.errors import NotAllowed
from portal.actions.data_password import give_password
from portal.actions.downloads import record_download
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Download, Team, User
from portal.storage import stored_name
from tests.portal.data.gate import DATA, body, latest_password
from tests.portal.world import EVALUATION, sign

pytestmark = pytest.mark.postgres


def test_the_record_says_who_what_when_and_where_from(gated, reader, cleo, client):
    sign(cleo, gated)
    response = reader.get(f"{DATA}training/", REMOTE_ADDR="192.0.2.9")
    row = Download.objects.get()  # the row exists before any of the response has been read
    assert response.streaming
    assert (row.user, row.team.name, row.dataset, row.address) == (cleo, "Bora", "training", "192.0.2.9")
    assert row.sha256 == gated.stored_dataset("training").sha256
    assert reader.head(f"{DATA}training/").status_code == 200
    assert Download.objects.count() == 1  # HEAD is not counted as a download
    Client().get(f"{DATA}sample/")
    assert (Download.objects.first().user, Download.objects.first().team) == (None, None)


def test_without_access_to_a_file_nothing_is_recorded(gated, cleo, organizer, smtp):
    released = gated.dataset("later").released

    def ask(user, slug, at=EVALUATION, **given):
        files = {"dataset": gated.dataset(slug), "stored": gated.stored_dataset(slug)}
        return record_download(user, gated, at, **files, address=None, **given)

    for user, slug, at, code in (
        (AnonymousUser(), "training", EVALUATION, "signed-out"),
        (cleo, "training", EVALUATION, "unsigned"),
        (cleo, "test", EVALUATION, "pending"),
        (cleo, "later", released - timedelta(milliseconds=1), "not-released"),
    ):
        for first_byte in (0, None):
            with pytest.raises(NotAllowed) as error:
                ask(user, slug, at, first_byte=first_byte)
            assert error.value.code == code
    sign(cleo, gated)
    approve_team(organizer, Team.objects.get(), EVALUATION)
    stamp = give_password(cleo, gated, EVALUATION, guess=latest_password(smtp))
    for given in ({}, {"stamp": "0" * 64}):
        with pytest.raises(NotAllowed) as error:
            ask(cleo, "test", **given)
        assert error.value.code == "password"
    assert ask(cleo, "test", stamp=stamp, first_byte=None) is None
    assert not Download.objects.exists()
    assert ask(cleo, "test", stamp=stamp).team == Team.objects.get()


def test_without_the_record_no_bytes(gated):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE portal_download RENAME TO portal_gone")
    client = Client(raise_request_exception=False)
    response = client.get(f"{DATA}sample/")
    assert response.status_code in (500, 503)  # with SQLite, a missing table looks like an unavailable database
    assert b"0123456789" not in response.content


@pytest.mark.parametrize(
    ("asked", "first", "end"),
    [("bytes=0-9", 0, 10), ("bytes=10-", 10, None), ("bytes=-5", -5, None), ("bytes=5-999999", 5, None)],
)
def test_a_range_is_that_part_of_the_file(gated, client, asked, first, end):
    whole = body(gated, "sample")
    response = client.get(f"{DATA}sample/", headers={"Range": asked})
    part = whole[first:end]
    assert (response.status_code, response.getvalue()) == (206, part)
    start = first % len(whole)
    assert response["Content-Range"] == f"bytes {start}-{start + len(part) - 1}/{len(whole)}"
    assert Download.objects.get().first_byte == start
    head = client.head(f"{DATA}sample/", headers={"Range": asked})
    assert (head.status_code, head["Content-Length"]) == (206, str(len(part)))


def test_ranges_that_cannot_be(gated, client):
    size = len(body(gated, "sample"))
    for asked in (f"bytes={size}-", "bytes=9-3", "bytes=-0"):
        response = client.get(f"{DATA}sample/", headers={"Range": asked})
        assert (response.status_code, response["Content-Range"]) == (416, f"bytes */{size}")
    for asked in ("bytes=-", "items=0-3", "bytes=0-3,5-9", "bytes=a-b", f"bytes={'9' * 30}-"):
        assert client.get(f"{DATA}sample/", headers={"Range": asked}).status_code == 200


def test_a_download_is_resumed_only_in_the_same_file(gated, client):
    etag = client.head(f"{DATA}sample/")["ETag"]
    resumed = {"Range": "bytes=5-", "If-Range": etag}
    assert client.get(f"{DATA}sample/", headers=resumed).status_code == 206
    assert client.get(f"{DATA}sample/", headers=resumed | {"If-Range": '"other"'}).status_code == 200


def test_a_large_file_is_not_loaded(gated, gated_folder, client):
    with (gated_folder / "data/sample.tsv").open("wb") as file:
        file.truncate(32 * 1024 * 1024)
    import_shared_task(None, gated_folder, EVALUATION)
    pieces = client.get(f"{DATA}sample/").streaming_content
    sizes = [len(next(pieces)) for _ in range(3)]
    assert max(sizes) <= 1024 * 1024


@pytest.mark.slow
def test_behind_a_proxy_the_proxy_sends_the_file(gated, client, settings):
    settings.ACCEL = "/internal/"
    response = client.get(f"{DATA}sample/", headers={"Range": "bytes=5-"})
    path = stored_name(gated.stored_dataset("sample").sha256)
    assert response["X-Accel-Redirect"] == f"/internal/{path}"
    assert (response.status_code, response.content) == (200, b"")
    assert Download.objects.get().first_byte == 5
    assert "X-Accel-Redirect" not in client.get(f"{DATA}training/")


@pytest.mark.slow
def test_organizers_and_the_team_see_who_downloaded_what(gated, reader, cleo, organizer):
    sign(cleo, gated)
    User.objects.filter(pk=cleo.pk).update(name="=1+1")
    reader.get(f"{DATA}training/", headers={"Range": "bytes=5-"})
    Client().get(f"{DATA}sample/")
    own = reader.get(DATA).content.decode()
    assert "Your team’s downloads" in own
    assert "resumed at" in own
    assert "replaced since</span>" not in own
    Download.objects.filter(dataset="training").update(sha256="0" * 64)
    assert "replaced since</span>" in reader.get(DATA).content.decode()
    assert reader.get("/tasks/gated/organize/downloads/").status_code == 404
    assert "Your team’s downloads" not in Client().get(DATA).content.decode()
    reader.force_login(organizer)
    text = reader.get("/tasks/gated/organize/downloads/").content.decode()
    assert "not signed in" in text
    assert cleo.email in text
    table = reader.get("/tasks/gated/organize/downloads.csv").content.decode().splitlines()
    rows = list(csv.DictReader(table))
    assert [row["dataset"] for row in rows] == ["sample", "training"]
    assert (rows[1]["person"], rows[1]["team"], rows[1]["first_byte"]) == ("'=1+1", "Bora", "5")
