"""The systemd units: each role's rights and user, a good score in systemd's own audit, and restarts."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "deploy/systemd"
UNITS = sorted(FOLDER.glob("*.service"))
USERS = {
    "agon-web@": "agon-web",
    "agon-worker": "agon-worker",
    "agon-background": "agon-worker",
    "agon-hidden": "agon-worker",
    "agon-mail": "agon-mail",
    "agon-beat": "agon-mail",
    "agon-backup": "agon",
    "agon-rehearse": "agon",
    "agon-doctor": "agon",
    "agon-failed@": "agon",
    "agon-retry@": "agon",
}
# The units that run all the time.
SERVICES = {"agon-web@", "agon-worker", "agon-hidden", "agon-background", "agon-mail", "agon-beat"}


def values(unit: Path, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit.read_text(), re.MULTILINE)


def test_each_role_is_a_user_of_its_own() -> None:
    assert {unit.stem: values(unit, "User")[0] for unit in UNITS} == USERS
    guide = (ROOT / "docs/for-administrators.md").read_text()
    made = {"agon", *re.findall(r"agon-\w+", re.findall(r"for role in (.*); do adduser --system", guide)[0])}
    assert set(USERS.values()) == made


def test_the_key_to_gold_and_the_backups_are_for_those_who_need_them() -> None:
    assert {unit.stem for unit in UNITS if values(unit, "LoadCredential")} == {
        "agon-worker",
        "agon-hidden",
        "agon-background",
    }
    hidden = {unit.stem for unit in UNITS if "/var/lib/agon/backups" in " ".join(values(unit, "InaccessiblePaths"))}
    assert hidden == USERS.keys() - {"agon-backup", "agon-rehearse"}


def test_whatever_fails_is_reported() -> None:
    reported = {unit.stem for unit in UNITS if "agon-failed@%N.service" in " ".join(values(unit, "OnFailure"))}
    assert reported == USERS.keys() - {"agon-failed@", "agon-retry@"}


def test_a_frozen_service_is_killed_and_started_again() -> None:
    """The watchdog's signal must be one that a stopped process cannot leave pending."""
    wanted = {"Type": "notify", "WatchdogSec": "60", "WatchdogSignal": "SIGKILL", "Restart": "always"}
    for unit in UNITS:
        found = {key: values(unit, key) for key in wanted}
        assert found == {key: [value] for key, value in wanted.items()} or unit.stem not in SERVICES


def test_a_service_that_cannot_start_reaches_the_limit_and_is_started_again_later() -> None:
    retried = {unit.stem for unit in UNITS if "agon-retry@%N.service" in " ".join(values(unit, "OnFailure"))}
    assert retried == SERVICES
    for unit in UNITS:
        if unit.stem in SERVICES:
            pause, most, within = (
                int(values(unit, key)[0]) for key in ("RestartSec", "StartLimitBurst", "StartLimitIntervalSec")
            )
            slowest_start = 30  # seconds until it fails
            assert most * (pause + slowest_start) < within


def test_each_timer_has_its_unit_and_is_switched_on_by_the_guide() -> None:
    timers = {timer.stem for timer in FOLDER.glob("*.timer")}
    assert timers == {"agon-backup", "agon-rehearse", "agon-doctor"}
    assert all((FOLDER / f"{timer}.service").exists() for timer in timers)
    enabled = re.findall(r"systemctl enable --now (.*)", (ROOT / "docs/for-administrators.md").read_text())[0].split()
    assert {f"{timer}.timer" for timer in timers} <= set(enabled)


def test_no_unit_writes_outside_its_folders_or_gains_rights() -> None:
    """These lines are checked separately, because each of them alone hardly changes systemd's score."""
    shared = FOLDER / "agon-.service.d/all.conf"
    closed = {"ProtectSystem": "strict", "NoNewPrivileges": "true", "CapabilityBoundingSet": "", "PrivateTmp": "true"}
    assert {key: values(shared, key) for key in closed} == {key: [value] for key, value in closed.items()}
    assert [unit.stem for unit in UNITS if any(values(unit, key) for key in closed)] == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_exposure_is_low(unit: Path) -> None:
    """systemd's score ranges from 0 (closed) to 10 (open). It includes the drop-in shared by all units."""
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", unit]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (exposure,) = re.findall(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert float(exposure) < 2


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_understands_every_line(unit: Path) -> None:
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", unit]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # /opt/agon does not exist on this machine.
    problems = [line for line in done.stderr.splitlines() if "is not executable" not in line]
    assert problems == []
