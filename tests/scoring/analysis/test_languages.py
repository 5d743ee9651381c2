"""Scores by the language of the items."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scoring import load_definition
from scoring.analysis.languages import by_language, read_languages
from scoring.definition import MetricSpec
from scoring.definition.folder import errors_of_folder
from scoring.metrics import LoadedGold, compare, compute
from tests.scoring.conftest import DEFINITION
from tests.scoring.metrics.examples import read_answers

GOLD = {"1": "A", "2": "B", "3": "A", "4": "B"}
RUN = {"4": "A", "3": "A", "2": "B", "1": "B"}


def test_each_language_is_scored_alone() -> None:
    gold = LoadedGold(read_answers("labels", GOLD))
    run = compare(gold, read_answers("labels", RUN))
    languages = {"1": "en", "2": "en", "3": "en", "4": "es", "5": "es"}
    icm, accuracy = MetricSpec("icm"), MetricSpec("accuracy")
    found = by_language({"run": run}, languages, (icm, accuracy))
    assert found["items"] == {"en": 3, "es": 1}
    part = {item: GOLD[item] for item in "123"}
    alone = compare(
        LoadedGold(read_answers("labels", part)), read_answers("labels", {item: RUN[item] for item in part})
    )
    assert found["scores"]["run"]["en"]["icm"] == pytest.approx(compute(alone, icm))
    assert [scores["accuracy"] for scores in found["scores"]["run"].values()] == [2 / 3, 0]


def test_one_language_or_spans_have_nothing_to_compare() -> None:
    run = compare(LoadedGold(read_answers("labels", GOLD)), read_answers("labels", RUN))
    assert by_language({"run": run}, dict.fromkeys(GOLD, "en"), [MetricSpec("accuracy")]) == {}
    spans = read_answers("spans", {"1": "1 2", "2": "3"})
    found = by_language({"run": compare(LoadedGold(spans), spans)}, {"1": "en", "2": "es"}, [MetricSpec("span_f1")])
    assert found == {}


def test_the_table_of_languages_is_looked_at_with_the_folder(write_task: Callable[[str], Path]) -> None:
    text = DEFINITION.replace("metrics: [icm]", "metrics: [icm]\n    item_languages: languages.tsv", 1)
    folder = write_task(text)
    (folder / "languages.tsv").write_text("id\tlang\ni0\ten\n")
    definition = load_definition(folder)
    track = definition.track("task1-hard")
    assert read_languages(track, track.item_languages["test"]) == {"i0": "en"}
    assert track.item_languages["test"] in definition.files_of_rules
    (folder / "languages.tsv").write_text("id\tlanguage\ni0\ten\n")
    assert [error for error in errors_of_folder(definition) if "lang" in error] == [
        "languages.tsv has no column lang; it has id, language (languages of the items of the track task1-hard)."
    ]
