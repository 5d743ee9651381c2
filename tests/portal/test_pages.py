"""The data behind pages: the home page, a task, its limits, a team's runs, an upload and a run."""

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Evaluation, Run, SharedTask, Submission
from portal.queries.home import TaskFilter, home_lists
from portal.queries.organize import run_states
from portal.queries.problems import extent
from portal.queries.quota import remaining
from portal.queries.runs import run_view, submission_view, team_runs
from portal.queries.task_folder import home_command
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
    person,
    queries,
    run_file,
    send,
    send_run,
    work_off,
)

pytestmark = pytest.mark.postgres

DAY = timedelta(days=1)
STRANGER = AnonymousUser()


def task_with(slug: str, year: int, *windows: tuple[datetime, datetime | None]) -> SharedTask:
    """Create a task without tracks, but with a phase for each of `windows`."""
    task = SharedTask.objects.create(slug=slug, title=slug, year=year, imported_at=POST)
    for position, (opens, closes) in enumerate(windows):
        task.phases.create(
            slug=f"p{position}", title="Phase", position=position, opens=opens, closes=closes, split="test"
        )
    return task


def test_home_groups_tasks_by_what_a_reader_can_do(db):
    task = task_with("task", 2024, (POST, POST + DAY), (POST + 3 * DAY, POST + 4 * DAY))
    first, second = task.phases.all()
    (upcoming,) = home_lists(STRANGER, POST - DAY).upcoming
    assert (upcoming.phase, upcoming.deadline) == (first, first.opens)
    (running,) = home_lists(STRANGER, POST).open
    assert (running.phase, running.deadline) == (first, first.closes)
    assert home_lists(STRANGER, POST + 2 * DAY).upcoming[0].phase == second
    (ended,) = home_lists(STRANGER, POST + 5 * DAY).ended
    assert (ended.phase, ended.deadline, ended.boards) == (second, second.closes, [])


def test_home_links_boards_that_everyone_may_see(tiny):
    assert home_lists(STRANGER, EVALUATION).open[0].boards == []
    assert [track.slug for track in home_lists(STRANGER, RELEASE).upcoming[0].boards] == ["one", "two"]


def test_a_task_that_stays_open_is_listed_as_open(db):
    """It comes after tasks with a deadline."""
    task_with("staying", 2025, (POST - 2 * DAY, POST - DAY), (POST - DAY, None))
    task_with("closing", 2024, (POST, POST + DAY))
    assert [(line.task.slug, line.deadline) for line in home_lists(STRANGER, POST).open] == [
        ("closing", POST + DAY),
        ("staying", None),
    ]


def test_home_sorts_in_the_database_as_each_task_says(db):
    """SQL computes the order, but Python computes the states and dates, so the two must agree."""
    for number in range(24):
        opens = POST + (number % 4 - 2) * DAY
        closes = None if number % 5 == 0 else opens + (1 + number % 2) * DAY
        task = task_with(f"t{number}", 2020 + number % 3, (opens, closes))
        if number % 3 == 0 and closes:
            extra = {"granted_by": person(f"p{number}"), "granted_at": POST}
            task.phases.get().extra_times.create(until=closes + 2 * DAY, **extra)
    pages = [home_lists(STRANGER, POST, page=page) for page in "123"]
    assert [len(page.page) for page in pages] == [10, 10, 4]
    for page in pages:
        assert [line.task.pk for line in (*page.open, *page.upcoming, *page.ended)] == list(page.page)
    for state in ("open", "upcoming"):
        moments = [line.deadline for page in pages for line in getattr(page, state)]
        known = [moment for moment in moments if moment]
        assert len(known) > 4
        assert moments == sorted(known) + [None] * (len(moments) - len(known))


def test_home_finds_tasks_by_word_language_and_year(tiny):
    tiny.languages = ["en", "es"]
    tiny.save()
    SharedTask.objects.create(slug="later", title="Irony & co.", venue="IberLEF", year=tiny.year + 1, imported_at=POST)

    def found(**wanted: str) -> list[str]:
        lists = home_lists(STRANGER, POST, TaskFilter(**wanted))
        return [line.task.slug for line in (*lists.open, *lists.upcoming, *lists.ended)]

    assert found(words="TIN") == found(language="es") == found(year=str(tiny.year)) == ["tiny"]
    assert found(words="iberlef") == ["later"]
    assert found(language="e") == found(year="x") == found(words="%") == []
    lists = home_lists(STRANGER, POST, TaskFilter(words="nothing"))
    assert (lists.languages, lists.years, lists.count) == (["en", "es"], [tiny.year + 1, tiny.year], 0)


@pytest.mark.slow
def test_home_counts_teams_and_valid_runs(meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    send_run(meltemi, GOOD[:1], 2, EVALUATION)
    work_off(EVALUATION)
    line = home_lists(STRANGER, EVALUATION).open[0]
    assert (len(line.tracks), line.teams, line.runs) == (2, 1, 1)


@pytest.mark.slow
def test_home_asks_as_much_for_many_tasks_as_for_one(tiny, tiny_folder):
    for_one = queries(lambda: home_lists(STRANGER, EVALUATION))
    path = tiny_folder / "task.yaml"
    text = path.read_text()
    for number in range(2, 5):
        path.write_text(text.replace("slug: tiny", f"slug: tiny{number}"))
        copy = import_shared_task(None, tiny_folder, EVALUATION).shared_task
        send_run(new_team(copy, f"Team{number}"), GOOD, 1, EVALUATION)
    assert len(home_lists(STRANGER, EVALUATION).open) == 4
    assert queries(lambda: home_lists(STRANGER, EVALUATION)) == for_one == 8


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


@pytest.mark.slow
def test_scores_are_on_a_teams_page_only_when_they_are_public(meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    (before,) = team_runs(meltemi, captain(meltemi), RELEASE - DAY)
    assert (before.state, before.scores, before.flags, before.scores_are_hidden) == ("valid", [], [], True)
    assert before.ranking_score is None
    (after,) = team_runs(meltemi, captain(meltemi), RELEASE)
    assert (after.ranking_score.column.key, after.ranking_score.value) == ("accuracy", 0.75)


@pytest.mark.slow
def test_organizer_sees_a_teams_scores_before(meltemi):
    organizer = organizer_of(meltemi.shared_task, "Organizer")
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    (line,) = team_runs(meltemi, organizer, EVALUATION)
    assert line.ranking_score.value == 0.75


@pytest.mark.slow
def test_team_page_asks_as_much_for_many_runs_as_for_one(meltemi, django_assert_max_num_queries):
    for number in (1, 2):
        send_run(meltemi, GOOD, number, POST, "post")
    work_off(POST)
    with django_assert_max_num_queries(4):
        assert len(team_runs(meltemi, captain(meltemi), POST)) == 2


@pytest.mark.slow
def test_upload_is_followed_from_receipt_to_scores(meltemi):
    body = archive({"one_Meltemi_1.json": run_file(GOOD), "two_Meltemi_1.json": run_file(GOOD)})
    submission = send(meltemi, "tiny_Meltemi.zip", body, POST, "post")
    fresh = submission_view(submission, captain(meltemi), POST)
    assert (fresh.state, fresh.finished, fresh.scored, len(fresh.runs)) == ("received", False, 0, 2)
    assert [(line.used, line.limit) for line in fresh.remaining] == [(1, 2), (1, 2)]
    work_off(POST)
    done = submission_view(Submission.objects.get(), captain(meltemi), POST)
    assert (done.state, done.finished, done.scored, done.errors) == ("accepted", True, 2, 0)


@pytest.mark.slow
def test_rejected_upload_lists_every_problem(meltemi):
    body = archive({"one_Meltemi_1.json": run_file(["MAYBE"]), "two_Meltemi_1.json": b"[", "readme.txt": b"hello"})
    submission = send(meltemi, "tiny_Meltemi.zip", body, EVALUATION)
    work_off(EVALUATION)
    view = submission_view(Submission.objects.get(pk=submission.pk), captain(meltemi), EVALUATION)
    assert (view.state, view.finished) == ("rejected", True)
    assert view.warnings == 1
    assert view.errors == 3  # an invalid label, three missing items, and a broken file
    assert extent(view.problems) == "1 label, 3 items"
    assert [bool(line.run.problems) for line in view.runs] == [True, True]


@pytest.mark.slow
def test_run_page_says_how_to_do_it_again(meltemi):
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
    assert home_command("check", tiny, "test", "All yes.json") == "agon check --task tiny 'All yes.json'"


def test_the_page_of_a_baseline_has_no_commands_because_a_baseline_has_no_file_name(tiny, client):
    run = Run.objects.filter(name="All yes", track__slug="one").first()
    view = run_view(run, STRANGER, POST)
    assert (view.command, view.score_command) == ("", "")
    assert "agon check" not in client.get(f"/runs/{run.pk}/").text


def test_runs_are_their_teams_and_the_organizers(meltemi):
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
    assert not sees(member)


def test_baselines_are_everybodys(tiny):
    assert Run.objects.visible_to(STRANGER).count() == Run.objects.count()


def test_organizers_see_the_states_of_runs(meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    states = {(line.phase.slug, line.track.slug): line for line in run_states(meltemi.shared_task)}
    assert len(states) == 6
    assert states["evaluation", "one"].counts == {
        "received": 1, "valid": 0, "scored": 0, "rejected": 0, "failed": 0,
    }  # fmt: skip
    assert states["evaluation", "one"].has_gold
    assert not states["without-gold", "one"].has_gold
