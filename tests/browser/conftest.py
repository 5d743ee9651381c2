"""A complete portal in separate processes, and a real browser."""

import os
import re
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
    log, state, broker_port = folder / "log", folder / "state", free_port()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "AGON_STATE": str(state),
        "AGON_DEMO": "true",  # emails are written to files
        "REDIS_URL": f"redis://{HOST}:{broker_port}/0",
    }
    broker = Broker(tmp_path_factory.mktemp("valkey"), broker_port)
    broker.start()
    kept = pytestconfig.cache.mkdir("demo-tasks")
    programs: list[Program] = []
    try:
        folders = [_task_folder(slug, kept, folder / "tasks" / slug) for slug in TASKS]
        for task in folders:
            mark_gold(task)
            _adapt(task / "task.yaml")
        for words in (("-c", CREATE_TABLES), ("manage.py", "import_task", *map(str, folders))):
            _run([sys.executable, *words], environment, log)
        port = free_port()  # chosen only now, because another program may start to use a port that is free
        environment["AGON_URL"] = f"http://{HOST}:{port}"  # base of links in emails
        workers = [worker_command(name, lanes) for name, lanes in WORKERS.items()]
        # Each has its own session, because a worker lowers the priority of its session.
        programs += [Program(command, environment, log) for command in (web_command(port), *workers, BEAT)]
        for program in programs:
            program.start()
        wait_until(lambda: _is_served(port, programs, log), "the web server answers")
        yield Portal(environment["AGON_URL"], state, folder / "tasks", environment)
    finally:
        for program in programs:
            program.stop()
        broker.kill()
    EYES.look("log of the programs", log.read_bytes())
    EYES.look_at_folder(state)
    EYES.look_at_folder(tmp_path_factory.getbasetemp() / "valkey0")


def _run(command: list[str], environment: dict[str, str], log: Path) -> None:
    with log.open("ab") as file:
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=file, stderr=file).returncode
    assert code == 0, f"{command} ended with {code}. The end of its output:\n{_end(log)}"


def _is_served(port: int, programs: list[Program], log: Path) -> bool:
    """Return whether the web server answers. Fail if a program has ended: it would never answer, or never work."""
    for program in programs:
        code = program.process and program.process.poll()
        assert code is None, f"{program} ended with {code}. The end of the programs' log:\n{_end(log)}"
    return answers(port)


def _end(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-40:])


def _task_folder(slug: str, kept: Path, place: Path) -> Path:
    """Copy the task's folder to `place` if the tests of the demo have kept it. Otherwise, generate it."""
    found = kept / slug / content_key(slug) / "task"
    return shutil.copytree(found, place) if found.exists() else build(slug, place)


def _adapt(definition: Path) -> None:
    """Let the post-evaluation phase accept runs forever, so that its items' gold remains hidden.

    Also remove the baseline that no test needs, because it would be scored 30 times while the tests run.
    """
    text = definition.read_text().replace('    closes: "2023-01-01 00:00 UTC"\n', "").replace(", published: true", "")
    definition.write_text(re.sub(r'  - \{name: "Minority class".*\n', "", text))


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
