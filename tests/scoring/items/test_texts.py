"""Item tables: separators and missing columns."""

from pathlib import Path

import pytest

from scoring.items.texts import TextsError, read_texts


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("items.csv", 'id,text\na,"x, y"\n'),
        ("items.csv", "id;text\na;x, y\n"),
        ("items.csv", "\ufeffid\ttext\na\tx, y\n"),
        ("items.tsv", "id\ttext\na\tx, y\n"),
        ("items.txt", "id\ttext\na\tx, y\n"),
    ],
)
def test_the_header_of_a_csv_file_shows_its_separator(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_texts(tmp_path / name, ("id",)) == {"a": "x, y"}


def test_a_missing_column_is_named_among_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("id;language\na;en\n", encoding="utf-8")
    with pytest.raises(TextsError, match="no column text; its columns are id, language"):
        read_texts(tmp_path / "items.csv", ("id",))
