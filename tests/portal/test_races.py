"""Simultaneous actions with real connections and commits. On PostgreSQL, they overlap. On SQLite, writers queue."""

import itertools
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from portal.actions.base.errors import ActionError, Conflict, LimitReached, NotAllowed
from portal.actions.device_login import allow_device_login, issue_device_token, start_device_login
from portal.actions.organizers import add_organizer
from portal.actions.phases import move_phase
from portal.actions.runs import choose_official_run, withdraw_run
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import join_team, register_team
from portal.actions.uploads import rejections
from portal.actions.uploads.rejections import REJECTED_IN_A_ROW
from portal.actions.uploads.submit import submit
from portal.actions.uploads.validate_only import validate_only
from portal.evaluation.claim import claim_run, claim_submission
from portal.evaluation.score import score_run
from portal.evaluation.sweep import sweep
from portal.evaluation.validate import validate
from portal.models import (
    AccessToken,
    AuditEntry,
    DeviceLogin,
    FailedAttempt,
    Membership,
    Phase,
    Quota,
    Run,
    Submission,
    Team,
    Validation,
)
from portal.storage import files_to_validate
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POST,
    at_once,
    captain,
    check_submission,
    new_team,
    organizer_of,
    person,
    run_file,
    send,
    send_run,
    validated,
)

pytestmark = pytest.mark.django_db(transaction=True)

ARRIVALS = 40
ROUNDS = 20


def accepted(answers: list[Any]) -> list[Any]:
    return [answer for answer in answers if not isinstance(answer, ActionError)]


@pytest.mark.slow
@pytest.mark.parametrize(("phase", "at", "limit", "rounds"), [("evaluation", EVALUATION, 3, 20), ("post", POST, 2, 2)])
def test_parallel_uploads_at_a_limit_admit_exactly_that_many_each_time(tiny_folder, tiny, phase, at, limit, rounds):
    """On SQLite, writers queue, so all rounds are the same, and two of each kind are enough."""
    rounds = min(rounds, 4) if connection.vendor == "sqlite" else rounds
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace("[1, 2, 3, 4, 5]", str(list(range(1, ARRIVALS + 1)))))
    shared_task = import_shared_task(None, tiny_folder, at).shared_task
    for number in range(rounds):
        team = new_team(shared_task, f"Team{number}")
        if number % 2:  # creates the quota row, so no upload waits for a different one to do it
            send_run(team, GOOD, ARRIVALS, at, phase)
        there = number % 2
        answers = at_once([lambda n=n, team=team: send_run(team, GOOD, n, at, phase) for n in range(1, ARRIVALS)])
        assert len(accepted(answers)) == limit - there
        assert {type(answer) for answer in answers if isinstance(answer, ActionError)} == {LimitReached}
        assert Run.objects.filter(team=team).count() == Submission.objects.filter(team=team).count() == limit
        assert set(Quota.objects.filter(team=team).values_list("used", flat=True)) == {limit}


def test_an_error_before_all_have_started_is_reported_and_no_one_waits_for_that_one(db, monkeypatch):
    connect, calls = BaseDatabaseWrapper.ensure_connection, itertools.count()

    def connect_but_once(self):
        if next(calls) == 1:
            raise OperationalError("too many clients")
        connect(self)

    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", connect_but_once)
    with pytest.raises(OperationalError, match="too many clients"):
        at_once([lambda: 1] * 3)


def test_the_last_of_a_persons_parallel_validations_is_carried_out(meltemi):
    phase = meltemi.shared_task.phases.get(slug="evaluation")

    def ask() -> Validation:
        return validate_only(
            captain(meltemi), phase, EVALUATION, content=[run_file(GOOD)], file_name="one_Meltemi_1.json"
        )

    answers = at_once([ask for _ in range(12)])
    (left,) = Validation.objects.unfinished()
    assert Validation.objects.filter(state="replaced").count() == len(accepted(answers)) - 1 == 11
    keys = set(Validation.objects.values_list("pk", flat=True))
    assert keys.intersection(files_to_validate()) == {left.pk}
    assert validated(left, EVALUATION).is_valid


def test_parallel_uploads_with_one_key_are_one_at_a_limit_too(meltemi, monkeypatch):
    # the first upload uses up the limit while it waits to be checked
    monkeypatch.setattr(rejections, "REJECTED_AN_HOUR", 1)
    phase, user = meltemi.shared_task.phases.get(slug="evaluation"), captain(meltemi)

    def upload() -> Submission:
        return submit(
            user, phase, EVALUATION, content=[run_file(GOOD)], file_name="one_Meltemi_1.json", key="double click"
        )

    assert len(set(at_once([upload for _ in range(6)]))) == 1


@pytest.mark.slow
def test_parallel_uploads_with_invalid_names_report_the_limit(meltemi):
    phase, user = meltemi.shared_task.phases.get(slug="evaluation"), captain(meltemi)

    def upload() -> Submission:
        return submit(user, phase, EVALUATION, content=[run_file(GOOD)], file_name="no_such_name.json")

    answers = at_once([upload for _ in range(REJECTED_IN_A_ROW + 4)])
    codes = Counter(answer.code for answer in answers)
    assert codes == {"upload_rejected": REJECTED_IN_A_ROW, "too_many_rejected": 4}
    assert FailedAttempt.objects.count() == REJECTED_IN_A_ROW


def test_parallel_uploads_wait_for_their_check_up_to_the_limit(meltemi, monkeypatch):
    Phase.objects.update(runs_per_track=None, runs_per_day=None)
    monkeypatch.setattr(rejections, "UNCHECKED", 2)
    answers = at_once([lambda n=n: send_run(meltemi, GOOD, n, EVALUATION) for n in (1, 2, 3, 4, 5)])
    assert len(accepted(answers)) == Submission.objects.count() == 2


def test_parallel_uploads_of_a_team_wait_up_to_the_rejection_limit(meltemi, monkeypatch):
    Phase.objects.update(runs_per_track=None, runs_per_day=None)
    monkeypatch.setattr(rejections, "REJECTED_AN_HOUR", 2)
    friend = person("Friend")
    join_team(friend, meltemi.shared_task, EVALUATION, code=meltemi.invitation_code)
    answers = at_once(
        [
            lambda user=user, name=f"{track}_Meltemi_{number}.json": send(
                meltemi, name, run_file(GOOD), EVALUATION, by=user
            )
            for number, user in enumerate((captain(meltemi), friend), start=1)
            for track in ("one", "two")
        ]
    )
    assert len(accepted(answers)) == Submission.objects.count() == 2


def test_two_workers_validate_a_file_once(meltemi):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    waiting = validate_only(
        captain(meltemi), phase, EVALUATION, content=[run_file(GOOD)], file_name="one_Meltemi_1.json"
    )
    assert sorted(at_once([lambda: validate(waiting.pk, EVALUATION) for _ in range(2)])) == [False, True]


def test_parallel_uploads_of_one_number_admit_one(meltemi):
    answers = at_once([lambda: send_run(meltemi, GOOD, 1, EVALUATION) for _ in range(6)])
    assert len(accepted(answers)) == 1
    assert {type(answer) for answer in answers if isinstance(answer, ActionError)} <= {Conflict, LimitReached}
    assert Quota.objects.get(team=meltemi).used == 1


def test_parallel_uploads_of_a_number_that_is_free_admit_all(meltemi):
    meltemi.shared_task.phases.filter(slug="evaluation").update(run_numbers="free")
    answers = at_once([lambda: send_run(meltemi, GOOD, 1, EVALUATION) for _ in range(3)])
    assert [run.number for run in accepted(answers)] == [1, 1, 1]


def test_double_click_gives_one_receipt_even_at_the_limit(meltemi):
    for number in (1, 2):
        send_run(meltemi, GOOD, number, EVALUATION)
    name, body = "one_Meltemi_3.json", run_file(GOOD)
    answers = at_once([lambda: send(meltemi, name, body, EVALUATION, key="click") for _ in range(6)])
    assert len(set(answers)) == 1
    assert Quota.objects.get(team=meltemi).used == 3


def test_one_of_many_claims_wins(meltemi):
    submission = send_run(meltemi, GOOD, 1, EVALUATION).submission
    tokens = at_once([lambda: claim_submission(submission.pk, EVALUATION) for _ in range(6)])
    assert len([token for token in tokens if token]) == 1
    run = submission.runs.get()
    tokens = at_once([lambda: claim_run(run.pk, EVALUATION) for _ in range(6)])
    assert len([token for token in tokens if token]) == 1
    run.refresh_from_db()
    assert (run.state, run.leases_lost) == ("valid", 0)


def test_many_workers_evaluate_once(meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    at_once([lambda: check_submission(run.submission.pk, EVALUATION) for _ in range(4)])
    at_once([lambda: score_run(run.pk, EVALUATION) for _ in range(4)])
    run.refresh_from_db()
    assert (run.state, run.leases_lost, run.evaluations.count()) == ("scored", 0, 1)


def test_one_of_many_simultaneous_choices_wins(meltemi):
    runs = [send_run(meltemi, GOOD, number, EVALUATION) for number in (1, 2, 3)]
    user = captain(meltemi)
    at_once([lambda run=run: choose_official_run(user, run, EVALUATION) for run in runs * 2])
    assert Run.objects.filter(chosen_at__isnull=False).count() == 1


@pytest.mark.slow
def test_a_deadline_that_moves_during_uploads_holds_for_each_as_it_was_or_as_it_is(meltemi):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    user = organizer_of(meltemi.shared_task, "Oana")
    Phase.objects.filter(pk=phase.pk).update(released=None, runs_per_track=None)
    for _ in range(8):
        before = Phase.objects.get(pk=phase.pk)
        late = before.closes + timedelta(hours=1)
        moved, *answers = at_once(
            [lambda b=before, at=late: move_phase(user, b, EVALUATION, opens=b.opens, closes=at, note="why")]
            + [lambda n=n, at=before.closes: send_run(meltemi, GOOD, n, at) for n in (1, 2, 3)]
        )
        assert moved.closes_after == late
        for answer in answers:
            is_rejected = isinstance(answer, NotAllowed) and answer.code == "phase_closed"
            assert is_rejected or moved.closes_before <= answer.received_at < moved.closes_after
        Run.objects.filter(team=meltemi).update(number_once=False, number=None)
    assert Quota.objects.get(team=meltemi, day="").used == Run.objects.filter(team=meltemi).count()


def test_the_second_of_two_simultaneous_moves_sees_the_first(meltemi):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    user = organizer_of(meltemi.shared_task, "Oana")
    Phase.objects.filter(pk=phase.pk).update(released=None)
    later = [phase.closes + timedelta(days=day) for day in (1, 2)]
    at_once(
        [lambda at=at: move_phase(user, phase, EVALUATION, opens=phase.opens, closes=at, note="why") for at in later]
    )
    first, second = phase.changes.order_by("pk")
    phase.refresh_from_db()
    assert (first.closes_after, phase.closes) == (second.closes_before, second.closes_after)


def test_a_run_is_not_chosen_while_it_is_withdrawn(meltemi):
    run, user = send_run(meltemi, GOOD, 1, EVALUATION), captain(meltemi)
    at_once(
        [
            lambda: withdraw_run(user, run, EVALUATION, reason="wrong file"),
            lambda: choose_official_run(user, run, EVALUATION),
        ]
    )
    run.refresh_from_db()
    assert (run.withdrawn_at, run.chosen_at) == (EVALUATION, None)


def test_two_sweepers_give_each_hint_once(tiny):
    Run.objects.update(lease_ends=None)
    found = [run for work in at_once([lambda: sweep(EVALUATION)] * 2) for run in work.runs]
    assert sorted(found) == sorted(set(found))


def test_a_name_and_a_person_are_in_one_team(tiny):
    people = [person(f"P{number}") for number in range(4)]
    at_once([lambda user=user: register_team(user, tiny, EVALUATION, name="Sirocco") for user in people])
    assert Team.objects.count() == 1
    team, other = Team.objects.get(), new_team(tiny, "Ostro")
    lone = person("Lone")
    codes = [team.invitation_code, other.invitation_code]
    at_once([lambda code=code: join_team(lone, tiny, EVALUATION, code=code) for code in codes])
    assert Membership.objects.filter(user=lone).count() == 1


def test_one_of_many_simultaneous_polls_gets_the_token(transactional_db):
    user, login = person("Ana"), DeviceLogin(address="192.0.2.1")
    login, _text = start_device_login(AnonymousUser(), login, EVALUATION, name="laptop")
    allow_device_login(user, user, EVALUATION, code=login.code)
    DeviceLogin.objects.update(interval=0)
    ready = [DeviceLogin.objects.select_related("user").get() for _ in range(8)]
    answers = at_once([lambda one=one: issue_device_token(AnonymousUser(), one, EVALUATION) for one in ready])
    assert len(accepted(answers)) == AccessToken.objects.count() == 1
    assert {answer.code for answer in answers if isinstance(answer, ActionError)} <= {"expired_token", "slow_down"}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["found", "join"])
def test_who_enters_a_team_while_made_an_organizer_has_no_rank(tiny, way):
    organizer, other, team = organizer_of(tiny), person("Other"), new_team(tiny, "Meltemi")
    for _ in range(4):
        enter = {
            "found": lambda: register_team(other, tiny, EVALUATION, name="Levante"),
            "join": lambda: join_team(other, tiny, EVALUATION, code=team.invitation_code),
        }[way]
        at_once([enter, lambda: add_organizer(organizer, tiny, EVALUATION, address=other.email, is_sure=True)])
        assert not Team.objects.filter(members=other, unranked_at=None).exists()
        Membership.objects.filter(user=other).delete()
        Team.objects.filter(name="Levante").delete()
        Team.objects.update(unranked_at=None)
        tiny.organizers.remove(other)
        AuditEntry.objects.all().delete()
