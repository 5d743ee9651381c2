"""Commands and workers: what they load at their start, and how commands report an unusable database."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace as Fake

import pytest
from django.urls import resolvers

from portal import worker
from portal.evaluation.lanes import Lane
from portal.management import commands
from portal.management.command import PortalCommand
from tests.conftest import ROOT

START = """
import sys
from django.core.management import execute_from_command_line
from portal.celery import app
app.loader.import_default_modules()  # as every worker does
execute_from_command_line(["manage.py", "list_actions"])
print("loaded:", [name for name in ("portal.urls", "portal.api.urls", "portal.web.urls") if name in sys.modules])
"""


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "portal.settings"} | variables
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_workers_and_commands_load_no_pages(tmp_path: Path) -> None:
    done = run("-c", START, AGON_STATE=str(tmp_path))
    assert done.stdout.endswith("loaded: []\n"), done.stderr


def test_every_command_starts_in_this_way() -> None:
    names = {module.name for module in iter_modules(commands.__path__)} - {"makemessages"}  # Django's own, extended
    assert len(names) > 10
    for name in names:
        assert issubclass(import_module(f"{commands.__name__}.{name}").Command, PortalCommand), name


@pytest.mark.parametrize(("lanes", "is_loaded"), [([Lane.SCORING], False), ([Lane.SCORING, Lane.MAIL], True)])
def test_a_worker_for_emails_loads_the_pages_before_it_forks(
    monkeypatch: pytest.MonkeyPatch, lanes: list[Lane], is_loaded: bool
) -> None:
    monkeypatch.setattr(worker, "probe", lambda _lanes: [])
    resolver = resolvers.URLResolver(resolvers.RegexPattern(r"^/"), "portal.urls")
    monkeypatch.setattr(worker, "get_resolver", lambda: resolver)
    monkeypatch.setattr(worker, "try_own_scorers", lambda: None)
    worker.wait_until_able(Fake(app=Fake(amqp=Fake(queues=Fake(consume_from=lanes)))))  # type: ignore[arg-type]
    assert ("url_patterns" in vars(resolver)) == is_loaded


@pytest.mark.slow
@pytest.mark.parametrize(
    ("database", "reason"),
    [
        ("postgres://agon@127.0.0.1:1/agon", "port 1 failed"),
        ("sqlite:///{folder}/new.sqlite3", "no such table: portal_sharedtask"),
    ],
    ids=["unreachable", "empty"],
)
def test_a_database_error_names_the_doctor_instead_of_a_traceback(tmp_path: Path, database: str, reason: str) -> None:
    url = database.format(folder=tmp_path)
    done = run("manage.py", "reconcile", AGON_STATE=str(tmp_path), DATABASE_URL=url)
    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: Database error: ")
    assert reason in done.stderr
    assert done.stderr.endswith("\nTo find the cause, run: manage.py doctor\n")
    assert "Traceback" not in done.stdout + done.stderr
