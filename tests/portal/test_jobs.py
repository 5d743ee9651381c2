"""Jobs on a real broker. No work is lost, even if the broker loses messages."""

import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from portal import jobs
from portal.actions.gold import upload_gold
from portal.actions.task_folder.pushes import push_task
from portal.celery import Beat, app
from portal.evaluation import check
from portal.evaluation.boards import BoardWork
from portal.evaluation.lanes import Lane, message_list
from portal.evaluation.limits import (
    GIVE_WAY_SECONDS,
    HINT_PRIORITY,
    HINT_SECONDS,
    ORGANIZER_PRIORITY,
    OTHER_NICENESS,
    REGULAR_WAITING,
    SCORING_NICENESS,
)
from portal.models import Board, Run, Submission
from portal.models.clock import database_now
from tests.portal.world import GOOD, organizer_of, run_file, sealed_file, send_run

pytestmark = pytest.mark.django_db(transaction=True)

REPOSITORY = Path(__file__).resolve().parents[2]


def hints(queue, lane=Lane.SCORING):
    """Return (job, id) for every message, oldest first, and empty the queue."""
    messages = [json.loads(message) for message in reversed(queue.lrange(message_list(lane, HINT_PRIORITY), 0, -1))]
    queue.flushall()
    return [(message["headers"]["task"], message["headers"]["argsrepr"]) for message in messages]


def hint(job, row):
    return f"portal.{job}", f"('{row.pk}',)"


PRIORITIES = [("", "0", 2), ("scoring,bulk", "0", 2), ("mail", "0", 2), ("bulk", "0", 5), ("bulk", "1", 0)]


@pytest.mark.slow
@pytest.mark.parametrize(("queues", "demo", "niceness"), PRIORITIES)
def test_workers_rank_among_each_other_but_their_session_keeps_its_weight(queues, demo, niceness):
    start = f"import os, portal.celery as c; c.celeryd_init.send(None, options={{'queues': {queues!r}}}); "
    look = "path = '/proc/self/autogroup'; print(os.nice(0)); print(os.path.exists(path) and open(path).read())"
    done = subprocess.run(
        [sys.executable, "-c", start + look],
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
        env=os.environ | {"AGON_DEMO": demo},
    )
    own, session = done.stdout.split("\n", 1)
    assert int(own) == min(os.nice(0) + niceness, 19)
    assert session.strip() == "False" or session.strip().endswith("nice 0")


def test_no_process_starves_next_to_other_programs():
    """Niceness 5 is a third of the weight of an ordinary process. CPU weights of services keep at least as much."""
    assert max(SCORING_NICENESS, OTHER_NICENESS) <= 5
    units = [path.read_text() for path in (REPOSITORY / "deploy/systemd").glob("*.service")]
    units.append((REPOSITORY / "docker-compose.yml").read_text())
    assert {int(found) for unit in units for found in re.findall(r"^Nice=(.+)$", unit, re.MULTILINE)} <= {5}
    weights = [int(found) / 100 for unit in units for found in re.findall(r"^CPUWeight=(.+)$", unit, re.MULTILINE)]
    weights += [int(found) / 1024 for unit in units for found in re.findall(r"cpu_shares: (\d+)", unit)]
    assert len(weights) >= 7
    assert min(weights) >= 0.33


def test_no_clock_of_a_machine_makes_regular_work_expire():
    assert [name for name, entry in app.conf.beat_schedule.items() if "expires" in entry["options"]] == []


def test_regular_work_goes_before_hints_and_does_not_pile_up_without_workers(queue):
    beat = Beat(app, lazy=True)
    entries = {name: beat.Entry(name=name, app=app, **entry) for name, entry in app.conf.beat_schedule.items()}
    with app.producer_or_acquire() as producer:
        for _ in range(REGULAR_WAITING + 5):
            for name in ("sweep", "heartbeat mail", "sweep_mails"):
                beat.apply_async(entries[name], producer=producer, advance=False)
    assert [queue.llen(lane) for lane in (Lane.SCORING, Lane.MAIL, Lane.BULK)] == [REGULAR_WAITING, REGULAR_WAITING, 0]
    assert hints(queue) == []


@pytest.fixture
def run(meltemi, queue):
    """A run that was just uploaded. The only message in the queue is the hint to check it."""
    return send_run(meltemi, GOOD, 1, database_now(), "post")


def test_hidden_scores_have_a_lane_of_their_own(run, meltemi, queue):
    meltemi.shared_task.phases.update(scores="never")
    queue.flushall()
    jobs.check_submission(str(run.submission.pk))
    for _ in range(2):
        assert not queue.exists(message_list(Lane.SCORING, HINT_PRIORITY))
        assert hints(queue, Lane.HIDDEN) == [hint("score_run", run)]
        Run.objects.filter(team=meltemi).update(lease_ends=None)
        jobs.sweep()


def test_upload_to_scores_by_hints_alone(run, queue):
    assert hints(queue) == [hint("check_submission", run.submission)]
    jobs.check_submission(str(run.submission.pk))
    assert hints(queue) == []
    run.refresh_from_db()
    assert run.state == "scored"


def test_runs_for_which_a_check_has_no_time_are_hinted_at(run, queue, monkeypatch):
    monkeypatch.setattr(check, "_LATEST_SCORE", timedelta(seconds=-1))
    queue.flushall()
    jobs.check_submission(str(run.submission.pk))
    assert hints(queue) == [hint("score_run", run)]
    jobs.score_run(str(run.pk))
    run.refresh_from_db()
    assert run.state == "scored"


def test_sweep_publishes_what_lost_its_hint(run, queue):
    hints(queue)  # the broker loses its messages
    Submission.objects.update(lease_ends=None)
    Run.objects.exclude(pk=run.pk).update(state="scored")
    jobs.sweep()
    assert hints(queue) == [hint("check_submission", run.submission)]
    jobs.sweep()
    assert hints(queue) == []


def test_messages_hold_ids_and_nothing_else(run, queue):
    (message,) = queue.lrange(message_list(Lane.SCORING, HINT_PRIORITY), 0, -1)
    assert run.name.encode() not in message
    assert run.team.name.encode() not in message


def test_boards_are_compared_one_at_a_time_while_uploads_wait(run, queue, monkeypatch):
    jobs.check_submission(str(run.submission.pk))
    queue.rpush(message_list(Lane.SCORING, HINT_PRIORITY), "a hint")
    jobs.refresh_boards()
    assert queue.llen(message_list(Lane.BULK, HINT_PRIORITY)) == 1
    queue.flushall()
    monkeypatch.setattr(jobs, "find_board_work", lambda _at: iter([BoardWork([1, 2, 3], [], [])]))
    queue.rpush(message_list(Lane.SCORING, HINT_PRIORITY), "a hint")
    jobs.refresh_boards()
    jobs.refresh_boards()
    assert queue.llen(message_list(Lane.BULK, HINT_PRIORITY)) == 1
    queue.flushall()
    jobs.refresh_boards()
    assert queue.llen(message_list(Lane.BULK, HINT_PRIORITY)) == 3


def test_pushes_and_gold_go_before_runs_and_are_hinted_while_runs_wait(tiny, run, queue):
    organizer = organizer_of(tiny, "Oana")
    at = database_now() - timedelta(seconds=HINT_SECONDS)
    gold = upload_gold(organizer, tiny.tracks.get(slug="one"), at, split="test", sealed=sealed_file(run_file(GOOD)))
    push = push_task(organizer, tiny, at, sealed=sealed_file(b"no zip"))
    queue.flushall()
    queue.rpush(message_list(Lane.SCORING, HINT_PRIORITY), "a hint")
    jobs.sweep()
    organizers = message_list(Lane.SCORING, ORGANIZER_PRIORITY)
    assert ORGANIZER_PRIORITY < HINT_PRIORITY
    found = {json.loads(message)["headers"]["argsrepr"] for message in queue.lrange(organizers, 0, -1)}
    assert found == {f"('{gold.pk}',)", f"('{push.pk}',)"}
    assert queue.llen(message_list(Lane.SCORING, HINT_PRIORITY)) == 1


def test_each_board_is_hinted_at_once_and_compared_by_one_worker(run, queue):
    jobs.check_submission(str(run.submission.pk))
    queue.flushall()
    jobs.refresh_boards()
    jobs.refresh_boards()  # the messages of the first call are still waiting
    board = Board.objects.get(track=run.track, phase=run.phase)
    hinted = hints(queue, Lane.BULK)
    assert hinted.count(hint("refresh_board", board)) == 1
    with Board.objects.hold(str(board.pk), database_now(), 60) as is_mine:
        assert is_mine
        jobs.refresh_boards()
        assert hint("refresh_board", board) not in hints(queue, Lane.BULK)
        jobs.refresh_board(str(board.pk))
        board.refresh_from_db()
        assert board.compared_at is None
    jobs.refresh_board(str(board.pk))
    board.refresh_from_db()
    assert board.compared_at is not None
    assert board.busy_until is None


def test_a_board_is_free_again_when_its_worker_has_died(run):
    board = Board.objects.create(track=run.track, phase=run.phase)
    at = database_now()
    held = Board.objects.hold(str(board.pk), at, 60)
    assert held.__enter__()  # the worker never released the board
    with Board.objects.hold(str(board.pk), at + timedelta(seconds=59), 60) as is_mine:
        assert not is_mine
    with Board.objects.hold(str(board.pk), at + timedelta(seconds=61), 60) as is_mine:
        assert is_mine
        held.__exit__(None, None, None)  # a worker that is too late does not release a board that someone else holds
        assert not Board.objects.free(at + timedelta(seconds=62)).exists()


def test_jobs_that_read_files_stop_before_they_are_killed():
    jobs_of_files = (jobs.check_submission, jobs.score_run, jobs.check_gold, jobs.validate)
    assert {job.soft_time_limit for job in jobs_of_files} == {GIVE_WAY_SECONDS}
