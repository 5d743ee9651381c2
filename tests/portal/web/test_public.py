"""Calendars, feeds and files for search engines."""

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.test import Client

from portal.jobs import refresh_board
from portal.markdown import contents, render
from portal.models import Board, ReleasedBoard, SharedTask, Team
from portal.models.clock import database_now
from portal.web.calendar import as_ics
from portal.web.views import public
from scoring import __version__ as scorer_version
from tests.portal.world import EVALUATION, GOOD, PERFECT, POOR, new_team, send_run, work_off

ATOM = "{http://www.w3.org/2005/Atom}"


def release(meltemi: Team) -> ReleasedBoard:
    """Score runs from two teams, have a worker save the released board, and return it."""
    for team, values in ((meltemi, GOOD), (new_team(meltemi.shared_task, "Ostro"), POOR)):
        send_run(team, values, 1, EVALUATION)
    work_off(EVALUATION)
    refresh_board(str(Board.objects.get(track__slug="one", phase__slug="evaluation").pk))
    return ReleasedBoard.objects.get()


def test_the_calendar_has_every_date_and_closes_on_the_day_that_ends(anybody: Client, tiny: SharedTask) -> None:
    tiny.phases.filter(slug="evaluation").update(title="Final; all, tracks")
    for address in ("/calendar.ics", "/tasks/tiny/calendar.ics"):
        response = anybody.get(address)
        assert response["Content-Type"] == "text/calendar; charset=utf-8"
        lines = response.content.decode().split("\r\n")
        assert all(len(line.encode()) <= 75 for line in lines)
        assert "DTSTART:20240516T000000Z" in lines  # the phase closes at midnight UTC, not AoE
        assert "SUMMARY:Tiny: Final\\; all\\, tracks closes" in lines
        assert lines.count("BEGIN:VEVENT") == 5  # three openings, one deadline and one release
        assert anybody.get(address).content == response.content


@pytest.mark.slow
def test_a_released_board_has_an_address_and_never_changes(anybody: Client, meltemi: Team) -> None:
    kept = release(meltemi)
    address = "/tasks/tiny/leaderboard/one/evaluation/1/"
    before = anybody.get(address).content
    assert kept.at == meltemi.shared_task.phases.get(slug="evaluation").released
    assert b"permanent page" in before
    rows = json.loads(anybody.get(f"{address}?format=json").content)["rows"]
    assert [(row["rank"], row["team"]) for row in rows if row["kind"] == "team"] == [(1, "Meltemi"), (2, "Ostro")]
    meltemi.runs.update(name="another.json")
    refresh_board(str(Board.objects.get(track__slug="one", phase__slug="evaluation").pk))
    assert anybody.get(address).content == before
    assert ReleasedBoard.objects.count() == 1


@pytest.mark.slow
def test_a_board_that_was_released_before_rows_had_all_that_they_have_now_still_opens(
    anybody: Client, meltemi: Team
) -> None:
    kept = release(meltemi)
    for row in kept.content["rows"]:
        del row["slot"]
    kept.save()
    assert anybody.get("/tasks/tiny/leaderboard/one/evaluation/1/").status_code == 200


@pytest.mark.slow
def test_a_release_that_was_taken_back_is_nowhere(anybody: Client, meltemi: Team) -> None:
    release(meltemi)
    assert b"evaluation/1/" in anybody.get("/sitemap.xml").content
    meltemi.shared_task.phases.filter(slug="evaluation").update(released=None)
    assert anybody.get("/tasks/tiny/leaderboard/one/evaluation/1/").status_code == 404
    for address in ("/releases.atom", "/tasks/tiny/releases.atom", "/sitemap.xml"):
        assert b"evaluation/1/" not in anybody.get(address).content


@pytest.mark.slow
def test_nothing_is_kept_before_the_release(meltemi: Team) -> None:
    meltemi.shared_task.phases.update(released=None)
    send_run(meltemi, PERFECT, 1, EVALUATION)
    work_off(EVALUATION)
    refresh_board(str(Board.objects.get(track__slug="one", phase__slug="evaluation").pk))
    assert not ReleasedBoard.objects.exists()


@pytest.mark.slow
def test_the_feed_names_each_release(anybody: Client, meltemi: Team) -> None:
    release(meltemi)
    for address in ("/releases.atom", "/tasks/tiny/releases.atom"):
        (entry,) = ElementTree.fromstring(anybody.get(address).content).findall(f"{ATOM}entry")
        assert entry.findtext(f"{ATOM}title") == "Tiny: Track one, Evaluation, release 1"
        assert entry.findtext(f"{ATOM}summary") == f"gold version 1, scorer {scorer_version}"


def test_search_engines_find_the_pages_and_their_meaning(anybody: Client, tiny: SharedTask) -> None:
    assert b"Sitemap: http" in anybody.get("/robots.txt").content
    assert b"/tasks/tiny/leaderboard/one/</loc>" in anybody.get("/sitemap.xml").content
    tiny.title = "Tiny </script><b>"
    tiny.save()
    text = anybody.get("/tasks/tiny/").content.decode()
    (block,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text)
    assert json.loads(block)["name"] == "Tiny </script><b>"
    assert 'property="og:title" content="Tiny &lt;/script&gt;&lt;b&gt;"' in text
    assert "@misc{tiny," in text


def test_home_finds_tasks_by_words_language_and_year(anybody: Client, tiny: SharedTask) -> None:
    SharedTask.objects.create(slug="later", title="Later", year=2025, languages=["es"], imported_at=database_now())

    def found(query: str) -> list[str]:
        lists = anybody.get(f"/?{query}").context["lists"]
        return [line.task.slug for line in (*lists.open, *lists.upcoming, *lists.ended)]

    assert found("") == ["tiny", "later"]
    assert found("search=tests+2024") == ["tiny"]
    assert found("language=es") == ["later"]
    assert found("year=2024") == ["tiny"]
    assert "No tasks match your search" in anybody.get("/?search=nothing").content.decode()


def test_a_text_has_a_table_of_contents_whose_anchors_are_its_own() -> None:
    text = "# T\n\n## Main *thing*\n\n## main\n\n## <script>\n"
    assert [heading.words for heading in contents(text)] == ["Main thing", "main", "<script>"]
    assert [f'id="{heading.anchor}"' in render(text) for heading in contents(text)] == [True] * 3
    assert [heading.anchor for heading in contents(text)][:2] == ["s1-main-thing", "s2-main"]


def test_a_calendar_is_named_after_its_task_and_known_by_its_slug(tiny: SharedTask, client: Client) -> None:
    SharedTask.objects.update(title="Tiny; one, two")
    lines = client.get("/tasks/tiny/calendar.ics").content.decode().split("\r\n")
    assert {"NAME:Tiny\\; one\\, two", "X-WR-CALNAME:Tiny\\; one\\, two"} <= set(lines)
    host = settings.PUBLIC_URL.partition("://")[2]
    assert lines.count(f"UID:tiny@{host}") == 1


def test_a_title_of_two_lines_is_one_in_the_calendar(tiny: SharedTask, client: Client) -> None:
    SharedTask.objects.update(title="Two\nlines")
    for address in ("/calendar.ics", "/tasks/tiny/calendar.ics"):
        assert "SUMMARY:Two lines: " in client.get(address).content.decode()


def test_a_calendar_is_written_again_only_when_a_date_changes(
    tiny: SharedTask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []

    def noted(*given: Any) -> bytes:
        written.append(given)
        return as_ics(*given)

    monkeypatch.setattr(public, "as_ics", noted)
    first = client.get("/calendar.ics").content
    assert client.get("/calendar.ics").content == first
    assert len(written) == 1
    tiny.phases.filter(slug="post").update(opens=EVALUATION)
    assert client.get("/calendar.ics").content != first
    assert len(written) == 2
