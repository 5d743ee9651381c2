"""Celery jobs. Each job reads rows by id, calls the code that does the work, and queues the next step.

Messages only speed things up: if one is lost, the sweep finds the work. Queueing a message never raises an error.
"""

import subprocess
import sys
from collections.abc import Collection, Iterable
from functools import partial
from itertools import islice
from socket import gethostname
from time import monotonic
from uuid import UUID

import structlog
from celery import Task
from django.conf import settings

from portal.celery import app, touch_heartbeat
from portal.evaluation import pushes
from portal.evaluation import validate as validation
from portal.evaluation.boards import find_board_work
from portal.evaluation.check import evaluate_submission
from portal.evaluation.compare import compare_board, is_to_be_kept
from portal.evaluation.compare_tracks import compare_combined
from portal.evaluation.gold import check_gold_upload, drop_unused_gold
from portal.evaluation.items import publish_items
from portal.evaluation.lanes import Lane, message_list
from portal.evaluation.limits import (
    COMPARE_JOB_SECONDS,
    GIVE_WAY_SECONDS,
    HINT_PRIORITY,
    JOB_SECONDS,
    ORGANIZER_PRIORITY,
    PACK_JOB_SECONDS,
    PACK_SECONDS,
    PREVIEW_JOB_SECONDS,
    PUSH_JOB_SECONDS,
    PUSH_SECONDS,
    QUIET_SECONDS,
    RECONCILE_SECONDS,
    RUNS_AT_ONCE,
    VALIDATION_PRIORITY,
)
from portal.evaluation.line import claim_next
from portal.evaluation.notices import alert
from portal.evaluation.preview import preview_gold as preview
from portal.evaluation.reconcile import reconcile as find_differences
from portal.evaluation.rescore import adopt_scorer
from portal.evaluation.rounds import start_rounds
from portal.evaluation.score import score_run as score
from portal.evaluation.sweep import gold_to_check
from portal.evaluation.sweep import sweep as find_work
from portal.mail import outbox
from portal.models import (
    Board,
    CombinedBoard,
    GoldUpload,
    Heartbeat,
    OutgoingMail,
    Reading,
    Run,
    SharedTask,
    TaskPush,
    WorkerHost,
)
from portal.models.clock import clock_offset, database_now
from portal.paper.queue import packs_to_build
from portal.queries.boards.releases import keep_release
from portal.queries.boards.waiting_scores import show_announced
from portal.queries.certificate import certificate_expires
from portal.queries.counters import keep_counters as count_what_finished
from portal.queries.mails import facts as mail_facts
from portal.queries.occasions import notices

log = structlog.get_logger("portal.jobs")


@app.task(name="portal.check_submission", soft_time_limit=GIVE_WAY_SECONDS)
def check_submission(submission_id: str) -> None:
    """Check the upload whose turn it is, which need not be the one in the message."""
    at = database_now()
    if (claimed := claim_next(UUID(submission_id), at)) is not None:
        publish_first_scores(evaluate_submission(claimed[0], at, claimed[1]))


@app.task(name="portal.score_run", soft_time_limit=GIVE_WAY_SECONDS)
def score_run(run_id: str) -> None:
    score(UUID(run_id), database_now())


@app.task(name="portal.validate", soft_time_limit=GIVE_WAY_SECONDS)
def validate(validation_id: str) -> None:
    validation.validate(UUID(validation_id), database_now())


@app.task(name="portal.check_gold", soft_time_limit=GIVE_WAY_SECONDS)
def check_gold(upload_id: str) -> None:
    publish_scores(check_gold_upload(UUID(upload_id), database_now()), Lane.BULK)
    publish_previews(
        GoldUpload.objects.filter(pk=upload_id, state=GoldUpload.State.PREVIEWING).values_list("pk", flat=True)
    )


@app.task(name="portal.preview_gold", time_limit=PREVIEW_JOB_SECONDS, acks_late=False)  # the sweep queues it again
def preview_gold(upload_id: str) -> None:
    """Compute the effects of a new gold standard. Only organizers see them."""
    preview(UUID(upload_id), database_now())


@app.task(name="portal.send_mail")
def send_mail(*mail_ids: str) -> None:
    outbox.send(map(UUID, mail_ids), database_now, mail_facts)


@app.task(name="portal.remind")
def remind() -> None:
    """Add emails that are due because of dates. The sweep sends them.

    Simultaneous runs of this job add each email only once. A late run adds all emails that are due.
    """
    at = database_now()
    for due in notices(at):
        OutgoingMail.objects.notify(due.user, due.kind, due.occasion, at, **due.about)


@app.task(name="portal.heartbeat")
def heartbeat(lane: str) -> None:
    at = database_now()
    Heartbeat.objects.beat(lane, at)
    WorkerHost.objects.report(gethostname(), lane, at, clock_offset())
    touch_heartbeat(lane)


@app.task(name="portal.sweep")
def sweep() -> None:
    adopt_scorer(database_now())
    start_rounds(database_now())
    validation.expire(database_now())
    pushes.expire(database_now())
    if _is_empty(Lane.SCORING, VALIDATION_PRIORITY):
        publish_validations(validation.due(database_now()))
    if _is_empty(Lane.SCORING, ORGANIZER_PRIORITY):
        publish_pushes(pushes.due(database_now()))
        publish_gold(gold_to_check(database_now()))
    lanes = (Lane.SCORING, Lane.HIDDEN, Lane.BULK)
    work = find_work(database_now(), [lane for lane in lanes if _is_empty(lane)])
    publish_checks(work.submissions)
    publish_scores(work.runs)
    publish_scores(work.hidden, Lane.HIDDEN)
    publish_scores(work.others, Lane.BULK)
    publish_previews(work.previews)


@app.task(name="portal.sweep_mails")
def sweep_mails() -> None:
    """Queue messages for emails, unless earlier ones are still waiting.

    Otherwise, the queue would grow while a mail server times out.
    """
    if _is_empty(Lane.MAIL):
        publish_mails(outbox.due(database_now()))


@app.task(name="portal.refresh_boards")
def refresh_boards() -> None:
    """Queue messages for boards to compare or publish, one job for each board.

    No messages are queued while earlier ones are still waiting. While uploads are waiting, too, at most one board is
    compared at a time, because comparisons use their CPU cores.
    """
    if _is_empty(Lane.BULK):
        announced = {board.pk for board in Board.objects.defer("comparison").to_announce(database_now())}
        _publisher.publish(refresh_board, announced)
        for work in find_board_work(database_now()):
            if not _is_empty(Lane.SCORING):
                _publisher.publish(refresh_board, work.refresh[:1])
                return
            _publisher.publish(refresh_board, [pk for pk in work.refresh if pk not in announced])
            _publisher.publish(publish_board_items, work.publish)
            _publisher.publish(refresh_combined, work.combine)


@app.task(name="portal.refresh_board", time_limit=COMPARE_JOB_SECONDS)
def refresh_board(board_id: str) -> None:
    """Show complete new scores, compare the runs, and save a released board.

    Each board is updated by one worker at a time.
    """
    boards = Board.objects.select_related("track__shared_task", "phase__shared_task", "gold")
    with Board.objects.hold(board_id, database_now(), COMPARE_JOB_SECONDS) as is_mine:
        if is_mine:
            show_announced(int(board_id), database_now())
            compare_board(boards.get(pk=board_id), database_now())
            if is_to_be_kept(board := boards.get(pk=board_id), at := database_now()):
                keep_release(board, at)


@app.task(name="portal.refresh_combined", time_limit=COMPARE_JOB_SECONDS)
def refresh_combined(combined_id: str) -> None:
    """Compare the teams in an overall ranking. Each ranking is updated by one worker at a time."""
    rows = CombinedBoard.objects.filter(pk=combined_id).select_related("phase__shared_task")
    with CombinedBoard.objects.hold(combined_id, database_now(), COMPARE_JOB_SECONDS) as is_mine:
        if is_mine:
            compare_combined(rows.get(), database_now())


@app.task(name="portal.publish_board_items")
def publish_board_items(board_id: str) -> None:
    boards = Board.objects.select_related("track__shared_task", "phase", "gold")
    with Board.objects.hold(board_id, database_now(), JOB_SECONDS) as is_mine:
        if is_mine:
            publish_items(boards.get(pk=board_id), database_now())


@app.task(name="portal.sweep_packs")
def sweep_packs() -> None:
    publish_packs(packs_to_build(database_now()))


# The sweep repeats the job if its worker dies.
@app.task(name="portal.build_pack", time_limit=PACK_JOB_SECONDS, acks_late=False)
def build_pack(pack_id: str) -> None:
    """Build one pack, then queue a message for the next one. Packs are built one at a time.

    A separate process is used because drawing figures leaves threads and 33 GB of address space behind.
    """
    if not _run_command("build_pack", pack_id, PACK_SECONDS):
        log.error("paper files not built in time", pack=pack_id)
    publish_packs(packs_to_build(database_now()))


@app.task(name="portal.check_push", time_limit=PUSH_JOB_SECONDS)
def check_push(push_id: str) -> None:
    """Check a pushed folder in a separate process, whose memory is freed when it ends.

    Only one folder is checked at a time, so that the lane's other processes continue with uploads. While one is being
    checked, no process is started, and the sweep queues the next one again. Of two processes that are started at the
    same time, only one claims its push.
    """
    is_waiting = TaskPush.objects.unfinished().filter(pk=push_id).exists()
    if not is_waiting or TaskPush.objects.being_checked(database_now()).exists():
        return
    if not _run_command("check_push", push_id, PUSH_SECONDS):
        log.error("push not checked in time", push=push_id)


def _run_command(name: str, key: str, seconds: int) -> bool:
    """Run a management command in a separate process. If it takes longer than this, kill it and return False."""
    try:
        subprocess.run([sys.executable, str(settings.BASE_DIR / "manage.py"), name, key], timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False
    return True


# Acknowledged before it starts, because running it twice at the same time would be useless.
@app.task(name="portal.reconcile", time_limit=RECONCILE_SECONDS, acks_late=False)
def reconcile() -> None:
    """Delete leftover files and check everything, once a night. The date seeds the sample, so it changes each night."""
    at = database_now()
    count = 0
    log.info("deleted unused gold files", files=drop_unused_gold())
    WorkerHost.objects.forget(at)
    log.info("deleted files of finished pushes", files=pushes.forget_leftovers(at))
    log.info("deleted files of finished validations", files=validation.forget_leftovers())
    for shared_task in SharedTask.objects.all():
        differences = [str(found) for found in find_differences(shared_task, at, seed=at.toordinal())]
        for difference in differences:
            log.error("difference", task=shared_task.slug, difference=difference)
        if differences:
            alert(shared_task, f"reconciliation {at:%Y-%m-%d}", differences, at)
            count += len(differences)
    Reading.objects.note(Reading.RECONCILE, at, count)


@app.task(name="portal.keep_counters")
def keep_counters() -> None:
    count_what_finished(database_now())


@app.task(name="portal.look_at_certificate")
def look_at_certificate() -> None:
    """Check the certificate that browsers receive. If it cannot be read, the last known expiry date is kept."""
    expires = certificate_expires(settings.PUBLIC_URL)
    if expires is not None:
        Reading.objects.note(Reading.CERTIFICATE, database_now(), expires.timestamp())


class _Publisher:
    """A publisher of messages for workers.

    After a failure, it does not contact the broker for a while, so that other uploads do not have to wait for it.
    """

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def publish(self, job: Task, ids: Iterable[UUID | int], together: int = 1, **options: str | int) -> None:
        """Queue messages over one connection, each with up to `together` ids.

        If the broker or the client fails, the sweep finds the rows later.
        """
        if monotonic() < self._quiet_until:
            return
        try:
            with app.producer_or_acquire() as producer:
                remaining = map(str, ids)
                while batch := tuple(islice(remaining, together)):
                    job.apply_async(batch, producer=producer, **options)
        except Exception as error:
            self._quiet_until = monotonic() + QUIET_SECONDS
            log.warning(
                "the queue does not respond; everything is saved, and the worker's next sweep will process it",
                job=job.name,
                reason=type(error).__name__,
            )


_publisher = _Publisher()

# Each accepts the ids of waiting work and queues messages for them.
publish_checks = partial(_publisher.publish, check_submission)
# Before runs, because organizers wait for them, and there are only a few.
publish_gold = partial(_publisher.publish, check_gold, priority=ORGANIZER_PRIORITY)
publish_pushes = partial(_publisher.publish, check_push, priority=ORGANIZER_PRIORITY)
publish_previews = partial(_publisher.publish, preview_gold)
publish_packs = partial(_publisher.publish, build_pack)
publish_mails = partial(_publisher.publish, send_mail, together=outbox.MAILS_PER_CONNECTION)
# In the lane for work that people are waiting for, but after submitted uploads.
publish_validations = partial(_publisher.publish, validate, priority=VALIDATION_PRIORITY)


def publish_scores(run_ids: Iterable[UUID], lane: Lane = Lane.SCORING) -> None:
    """Queue messages for the first of these runs. The sweep queues the others, in turn with those of other tasks."""
    _publisher.publish(score_run, islice(run_ids, RUNS_AT_ONCE), queue=lane)


def publish_first_scores(run_ids: Collection[UUID]) -> None:
    """Queue runs that have no score yet, in the lane for hidden scores if theirs are hidden.

    Runs of tasks with an own scorer, which may be slow, are queued in the lane for bulk work.
    """
    if run_ids:
        found = Run.objects.filter(pk__in=run_ids)
        slow = set(found.exclude(track__shared_task__own_scorer_sha256="").values_list("pk", flat=True))
        hidden = set(found.with_hidden_scores(database_now()).values_list("pk", flat=True)) - slow
        publish_scores(run for run in run_ids if run not in hidden | slow)
        publish_scores(hidden, Lane.HIDDEN)
        publish_scores(slow, Lane.BULK)


def _is_empty(lane: Lane, priority: int = HINT_PRIORITY) -> bool:
    """Return whether no messages with this priority are waiting in the lane.

    If some are waiting, workers are busy, and more messages would only make the queue longer.
    """
    with app.connection_for_read() as connection:
        return bool(connection.default_channel.client.llen(message_list(lane, priority)) == 0)
