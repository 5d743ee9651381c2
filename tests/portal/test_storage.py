"""Files by content: each is complete and durable, or not stored at all."""

import hashlib
import os
from pathlib import Path

import pytest
from django.conf import settings

from portal.storage import STALE_SECONDS, UploadTooLarge, store_file, store_upload
from tests.portal.world import stored_path

INCOMING = Path(settings.DATA_ROOT) / "incoming"


def test_kept_body_lies_at_its_hash():
    body = b"kept body"
    with store_upload([body[:4], body[4:]], "run.json", 100) as stored:
        stored.keep()
    assert stored.sha256 == hashlib.sha256(body).hexdigest()
    assert (stored.name, stored.size) == ("run.json", len(body))
    assert stored_path(stored.sha256).read_bytes() == body
    assert list(INCOMING.iterdir()) == []


def test_keeping_the_same_body_twice_is_one_file():
    for _ in range(2):
        with store_upload([b"twice"], "run.json", 100) as stored:
            stored.keep()
    assert stored_path(stored.sha256).read_bytes() == b"twice"


def test_rejected_body_leaves_nothing():
    with store_upload([b"rejected"], "run.json", 100) as stored:
        pass
    assert not stored_path(stored.sha256).exists()
    assert list(INCOMING.iterdir()) == []


def test_the_limit_is_the_last_byte_that_goes_in():
    with store_upload([b"x" * 60, b"x" * 40], "run.json", 100) as stored:
        assert stored.size == 100
    with pytest.raises(UploadTooLarge):
        store_upload([b"x" * 60, b"x" * 41], "run.json", 100)
    assert list(INCOMING.iterdir()) == []


def test_broken_connection_leaves_nothing():
    def body():
        yield b"half"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        store_upload(body(), "run.json", 100)
    assert list(INCOMING.iterdir()) == []


def test_file_of_ours_is_stored_once(tmp_path):
    (tmp_path / "baseline.json").write_bytes(b"baseline")
    sha256 = store_file(tmp_path / "baseline.json")
    written = stored_path(sha256).stat().st_mtime_ns
    assert store_file(tmp_path / "baseline.json") == sha256
    assert stored_path(sha256).stat().st_mtime_ns == written


def test_what_a_killed_process_left_goes_with_a_later_upload():
    INCOMING.mkdir(parents=True, exist_ok=True)
    stale, recent, folder = INCOMING / "stale", INCOMING / "recent", INCOMING / "folder"
    folder.mkdir()
    for path, age in ((stale, STALE_SECONDS + 60), (recent, STALE_SECONDS - 60), (folder, STALE_SECONDS + 60)):
        path.is_dir() or path.write_bytes(b"half")
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))
    with store_upload([b"new"], "run.json", 100):
        pass
    assert list(INCOMING.iterdir()) == [recent]
    recent.unlink()
