"""Database connections of threads that end."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.backends.signals import connection_created

from portal.models import SharedTask
from portal.web.connections import close_with_thread
from tests.conftest import ROOT


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Without the garbage collector, which would close the connections, too, but only at some later time."""
    gc.disable()
    yield
    gc.enable()


def _opened_by_a_thread_that_ends() -> Any:
    def read() -> Any:
        SharedTask.objects.count()
        return connection.connection

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(read).result()


@pytest.mark.usefixtures("no_collector")
def test_a_connection_is_closed_when_its_thread_ends(transactional_db: None) -> None:
    connection_created.connect(close_with_thread)
    try:
        opened = _opened_by_a_thread_that_ends()
    finally:
        connection_created.disconnect(close_with_thread)
    with pytest.raises(connection.Database.Error):
        opened.execute("SELECT 1")
    assert SharedTask.objects.count() == 0  # this thread's connection is still open


@pytest.mark.usefixtures("no_collector")
def test_without_it_the_connection_would_stay_open(transactional_db: None) -> None:
    opened = _opened_by_a_thread_that_ends()
    opened.execute("SELECT 1")
    opened.close()


@pytest.mark.slow
def test_the_web_server_closes_them(tmp_path: Path) -> None:
    code = (
        "import portal.wsgi; from django.db.backends.signals import connection_created\n"
        "from portal.web.connections import close_with_thread\n"
        "print(connection_created.disconnect(close_with_thread))  # True if it was connected"
    )
    environment = {"AGON_STATE": str(tmp_path), "DJANGO_SETTINGS_MODULE": "portal.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"
