"""Large bodies are read only from people who may send them, and never written to disk for anyone else."""

import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, FakePayload, encode_multipart

from portal.web import bodies, urls
from portal.web.bodies import FORM_BYTES, FORWARDED_BYTES, FORWARDED_ORGANIZER_BYTES, ORGANIZERS_FILES, discarding
from tests.conftest import ROOT
from tests.security.conftest import World
from tests.security.pages import address_of
from tests.security.test_access import NAMES

LARGE = b"x" * (settings.FILE_UPLOAD_MAX_MEMORY_SIZE + 1)
TAKES_FILES = {  # URLs that write a large file to disk, and who may use them
    "submit": "captain",
    "validate_only": "captain",
    "replace_dataset": "organizer",
    "add_file": "organizer",
}
ORGANIZERS = ("replace_dataset", "organize_gold", "add_file")


class Watched(FakePayload):
    """A body that counts the bytes read from it and lists a folder's files after each read."""

    def __init__(self, body: bytes, folder: Path) -> None:
        super().__init__(body)
        self.read_bytes = 0
        self.files: list[str] = []
        self._folder = folder

    def read(self, *size: int) -> bytes:
        piece: bytes = super().read(*size)
        self.read_bytes += len(piece)
        self.files += [path.name for path in self._folder.iterdir()]
        return piece


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """The folder for files that Django does not keep in memory."""
    folder = tmp_path / "uploads"
    folder.mkdir()
    settings.FILE_UPLOAD_TEMP_DIR = str(folder)
    return folder


def post(world: World, client: Client, name: str, folder: Path) -> Watched:
    body = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("large.zip", LARGE), "target": "one test"})
    watched = Watched(body, folder)
    client.handler.enforce_csrf_checks = True  # if there is a cookie, the CSRF check reads the body
    client.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32
    before = transaction.savepoint()
    client.generic("POST", address_of(world, name), body, MULTIPART_CONTENT, **{"wsgi.input": watched})  # type: ignore[arg-type]
    transaction.savepoint_rollback(before)
    return watched


@pytest.mark.parametrize("role", ["anonymous", "teamless", "captain", "password_organizer"])
@pytest.mark.parametrize("name", ORGANIZERS)
def test_no_body_is_read_from_people_who_may_not_organize(world: World, folder: Path, role: str, name: str) -> None:
    assert post(world, world.client(role), name, folder).read_bytes == 0


@pytest.mark.parametrize("name", ORGANIZERS)
def test_organizers_need_the_token_all_the_same(world: World, folder: Path, name: str) -> None:
    client = world.client("organizer")
    client.handler.enforce_csrf_checks = True
    assert client.post(address_of(world, name), {"file": SimpleUploadedFile("x", b"y")}).status_code == 403


@pytest.mark.parametrize("role", ["anonymous", "teamless", "captain", "organizer"])
def test_no_other_address_writes_a_file_to_disk(world: World, folder: Path, role: str) -> None:
    own = {str(pattern.name) for pattern in urls.urlpatterns}
    names = [name for name in NAMES if name in own or name in ("account_login", "account_signup")]
    assert TAKES_FILES.keys() | set(ORGANIZERS) < set(names)
    client = world.client(role)
    wrote = {name for name in names if post(world, client, name, folder).files}
    assert wrote == {name for name, who in TAKES_FILES.items() if role == who}


@pytest.mark.parametrize(
    "content",
    [
        urlencode({"name": "x" * FORM_BYTES}).encode(),
        urlencode({f"{number}{'x' * 300}": "" for number in range(990)}).encode(),
    ],
)
def test_a_form_over_its_size_is_not_read(world: World, content: bytes) -> None:
    found = world.client("captain").post(
        "/tasks/gated/team/paper/", content, content_type="application/x-www-form-urlencoded"
    )
    assert found.status_code == 413
    assert "shorten them" in found.text


@pytest.mark.parametrize("fields", [10_000, 1_001])
@pytest.mark.parametrize("media", ["application/x-www-form-urlencoded", MULTIPART_CONTENT])
def test_a_form_with_many_fields_is_not_read(world: World, fields: int, media: str) -> None:
    given = dict.fromkeys(map(str, range(fields)), "")
    content = encode_multipart(BOUNDARY, given) if media == MULTIPART_CONTENT else urlencode(given).encode()
    assert world.client("captain").generic("POST", "/tasks/gated/team/paper/", content, media).status_code == 400


class Endless(io.RawIOBase):
    """A body of any length that records how much was read at most at a time, and in total."""

    def __init__(self) -> None:
        self.pieces: list[int] = []

    def read(self, size: int = -1, /) -> bytes:
        self.pieces.append(size)
        return bytes(size)


ROUTE = {"submit": "/tasks/tiny/submit/", "data": "/tasks/tiny/organize/data/sample/"}


@pytest.mark.parametrize(
    ("path", "length", "is_read"),
    [
        (ROUTE["submit"], 0, False),
        (ROUTE["submit"], 200_000, True),
        (ROUTE["submit"], FORWARDED_BYTES, True),
        (ROUTE["submit"], FORWARDED_BYTES + 1, False),
        (ROUTE["data"], FORWARDED_BYTES + 1, True),
        (ROUTE["data"], FORWARDED_ORGANIZER_BYTES + 1, False),
    ],
)
def test_what_no_view_reads_is_discarded_in_small_pieces(path: str, length: int, is_read: bool) -> None:
    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["wsgi.input"].read(min(length, 5))
        return [b"Sign in"]

    body = Endless()
    environ = {"PATH_INFO": path, "CONTENT_LENGTH": str(length), "wsgi.input": body}
    assert discarding(application)(environ, None) == [b"Sign in"]
    assert sum(body.pieces) == (length if is_read else min(length, 5))
    assert max(body.pieces) <= 64 * 1024


@pytest.mark.parametrize(
    ("size", "path", "answer"),
    [
        (1000, ROUTE["data"], "all"),
        (1001, ROUTE["data"], "411 Length Required"),
        (1001, ROUTE["submit"], "cut"),  # rejected because of its length
        (1001, f"/api/v1{ROUTE['data']}", "cut"),
    ],
)
def test_no_organizer_page_takes_the_first_part_of_a_body_for_the_whole(
    monkeypatch: pytest.MonkeyPatch, size: int, path: str, answer: str
) -> None:
    monkeypatch.setattr(bodies, "BODY_BYTES", 1000)
    found: list[str] = []

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("cut" if environ[bodies.IS_CUT] else "all", [])
        return []

    chunked = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    environ = {"PATH_INFO": path, "wsgi.input": io.BytesIO(bytes(size)), **chunked}
    list(bodies.measured(application)(environ, lambda status, _headers: found.append(status)))
    assert found == [answer]


def test_the_proxy_forwards_what_is_discarded() -> None:
    configuration = (ROOT / "deploy/proxy/nginx.conf").read_text()
    sizes = dict(re.findall(r"location ~ (\S+) \{\s+client_max_body_size (\d+)m;", configuration))
    assert int(sizes.pop(ORGANIZERS_FILES)) * 1024**2 == FORWARDED_ORGANIZER_BYTES
    assert {int(size) * 1024**2 for size in sizes.values()} == {FORWARDED_BYTES}
