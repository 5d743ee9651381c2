"""Limits on typed spans: how many there may be, and how many may overlap at one position."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scoring import Definition, check, limits, load_definition, score

TASK = """
agon: 1
slug: nested
title: Nested
year: 2027
languages: [en]
tracks:
  - {slug: typed, format: {kind: typed-spans, classes: [PER, LOC]}, items: items.txt, metrics: [entity_f1_type],
     rank_by: entity_f1_type}
  - {slug: brat, format: {kind: brat, classes: [PER, LOC]}, items: items.txt, metrics: [entity_f1_type],
     rank_by: entity_f1_type}
naming: {run: "{track}_{team}[.zip]"}
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""
Triples = list[tuple[int, int, str]]
Write = Callable[[Triples, Triples], bytes]


@pytest.fixture
def nested(tmp_path: Path) -> Definition:
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "items.txt").write_text("d0\nd1", encoding="utf-8")
    return load_definition(tmp_path)


def typed(first: Triples, second: Triples) -> bytes:
    return f"d0\t{json.dumps(first)}\nd1\t{json.dumps(second)}\n".encode()


def brat(first: Triples, second: Triples) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for item, triples in (("d0", first), ("d1", second)):
            rows = enumerate(triples, 1)
            archive.writestr(f"{item}.ann", "".join(f"T{n}\t{kind} {a} {b}\tx\n" for n, (a, b, kind) in rows))
    return file.getvalue()


def at_one_position(count: int) -> Triples:
    """Return spans that all contain position 50, followed by spans that only touch them."""
    inside: Triples = [(n, 51 + n, "PER" if n % 2 else "LOC") for n in range(count)]
    return [*inside, (51 + count, 60 + count, "PER"), (60 + count, 70 + count, "LOC")]


@pytest.mark.parametrize(("track", "write"), [("typed", typed), ("brat", brat)])
def test_spans_at_one_position_are_limited(
    nested: Definition, track: str, write: Callable[[Triples, Triples], bytes]
) -> None:
    most = limits.OVERLAPPING_SPANS
    assert check(nested, track, write(at_one_position(most), at_one_position(most))).ok
    report = check(nested, track, write([(0, 5, "PER")], at_one_position(most + 1)))
    [problem] = report.errors
    assert (problem.code, problem.item, problem.found) == ("spans-overlap", "d1", str(most + 1))
    assert problem.expected == str(most)


def test_gold_with_more_spans_at_one_position_is_scored(nested: Definition) -> None:
    gold = typed(at_one_position(limits.OVERLAPPING_SPANS + 5), [])
    result = score(nested, "typed", typed(at_one_position(3), []), gold)
    assert result.report.ok
    assert result.scores["entity_f1_type"] is not None


def test_the_number_of_spans_is_limited(nested: Definition, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of triples has several commas per span, so that their number alone would allow too many."""
    monkeypatch.setattr(limits, "ENTRIES_FREE", 20)
    most = 20 + 2 * limits.TYPED_SPANS_AN_ITEM
    assert check(nested, "typed", typed([(n, n + 1, "PER") for n in range(most)], [])).ok
    [problem] = check(nested, "typed", typed([(n, n + 1, "PER") for n in range(most + 1)], [])).errors
    assert (problem.code, problem.found, problem.expected) == ("too-many-entries", str(most + 1), str(most))
