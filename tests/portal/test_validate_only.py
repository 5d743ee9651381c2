"""Validating a file: a worker checks it like an upload, and then deletes it."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from portal.actions.base.errors import Invalid, LimitReached, NotAllowed
from portal.actions.uploads import rejections
from portal.actions.uploads import validate_only as action
from portal.actions.uploads.validate_only import report_of, validate_only
from portal.evaluation import check, validate
from portal.evaluation.errors import ChildError
from portal.models import AuditEntry, Phase, Quota, Run, Submission, Validation
from portal.models.validation import KEPT, WAITS
from portal.storage import files_to_validate, forget_file_to_validate
from tests.portal.world import (
    EVALUATION,
    GOOD,
    archive,
    captain,
    new_team,
    person,
    run_file,
    send,
    send_run,
    validated,
    work_off,
)

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def no_files_of_other_tests(db):
    validate.forget_leftovers()


def asked(team, name="one_Meltemi_1.json", body=None, at=EVALUATION, user=None, phase="evaluation"):
    """Request a validation and return it. It then waits for a worker."""
    there = Phase.objects.get(shared_task=team.shared_task, slug=phase)
    content = [run_file(GOOD) if body is None else body]
    return validate_only(user or captain(team), there, at, content=content, file_name=name)


def tried(team, *given, at=EVALUATION, **named):
    """Request a validation, have a worker run it, and return the report."""
    return validated(asked(team, *given, at=at, **named), at)


def files():
    return sorted(path for path in Path(settings.DATA_ROOT).rglob("*") if path.is_file())


def test_it_says_what_was_recognized_and_what_would_be_left(meltemi):
    body = archive({"one_Meltemi_1.json": run_file(GOOD), "two_Meltemi_4.json": run_file(GOOD)})
    report = tried(meltemi, "tiny_Meltemi.zip", body)
    assert (report.is_valid, report.would_be_accepted, report.rejection) == (True, True, None)
    assert [(one.run.track, one.run.number, one.items, one.problems) for one in report.runs] == [
        ("one", 1, 4, []),
        ("two", 4, 4, []),
    ]
    assert [(line.track.slug, line.left) for line in report.left] == [("one", 2), ("two", 2)]


def test_the_request_only_stores_the_file(meltemi, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("checked in the request")

    monkeypatch.setattr(check, "Child", fail)
    validation = asked(meltemi)
    assert (validation.state, validation.report) == ("waiting", {})
    assert report_of(validation, EVALUATION) is None
    assert list(files_to_validate()) == [validation.pk]


def test_the_file_goes_with_the_check_and_the_report_a_day_later(meltemi):
    before, audit = files(), AuditEntry.objects.count()
    tried(meltemi)
    assert files() == before
    assert not Submission.objects.exists()
    assert not Run.objects.filter(team=meltemi).exists()
    assert not Quota.objects.filter(used__gt=0).exists()
    assert AuditEntry.objects.count() == audit
    validate.expire(EVALUATION + KEPT - MINUTE)
    assert Validation.objects.exists()
    validate.expire(EVALUATION + KEPT)
    assert not Validation.objects.exists()


def test_a_file_that_no_worker_claims_is_deleted_after_an_hour(meltemi):
    before = files()
    validation = asked(meltemi)
    validate.expire(EVALUATION + WAITS - MINUTE)
    assert len(files()) == len(before) + 1
    later = EVALUATION + WAITS
    assert asked(meltemi, at=later).state == "waiting"  # the old validation does not block a new one
    validation.refresh_from_db()
    assert validation.state == "failed"
    assert len(files()) == len(before) + 1


@pytest.mark.slow
def test_files_that_nothing_waits_for_are_deleted_by_night(meltemi):
    before = files()
    gone = asked(meltemi)
    gone.delete()  # as if the sender's account had been deleted
    kept = asked(meltemi)
    assert validate.forget_leftovers() == 1
    assert list(files_to_validate()) == [kept.pk]
    assert validated(kept, EVALUATION).is_valid
    assert files() == before


@pytest.mark.slow
def test_a_file_that_is_submitted_as_well_is_kept(meltemi):
    """The submission's copy has its own path, so deleting the validated file does not affect it."""
    validation = asked(meltemi)
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    validated(validation, EVALUATION)
    work_off(EVALUATION)
    run.refresh_from_db()
    assert run.state == "scored"


def test_every_problem_of_every_run_is_listed_and_limits_do_not_matter_then(meltemi):
    body = archive({"one_Meltemi_1.json": run_file(["MAYBE"]), "two_Meltemi_1.json": b"[", "stray.exe": b"MZ"})
    report = tried(meltemi, "tiny_Meltemi.zip", body)
    assert not report.is_valid
    assert all(not run.is_valid for run in report.runs)
    assert report.problems
    assert (report.rejection, report.left) == (None, [])


def test_limits_and_used_numbers_are_said_as_for_a_real_upload(meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    used = tried(meltemi)
    assert (used.is_valid, used.rejection.code, used.would_be_accepted) == (True, "run_number_taken", False)
    for number in (2, 3):
        send_run(meltemi, GOOD, number, EVALUATION)
    assert tried(meltemi, "one_Meltemi_4.json").rejection.code == "no_runs_left"
    closes = meltemi.shared_task.phases.get(slug="evaluation").closes
    in_time = asked(meltemi, "one_Meltemi_4.json", at=closes - MINUTE)
    assert validated(in_time, closes).rejection.code == "phase_closed"
    assert Quota.objects.get(team=meltemi, track__slug="one").used == 3


def _folder(location):
    return {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": location}}


def test_it_never_opens_gold(meltemi, settings, tmp_path):
    body = run_file(GOOD)
    with_gold = tried(meltemi, body=body)
    settings.STORAGES = settings.STORAGES | {"gold": _folder(tmp_path / "nowhere")}
    assert tried(meltemi, body=body) == with_gold
    other = shutil.copytree(settings.GOLD_ROOT, tmp_path / "other")
    for file in [path for path in other.iterdir() if path.is_file()]:
        file.write_text("[]")
    settings.STORAGES = settings.STORAGES | {"gold": _folder(other)}
    assert tried(meltemi, body=body) == with_gold


def test_a_person_has_one_at_a_time_and_others_their_own(meltemi):
    rival = new_team(meltemi.shared_task, "Notus")
    other, first = asked(rival, "one_Notus_1.json"), asked(meltemi)
    Validation.objects.filter(pk=first.pk).update(state="running", token=first.pk)
    second = asked(meltemi)
    first.refresh_from_db()
    assert (first.state, first.token, first.replaced_by) == ("replaced", None, second)
    assert set(files_to_validate()) == {other.pk, second.pk}
    assert not validate.validate(first.pk, EVALUATION)
    assert validated(second, EVALUATION).is_valid
    assert validated(other, EVALUATION).is_valid


def test_a_check_of_a_rejected_upload_gives_way_to_what_the_person_requests(meltemi):
    def rejected():
        with pytest.raises(Invalid) as error:
            send(meltemi, "unknown_Meltemi_1.json", run_file(GOOD), EVALUATION)
        return error.value.params["validation"]

    first = rejected()
    second = rejected()  # of the portal's own checks, only that of the newest upload matters
    assert Validation.objects.get(pk=first).replaced_by_id == Validation.objects.get(pk=second).pk
    mine = asked(meltemi)
    assert Validation.objects.get(pk=second).state == "replaced"
    assert rejected() is None
    assert validated(mine, EVALUATION).is_valid


def test_the_rate_is_limited_for_each_person_by_the_hour(meltemi, monkeypatch):
    monkeypatch.setattr(action, "VALIDATIONS_AN_HOUR", 2)
    rival = new_team(meltemi.shared_task, "Notus")
    for _ in range(2):
        tried(meltemi, body=b"[]")
    with pytest.raises(LimitReached, match="in the last hour") as rejection:
        tried(meltemi)
    assert (rejection.value.code, rejection.value.http_status) == ("too_many_validations", 429)
    assert tried(rival, "one_Notus_1.json").is_valid
    assert tried(meltemi, at=EVALUATION + 60 * MINUTE).is_valid


def test_people_without_a_team_check_at_home(meltemi):
    with pytest.raises(NotAllowed) as error:
        asked(meltemi, user=person("Zeno"))
    assert error.value.code == "no_team"


def test_a_closed_phase_accepts_no_file(meltemi):
    with pytest.raises(NotAllowed) as error:
        asked(meltemi, at=meltemi.shared_task.phases.get(slug="evaluation").closes)
    assert error.value.code == "phase_closed"
    assert not Validation.objects.exists()


def test_a_check_that_hangs_fails_at_once_and_leaves_nothing(meltemi, monkeypatch):
    def hang(*_, **__):
        raise ChildError("timed out")

    before = files()
    validation = asked(meltemi)
    monkeypatch.setattr(check, "Child", hang)
    assert not validate.validate(validation.pk, EVALUATION)
    validation.refresh_from_db()
    assert (validation.state, validation.report) == ("failed", {})
    assert files() == before


def test_a_file_that_was_never_kept_fails_at_once(meltemi):
    validation = asked(meltemi)
    forget_file_to_validate(validation.pk)
    assert not validate.validate(validation.pk, EVALUATION)
    validation.refresh_from_db()
    assert validation.state == "failed"


@pytest.mark.parametrize("error", [ConnectionError, SoftTimeLimitExceeded])
def test_a_storage_that_is_away_or_hangs_makes_it_wait(meltemi, monkeypatch, error):
    def away(*_, **__):
        raise error

    validation = asked(meltemi)
    with monkeypatch.context() as patch:
        patch.setattr(validate, "stored_file_to_validate", away)
        assert not validate.validate(validation.pk, EVALUATION)
    validation.refresh_from_db()
    assert validation.state == "waiting"
    assert validate.due(EVALUATION) == []
    assert validate.due(EVALUATION + MINUTE) == [validation.pk]
    assert validated(validation, EVALUATION + MINUTE).is_valid


def test_what_a_dead_worker_held_is_claimed_by_another(meltemi):
    validation = asked(meltemi)
    Validation.objects.update(state="running", token=validation.pk, lease_ends=EVALUATION + MINUTE)
    assert not validate.validate(validation.pk, EVALUATION)
    assert validate.due(EVALUATION + MINUTE) == [validation.pk]
    assert validated(validation, EVALUATION + MINUTE).is_valid


@pytest.mark.slow
def test_rejected_uploads_use_no_quota_but_are_bounded(meltemi, monkeypatch):
    monkeypatch.setattr(rejections, "REJECTED_AN_HOUR", 2)
    for _ in range(2):
        send_run(meltemi, ["MAYBE"], 1, EVALUATION)
        work_off(EVALUATION)
    assert Quota.objects.get(team=meltemi, track__slug="one").used == 0
    with pytest.raises(LimitReached, match="were rejected in the last hour") as rejection:
        send_run(meltemi, GOOD, 1, EVALUATION)
    assert (rejection.value.code, rejection.value.http_status) == ("too_many_rejected", 429)
    with pytest.raises(LimitReached):
        asked(meltemi)
    assert send_run(meltemi, GOOD, 1, EVALUATION + 60 * MINUTE).number == 1
