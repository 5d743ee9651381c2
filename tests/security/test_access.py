"""Every address × method × role against the table beside this file. A new address without a row fails. # B28

A cell is the status of an empty request. The addresses of `/admin/` have a rule of their own below.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.exceptions import NoReverseMatch

from tests.security.conftest import ROLES, World

TABLE = Path(__file__).with_name("access.csv")
METHODS = ("GET", "POST")
OTHER_METHODS = ("PUT", "PATCH", "DELETE")


def addresses(resolver: URLResolver | None = None, namespace: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Name and pattern of every address that the portal answers."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern, f"{pattern.namespace}:" if pattern.namespace else namespace)
        else:
            yield f"{namespace}{pattern.name or pattern.pattern}", pattern


NAMES = list(dict.fromkeys(name for name, _ in addresses() if not name.startswith("admin:")))


ADMIN = [
    reverse(name, kwargs=dict.fromkeys(pattern.pattern.converters, "1"))
    for name, pattern in addresses()
    if name.startswith("admin:") and pattern.name not in (None, "app_list", "view_on_site")
]


def table() -> dict[tuple[str, str], dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {(row["address"], row["method"]): row for row in csv.DictReader(file)}


def status(world: World, role: str, name: str, method: str, **options: bool) -> int:
    """Of an empty request; what it changed is undone."""
    arguments = world.arguments(name)
    try:
        address = reverse(name, kwargs=arguments)
    except NoReverseMatch:
        address = reverse(name)
    cache.clear()  # of rate limits
    before = transaction.savepoint()
    client = world.client(role)
    client.handler.enforce_csrf_checks = options.get("csrf", False)
    found: int = client.generic(method, address).status_code
    transaction.savepoint_rollback(before)
    return found


def test_every_address_has_its_rows() -> None:
    assert {(name, method) for name in NAMES for method in METHODS} == set(table())


@pytest.mark.parametrize("role", ROLES)
def test_each_role_meets_what_the_table_says(world: World, role: str) -> None:
    expected = {key: int(row[role]) for key, row in table().items()}
    found = {(name, method): status(world, role, name, method) for name, method in expected}
    assert found == expected


def own_names() -> list[str]:
    return [name for name, pattern in addresses() if pattern.callback.__module__.startswith("portal.")]


@pytest.mark.parametrize("role", ["anonymous", "captain", "administrator"])
def test_other_methods_do_nothing(world: World, role: str) -> None:
    for name in own_names():
        for method in OTHER_METHODS:
            assert status(world, role, name, method) in (302, 404, 405), (name, method)


def test_no_post_without_a_token(world: World) -> None:  # F68
    """But for the link that stops mails, which has a signature of its own: mail programs post to it (RFC 8058).

    And an old address, which does nothing but lead to the new one.
    """
    taken = [name for name in own_names() if status(world, "captain", name, "POST", csrf=True) not in (403, 404, 405)]
    assert set(taken) == {"stop_mails", "check_only"}


@pytest.mark.parametrize("role", ROLES[:-1])
def test_the_back_door_is_the_administrators(world: World, role: str) -> None:
    for address in ADMIN:
        assert world.client(role).get(address).status_code in (302, 403, 404), address
    assert world.client("administrator").get("/admin/").status_code == 200


def test_a_session_ends_with_the_account(world: World) -> None:  # B33
    client = world.client("captain")
    address = reverse("submission", kwargs=world.arguments("submission"))
    assert client.get(address).status_code == 200
    world.people["captain"].is_active = False
    world.people["captain"].save()
    assert client.get(address).status_code == 302
    assert Client().get(address).status_code == 302
