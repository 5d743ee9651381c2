"""A broker that is killed, emptied or unreachable: every acknowledged run is still scored."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import redis
from django.conf import settings

from portal.evaluation.lanes import Lane, message_list
from portal.evaluation.limits import HINT_PRIORITY
from portal.models import Run, Submission
from portal.models.clock import database_now
from tests.faults.conftest import Worker
from tests.portal.world import check_submission
from tests.services import Broker, children, wait_until


def all_are_scored() -> bool:
    return not Run.objects.exclude(state=Run.State.SCORED).exists()


def test_a_broker_that_lost_everything_loses_no_run(
    broker: Broker, worker: Worker, send: Callable[[int], Submission]
) -> None:
    send(1)
    send(2)
    assert redis.Redis.from_url(settings.CELERY_BROKER_URL).llen(message_list(Lane.SCORING, HINT_PRIORITY)) >= 2
    broker.kill()
    send(3)  # accepted, although no message can be queued
    broker.lose_everything()
    broker.start()
    # End the leases now. Otherwise, the work whose messages were lost would be found later.
    Submission.objects.update(lease_ends=database_now())
    Run.objects.update(lease_ends=database_now())
    worker.start()
    wait_until(all_are_scored, "all runs are scored")
    for run in Run.objects.all():
        assert run.evaluations.count() == 1
        assert (run.attempts, run.leases_lost) == (0, 0)


def test_a_worker_outlives_its_broker(broker: Broker, worker: Worker, send: Callable[[int], Submission]) -> None:
    worker.start()
    send(1)
    wait_until(all_are_scored, "the first run and the baselines are scored")
    broker.kill()
    broker.lose_everything()
    send(2)
    broker.start()
    Submission.objects.update(lease_ends=database_now())
    wait_until(all_are_scored, "the second run is scored")
    assert Run.objects.get(number=2).evaluations.count() == 1


def test_a_worker_all_of_whose_processes_work_while_its_broker_dies_goes_on(
    broker: Broker,
    worker: Worker,
    send: Callable[[int], Submission],
    slow_runs: Callable[[bool], Path],
    tmp_path: Path,
) -> None:
    for number in (1, 2, 3):
        check_submission(send(number).pk, database_now())
    Run.objects.filter(kind=Run.Kind.BASELINE).delete()
    Run.objects.update(lease_ends=None)
    slow_runs(True)
    worker.start()
    wait_until(lambda: len(worker.scorers) == 2, "two runs are being scored")
    broker.kill()
    slow_runs(False)
    for process in worker.scorers:
        os.kill(process, signal.SIGKILL)  # so that both jobs end while no acknowledgment can be sent
    log = tmp_path / "worker.log"
    wait_until(
        lambda: "Connection to broker lost" in log.read_text() and not worker.busy, "nothing can be acknowledged"
    )
    broker.start()
    wait_until(all_are_scored, "all are scored")
    assert [run.evaluations.count() for run in Run.objects.all()] == [1, 1, 1]


def tcp_connections(process: int) -> set[str]:
    known = {f"socket:[{line.split()[9]}]" for line in Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]}
    held = set()
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):
            held.add(str(descriptor.readlink()))
    return held & known


def test_a_new_process_of_the_pool_holds_no_connection_of_its_parent(
    broker: Broker, worker: Worker, send: Callable[[int], Submission]
) -> None:
    worker.start()
    send(1)
    wait_until(lambda: bool(worker.busy), "a run is being scored")
    size, killed = len(children(worker.pid)), worker.busy
    for process in killed:
        os.kill(process, signal.SIGKILL)
    Submission.objects.update(lease_ends=database_now())
    Run.objects.update(lease_ends=database_now())
    wait_until(all_are_scored, "the first run and the baselines are scored")
    own = tcp_connections(worker.pid)
    assert own, "the worker talks to its broker"

    def replaced() -> bool:
        pool = children(worker.pid)
        return len(pool) == size and not set(pool) & set(killed)

    def shared() -> bool:
        return any(tcp_connections(child) & own for child in children(worker.pid))

    wait_until(replaced, "new processes replace the killed ones")
    wait_until(lambda: not shared(), "the new processes have closed their parent's connections")
