"""Tracks that no file name leads to, although the naming rule is valid."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from scoring import load_definition
from scoring.task_folder.folder import errors_of_folder

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
