"""A worker that is killed while scoring: no run is lost, and none is scored twice."""

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
import structlog
from django.conf import settings
from django.db.models import Sum

from portal import jobs
from portal.evaluation.lanes import Lane, message_list
from portal.evaluation.limits import HINT_PRIORITY
from portal.management.programs import worker_command
from portal.models import Heartbeat, Run, Submission, WorkerHost
from portal.models.clock import database_now
from tests.faults.conftest import Worker, own_environment
from tests.portal.world import check_submission
from tests.services import Broker, Program, children, wait_until

RUNS = 3
SLOW_START = """
import time
from celery.__main__ import main
from celery.signals import worker_process_init
worker_process_init.connect(lambda **_: time.sleep(6), weak=False)  # Celery itself gives a process 4 s
main()
"""


def kill_all(worker: Worker) -> None:
    worker.kill()
    worker.start()


def kill_pool(worker: Worker) -> None:
    for pid in worker.busy:
        os.kill(pid, signal.SIGKILL)


def kill_scorers(worker: Worker) -> None:
    for pid in worker.scorers:
        os.kill(pid, signal.SIGKILL)


def kill_fork_servers(worker: Worker) -> None:
    for pid in worker.fork_servers:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("kill", [kill_all, kill_pool, kill_fork_servers, kill_scorers])
def test_no_run_is_lost_and_none_is_scored_twice(
    kill: Callable[[Worker], None],
    broker: Broker,
    worker: Worker,
    send: Callable[[int], Submission],
    slow_runs: Callable[[bool], Path],
) -> None:
    for number in range(1, RUNS + 1):
        check_submission(send(number).pk, database_now())
    Run.objects.filter(kind=Run.Kind.BASELINE).delete()  # otherwise they would come first
    Run.objects.update(lease_ends=None)
    slow_runs(True)
    worker.start()
    wait_until(lambda: len(worker.scorers) == 2, "two runs are being scored")
    assert Run.objects.exclude(token=None).count() == 2
    slow_runs(False)
    kill(worker)
    if kill in (kill_all, kill_pool):  # after the other two, the worker itself returns the runs
        Run.objects.exclude(token=None).update(lease_ends=database_now())
    wait_until(lambda: Run.objects.filter(state=Run.State.SCORED).count() == RUNS, "all runs are scored")
    used = Run.objects.aggregate(attempts=Sum("attempts"), leases_lost=Sum("leases_lost"))
    if kill is kill_fork_servers:
        assert used == {"attempts": 0, "leases_lost": 0}
    else:
        lost = used["attempts"] if kill is kill_scorers else used["leases_lost"]
        assert 1 <= lost == sum(used.values()) <= 2  # one of the two scorers may have just finished
    assert [run.evaluations.count() for run in Run.objects.all()] == [1, 1, 1]


def test_a_request_is_known_by_its_id_from_the_page_to_the_score(
    broker: Broker, worker: Worker, send: Callable[[int], Submission], tmp_path: Path
) -> None:
    Run.objects.filter(kind=Run.Kind.BASELINE).delete()
    with structlog.contextvars.bound_contextvars(request_id="0123456789abcdef-upload"):
        run = send(1).runs.get()
    worker.start()
    wait_until(lambda: Run.objects.get(pk=run.pk).state == Run.State.SCORED, "the run is scored")
    log = tmp_path / "worker.log"
    lines = [line for line in log.read_text().splitlines() if "request_id=0123456789abcdef-upload" in line]
    assert [line for line in lines if "scored" in line and str(run.pk) in line]


@pytest.fixture
def worker_elsewhere(tmp_path: Path, transactional_db: None) -> Iterator[Program]:
    """A worker on a machine without the portal's data and key: its AGON_STATE is a different folder."""
    log = tmp_path / "elsewhere.log"
    worker = Program(worker_command("elsewhere"), own_environment() | {"AGON_STATE": str(tmp_path / "elsewhere")}, log)
    yield worker
    worker.kill()
    print(log.read_text())


def test_a_machine_without_data_and_key_claims_no_work(
    broker: Broker, worker_elsewhere: Program, send: Callable[[int], Submission], tmp_path: Path
) -> None:
    submission = send(1)
    queue = redis.Redis.from_url(settings.CELERY_BROKER_URL)
    hinted = queue.llen(message_list(Lane.SCORING, HINT_PRIORITY))
    assert hinted > 0
    worker_elsewhere.start()
    log = tmp_path / "elsewhere.log"
    wait_until(
        lambda: log.exists() and "is not accepting work yet" in log.read_text(), "it says that it lacks something"
    )
    lacks = WorkerHost.objects.get(lane=Lane.SCORING).missing
    found = [sentence.partition(".")[0] for sentence in lacks]
    assert found == ["No shared task definition was found", "No gold standard was found"]
    assert queue.llen(message_list(Lane.SCORING, HINT_PRIORITY)) == hinted
    submission.refresh_from_db()
    assert (submission.state, submission.token, submission.postponed) == (Submission.State.RECEIVED, None, 0)
    for name in ("data", "gold", "gold-private-key"):  # as if the missing volumes had been mounted
        place = tmp_path / "elsewhere" / name
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
        place.symlink_to(settings.STATE_ROOT / name)
    wait_until(lambda: Run.objects.get(submission=submission).state == Run.State.SCORED, "the run is scored")
    assert not WorkerHost.objects.exclude(missing=[]).exists()


class Starved:
    """A process group that may run for only 6 ms out of every 100 ms, as on an overloaded machine."""

    def __init__(self, group: int) -> None:
        self._group, self._ends = group, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._ends.wait(0.006):
            os.killpg(self._group, signal.SIGSTOP)
            self._ends.wait(0.094)
            os.killpg(self._group, signal.SIGCONT)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()
        os.killpg(self._group, signal.SIGCONT)


def test_a_worker_with_six_percent_of_a_core_replaces_its_killed_processes(broker: Broker, worker: Worker) -> None:
    worker.start()
    wait_until(Heartbeat.objects.exists, "the worker works")
    with Starved(worker.pid):
        for _ in range(2):
            Heartbeat.objects.all().delete()
            for process in children(worker.pid):
                os.kill(process, signal.SIGKILL)
            for lane in Lane:
                jobs.heartbeat.apply_async([lane], queue=lane)
            wait_until(lambda: Heartbeat.objects.count() == len(Lane), "all lanes work again")


@pytest.fixture
def slow_worker(tmp_path: Path, transactional_db: None) -> Iterator[Program]:
    """A worker whose pool processes start as slowly as on a busy machine."""
    log = tmp_path / "worker.log"
    command = [sys.executable, "-c", SLOW_START, *worker_command("slow")[3:]]  # replaces `python -m celery`
    worker = Program(command, own_environment(), log)
    yield worker
    worker.kill()
    print(log.read_text())


def test_processes_that_start_slowly_get_to_work(broker: Broker, slow_worker: Program) -> None:
    """Start the pool's processes and, after they are killed, their replacements, whose start Celery also monitors."""
    slow_worker.start()
    jobs.heartbeat.apply_async([Lane.SCORING])
    wait_until(Heartbeat.objects.exists, "a job was done")
    Heartbeat.objects.all().delete()
    for process in children(slow_worker.pid):
        os.kill(process, signal.SIGKILL)
    jobs.heartbeat.apply_async([Lane.SCORING])
    wait_until(Heartbeat.objects.exists, "a job was done by a new process")
