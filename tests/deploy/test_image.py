"""The image: its size, and whether what is left of its packages is enough. No Docker engine is needed."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from django.conf import settings
from packaging.requirements import Requirement

from tests.conftest import ROOT
from tests.deploy.docker import copy_sources

pytestmark = pytest.mark.slow

LIMIT = 400_000_000
# The files of python:3.13.9-slim, and the bytecode of the standard library's modules that `collectstatic` imports:
# Debian 81 MB, Python 33 MB and the libraries that it needs 5 MB, bytecode 5 MB.
BASE = 125_000_000


@pytest.fixture(scope="module")
def image() -> Iterator[Path]:
    """The folder /agon of the image, made by the Dockerfile's steps from the packages of this environment."""
    if shutil.which("strip") is None:
        pytest.skip("binutils is not installed")
    with tempfile.TemporaryDirectory(prefix="agon-image-") as folder:
        agon = Path(folder) / "agon"
        agon.mkdir()
        copy_sources(ROOT, agon)
        venv.create(agon / ".venv", symlinks=True)
        copy_packages(packages(agon))
        subprocess.run([ROOT / "deploy/prune_packages.sh", ".venv"], cwd=agon, check=True)
        environment = {"AGON_STATE": f"{folder}/state", "AGON_STATIC": str(agon / "collected")}
        compile_sources = [python(agon), "-m", "compileall", "-q", "agon", "scoring", "portal"]
        subprocess.run(compile_sources, cwd=agon, check=True)
        collect = [python(agon), "manage.py", "collectstatic", "--noinput"]
        subprocess.run(collect, cwd=agon, env=environment, check=True, stdout=subprocess.DEVNULL)
        yield agon


def python(agon: Path) -> Path:
    return agon / ".venv/bin/python"


def packages(agon: Path) -> Path:
    return agon / ".venv/lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"


def copy_packages(target: Path) -> None:
    """Copy the packages that the image has by default, with bytecode, as uv installs them."""
    lines = (ROOT / "requirements-production.txt").read_text().splitlines()
    pinned = [Requirement(line.rstrip(" \\")) for line in lines if re.match(r"\w", line)]
    wanted = {one.name for one in pinned if one.marker is None or one.marker.evaluate()}
    for name in wanted - set(without_figures()):
        for file in distribution(name).files or ():
            if ".." not in file.parts:
                copy_with_bytecode(Path(str(file.locate())), target / file)
    subprocess.run([sys.executable, "-m", "compileall", "-q", target], check=False, stdout=subprocess.DEVNULL)


def copy_with_bytecode(source: Path, target: Path) -> None:
    files = {source: target}
    if source.suffix == ".py":
        files[Path(cache_from_source(str(source)))] = Path(cache_from_source(str(target)))
    for one, copy in files.items():
        if one.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(one, copy)


def without_figures() -> list[str]:
    """Return the packages that the Dockerfile removes unless AGON_FIGURES is set."""
    (names,) = re.findall(
        r'if \[ -z "\$AGON_FIGURES" \]; then \S+ -m pip uninstall --yes (.+); fi', (ROOT / "Dockerfile").read_text()
    )
    return str(names).split()


def test_without_figures_the_image_lacks_that_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(without_figures()) == {Requirement(one).name for one in extras["figures"]}


def size(path: Path) -> int:
    """Return the total size of a file, or of all files below a folder. Links are not counted."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file() and not file.is_symlink())


def test_the_image_is_smaller_than_400_mb(image: Path) -> None:
    parts = {path.relative_to(image): size(path) for path in [*image.iterdir(), *packages(image).iterdir()]}
    largest = sorted(((bytes_, str(path)) for path, bytes_ in parts.items()), reverse=True)[:20]
    total = BASE + size(image)
    assert total < LIMIT, "\n".join(f"{bytes_ / 1e6:6.1f} MB  {path}" for bytes_, path in [(total, "total"), *largest])


def test_every_module_of_the_portal_is_importable_in_the_image(image: Path) -> None:
    program = """
import os, pkgutil, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
import django; django.setup()
import portal, scoring
from importlib import import_module
from portal.figures.figure import CAN_DRAW
names = [m.name for p in (portal, scoring) for m in pkgutil.walk_packages(p.__path__, p.__name__ + ".")]
for name in names:
    if name.rpartition(".")[2] not in ("__main__", "drawing", "font_subsets", "fasttext"):  # extras
        import_module(name)
print(len(names), CAN_DRAW)
"""
    done = subprocess.run(
        [python(image), "-c", program],
        cwd=image,
        env={"AGON_STATE": str(image.parent / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, can_draw = done.stdout.split()
    assert (int(count) > 100, can_draw) == (True, "False")


def test_the_image_has_all_translations_into_the_languages_of_emails(image: Path) -> None:
    here = Path(sysconfig.get_path("purelib"))
    for name in ("django", "allauth", "django_countries"):
        for code, _ in settings.LANGUAGES:
            texts = [path.relative_to(here) for path in (here / name).rglob(f"locale/{code}/LC_MESSAGES/*.mo")]
            assert [file for file in texts if not (packages(image) / file).exists()] == []


PARTS = (
    "tests/portal/test_admin.py",
    "tests/portal/test_bucket.py",
    "tests/portal/test_mail_accounts.py",
)


def test_admin_emails_and_bucket_work_with_the_images_packages(image: Path, tmp_path: Path) -> None:
    """Run other tests with the image's packages. Only packages that it lacks come from this environment."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.path.append({sysconfig.get_path('purelib')!r})\n")
    command = [python(image), "-m", "pytest", "-q", "-n", "0", *PARTS]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
