"""Task templates: their folders are complete, and handwritten cases get the same scores as in the official scorers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from scoring import Definition, check_upload, score
from scoring.definition.files import each_file
from scoring.score import named_bytes
from scoring.task_folder.folder import problems_of_folder
from scoring.uploads.naming import common_name, example
from tasks import GENERATORS, TEMPLATES, build
from tests.tasks.conftest import Built

CASES = sorted((Path(__file__).parent / "cases").glob("*/case*.json"))
FURTHER = [name for name in TEMPLATES if name not in GENERATORS]


@pytest.mark.slow
@pytest.mark.parametrize("template", FURTHER)
def test_it_is_complete_and_always_the_same(template: str, built: Built, tmp_path: Path) -> None:
    definition, second = built[template], build(template, tmp_path / "second")
    first = definition.folder
    assert list(problems_of_folder(definition)) == []
    assert definition.slug == template
    files = [path.relative_to(first) for path in sorted(first.rglob("*")) if path.is_file()]
    assert all((first / file).read_bytes() == (second / file).read_bytes() for file in files)
    TEMPLATES[template](second, seed=1)
    assert any((first / file).read_bytes() != (second / file).read_bytes() for file in files)


@pytest.mark.slow
@pytest.mark.parametrize("template", FURTHER)
def test_its_baselines_are_scored(template: str, built: Built) -> None:
    definition = built[template]
    for gold in definition.gold:
        for baseline in definition.baselines:
            path = baseline.file(definition.folder, gold.split, gold.track)
            if path is not None:
                run = named_bytes(definition.track(gold.track).files, path)
                assert score(definition, gold.track, run, gold=gold.file, split=gold.split).report.ok


@pytest.mark.slow
@pytest.mark.parametrize("file", CASES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_scores_are_those_of_the_official_scorer(file: Path, built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    case: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    definition = built[file.parent.name]
    run, gold = file.parent / case["run"], file.parent / case["gold"]
    result = score(definition, case["track"], run, gold=gold)
    assert result.report.ok, list(result.report)
    with capsys.disabled():
        for key, expected in case["scores"].items():
            print(f"\n{file.parent.name} {key}: {result.scores[key]}, {abs(result.scores[key] - expected):.1e}", end="")
    assert {key: result.scores[key] for key in case["scores"]} == pytest.approx(case["scores"], rel=0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("template", FURTHER)
def test_a_baseline_under_a_valid_name_is_accepted(template: str, built: Built, tmp_path: Path) -> None:
    definition = built[template]
    gold, name = definition.gold[0], NAMES[template]
    path = definition.baselines[0].file(definition.folder, gold.split, gold.track)
    assert path is not None
    files = definition.track(gold.track).files
    if files is not None:
        path = zipped(dict(each_file(files, path)), definition, gold.track, tmp_path / name)
    found = check_upload(definition, path, name, "Lak")
    assert found.ok, found.report.problems
    assert [run.run.track for run in found.runs] == [gold.track]


def zipped(paths: Mapping[str, Path], definition: Definition, track: str, archive: Path) -> Path:
    """Return a zip with the files of one run under valid names."""
    name = common_name(definition, example(definition, track, "Lak") or "")
    field = definition.track(track).files
    assert field is not None
    with ZipFile(archive, "w") as packed:
        for prefix, path in paths.items():
            packed.write(path, name.replace(field.field, prefix.rstrip("/")))
    return archive


NAMES = {
    "entities": "Lak_2.conll",
    "regression": "EI-reg_en_anger_pred.txt",
    "generation": "rdf2text_en_Lak.txt",
    "multilingual": "runs.zip",
    "retrieval": "predictions.tsv",
    "softlabels": "MP_test_soft.tsv",
    "tryagon": "tryagon-topics.csv",
}
