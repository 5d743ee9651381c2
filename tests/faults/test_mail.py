"""Emails are sent within seconds, no matter how long the other workers are busy with comparisons."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from portal import jobs
from portal.evaluation.score import score_run
from portal.management.programs import BEAT, WORKERS, worker_command
from portal.models import Board, OutgoingMail, Run, Submission
from portal.models.clock import database_now
from tests.faults.conftest import own_environment
from tests.portal.world import check_submission
from tests.services import Broker, MailServer, Program, wait_until


@pytest.fixture
def mail_server() -> Iterator[MailServer]:
    server = MailServer()
    yield server
    server.stop()


@pytest.fixture
def workers(tmp_path: Path, transactional_db: None, mail_server: MailServer) -> Iterator[list[Program]]:
    """The demo's workers and beat, not started yet."""
    log = tmp_path / "workers.log"
    log.touch()
    mail = {key: str(value) for key, value in mail_server.settings.items() if key in ("EMAIL_HOST", "EMAIL_PORT")}
    environment = own_environment() | mail
    commands = [worker_command(name, lanes) for name, lanes in WORKERS.items()]
    commands.append([*BEAT, "--schedule", str(tmp_path / "beat-schedule")])
    programs = [Program(command, environment, log) for command in commands]
    yield programs
    for program in programs:
        program.kill()
    print(log.read_text())


def compared_now() -> int:
    """Return the number of boards that workers are comparing. These comparisons wait for the items."""
    return Board.objects.filter(busy_until__gt=database_now()).count()


def test_a_mail_goes_out_while_comparisons_occupy_the_other_workers(
    broker: Broker,
    send: Callable[[int], Submission],
    workers: list[Program],
    mail_server: MailServer,
    slow_items: Callable[[bool], None],
) -> None:
    submission = send(1)
    check_submission(submission.pk, database_now())
    for run in Run.objects.all():
        score_run(run.pk, database_now())
    boards = Board.objects.all()
    assert len(boards) == 2
    OutgoingMail.objects.all().delete()
    slow_items(True)
    jobs.refresh_boards()
    for program in workers:
        program.start()
    wait_until(lambda: compared_now() == len(boards), "both boards are being compared")
    OutgoingMail.objects.notify(
        submission.sent_by,
        OutgoingMail.Kind.RUNS_ACCEPTED,
        "test",
        database_now(),
        shared_task_id=submission.shared_task_id,
        team_id=submission.team_id,
        phase_id=submission.phase_id,
        submission_id=submission.pk,
    )
    wait_until(lambda: mail_server.to(submission.sent_by.email), "the mail has arrived")
    assert compared_now() == len(boards)
