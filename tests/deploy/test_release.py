"""A release is made from a clean checkout, and its files can be checked and installed."""

import json
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

VERSION = "0.2.0"


def run(folder: Path, *command: str, programs: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = os.environ["PATH"] if programs is None else f"{programs}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of the last commit with this checkout's environment."""
    folder = tmp_path / "agon"
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, folder], check=True)
    for key, value in {"user.name": "Release", "user.email": "release@example.org"}.items():
        run(folder, "git", "config", key, value)
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
    (folder / ".git/info/exclude").write_text("/.venv\n")
    return folder


def test_a_release_is_complete(clone: Path, tmp_path: Path) -> None:
    for name in ("docker", "podman"):  # as if neither were running, because building an image takes minutes
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    done = run(clone, "./deploy/release.sh", VERSION, programs=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"git push origin HEAD v{VERSION}" in done.stdout
    assert "The image was left out" in done.stdout
    assert run(clone, "git", "status", "--porcelain").stdout == ""
    assert run(clone, "git", "describe", "HEAD").stdout.strip() == f"v{VERSION}"
    dist = clone / "dist"
    wheel = dist / f"agon-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert f"Version: {VERSION}" in archive.read(f"agon-{VERSION}.dist-info/METADATA").decode()
    with tarfile.open(dist / f"agon-{VERSION}.tar.gz") as archive:
        assert f"agon-{VERSION}/LICENSE" in archive.getnames()
    named = {part["name"] for part in json.loads((dist / f"agon-{VERSION}.cdx.json").read_text())["components"]}
    assert {"django", "numpy", "celery"} <= named
    assert (dist / f"changes-{VERSION}.md").read_text().startswith(f"## {VERSION} (2")
    checked = run(dist, "sha256sum", "--check", "SHA256SUMS")
    assert checked.returncode == 0
    assert wheel.name in checked.stdout


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("", "Name the version"),
        ("0.2", "Name the version"),
        ("9.9.9", "CHANGELOG.md has no section “9.9.9 (not released yet)”"),
    ],
)
def test_a_wrong_version_changes_nothing(clone: Path, version: str, said: str) -> None:
    done = run(clone, "./deploy/release.sh", version)
    assert (done.returncode, said in done.stderr) == (1, True)
    assert run(clone, "git", "status", "--porcelain").stdout == ""


def test_only_a_clean_checkout_is_released(clone: Path) -> None:
    (clone / "README.md").write_text("changed")
    done = run(clone, "./deploy/release.sh", VERSION)
    assert (done.returncode, "uncommitted changes" in done.stderr) == (1, True)


def test_the_workflow_follows_its_schema() -> None:
    workflow = ROOT / ".github/workflows/test.yml"
    command = [ROOT / ".venv/bin/check-jsonschema", "--builtin-schema", "vendor.github-workflows", workflow]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert ".ci/run" in workflow.read_text()
