"""A phase accepts runs only for its tracks: those with items in its split or, of these, the ones it lists."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scoring import Definition, DefinitionError, check_upload, load_definition
from scoring.uploads import naming
from tests.scoring.conftest import DEFINITION, ITEMS

TEAM = "Lak_NLP"
PRACTICE = (
    '  - {slug: practice, opens: "2025-01-01 00:00 UTC", split: dev, scores: at-once, official: best, tracks: TRACKS}\n'
)


@pytest.fixture
def read(write_task: Callable[[str], Path]) -> Callable[[str], Definition]:
    """Load the tiny task with a practice phase. Two of its tracks have items in the split dev."""

    def load(tracks: str = "") -> Definition:
        text = DEFINITION + (PRACTICE.replace("TRACKS", tracks) if tracks else PRACTICE.replace(", tracks: TRACKS", ""))
        folder = write_task(text.replace("items: items.txt", "items: {test: items.txt, dev: items.txt}", 2))
        return load_definition(folder)

    return load


Read = Callable[[str], Definition]


def in_practice(definition: Definition) -> Definition:
    return definition.in_phase("practice")


def slugs(definition: Definition) -> list[str]:
    return [track.slug for track in definition.tracks]


def test_a_phase_has_the_tracks_with_items_or_those_it_lists(read: Read) -> None:
    assert slugs(in_practice(read(""))) == ["task1-hard", "task2-hard"] == slugs(read("").in_split("dev"))
    assert slugs(in_practice(read("[task2-hard]"))) == ["task2-hard"] == slugs(read("[task2-hard]").in_split("dev"))
    assert len(slugs(read("").in_phase("open"))) == 6
    assert read("[task2-hard]").splits_of(read("[task2-hard]").track("task1-hard")) == ["test"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("task1_hard_Lak_NLP_1.json", None),
        ("task1_soft_Lak_NLP_1.json", "track-not-in-phase"),
        ("task1_soft_Lak_NLP_1.txt", "track-not-in-phase"),
        ("task5_spans_lak_nlp_9.json", "track-not-in-phase"),
        ("task1_sort_Lak_NLP_1.json", "name-track"),
    ],
)
def test_a_run_for_another_track_is_an_error_that_names_the_tracks(
    read: Read, tmp_path: Path, name: str, code: str | None
) -> None:
    run = tmp_path / "run"
    run.write_text(json.dumps([{"id": item, "value": "A", "test_case": "TINY"} for item in ITEMS]))
    for definition in (in_practice(read("")), read("")):
        checked = check_upload(definition, run, name, TEAM, split="dev")
        assert [problem.code for problem in checked.report] == ([code] if code else [])
    if code == "track-not-in-phase":
        (problem,) = checked.report
        assert problem.expected == "task1-hard, task2-hard"
        assert not checked.runs, "the content is not checked for another track"


def test_suggestions_are_for_tracks_of_the_phase(read: Read) -> None:
    near = naming.nearest(in_practice(read("")), "task1_soff_Lak_NLP_1.json", TEAM)
    assert near
    assert not [name for name in near if "soft" in name]


def test_given_items_are_for_any_track(read: Read, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.write_text(json.dumps([{"id": "t1", "value": {"NO": 1, "A": 0, "B": 0}}]))
    assert check_upload(read(""), run, "task1_soft_Lak_NLP_1.json", TEAM, split="dev", items=["t1"]).ok


@pytest.mark.parametrize(
    ("tracks", "place", "words"),
    [
        ("[]", "phases[1].tracks", "at least one entry"),
        ("[task9-hard]", "phases[1].tracks[0]", "no track task9-hard"),
        ("[task1-hard, task1-soft]", "phases[1].tracks[1]", "no items for the split dev"),
    ],
)
def test_listed_tracks_exist_and_have_items(read: Read, tracks: str, place: str, words: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        read(tracks)
    (problem,) = raised.value.report
    assert (problem.code, problem.item) == ("definition-rule", place)
    assert words in problem.message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("items: items.txt", "items: {train: items.txt}", "no phase uses the track's items"),
        ("scores: at-once,", "tracks: [task2-hard], scores: at-once,", "no phase accepts runs for the track"),
    ],
)
def test_a_track_without_a_phase_is_an_error_at_the_next_push(
    write_task: Callable[[str], Path], old: str, new: str, words: str
) -> None:
    folder = write_task(DEFINITION.replace(old, new, 1))
    with pytest.raises(DefinitionError) as raised:
        load_definition(folder)
    problem = raised.value.report.problems[0]
    assert (problem.item, words in problem.message) == ("tracks[0].items", True)
    assert load_definition(folder, is_imported=True), "stored definitions keep working"
