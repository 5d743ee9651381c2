"""Phases in rounds: always open, with a deadline and new limits for each round. Dates of other phases do not move."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.utils import timezone

from portal.actions.base.errors import LimitReached, NotAllowed
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import register_team
from portal.actions.uploads.submit import submit
from portal.evaluation.reconcile import reconcile
from portal.evaluation.rounds import start_rounds
from portal.jobs import sweep
from portal.models import AuditEntry, OutgoingMail, Phase, Quota, Run
from portal.models.quota import whole_phase
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import board_state
from portal.queries.home import home_lists
from portal.queries.occasions import notices
from portal.queries.quota import remaining
from portal.queries.uploads import valid_names
from tasks import build
from tests.portal.world import (
    EVALUATION,
    GOOD,
    MILLISECOND,
    PERFECT,
    at_once,
    board,
    captain,
    new_team,
    person,
    send_run,
    work_off,
)

pytestmark = pytest.mark.postgres

DAY = timedelta(days=1)
ENDS = datetime(2024, 5, 9, tzinfo=UTC)  # end of the first round
RULES = {
    "opens": ENDS - 7 * DAY,
    "closes": ENDS,
    "round_days": 7,
    "runs_per_track": 2,
    "scores": "at-once",
    "released": None,
    "official": "best",
    "run_numbers": "free",
}


@pytest.fixture
def practice(meltemi):
    """An open phase with rounds of seven days and two runs per round."""
    phases = meltemi.shared_task.phases.filter(slug="evaluation")
    phases.update(**RULES)
    return phases.get()


def left(team, phase, at):
    return remaining(team, captain(team), phase, at)[0].left


def accepts(team, at):
    try:
        return bool(send_run(team, GOOD, 1, at))
    except LimitReached:
        return False


@pytest.mark.parametrize("days", [0, 6.9, 7, 7.1, 20, 21, 5000.5])
def test_the_deadline_is_always_ahead_and_the_phase_open(practice, days):
    at = practice.opens + timedelta(days=days)
    start_rounds(at)
    practice.refresh_from_db()
    assert at < practice.closes <= at + 7 * DAY
    assert (practice.closes - ENDS) % (7 * DAY) == timedelta(0)
    assert practice.is_open(at)
    assert not practice.has_closed(at)
    assert practice in Phase.objects.open(at)


def test_the_home_page_says_that_a_round_ends(practice, meltemi):
    opened = timezone.now() - DAY
    Phase.objects.exclude(pk=practice.pk).update(opens=opened - 9 * DAY, closes=opened - 8 * DAY)
    Phase.objects.filter(pk=practice.pk).update(opens=opened, closes=opened + 7 * DAY)
    client = Client()
    client.force_login(captain(meltemi))
    text = re.sub(r"<[^>]+>|\s+", " ", client.get("/").content.decode())
    assert len(re.findall(r"This round of +\S+ +ends in", text)) == 3  # next steps, own tasks, and the list
    assert "closes in" not in text


def test_nothing_is_open_before_the_first_round(practice, meltemi):
    with pytest.raises(NotAllowed):
        send_run(meltemi, GOOD, 1, practice.opens - MILLISECOND)


def test_other_phases_are_never_touched(practice):
    others = Phase.objects.exclude(pk=practice.pk)
    others.filter(slug="post").update(closes=ENDS)
    before = list(others.values())
    start_rounds(ENDS + 100 * DAY)
    assert list(others.values()) == before


def test_an_open_round_is_not_touched(practice):
    start_rounds(ENDS - MILLISECOND)
    assert Phase.objects.get(pk=practice.pk).closes == ENDS
    assert not AuditEntry.objects.filter(verb="start_round").exists()


def test_limits_start_again_at_the_deadline_even_before_a_worker_sets_the_next(practice, meltemi):
    before, after = ENDS - MILLISECOND, ENDS
    assert [accepts(meltemi, before) for _ in range(3)] == [True, True, False]
    assert (left(meltemi, practice, before), left(meltemi, practice, after)) == (0, 2)
    assert accepts(meltemi, after)
    start_rounds(after)
    practice.refresh_from_db()
    assert (left(meltemi, practice, before), left(meltemi, practice, after)) == (0, 1)
    assert [accepts(meltemi, after + DAY) for _ in range(2)] == [True, False]
    assert accepts(meltemi, after + 7 * DAY)


def test_a_limit_by_day_and_one_by_round_are_counted_apart(practice, meltemi):
    Phase.objects.filter(pk=practice.pk).update(runs_per_day=1)
    assert [accepts(meltemi, ENDS - 2 * DAY), accepts(meltemi, ENDS - 2 * DAY)] == [True, False]
    assert [accepts(meltemi, ENDS - DAY), accepts(meltemi, ENDS - MILLISECOND)] == [True, False]
    assert accepts(meltemi, ENDS)


@pytest.mark.slow
def test_a_rejected_run_gives_back_quota_of_its_own_round(practice, meltemi):
    wrong = send_run(meltemi, ["MAYBE", "NO", "NO", "NO"], 1, ENDS - MILLISECOND)
    assert accepts(meltemi, ENDS)
    start_rounds(ENDS)
    work_off(ENDS)
    wrong.refresh_from_db()
    practice.refresh_from_db()
    assert wrong.state == Run.State.REJECTED
    assert (left(meltemi, practice, ENDS - MILLISECOND), left(meltemi, practice, ENDS)) == (2, 1)


@pytest.mark.slow
def test_the_board_keeps_the_runs_of_all_rounds_and_is_never_final(practice, meltemi):
    send_run(meltemi, GOOD, 1, ENDS - MILLISECOND)
    send_run(new_team(meltemi.shared_task, "Sirocco"), PERFECT, 1, ENDS)
    start_rounds(ENDS)
    work_off(ENDS)
    practice.refresh_from_db()
    found = board(meltemi.shared_task, ENDS, practice.slug)
    assert [row.team for row in found.rows if row.rank] == ["Sirocco", "Meltemi"]
    assert board_state(found, Choices(), ENDS) == "stays-open"


def test_the_sweep_starts_rounds_once_and_leaves_an_entry(practice, monkeypatch):
    monkeypatch.setattr("portal.jobs.database_now", lambda: ENDS + DAY)
    monkeypatch.setattr("portal.jobs._is_empty", lambda lane, priority=0: False)
    for _ in range(2):
        sweep()
    entry = AuditEntry.objects.get(verb="start_round")
    assert entry.detail == {"before": ENDS.isoformat(), "closes": (ENDS + 7 * DAY).isoformat()}


def test_the_home_page_lists_it_as_open_with_its_deadline(practice):
    for at in (ENDS - MILLISECOND, ENDS + 3 * DAY):
        start_rounds(at)
        (line,) = home_lists(AnonymousUser(), at).open
        assert line.phase == practice
        assert line.deadline is not None
        assert line.deadline > at


def test_no_one_is_reminded_of_its_deadlines(practice):
    at = ENDS - timedelta(hours=10)
    assert list(notices(at)) == []
    assert not OutgoingMail.objects.exists()


def test_an_import_does_not_move_a_round_back(practice, tiny_folder):
    path = tiny_folder / "task.yaml"
    rounds = (
        '{slug: practice, opens: "2024-05-01 00:00 UTC", closes: "2024-05-08 00:00 UTC", round_days: 7, '
        "scores: at-once, official: best, run_numbers: free}"
    )
    path.write_text(path.read_text().replace("phases:\n", f"phases:\n  - {rounds}\n"))
    import_shared_task(None, tiny_folder, EVALUATION)
    start_rounds(EVALUATION + 30 * DAY)
    moved = Phase.objects.get(slug="practice")
    assert moved.closes > EVALUATION + 30 * DAY
    path.write_text(path.read_text().replace("title: Evaluation,", "title: The evaluation,"))
    import_shared_task(None, tiny_folder, EVALUATION + 30 * DAY)
    assert Phase.objects.get(slug="practice").closes == moved.closes


@pytest.mark.slow
def test_the_nightly_check_counts_each_round_and_no_round_before(practice, meltemi):
    for at in (ENDS - MILLISECOND, ENDS, ENDS + DAY):
        assert accepts(meltemi, at)
    start_rounds(ENDS)
    work_off(ENDS + DAY)
    assert reconcile(meltemi.shared_task, ENDS + DAY) == []
    Quota.objects.filter(day="20240516").update(used=1)
    assert {found.code for found in reconcile(meltemi.shared_task, ENDS + DAY)} == {"quota"}
    assert reconcile(meltemi.shared_task, ENDS + 7 * DAY) == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_uploads_that_race_the_boundary_count_in_one_round_each(practice, meltemi):
    times = [ENDS - MILLISECOND, ENDS]
    for _ in range(3):
        at_once(
            [lambda at=times[1]: start_rounds(at)]
            + [lambda at=at: send_run(meltemi, GOOD, 1, at) for at in times for _ in range(2)]
        )
    found = Counter(Run.objects.filter(team=meltemi).values_list("received_at", flat=True))
    assert found == dict.fromkeys(times, 2)
    practice.refresh_from_db()
    days = [whole_phase(practice, at) for at in times]
    assert days == ["20240509", "20240516"]
    assert [Quota.objects.get(team=meltemi, day=day).used for day in days] == [2, 2]


@pytest.mark.parametrize("at", [datetime(2026, 3, 4, 5, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)])
def test_a_newcomer_can_submit_the_downloaded_file_to_try_agon_at_once(db, client, tmp_path, at):
    folder = build("tryagon", tmp_path)
    shared_task = import_shared_task(None, folder, at).shared_task
    start_rounds(at)
    newcomer, phase = person("Nia"), shared_task.phases.get()
    register_team(newcomer, shared_task, at, name="Nia")
    file = client.get("/tasks/tryagon/data/topics/")
    (name,) = re.findall('filename="(.+)"', file["Content-Disposition"])
    submission = submit(newcomer, phase, at, content=[b"".join(file)], file_name=name)
    work_off(at)
    assert submission.runs.get().state == Run.State.SCORED
    assert phase.closes - at <= 7 * DAY
    (own,) = valid_names(shared_task, shared_task.teams.get(), phase).runs
    assert (own.name, name) == ("tryagon-topics_Nia.csv", "tryagon-topics.csv")


def test_the_task_page_shows_rounds(practice, client):
    page = client.get("/tasks/tiny/evaluation/").content.decode()
    assert "2 per round" in " ".join(page.split())
    assert "Each round lasts 7 days." in page
