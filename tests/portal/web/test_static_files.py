"""The files that `collectstatic` writes."""

from pathlib import Path

from portal.web.static_files import StaticFiles


def test_only_files_with_hashed_names_are_compressed(tmp_path: Path) -> None:
    (tmp_path / "page.css").write_text("p { margin: 0 }\n" * 100)
    storage = StaticFiles(location=tmp_path, base_url="/static/")
    list(storage.post_process({"page.css": (storage, "page.css")}))
    hashed = storage.stored_name("page.css")
    assert hashed != "page.css"
    expected = {"page.css", hashed, f"{hashed}.br", f"{hashed}.gz", "staticfiles.json"}
    assert {path.name for path in tmp_path.iterdir()} == expected


def test_a_file_with_a_minified_version_is_not_compressed(tmp_path: Path) -> None:
    names = ("page.js", "page.min.js")
    for name in names:
        (tmp_path / name).write_text("let a = 1;\n" * 100)
    storage = StaticFiles(location=tmp_path, base_url="/static/")
    list(storage.post_process({name: (storage, name) for name in names}))
    compressed = {path.name for path in tmp_path.iterdir() if path.suffix in (".br", ".gz")}
    assert compressed == {storage.stored_name("page.min.js") + suffix for suffix in (".br", ".gz")}
