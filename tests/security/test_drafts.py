"""Drafts and hidden tasks are invisible at every URL and in every email, except to their organizers."""

import pytest
from django.test import Client
from django.urls import NoReverseMatch, reverse

from portal.models import Phase, SharedTask
from portal.queries.boards.head import board_head
from portal.queries.occasions import notices
from tests.portal.remembered import remembered
from tests.portal.web.conftest import Clock
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION, POST, RELEASE, STRANGER, work_off
from tests.security import api
from tests.security.conftest import World
from tests.security.test_access import OWN_NAMES
from tests.security.test_access import answer as page_answer

WORD = "Xylophone"
OTHERS = ("anonymous", "teamless", "captain", "other_organizer")
OTHER_TOKENS = ("anonymous", "captain:organize", "other_organizer:organize")
OWN_DATA = {"export_data", "delete_account"}  # people can always access their own data


@remembered
def evaluated(world: World) -> World:
    """The world after all runs were scored."""
    work_off(EVALUATION)
    return world


@pytest.fixture(params=[SharedTask.State.DRAFT, SharedTask.State.HIDDEN])
def closed(evaluated: World, request: pytest.FixtureRequest, at: Clock) -> World:
    """The world with its task visible only to organizers, although its scores would be public."""
    at(POST)
    SharedTask.objects.filter(pk=evaluated.task.pk).update(state=request.param, title=WORD)
    evaluated.task.refresh_from_db()
    return evaluated


def is_of_task(world: World, name: str) -> bool:
    """Return whether the page's URL belongs to the task or its run."""
    try:
        address = reverse(name, kwargs=world.arguments(name))
    except NoReverseMatch:
        return False
    return "/gated/" in address or str(world.run.pk) in address


@pytest.mark.parametrize("role", OTHERS)
def test_it_is_on_no_page(closed: World, role: str) -> None:
    for name in [name for name in OWN_NAMES if name not in OWN_DATA]:
        for method in ("GET", "POST"):
            response = page_answer(closed, role, name, method)
            body = b"" if response.streaming else response.content
            assert WORD.encode() not in body, (name, method)
            if is_of_task(closed, name):
                assert response.status_code in (302, 308, 403, 404, 405), (name, method, response.status_code)
                is_sign_in = response.headers.get("Location", "").startswith("/accounts/login/")
                assert response.status_code != 302 or is_sign_in, (name, method)


@pytest.mark.parametrize("token", OTHER_TOKENS)
def test_it_is_at_no_url_of_the_api(closed: World, token: str) -> None:
    for name in api.NAMES:
        if name in ("api:nothing", "api:api-root", "api:openapi-json"):
            continue
        for method in ("GET", "POST", "DELETE"):
            response = api.answer(closed, token, name, method)
            body = b"" if response.streaming else response.content
            assert WORD.encode() not in body, (name, method)
            if "task" in api.arguments(closed, name):
                assert response.status_code in (401, 404, 405), (name, method, response.status_code)


def test_its_organizers_see_it_and_those_without_a_second_factor_are_shown_the_way(closed: World) -> None:
    for role in ("organizer", "administrator"):
        client = closed.client(role)
        assert WORD.encode() in client.get("/tasks/gated/").content
        assert WORD.encode() in client.get("/").content
    assert closed.client("password_organizer").get("/tasks/gated/").status_code == 403


def test_no_mail_is_due_about_it(closed: World) -> None:
    tasks = {notice.about["shared_task"] for at in (EVALUATION, RELEASE, POST) for notice in notices(at)}
    assert closed.task not in tasks


def test_kept_boards_and_scores_are_closed_with_it(closed: World) -> None:
    assert board_head("gated", "one", None).state is None
    assert not Phase.objects.filter(shared_task=closed.task).with_visible_scores(STRANGER, POST).exists()
    SharedTask.objects.filter(pk=closed.task.pk).update(state="open")
    assert board_head("gated", "one", None).state is not None
    assert Client().get("/tasks/gated/leaderboard/one/").status_code == 200
