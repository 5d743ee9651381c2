"""A complete portal in separate processes, and a real browser."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from portal.management.programs import BEAT, WORKERS, web_command, worker_command
from portal.management.valkey import HOST, free_port
from tasks import build
from tasks.kept import content_key
from tests.canary import EYES, mark_gold
from tests.conftest import ROOT
from tests.services import PATIENCE, Broker, Program, answers, chromium, wait_until

TASKS = ("detests2022", "exist2024")
# As the demo does.
CREATE_TABLES = "import django; django.setup(); from portal.management.schema import migrate; migrate()"
# Chromium's sandbox does not work as root. The last flags keep Chromium from contacting its own servers.
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True, slots=True)
class Portal:
    """The portal's address, state folder, folder with the imported tasks, and environment."""

    url: str
    state: Path
    tasks: Path
    environment: dict[str, str]

    def manage(self, *command: str) -> None:
        """Run a management command on the portal's state."""
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=self.environment, check=True)

    def mails_to(self, address: str) -> list[Path]:
        """Return the emails to this address, oldest first."""
        mails = sorted((self.state / "mail").glob("*.eml"), key=lambda path: path.stat().st_mtime)
        return [mail for mail in mails if f"To: {address}" in mail.read_text()]


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Portal]:
    """A web server, workers and a broker with fresh data: two shared tasks and no accounts."""
    folder = tmp_path_factory.mktemp("portal")
    port, broker_port = free_port(), free_port()
    url, state = f"http://{HOST}:{port}", folder / "state"
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "AGON_STATE": str(state),
        "AGON_URL": url,  # base of links in emails
        "AGON_DEMO": "true",  # emails are written to files
        "REDIS_URL": f"redis://{HOST}:{broker_port}/0",
    }
    own = Portal(url, state, folder / "tasks", environment)
    broker = Broker(tmp_path_factory.mktemp("valkey"), broker_port)
    broker.start()
    workers = [worker_command(name, lanes) for name, lanes in WORKERS.items()]
    # Each has its own session, because a worker lowers the priority of its session.
    programs = [Program(command, environment, folder / "log") for command in (web_command(port), *workers, BEAT)]
    try:
        kept = pytestconfig.cache.mkdir("demo-tasks")
        folders = [_task_folder(slug, kept, own.tasks / slug) for slug in TASKS]
        for task in folders:
            mark_gold(task)
            _keep_open(task / "task.yaml")
        with (folder / "log").open("wb") as log:
            for words in (("-c", CREATE_TABLES), ("manage.py", "import_task", *map(str, folders))):
                command = [sys.executable, *words]
                subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=log, stderr=log)
        for program in programs:
            program.start()
        wait_until(lambda: answers(port), f"the web server answers; see {folder / 'log'}")
        yield own
    finally:
        for program in programs:
            program.stop()
        broker.kill()
    EYES.look("log of the programs", (folder / "log").read_bytes())
    EYES.look_at_folder(own.state)
    EYES.look_at_folder(tmp_path_factory.getbasetemp() / "valkey0")


def _task_folder(slug: str, kept: Path, place: Path) -> Path:
    """Copy the task's folder to `place` if the tests of the demo have kept it. Otherwise, generate it."""
    found = kept / slug / content_key(slug) / "task"
    return shutil.copytree(found, place) if found.exists() else build(slug, place)


def _keep_open(definition: Path) -> None:
    """Let the post-evaluation phase accept runs forever, so that its items' gold remains hidden."""
    text = definition.read_text().replace('    closes: "2023-01-01 00:00 UTC"\n', "")
    definition.write_text(text.replace(", published: true", ""))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = chromium()
    if executable is None:
        pytest.skip("no Chromium is installed")
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@contextmanager
def received(browser: Browser, folder: Path) -> Iterator[None]:
    """Record everything that the browser receives. At the end, close its contexts and search the recordings for gold.

    Recording is necessary, because the bodies of responses are no longer available once a page has been left.
    """
    opened: list[BrowserContext] = []
    open_one = browser.new_context

    def open_recorded(**options: Any) -> BrowserContext:
        recording = {"record_har_path": folder / f"{len(opened)}.har", "record_har_content": "embed"}
        opened.append(open_one(**recording | options))
        opened[-1].set_default_timeout(PATIENCE * 1000)
        return opened[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(browser, "new_context", open_recorded)
        yield
    for context in opened:
        context.close()
    for har in folder.glob("*.har"):
        EYES.look_at_recording(har)


@pytest.fixture(autouse=True)
def eyes_in_the_browser(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with received(browser, tmp_path_factory.mktemp("received")):
        yield


@pytest.fixture
def page(browser: Browser, portal: Portal) -> Iterator[Page]:
    """A browser page of 1280 by 800 pixels.

    The test fails on uncaught JavaScript errors and Content Security Policy violations.
    """
    context = browser.new_context(base_url=portal.url, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if "Content Security" in message.text else None)
    yield page
    context.close()
    assert not problems
