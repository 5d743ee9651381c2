"""Answers to every item: stored and shown only after the release, if the task publishes them."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.compare import compare_board
from portal.evaluation.items import boards_to_publish, publish_items
from portal.models import Board, GoldItems, Phase, Run, RunItems, SharedTask, items_are_public
from portal.queries.items import ItemTable
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, POOR, POST, RELEASE, captain, new_team, send_run, stored_path, work_off

pytestmark = pytest.mark.postgres

# new dates for the phase `post`, so that it opens before the release
LATER = 'opens: "2024-05-16 00:00 UTC", closes: "2024-05-20 00:00 UTC"'


def work_on_items(at: datetime) -> None:
    """Do all of a worker's pending work on items."""
    while due := boards_to_publish(Board.objects.all(), at):
        for board in Board.objects.select_related("track__shared_task", "phase", "gold").filter(pk__in=due):
            publish_items(board, at)


@pytest.fixture
def published_folder(tiny: SharedTask, tiny_folder: Path) -> Path:
    """The tiny task's folder, which publishes the items of track one since the first import."""
    path = tiny_folder / "task.yaml"
    text = path.read_text().replace("file: gold/one.json}", "file: gold/one.json, published: true}")
    path.write_text(text.replace('opens: "2024-06-01 00:00 UTC", split: test', f"{LATER}, split: test"))
    return tiny_folder


@remembered
def published(tiny: SharedTask, published_folder: Path) -> SharedTask:
    """The task with these items, and a run with three correct answers of four."""
    task = import_shared_task(None, published_folder, EVALUATION).shared_task
    send_run(new_team(task, "Ostro"), GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    return task


def page_of(task: SharedTask, query: str = "") -> str:
    """Return the page of Ostro's run as its captain sees it."""
    client = Client()
    client.force_login(captain(task.teams.get(name="Ostro")))
    run = Run.objects.get(name="one_Ostro_1.json")
    return client.get(f"/runs/{run.pk}/?{query}").content.decode()


def context_of(task: SharedTask, query: str = "") -> ItemTable | None:
    client = Client()
    client.force_login(captain(task.teams.get(name="Ostro")))
    run = Run.objects.get(name="one_Ostro_1.json")
    table: ItemTable | None = client.get(f"/runs/{run.pk}/?{query}").context["table"]
    return table


def missed(task: SharedTask) -> list[str]:
    """Return the items that all of the best runs missed."""
    page = Client().get(f"/tasks/{task.slug}/insights/one/?phase=evaluation")
    found = page.context["insights"].missed
    return [item for ids in found.ids for item in ids] if found else []


@pytest.mark.slow
def test_answers_are_written_down_after_the_release(published: SharedTask) -> None:
    work_on_items(RELEASE)
    gold = GoldItems.objects.get()
    assert (gold.measure, gold.ids) == ("right", ["a", "b", "c", "d"])
    assert gold.answers == [["YES"], ["YES"], ["YES"], ["NO"]]
    rows = {row.evaluation.run.name: row for row in RunItems.objects.all()}
    assert rows["one_Ostro_1.json"].answers == [["YES"], ["YES"], ["NO"], ["NO"]]
    assert rows["one_Ostro_1.json"].values == [1, 1, 0, 1]
    assert rows["All yes"].values == [1, 1, 1, 0]
    assert boards_to_publish(Board.objects.all(), RELEASE) == []


@pytest.mark.slow
def test_nothing_is_written_or_shown_before_the_release(published: SharedTask) -> None:
    assert boards_to_publish(Board.objects.all(), EVALUATION) == []
    work_on_items(RELEASE)
    Phase.objects.filter(slug="evaluation").update(released=None)
    assert "Items</h2>" not in page_of(published)
    assert missed(published) == []
    work_on_items(RELEASE)  # the release has been canceled
    assert not RunItems.objects.exists()
    assert not GoldItems.objects.exists()


@pytest.mark.slow
def test_nothing_is_written_or_shown_unless_the_task_publishes_its_items(tiny: SharedTask) -> None:
    send_run(new_team(tiny, "Ostro"), GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    assert boards_to_publish(Board.objects.all(), POST) == []
    for board in Board.objects.select_related("track__shared_task", "phase", "gold").filter(gold__isnull=False):
        publish_items(board, POST)
    assert not RunItems.objects.exists()
    assert "Items</h2>" not in page_of(tiny)


@pytest.mark.slow
def test_items_are_public_once_every_phase_that_scores_them_has_closed_with_public_scores(
    published: SharedTask,
) -> None:
    track, post = published.tracks.get(slug="one"), Phase.objects.filter(slug="post")

    def is_public(at: datetime = POST) -> bool:
        return items_are_public(track, "test", at)

    assert is_public(RELEASE)
    assert not items_are_public(published.tracks.get(slug="two"), "test", RELEASE)
    for hidden in ({"scores": "on-release"}, {"scores": "never"}, {"scores": "at-once", "closes": POST + timedelta(1)}):
        post.update(**hidden)
        assert not is_public()
    post.update(closes=None)
    assert not is_public()
    post.update(closes=POST)
    assert not is_public(POST - timedelta(microseconds=1))
    assert is_public()
    team = published.teams.get(name="Ostro")
    extra = {"reason": "an outage", "granted_by": captain(team), "granted_at": RELEASE}
    post.get().extra_times.create(team=team, until=POST + timedelta(hours=1), **extra)
    assert not is_public()
    assert is_public(POST + timedelta(hours=1))


@pytest.mark.slow
def test_the_run_s_page_has_its_items_and_filters_them(published: SharedTask) -> None:
    work_on_items(RELEASE)
    whole = page_of(published)
    assert "3 of 4 items correct" in whole
    table = context_of(published, "items=wrong")
    assert [(item.id, item.gold, item.answers[0].parts) for item in table.items] == [("c", ["YES"], ["NO"])]
    assert [item.id for item in context_of(published, "label=NO").items] == ["c", "d"]
    assert len(context_of(published, "label=nonsense&page=9&items=other").items) == 4


@pytest.mark.slow
def test_runs_are_compared_item_by_item(published: SharedTask) -> None:
    send_run(new_team(published, "Bora"), POOR, 1, EVALUATION)
    work_off(EVALUATION)
    address = "/tasks/tiny/insights/one/compare/?phase=evaluation&run=Ostro&run=Bora"
    assert Client().get(address).context["table"] is None
    work_on_items(RELEASE)
    table = Client().get(address).context["table"]
    assert (table.runs, table.right) == (["Ostro", "Bora"], [3, 1])
    assert [item.id for item in table.items] == ["a", "b"]  # only items that the two runs answer differently
    assert [item.id for item in Client().get(f"{address}&items=missed").context["table"].items] == ["c"]
    assert missed(published) == []
    for name in ("Sirocco", "Notus"):
        send_run(new_team(published, name), POOR, 1, EVALUATION)
    work_off(EVALUATION)
    compare_board(Board.objects.get(track__slug="one", phase__slug="evaluation"), RELEASE)
    work_on_items(RELEASE)
    assert missed(published) == ["c"]


@pytest.mark.slow
def test_a_run_whose_file_is_away_is_tried_until_it_is_back(published: SharedTask) -> None:
    file = stored_path(Run.objects.get(name="one_Ostro_1.json").file_sha256)
    away = file.rename(file.with_suffix(".away"))
    for hours in range(9):
        work_on_items(RELEASE + timedelta(hours=hours))
    assert RunItems.objects.unread().get().failures == 0
    away.rename(file)
    work_on_items(RELEASE + timedelta(hours=9))
    assert "couldn’t be read" not in page_of(published)


@pytest.mark.slow
def test_a_run_that_cannot_be_read_is_not_tried_for_ever(published: SharedTask) -> None:
    ours = Run.objects.filter(name="one_Ostro_1.json")
    ours.update(entry="not there")
    work_on_items(RELEASE)
    assert [row.evaluation.run.name for row in RunItems.objects.unread()] == ["one_Ostro_1.json"]
    assert context_of(published) is None
    assert "can’t be shown because they couldn’t be read" in page_of(published)
    for hours in range(1, 9):
        work_on_items(RELEASE + timedelta(hours=hours))
    assert RunItems.objects.unread().get().failures == 3
    RunItems.objects.unread().update(failures=2)
    ours.update(entry="")
    work_on_items(RELEASE + timedelta(hours=9))
    assert "3 of 4 items correct" in page_of(published)
    assert "couldn’t be read" not in page_of(published)
