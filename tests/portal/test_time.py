"""Windows, days and clocks. What counts is the database's time once the whole upload has been received."""

import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from portal.actions.base.errors import LimitReached, NotAllowed
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.uploads.submit import submit
from portal.models import AuditEntry, Phase, Submission
from portal.models.clock import database_now
from portal.models.quota import quota_day
from portal.queries.tasks import task_page
from tests.portal.world import EVALUATION, GOOD, POST, captain, new_team, run_file, send_run

pytestmark = pytest.mark.postgres

MILLISECOND = timedelta(milliseconds=1)
DAY = timedelta(days=1)


def reimport(folder, before, after, at=EVALUATION):
    """Replace `before` with `after` in the task's definition, and import it again."""
    path = folder / "task.yaml"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    return import_shared_task(None, folder, at).shared_task


@pytest.mark.parametrize("later", [DAY, -DAY])
def test_a_deadline_that_is_moved_during_an_upload_holds_and_is_audited(tiny_folder, meltemi, later):
    phase = meltemi.shared_task.phases.get(slug="evaluation")  # the page has been loaded, and the upload is in progress
    at = phase.closes + (later / 2)
    day = (phase.closes + later).strftime("%Y-%m-%d %H:%M UTC")
    reimport(tiny_folder, 'closes: "2024-05-16 00:00 UTC"', f'closes: "{day}"')
    assert "closes" in str(AuditEntry.objects.filter(verb="import_shared_task").latest("pk").detail)
    upload = {"content": [run_file(GOOD)], "file_name": "one_Meltemi_1.json"}
    if later > timedelta():
        assert submit(captain(meltemi), phase, at, **upload).received_at == at
    else:
        with pytest.raises(NotAllowed):
            submit(captain(meltemi), phase, at, **upload)


@pytest.mark.parametrize("minutes", [10, -10])
def test_a_web_servers_wrong_clock_decides_nothing(meltemi, monkeypatch, minutes):
    """Only the database's clock decides whether a phase is open.

    A phase that closes in five minutes is open, and a phase that closed five minutes ago is not.
    """
    wrong = timedelta(minutes=minutes)
    right, seconds = database_now(), time.time
    monkeypatch.setattr(timezone, "now", lambda: datetime.now(UTC) + wrong)
    monkeypatch.setattr(time, "time", lambda: seconds() + wrong.total_seconds())
    phases = Phase.objects.filter(slug="evaluation")
    phases.update(closes=right + timedelta(minutes=5))
    client = Client()
    client.force_login(captain(meltemi))

    def upload(number):
        file = SimpleUploadedFile(f"one_Meltemi_{number}.json", run_file(GOOD))
        return client.post("/tasks/tiny/submit/", {"file": file, "phase": "evaluation"}).status_code

    assert upload(1) == 303
    assert abs(Submission.objects.get().received_at - right) < timedelta(minutes=2)
    phases.update(closes=right - timedelta(minutes=5))
    assert upload(2) == 403


@pytest.mark.parametrize(
    ("written", "last"),
    [
        ("2024-05-16 00:00 AoE", datetime(2024, 5, 16, 11, 59, 59, 999000, UTC)),  # the end of 15 May AoE
        # When the clocks go back, this time occurs twice. The first occurrence counts.
        ("2024-10-27 02:30 Europe/Madrid", datetime(2024, 10, 27, 0, 29, 59, 999000, UTC)),
        ("2024-10-27 03:00 Europe/Madrid", datetime(2024, 10, 27, 1, 59, 59, 999000, UTC)),
        ("2024-03-01 00:00 Europe/Madrid", datetime(2024, 2, 29, 22, 59, 59, 999000, UTC)),  # the end of 29 February
    ],
)
def test_deadlines_in_zones_that_change_their_clocks(tiny_folder, written, last, db):
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace('opens: "2024-05-01 00:00 UTC"', 'opens: "2024-01-01 00:00 UTC"'))
    team = new_team(reimport(tiny_folder, 'closes: "2024-05-16 00:00 UTC"', f'closes: "{written}"'), "Meltemi")
    send_run(team, GOOD, 1, last)
    with pytest.raises(NotAllowed):
        send_run(team, GOOD, 2, last + MILLISECOND)


def test_a_quota_day_is_a_day_in_utc_wherever_the_moment_was_read():
    last = datetime(2024, 2, 29, 23, 59, 59, 999999, UTC)
    assert [quota_day(last), quota_day(last + MILLISECOND)] == ["2024-02-29", "2024-03-01"]
    assert quota_day(datetime(2024, 2, 29, 13, tzinfo=ZoneInfo("Pacific/Honolulu"))) == "2024-02-29"
    assert quota_day(datetime(2024, 2, 29, 14, tzinfo=ZoneInfo("Pacific/Honolulu"))) == "2024-03-01"


def test_the_day_on_which_clocks_change_has_one_quota(meltemi):
    day = datetime(2024, 10, 27, 0, 30, tzinfo=UTC)
    for number, hours in ((1, 0), (2, 12)):
        send_run(meltemi, GOOD, number, day + timedelta(hours=hours), "post")
    with pytest.raises(LimitReached):
        send_run(meltemi, GOOD, 3, day + timedelta(hours=23), "post")
    assert send_run(meltemi, GOOD, 3, day + timedelta(hours=23, minutes=30), "post").number == 3


def test_a_moment_belongs_to_one_of_two_adjacent_phases(meltemi):
    border = meltemi.shared_task.phases.get(slug="evaluation").closes
    meltemi.shared_task.phases.filter(slug="post").update(opens=border)
    send_run(meltemi, GOOD, 1, border - MILLISECOND)
    send_run(meltemi, GOOD, 1, border, "post")
    for phase, at in (("evaluation", border), ("post", border - MILLISECOND)):
        with pytest.raises(NotAllowed):
            send_run(meltemi, GOOD, 2, at, phase)
    open_phases = [
        task_page(meltemi.shared_task, captain(meltemi), at).open_phases for at in (border - MILLISECOND, border)
    ]
    assert [[phase.slug for phase in phases] for phases in open_phases] == [["evaluation"], ["post"]]


def test_where_no_phase_is_open_nothing_is_accepted(meltemi):
    between = POST - 2 * DAY
    page = task_page(meltemi.shared_task, captain(meltemi), between)
    assert (page.open_phases, page.current_phase, page.next_phase.slug) == ([], None, "post")
    for phase in meltemi.shared_task.phases.all():
        with pytest.raises(NotAllowed):
            send_run(meltemi, GOOD, 1, between, phase.slug)
    assert not Submission.objects.exists()
