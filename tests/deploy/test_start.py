"""A web server does not start with the database of a different version, and says how to fix this."""

import os
import subprocess
from pathlib import Path

import pytest

from portal.management.programs import web_command
from portal.management.valkey import free_port
from tests.conftest import ROOT
from tests.services import PATIENCE

pytestmark = pytest.mark.slow


def test_web_does_not_start_with_a_database_that_was_not_migrated(tmp_path: Path) -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "portal.settings", "AGON_STATE": str(tmp_path)}
    environment["DATABASE_URL"] = f"sqlite:///{tmp_path / 'empty.sqlite3'}"
    command = web_command(free_port())
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert "Agon can’t start with this database:\n- The database is missing" in done.stderr
    assert "Make a backup, then run manage.py migrate." in done.stderr
    assert "Traceback" not in done.stderr
