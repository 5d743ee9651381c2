"""Phases that accept runs for some of the task's tracks: uploads, limits, boards, baselines, and runs that wait."""

from datetime import timedelta

import pytest
from django.test import Client

from portal.actions.base.errors import ActionError
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.record import reject_outside_phase
from portal.evaluation.sweep import sweep
from portal.models import OutgoingMail, Phase, Quota, Run, SharedTask
from portal.queries.quota import remaining
from portal.queries.runs import team_runs
from portal.queries.uploads import valid_names
from tests.portal.remembered import remembered
from tests.portal.test_import import edit
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POST,
    archive,
    captain,
    check_submission,
    new_team,
    run_file,
    send,
    send_run,
    work_off,
)

LATER = "split: later, scores: at-once"


def listed(folder, tracks):
    """Have the phase without gold list its tracks."""
    edit(folder, LATER, f"tracks: [{tracks}], {LATER}")
    return import_shared_task(None, folder, POST)


@remembered
def narrow(tiny, tiny_folder):
    """The tiny task, whose phase without gold is only for track two."""
    return listed(tiny_folder, "two").shared_task


@remembered
def lira(narrow):
    return new_team(narrow, "Lira")


def phase_of(shared_task: SharedTask):
    return SharedTask.objects.get(pk=shared_task.pk).phases.get(slug="without-gold")


def test_names_limits_baselines_and_boards_know_only_the_tracks_of_the_phase(narrow, lira, client: Client):
    phase = phase_of(narrow)
    assert [line.track.slug for line in remaining(lira, captain(lira), phase, POST)] == ["two"]
    assert [name.track.slug for name in valid_names(narrow, lira, phase).runs] == ["two"]
    assert set(Run.objects.filter(phase=phase).values_list("track__slug", "kind")) == {("two", "gold")} | {
        ("two", "baseline")
    }
    assert client.get("/tasks/tiny/leaderboard/one/?phase=without-gold").status_code == 404
    assert client.get("/tasks/tiny/leaderboard/one/insights/?phase=without-gold").status_code == 404
    one = client.get("/tasks/tiny/leaderboard/one/").content.decode()
    assert "phase=without-gold" not in one
    both = client.get("/tasks/tiny/leaderboard/?phase=without-gold").content.decode()
    assert "leaderboard/one/" not in both
    assert "leaderboard/two/" in both
    (answer,) = [one for one in client.get("/api/v1/tasks/tiny/phases").json() if one["slug"] == "without-gold"]
    assert answer["tracks"] == ["two"]
    assert len(answer["leaderboards"]) == 1
    client.force_login(captain(lira))
    Phase.objects.exclude(pk=phase.pk).update(closes=EVALUATION)
    assert "Without gold accepts runs only for these tracks." in client.get("/tasks/tiny/submit/").content.decode()
    dates = client.get("/tasks/tiny/evaluation/").content.decode()
    assert "Tracks:" in dates


def test_an_upload_for_another_track_is_rejected_and_uses_no_quota(narrow, lira):
    with pytest.raises(ActionError) as raised:
        send_run(lira, GOOD, 1, POST, phase="without-gold")
    (problem,) = raised.value.params["problems"]
    assert (problem["code"], problem["found"], problem["expected"]) == ("track-not-in-phase", "one", "two")
    assert not Quota.objects.filter(team=lira, used__gt=0).exists()
    assert send(lira, "two_Lira_1.json", run_file(GOOD), POST, "without-gold").runs.count() == 1


def test_an_upload_that_has_not_been_checked_when_the_tracks_change_is_rejected(tiny, meltemi, tiny_folder):
    run = send_run(meltemi, GOOD, 1, POST, phase="without-gold")
    listed(tiny_folder, "two")
    check_submission(run.submission.pk, POST)
    run.refresh_from_db()
    run.submission.refresh_from_db()
    assert (run.submission.state, run.state) == ("rejected", "rejected")
    assert [problem["code"] for problem in run.submission.problems] == ["track-not-in-phase"]


def test_waiting_runs_are_rejected_with_a_report_and_their_quota_comes_back(tiny, meltemi, tiny_folder, client: Client):
    alone = send_run(meltemi, GOOD, 1, POST, phase="without-gold")
    files = {f"{track}_Meltemi_2.json": run_file(GOOD) for track in ("one", "two")}
    both = send(meltemi, "tiny_Meltemi.zip", archive(files), POST, "without-gold")
    work_off(POST)
    changes = listed(tiny_folder, "two").changes
    assert "phase without-gold: tracks one, two → two" in changes
    assert "phase without-gold: 2 waiting runs will be rejected" in changes
    sweep(POST + timedelta(hours=1))
    assert not reject_outside_phase(Run.objects.filter(pk=alone.pk).unfinished(), POST), "another sweep was faster"
    kept, gone = both.runs.get(track__slug="two"), both.runs.get(track__slug="one")
    assert [run.state for run in (kept, gone)] == ["valid", "rejected"]
    alone.refresh_from_db()
    both.refresh_from_db()
    alone.submission.refresh_from_db()
    assert (alone.state, alone.submission.state, both.state) == ("rejected", "rejected", "accepted")
    for run in (alone, gone):
        (problem,) = run.problems
        assert (problem["code"], problem["file"], problem["expected"]) == ("track-not-in-phase", run.name, "two")
    quota = Quota.objects.filter(phase__slug="without-gold", used__gt=0)
    assert set(quota.values_list("track__slug", flat=True)) == {"two"}
    mails = OutgoingMail.objects.filter(kind=OutgoingMail.Kind.RUNS_REJECTED)
    assert {mail.submission_id for mail in mails} == {alone.submission_id, both.pk}
    client.force_login(captain(meltemi))
    page = client.get(f"/tasks/tiny/submissions/{both.pk}/")
    assert "does not accept runs for the track" in page.content.decode()
    assert client.get(f"/runs/{gone.pk}/").status_code == 200


def test_a_phase_cannot_lose_a_track_with_scored_runs(tiny, meltemi, tiny_folder):
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    edit(tiny_folder, "split: test, runs_per_track", "tracks: [two], split: test, runs_per_track")
    with pytest.raises(ActionError) as raised:
        import_shared_task(None, tiny_folder, POST)
    assert "one in evaluation (1 run)" in raised.value.message


def test_a_run_without_gold_says_what_it_waits_for(tiny, meltemi, client: Client):
    run = send_run(meltemi, GOOD, 1, POST, phase="without-gold")
    work_off(POST)
    client.force_login(captain(meltemi))
    words = "The organizers haven’t added the gold standard"
    assert words in client.get(f"/tasks/tiny/submissions/{run.submission_id}/").content.decode()
    assert words in client.get(f"/runs/{run.pk}/").content.decode()
    (line,) = team_runs(meltemi, captain(meltemi), POST)
    assert (line.state, line.waits_for_gold, line.is_finished) == ("valid", True, True), "--wait ends here"
    scored = send_run(meltemi, GOOD, 1, POST, phase="post")
    assert words not in client.get(f"/runs/{scored.pk}/").content.decode(), "it waits for a worker, not for gold"
