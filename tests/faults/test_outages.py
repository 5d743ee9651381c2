"""Storage that is unavailable while uploads wait for a check: no attempts are counted, and all are scored later."""

from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from portal.models import OutgoingMail, Run, Submission, User
from portal.models.clock import database_now
from tests.faults.conftest import Worker
from tests.portal.world import check_submission
from tests.services import Broker, wait_until

UPLOADS = 3


def test_storage_that_hangs_loses_no_lease(
    broker: Broker, worker: Worker, send: Callable[[int], Submission], slow_items: Callable[[bool], None]
) -> None:
    """To decrypt the gold standard, the worker itself reads the items, which are a pipe that no one writes to."""
    run = send(1).runs.get()
    assert check_submission(run.submission_id, database_now()) == [run.pk]
    Run.objects.filter(kind=Run.Kind.BASELINE).delete()
    Run.objects.update(lease_ends=None)
    slow_items(True)
    worker.start()
    wait_until(lambda: Run.objects.get().postponed > 0, "the run waits")
    slow_items(False)
    Run.objects.filter(token__isnull=True).update(lease_ends=database_now())
    wait_until(lambda: Run.objects.get().state == Run.State.SCORED, "it is scored")
    assert (Run.objects.get().attempts, Run.objects.get().leases_lost) == (0, 0)


def test_storage_away_while_uploads_are_checked(
    broker: Broker, worker: Worker, send: Callable[[int], Submission]
) -> None:
    User.objects.create_user("ada@agon.example", name="Ada", is_staff=True)
    for number in range(1, UPLOADS + 1):
        send(number)
    stored = Path(settings.DATA_ROOT) / "files"
    away = stored.rename(stored.with_name("away"))
    worker.start()
    wait_until(lambda: Submission.objects.filter(postponed__gt=0).count() == UPLOADS, "all uploads wait")
    wait_until(lambda: Submission.objects.filter(postponed__gt=1).exists(), "one was tried again")
    away.rename(stored)
    for work in (Submission, Run):  # make them due again
        work.objects.filter(token__isnull=True).update(lease_ends=database_now())
    sent = Run.objects.filter(number__isnull=False)
    wait_until(lambda: sent.filter(state=Run.State.SCORED).count() == UPLOADS, "all are scored")
    used = Q(attempts__gt=0) | Q(leases_lost__gt=0) | Q(state="failed")
    assert not Submission.objects.filter(used).exists()
    assert not Run.objects.filter(used).exists()
    assert [run.evaluations.count() for run in sent] == [1] * UPLOADS
    assert 1 <= OutgoingMail.objects.filter(kind="alert").count() <= 2  # two if the hour changes in between
