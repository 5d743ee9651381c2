"""Pinned packages are at least as new as the versions that fixed known vulnerabilities."""

import re

import pytest

from tests.conftest import ROOT

# package → first version without known vulnerabilities that concern the portal. Comparing them needs no package index.
FLOORS = {
    "django": "5.2.17",
    "django-allauth": "65.19.4",
    "cryptography": "46.0",
    "pyyaml": "6.0.2",
    "nh3": "0.3.7",
    "requests": "2.32.4",
    "sqlparse": "0.5.4",
    "urllib3": "2.6.0",
}
PINNED = re.compile(r"^([a-z0-9-]+)(?:\[[^\]]+\])?==([\d.]+)", re.MULTILINE)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.strip(".").split("."))


@pytest.mark.parametrize(
    "file", ["requirements.txt", "requirements-production.txt", "requirements-small.txt", "tests/requirements.txt"]
)
def test_pinned_versions_are_not_below_the_floors(file: str) -> None:
    pinned = dict(PINNED.findall((ROOT / file).read_text()))
    assert {"django", "django-allauth"} <= set(pinned)
    below = {
        name: pinned[name]
        for name, floor in FLOORS.items()
        if name in pinned and numbers(pinned[name]) < numbers(floor)
    }
    assert below == {}


@pytest.mark.parametrize(
    "file", ["requirements.txt", "requirements-production.txt", "requirements-small.txt", "tests/requirements.txt"]
)
def test_every_package_comes_with_hashes(file: str) -> None:
    text = (ROOT / file).read_text()
    blocks = re.split(r"\n(?=[a-z0-9])", text)
    assert [
        block.split()[0] for block in blocks if "==" in block.split("\n")[0] and "--hash=sha256:" not in block
    ] == []
