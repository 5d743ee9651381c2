"""Votes in a definition, on labels and on table columns."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scoring import DefinitionError, load_definition
from scoring.definition.folder import errors_of_folder
from scoring.gold.agreement import agreement_by_class
from scoring.gold.track_votes import agreement_of, rules_of
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
