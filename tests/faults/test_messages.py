"""Repeated messages, and runs that cannot be scored: all other runs are scored once, without waiting for these."""

from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from django.conf import settings

from portal import jobs
from portal.celery import app
from portal.evaluation.lanes import Lane, message_list
from portal.evaluation.limits import ATTEMPTS, CHILD_MEMORY, HINT_PRIORITY
from portal.models import Evaluation, OutgoingMail, Quota, Run, Submission, User
from portal.models.clock import database_now
from portal.storage import stored_name
from tests.faults.conftest import Worker
from tests.portal.world import check_submission
from tests.services import Broker, wait_until

DELIVERED = "unacked_index"  # Celery's transport stores delivered messages here, ordered by time


@pytest.fixture
def queue(broker: Broker) -> redis.Redis:
    return redis.Redis.from_url(settings.CELERY_BROKER_URL)


def scored() -> int:
    return Run.objects.filter(state=Run.State.SCORED).count()


def nothing_waits(queue: redis.Redis) -> bool:
    return queue.llen(message_list(Lane.SCORING, HINT_PRIORITY)) == 0 and queue.zcard(DELIVERED) == 0


def test_the_same_message_ten_times(
    queue: redis.Redis, worker: Worker, send: Callable[[int], Submission], tmp_path: Path
) -> None:
    submission, checked = send(1), send(2)
    jobs.publish_checks([submission.pk] * 10)
    check_submission(checked.pk, database_now())
    jobs.publish_scores([run.pk for run in Run.objects.all()] * 10)
    worker.start()
    wait_until(lambda: scored() == Run.objects.count() and nothing_waits(queue), "all is scored, no message is left")
    assert Evaluation.objects.count() == Run.objects.count()
    assert "came too late" not in (tmp_path / "worker.log").read_text()  # nothing was done twice
    for work in (*Run.objects.all(), *Submission.objects.all()):
        assert (work.attempts, work.leases_lost) == (0, 0)


def test_a_message_that_is_handed_out_again_in_mid_score(
    queue: redis.Redis,
    worker: Worker,
    send: Callable[[int], Submission],
    slow_runs: Callable[[bool], Path],
    folder: Path,
) -> None:
    check_submission(send(1).pk, database_now())
    Run.objects.filter(kind=Run.Kind.BASELINE).delete()
    pipe = slow_runs(True)
    worker.start()
    wait_until(lambda: len(worker.scorers) == 1, "the run is being scored")
    before = Run.objects.get()
    (message,) = (tag for tag in queue.hkeys("unacked") if str(before.pk) in queue.hget("unacked", tag).decode())
    queue.zadd(DELIVERED, {message: 0})  # delivered long ago
    with app.connection_for_read() as another:  # any worker redelivers messages that others have kept too long
        another.default_channel.qos.restore_visible(interval=1)
    wait_until(lambda: nothing_waits(queue), "the other process has taken it and found nothing to do")
    assert (len(worker.scorers), Run.objects.get().token) == (1, before.token)
    with pipe.open("wb") as other_end:
        slow_runs(False)
        other_end.write((folder / "baselines/en/random.csv").read_bytes())
    wait_until(lambda: scored() == 1, "the run is scored")
    assert (Run.objects.get().leases_lost, Evaluation.objects.count()) == (0, 1)


def test_a_poison_run_is_quarantined_and_the_others_flow(
    broker: Broker, worker: Worker, send: Callable[[int], Submission]
) -> None:
    User.objects.create_user("ada@agon.example", name="Ada", is_staff=True)
    poison = send(1).runs.get()
    hole = Path(settings.DATA_ROOT) / stored_name("f" * 64)
    hole.parent.mkdir(parents=True)
    with hole.open("wb") as file:
        file.truncate(2 * CHILD_MEMORY)
    check_submission(poison.submission_id, database_now())
    Run.objects.filter(pk=poison.pk).update(file_sha256="f" * 64, lease_ends=None)
    jobs.publish_scores([poison.pk])  # this run comes first
    good = [send(number).runs.get().pk for number in (2, 3) * 4]
    worker.start()
    wait_until(lambda: scored() == Run.objects.count() - 1, "all but one are scored")
    wait_until(lambda: Run.objects.get(pk=poison.pk).state == Run.State.FAILED, "it is given up")
    poison.refresh_from_db()
    others = Run.objects.filter(state=Run.State.SCORED)
    assert others.filter(finished_at__lt=poison.started_at).exists()  # other runs did not wait for its last attempt
    assert (poison.attempts, poison.evaluations.count()) == (ATTEMPTS, 0)
    assert Quota.objects.get(team=poison.team, day="").used == len(good)
    assert OutgoingMail.objects.filter(kind="alert", occasion__startswith="quarantine").count() == 1
    assert Evaluation.objects.count() == Run.objects.count() - 1
    hole.unlink()
