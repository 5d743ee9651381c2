"""No number in an address or a form causes an internal error, however long, large or odd it is."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django import forms
from django.core.cache import cache
from django.db import transaction
from django.urls import get_resolver
from django.urls.resolvers import URLResolver

from portal.parameters import LARGEST, whole_number
from tests.conftest import ROOT
from tests.security.conftest import World
from tests.security.pages import address_of
from tests.security.test_access import ADMIN, NAMES

ODD = ("9" * 5000, str(2**63), "-1", "\u0663", "1e400", "\u00b2", "nan")
READ = re.compile(r"""(?:GET|POST|query)(?:\.get|\.getlist)?[(\[]["'](\w+)["']""")
READ_IN_A_LOOP = {"search", "language", "year", "kind", "state", "name", "scope", "task"}
SELECTING = {"phase", "format"}  # anything else but an existing value is 404, so no other parameter would be read


def names_read() -> set[str]:
    """Return the names of all query parameters and form fields that pages read."""
    texts = [path.read_text() for path in (ROOT / "portal/web").rglob("*.py")]
    fields = {name for form in forms_below(forms.Form) for name in form.base_fields}
    return {name for text in texts for name in READ.findall(text)} | fields | READ_IN_A_LOOP


def forms_below(form: Any) -> Iterator[Any]:
    for kind in form.__subclasses__():
        if kind.__module__.startswith("portal."):
            yield kind
        yield from forms_below(kind)


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("17", 17), (str(LARGEST), LARGEST)])
def test_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize("text", [*ODD, "", " 1", "1_0", "1\n"])
def test_what_is_no_number(text: str) -> None:
    assert whole_number(text) is None


def test_the_names_of_parameters_are_found() -> None:
    assert {"year", "page", "member", "until", "phase"} <= names_read()


def sent(world: World, role: str, method: str, address: str, given: dict[str, str]) -> int:
    cache.clear()  # resets rate limits
    client = world.client(role)
    client.raise_request_exception = False
    before = transaction.savepoint()
    if method == "GET":
        status = client.get(f"{address}?{urlencode(given)}").status_code
    else:
        status = client.post(address, given).status_code
    transaction.savepoint_rollback(before)
    return status


@pytest.mark.slow
@pytest.mark.parametrize("value", ["9" * 5000, "\u0663"])
def test_no_parameter_of_a_page_causes_an_internal_error(world: World, value: str) -> None:
    given = dict.fromkeys(names_read() - SELECTING, value)
    own = [address_of(world, name) for name in NAMES if name != "account_logout"]
    found = [address for address in own if sent(world, "organizer", "GET", address, given) >= 500]
    found += [address for address in ADMIN if sent(world, "administrator", "GET", address, given) >= 500]
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("role", ["captain", "organizer"])
@pytest.mark.parametrize("value", ["9" * 300, str(2**63)])
def test_no_field_of_a_form_causes_an_internal_error(world: World, role: str, value: str) -> None:
    given = dict.fromkeys(names_read(), value)
    addresses = [address_of(world, name) for name in NAMES if name != "account_logout"]
    assert [address for address in addresses if sent(world, role, "POST", address, given) >= 500] == []


@pytest.mark.parametrize("value", [str(2**63), "9" * 5000, "-1", "\u0663"])
def test_an_address_with_such_a_number_does_not_exist(world: World, value: str) -> None:
    for address in (
        "/tasks/gated/agreement/signed/{}/",
        "/tasks/gated/organize/gold/{}/",
        "/tasks/gated/leaderboard/one/evaluation/{}/",
        "/api/v1/tasks/gated/releases/one/evaluation/{}",
    ):
        assert sent(world, "organizer", "GET", address.format(value), {}) == 404, address


@pytest.mark.parametrize("module", ["portal.web.urls", "portal.api.urls"])
def test_numbers_in_addresses_have_one_converter(module: str) -> None:
    found = converters(get_resolver(module))
    assert "NumberConverter" in found
    assert "IntConverter" not in found


def converters(resolver: URLResolver) -> set[str]:
    """Return the types of the parts of these addresses."""
    return {type(one).__name__ for pattern in resolver.url_patterns for one in pattern.pattern.converters.values()}
