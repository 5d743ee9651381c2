"""Who may do what at each URL of the API, by role and token scope.

URLs for reading are listed in the table next to this file, with the status of the response in each cell. A new URL
needs a row. Actions are allowed for the roles that they declare, with a token of the role's scope.
"""

import csv
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.http import Http404
from django.test import Client

from portal.actions.base.action import Action
from portal.actions.base.errors import ActionError
from portal.actions.base.registry import every_action
from portal.actions.base.roles import SIGNED_OUT, TOKEN_ERRORS
from portal.api.access import find_phase, find_task, find_track, person
from portal.api.actions import ROUTES
from portal.api.problems import NOT_FOUND
from portal.api.urls import api
from tests.portal.web.conftest import Clock
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION
from tests.security.api import NAMES, TOKENS, address_of, answer, arguments, who
from tests.security.conftest import World

TABLE = Path(__file__).with_name("api_access.csv")
FILES = {
    "submit": find_phase,
    "validate_only": find_phase,
    "upload_gold": find_track,
    "replace_dataset": find_task,
    "push_new_task": person,
    "push_task": find_task,
}
CALLS = {f"api:{route.name}": (route.method, route.action, route.target) for route in ROUTES} | {
    f"api:{name}": ("POST", every_action()[name], find) for name, find in FILES.items()
}


@pytest.fixture(autouse=True)
def clock(at: Clock) -> None:
    at(EVALUATION)


def table() -> dict[tuple[str, str], dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {(row["address"], row["method"]): row for row in csv.DictReader(file)}


def declared() -> set[tuple[str, str]]:
    """Return the name and method of each operation."""
    return {
        (f"api:{operation.url_name}", method)
        for _prefix, router in api._routers
        for view in router.path_operations.values()
        for operation in view.operations
        for method in operation.methods
        if method != "HEAD"
    }


def test_every_operation_has_its_row_or_its_action() -> None:
    reads = {(name, method) for name, method in declared() if method == "GET"}
    others = {("api:openapi-json", "GET"), ("api:nothing", "GET")}
    assert reads | others == set(table())
    assert declared() - reads == {(name, method) for name, (method, _action, _target) in CALLS.items()}
    assert {name for name, _method in declared() | others} | {"api:api-root"} == set(NAMES)


@pytest.mark.parametrize("token", TOKENS)
def test_each_token_reads_what_the_table_says(world: World, token: str) -> None:
    expected = {key: int(row[token]) for key, row in table().items()}
    assert {key: answer(world, token, *key).status_code for key in expected} == expected


@pytest.mark.parametrize("token", TOKENS)
def test_each_token_may_do_what_the_declarations_say(world: World, token: str) -> None:
    expected, found = {}, {}
    for name, (method, action, target) in CALLS.items():
        expected[name] = _may(world, token, name, action, target)
        found[name] = not _is_closed(answer(world, token, name, method), action)
    assert found == expected


def _may(world: World, token: str, name: str, action: Action[Any, Any, Any], target: Any) -> bool:
    request = SimpleNamespace(user=who(world, token), at=EVALUATION)
    named = arguments(world, name)
    if name.removeprefix("api:") in FILES:
        named = {part: named[part] for part in ("task", "phase", "track") if part in named}
    try:
        found = target(request, **named)
    except (Http404, ActionError):
        return False
    return request.user.is_authenticated and action.allows(request.user, found)


def _is_closed(response: Any, action: Action[Any, Any, Any]) -> bool:
    if response.status_code < 400:
        return False
    codes = {one.code for one in (*action.who.errors, *TOKEN_ERRORS, SIGNED_OUT, NOT_FOUND)}
    return json.loads(response.content)["code"] in codes


def test_a_session_grants_no_access(world: World) -> None:
    for name, method in table():
        as_captain = world.client("captain").generic(method, address_of(world, name)).status_code
        assert as_captain == Client().generic(method, address_of(world, name)).status_code, name
