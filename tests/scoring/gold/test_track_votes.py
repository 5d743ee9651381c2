"""Votes in a definition, for labels and for table columns."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scoring import DefinitionError, load_definition
from scoring.gold.agreement import agreement_by_class
from scoring.gold.track_votes import agreement_of, rules_of
from scoring.task_folder.folder import errors_of_folder
from tests.scoring.conftest import DEFINITION

VOTES = {"d_0": [["whole"], ["whole", "left"], ["none"]], "d_1": [["none"], ["none"], ["none"]]}


def write(write_task: Callable[[str], Path], entry: str, votes: object) -> Path:
    folder = write_task(f"{DEFINITION}votes: [{entry}]\n")
    (folder / "votes.json").write_text(json.dumps(votes))
    return folder


def test_columns_are_voted_on_and_a_vote_for_none_counts(write_task: Callable[[str], Path]) -> None:
    definition = load_definition(write(write_task, "{track: task3-table, file: votes.json, none: none}", VOTES))
    rows = {row.name: row for row in agreement_of(definition.track("task3-table"), definition.votes[0])}
    assert list(rows) == ["whole", "left", "whole answers"]
    assert rows["whole"].items == 2
    assert rows["whole"].pairwise == pytest.approx((1 + 0.5 + 0.5) / 3)  # d_0: one pair of three agrees; d_1: all pairs
    assert rows["left"].pairwise == pytest.approx((0.5 + 1 + 0.5) / 3)
    assert rows["whole answers"].pairwise == pytest.approx(0.5)


def test_further_labels_have_agreement_but_are_not_part_of_whole_answers(
    write_task: Callable[[str], Path],
) -> None:
    votes = {"d_0": [["whole", "irony"], ["whole"]], "d_1": [["none"], ["none"]]}
    entry = "{track: task3-table, file: votes.json, none: none, also: [irony]}"
    definition = load_definition(write(write_task, entry, votes))
    rows = {row.name: row for row in agreement_of(definition.track("task3-table"), definition.votes[0])}
    assert {name: row.pairwise for name, row in rows.items()} == {
        "whole": 1.0,
        "left": 1.0,
        "irony": 0.5,
        "whole answers": 1.0,
    }


def test_labels_as_the_command_reads_them(write_task: Callable[[str], Path]) -> None:
    votes = {"i0": ["A", "B", "UNKNOWN"], "i1": ["A", "A", "A"]}
    definition = load_definition(write(write_task, "{track: task1-hard, file: votes.json}", votes))
    track = definition.track("task1-hard")
    by_hand = {item: [[label] for label in labels] for item, labels in votes.items()}
    assert agreement_of(track, definition.votes[0]) == agreement_by_class(by_hand, rules_of(track))


@pytest.mark.parametrize(
    ("entry", "where"),
    [
        ("{track: nothing, file: votes.json}", "votes[0].track"),
        ("{track: task3-table, split: dev, file: votes.json}", "votes[0].split"),
        ("{track: task5-spans, file: votes.json}", "votes[0].track"),
        ("{track: task3-table, file: votes.json, experts: [eve]}", "votes[0].experts"),
        ("{track: task1-soft, file: votes.csv, experts: [eve]}", "votes[0].experts"),
    ],
)
def test_votes_are_on_a_track_s_classes(write_task: Callable[[str], Path], entry: str, where: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        load_definition(write(write_task, entry, VOTES))
    assert [problem.item for problem in raised.value.report] == [where]


def test_a_folder_with_votes_for_something_else_is_rejected(write_task: Callable[[str], Path]) -> None:
    definition = load_definition(write(write_task, "{track: task3-table, file: votes.json}", VOTES))
    (error,) = [error for error in errors_of_folder(definition) if "votes" in error]
    assert error.startswith("votes.json (votes on the track task3-table, split test): item d_0: 'none' is not one of")


@pytest.mark.parametrize(
    ("experts", "expected"),
    [
        ("zoe", None),
        ("zoey", "there are no votes from zoey (closest name: zoe); the annotators are ann, bob, zoe"),
        (
            "ann, bob, zoe",
            "all annotators are experts: ann, bob, zoe; the others are the crowd, so leave out at least one",
        ),
    ],
)
def test_experts_are_annotators_in_the_votes(
    write_task: Callable[[str], Path], experts: str, expected: str | None
) -> None:
    folder = write_task(f"{DEFINITION}votes: [{{track: task3-table, file: votes.csv, experts: [{experts}]}}]\n")
    rows = ["d_0,ann,1,0", "d_0,bob,1,1", "d_0,zoe,0,0"]
    (folder / "votes.csv").write_text("\n".join(["item,annotator,whole,left", *rows]))
    found = [error for error in errors_of_folder(load_definition(folder)) if "votes" in error]
    place = "votes.csv (votes on the track task3-table, split test): "
    assert found == ([] if expected is None else [f"{place}{expected}."])


def test_a_table_of_votes_can_have_the_track_s_columns(write_task: Callable[[str], Path]) -> None:
    folder = write_task(f"{DEFINITION}votes: [{{track: task3-table, file: votes.csv}}]\n")
    rows = ["d_0,x,1,0", "d_0,y,1,1", "d_0,z,0,0", "d_1,x,0,0", "d_1,y,0,", "d_1,z,0,0"]
    (folder / "votes.csv").write_text("\n".join(["item,annotator,whole,left", *rows]))
    definition = load_definition(folder)
    rows_of_json = load_definition(write(write_task, "{track: task3-table, file: votes.json, none: none}", VOTES))
    expected = agreement_of(rows_of_json.track("task3-table"), rows_of_json.votes[0])
    assert agreement_of(definition.track("task3-table"), definition.votes[0]) == expected


def test_agreement_on_the_characters_of_spans(write_task: Callable[[str], Path]) -> None:
    folder = write_task(f"{DEFINITION}votes: [{{track: task5-spans, file: marks.csv}}]\n")
    (folder / "posts.tsv").write_text("id\ttext\ni0\t" + "x" * 10 + "\ni1\t" + "y" * 4 + "\n")
    path = folder / "task.yaml"
    path.write_text(path.read_text().replace("format: {kind: spans}", "format: {kind: spans}\n    texts: posts.tsv"))
    marks = ['i0,a,"[0, 1]"', 'i0,b,"[1, 2]"', "i0,c,[]", "i1,a,[]", "i1,b,[]"]
    (folder / "marks.csv").write_text("\n".join(["item,annotator,label", *marks]))
    definition = load_definition(folder)
    (row,) = agreement_of(definition.track("task5-spans"), definition.votes[0])
    # i0: a and b agree on 8 of 10 characters. By chance, they would agree on (2·2 + 8·8)/100 = 0.68. c marked nothing,
    # so its kappas are 0.
    assert (row.name, row.items, row.fleiss) == ("characters", 2, None)
    assert row.cohen == pytest.approx(((0.8 - 0.68) / (1 - 0.68) + 0 + 0) / 3)
    assert row.pairwise == pytest.approx(((0.8 + 0.8 + 0.8) / 3 + 1) / 2)
    assert errors_of_folder(definition) == [] or not any("votes" in error for error in errors_of_folder(definition))
    (folder / "marks.csv").write_text("item,annotator,label\ni1,a,[4]\ni1,b,[0]")
    with pytest.raises(ValueError, match="item i1: the offset 4 is outside the text of 4 characters"):
        agreement_of(definition.track("task5-spans"), definition.votes[0])
