"""The API returns what the pages show, under the same access rules."""

import csv
import io
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.hashers import make_password
from django.core.cache import caches
from django.test import Client

from portal.actions.announcements import publish_announcement
from portal.actions.approval import approve_team
from portal.actions.teams import register_team
from portal.actions.uploads.validate_only import validate_only
from portal.models import Announcement, Board, Download, OutgoingMail, Phase, Run, Team
from portal.queries.boards.releases import keep_release
from tests.portal.api.test_requests import problem
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POOR,
    RELEASE,
    captain,
    new_team,
    organizer_of,
    person,
    queries,
    run_file,
    send,
    send_run,
    sign,
    work_off,
)

pytestmark = pytest.mark.postgres

BOARD = "/tasks/tiny/leaderboards/one"


@remembered
def runs(meltemi):
    for number, values in enumerate([GOOD, PERFECT, POOR], start=1):
        send_run(meltemi, values, number, EVALUATION + timedelta(minutes=number))
    work_off(EVALUATION)
    return list(Run.objects.filter(team=meltemi).order_by("number"))


@pytest.fixture
def member(meltemi):
    return Script(captain(meltemi), "read")


@pytest.mark.slow
def test_a_task_with_its_tracks_phases_and_limits(meltemi, member):
    send_run(meltemi, GOOD, 1, EVALUATION)
    task = member("/tasks/tiny").json()
    assert [track["slug"] for track in task["tracks"]] == ["one", "two"]
    assert task["your_team"] == "Meltemi"
    phases = {one["slug"]: one for one in member("/tasks/tiny/phases").json()}
    assert [slug for slug, one in phases.items() if one["is_open"]] == ["evaluation"]
    assert phases["evaluation"]["limits"][0]["used"] == 1
    assert Script()(phases["evaluation"]["leaderboards"][0]).status_code == 200
    assert not Script()("/tasks/tiny/phases").json()[0]["limits"]


@pytest.mark.slow
def test_own_team_submissions_and_runs(meltemi, runs, member):
    assert member("/tasks/tiny/team").json()["members"][0]["is_captain"]
    first, second = (member(f"/tasks/tiny/runs?limit=2{cursor}") for cursor in ("", ""))
    assert [one["number"] for one in first.json()["items"]] == [3, 2]
    rest = member(second.json()["next"].partition("8000")[2]).json()
    assert [one["number"] for one in rest["items"]] == [1]
    found = member(f"/tasks/tiny/submissions/{runs[0].submission_id}").json()
    assert (found["state"], found["is_finished"], found["runs"][0]["id"]) == ("accepted", True, str(runs[0].pk))
    assert len(member("/tasks/tiny/submissions").json()["items"]) == 3
    assert member("/tasks/tiny/runs?track=two").json()["items"] == []
    assert member(f"/tasks/tiny/runs/{runs[0].pk}/file").content == run_file(GOOD)
    assert member(f"/tasks/tiny/submissions/{runs[0].submission_id}/report").json()["ok"]


def test_who_only_reads_invites_no_one(meltemi, member):
    assert member("/tasks/tiny/team").json()["invitation_code"] is None
    assert Script(captain(meltemi))("/tasks/tiny/team").json()["invitation_code"] == meltemi.invitation_code


def test_receipts_are_those_of_the_pages(meltemi, runs, member):
    client = Client()
    client.force_login(captain(meltemi))
    page = client.get(f"/tasks/tiny/submissions/{runs[0].submission_id}/receipt.json")
    assert member(f"/tasks/tiny/submissions/{runs[0].submission_id}/receipt").content == page.content


def test_no_one_reads_what_others_sent(tiny, runs):
    other = Script(captain(new_team(tiny, "Notus")))
    run = runs[0]
    for path in (
        f"/tasks/tiny/runs/{run.pk}",
        f"/tasks/tiny/runs/{run.pk}/file",
        f"/tasks/tiny/runs/{run.pk}/items",
        f"/tasks/tiny/submissions/{run.submission_id}",
        f"/tasks/tiny/submissions/{run.submission_id}/report",
        f"/tasks/tiny/submissions/{run.submission_id}/receipt",
        f"/tasks/tiny/runs/{uuid4()}",
    ):
        assert problem(other(path)) == (404, "not_found"), path
    assert other("/tasks/tiny/runs").json()["items"] == []


def test_a_run_is_found_in_its_own_task_alone(runs, gated, member):
    assert problem(member(f"/tasks/gated/runs/{runs[0].pk}")) == (404, "not_found")


@pytest.mark.slow
def test_a_validation_has_its_report(meltemi, member):
    body = [run_file(GOOD)]
    given = {"content": body, "file_name": "one_Meltemi_1.json"}
    found = validate_only(
        captain(meltemi), Phase.objects.get(shared_task__slug="tiny", slug="evaluation"), EVALUATION, **given
    )
    path = f"/tasks/tiny/validations/{found.pk}"
    before = member(path).json()
    assert (before["state"], before["is_valid"]) == ("waiting", None)
    work_off(EVALUATION)
    after = member(path).json()
    assert (after["is_finished"], after["is_valid"], after["would_be_accepted"]) == (True, True, True)
    assert problem(Script(person("Eve"))(path)) == (404, "not_found")


def test_a_board_is_the_pages(at, runs):
    at(RELEASE)
    page = Client().get("/tasks/tiny/leaderboard/one/?phase=evaluation&format=json").json()
    found = Script()(f"{BOARD}?phase=evaluation").json()
    extra = {"count", "next", "hidden_reason"}
    assert {name: value for name, value in found.items() if name not in extra} == page
    assert str(runs[2].pk) in {row["run_id"] for row in found["rows"]}


@pytest.mark.slow
def test_a_board_has_more_pages_and_its_csv_is_complete(at, runs):
    at(RELEASE)
    whole = Script()(f"{BOARD}?phase=evaluation&runs=all").json()
    first = Script()(f"{BOARD}?phase=evaluation&runs=all&limit=2")
    assert first["Link"].startswith("<")
    second = Script()(first.json()["next"].partition("8000")[2]).json()
    assert first.json()["rows"] + second["rows"] == whole["rows"][:4]
    for table in (
        Script()(f"{BOARD}.csv?phase=evaluation&runs=all&limit=2"),
        Script()(f"{BOARD}?phase=evaluation&runs=all&limit=2", Accept="text/csv"),
    ):
        lines = list(csv.DictReader(io.StringIO(table.content.decode())))
        assert [line["run_id"] for line in lines] == [row["run_id"] for row in whole["rows"]]
    assert problem(Script()(f"{BOARD}?cursor=zero")) == (422, "not_valid")


def test_a_board_as_it_was(at, runs, monkeypatch):
    at(RELEASE)
    day = EVALUATION - timedelta(days=2)
    before = Script()(f"{BOARD}?phase=evaluation&as_of={day:%Y-%m-%d}").json()
    assert not [row for row in before["rows"] if row["kind"] == "team"]
    keep_release(
        Board.objects.get(track__slug="one", phase__slug="evaluation", phase__shared_task__slug="tiny"), RELEASE
    )
    monkeypatch.setattr("portal.queries.public.FEED", 0)  # a limit of feeds, not of the API
    (kept,) = Script()("/tasks/tiny/releases").json()
    table = Script()(kept["address"]).json()
    assert table["rows"] == Script()(f"{BOARD}?phase=evaluation").json()["rows"]


@pytest.mark.slow
def test_tracks_side_by_side(at, runs):
    at(RELEASE)
    page = Client().get("/tasks/tiny/leaderboard/?phase=evaluation&format=json").json()
    assert Script()("/tasks/tiny/leaderboards?phase=evaluation").json() == page
    table = Script()("/tasks/tiny/leaderboards?phase=evaluation", Accept="text/csv")
    assert table["Content-Type"].startswith("text/csv")


def test_public_boards_are_kept_except_for_tokens(at, runs, meltemi):
    at(RELEASE)
    path = f"{BOARD}?phase=evaluation"
    first = Script()(path)
    assert queries(lambda: Script()(path)) == 1
    assert Script()(path).content == first.content
    assert not [name for name in Script()(path).headers if name.startswith("RateLimit")]
    assert Script()(path, If_None_Match=first["ETag"]).status_code == 304
    assert Script()(path, Accept="text/csv")["Content-Type"].startswith("text/csv")
    by_token = Script(captain(meltemi))
    assert queries(lambda: by_token(path)) > 1
    assert by_token(path)["RateLimit-Limit"]
    assert "Authorization" in first["Vary"]


def test_hidden_boards_are_not_kept(runs):
    path = f"{BOARD}?phase=evaluation"
    found = Script()(path)
    assert found.json()["rows"] == []
    assert found.json()["hidden_reason"]
    assert "no-store" in found["Cache-Control"]
    assert not caches["boards"]._cache


def test_announcements(gated):
    publish_announcement(organizer_of(gated), gated, EVALUATION, title="News", text="*Well*.")
    (found,) = Script()("/tasks/gated/announcements").json()["items"]
    assert (found["title"], found["text"], found["by"]) == ("News", "*Well*.", "Oana")


def test_pages_neither_repeat_nor_leave_out_a_row(gated):
    times = [EVALUATION - timedelta(minutes=minutes) for minutes in (0, 1, 1, 2)]  # later rows have earlier times
    for number, moment in enumerate(times):
        Announcement.objects.create(shared_task=gated, title=str(number), text="-", by=person(f"P{number}"), at=moment)
    path, found = "/tasks/gated/announcements?limit=1", []
    while path:
        page = Script()(path).json()
        found += [one["title"] for one in page["items"]]
        path = (page["next"] or "").partition("8000")[2]
    assert found == ["0", "2", "1", "3"]


@pytest.fixture
def approved(gated):
    """The captain of an approved team, who has signed the agreement."""
    user = person("Ana")
    team = register_team(user, gated, EVALUATION, name="Bora", answers={"use": "research"})
    approve_team(organizer_of(gated), team, EVALUATION)
    sign(user, gated)
    return user


def test_data_have_the_obstacles_of_the_pages(gated, approved):
    eve, ana = Script(person("Eve")), Script(approved, "read")

    def codes(script):
        return {
            one["slug"]: [step["code"] for step in one["obstacles"]] for one in script("/tasks/gated/datasets").json()
        }

    assert codes(Script())["training"] == ["signed-out"]
    assert codes(eve)["training"] == ["no-team", "unsigned"]
    assert codes(ana) == {
        "sample": [], "training": [], "development": [], "test": ["password"], "later": ["not-released"],
    }  # fmt: skip
    assert problem(Script()("/tasks/gated/datasets/training/file")) == (401, "signed_out")
    assert problem(eve("/tasks/gated/datasets/training/file")) == (403, "no-team")
    assert eve("/tasks/gated/datasets/training/file", "HEAD").status_code == 403
    assert problem(ana("/tasks/gated/datasets/test/file")) == (403, "password")
    assert ana("/tasks/gated/datasets/later").json()["sha256"] == ""


def test_a_file_comes_whole_or_in_part_and_each_is_recorded(gated, approved):
    ana, path = Script(approved, "read"), "/tasks/gated/datasets/training/file"
    whole = ana(path)
    body = b"".join(whole.streaming_content)
    assert body == b"training\t0123456789\n" * 100
    part = ana(path, Range="bytes=1000-")
    assert (part.status_code, b"".join(part.streaming_content)) == (206, body[1000:])
    assert part["Content-Range"] == f"bytes 1000-{len(body) - 1}/{len(body)}"
    head = ana(path, "HEAD")
    assert (head.status_code, head["Content-Length"]) == (200, str(len(body)))
    beyond = ana(path, Range="bytes=999999-")
    assert problem(beyond) == (416, "range")
    assert beyond["Content-Range"] == f"bytes */{len(body)}"
    assert [(one.user, one.first_byte) for one in Download.objects.order_by("pk")] == [(approved, 0), (approved, 1000)]


def test_the_data_password_comes_in_a_header(gated, approved):
    ana, path = Script(approved, "read"), "/tasks/gated/datasets/test/file"
    team = Team.objects.get(name="Bora")
    team.data_password = make_password("open sesame")
    team.save()
    assert problem(ana(path, X_Data_Password="no")) == (403, "wrong_password")
    assert ana(path, X_Data_Password="open sesame").status_code == 200
    assert OutgoingMail.objects.exists()


def test_organizers_read_their_lists(gated, approved):
    organizer = organizer_of(gated, "Olga")
    script = Script(organizer, "organize")
    (team,) = script("/tasks/gated/organize/teams").json()
    assert (team["name"], team["answers"]["use"]) == ("Bora", "research")
    assert {one["track"] for one in script("/tasks/gated/organize/gold").json()} == {"one", "two"}
    assert script("/tasks/gated/organize/scores").json() == []
    verbs = [one["verb"] for one in script("/tasks/gated/organize/audit").json()["items"]]
    assert "approve_team" in verbs
    assert script("/tasks/gated/organize/downloads.csv").content.startswith(b"at,person")


def test_the_folder_is_the_pages(tiny):
    assert Script()("/tasks/tiny/folder.zip").content == Client().get("/tasks/tiny/folder.zip").content


@pytest.mark.slow
def test_the_official_run_of_each_team_is_marked_as_on_the_page(tiny, meltemi):
    bora = new_team(tiny, "Bora")
    for team, values, number in ((meltemi, GOOD, 1), (meltemi, PERFECT, 2), (bora, GOOD, 1)):
        send_run(team, values, number, EVALUATION + timedelta(minutes=number))
    work_off(EVALUATION)
    of_all = {"one_Meltemi_2.json", "one_Bora_1.json"}
    member, organizer = Script(captain(meltemi)), Script(organizer_of(tiny), "organize")
    for read, expected in ((organizer, of_all), (member, {"one_Meltemi_2.json"})):
        found = read("/tasks/tiny/runs").json()["items"]
        assert {one["name"] for one in found if one["is_official"]} == expected
        assert not any(one["is_chosen"] for one in found)
        for one in found:
            assert read(f"/tasks/tiny/runs/{one['id']}").json()["is_official"] is one["is_official"]
    first = read("/tasks/tiny/runs?limit=1").json()["items"]
    assert [(one["name"], one["is_official"]) for one in first] == [("one_Meltemi_2.json", True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("official", "expected"), [("all", {1, 2, 3}), ("best", {2}), ("last", {3}), ("chosen", {1}), ("unchosen", {3})]
)
def test_the_official_run_follows_the_rule(tiny, meltemi, official, expected):
    Phase.objects.update(official=official.removeprefix("un"), runs_per_track=None)
    for number, values in enumerate((GOOD, PERFECT, GOOD, PERFECT, ["MAYBE"]), 1):
        send_run(meltemi, values, number, EVALUATION + timedelta(minutes=number))
    work_off(EVALUATION)
    Run.objects.filter(number=4, team=meltemi).update(withdrawn_at=EVALUATION, withdrawn_by=captain(meltemi))
    if official == "chosen":
        Run.objects.filter(number=1, team=meltemi).update(chosen_at=EVALUATION, chosen_by=captain(meltemi))
    member, organizer = Script(captain(meltemi)), Script(organizer_of(tiny), "organize")
    shown = set() if official == "best" else expected  # marking the best run would reveal something about hidden scores
    for read, numbers in ((organizer, expected), (member, shown)):
        found = read("/tasks/tiny/runs").json()["items"]
        assert {one["number"] for one in found if one["is_official"]} == numbers


@pytest.mark.slow
def test_each_track_has_its_official_run(meltemi):
    Phase.objects.update(official="last")
    for minutes, name in enumerate(("one_Meltemi_1", "one_Meltemi_2", "two_Meltemi_1")):
        send(meltemi, f"{name}.json", run_file(GOOD), EVALUATION + timedelta(minutes=minutes))
    work_off(EVALUATION)
    found = Script(captain(meltemi))("/tasks/tiny/runs").json()["items"]
    assert {one["name"] for one in found if one["is_official"]} == {"one_Meltemi_2.json", "two_Meltemi_1.json"}
