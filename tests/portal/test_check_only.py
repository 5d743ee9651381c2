"""Trying an upload: judged like a real one, and nothing of it stays."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings

from portal.actions import submit as sending
from portal.actions.check_only import CHECKS_A_MINUTE, check_only
from portal.actions.refusal import LimitReached, NotAllowed, Unavailable
from portal.evaluation import check
from portal.evaluation.child import ChildError
from portal.models import AuditEntry, Phase, Quota, Run, Submission
from portal.queries.uploads import UPLOAD_BYTES, inspect
from portal.storage import store_upload
from tests.portal.world import (
    EVALUATION,
    GOOD,
    archive,
    captain,
    new_team,
    person,
    run_file,
    send_run,
    work_off,
)

MINUTE = timedelta(minutes=1)


def tried(team, name="one_Meltemi_1.json", body=None, at=EVALUATION, user=None, phase="evaluation"):
    with store_upload([run_file(GOOD) if body is None else body], name, UPLOAD_BYTES) as stored:
        upload = inspect(team.shared_task, stored, team)
        there = Phase.objects.get(shared_task=team.shared_task, slug=phase)
        return check_only(user or captain(team), team.shared_task, there, stored, upload, at)


def test_it_says_what_was_recognised_and_what_would_be_left(meltemi):
    body = archive({"one_Meltemi_1.json": run_file(GOOD), "two_Meltemi_4.json": run_file(GOOD)})
    result = tried(meltemi, "tiny_Meltemi.zip", body)
    assert (result.is_valid, result.would_be_taken, result.refused) == (True, True, None)
    assert [(run.track, run.number, run.items, run.problems) for run in result.runs] == [
        ("one", 1, 4, []),
        ("two", 4, 4, []),
    ]
    assert [(line.track.slug, line.left) for line in result.left] == [("one", 2), ("two", 2)]


def test_nothing_stays(meltemi):
    files = sorted(Path(settings.DATA_ROOT).rglob("*"))
    audit = AuditEntry.objects.count()
    tried(meltemi)
    assert not Submission.objects.exists()
    assert not Run.objects.filter(team=meltemi).exists()
    assert not Quota.objects.filter(used__gt=0).exists()
    assert AuditEntry.objects.count() == audit
    assert sorted(Path(settings.DATA_ROOT).rglob("*")) == files


def test_every_problem_of_every_run_is_listed_and_limits_do_not_matter_then(meltemi):
    body = archive({"one_Meltemi_1.json": run_file(["MAYBE"]), "two_Meltemi_1.json": b"[", "stray.exe": b"MZ"})
    result = tried(meltemi, "tiny_Meltemi.zip", body)
    assert not result.is_valid
    assert all(not run.is_valid for run in result.runs)
    assert result.problems
    assert (result.refused, result.left) == (None, [])


def test_limits_and_used_numbers_are_said_as_a_real_upload_would_be_told(meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    taken = tried(meltemi)
    assert (taken.is_valid, taken.refused.code, taken.would_be_taken) == (True, "run_number_taken", False)
    for number in (2, 3):
        send_run(meltemi, GOOD, number, EVALUATION)
    assert tried(meltemi, "one_Meltemi_4.json").refused.code == "no_runs_left"
    closes = meltemi.shared_task.phases.get(slug="evaluation").closes
    assert tried(meltemi, "one_Meltemi_4.json", at=closes).refused.code == "phase_closed"
    assert Quota.objects.get(team=meltemi, track__slug="one").used == 3


def _folder(location):
    return {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": location}}


def test_it_never_opens_gold(meltemi, settings, tmp_path):  # D46, D54
    body = run_file(GOOD)
    with_gold = tried(meltemi, body=body)
    settings.STORAGES = settings.STORAGES | {"gold": _folder(tmp_path / "nowhere")}
    assert tried(meltemi, body=body) == with_gold
    other = shutil.copytree(settings.GOLD_ROOT, tmp_path / "other")
    for file in [path for path in other.iterdir() if path.is_file()]:
        file.write_text("[]")
    settings.STORAGES = settings.STORAGES | {"gold": _folder(other)}
    assert tried(meltemi, body=body) == with_gold  # D47


def test_the_rate_is_limited_for_each_account_by_the_minute(meltemi):  # E57
    rival = new_team(meltemi.shared_task, "Notus")
    for _ in range(CHECKS_A_MINUTE):
        tried(meltemi, body=b"[]")
    with pytest.raises(LimitReached, match="in a minute") as refused:
        tried(meltemi)
    assert (refused.value.code, refused.value.http_status) == ("too_many_checks", 429)
    assert tried(rival, "one_Notus_1.json").is_valid
    assert tried(meltemi, at=EVALUATION + MINUTE).is_valid


def test_people_without_a_team_check_at_home(meltemi):
    with pytest.raises(NotAllowed):
        tried(meltemi, user=person("Nobody"))


def test_a_check_that_hangs_is_our_fault(meltemi, monkeypatch):
    def hang(*_, **__):
        raise ChildError("no answer in time")

    monkeypatch.setattr(check, "run_limited", hang)
    with pytest.raises(Unavailable) as refused:
        tried(meltemi)
    assert refused.value.http_status == 503


def test_refused_uploads_cost_nothing_but_are_bounded(meltemi, monkeypatch):  # E57
    monkeypatch.setattr(sending, "REFUSED_AN_HOUR", 2)
    for _ in range(2):
        send_run(meltemi, ["MAYBE"], 1, EVALUATION)
        work_off(EVALUATION)
    assert Quota.objects.get(team=meltemi, track__slug="one").used == 0
    with pytest.raises(LimitReached, match="refused within an hour") as refused:
        send_run(meltemi, GOOD, 1, EVALUATION)
    assert (refused.value.code, refused.value.http_status) == ("too_many_refused", 429)
    assert tried(meltemi).refused.code == "too_many_refused"
    assert send_run(meltemi, GOOD, 1, EVALUATION + 60 * MINUTE).number == 1
