"""Public pages."""

import csv
import io
import tomllib
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client

from portal import __version__
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import SharedTask, Team
from portal.permissions import Obstacle
from portal.queries.public import described
from portal.web.datasets import AccessStep
from tests.conftest import ROOT
from tests.portal.remembered import remembered
from tests.portal.world import GOOD, PERFECT, POST, captain, send_run, work_off

TABS = ["", "data/", "evaluation/", "terms/", "leaderboard/one/", "team/"]


@remembered
def ranked(meltemi: Team) -> SharedTask:
    """A shared task with two scored runs by Meltemi in an open phase."""
    send_run(meltemi, GOOD, 1, POST, "post")
    send_run(meltemi, PERFECT, 2, POST, "post")
    work_off(POST)
    return meltemi.shared_task


def test_home_lists_the_task_and_says_how_to_take_part(anybody: Client, tiny: SharedTask) -> None:
    text = anybody.get("/").content.decode()
    assert "Tiny" in text
    assert "Create an account" in text


def test_the_home_page_of_a_demo_says_that_tasks_are_loading(
    anybody: Client, db: None, settings: Any, tmp_path: Path
) -> None:
    settings.DEMO_IS_LOADING = tmp_path / "loading"
    settings.DEMO_IS_LOADING.touch()
    assert "still loading" not in anybody.get("/").content.decode()  # not the demo
    settings.DEMO = True
    text = anybody.get("/", {"search": "a&b"}).content.decode()
    assert "The demo’s sample tasks are still loading" in text
    assert "There are no shared tasks yet." not in text
    assert 'hx-get="/?seen=&amp;search=a%26b"' in text
    settings.DEMO_IS_LOADING.unlink()
    text = anybody.get("/").content.decode()
    assert "still loading" not in text
    assert "hx-get" not in text


def test_the_address_of_a_form_explains_itself(meltemi: Team) -> None:
    client = Client()
    client.force_login(captain(meltemi))
    answer = client.get("/tasks/tiny/validate/")  # where people arrive who sign in again to validate a file
    assert answer.status_code == 405
    assert answer["Allow"] == "POST"
    assert "This page can’t be opened directly" in answer.content.decode()


def test_a_step_does_not_repeat_the_link_next_to_it() -> None:
    step = AccessStep(str(Obstacle.SIGNED_OUT.label), "/accounts/login/", "Sign in")
    assert step.reason == "Only members of a team can download this file."


def test_ended_tasks_are_listed_newest_first(anybody: Client, db: None) -> None:
    for year in (2024, 2025):
        SharedTask.objects.create(slug=f"task-{year}", title="Task", year=year, imported_at=POST)
    ended = anybody.get("/").context["lists"].ended
    assert [line.task.year for line in ended] == [2025, 2024]


def test_home_says_what_is_next_for_a_team(sender: Client) -> None:
    text = sender.get("/").content.decode()
    assert "Next steps for Meltemi" in text
    assert "Upload runs" in text


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_is_open_to_anybody(anybody: Client, tiny: SharedTask, tab: str) -> None:
    assert anybody.get(f"/tasks/tiny/{tab}").status_code == 200


@pytest.mark.parametrize("tab", TABS)
def test_tabs_cannot_be_written_to(anybody: Client, tiny: SharedTask, tab: str) -> None:
    expected = 302 if tab == "team/" else 405  # creating a team requires signing in
    assert anybody.post(f"/tasks/tiny/{tab}").status_code == expected


CONTACT = """
contact: {address: us@uni.example, mailing_list: "https://uni.example/list?a=1&b=2", link: "https://uni.example/forum"}
"""


@pytest.mark.slow
def test_every_page_of_a_task_says_how_to_reach_its_organizers(anybody: Client, db: None, tiny_folder: Path) -> None:
    import_shared_task(None, tiny_folder, POST)
    assert "us@uni.example" not in anybody.get("/tasks/tiny/").content.decode()
    with (tiny_folder / "task.yaml").open("a") as file:
        file.write(CONTACT)
    import_shared_task(None, tiny_folder, POST)
    for tab in TABS:
        text = anybody.get(f"/tasks/tiny/{tab}").content.decode()
        assert '<a href="mailto:us@uni.example">us@uni.example</a>' in text
        assert 'Mailing list: <a href="https://uni.example/list?a=1&amp;b=2"' in text
        assert 'href="https://uni.example/forum"' in text
    assert "us@uni.example" not in anybody.get("/").content.decode()


ORGANIZERS = """
organizers:
  - {name: "O. & O'Hara", affiliation: "Uni <b>", link: "https://uni.example/?a=1&b=2", address: oana@uni.example}
  - {name: "Winds, Inc."}
"""


@pytest.mark.slow
def test_the_overview_and_the_citation_name_the_organizers(anybody: Client, db: None, tiny_folder: Path) -> None:
    with (tiny_folder / "task.yaml").open("a") as file:
        file.write(ORGANIZERS)
    task = import_shared_task(None, tiny_folder, POST).shared_task
    page = anybody.get("/tasks/tiny/").content.decode()
    assert '<a href="https://uni.example/?a=1&amp;b=2" rel="nofollow">O. &amp; O&#x27;Hara</a>' in page
    assert '<span class="soft">· Uni &lt;b&gt;</span>' in page
    assert '<a href="mailto:oana@uni.example">oana@uni.example</a>' in page
    assert "author = {O. \\& O'Hara and {Winds, Inc.}}" in anybody.get("/tasks/tiny/references.bib").content.decode()
    assert described(task, "https://agon.example/")[0]["organizer"][1] == {"@type": "Person", "name": "Winds, Inc."}


@pytest.mark.parametrize(
    "path", ["/tasks/none/", "/tasks/tiny/leaderboard/none/", "/tasks/tiny/data/none/", "/nowhere/"]
)
def test_what_is_not_there_is_said_so_with_a_way_on(anybody: Client, tiny: SharedTask, path: str) -> None:
    response = anybody.get(path)
    assert response.status_code == 404
    assert "All shared tasks" in response.content.decode()


def test_the_page_for_our_errors_needs_neither_request_nor_database() -> None:
    assert "an error on our side" in render_to_string("500.html")


def test_healthz(anybody: Client, db: None) -> None:
    status, _time, program, version, revision = anybody.get("/healthz").content.decode().split()
    assert (status, program, version, revision) == ("ok", "agon", __version__, settings.REVISION[:12])
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert version == stated
    assert f"## {version.partition('.dev')[0]}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_policy_of_every_page_forbids_inline_code(anybody: Client, tiny: SharedTask) -> None:
    policy = anybody.get("/")["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.slow
def test_the_board_ranks_the_official_run_and_places_the_references(anybody: Client, ranked: SharedTask) -> None:
    response = anybody.get("/tasks/tiny/leaderboard/one/?phase=post")
    assert [(row.rank, row.name) for row in response.context["board"].rows] == [
        (None, "Gold Standard"),
        (1, "one_Meltemi_2.json"),
        (None, "All yes"),
    ]
    text = response.content.decode()
    assert 'aria-sort="descending"' in text
    assert "1.0000" in text


def test_filters_are_in_the_address(anybody: Client, ranked: SharedTask) -> None:
    def names(query: str) -> list[str]:
        rows = anybody.get(f"/tasks/tiny/leaderboard/one/?phase=post&{query}").context["board"].rows
        return [row.name for row in rows]

    assert names("runs=all") == ["one_Meltemi_2.json", "one_Meltemi_1.json"]
    assert names("runs=official&baselines=1") == ["Gold Standard", "one_Meltemi_2.json", "All yes"]
    assert names("runs=all&sort=accuracy") == ["one_Meltemi_1.json", "one_Meltemi_2.json"]
    assert names("runs=all&search=melt") == ["one_Meltemi_2.json", "one_Meltemi_1.json"]
    assert names("runs=all&search=zeno") == []
    assert len(names("sort=no-such-metric")) == 3


def test_a_click_on_a_head_turns_the_order_round(anybody: Client, ranked: SharedTask) -> None:
    def links(query: str) -> dict[str, tuple[str, str]]:
        heads = anybody.get(f"/tasks/tiny/leaderboard/one/?phase=post{query}").context["heads"]
        return {head.column.key: (head.sorted, head.link) for head in heads}

    assert links("")["accuracy"] == ("descending", "accuracy")
    assert links("&sort=accuracy")["accuracy"] == ("ascending", "-accuracy")
    by_another = links("&sort=-f1_macro")
    assert (by_another["accuracy"], by_another["f1_macro"]) == (("", "-accuracy"), ("descending", "f1_macro"))


def test_a_team_that_is_not_there_gets_a_way_back(anybody: Client, ranked: SharedTask) -> None:
    text = anybody.get("/tasks/tiny/leaderboard/one/?phase=post&runs=official&search=%3Cb%3E").content.decode()
    assert "Show all" in text
    assert "<b>”" not in text


def test_scores_before_the_release_are_not_shown(anybody: Client, sender: Client, meltemi: Team) -> None:
    phases = meltemi.shared_task.phases.filter(slug="evaluation")
    phases.update(released=None)
    for reader in (anybody, sender):
        text = reader.get("/tasks/tiny/leaderboard/one/?phase=evaluation").content.decode()
        assert "are hidden until the organizers release them" in text
        assert "All yes" not in text
        csv_file = reader.get("/tasks/tiny/leaderboard/one/?phase=evaluation&format=csv").content.decode()
        assert len(csv_file.splitlines()) == 1  # only the header


def test_the_csv_has_full_precision_and_the_versions(anybody: Client, ranked: SharedTask) -> None:
    response = anybody.get("/tasks/tiny/leaderboard/one/?phase=post&format=csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert rows[1]["team"] == "Meltemi"
    assert rows[1]["gold_version"] == "1"
    assert float(rows[2]["accuracy"]) == 0.75


def test_the_json_says_what_made_it(anybody: Client, ranked: SharedTask) -> None:
    body = anybody.get("/tasks/tiny/leaderboard/one/?phase=post&format=json").json()
    assert (body["track"], body["phase"], body["rank_by"], body["gold_version"]) == ("one", "post", "accuracy", 1)
    assert body["rows"][1]["rank"] == 1


def test_a_name_that_is_a_formula_is_defused_in_csv(anybody: Client, ranked: SharedTask) -> None:
    ranked.teams.update(name="=cmd()")
    rows = anybody.get("/tasks/tiny/leaderboard/one/?phase=post&format=csv").content.decode()
    assert "'=cmd()" in rows
