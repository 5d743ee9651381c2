"""The production log: JSON, one line per event, without secrets or forged lines."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PROGRAM = """
import logging, structlog, django
django.setup()
log = structlog.get_logger("portal.test")
log.info("checked", name="run\\r\\n12:00:00 [info] forged\\x1b[31m\\u2028")
logging.getLogger("django.request").warning("Not Found: %s", "/a\\n{}\\x1b[2J")
reset, join = "/accounts/password/reset/key/1-s3cret/", "/tasks/a/team/join/s3cret/"
logging.getLogger("x").warning("GET %s %s /accounts/confirm-email/s3cret/", reset, join)
try:
    password = "s3cret"
    raise ValueError("bad\\nforged line\\x1b[31m")
except ValueError:
    log.exception("failed")
"""


def output(tmp_path: Path, **variables: str) -> list[str]:
    environment = {"AGON_STATE": str(tmp_path), "DJANGO_SETTINGS_MODULE": "portal.settings"} | variables
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stderr.rstrip("\n").split("\n")


def test_json_is_one_object_a_line(tmp_path: Path) -> None:
    checked, missing, keys, failed = [json.loads(line) for line in output(tmp_path, LOG_JSON="true")]
    assert (checked["event"], checked["level"], checked["logger"]) == ("checked", "info", "portal.test")
    assert checked["name"] == r"run\r\n12:00:00 [info] forged\x1b[31m\u2028"
    assert checked["timestamp"].endswith("Z")
    assert missing["event"] == r"Not Found: /a\n{}\x1b[2J"
    assert keys["event"].count("…") == 3
    assert "ValueError: bad" in failed["exception"]
    assert "s3cret" not in json.dumps([checked, missing, keys, failed])


def test_readable_lines_are_ours(tmp_path: Path) -> None:
    lines = output(tmp_path)
    assert [line for line in lines if "forged" in line and not line.startswith("  | ")] == [lines[0]]
    assert "\x1b" not in "".join(lines)
    assert "s3cret" not in "".join(lines)


@pytest.mark.parametrize("given", ["0123456789abcdef0123456789abcdef", "a\r\nSet-Cookie: x", "<script>", ""])
def test_a_request_is_known_by_an_id(client, db, given: str) -> None:
    answer = client.get("/healthz", headers={"X-Request-ID": given})
    known_as = answer["X-Request-ID"]
    assert len(known_as) == 32
    assert (known_as == given) == (len(given) == 32)
