"""Fixtures shared by all suites."""

import gc
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.cache import caches

from tests.canary import eyes_open, gold_stays_hidden, pytest_runtest_makereport
from tests.migrated import django_db_modify_db_settings, django_db_setup, first_migration, migrated, quick_flush
from tests.services import Broker

__all__ = [
    "django_db_modify_db_settings",
    "django_db_setup",
    "eyes_open",
    "first_migration",
    "gold_stays_hidden",
    "migrated",
    "pytest_runtest_makereport",
    "quick_flush",
]

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
# Reasons for skipping tests that are accepted even in CI.
NO_SHARED = "../shared, with real data that may not be published here, is absent"
NO_NAMESPACES = "no separate hosts can be made here: that takes root and network namespaces"
NO_DEBOOTSTRAP = "no bare Debian can be made here: that takes root and debootstrap"


PROGRAM_FIXTURES = {"broker", "demo", "s3"}

gc.disable()  # until the tests are collected, because imports leave no garbage


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out tests that are slow or start programs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--quick`, deselect tests that are marked `slow` or have a fixture that starts a program."""
    if config.getoption("quick"):
        slow = {item for item in items if item.get_closest_marker("slow") or _starts_a_program(item)}
        config.hook.pytest_deselected(items=list(slow))
        items[:] = [item for item in items if item not in slow]


def pytest_collection_finish() -> None:
    """Exclude all existing objects from garbage collection, which makes forks faster."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _starts_a_program(item: pytest.Item) -> bool:
    return not PROGRAM_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.fixture(autouse=True)
def no_kept_boards() -> None:
    """Clear cached boards, because boards have the same names in every test's database."""
    caches["boards"].clear()


@pytest.fixture(autouse=True)
def no_kept_gold() -> None:
    """Clear decrypted gold, so that each test decrypts it again, even if `remembered` has restored the same rows."""
    from portal.evaluation import opened_gold

    opened_gold._kept.clear()


@pytest.fixture(scope="session")
def root() -> Path:
    """The root folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Conformance cases and real data next to the checkout. If they are missing, skip the test."""
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    return SHARED


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    """A Valkey server at the address in the settings, where nothing listens in tests without this fixture."""
    port = urlsplit(settings.CELERY_BROKER_URL).port
    assert port is not None
    broker = Broker(tmp_path_factory.mktemp("valkey"), port)
    broker.start()
    # Otherwise, no message would be published for a while after an earlier test failed to publish one.
    monkeypatch.setattr("portal.jobs._publisher._quiet_until", 0.0)
    yield broker
    broker.kill()
