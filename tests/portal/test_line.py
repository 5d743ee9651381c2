"""Which upload is checked next: fair between tasks, teams and people, and fresh uploads before piles of them."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal import jobs
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.lanes import Lane
from portal.evaluation.line import _waiting, claim_next
from portal.evaluation.sweep import sweep
from portal.models import Phase, Run, SharedTask, Submission, Team, User
from portal.models.run import TURN
from portal.queries.line import Place, place_of
from tests.portal.test_import import edit
from tests.portal.world import EVALUATION, GOOD, POST, captain, new_team, person, send_run

SECOND = timedelta(seconds=1)
pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def other(tiny: SharedTask) -> SharedTask:
    """Another task with a phase of its own."""
    phase = tiny.phases.get(slug="evaluation")
    task = SharedTask.objects.get(pk=tiny.pk)
    task.pk, task.slug = None, "other"
    task.save()
    phase.pk, phase.shared_task = None, task
    phase.save()
    return task


def waiting(team: Team, at: datetime, by: User | None = None) -> Submission:
    """Add an upload as `submit` does, without its files."""
    sender = by or captain(team)
    return Submission.objects.create(
        shared_task=team.shared_task,
        phase=Phase.objects.get(shared_task=team.shared_task, slug="evaluation"),
        team=team,
        sent_by=sender,
        file_name="one.json",
        size=1,
        sha256="0" * 64,
        received_at=at,
        turn_at=Submission.objects.next_turn(team, sender, at),
        scorer=team.shared_task.scorer,
        lease_ends=at + 20 * SECOND,
    )


def order(at: datetime) -> list[Submission]:
    """Claim everything that waits, a second after each other, and return it in this order."""
    found = []
    while claimed := claim_next(uuid4(), at):
        found.append(Submission.objects.get(pk=claimed[0]))
        at += SECOND
    return found


def teams(uploads: Iterable[Submission]) -> list[str]:
    return [upload.team.name for upload in uploads]


def test_a_newcomer_goes_before_a_teams_pile(tiny: SharedTask) -> None:
    pile, newcomer = new_team(tiny, "Pile"), new_team(tiny, "Newcomer")
    for number in range(10):
        waiting(pile, EVALUATION + number * SECOND)
    waiting(newcomer, EVALUATION + 11 * SECOND)
    assert teams(order(EVALUATION + 12 * SECOND))[:3] == ["Pile", "Newcomer", "Pile"]


def test_members_cannot_pile_more_than_one_and_changing_teams_does_not_help(tiny: SharedTask) -> None:
    crowd, second, newcomer = (new_team(tiny, name) for name in ("Crowd", "Second", "Newcomer"))
    sender = captain(crowd)
    for _ in range(3):
        waiting(crowd, EVALUATION, by=person(f"Member {uuid4()}"))
    waiting(second, EVALUATION, by=sender)  # the same person in another team
    waiting(second, EVALUATION, by=sender)
    waiting(newcomer, EVALUATION + SECOND)
    assert teams(order(EVALUATION + 2 * SECOND))[:3] == ["Crowd", "Second", "Newcomer"]


def test_no_upload_is_overtaken_forever(tiny: SharedTask) -> None:
    pile = new_team(tiny, "Pile")
    last = [waiting(pile, EVALUATION) for _ in range(5)][-1]
    for number in range(8):  # a stream of newcomers, one a minute
        waiting(new_team(tiny, f"Newcomer{number}"), EVALUATION + number * TURN)
    found = order(EVALUATION + 8 * TURN)
    assert found.index(last) < 10


def test_another_tasks_rush_delays_no_one(tiny: SharedTask, other: SharedTask) -> None:
    for number in range(8):
        waiting(new_team(tiny, f"Rush{number}"), EVALUATION)
    quiet = new_team(other, "Quiet")
    waiting(quiet, EVALUATION + SECOND)
    waiting(new_team(other, "Silent"), EVALUATION + 2 * SECOND)
    found = teams(order(EVALUATION + 3 * SECOND))
    assert found.index("Quiet") <= 1
    assert found.index("Silent") <= 3


def test_a_person_in_several_tasks_has_one_turn(tiny: SharedTask, other: SharedTask) -> None:
    first, second, newcomer = new_team(tiny, "First"), new_team(other, "Second"), new_team(other, "Newcomer")
    sender = captain(first)
    for _ in range(5):
        waiting(first, EVALUATION, by=sender)
        waiting(second, EVALUATION, by=sender)
    waiting(newcomer, EVALUATION + SECOND)
    assert teams(order(EVALUATION + 2 * SECOND))[:2] == ["First", "Newcomer"]


def test_uploads_in_bulk_come_last_and_do_not_count_for_their_team(tiny: SharedTask) -> None:
    demo = new_team(tiny, "Demo")
    for _ in range(10):
        waiting(demo, EVALUATION - timedelta(days=1))
    Submission.objects.update(in_bulk=True)
    fresh = waiting(demo, EVALUATION)
    assert fresh.turn_at == EVALUATION
    assert order(EVALUATION)[0] == fresh


def test_what_was_tried_before_waits_for_its_time_and_then_for_its_own_message(tiny: SharedTask) -> None:
    postponed, fresh = waiting(new_team(tiny, "Postponed"), EVALUATION), waiting(new_team(tiny, "Fresh"), EVALUATION)
    later = EVALUATION + 60 * SECOND
    Submission.objects.filter(pk=postponed.pk).update(postponed=1, started_at=EVALUATION, lease_ends=later)
    assert claim_next(fresh.pk, EVALUATION) is not None
    assert claim_next(fresh.pk, EVALUATION + SECOND) is None
    assert (claim_next(postponed.pk, EVALUATION + SECOND) or [None])[0] == postponed.pk


def test_uploads_that_an_earlier_version_accepted_go_by_their_own_messages(tiny: SharedTask) -> None:
    """They have no turn, and PostgreSQL sorts them after all others, so they could wait forever."""
    older = [waiting(new_team(tiny, name), EVALUATION + SECOND) for name in ("First", "Second")]
    waiting(new_team(tiny, "Fresh"), EVALUATION)
    Submission.objects.filter(pk__in=[upload.pk for upload in older]).update(turn_at=None)
    for upload in reversed(older):
        assert (claim_next(upload.pk, EVALUATION + 2 * SECOND) or [None])[0] == upload.pk


def test_a_worker_with_another_scorer_claims_nothing(tiny: SharedTask) -> None:
    upload = waiting(new_team(tiny, "Meltemi"), EVALUATION)
    SharedTask.objects.update(scorer="0.0.1")
    assert claim_next(upload.pk, EVALUATION) is None


@pytest.mark.slow
def test_the_job_checks_the_upload_whose_turn_it_is(tiny: SharedTask) -> None:
    pile, newcomer = new_team(tiny, "Pile"), new_team(tiny, "Newcomer")
    piled = [send_run(pile, GOOD, number, EVALUATION).submission for number in (1, 2)]
    fresh = send_run(newcomer, GOOD, 1, EVALUATION + SECOND).submission
    states = []
    for message in (*piled, fresh):
        assert message is not None
        jobs.check_submission(str(message.pk))
        states.append({upload.team.name for upload in Submission.objects.filter(state="accepted")})
    assert states[:2] == [{"Pile"}, {"Pile", "Newcomer"}]


def test_claims_use_the_same_statements_and_the_index_however_many_wait(tiny: SharedTask) -> None:
    team = new_team(tiny, "Meltemi")
    first = waiting(team, EVALUATION)
    with CaptureQueriesContext(connection) as few:
        claim_next(uuid4(), EVALUATION)
    Submission.objects.bulk_create(
        Submission(
            shared_task=tiny,
            phase=first.phase,
            team=team,
            sent_by=first.sent_by,
            file_name="one.json",
            size=1,
            sha256="0" * 64,
            received_at=EVALUATION,
            turn_at=EVALUATION + number * TURN,
        )
        for number in range(500)
    )
    with CaptureQueriesContext(connection) as many:
        claim_next(uuid4(), EVALUATION)
    assert len(many) == len(few)
    if connection.vendor == "sqlite":  # PostgreSQL reads a table this small from its start
        line = _waiting(EVALUATION).filter(shared_task=tiny).order_by("in_bulk", "turn_at", "received_at")
        assert "USING INDEX submission_line" in line.explain()
        assert "TEMP B-TREE" not in line.explain()


def test_the_place_in_line_counts_checks_that_come_first(tiny: SharedTask, other: SharedTask) -> None:
    pile = new_team(tiny, "Pile")
    for _ in range(5):
        waiting(pile, EVALUATION)
    for number in range(4):
        waiting(new_team(other, f"Rush{number}"), EVALUATION)
    mine = waiting(new_team(tiny, "Newcomer"), EVALUATION + SECOND)
    last = waiting(pile, EVALUATION + SECOND)
    at = EVALUATION + 2 * SECOND
    assert place_of(mine, at) == Place(3, 8)  # one of the pile, two of the other task
    assert place_of(last, at) == Place(10, 22)
    found = order(at)
    assert found.index(mine) in (2, 3)  # depending on which of the two tasks comes first
    assert found.index(last) == 10
    mine.refresh_from_db()
    assert place_of(mine, at) is None


def test_the_time_left_comes_from_the_latest_checks_of_the_task(tiny: SharedTask) -> None:
    for number in range(3):
        done = waiting(new_team(tiny, f"Done{number}"), EVALUATION)
        took = {"started_at": EVALUATION, "checked_at": EVALUATION + 10 * SECOND}
        Submission.objects.filter(pk=done.pk).update(state="accepted", **took)
    first, second = waiting(new_team(tiny, "First"), EVALUATION), waiting(new_team(tiny, "Second"), EVALUATION + SECOND)
    assert [place_of(upload, EVALUATION + SECOND) for upload in (first, second)] == [Place(0, 10), Place(1, 20)]


@pytest.mark.slow
def test_runs_of_several_tasks_are_queued_in_turn(tiny: SharedTask, tiny_folder: Path) -> None:
    edit(tiny_folder, "slug: tiny", "slug: second")
    second = import_shared_task(None, tiny_folder, EVALUATION + SECOND).shared_task
    found = [Run.objects.get(pk=pk).shared_task for pk in sweep(POST, [Lane.BULK]).others]
    assert found[:4] == [tiny, second, tiny, second]
    assert found.count(tiny) == found.count(second) == len(found) / 2
