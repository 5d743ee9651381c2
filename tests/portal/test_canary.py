"""The search for leaked gold covers every output, and finds nothing after a task has run from start to finish."""

import io
import logging
import shutil

import pytest
from django.apps import apps
from django.core.cache import cache
from django.core.mail import EmailMessage
from django.core.management.base import OutputWrapper
from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory
from django.utils.safestring import SafeString

from portal.celery import app
from portal.models import AuditEntry, GoldStandard, Team
from portal.storage import open_gold
from tests.canary import CANARY, EYES, ResponseEyes, look_at_report, mark_gold
from tests.portal.world import EVALUATION, GOOD, POST, board, send_run, work_off


def answer(response):
    found = ResponseEyes(lambda _request: response)(RequestFactory().get("/"))
    if found.streaming:
        list(found.streaming_content)


def state_file(settings, content):
    # Not in STATE_ROOT itself: a process that reads its SQLite database as a file loses SQLite's locks on it, and then
    # misses what other processes write.
    path = settings.STATE_ROOT / "left/behind"
    path.parent.mkdir()
    path.write_bytes(content)
    EYES.look_at_folder(path.parent)
    shutil.rmtree(path.parent)


def printed(text):
    report = pytest.TestReport("test", ("", 0, ""), {}, "passed", None, "call", [("Captured stdout call", text)])
    look_at_report(report)


LEAKS = {
    "answer": lambda _: answer(HttpResponse(f"<p>{CANARY}</p>")),
    "header": lambda _: answer(HttpResponse(headers={"ETag": CANARY})),
    "stream": lambda _: answer(StreamingHttpResponse([CANARY[:5].encode(), CANARY[5:].encode()])),
    "log": lambda _: logging.getLogger("portal").warning("odd label %s", CANARY),
    "log, structured": lambda _: logging.getLogger("portal").warning({"event": "odd", "label": CANARY}),
    "row": lambda _: Team.objects.filter(name=SafeString(CANARY)).exists(),
    "JSON in a row": lambda _: AuditEntry.objects.create(verb="x", detail={"long": "x" * 99 + CANARY}, at=POST),
    "cache": lambda _: cache.set("board", {"label": CANARY}),
    "mail": lambda _: EmailMessage("Scores", f"Your label is {CANARY}", to=["a@example.org"]).send(),
    "message": lambda _: app.send_task("portal.nothing", [CANARY]),
    "command": lambda _: OutputWrapper(io.StringIO()).write(f"gold: {CANARY}"),
    "print": lambda _: printed(f"label {CANARY}"),
    "file": lambda settings: state_file(settings, b"x" * (1024 * 1024 - 3) + CANARY.encode()),
}


@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS)
def test_each_way_out_is_watched(db, queue, settings, leak):
    with EYES.aside() as seen:
        leak(settings)
    assert seen


def test_the_gold_of_these_tests_holds_the_word(tiny, tiny_folder):
    assert all(CANARY.encode() in open_gold(gold.sealed_sha256) for gold in GoldStandard.objects.all())
    mark_gold(tiny_folder)
    assert CANARY in (tiny_folder / "gold/one.json").read_text()


@pytest.mark.slow
def test_no_row_holds_gold_when_all_is_scored(meltemi):
    for number in (1, 2, 3):
        send_run(meltemi, GOOD, number, EVALUATION)
    work_off(EVALUATION)
    assert board(meltemi.shared_task, POST).rows
    rows = [str(list(model.objects.values_list())) for model in apps.get_models() if model._meta.managed]
    assert sum(map(len, rows)) > 10_000
    assert not any(CANARY in row for row in rows)
    assert connection.execute_wrappers
