"""Every page of the portal, as seen by people in several roles."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.core.cache import cache
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.urls.exceptions import NoReverseMatch

from tests.security.conftest import World
from tests.security.test_access import ADMIN, NAMES

ROLES = ("anonymous", "teamless", "captain", "organizer", "administrator")


@dataclass(frozen=True, slots=True)
class Answer:
    """A response to a GET request."""

    name: str  # role and URL, for failure messages
    response: HttpResponseBase

    @property
    def is_html(self) -> bool:
        return self.response.headers.get("Content-Type", "").startswith("text/html")

    @property
    def text(self) -> str:
        return self.response.getvalue().decode()


def answers(world: World) -> Iterator[Answer]:
    """Yield the response of every URL for every role, including error pages and Django's administration."""
    for role in ROLES:
        cache.clear()  # resets rate limits
        client = world.client(role)
        addresses = [address_of(world, name) for name in NAMES if name != "account_logout"]
        for address in addresses + (ADMIN if role == "administrator" else []):
            yield Answer(f"{role} {address}", client.get(address))


def address_of(world: World, name: str) -> str:
    try:
        return reverse(name, kwargs=world.arguments(name))
    except NoReverseMatch:
        return reverse(name)
