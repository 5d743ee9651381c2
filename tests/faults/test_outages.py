"""The storage away while a worker has uploads to check: no attempt is used, and all are scored when it is back."""

from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from portal.models import OutgoingMail, Run, Submission, User
from portal.models.clock import database_now
from tests.faults.conftest import Worker
from tests.services import Broker, wait_until

UPLOADS = 3


def test_storage_away_while_uploads_are_checked(
    broker: Broker, worker: Worker, send: Callable[[int], Submission]
) -> None:
    User.objects.create_user("ada@agon.example", name="Ada", is_staff=True)
    for number in range(1, UPLOADS + 1):
        send(number)
    stored = Path(settings.DATA_ROOT) / "files"
    away = stored.rename(stored.with_name("away"))
    worker.start()
    wait_until(lambda: Submission.objects.filter(postponed__gt=0).count() == UPLOADS, 120, "all uploads wait")
    wait_until(lambda: Submission.objects.filter(postponed__gt=1).exists(), 120, "one was tried again")
    away.rename(stored)
    for work in (Submission, Run):  # when they are due again
        work.objects.filter(token__isnull=True).update(lease_ends=database_now())
    sent = Run.objects.filter(number__isnull=False)
    wait_until(lambda: sent.filter(state=Run.State.SCORED).count() == UPLOADS, 180, "all are scored")
    used = Q(attempts__gt=0) | Q(leases_lost__gt=0) | Q(state="failed")
    assert not Submission.objects.filter(used).exists()
    assert not Run.objects.filter(used).exists()
    assert [run.evaluations.count() for run in sent] == [1] * UPLOADS
    assert 1 <= OutgoingMail.objects.filter(kind="alert").count() <= 2  # at the turn of an hour
