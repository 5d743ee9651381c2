"""Reading a run against the public items and scoring it later gives bit-for-bit the same scores as one step."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from scoring import Definition, check_upload, score
from scoring.analysis.details import details
from scoring.check import read_answers
from scoring.definition import MetricSpec
from scoring.score import Result, accepted_gold, score_answers
from scoring.uploads.naming import example


def baselines(definition: Definition, track: str, split: str) -> Iterator[Path]:
    for baseline in definition.baselines:
        path = definition.folder / (baseline.files or "").format(split=split, track=track)
        if path.is_file():
            yield path


def bits(result: Result, metrics: Sequence[MetricSpec]) -> tuple[object, ...]:
    assert result.comparison is not None
    scores = {key: None if value is None else value.hex() for key, value in result.scores.items()}
    return scores, result.flags, details(result.comparison, metrics)


@pytest.mark.slow
def test_read_then_scored(definition: Definition, tmp_path: Path) -> None:
    compared = kept = 0
    for gold in definition.gold:
        track, split = gold.track, gold.split
        metrics = definition.track(track).metrics
        standard = accepted_gold(definition, track, gold.file.read_bytes(), split)
        for path in baselines(definition, track, split):
            at_once = score(
                definition, track, path, standard, definition.track(track).items[split], lenient=True, split=split
            )
            answers, report = read_answers(definition, track, path.read_bytes(), split, lenient=True)
            assert answers is not None, report
            assert bits(score_answers(definition, track, standard, answers), metrics) == bits(at_once, metrics)
            compared += 1
            name = example(definition, track, "Lak_NLP", 1)
            upload = check_upload(definition, path, str(name), "Lak_NLP", split, keep=path.stat().st_size)
            if upload.ok and upload.runs[0].answers is not None:
                assert bits(score_answers(definition, track, standard, upload.runs[0].answers), metrics) == bits(
                    at_once, metrics
                )
                kept += 1
    assert compared
    assert kept
