"""Who may do what at each URL, as declared by its actions and listed in the table next to this file.

Each cell of the table is the status of an empty request. The table has rows for pages that people read and for
allauth's pages. There is a separate rule below for the URLs of `/admin/`, and a separate table for those of the API
(`test_api_access.py`). URLs with neither a row nor an action must be closed.
"""

import csv
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import reverse
from django.urls.exceptions import NoReverseMatch

from portal.actions.base.action import Action
from portal.actions.base.errors import ActionError
from portal.actions.base.input import InvalidInput
from portal.actions.base.registry import every_action
from tests.security.action_addresses import BY_OTHER_RULES, CALLS, SPECIAL, Call, addresses, called_actions
from tests.security.conftest import ROLES, World

TABLE = Path(__file__).with_name("access.csv")
METHODS = ("GET", "POST")
OTHER_METHODS = ("PUT", "PATCH", "DELETE")

NAMES = list(dict.fromkeys(name for name, _ in addresses() if not name.startswith(("admin:", "api:"))))
OWN_NAMES = [
    name for name, pattern in addresses() if name in NAMES and pattern.callback.__module__.startswith("portal.")
]

ADMIN = [
    reverse(name, kwargs=dict.fromkeys(pattern.pattern.converters, "1"))
    for name, pattern in addresses()
    if name.startswith("admin:") and pattern.name not in (None, "app_list", "view_on_site")
]


def table() -> dict[tuple[str, str], dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {(row["address"], row["method"]): row for row in csv.DictReader(file)}


def answer(world: World, role: str, name: str, method: str, **options: Any) -> HttpResponseBase:
    """Return the response to a request, which may carry `data`. Any database changes are rolled back."""
    arguments = world.arguments(name) | options.get("arguments", {})
    try:
        address = reverse(name, kwargs=arguments)
    except NoReverseMatch:
        address = reverse(name)
    cache.clear()  # resets rate limits
    client = world.client(role)
    before = transaction.savepoint()
    client.handler.enforce_csrf_checks = options.get("csrf", False)
    post = options.get("data")
    found = client.generic(method, address) if post is None else client.post(address, post)
    transaction.savepoint_rollback(before)
    return found


def status(world: World, role: str, name: str, method: str, **options: bool) -> int:
    return answer(world, role, name, method, **options).status_code


def is_closed(response: HttpResponseBase) -> bool:
    """Return whether the response is an error or a redirect to the sign-in page."""
    if response.status_code == 302:
        return response.headers["Location"].startswith(reverse("account_login"))
    return response.status_code in (403, 404, 405)


def test_the_table_has_rows_for_what_others_wrote_and_none_for_what_actions_decide() -> None:
    rows, others = set(table()), set(NAMES) - set(OWN_NAMES)
    assert {(name, method) for name in others for method in METHODS} <= rows
    assert {name for name, _method in rows} <= set(NAMES)
    assert not rows & {(name, "POST") for name, _action in CALLS}
    assert set(OWN_NAMES) <= {name for name, _ in (*rows, *CALLS)}  # each new URL needs an entry in `rows` or `CALLS`


def test_only_what_an_address_calls_has_a_call_or_rules_of_its_own() -> None:
    assert not {*SPECIAL, *BY_OTHER_RULES} - called_actions()


@pytest.mark.parametrize("role", ROLES)
def test_each_role_meets_what_the_table_says(world: World, role: str) -> None:
    expected = {key: int(row[role]) for key, row in table().items()}
    found = {(name, method): status(world, role, name, method) for name, method in expected}
    assert found == expected


class Passed:
    """A record of the actions that allowed the caller's role, whatever the result."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: set[str] = set()
        call = Action.__call__

        def noted(action: Action[Any, Any, Any], *args: Any, **given: Any) -> Any:
            try:
                result = call(action, *args, **given)
            except ActionError as error:
                is_before = isinstance(error, InvalidInput) or error.code in {one.code for one in action.who.errors}
                self.names |= set() if is_before else {action.name}
                raise
            self.names.add(action.name)
            return result

        monkeypatch.setattr(Action, "__call__", noted)


@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_do_what_the_declarations_say(world: World, role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty form reaches the action if the caller's role is allowed. The response then says what is missing.

    A form without a row in the table is shown to everyone who may submit it.
    """
    passed, rows = Passed(monkeypatch), table()
    expected, found = {}, {}
    for (name, action), call in CALLS.items():
        passed.names.clear()
        data, arguments = call.data(world, world.who(role)), call.arguments
        posted = answer(world, role, name, "POST", data=data, arguments=arguments)
        found[name, action] = {action in passed.names or not is_closed(posted)}
        if (name, "GET") not in rows:
            form = answer(world, role, name, "GET", arguments=arguments)
            found[name, action] |= set() if form.status_code == 405 else {not is_closed(form)}
        expected[name, action] = {may(world, role, action, call)}
    assert found == expected


def may(world: World, role: str, action: str, call: Call) -> bool:
    """Return whether the action's declaration allows this role to call it."""
    who = world.who(role)
    target = call.target(world, who)
    is_for = not call.roles or role in call.roles
    return is_for and target is not None and every_action()[action].allows(who, target)


@pytest.mark.parametrize("role", ["anonymous", "captain", "administrator"])
def test_what_has_neither_a_row_nor_an_action_is_closed(world: World, role: str) -> None:
    tested = {*table()} | {(name, method) for name, _action in CALLS for method in METHODS}
    for name in OWN_NAMES:
        for method in (*METHODS, *OTHER_METHODS):
            if (name, method) not in tested:
                response = answer(world, role, name, method)
                assert is_closed(response) or response.status_code == 308, (name, method, response.status_code)


def test_no_post_without_a_token(world: World) -> None:
    """Three kinds of URLs are exempt.

    The link that stops emails is signed, and mail programs post to it (RFC 8058). An old URL only redirects to the new
    one. The URLs of RFC 8628 use no session.
    """
    accepted = [name for name in OWN_NAMES if status(world, "captain", name, "POST", csrf=True) not in (403, 404, 405)]
    assert set(accepted) == {"stop_mails", "check_only", "device_code", "device_token"}


@pytest.mark.parametrize("role", ROLES[:-1])
def test_the_administration_is_for_administrators(world: World, role: str) -> None:
    for address in ADMIN:
        assert world.client(role).get(address).status_code in (302, 403, 404), address
    assert world.client("administrator").get("/admin/").status_code == 200


def test_a_session_ends_with_the_account(world: World) -> None:
    client = world.client("captain")
    address = reverse("submission", kwargs=world.arguments("submission"))
    assert client.get(address).status_code == 200
    world.people["captain"].is_active = False
    world.people["captain"].save()
    assert client.get(address).status_code == 302
    assert Client().get(address).status_code == 302
