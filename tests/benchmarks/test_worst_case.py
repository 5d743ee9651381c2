"""Smaller versions of the benchmark's hostile uploads: each gets a report. Only the benchmark measures their cost."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.hostile_uploads import ITEMS, TEAM, corpus, gold_of, hostile_task
from benchmarks.worst_case import Measured, contract, measured
from scoring import Definition, Report, check_upload
from scoring.check import find_items
from scoring.score import load_gold
from scoring.task_folder.run_sizes import errors_of_size

SIZE, NAMES = 50_000, 6
UPLOADS = {upload.name: upload for upload in corpus(SIZE, NAMES)}
MANY_NAMES = 60  # more than are analyzed


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
        assert len(load_gold(definition, track.slug, gold_of(track.slug, ITEMS[:20])))


def test_its_tracks_are_as_large_as_is_allowed(definition: Definition) -> None:
    sizes = {track.slug: len(find_items(track, None, "test", Report()).ids) for track in definition.tracks}  # type: ignore[union-attr]
    errors = {track.slug: [*errors_of_size(track, sizes[track.slug])] for track in definition.tracks}
    assert [slug for slug, own in errors.items() if own] == []


@pytest.mark.slow
def test_every_upload_gets_a_report(definition: Definition, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    without_message = []
    for name, upload in UPLOADS.items():
        path.write_bytes(upload.build())
        try:
            report = check_upload(definition, path, upload.file_name, TEAM).report
        except Exception as error:
            error.add_note(name)
            raise
        if not all(problem.message for problem in report):
            without_message.append(name)
    assert without_message == []


def test_an_upload_is_measured_on_the_portals_way(tmp_path: Path) -> None:
    """Measure an upload that is rejected by name, one that is rejected for its content, and one that is scored."""
    names = ("archive of names: words", "task1-hard: one long label", "task2-hard: all labels of each item")
    uploads = {upload.name: upload for upload in corpus(SIZE, MANY_NAMES)}
    found = list(measured([uploads[name] for name in names], tmp_path))
    codes = [one.codes and set(one.codes) for one in found]
    assert codes == [{"name-pattern", "names-not-analyzed"}, {"label-outside-domain", "missing-items"}, []]
    assert contract(found)["failed"] == 0
    assert all(0 < one.seconds < 40 and 10 < one.memory < 2000 for one in found)


def test_an_upload_without_a_report_counts_as_failed() -> None:
    found = [Measured("a", 0.5, 90, []), Measured("b", 1.5, 80, None)]
    assert contract(found) == {"cpu_seconds_max": 1.5, "memory_mb_max": 90, "failed": 1}
