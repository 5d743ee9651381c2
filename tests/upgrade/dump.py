"""Write the data of a synthetic portal as the checked-out version creates it, for later versions to upgrade.

    python -m tests.upgrade.dump tests/upgrade/0.2.0     # with a clean checkout of that version

The folder then contains `sqlite.sql.gz` and `postgresql.sql.gz` with the same rows, and `state.tar.gz` with their files
and the keys.
"""

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.services import ROOT, postgres, postgres_programs

KEYS = ("gold-private-key", "receipt-key.pem", "secret-key")
CONTENT = """
from django.core.management import call_command
import portal.queries.receipts
from portal.actions.task_folder.import_shared_task import import_shared_task
from tests.portal.world import *
call_command("migrate", verbosity=0)
found = import_shared_task(None, Path("tests/portal/tiny_task"), EVALUATION)
task = getattr(found, "shared_task", found)
organizer_of(task)
one, two = new_team(task, "Meltemi"), new_team(task, "Sirocco")
send_run(one, GOOD, 1, EVALUATION)
send_run(two, POOR, 1, EVALUATION)
send_run(two, ["MAYBE"], 2, EVALUATION)
work_off(EVALUATION)
send_run(one, PERFECT, 1, POST, "post")  # waits for a worker
portal.queries.receipts.public_key()  # makes the key
"""


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)  # PostgreSQL runs as a different user and needs access
        state, database = folder / "state", folder / "agon.sqlite3"
        state.mkdir()
        _run(state, f"sqlite:///{database}", "-c", f"import django; django.setup()\n{CONTENT}")
        with gzip.GzipFile(target / "sqlite.sql.gz", "wb", mtime=0) as file, sqlite3.connect(database) as connection:
            file.writelines(f"{line}\n".encode() for line in connection.iterdump())
        with postgres(_made(folder / "postgres")) as url:
            other = _made(folder / "other")
            for key in KEYS:
                shutil.copy(state / key, other)
            _run(state, f"sqlite:///{database}", "manage.py", "backup", str(folder / "backup.tar"))
            _run(other, url, "manage.py", "restore", str(folder / "backup.tar"))
            programs = postgres_programs()
            assert programs is not None
            options = ["--no-owner", "--no-privileges", "--dbname", url]
            dumped = subprocess.run([programs / "pg_dump", *options], check=True, capture_output=True).stdout
        with gzip.GzipFile(target / "postgresql.sql.gz", "wb", mtime=0) as file:
            lines = dumped.splitlines(keepends=True)
            file.writelines(line for line in lines if not line.startswith((b"\\restrict", b"\\unrestrict")))
        with tarfile.open(target / "state.tar.gz", "w:gz") as tar:
            for name in ("data", "gold", *KEYS):
                tar.add(state / name, name)


def _run(state: Path, database_url: str, *words: str) -> None:
    environment = os.environ | {"AGON_STATE": str(state), "DATABASE_URL": database_url}
    environment["DJANGO_SETTINGS_MODULE"] = "portal.settings"
    subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, check=True)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
