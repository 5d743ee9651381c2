"""A real worker builds a paper pack in a separate process."""

from pathlib import Path

from django.contrib.auth.models import AnonymousUser

from portal.actions.paper_files import request_paper_files
from portal.evaluation.score import score_run
from portal.management.programs import WORKERS, worker_command
from portal.models import PaperPack, Phase, Run, SharedTask
from portal.models.clock import database_now
from portal.objects.interface import data_objects
from portal.storage import pack_name
from tests.faults.conftest import own_environment
from tests.services import Broker, Program, wait_until


def test_a_worker_builds_the_pack_that_someone_asked_for(
    broker: Broker, shared_task: SharedTask, tmp_path: Path
) -> None:
    for run in Run.objects.all():
        score_run(run.pk, database_now())
    phase = Phase.objects.select_related("shared_task").get(shared_task=shared_task)
    pack = request_paper_files(AnonymousUser(), phase, database_now())
    worker = Program(worker_command("worker", WORKERS["worker"]), own_environment(), tmp_path / "worker.log")
    worker.start()
    try:
        wait_until(lambda: PaperPack.objects.get(pk=pack.pk).is_finished, "the pack is built")
    finally:
        worker.kill()
        print((tmp_path / "worker.log").read_text())
    pack.refresh_from_db()
    assert (pack.state, pack.done, pack.attempts) == (PaperPack.State.READY, 2, 1)
    with data_objects().open(pack_name(pack.sha256)) as file:
        assert len(file.read()) == pack.size
