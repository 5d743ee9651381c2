"""Data in S3: uploads go into the bucket, other machines read them from there, and downloads get short-lived links."""

import io
import re
import shutil
import time
from functools import partial
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest
import pyzipper
from django.test import Client

from portal.actions.approval import approve_team
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import register_team
from portal.evaluation.reseal import reseal_all
from portal.models import Download, GoldStandard, Run, SharedTask, Submission
from portal.objects.bucket import LINK_SECONDS, Bucket
from portal.objects.interface import data_objects, gold_objects
from portal.sealing import new_private_key, private_key_file
from portal.storage import file_sha256, pieces_of, sealed_gold, store_content, store_upload, stored_file, stored_name
from portal.web.files import encrypted_zip
from tests.portal.data.gate import latest_password
from tests.portal.world import (  # fmt: skip
    EVALUATION,
    GOOD,
    captain,
    new_team,
    organizer_of,
    person,
    run_file,
    send,
    send_run,
    sign,
    work_off,
)

DATA = "/tasks/gated/data/"


@pytest.fixture
def gated_in_s3(bucket, gated):
    return gated


def follow(response, **headers):
    """Follow a redirect as a browser does."""
    with urlopen(Request(response["Location"], headers=headers)) as answer:
        return answer.status, answer.headers, answer.read()


def test_a_body_is_in_the_bucket_when_it_is_kept(bucket, db, tmp_path):
    with store_upload([b"kept ", b"body"], "run.json", 100) as stored:
        assert list(bucket.names()) == []
        stored.keep()
    assert list(bucket.names()) == [stored_name(stored.sha256)]
    with stored_file(stored.sha256) as copy:
        assert copy.read_bytes() == b"kept body"
    assert not copy.exists()
    assert bucket.open(stored_name(stored.sha256)).read() == b"kept body"


def test_what_is_not_there(bucket, tmp_path):
    name = stored_name("0" * 64)
    assert not bucket.has(name)
    with pytest.raises(FileNotFoundError), bucket.local(name):
        pass
    with pytest.raises(FileNotFoundError):
        bucket.open(name)
    assert not [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()]


def test_a_file_in_parts_is_the_same_file(bucket, db, tmp_path):
    size = 20 * 1024 * 1024  # above the threshold for multipart uploads
    with (tmp_path / "large").open("wb") as file:
        file.write(b"first")
        file.truncate(size)
    sha256 = file_sha256(tmp_path / "large")
    store_content(sha256, partial(pieces_of, tmp_path / "large"), EVALUATION)
    with stored_file(sha256) as copy:
        assert copy.read_bytes() == (tmp_path / "large").read_bytes()


def test_runs_are_claimed_and_scored_by_another_machine(bucket, tiny, tmp_path):
    team = new_team(tiny, "Meltemi")
    run = send_run(team, GOOD, 1, EVALUATION)
    shutil.rmtree(tmp_path / "scratch")  # the worker's machine has no files yet
    work_off(EVALUATION)
    assert Run.objects.get(pk=run.pk).state == Run.State.SCORED
    assert not Run.objects.scorable().exclude(state=Run.State.SCORED).exists()  # including the baselines
    client = Client()
    client.force_login(captain(team))
    assert client.get(f"/runs/{run.pk}/file/").getvalue() == run_file(GOOD)


def test_a_definition_is_unpacked_once_a_machine(bucket, tiny, tmp_path):
    shutil.rmtree(tmp_path / "scratch")
    name = f"definitions/{tiny.definition_sha256}"
    first = data_objects().folder(name)
    assert (first / "task.yaml").exists()
    assert {path.name for path in (tmp_path / "scratch").rglob("*") if path.is_file()} == {
        path.name for path in first.rglob("*") if path.is_file()
    }
    (first / "mark").touch()
    assert (data_objects().folder(name) / "mark").exists()


def test_importing_again_changes_nothing_in_the_bucket(bucket, gated_folder, db):
    import_shared_task(None, gated_folder, EVALUATION)
    before = sorted(bucket.names())
    # Five datasets, and the baselines, which are identical.
    assert len([name for name in before if name.startswith("files/")]) == 6
    import_shared_task(None, gated_folder, EVALUATION)
    assert sorted(bucket.names()) == before


def test_who_may_have_a_file_gets_a_link_for_a_minute(gated_in_s3, client):
    response = client.get(f"{DATA}sample/")
    assert (response.status_code, response["Cache-Control"]) == (302, "private, no-store")
    query = parse_qs(urlsplit(response["Location"]).query)
    assert query["X-Amz-Expires"] == [str(LINK_SECONDS)] == ["60"]
    assert query["X-Amz-Signature"]
    assert Download.objects.count() == 1  # recorded before the link is followed
    status, headers, body = follow(response)
    assert (status, body) == (200, b"sample\t0123456789\n" * 100)
    assert headers["Content-Disposition"] == 'attachment; filename="gated-sample.tsv"'
    assert "no-store" in headers["Cache-Control"]


def test_ranges_pass_through_the_link(gated_in_s3, client):
    response = client.get(f"{DATA}sample/", headers={"Range": "bytes=5-9"})
    status, headers, body = follow(response, Range="bytes=5-9")
    assert (status, body, headers["Content-Range"]) == (206, b"e\t012", "bytes 5-9/1800")
    assert Download.objects.get().first_byte == 5
    assert client.get(f"{DATA}sample/", headers={"Range": "bytes=1800-"}).status_code == 416
    assert client.head(f"{DATA}sample/").status_code == 302
    assert Download.objects.count() == 1


def refusal(link, method="GET"):
    with pytest.raises(HTTPError) as raised:
        urlopen(Request(link, method=method))
    return raised.value.code


def test_a_link_that_was_changed_is_invalid(gated_in_s3, client):
    link = client.get(f"{DATA}sample/")["Location"]
    assert urlopen(link).status == 200
    address, query = link.split("?")
    others = [
        f"{address.replace(stored_name_of('sample'), stored_name_of('test'))}?{query}",
        link.replace("X-Amz-Expires=60", "X-Amz-Expires=86400"),
        link.replace("sample", "other"),
        re.sub(r"(X-Amz-Signature=)\w+", rf"\1{'0' * 64}", link),
        address,
    ]
    assert link not in others
    assert [refusal(other) for other in others] == [403] * 5
    assert refusal(link, "DELETE") == 403


def test_a_link_ends_with_its_time(gated_in_s3, client, monkeypatch):
    monkeypatch.setattr("portal.objects.bucket.LINK_SECONDS", 1)
    link = client.get(f"{DATA}sample/")["Location"]
    time.sleep(3)
    assert refusal(link) == 403


def test_a_wrong_secret_opens_no_bucket(s3, tmp_path):
    options = {**s3.new_bucket(), "scratch": tmp_path}
    Bucket(**options).probe()
    with pytest.raises(OSError, match="SignatureDoesNotMatch"):
        Bucket(**options | {"secret": "another"}).probe()


def test_no_link_for_those_who_may_not(gated_in_s3, client):
    for headers in ({}, {"Range": "bytes=0-3"}):
        for name in ("training", "development", "test", "later"):
            for ask in (client.get, client.head):
                response = ask(f"{DATA}{name}/", headers=headers)
                assert response.status_code == 403
                assert "Location" not in response
    assert not Download.objects.exists()


def test_a_rotated_password_ends_links_too(gated_in_s3, client, smtp):
    user = person("Cleo")
    organizer = organizer_of(gated_in_s3, "Organizer")
    team = register_team(user, gated_in_s3, EVALUATION, name="Bora", answers={"use": "research"})
    approve_team(organizer, team, EVALUATION)
    sign(user, gated_in_s3)
    client.force_login(user)
    client.post("/tasks/gated/password/", {"password": latest_password(smtp)})
    assert client.get(f"{DATA}test/").status_code == 302
    assert client.post("/tasks/gated/team/password/").status_code == 302
    for ask in (client.get, client.head):
        assert ask(f"{DATA}test/").status_code == 403  # existing links remain valid for at most a minute
    assert LINK_SECONDS <= 60


def test_an_encrypted_file_comes_from_the_bucket_through_the_portal(bucket, gated_folder, db, client):
    path = gated_folder / "task.yaml"
    path.write_text(path.read_text().replace("access: password", "access: password, encrypted: true"))
    import_shared_task(None, gated_folder, EVALUATION)
    content = io.BytesIO(b"".join(encrypted_zip(bucket.open(stored_name_of("test")), "test.tsv", "a password")))
    with pyzipper.AESZipFile(content) as archive:
        archive.setpassword(b"a password")
        assert archive.read("test.tsv").startswith(b"test\t0123456789")


def stored_name_of(dataset):
    return stored_name(SharedTask.objects.get(slug="gated").stored_dataset(dataset).sha256)


def test_without_the_bucket_nothing_is_acknowledged(s3, bucket, tiny):
    team = new_team(tiny, "Meltemi")
    data_objects().probe()
    s3.kill()
    try:
        with pytest.raises(OSError, match="onnect"):
            data_objects().probe()
        with pytest.raises(OSError, match="onnect"):
            send(team, "one_Meltemi_1.json", run_file(GOOD), EVALUATION)
    finally:
        s3.start()
    assert not Submission.objects.exists()
    assert not Run.objects.filter(team=team).exists()


def test_a_signature_and_a_team_before_registered_data(gated_in_s3, client):
    user = person("Cleo")
    client.force_login(user)
    assert client.get(f"{DATA}training/").status_code == 403
    register_team(user, gated_in_s3, EVALUATION, name="Bora", answers={"use": "research"})
    assert client.get(f"{DATA}training/").status_code == 403
    sign(user, gated_in_s3)
    assert follow(client.get(f"{DATA}training/"))[2].startswith(b"training")


def test_sealed_gold_has_a_bucket_of_its_own(s3, settings, tmp_path, tiny_folder, db):
    options = {**s3.new_bucket(), "scratch": tmp_path / "gold"}
    place = {"BACKEND": "portal.objects.bucket.Bucket", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "gold": place}
    tiny = import_shared_task(None, tiny_folder, EVALUATION).shared_task
    golds = GoldStandard.objects.all()
    assert set(gold_objects().names()) == {gold.sealed_sha256 for gold in golds}
    assert all(sealed_gold(gold.sealed_sha256).startswith(b"AGON-GOLD") for gold in golds)
    work_off(EVALUATION)
    assert Run.objects.filter(track__shared_task=tiny, state=Run.State.SCORED).exists()
    settings.GOLD_PRIVATE_KEYS, before = [new_private_key()], settings.GOLD_PRIVATE_KEYS
    settings.GOLD_PRIVATE_KEYS += before or private_key_file().read_text().split()
    assert reseal_all() == len(golds)
    assert len(set(gold_objects().names())) == len(golds)
