"""Datasets downloaded as an archive that is encrypted with the team's password."""

import io
import zipfile

import pytest
import pyzipper

from portal.actions.approval import approve_team
from portal.actions.base.errors import Invalid
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Download, Team
from portal.models.failed_attempt import GUESSES
from portal.web.files import encrypted_zip
from tests.portal.data.gate import DATA, body, latest_password
from tests.portal.script import Script
from tests.portal.world import EVALUATION, sign

TEST = f"{DATA}test/"


@pytest.fixture
def gated_folder(gated_folder):
    path = gated_folder / "task.yaml"
    path.write_text(path.read_text().replace("access: password", "access: password, encrypted: true"))
    return gated_folder


def opened(content, password):
    with pyzipper.AESZipFile(io.BytesIO(content)) as archive:
        archive.setpassword(password.encode())
        (name,) = archive.namelist()
        return name, archive.read(name)


@pytest.mark.slow
def test_the_password_opens_what_it_was_typed_for(gated, reader, password):
    page = reader.get(TEST)
    assert page.status_code == 200
    assert "7-Zip" in page.content.decode()
    assert not Download.objects.exists()
    response = reader.post(TEST, {"password": f" {password} "})
    assert Download.objects.get().dataset == "test"  # recorded before the first byte
    content = response.getvalue()
    assert opened(content, password) == ("gated-test.tsv", body(gated, "test"))
    assert (response["Content-Disposition"], response["Accept-Ranges"]) == (
        'attachment; filename="gated-test.tsv.zip"',
        "none",
    )
    assert "Content-Length" not in response
    assert body(gated, "test")[:18] not in content
    with pytest.raises(RuntimeError), zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.read("gated-test.tsv", pwd=b"another")


def test_each_archive_is_another(gated, reader, password):
    first, second = (reader.post(TEST, {"password": password}).getvalue() for _ in range(2))
    assert first != second
    assert opened(second, password)[1] == body(gated, "test")


def test_it_is_asked_each_time_and_kept_nowhere(gated, reader, password, caplog):
    with caplog.at_level("DEBUG"):
        reader.post(TEST, {"password": password})
        again = reader.get(TEST, headers={"Range": "bytes=0-9"})
    assert 'name="password"' in again.content.decode()
    assert again.status_code == 200  # ranges are not supported
    assert reader.head(TEST).status_code == 200
    for seen in (caplog.text, str(reader.session.items()), again.content.decode(), str(list(Team.objects.values()))):
        assert password not in seen
    assert Download.objects.count() == 1


def test_it_replaces_nothing_that_comes_before(gated, client, cleo, organizer, smtp):
    client.force_login(cleo)
    approve_team(organizer, Team.objects.get(), EVALUATION)
    password = latest_password(smtp)
    rejected = client.post(TEST, {"password": password})
    assert rejected.status_code == 403
    assert "Read and sign" in rejected.content.decode()
    sign(cleo, gated)
    Team.objects.update(state="declined")
    assert client.post(TEST, {"password": password}).status_code == 403
    assert not Download.objects.exists()


@pytest.mark.slow
def test_guesses_are_counted_with_those_of_the_password_page(gated, reader, password):
    for _ in range(GUESSES - 1):
        assert reader.post(TEST, {"password": "wrong"}).status_code == 403
    assert reader.post("/tasks/gated/password/", {"password": "wrong"}).status_code == 429
    assert reader.post(TEST, {"password": password}).status_code == 429
    assert reader.get(TEST).status_code == 429
    assert not Download.objects.exists()


@pytest.mark.slow
def test_a_script_gets_such_an_archive(gated, cleo, password):
    script, path = Script(cleo, "read"), "/tasks/gated/datasets/test/file"
    assert script(path).json()["code"] == "password"
    assert script(path, "HEAD", X_Data_Password=password).status_code == 200
    assert not Download.objects.exists()
    response = script(path, X_Data_Password=password, Range="bytes=999999-")  # ranges are not supported
    assert opened(response.getvalue(), password) == ("gated-test.tsv", body(gated, "test"))
    assert Download.objects.get().first_byte == 0


def test_organizers_get_the_file_itself(gated, client, organizer):
    client.force_login(organizer)
    assert client.get(TEST).getvalue() == body(gated, "test")
    assert client.post(TEST).status_code == 405


def test_other_pages_accept_no_post(gated, client):
    assert client.post(f"{DATA}sample/").status_code == 405


def test_only_data_with_a_password_can_be_encrypted(db, gated_folder):
    path = gated_folder / "task.yaml"
    path.write_text(path.read_text().replace("access: approved", "access: approved, encrypted: true"))
    with pytest.raises(Invalid, match="only datasets with access: password"):
        import_shared_task(None, gated_folder, EVALUATION)


@pytest.mark.slow
def test_a_large_file_passes_in_pieces():
    class Large(io.RawIOBase):
        left = 64 * 1024 * 1024

        def read(self, size=-1):
            piece = bytes(min(size, self.left))
            self.left -= len(piece)
            return piece

    pieces = encrypted_zip(Large(), "large.bin", "password")
    assert max(map(len, pieces)) < 512 * 1024
