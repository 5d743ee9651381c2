"""Counters for /metrics: stored in rows, equally fast with any number of runs, and without counting anything twice."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.http import HttpResponse
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from portal import jobs
from portal.evaluation.rescore import ask_again
from portal.models import Reading, Run, Submission, Tally, Team
from portal.queries.counters import BOUNDS, counters, keep_counters
from portal.queries.metrics import metrics
from portal.web import requests
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, send_run, work_off

pytestmark = pytest.mark.postgres

HOUR = timedelta(hours=1)


@remembered
def lived_in(meltemi: Team) -> Team:
    send_run(meltemi, GOOD, 1, EVALUATION)
    send_run(meltemi, ["MAYBE"], 2, EVALUATION)
    work_off(EVALUATION)
    return meltemi


@pytest.mark.slow
def test_what_is_kept_is_what_was_counted(lived_in: Team) -> None:
    assert counters(EVALUATION + HOUR)["uploads", "tiny"] == 2
    for _ in range(2):  # the second call finds nothing new
        keep_counters(EVALUATION + HOUR)
        assert Tally.objects.get(name="uploads", label="tiny").value == 2
        after = counters(EVALUATION + HOUR)
        assert after["uploads", "tiny"] == 2
        assert (after["runs_finished", "scored"], after["runs_finished", "rejected"]) == (1, 1)
        assert after["upload_to_score_seconds", "+Inf"] == after["scoring_seconds", "+Inf"] == 1


@pytest.mark.slow
def test_no_counter_falls_when_runs_are_scored_again(lived_in: Team) -> None:
    last = counters(EVALUATION)

    def keep(minutes: int) -> None:
        nonlocal last
        for count in (lambda _at: None, keep_counters):
            count(EVALUATION + timedelta(minutes=minutes))
            found = counters(EVALUATION + timedelta(minutes=minutes))
            assert [key for key, value in last.items() if found[key] < value] == []
            last = found

    keep(1)
    ask_again(Run.objects.all())
    keep(2)
    work_off(EVALUATION + timedelta(minutes=3))
    keep(4)
    keep(14)
    ask_again(Run.objects.all())
    keep(15)
    assert (last["uploads", "tiny"], last["runs_finished", "scored"], last["runs_finished", "rejected"]) == (2, 1, 1)


def test_counting_while_counters_are_read_changes_nothing(lived_in: Team) -> None:
    at = EVALUATION + HOUR
    asked = 0

    def count_after(execute: Callable[..., Any], *call: Any) -> Any:
        nonlocal asked
        found = execute(*call)
        asked += 1
        if asked == 1:
            keep_counters(at)
        return found

    Tally.objects.add({("uploads", "tiny"): 5})  # as if counted earlier
    with connection.execute_wrapper(count_after):
        assert counters(at)["uploads", "tiny"] == 7
    assert counters(at)["uploads", "tiny"] == 7


def test_what_may_still_be_about_to_commit_is_counted_from_its_row(lived_in: Team) -> None:
    keep_counters(EVALUATION + timedelta(minutes=9))
    assert not Tally.objects.exclude(name=Tally.RECEIPT_KEY).exists()
    send_run(lived_in, GOOD, 3, EVALUATION - timedelta(seconds=1))  # as if its transaction was slow to commit
    keep_counters(EVALUATION + HOUR)
    assert counters(EVALUATION + HOUR)["uploads", "tiny"] == 3


@pytest.mark.slow
def test_a_new_score_is_no_new_upload(lived_in: Team) -> None:
    keep_counters(EVALUATION + HOUR)
    before = counters(EVALUATION + HOUR)
    Run.objects.filter(state="scored").update(finished_at=EVALUATION + 5 * HOUR, started_at=EVALUATION + 5 * HOUR)
    keep_counters(EVALUATION + 6 * HOUR)
    after = counters(EVALUATION + 6 * HOUR)
    assert after["scoring_seconds", "+Inf"] == 2
    assert after["upload_to_score_seconds", "+Inf"] == before["upload_to_score_seconds", "+Inf"] == 1


def copy_rows(model: type[Submission] | type[Run], count: int) -> None:
    """Insert this many copies of an accepted upload or a scored run."""
    columns = [field.column for field in model._meta.concrete_fields if field.column != "id"]
    key = "gen_random_uuid()" if connection.vendor == "postgresql" else "lower(hex(randomblob(16)))"
    names = ", ".join(columns)
    row = model.objects.filter(team__isnull=False, state__in=("accepted", "scored")).values_list("pk", flat=True)[0]
    pk = str(row) if connection.vendor == "postgresql" else row.hex
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} (id, {names}) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
            f" SELECT i + 1 FROM n WHERE i < {count}) SELECT {key}, {names}"
            f" FROM {model._meta.db_table}, n WHERE id = %s",
            [pk],
        )


class Steps:
    """The database's work: rows read by PostgreSQL, or steps of SQLite's virtual machine."""

    total = 0


@contextmanager
def steps() -> Iterator[Steps]:
    found, before = Steps(), rows_read()
    if connection.vendor == "sqlite":

        def step() -> None:
            found.total += 1

        connection.connection.set_progress_handler(step, 10)
    yield found
    if connection.vendor == "sqlite":
        connection.connection.set_progress_handler(None, 0)
    else:
        found.total = rows_read() - before


def rows_read() -> int:
    if connection.vendor == "sqlite":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables")
        return int(cursor.fetchone()[0])


@pytest.mark.slow
def test_figures_cost_the_same_for_any_number_of_runs(lived_in: Team) -> None:
    at = EVALUATION + HOUR
    cost = {}
    Run.objects.filter(state="scored").update(number=None)
    for count in (1_000, 10_000):
        for model in (Submission, Run):
            copy_rows(model, count - model.objects.filter(team__isnull=False).count())
        Reading.objects.all().delete()
        Tally.objects.all().delete()
        keep_counters(at)
        if connection.vendor == "postgresql":  # in production, autovacuum does this
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
        with CaptureQueriesContext(connection) as asked, steps() as done:
            text = {sample.name: sample.value for family in metrics(at) for sample in family.samples}
        assert text["agon_scoring_seconds_count"] == count - 1  # one run is rejected
        cost[count] = len(asked), done.total
    (few_asked, few), (many_asked, many) = cost.values()
    assert few_asked == many_asked
    assert few > 0
    assert many <= few * 1.5


def answer(status: int) -> None:
    requests.counted(lambda _request: HttpResponse(status=status))(RequestFactory().get("/tasks/"))


@pytest.fixture
def no_requests() -> None:
    requests._counts.clear()


def samples() -> dict[tuple[str, str], float]:
    return {
        (sample.name, "".join(sample.labels.values())): sample.value
        for family in metrics(EVALUATION)
        for sample in family.samples
    }


def test_requests_are_counted_by_status_and_duration(client, db: None, no_requests: None) -> None:
    assert samples()["agon_answers_total", "5xx"] == 0  # reported even before the first request
    for status in (200, 302, 404, 500, 503):
        answer(status)
    for path in ("/healthz", "/readyz", "/metrics"):
        client.get(path)
    found = samples()
    assert [found["agon_answers_total", status] for status in ("2xx", "3xx", "4xx", "5xx")] == [1, 1, 1, 2]
    assert found["agon_answered_seconds_count", ""] == found["agon_answered_seconds_bucket", "10.0"] == 5


def test_counts_wait_while_the_database_accepts_nothing(
    db: None, no_requests: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise DatabaseError("read-only")

    answer(500)
    with monkeypatch.context() as patched:
        patched.setattr(type(Tally.objects), "add", fail)
        requests.keep_counts()
    answer(500)
    requests.keep_counts()
    assert samples()["agon_answers_total", "5xx"] == 2


def test_every_series_is_there_from_the_start(tiny) -> None:
    found = samples()
    for name in ("agon_runs", "agon_mails"):
        assert found[name, "failed"] == 0
    assert found["agon_uploads_total", "tiny"] == 0
    for seconds in BOUNDS["scoring_seconds"]:
        assert found["agon_scoring_seconds_bucket", str(float(seconds))] == 0
    for work in ("backup", "restore", "reconcile"):
        assert found["agon_work_problems", work] == 0
        assert ("agon_work_age_seconds", work) in found
    for lane in ("scoring", "bulk", "mail"):
        assert ("agon_heartbeat_age_seconds", lane) in found


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_job_keeps_them(lived_in: Team) -> None:
    jobs.keep_counters()
    assert Tally.objects.get(name="uploads", label="tiny").value == 2


@pytest.mark.django_db(transaction=True)
def test_two_at_once_count_once(lived_in: Team) -> None:
    from tests.portal.world import at_once

    at_once([lambda: keep_counters(EVALUATION + HOUR)] * 4)
    assert Tally.objects.get(name="uploads", label="tiny").value == 2
