"""Files stored by content: completely and durably, or not at all."""

import hashlib
import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings

from portal.storage import FRESH, STALE_SECONDS, UploadTooLarge, file_sha256, pieces_of, store_content, store_upload
from tests.portal.world import stored_path

pytestmark = pytest.mark.postgres

INCOMING = Path(settings.DATA_ROOT) / "incoming"


def test_a_kept_body_is_stored_under_its_hash(db):
    body = b"kept body"
    with store_upload([body[:4], body[4:]], "run.json", 100) as stored:
        stored.keep()
    assert stored.sha256 == hashlib.sha256(body).hexdigest()
    assert (stored.name, stored.size) == ("run.json", len(body))
    assert stored_path(stored.sha256).read_bytes() == body
    assert list(INCOMING.iterdir()) == []


def test_keeping_the_same_body_twice_is_one_file(db):
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


def test_a_local_file_is_stored_once(db, tmp_path):
    (tmp_path / "baseline.json").write_bytes(b"baseline")
    sha256, pieces = file_sha256(tmp_path / "baseline.json"), partial(pieces_of, tmp_path / "baseline.json")
    now = datetime.now(UTC)
    store_content(sha256, pieces, now)
    written = stored_path(sha256).stat().st_mtime_ns
    store_content(sha256, pieces, now + FRESH / 2)
    assert stored_path(sha256).stat().st_mtime_ns == written
    store_content(sha256, pieces, now + FRESH * 2)  # stored again, because cleanup could delete an old copy
    assert stored_path(sha256).stat().st_mtime_ns > written


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
