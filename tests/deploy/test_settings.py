"""A public portal starts if all required settings are given. Otherwise, it lists all problems together."""

import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portal.management.valkey import announced, free_port
from scoring.receipts import new_private_key
from tests.conftest import ROOT
from tests.services import PATIENCE

ADDRESS = "https://agon.example"
Start = Callable[[dict[str, str]], dict[str, Any]]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    """A function that evaluates the portal's settings with only the given variables set, and returns them."""

    def start(variables: dict[str, str]) -> dict[str, Any]:
        for name in list(os.environ):
            monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(ROOT / "portal/settings.py"))

    return start


@pytest.fixture
def right(tmp_path: Path) -> dict[str, str]:
    """The required variables of a public portal."""
    (tmp_path / "secret").write_text("0123456789" * 5 + "\n")
    (tmp_path / "receipts").write_text(new_private_key())
    return {
        "AGON_URL": ADDRESS,
        "AGON_STATE": str(tmp_path / "state"),
        "AGON_GOLD_PUBLIC_KEY": "0123456789abcdef" * 4,
        "AGON_RECEIPT_KEY_FILE": str(tmp_path / "receipts"),
        "SECRET_KEY_FILE": str(tmp_path / "secret"),
        "DATABASE_URL": "postgres://agon@127.0.0.1/agon",
        "REDIS_URL": "redis://127.0.0.1/0",
        "EMAIL_FROM": "Agon <agon@agon.example>",
    }


def test_a_portal_of_this_machine_alone_asks_for_nothing(start: Start, tmp_path: Path) -> None:
    settings = start({"AGON_STATE": str(tmp_path)})
    assert not settings["PUBLIC"]
    assert (tmp_path / "secret-key").read_text() == settings["SECRET_KEY"]


def test_a_command_next_to_a_running_demo_publishes_to_its_broker(start: Start, tmp_path: Path, settings: Any) -> None:
    def broker(**variables: str) -> str:
        found: str = start({"AGON_STATE": str(tmp_path), **variables})["CELERY_BROKER_URL"]
        return found

    settings.DEMO_BROKER = start({"AGON_STATE": str(tmp_path)})["DEMO_BROKER"]
    usual = broker()
    with announced("redis://127.0.0.1:4711/0"):
        assert broker() == "redis://127.0.0.1:4711/0"
        assert broker(REDIS_URL="redis://127.0.0.1:1/0") == "redis://127.0.0.1:1/0"
    assert broker() == usual


def test_the_right_settings_start_and_secrets_come_from_files(
    start: Start, right: dict[str, str], tmp_path: Path
) -> None:
    settings = start(right)
    assert settings["PUBLIC"]
    assert settings["SECRET_KEY"] == "0123456789" * 5
    assert settings["ALLOWED_HOSTS"][0] == "agon.example"
    assert not (tmp_path / "state/secret-key").exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"AGON_URL": "http://agon.example"}, "AGON_URL is the portal's public address and must start with https"),
        ({"AGON_URL": "", "ALLOWED_HOSTS": "agon.example"}, "AGON_URL is missing"),
        ({"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS contains *"),
        ({"DEBUG": "true"}, "DEBUG is on"),
        ({"DEBUG": "perhaps"}, "DEBUG has an invalid value. Expected: true or false"),
        ({"AGON_DEMO": "true"}, "AGON_DEMO is on"),
        ({"SECRET_KEY_FILE": ""}, "SECRET_KEY is missing or too easy to guess"),
        ({"SECRET_KEY_FILE": "", "SECRET_KEY": "0123456789" * 4}, "SECRET_KEY is missing or too easy to guess"),
        ({"SECRET_KEY_FILE": "/nowhere"}, "SECRET_KEY_FILE points to /nowhere, which can’t be read: No such file"),
        ({"AGON_RECEIPT_KEY_FILE": ""}, "AGON_RECEIPT_KEY is missing"),
        ({"AGON_GOLD_PUBLIC_KEY": ""}, "AGON_GOLD_PUBLIC_KEY is missing (on a worker, AGON_GOLD_PRIVATE_KEY)"),
        (
            {"AGON_GOLD_PRIVATE_KEY": "0123"},
            "AGON_GOLD_PRIVATE_KEY has an invalid value. Use a key that manage.py gold_keys",
        ),
        ({"AGON_STATE": "/dev/null/state"}, "AGON_STATE is /dev/null/state, which can't be created"),
        ({"EMAIL_FROM": ""}, "EMAIL_FROM is missing"),
        ({"EMAIL_PORT": "smtp"}, "EMAIL_PORT has an invalid value. Expected: a whole number"),
        ({"DATABASE_URL": ""}, "DATABASE_URL is missing"),
        ({"DATABASE_URL": "mysql://x/y"}, "DATABASE_URL has an invalid value. Expected: postgres://"),
        ({"REDIS_URL": ""}, "REDIS_URL is missing"),
        ({"AGON_RECIEPT_KEY": "x"}, "AGON_RECIEPT_KEY is not an Agon setting. Did you mean AGON_RECEIPT_KEY?"),
    ],
)
def test_what_is_missing_or_unsafe_is_rejected(
    start: Start, right: dict[str, str], changes: dict[str, str], sentence: str
) -> None:
    with pytest.raises(SystemExit) as refusal:
        start({name: value for name, value in (right | changes).items() if value})
    assert f"- {sentence}" in str(refusal.value)


@pytest.mark.parametrize(
    ("package", "changes", "variable"),
    [
        ("psycopg", {}, "DATABASE_URL"),
        ("boto3", {"AGON_S3_BUCKET": "data"}, "AGON_S3_BUCKET"),
        ("boto3", {"AGON_S3_GOLD_BUCKET": "gold"}, "AGON_S3_GOLD_BUCKET"),
        ("sentry_sdk", {"SENTRY_DSN": "https://key@sentry.example/1"}, "SENTRY_DSN"),
    ],
)
def test_a_package_that_a_setting_needs_is_missed_at_the_start(
    start: Start,
    right: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    changes: dict[str, str],
    variable: str,
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as refusal:
        start(right | changes)
    said = f"- {variable} needs the Python package {package}, which is not installed. Run ./run setup without --small."
    assert said in str(refusal.value).splitlines()


def test_a_small_installation_starts(tmp_path: Path) -> None:
    extras = ("boto3", "botocore", "fontTools", "psycopg", "sentry_sdk", "vl_convert")
    code = f"import sys; sys.modules.update(dict.fromkeys({extras}))\n"
    code += "import django; django.setup(); import portal.jobs, portal.urls, portal.celery, portal.wsgi"
    environment = {"AGON_STATE": str(tmp_path), "DJANGO_SETTINGS_MODULE": "portal.settings"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_djangos_own_check_finds_nothing(right: dict[str, str]) -> None:
    check = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "INFO"]
    environment = right | {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        check, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert "System check identified no issues" in done.stdout, done.stderr
    assert done.returncode == 0


WEB = [sys.executable, "-m", "portal.server", "--port", str(free_port())]
WORKER = [sys.executable, "-m", "celery", "-A", "portal", "worker"]
BEAT = [sys.executable, "-m", "celery", "-A", "portal", "beat"]
COMMAND = [sys.executable, "manage.py", "migrate"]


@pytest.mark.parametrize("program", [WEB, WORKER, BEAT, COMMAND], ids=["web", "worker", "beat", "command"])
def test_every_program_ends_with_all_problems_at_once(program: list[str]) -> None:
    environment = {"AGON_URL": "http://agon.example", "DEBUG": "on", "AGON_STAET": "/state", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        program, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    sentences = [line for line in done.stderr.splitlines() if line.startswith("- ")]
    assert len(sentences) == 10
    assert "- AGON_STAET is not an Agon setting. Did you mean AGON_STATE?" in sentences


@pytest.mark.parametrize(
    ("variables", "ssl", "starttls"),
    [
        ({}, False, False),
        ({"EMAIL_PORT": "587", "EMAIL_USE_TLS": "true"}, False, True),
        ({"EMAIL_PORT": "465", "EMAIL_USE_TLS": "true"}, True, False),
        ({"EMAIL_PORT": "4465", "EMAIL_USE_SSL": "true"}, True, False),
    ],
)
def test_how_mail_is_encrypted(
    start: Start, tmp_path: Path, variables: dict[str, str], ssl: bool, starttls: bool
) -> None:
    settings = start({"AGON_STATE": str(tmp_path), **variables})
    assert (settings["EMAIL_USE_SSL"], settings["EMAIL_USE_TLS"]) == (ssl, starttls)


def test_what_the_database_url_asks_for_is_kept(start: Start, right: dict[str, str]) -> None:
    """For example, options for TLS to a remote database are kept in addition to the portal's own options."""
    remote = "postgres://agon@db.example.org/agon?sslmode=verify-full&sslrootcert=system"
    options = start(right | {"DATABASE_URL": remote})["DATABASES"]["default"]["OPTIONS"]
    assert (options["sslmode"], options["sslrootcert"], options["server_side_binding"]) == (
        "verify-full",
        "system",
        True,
    )
