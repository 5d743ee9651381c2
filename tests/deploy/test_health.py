"""The health states (ready, degraded, unready), and the metrics, which are computed from database rows."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import connections
from prometheus_client.parser import text_string_to_metric_families

from portal.jobs import heartbeat
from portal.models import Heartbeat, Refusal, Run, Submission, Team
from portal.models.clock import database_now
from portal.queries.counters import keep_counters
from portal.queries.health import health as checked
from tests.portal.world import EVALUATION, GOOD, send_run, work_off
from tests.services import Broker

TOKEN = "a-token-for-prometheus"


def health(client) -> tuple[int, str, dict[str, str]]:
    answer = client.get("/readyz")
    found = answer.json()
    return answer.status_code, found["status"], {part: words for part, words in found["parts"].items() if words != "ok"}


@pytest.fixture
def beating(db: None, settings: LazySettings) -> None:
    for lane in settings.CELERY_TASK_QUEUES:
        heartbeat(lane)


def test_ready(client, broker: Broker, beating: None) -> None:
    assert health(client) == (200, "ready", {})


def test_without_a_broker_uploads_go_on(client, meltemi: Team, beating: None) -> None:
    status, words, problems = health(client)
    assert (status, words, problems) == (200, "degraded", {"broker": "not running, or at another address"})
    assert send_run(meltemi, GOOD, 1, EVALUATION).state == Run.State.RECEIVED


@pytest.fixture
def now(db: None, monkeypatch: pytest.MonkeyPatch) -> datetime:
    """Stop the clock of the health checks."""
    moment = database_now()
    monkeypatch.setattr("portal.queries.health.database_now", lambda: moment)
    return moment


def test_a_silent_worker_is_named(client, broker: Broker, beating: None, now: datetime) -> None:
    Heartbeat.objects.filter(lane="mail").update(at=now - timedelta(minutes=3))
    Heartbeat.objects.filter(lane="bulk").delete()
    status, words, problems = health(client)
    assert (status, words) == (200, "degraded")
    assert problems == {"worker mail": "no heartbeat for 180 s", "worker bulk": "no heartbeat yet"}


@pytest.mark.parametrize("lane", ["hidden", "bulk"])
def test_a_long_job_on_hidden_scores_is_shown_to_administrators_only(
    client, broker: Broker, beating: None, now: datetime, lane: str
) -> None:
    before = client.get("/readyz").content
    Heartbeat.objects.filter(lane=lane).update(at=now - timedelta(minutes=70))
    assert client.get("/readyz").content == before
    assert checked().parts[f"worker {lane}"] == "no heartbeat for 4200 s"


def test_an_old_upload_that_no_worker_claims_is_reported(client, broker: Broker, beating: None, meltemi: Team) -> None:
    send_run(meltemi, GOOD, 1, EVALUATION)
    assert health(client)[:2] == (200, "degraded")
    assert "the oldest upload has been waiting" in health(client)[2]["queue"]


def test_a_storage_that_cannot_be_written(client, broker: Broker, beating: None, settings, tmp_path: Path) -> None:
    location = tmp_path / "file"
    location.touch()
    place = {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": location}}
    settings.STORAGES = settings.STORAGES | {"data": place}
    assert health(client) == (503, "unready", {"storage": "Not a directory"})


@pytest.fixture
def figures(client, db: None, settings: LazySettings) -> Callable[[], dict[str, float]]:
    settings.METRICS_TOKEN = TOKEN

    def figures() -> dict[str, float]:
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        families = text_string_to_metric_families(answer.content.decode())
        return {
            sample.name + "".join(f" {value}" for value in sample.labels.values()): sample.value
            for family in families
            for sample in family.samples
        }

    return figures


def test_figures_are_for_who_has_the_token(client, db: None, settings: LazySettings) -> None:
    for token, given in (("", "Bearer "), ("", ""), (TOKEN, ""), (TOKEN, "Bearer wrong"), (TOKEN, f"Basic {TOKEN}")):
        settings.METRICS_TOKEN = token
        assert client.get("/metrics", headers={"Authorization": given}).status_code == 404
    assert client.get(f"/metrics?token={TOKEN}").status_code == 404


def test_figures_follow_the_rows(meltemi: Team, figures: Callable[[], dict[str, float]]) -> None:
    good = send_run(meltemi, GOOD, 1, EVALUATION)
    bad = send_run(meltemi, ["MAYBE"], 2, EVALUATION)
    before = figures()
    assert before["agon_uploads_total tiny"] == 2
    assert before["agon_queue_length check"] == 2
    assert before["agon_queue_age_seconds check"] > 60
    work_off(EVALUATION)
    keep_counters(database_now() + timedelta(hours=1))
    after = figures()
    assert (after["agon_queue_length check"], after["agon_queue_age_seconds check"]) == (0, 0)
    assert (after["agon_runs_finished_total scored"], after["agon_runs_finished_total rejected"]) == (1, 1)
    assert after["agon_scoring_seconds_count"] == after["agon_scoring_seconds_bucket +Inf"] == 1
    run = Run.objects.get(pk=good.pk)
    assert run.started_at is not None
    assert run.finished_at is not None
    assert after["agon_scoring_seconds_sum"] == pytest.approx((run.finished_at - run.started_at).total_seconds())
    codes = {problem["code"] for problem in Run.objects.get(pk=bad.pk).problems if problem["severity"] == "error"}
    assert codes
    rejected = {name.split()[1]: value for name, value in after.items() if name.startswith("agon_refusals_total")}
    assert {code for code, value in rejected.items() if value} == codes
    assert len(rejected) > len(codes)  # all codes exist from the start
    assert Submission.objects.count() == 2


def test_refusals_of_many_processes_add_up(transactional_db: None) -> None:
    def reject() -> None:
        for _ in range(5):
            Refusal.objects.count_one(["phase_closed", "no_runs_left"])
        connections.close_all()

    threads = [threading.Thread(target=reject) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dict(Refusal.objects.values_list("code", "uploads")) == {"phase_closed": 20, "no_runs_left": 20}
