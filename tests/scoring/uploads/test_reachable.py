"""Tracks that no file name leads to, although the naming rule is valid."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scoring import load_definition
from scoring.task_folder.folder import errors_of_folder
from scoring.uploads.name_rules import RunRule
from scoring.uploads.naming import explain, unreachable_tracks
from scoring.uploads.patterns import Pattern

TASK = """
agon: 1
slug: tiny
title: Tiny
year: 2026
languages: [en]
tracks:
{tracks}
naming: {{{naming}}}
phases: [{{slug: open, opens: "2026-01-01 00:00 UTC", scores: at-once, official: best}}]
"""
TRACK = (
    "  - {{slug: {}, format: {{kind: json-labels, classes: [a, b]}}, items: items.txt, metrics: [accuracy], "
    "rank_by: accuracy}}"
)


@pytest.mark.parametrize(
    ("tracks", "naming", "unreachable"),
    [
        (["ab-c", "a-bc"], 'run: "{task}{context}_{team}", track: "{task}-{context}"', ["a-bc"]),
        (["en", "es"], 'run: "{track}_{team}.zip"', ["en", "es"]),
        (["en", "es"], 'run: " {track}_{team}"', ["en", "es"]),
        (["en", "en-a"], 'run: "{track}-{team}.json"', []),
        (["en", "en-a"], 'run: "{team}/{track}/run.json"', []),
        (["en"], 'run: "run.json"', []),
        (["en"], 'run: "run.json", archive: " runs {team}"', ["archive"]),
        (["en"], 'run: "run.json", archive: "runs {team}"', []),
    ],
)
def test_each_track_needs_a_file_name_that_leads_to_it(
    write_task: Callable[[str], Path], tracks: list[str], naming: str, unreachable: list[str]
) -> None:
    lines = "\n".join(map(TRACK.format, tracks))
    folder = write_task(TASK.format(tracks=lines, naming=naming))
    found = [
        re.search("no (?:file name leads to the track )?([a-z-]+)", error)
        for error in errors_of_folder(load_definition(folder))
    ]
    assert [match[1] for match in found if match] == unreachable


def test_few_names_show_that_tracks_can_be_reached(
    write_task: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task can have hundreds of tracks and run numbers."""
    lines = "\n".join(TRACK.format(f"t{number}") for number in range(20))
    numbers = list(range(1, 201))
    folder = write_task(TASK.format(tracks=lines, naming=f'run: "{{track}}_{{team}}_{{number}}", number: {numbers}'))
    definition = load_definition(folder)
    made = list[str]()
    every_name = RunRule.right_names

    def counted(*arguments: Any) -> Iterator[str]:
        for name in every_name(*arguments):
            made.append(name)
            yield name

    monkeypatch.setattr(RunRule, "right_names", counted)
    assert unreachable_tracks(definition) == {}
    assert len(made) <= 3 * len(definition.tracks)


def test_an_invalid_name_is_compared_with_each_track_only_a_few_times(
    write_task: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\n".join(TRACK.format(f"t{number}") for number in range(20))
    folder = write_task(TASK.format(tracks=lines, naming='run: "{track}_{team}_{number}.json", number: [1, 2]'))
    definition = load_definition(folder)
    compared = list[str]()
    match = RunRule._match

    def counted(rule: RunRule, pattern: Pattern, name: str, *others: Any) -> Any:
        compared.append(name)
        return match(rule, pattern, name, *others)

    monkeypatch.setattr(RunRule, "_match", counted)
    codes = {problem.code for problem in explain(definition, "X1_Bad.Team_77.txt", "Lak").report}
    assert codes == {"name-extension", "name-number", "name-team", "name-track"}
    assert compared.count("X1_Bad.Team_77.txt") <= 3 * len(definition.tracks)
