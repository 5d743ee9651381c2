"""Scores by item slice."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from scoring import load_definition
from scoring.analysis.slices import by_slice
from scoring.definition import MetricSpec
from scoring.definition.slices import Slicing
from scoring.items.slices import MANY, SliceColumn
from scoring.metrics import LoadedGold, compare, compute
from scoring.task_folder.folder import errors_of_folder
from tests.scoring.conftest import DEFINITION
from tests.scoring.metrics.examples import read_answers

GOLD = {"1": "A", "2": "B", "3": "A", "4": "B"}
RUN = {"4": "A", "3": "A", "2": "B", "1": "B"}


def in_languages(kind: str, gold: Mapping[str, str], languages: Mapping[str, str], folder: Path) -> LoadedGold:
    file = folder / "languages.tsv"
    file.write_text("\n".join(["id\tlang", *(f"{item}\t{code}" for item, code in languages.items()), ""]))
    column = SliceColumn(Slicing(column="lang", items={"test": file}), file, ("id",))
    return LoadedGold(read_answers(kind, gold), slice_columns={"language": column})


def test_each_slice_is_scored_alone(tmp_path: Path) -> None:
    gold = in_languages("labels", GOLD, {"1": "en", "2": "en", "3": "en", "4": "es", "5": "es"}, tmp_path)
    run = compare(gold, read_answers("labels", RUN))
    icm, accuracy = MetricSpec("icm"), MetricSpec("accuracy")
    found = by_slice({"run": run}, (icm, accuracy))["language"]
    assert found["items"] == {"en": 3, "es": 1}
    part = {item: GOLD[item] for item in "123"}
    alone = compare(
        LoadedGold(read_answers("labels", part)), read_answers("labels", {item: RUN[item] for item in part})
    )
    assert found["scores"]["run"]["en"]["icm"] == pytest.approx(compute(alone, icm))
    assert [scores["accuracy"] for scores in found["scores"]["run"].values()] == [2 / 3, 0]


def test_spans_have_slices_too(tmp_path: Path) -> None:
    gold = in_languages("spans", {"1": "1 2", "2": "3", "3": "7 8"}, {"1": "en", "2": "es", "3": "en"}, tmp_path)
    run = compare(gold, read_answers("spans", {"1": "1 2", "2": "4", "3": "8"}))
    found = by_slice({"run": run}, [MetricSpec("span_f1")])["language"]
    assert {code: one["span_f1"] for code, one in found["scores"]["run"].items()} == {
        "en": pytest.approx((1 + 2 / 3) / 2),
        "es": 0,
    }


def test_one_slice_or_many_have_nothing_to_compare(tmp_path: Path) -> None:
    one = in_languages("labels", GOLD, dict.fromkeys(GOLD, "en"), tmp_path)
    assert by_slice({"run": compare(one, read_answers("labels", RUN))}, [MetricSpec("accuracy")]) == {}
    ids = {str(number): "A" for number in range(MANY + 1)}
    many = in_languages("labels", ids, {item: item for item in ids}, tmp_path)
    assert by_slice({"run": compare(many, read_answers("labels", ids))}, [MetricSpec("accuracy")]) == {}


def test_the_table_of_slices_is_looked_at_with_the_folder(write_task: Callable[[str], Path]) -> None:
    slices = "slices: {language: {column: lang, items: languages.tsv}}"
    folder = write_task(DEFINITION.replace("metrics: [icm]", f"metrics: [icm]\n    {slices}", 1))
    (folder / "languages.tsv").write_text("id\tlang\ni0\ten\n")
    definition = load_definition(folder)
    assert definition.warnings == ()
    assert definition.track("task1-hard").slices["language"].items["test"] in definition.files_of_rules
    assert not [error for error in errors_of_folder(definition) if "lang" in error]
    (folder / "languages.tsv").write_text("id\tlanguage\ni0\ten\n")
    assert [error for error in errors_of_folder(definition) if "lang" in error] == [
        "languages.tsv has no column lang; its columns are id, language (slices language of the track task1-hard)."
    ]
    (folder / "languages.tsv").write_text("id\tlang\n" + "".join(f"i{row}\t{row}\n" for row in range(MANY + 1)))
    assert [error for error in errors_of_folder(definition) if "lang" in error] == [
        f"languages.tsv (slices language of the track task1-hard): there are {MANY + 1} slices;"
        f" at most {MANY} are allowed. Merge some slices."
    ]


def test_the_old_key_still_loads_with_a_warning(write_task: Callable[[str], Path]) -> None:
    folder = write_task(DEFINITION.replace("metrics: [icm]", "metrics: [icm]\n    item_languages: languages.tsv", 1))
    definition = load_definition(folder)
    assert definition.track("task1-hard").slices == {
        "language": Slicing(column="lang", items={"test": folder.resolve() / "languages.tsv"}, title="language")
    }
    (warning,) = definition.warnings
    replaced = "use slices instead of item_languages, which is deprecated but still works"
    assert warning.message == f"tracks[0].item_languages: {replaced}."
