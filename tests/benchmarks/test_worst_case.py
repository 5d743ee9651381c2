"""Smaller versions of the benchmark's hostile uploads: each is checked in time and gets a report."""

from collections import Counter
from pathlib import Path
from time import process_time

import pytest

from benchmarks.hostile_uploads import TEAM, corpus, gold_of, hostile_task
from benchmarks.worst_case import Measured, contract, measured
from scoring import Definition, check_upload
from scoring.score import load_gold

SIZE, NAMES = 500_000, 60
SECONDS = 2.0  # CPU seconds; quadratic checks need far more, the slowest of these uploads a third of it
TRIES = 3  # garbage collection in a long session can slow down one of them
UPLOADS = {upload.name: upload for upload in corpus(SIZE, NAMES)}


@pytest.fixture(scope="module")
def definition(tmp_path_factory: pytest.TempPathFactory) -> Definition:
    return hostile_task(tmp_path_factory.mktemp("hostile"))


def test_the_corpus_is_large_and_always_the_same() -> None:
    again = corpus(SIZE, NAMES)
    assert len(UPLOADS) == len(again) >= 60
    for upload in again[::9]:
        assert upload.build() == UPLOADS[upload.name].build()


def test_every_format_is_in_it(definition: Definition) -> None:
    tracks = Counter(name.partition(":")[0] for name in UPLOADS)
    assert all(tracks[track.slug] for track in definition.tracks)
    for track in definition.tracks:
        assert len(load_gold(definition, track.slug, gold_of(track.slug)))


@pytest.mark.parametrize("name", UPLOADS)
def test_no_check_is_expensive(definition: Definition, tmp_path: Path, name: str) -> None:
    path = tmp_path / "upload"
    path.write_bytes(UPLOADS[name].build())
    for _ in range(TRIES):
        start = process_time()
        report = check_upload(definition, path, UPLOADS[name].file_name, TEAM).report
        if (used := process_time() - start) < SECONDS:
            break
    assert used < SECONDS
    assert report.ok or all(problem.message for problem in report.errors)


def test_an_upload_is_measured_on_the_portals_way(tmp_path: Path) -> None:
    """Measure an upload that is rejected by name, one that is rejected for its content, and one that is scored."""
    names = ("archive of names: words", "task1-hard: one long label", "task2-hard: all labels of each item")
    found = list(measured([UPLOADS[name] for name in names], tmp_path))
    codes = [one.codes and set(one.codes) for one in found]
    assert codes == [{"name-pattern", "names-not-analyzed"}, {"label-outside-domain", "missing-items"}, []]
    assert contract(found)["failed"] == 0
    assert all(0 < one.seconds < 40 and 10 < one.memory < 2000 for one in found)


def test_an_upload_without_a_report_counts_as_failed() -> None:
    found = [Measured("a", 0.5, 90, []), Measured("b", 1.5, 80, None)]
    assert contract(found) == {"cpu_seconds_max": 1.5, "memory_mb_max": 90, "failed": 1}
