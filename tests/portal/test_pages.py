"""What the pages are given to show: home, task, limits, runs, one upload, one run."""

from datetime import timedelta

from django.contrib.auth.models import AnonymousUser

from portal.actions.import_shared_task import import_shared_task
from portal.models import Evaluation, Run, Submission
from portal.queries.home import shared_tasks
from portal.queries.organize import run_states
from portal.queries.problems import extent
from portal.queries.quota import remaining
from portal.queries.runs import run_view, submission_view, team_runs
from portal.queries.tasks import task_page
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POST,
    RELEASE,
    archive,
    captain,
    new_team,
    organizer_of,
    queries,
    run_file,
    send,
    send_run,
    work_off,
)

DAY = timedelta(days=1)
STRANGER = AnonymousUser()


def test_home_sorts_tasks_by_what_comes_next(tiny):
    phase = tiny.phases.get(slug="evaluation")
    coming, now, past = (shared_tasks(STRANGER, at) for at in (phase.opens - DAY, EVALUATION, POST))
    assert (coming.coming[0].phase, coming.coming[0].deadline) == (phase, phase.opens)
    assert (now.open[0].deadline, now.open[0].is_taking_runs) == (phase.closes, True)
    assert (past.past[0].deadline, past.past[0].is_taking_runs) == (phase.closes, True)
    between = shared_tasks(STRANGER, phase.closes + DAY).past[0]
    assert (between.is_taking_runs, between.boards) == (False, [])
    assert [track.slug for track in shared_tasks(STRANGER, RELEASE).past[0].boards] == ["one", "two"]


def test_home_counts_teams_and_valid_runs(meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    send_run(meltemi, GOOD[:1], 2, EVALUATION)
    work_off(EVALUATION)
    line = shared_tasks(STRANGER, EVALUATION).open[0]
    assert (len(line.tracks), line.teams, line.runs) == (2, 1, 1)


def test_home_asks_as_much_for_many_tasks_as_for_one(tiny, tiny_folder):
    for_one = queries(lambda: shared_tasks(STRANGER, EVALUATION))
    path = tiny_folder / "task.yaml"
    text = path.read_text()
    for number in range(2, 5):
        path.write_text(text.replace("slug: tiny", f"slug: tiny{number}"))
        copy = import_shared_task(None, tiny_folder, EVALUATION).shared_task
        send_run(new_team(copy, f"Team{number}"), GOOD, 1, EVALUATION)
    assert len(shared_tasks(STRANGER, EVALUATION).open) == 4
    assert queries(lambda: shared_tasks(STRANGER, EVALUATION)) == for_one == 5


def test_task_page_knows_the_readers_part(meltemi):
    shared_task = meltemi.shared_task
    member = task_page(shared_task, captain(meltemi), EVALUATION)
    assert (member.team, member.current_phase.slug, member.next_phase.slug) == (meltemi, "evaluation", "post")
    stranger = task_page(shared_task, STRANGER, POST)
    assert (stranger.team, stranger.is_organizer) == (None, False)
    assert [phase.slug for phase in stranger.open_phases] == ["post", "without-gold"]


def test_limits_that_do_not_exist_are_none(meltemi):
    phase = meltemi.shared_task.phases.get(slug="without-gold")
    assert {(line.limit, line.left) for line in remaining(meltemi, captain(meltemi), phase, POST)} == {(None, None)}


def test_scores_are_on_a_teams_page_only_when_they_are_public(meltemi):  # D49
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    (before,) = team_runs(meltemi, captain(meltemi), RELEASE - DAY)
    assert (before.state, before.scores, before.flags, before.scores_are_hidden) == ("scored", [], [], True)
    assert before.ranking_score is None
    (after,) = team_runs(meltemi, captain(meltemi), RELEASE)
    assert (after.ranking_score.column.key, after.ranking_score.value) == ("accuracy", 0.75)


def test_organizer_sees_a_teams_scores_before(meltemi):
    organizer = organizer_of(meltemi.shared_task, "Organizer")
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    (line,) = team_runs(meltemi, organizer, EVALUATION)
    assert line.ranking_score.value == 0.75


def test_team_page_asks_as_much_for_many_runs_as_for_one(meltemi, django_assert_max_num_queries):
    for number in (1, 2):
        send_run(meltemi, GOOD, number, POST, "post")
    work_off(POST)
    with django_assert_max_num_queries(4):
        assert len(team_runs(meltemi, captain(meltemi), POST)) == 2


def test_upload_is_followed_from_receipt_to_scores(meltemi):
    body = archive({"one_Meltemi_1.json": run_file(GOOD), "two_Meltemi_1.json": run_file(GOOD)})
    submission = send(meltemi, "tiny_Meltemi.zip", body, POST, "post")
    fresh = submission_view(submission, captain(meltemi), POST)
    assert (fresh.state, fresh.finished, fresh.scored, len(fresh.runs)) == ("received", False, 0, 2)
    assert [(line.used, line.limit) for line in fresh.remaining] == [(1, 2), (1, 2)]
    work_off(POST)
    done = submission_view(Submission.objects.get(), captain(meltemi), POST)
    assert (done.state, done.finished, done.scored, done.errors) == ("accepted", True, 2, 0)


def test_rejected_upload_lists_every_problem(meltemi):
    body = archive({"one_Meltemi_1.json": run_file(["MAYBE"]), "two_Meltemi_1.json": b"[", "readme.txt": b"hello"})
    submission = send(meltemi, "tiny_Meltemi.zip", body, EVALUATION)
    work_off(EVALUATION)
    view = submission_view(Submission.objects.get(pk=submission.pk), captain(meltemi), EVALUATION)
    assert (view.state, view.finished) == ("rejected", True)
    assert view.warnings == 1
    assert view.errors == 3  # a label, three missing items, a broken file
    assert extent(view.problems) == "1 label, 3 items"
    assert [bool(line.run.problems) for line in view.runs] == [True, True]


def test_run_page_tells_how_to_do_it_again(meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    run = Run.objects.get(pk=run.pk)
    view = run_view(run, captain(meltemi), RELEASE)
    assert view.command == "agon check --task tiny --team Meltemi one_Meltemi_1.json"
    words = "--task tiny --track one --gold GOLD --items tiny/data/items.txt one_Meltemi_1.json"
    assert view.score_command == f"agon score {words}"
    assert view.evaluation == Evaluation.objects.get(run=run)
    assert run_view(run, captain(meltemi), EVALUATION).evaluation is None


def test_file_names_are_quoted_in_commands(tiny):
    run = Run.objects.filter(name="All yes").first()
    assert run_view(run, STRANGER, POST).command.endswith("--track one 'All yes'")


def test_runs_are_their_teams_and_the_organizers(meltemi):  # B29, B34
    rival, organizer = new_team(meltemi.shared_task, "Sirocco"), organizer_of(meltemi.shared_task)
    run = send_run(meltemi, GOOD, 1, EVALUATION)

    def sees(user):
        in_runs = Run.objects.visible_to(user).filter(pk=run.pk).exists()
        assert in_runs == Submission.objects.visible_to(user).filter(pk=run.submission_id).exists()
        return in_runs

    assert sees(captain(meltemi))
    assert sees(organizer)
    assert not sees(captain(rival))
    assert not sees(STRANGER)
    member = captain(meltemi)
    member.is_active = False
    assert not sees(member)  # B33


def test_baselines_are_everybodys(tiny):
    assert Run.objects.visible_to(STRANGER).count() == Run.objects.count()


def test_organizers_see_the_states_of_runs(meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    states = {(line.phase.slug, line.track.slug): line for line in run_states(meltemi.shared_task)}
    assert len(states) == 6
    assert states["evaluation", "one"].counts == {
        "received": 1, "scoring": 0, "scored": 0, "rejected": 0, "failed": 0,
    }  # fmt: skip
    assert states["evaluation", "one"].has_gold
    assert not states["without-gold", "one"].has_gold
