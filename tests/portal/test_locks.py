"""Locks: nothing blocks an upload, actions do not deadlock, and phases may change at any time."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event
from typing import Any

import pytest
from django.db import connection, transaction

from portal.actions.approval import decline_team
from portal.actions.base.errors import Conflict
from portal.actions.papers import set_paper
from portal.actions.phases import move_phase
from portal.actions.runs import choose_official_run
from portal.actions.scores import rescore
from portal.actions.uploads.new_runs import QUOTA_ATTEMPTS
from portal.actions.uploads.submit import submit
from portal.evaluation.claim import claim_run, claim_submission
from portal.evaluation.record import Scored, UploadFinding, quarantine, record_check, record_score
from portal.evaluation.sweep import sweep
from portal.models import GoldStandard, Phase, Quota, Run
from scoring import __version__ as scorer_version
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POST,
    archive,
    at_once,
    captain,
    check_submission,
    new_team,
    organizer_of,
    run_file,
    send,
    send_run,
)

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 6
BOTH = archive({f"{track}_Meltemi_1.json": run_file(GOOD) for track in ("one", "two")})


@remembered
def organizer(tiny):
    user = organizer_of(tiny, "Oana")
    Phase.objects.filter(shared_task=tiny).update(released=None)
    return user


@contextmanager
def uncommitted(action: Callable[[], Any]) -> Iterator[None]:
    """Run the action on a separate connection, in a transaction that lasts as long as this context."""
    is_done, may_end = Event(), Event()

    def do() -> None:
        try:
            with transaction.atomic():
                action()
                is_done.set()
                may_end.wait()
        finally:
            is_done.set()
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        doing = pool.submit(do)
        is_done.wait()
        try:
            yield
        finally:
            may_end.set()
        doing.result()


@pytest.mark.parametrize("action", ["rescore", "move_phase", "decline_team", "set_paper", "choose", "sweep"])
def test_an_upload_waits_for_no_one(action, meltemi, organizer, overlapping):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    phase, user = run.phase, captain(meltemi)
    actions = {
        "rescore": lambda: rescore(None, meltemi.shared_task, EVALUATION, reason="why"),
        "move_phase": lambda: move_phase(
            organizer, phase, EVALUATION, opens=phase.opens, closes=phase.closes + timedelta(days=1), note="why"
        ),
        "decline_team": lambda: decline_team(organizer, meltemi, EVALUATION, reason="why"),
        "set_paper": lambda: set_paper(user, meltemi, EVALUATION),
        "choose": lambda: choose_official_run(user, run, EVALUATION),
        "sweep": lambda: sweep(EVALUATION),
    }
    with uncommitted(actions[action]):
        send_run(meltemi, GOOD, 2, EVALUATION)
    assert Run.objects.filter(team=meltemi).count() == 2


@pytest.mark.slow
def test_no_two_actions_wait_for_each_other(meltemi):
    Phase.objects.filter(slug="evaluation").update(runs_per_track=100, runs_per_day=100, run_numbers="free")
    user = captain(meltemi)

    def upload(at: datetime) -> Any:
        return send(meltemi, "tiny_Meltemi.zip", BOTH, at)

    for number in range(ROUNDS):
        at = EVALUATION + number * timedelta(hours=2)  # because of the hourly limit on rejected uploads
        sent = [upload(at) for _ in range(3)]
        tokens = [claim_submission(submission.pk, at) for submission in sent]
        rivals = [submission.runs.get(track__slug="one") for submission in sent]
        at_once(
            [
                lambda s=s, t=t, at=at: record_check(s, t, UploadFinding(False, []), at)
                for s, t in zip(sent, tokens, strict=True)
            ]
            + [lambda run=run, at=at: choose_official_run(user, run, at) for run in rivals]
            + [lambda at=at: upload(at)] * 2
            + [lambda at=at: rescore(None, meltemi.shared_task, at, reason="why")]
        )
    there = Run.objects.filter(team=meltemi).exclude(state=Run.State.REJECTED).count()
    assert there == ROUNDS * 4
    for owner in ({"team": meltemi}, {"user": user}):
        assert sum(Quota.objects.filter(day="", **owner).values_list("used", flat=True)) == there


@pytest.mark.parametrize("result", ["score", "quarantine"])
def test_a_check_that_replaces_an_upload_and_the_result_of_its_run_wait_in_turn(result, meltemi, overlapping):
    """The other worker is stopped where the check has locked the uploads but not yet their runs."""
    Phase.objects.filter(slug="evaluation").update(max_submissions=1, run_numbers="free", scores="at-once")
    first = send_run(meltemi, GOOD, 1, EVALUATION)
    check_submission(first.submission.pk, EVALUATION)
    later = send_run(meltemi, GOOD, 2, EVALUATION + timedelta(minutes=1)).submission
    token, run_token = claim_submission(later.pk, EVALUATION), claim_run(first.pk, EVALUATION)
    gold, scores = GoldStandard.objects.newest(first.track, "test"), {first.track.definition.rank_by: 0.5}
    results = {
        "score": lambda: record_score(first, run_token, gold, scorer_version, Scored(scores, [], {}), EVALUATION),
        "quarantine": lambda: quarantine(Run.objects.held(first, run_token), EVALUATION),
    }
    recording: list[Future[Any]] = []

    def record() -> Any:
        try:
            return results[result]()
        finally:
            connection.close()

    def record_before_runs_are_locked(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if not recording and sql.endswith('FOR NO KEY UPDATE OF "portal_run"'):
            recording.append(pool.submit(record))
            while not (recording[0].done() or is_waited_for()):
                pass
        return execute(sql, parameters, many, context)

    with ThreadPoolExecutor(1) as pool:
        with connection.execute_wrapper(record_before_runs_are_locked):
            assert record_check(later, token, UploadFinding(True, []), EVALUATION)
        assert recording[0].result()
    first.refresh_from_db()
    assert first.is_replaced
    assert first.state == {"score": "scored", "quarantine": "failed"}[result]
    assert sum(Quota.objects.filter(team=meltemi).values_list("used", flat=True)) == 1


def is_waited_for() -> bool:
    """Return whether another connection waits for a lock that this one holds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
        return cursor.fetchone()[0] > 0


def test_what_one_limit_rejects_is_not_counted_by_the_other(tiny):
    team, phase, track = new_team(tiny, "Ostro"), tiny.phases.get(slug="post"), tiny.tracks.get(slug="one")
    with transaction.atomic():
        assert Quota.objects.reserve(team, captain(team), phase, track, 2, POST)
        assert not Quota.objects.reserve(team, captain(team), phase, track, 1, POST)
        assert not Quota.objects.reserve(new_team(tiny, "Levante"), captain(team), phase, track, 1, POST)
    assert list(Quota.objects.filter(used__gt=0).values_list("used", flat=True)) == [2, 2, 2, 2]


def test_a_limit_that_was_lifted_meanwhile_is_none(meltemi):
    for number in (1, 2, 3):
        send_run(meltemi, GOOD, number, EVALUATION)
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    at_once([lambda: Phase.objects.filter(pk=phase.pk).update(runs_per_track=None)])
    submit(captain(meltemi), phase, EVALUATION, content=[run_file(GOOD)], file_name="one_Meltemi_4.json")
    assert Quota.objects.get(team=meltemi).used == 4


@pytest.mark.parametrize("moves", [1, QUOTA_ATTEMPTS])
def test_a_phase_that_moves_at_every_attempt_reserves_nothing(moves, meltemi, overlapping):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    takings = []

    def close_for_a_moment(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if not sql.startswith('UPDATE "portal_quota"') or len(takings) == moves:
            return execute(sql, parameters, many, context)
        takings.append(sql)
        others = Phase.objects.filter(pk=phase.pk)
        at_once([lambda: others.update(closes=phase.opens)])
        answer = execute(sql, parameters, many, context)
        at_once([lambda: others.update(closes=phase.closes)])
        return answer

    with connection.execute_wrapper(close_for_a_moment):
        if moves == 1:
            send_run(meltemi, GOOD, 1, EVALUATION)
        else:
            with pytest.raises(Conflict, match="Upload the file again") as raised:
                send_run(meltemi, GOOD, 1, EVALUATION)
            assert raised.value.code == "phase_moves"
    assert Run.objects.filter(team=meltemi).count() == (1 if moves == 1 else 0)
