"""The portal's own client: the wheel at /client/, and how pages explain its installation."""

import hashlib
import io
import re
import shutil
import tomllib
import zipfile
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from portal import __version__
from portal.web.client import wheel
from tests.conftest import ROOT


def test_the_page_has_the_wheel_and_the_command_with_its_hash(db: None, anybody: Client) -> None:
    page = anybody.get("/client/").content.decode()
    address, digest = re.findall(r"pip install &#x27;(\S+)#sha256=([0-9a-f]{64})&#x27;", page)[0]
    answer = anybody.get(address.removeprefix(settings.PUBLIC_URL))
    assert answer.status_code == 200
    assert hashlib.sha256(answer.content).hexdigest() == digest
    assert address.endswith(f"/client/agon-{__version__}-py3-none-any.whl")
    assert anybody.get("/client/agon-0.0.1-py3-none-any.whl").status_code == 404


def test_it_holds_engine_and_client_in_the_portals_version() -> None:
    with zipfile.ZipFile(io.BytesIO(wheel().content)) as packed:
        names = packed.namelist()
        metadata = packed.read(f"agon-{__version__}.dist-info/METADATA").decode()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"agon", "scoring", f"agon-{__version__}.dist-info"}
    assert {
        "agon/py.typed",
        "scoring/py.typed",
        "scoring/locale/es/LC_MESSAGES/scoring.mo",
        "scoring/locale/pt/LC_MESSAGES/scoring.mo",
    } <= set(names)
    assert not [name for name in names if name.endswith((".po", ".pyc"))]
    assert f"Version: {__version__}\n" in metadata
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


@pytest.mark.slow
def test_the_same_files_make_the_same_bytes_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("agon", "scoring", "tasks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    for path in tmp_path.rglob("*.py"):
        path.chmod(0o600)
    monkeypatch.setattr(settings, "BASE_DIR", tmp_path)
    assert wheel.__wrapped__() == wheel()
    (tmp_path / "agon/more.py").write_text('"""One file more."""\n')
    assert wheel.__wrapped__().sha256 != wheel().sha256


def test_pages_show_how_to_install_it(meltemi: object, sender: Client) -> None:
    for address in ("/guide/", "/tasks/tiny/submit/"):
        page = sender.get(address).content.decode()
        assert f"#sha256={wheel().sha256}" in page, address
        assert f"agon login {settings.PUBLIC_URL}" in page, address
