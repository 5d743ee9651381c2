"""Every address of the API × method × role and scope against the table next to this file.

A cell is the status of an empty request. A new address without a row fails.
"""

import csv
from pathlib import Path

import pytest
from django.test import Client

from portal.api.urls import api
from tests.portal.web.conftest import Clock
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION
from tests.security.api import NAMES, TOKENS, address_of, status
from tests.security.conftest import World

TABLE = Path(__file__).with_name("api_access.csv")


@pytest.fixture(autouse=True)
def clock(at: Clock) -> None:
    at(EVALUATION)


def table() -> dict[tuple[str, str], dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {(row["address"], row["method"]): row for row in csv.DictReader(file)}


def declared() -> set[tuple[str, str]]:
    """Name and method of each operation."""
    operations = {
        (f"api:{operation.url_name}", method)
        for _prefix, router in api._routers
        for view in router.path_operations.values()
        for operation in view.operations
        for method in operation.methods
        if method != "HEAD"
    }
    return operations | {("api:openapi-json", "GET"), ("api:nothing", "GET")}


def test_every_operation_has_its_row() -> None:
    assert declared() == set(table())
    assert {name for name, _method in declared()} | {"api:api-root"} == set(NAMES)


@pytest.mark.parametrize("token", TOKENS)
def test_each_token_meets_what_the_table_says(world: World, token: str) -> None:
    expected = {key: int(row[token]) for key, row in table().items()}
    assert {(name, method): status(world, token, name, method) for name, method in expected} == expected


def test_a_session_is_as_good_as_nothing(world: World) -> None:
    for name, method in table():
        as_captain = world.client("captain").generic(method, address_of(world, name)).status_code
        assert as_captain == Client().generic(method, address_of(world, name)).status_code, name
