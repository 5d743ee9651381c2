"""Kept task folders: built once, and built again when something that they depend on changes."""

from pathlib import Path

import pytest

from tasks import build, kept
from tasks.kept import content_key, kept_folder
from tests.tasks.test_generators import digest

SLUG = "tryagon"


def test_a_kept_folder_is_the_built_one_and_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = kept_folder(SLUG, tmp_path / "kept")
    assert digest(first) == digest(build(SLUG, tmp_path / "built"))
    monkeypatch.setattr(kept, "build", None)
    assert kept_folder(SLUG, tmp_path / "kept") == first


def test_a_folder_that_is_out_of_date_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = kept_folder(SLUG, tmp_path)
    monkeypatch.setattr(kept, "content_key", lambda _slug: "other")
    new = kept_folder(SLUG, tmp_path)
    assert not old.exists()
    assert digest(new)
    assert [path.name for path in (tmp_path / SLUG).iterdir()] == ["other"]


def test_a_build_that_fails_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(_slug: str, folder: Path) -> Path:
        folder.mkdir(parents=True)
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(kept, "build", half)
        with pytest.raises(InterruptedError):
            kept_folder(SLUG, tmp_path)
    assert not list((tmp_path / SLUG).iterdir())
    assert (kept_folder(SLUG, tmp_path) / "task.yaml").exists()


@pytest.mark.parametrize("source", [f"tasks/{SLUG}/generate.py", f"tasks/{SLUG}/task.yaml", "tasks/synthetic.py"])
def test_the_key_depends_on_the_sources(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (f"tasks/{SLUG}/generate.py", f"tasks/{SLUG}/task.yaml", "tasks/synthetic.py", "scoring/check.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    monkeypatch.setattr(kept, "_HERE", tmp_path / "tasks")
    monkeypatch.setattr(kept, "_ENGINE", tmp_path / "scoring")
    before = content_key(SLUG)
    assert content_key(SLUG) == before
    (tmp_path / source).write_text("after")
    assert content_key(SLUG) != before
