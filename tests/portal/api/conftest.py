"""Shared setup of the API tests: the phase `evaluation` is open, and no requests have been counted yet."""

import pytest
from django.core.cache import caches

from tests.portal.web.conftest import Clock, at
from tests.portal.world import EVALUATION

__all__ = ["at"]


@pytest.fixture(autouse=True)
def no_requests_so_far(at: Clock) -> None:
    at(EVALUATION)
    caches["rates"].clear()
