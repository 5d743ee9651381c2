"""Organizers have their rights only with a second factor, except in the demo."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from portal.models import Run, SharedTask, Submission, Team, User
from portal.permissions import data_access, may_download_run
from portal.queries.boards.leaderboard import leaderboard
from portal.queries.runs import team_runs
from portal.web import urls
from tests.portal.remembered import remembered
from tests.portal.web.conftest import Clock
from tests.portal.world import EVALUATION, GOOD, person, send_run, set_up_second_factor, work_off

BOARD = "/tasks/tiny/leaderboard/one/?phase=evaluation"


@remembered
def scored_run(meltemi: Team) -> Run:
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    return run


@pytest.fixture
def run(scored_run: Run, at: Clock) -> Run:
    """A scored run at a time when its scores are hidden."""
    at(EVALUATION)
    return scored_run


@pytest.fixture
def oana(tiny: SharedTask) -> User:
    """An organizer without a second factor."""
    user = person("Oana")
    tiny.organizers.add(user)
    return user


@pytest.fixture
def admin(tiny: SharedTask) -> User:
    user = person("Admin")
    user.is_staff = user.is_superuser = True
    user.save()
    return user


@pytest.fixture(params=["oana", "admin"])
def user(request: pytest.FixtureRequest) -> User:
    """An organizer or an administrator without a second factor."""
    found: User = request.getfixturevalue(request.param)
    return found


def organizers_pages() -> list[str]:
    """Return the URLs of all organizers' pages of the tiny task."""
    found = []
    for pattern in urls.urlpatterns:
        names = set(pattern.pattern.converters) | set(pattern.pattern.regex.groupindex)  # type: ignore[union-attr]
        if "organize" in str(pattern.pattern) and "slug" in names:
            values: dict[str, Any] = {
                "dataset": "sample",
                "phase": "evaluation",
                "pk": 1,
                "verb": "approve",
                "name": "teams.csv",
            }
            if pattern.name == "organize_state":
                values["verb"] = "hide"
            elif pattern.name in ("gold_preview", "organize_rejected_upload", "organize_upload_file"):
                values["pk"] = UUID(int=1)
            arguments = {name: value for name, value in values.items() if name in names}
            found.append(reverse(str(pattern.name), kwargs={"slug": "tiny"} | arguments))
    return found


@pytest.mark.slow
def test_every_page_of_organizers_shows_the_way_to_a_second_factor_and_nothing_else(
    run: Run, user: User, sign_in: Callable[[User], Client]
) -> None:
    pages = organizers_pages()
    assert len(pages) > 20
    client = sign_in(user)
    for page in pages:
        upload = {"file": SimpleUploadedFile("x", b"y")}
        for answer in (client.get(page, follow=True), client.post(page, upload, follow=True)):
            if answer.status_code != 405:
                assert (answer.status_code, reverse("mfa_index") in answer.content.decode()) == (403, True), page
                assert "Meltemi" not in answer.content.decode()
    set_up_second_factor(user)
    assert client.get("/tasks/tiny/organize/").status_code == 200
    assert "Meltemi" in client.get("/tasks/tiny/organize/teams/").content.decode()


@pytest.mark.slow
def test_before_the_release_they_see_what_everyone_sees(
    run: Run, user: User, sign_in: Callable[[User], Client]
) -> None:
    client = sign_in(user)
    addresses = [BOARD, f"{BOARD}&format=csv", f"{BOARD}&format=json", "/tasks/tiny/leaderboard/?phase=evaluation"]
    addresses += ["/tasks/tiny/insights/one/?phase=evaluation", "/tasks/tiny/insights/one/compare/?phase=evaluation"]
    for address in addresses:
        assert "0.75" not in client.get(address).content.decode(), address
    for name in ("run", "run_file"):
        assert client.get(reverse(name, args=[run.pk])).status_code == 404
    assert client.get(reverse("submission", args=["tiny", run.submission_id])).status_code == 404
    assert client.get(reverse("paper", args=["tiny", "evaluation"])).status_code == 404
    set_up_second_factor(user)
    assert "0.75" in client.get(BOARD).content.decode()
    for name in ("run", "run_file"):
        assert client.get(reverse(name, args=[run.pk])).status_code == 200


def test_every_page_of_the_task_says_what_is_missing(run: Run, user: User, sign_in: Callable[[User], Client]) -> None:
    client = sign_in(user)
    for page in ("/tasks/tiny/", BOARD, "/tasks/tiny/data/", "/tasks/tiny/team/"):
        text = client.get(page).content.decode()
        assert "Set up a second factor</a> to use this task’s organizer pages." in text
        assert reverse("mfa_index") in text
    set_up_second_factor(user)
    assert "second factor" not in client.get(BOARD).content.decode()


def test_the_home_page_says_nothing_else_of_what_waits(
    run: Run, oana: User, sign_in: Callable[[User], Client], at: Clock
) -> None:
    run.state = Run.State.FAILED
    run.save()
    text = sign_in(oana).get("/").content.decode()
    assert "Set up a second factor to use the organizer pages." in text
    assert reverse("mfa_index") in text
    assert "failed on our side" not in text
    set_up_second_factor(oana)
    assert "failed on our side" in sign_in(oana).get("/").content.decode()


def test_queries_and_permissions_follow(run: Run, user: User) -> None:
    def seen() -> list[bool]:
        track = run.track
        return [
            track.shared_task.is_organized_by(user),
            may_download_run(user, run),
            Run.objects.visible_to(user).filter(team=run.team).exists(),
            Submission.objects.visible_to(user).exists(),
            SharedTask.objects.organized_by(user).exists(),
            data_access(user, track.shared_task).is_organizer,
            leaderboard(track, run.phase, user, EVALUATION).visible,
            any(line.scores for line in team_runs(run.team, user, EVALUATION)) if run.team else False,
        ]

    assert seen() == [False] * 8
    assert run.track.shared_task.is_assigned_to(user)
    set_up_second_factor(user)
    assert seen() == [True] * 8


def test_recovery_codes_alone_are_no_second_factor(oana: User, tiny: SharedTask) -> None:
    set_up_second_factor(oana)
    oana.authenticator_set.update(type="recovery_codes")
    assert not tiny.is_organized_by(oana)


def test_the_demo_asks_for_none_and_says_so(
    run: Run, oana: User, sign_in: Callable[[User], Client], settings: Any
) -> None:
    settings.DEMO = True
    client = sign_in(oana)
    assert "0.75" in client.get(BOARD).content.decode()
    assert (
        "Outside the demo, this page requires two-factor authentication."
        in client.get("/tasks/tiny/organize/").content.decode()
    )
    set_up_second_factor(oana)
    assert "Outside the demo" not in client.get("/tasks/tiny/organize/").content.decode()
