"""Runs with several files: read, checked, and scored by file and together, with one interval and one tie group."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scoring import Definition, check_upload, load_definition
from scoring.__main__ import main
from scoring.answers import Matrix
from scoring.definition import DefinitionError
from scoring.definition.files import Files
from scoring.formats.several import packed, unpacked, value_of
from scoring.metrics import compare, describe
from scoring.metrics.registry import compute, contributions
from scoring.reports.problems import Report
from scoring.score import GoldError, load_gold, run_answers, score
from scoring.significance import intervals, tie_groups
from scoring.significance.resampling import _draws, field_of
from scoring.task_folder.folder import problems_of_folder
from scoring.task_folder.gold_file import check_gold
from scoring.uploads.inspection import paths_of, read_run

EMOTIONS = ("anger", "joy", "fear")
SIZES = {"eng": 40, "deu": 25, "pt-BR": 15}
HEAD = ",".join(("id", *EMOTIONS))
TASK = """
agon: 1
slug: emotions
title: Emotions
year: 2026
languages: [en, de, pt]
tracks:
  - slug: track-a
    format: {kind: table, id: id, columns: [anger, joy, fear]}
    files: {name: language, of: [eng, deu, pt-BR]}
    items: items/{language}.txt
    metrics:
      - {combine: overall, of: [f1_macro_mean], slices: language, by: mean, columns: true}
      - exact_match_ratio
    rank_by: combine:overall
naming: {run: "{team}_{number}/pred_{language}.csv", number: [1, 2, 3]}
phases: [{slug: open, opens: "2026-01-01 00:00 UTC", scores: at-once, official: best}]
gold: [{track: track-a, file: "gold/{language}/labels.csv"}]
"""


def labels(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {language: rng.integers(0, 2, (size, 3)) for language, size in SIZES.items()}


def flipped(truth: Mapping[str, np.ndarray], share: float, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {language: np.where(rng.random(cells.shape) < share, 1 - cells, cells) for language, cells in truth.items()}


def table(cells: np.ndarray) -> bytes:
    rows = [f"{number},{','.join(map(str, row))}" for number, row in enumerate(cells.tolist(), 1)]
    return "\n".join([HEAD, *rows, ""]).encode()


def tables(cells: Mapping[str, np.ndarray]) -> dict[str, bytes]:
    return {f"{language}.csv": table(own) for language, own in cells.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "task/items").mkdir(parents=True)
    (tmp_path / "task/task.yaml").write_text(TASK)
    for language, cells in labels(0).items():
        (tmp_path / f"task/items/{language}.txt").write_text("".join(f"{n}\n" for n in range(1, len(cells) + 1)))
        (tmp_path / f"task/gold/{language}").mkdir(parents=True)
        (tmp_path / f"task/gold/{language}/labels.csv").write_bytes(table(cells))
    return tmp_path / "task"


@pytest.fixture
def emotions(folder: Path) -> Definition:
    return load_definition(folder)


@pytest.fixture
def stored(tmp_path: Path) -> Callable[[Mapping[str, bytes]], Path]:
    def write(entries: Mapping[str, bytes]) -> Path:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in entries.items():
                archive.writestr(name, content)
        path = tmp_path / "upload"
        path.write_bytes(file.getvalue())
        return path

    return write


def with_missing(folder: Path, missing: str) -> Definition:
    text = TASK.replace("pt-BR]}", "pt-BR], missing: accept}").replace("by: mean", f"by: mean, missing: {missing}")
    (folder / "task.yaml").write_text(text)
    return load_definition(folder)


def f1(truth: np.ndarray, run: np.ndarray) -> float:
    """Return the macro F1 of 0 and 1, averaged over the columns."""
    found = []
    for column in range(truth.shape[1]):
        for value in (0, 1):
            hits = np.sum((truth[:, column] == value) & (run[:, column] == value))
            total = np.sum(truth[:, column] == value) + np.sum(run[:, column] == value)
            found.append(2 * hits / total if total else 0.0)
    return float(np.mean(found))


def test_the_files_of_a_folder_are_valid(emotions: Definition) -> None:
    assert problems_of_folder(emotions) == []
    assert list(emotions.tracks[0].slices) == ["language"]
    names = [path.relative_to(emotions.folder).as_posix() for path in emotions.paths_of_gold(emotions.gold[0])]
    assert names == ["gold/eng/labels.csv", "gold/deu/labels.csv", "gold/pt-BR/labels.csv"]
    assert {path.name for path in emotions.files_of_rules} == {"eng.txt", "deu.txt", "pt-BR.txt"}


def test_the_score_is_combined_over_the_files(emotions: Definition, folder: Path) -> None:
    truth = labels(0)
    run = flipped(truth, 0.2, 1)
    result = score(emotions, "track-a", packed(tables(run)), emotions.gold[0].file)
    each = {language: f1(truth[language], run[language]) for language in SIZES}
    assert result.report.problems == []
    assert result.items == 80
    assert list(result.scores) == [
        "combine:overall",
        "f1_macro_mean@language=eng",
        "f1_macro_mean@language=deu",
        "f1_macro_mean@language=pt-BR",
        "exact_match_ratio",
    ]
    assert result.scores["combine:overall"] == pytest.approx(np.mean(list(each.values())), abs=1e-12)
    for language, value in each.items():
        assert result.scores[f"f1_macro_mean@language={language}"] == pytest.approx(value, abs=1e-12)
    (folder / "run").mkdir()
    for name, content in tables(run).items():
        (folder / "run" / f"pred_{name}").write_bytes(content)
    assert score(emotions, "track-a", folder / "run", folder / "gold").scores == result.scores


def test_files_that_are_no_part_or_missing_are_problems(emotions: Definition) -> None:
    run = tables(labels(0))
    answered = score(emotions, "track-a", packed(run | {"fra.csv": b"x"}), emotions.gold[0].file)
    assert [(one.code, one.file) for one in answered.report] == [("files-unknown", "fra.csv")]
    twice = score(emotions, "track-a", packed(run | {"run_eng.csv": b"x"}), emotions.gold[0].file)
    assert [(one.code, one.file) for one in twice.report] == [("files-twice", "run_eng.csv")]
    del run["deu.csv"]
    missing = score(emotions, "track-a", packed(run), emotions.gold[0].file)
    assert [(one.code, one.places) for one in missing.report] == [("files-missing", ("deu",))]
    assert missing.scores == {}
    nothing = score(emotions, "track-a", b"id,anger\n", emotions.gold[0].file)
    assert [one.code for one in nothing.report] == ["files-no-zip"]


def test_a_files_own_problems_have_its_name_and_lines(emotions: Definition) -> None:
    run = tables(labels(0))
    run["deu.csv"] = run["deu.csv"].replace(b"\n3,", b"\n33,").replace(b"\n5,0", b"\n5,7").replace(b"\n5,1", b"\n5,7")
    report = score(emotions, "track-a", packed(run), emotions.gold[0].file, listed=2).report
    found = {one.code: (one.file, one.line) for one in report}
    assert found["missing-items"] == ("deu.csv", None)
    assert found["unknown-ids"][0] == "deu.csv"
    assert ("deu.csv", 6) in found.values()
    assert {one.file for one in report} == {"deu.csv"}


@pytest.mark.parametrize(("missing", "expected"), [("zero", 2 / 3), ("skip", 1.0)])
def test_a_missing_file_counts_nothing_or_is_skipped(folder: Path, missing: str, expected: float) -> None:
    definition = with_missing(folder, missing)
    run = tables(labels(0))
    del run["deu.csv"]
    result = score(definition, "track-a", packed(run), definition.gold[0].file)
    assert [(one.severity, one.code) for one in result.report] == [("warning", "files-missing")]
    assert result.scores["combine:overall"] == pytest.approx(expected, abs=1e-12)
    assert result.scores["f1_macro_mean@language=deu"] is None
    assert result.scores["f1_macro_mean@language=eng"] == 1.0
    assert result.scores["exact_match_ratio"] == pytest.approx(55 / 80)  # items of the missing file count as unanswered


def test_an_upload_has_several_runs_of_several_files(
    emotions: Definition, stored: Callable[[Mapping[str, bytes]], Path]
) -> None:
    truth = labels(0)
    first, second = tables(truth), tables(flipped(truth, 0.3, 2))
    entries = {
        f"Team_{number}/pred_{name}": own for number, run in ((1, first), (2, second)) for name, own in run.items()
    }
    path = stored(entries)
    upload = check_upload(emotions, path, "runs.zip", "Team")
    assert upload.report.problems == []
    assert [(one.run.name, one.run.number, one.items) for one in upload.runs] == [
        ("Team_1/pred_{language}.csv", 1, 80),
        ("Team_2/pred_{language}.csv", 2, 80),
    ]
    run = upload.runs[0]
    assert paths_of(run.run.entry)["pt-BR"] == "Team_1/pred_pt-BR.csv"
    body = read_run(path, run.run.entry)
    assert body == packed(first)
    assert hashlib.sha256(body).hexdigest() == run.sha256
    assert json.loads(run.run.entry[1:]) == {one: f"Team_1/pred_{one}.csv" for one in SIZES}


def test_problems_of_an_upload_name_the_paths_in_it(
    emotions: Definition, stored: Callable[[Mapping[str, bytes]], Path]
) -> None:
    run = tables(labels(0))
    run["eng.csv"] = run["eng.csv"].replace(b"\n7,", b"\n,")
    entries = {f"Team_1/pred_{name}": own for name, own in run.items() if name != "deu.csv"}
    report = check_upload(emotions, stored(entries), "runs.zip", "Team").report
    assert {(one.code, one.file) for one in report if one.code != "unknown-ids"} >= {
        ("files-missing", "Team_1/pred_{language}.csv"),
        ("missing-items", "Team_1/pred_eng.csv"),
    }
    other = check_upload(emotions, stored({"Team_1/pred_fra.csv": b"x"}), "runs.zip", "Team").report
    assert [(one.code, one.found, one.suggestion) for one in other] == [("name-file", "fra", None)]
    twice = stored({"Team_1/pred_eng.csv": run["eng.csv"], "Team_1/PRED_ENG.CSV": run["eng.csv"]})
    ignoring = replace(emotions, naming=replace(emotions.naming, case="ignore"))
    assert "name-twice" in {one.code for one in check_upload(ignoring, twice, "runs.zip", "Team").report}


def test_gold_needs_all_files_and_its_problems_name_them(emotions: Definition) -> None:
    gold = tables(labels(0))
    assert check_gold(emotions, "track-a", packed(gold)).counts == (80, 80)
    gold["deu.csv"] = gold["deu.csv"].replace(b"\n3,", b"\n3,9")
    found = check_gold(emotions, "track-a", packed(gold)).report.problems
    assert {one.file for one in found} == {"deu.csv"}
    assert all("9" not in (one.found or "") for one in found)
    del gold["deu.csv"]
    with pytest.raises(GoldError, match="deu"):
        load_gold(emotions, "track-a", packed(gold))


def test_the_command_line_reads_folders(
    emotions: Definition, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "runs/Team_1"
    run.mkdir(parents=True)
    for name, content in tables(labels(0)).items():
        (run / f"pred_{name}").write_bytes(content)
    for given in (run, run.parent):
        assert main(["check", "--task", str(folder), "--team", "Team", "--json", str(given)]) == 0
        assert json.loads(capsys.readouterr().out)["problems"] == []
    common = ["--task", str(folder), "--track", "track-a", "--json"]
    gold, items = str(emotions.gold[0].file), str(emotions.tracks[0].items["test"])
    assert main(["score", *common, "--gold", gold, "--items", items, str(run)]) == 0
    assert json.loads(capsys.readouterr().out)["scores"]["combine:overall"] == 1.0
    assert main(["score", "--task", str(folder), "--json", str(run)]) == 0  # the only track, and the folder's gold
    assert json.loads(capsys.readouterr().out)["scores"]["combine:overall"] == 1.0
    (run / "pred_deu.csv").unlink()
    assert main(["check", "--task", str(folder), "--team", "Team", "--json", str(run)]) == 1
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["problems"]] == ["files-missing"]


def test_explained_names_of_the_other_files_keep_the_run_number(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("Team_1/pred_eng.csv", "Team_1/pred_deu.txt", "Team_1/pred_pt-BR.txt")
    assert main(["explain", "--task", str(folder), "--json", *names]) == 1
    _, *wrong = json.loads(capsys.readouterr().out)["names"]
    assert [one["nearest"][0] for one in wrong] == ["Team_1/pred_deu.csv", "Team_1/pred_pt-BR.csv"]


def test_baselines_are_written_file_by_file(
    emotions: Definition, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["baselines", "--task", str(folder), "--track", "track-a", "--json", "--only", "random"]
    assert main(command) == 0
    written = [Path(one) for one in json.loads(capsys.readouterr().out)["written"]]
    start = folder / "baselines/test/track-a/random"
    assert written == [start / f"{language}.csv" for language in SIZES]
    assert score(emotions, "track-a", start, emotions.gold[0].file).report.problems == []
    gold = str(emotions.gold[0].file)
    common = ["--task", str(folder), "--track", "track-a", "--gold", gold, "--json"]
    for name in ("analyze", "significance"):
        assert main([name, *common, str(start), str(folder / "gold")]) == 0


def test_paths_name_their_file() -> None:
    files = load_files()
    names = {"x/eng/a.csv": "eng", "pred_pt-BR.csv": "pt-BR", "engl.csv": None, "deu.csv": "deu", "pt.csv": "pt"}
    assert {name: value_of(files, name) for name in names} == names
    assert value_of(files, "DEU/Run.csv") == "deu"
    assert value_of(files, "ENG_run_deu.csv") == "deu"  # a value in the right case comes first
    assert value_of(replace(files, spelling={"eng": "English"}), "english/run.csv") == "eng"
    report = Report()
    assert list(unpacked(packed({"b/pt-BR/r.csv": b"1", "eng.csv": b"2", ".hidden": b"3"}), files, report)) == [
        "eng",
        "pt-BR",
    ]
    assert report.ok


def load_files() -> Files:
    return Files(name="language", of=("eng", "deu", "pt", "pt-BR"))


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ("of: [eng, deu, pt-BR]", "of: [eng]", "2 to 50"),
        ("of: [eng, deu, pt-BR]", "of: [eng, ENG]", "differ only in case"),
        ("name: language", "name: team", "reserved name"),
        ("items: items/{language}.txt", "items: items/eng.txt", "must contain the placeholder {language}"),
        ("gold/{language}/labels.csv", "gold/labels.csv", "must contain the placeholder {language}"),
        ("pred_{language}.csv", "pred.csv", "names must contain {language}"),
        ("slices: language,", "", "columns: true only if its slices: is the name"),
        ("of: [f1_macro_mean], slices", "of: {}, slices", "a list"),
    ],
)
def test_errors_of_the_definition(folder: Path, before: str, after: str, word: str) -> None:
    (folder / "task.yaml").write_text(TASK.replace(before, after))
    with pytest.raises(DefinitionError, match="(?s).*" + word.replace("{", r"\{")):
        load_definition(folder)


def test_errors_of_metrics_after_added_columns_name_their_own_line(folder: Path) -> None:
    (folder / "task.yaml").write_text(TASK.replace("- exact_match_ratio", "- accuracy:anger\n      - exact_match"))
    with pytest.raises(DefinitionError) as caught:
        load_definition(folder)
    line = (folder / "task.yaml").read_text().splitlines().index("      - exact_match") + 1
    assert [(problem.line, problem.item) for problem in caught.value.report] == [(line, "tracks[0].metrics[2]")]


def test_columns_of_two_combined_scores_are_added_once(folder: Path) -> None:
    worst = "{combine: worst, of: [f1_macro_mean], slices: language, by: minimum, columns: true}"
    listed = f"- {worst}\n      - f1_macro_mean@language=deu"
    (folder / "task.yaml").write_text(TASK.replace("- exact_match_ratio", listed))
    keys = [spec.key for spec in load_definition(folder).tracks[0].metrics]
    columns = [f"f1_macro_mean@language={language}" for language in ("eng", "pt-BR", "deu")]
    assert keys == ["combine:overall", *columns[:2], "combine:worst", columns[2]]


@pytest.mark.slow
def test_intervals_are_those_of_samples_stratified_by_file(emotions: Definition) -> None:
    """The expected samples come from numpy alone, which draws as many items from each file as the file has."""
    truth, spec = labels(0), emotions.tracks[0].metrics[0]
    run = flipped(truth, 0.2, 1)
    gold = load_gold(emotions, "track-a", emotions.gold[0].file)
    answers, _report = run_answers(emotions, "track-a", packed(tables(run)), gold)
    assert isinstance(answers, Matrix)
    comparison = compare(gold, answers)
    assert contributions(comparison, spec) is not None
    samples = field_of([comparison], spec).resampled(np.random.default_rng(7), 4000)[0]
    rng = np.random.default_rng(11)
    drawn = []
    for _ in range(4000):
        values = []
        for language, size in SIZES.items():
            rows = rng.integers(0, size, size)
            values.append(f1(truth[language][rows], run[language][rows]))
        drawn.append(np.mean(values))
    assert compute(comparison, spec) == pytest.approx(np.mean([f1(truth[one], run[one]) for one in SIZES]), abs=1e-12)
    assert samples.mean() == pytest.approx(np.mean(drawn), abs=0.002)
    assert samples.std() == pytest.approx(np.std(drawn), rel=0.05)
    quantiles = (0.025, 0.25, 0.75, 0.975)
    assert np.quantile(samples, quantiles) == pytest.approx(np.quantile(drawn, quantiles), abs=0.006)
    found = intervals({"run": comparison}, spec, seed=1, rounds=2000)["run"]
    assert found is not None
    assert found.low < found.value < found.high
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.std(drawn), rel=0.2)


def test_every_sample_has_as_many_items_of_each_file(emotions: Definition) -> None:
    gold = load_gold(emotions, "track-a", emotions.gold[0].file)
    starts = np.array([item.partition("/")[0] for item in gold.answers.ids])
    for rows in np.vstack(list(_draws(np.random.default_rng(0), gold.strata, 50))):
        names, counts = np.unique(starts[rows], return_counts=True)
        assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == SIZES


def test_files_can_have_weights(emotions: Definition, folder: Path) -> None:
    parts = ", ".join(f'"f1_macro_mean@language={language}"' for language in SIZES)
    text = TASK.replace(
        "of: [f1_macro_mean], slices: language, by: mean, columns: true", f"of: [{parts}], weights: [3, 2, 1]"
    )
    (folder / "task.yaml").write_text(text)
    weighted, truth = load_definition(folder), labels(0)
    run = flipped(truth, 0.2, 1)
    each = [f1(truth[language], run[language]) for language in SIZES]
    found = score(weighted, "track-a", packed(tables(run)), weighted.gold[0].file).scores["combine:overall"]
    assert found == pytest.approx(np.average(each, weights=[3, 2, 1]), abs=1e-12)


def test_a_combined_score_has_one_tie_group(emotions: Definition, folder: Path) -> None:
    definition = with_missing(folder, "zero")
    truth, spec = labels(0), definition.tracks[0].metrics[0]
    gold = load_gold(definition, "track-a", definition.gold[0].file)
    partial = tables(truth)
    del partial["deu.csv"]
    files = {
        "good": tables(flipped(truth, 0.10, 1)),
        "same": tables(flipped(truth, 0.10, 2)),
        "partial": partial,
        "poor": tables(flipped(truth, 0.45, 3)),
    }
    runs = {}
    for name, run in files.items():
        answers, report = run_answers(definition, "track-a", packed(run), gold)
        assert answers is not None, report.problems
        runs[name] = compare(gold, answers)
    groups = {one.name: one.group for one in tie_groups(runs, spec, seed=1, rounds=2000)}
    assert groups == {"good": 1, "same": 1, "partial": 2, "poor": 3}
    values = {name: compute(run, spec) for name, run in runs.items()}
    assert values["partial"] == pytest.approx(2 / 3)
    samples = field_of(list(runs.values()), spec).resampled(np.random.default_rng(0), 200)
    assert samples[2] == pytest.approx(2 / 3)  # a missing file is missing in every sample


def test_a_missing_file_is_skipped_in_every_sample(folder: Path) -> None:
    definition = with_missing(folder, "skip")
    spec, partial = definition.tracks[0].metrics[0], tables(labels(0))
    del partial["deu.csv"]
    gold = load_gold(definition, "track-a", definition.gold[0].file)
    runs = []
    for run in (partial, tables(flipped(labels(0), 0.2, 1))):
        answers, _report = run_answers(definition, "track-a", packed(run), gold)
        assert answers is not None
        runs.append(compare(gold, answers))
    field = field_of(runs, spec)
    assert field.observed.tolist() == pytest.approx([compute(run, spec) for run in runs], abs=1e-12)
    samples = field.resampled(np.random.default_rng(0), 200)
    assert samples[0] == pytest.approx(1)
    assert samples[1].std() > 0.01


def test_surface_forms_are_read_from_the_texts_of_each_file(tmp_path: Path) -> None:
    text = TASK.replace("{kind: table, id: id, columns: [anger, joy, fear]}", "{kind: typed-spans, classes: [PER]}")
    text = text.replace("of: [eng, deu, pt-BR]", "of: [eng, deu]").replace("[f1_macro_mean]", "[entity_f1_surface]")
    text = text.replace("- exact_match_ratio", "- entity_f1_surface").replace("labels.csv", "spans.txt")
    text = text.replace("    items:", "    texts: {test: 'texts/{language}.csv'}\n    items:")
    texts = {"eng": "Ann and Bob", "deu": "Bob und Ann"}
    (tmp_path / "task.yaml").write_text(text)
    for name in ("items", "texts", "gold/eng", "gold/deu"):
        (tmp_path / name).mkdir(parents=True)
    for language, own in texts.items():
        (tmp_path / f"items/{language}.txt").write_text("1\n")
        (tmp_path / f"texts/{language}.csv").write_text(f"id,text\n1,{own}\n")
        (tmp_path / f"gold/{language}/spans.txt").write_text('1\t[[0, 3, "PER"], [8, 11, "PER"]]\n')
    definition = load_definition(tmp_path)
    run = packed({"eng.txt": b'1\t[[0, 3, "PER"]]\n', "deu.txt": b"1\t[]\n"})
    found = score(definition, "track-a", run, definition.gold[0].file)
    assert found.report.problems == []
    # One of the two surface forms, Ann and Bob, was found.
    assert found.scores["entity_f1_surface"] == pytest.approx(2 / 3)
    assert found.scores["combine:overall"] == pytest.approx((2 / 3 + 0) / 2)


BY_SPLIT = (
    ("of: [eng, deu, pt-BR]", "of: {dev: [eng, deu], test: [eng, deu, pt-BR]}"),
    ("items: items/{language}.txt", "items: {dev: 'dev/{language}.txt', test: 'items/{language}.txt'}"),
    (
        "      - exact_match_ratio\n",
        "      - {combine: weighted, of: ['f1_macro_mean@language=eng', 'f1_macro_mean@language=deu', "
        "'f1_macro_mean@language=pt-BR'], weights: [3, 2, 1], missing: zero}\n      - exact_match_ratio\n",
    ),
    ("gold: [", "gold: [{track: track-a, split: dev, file: 'dev/{language}.csv'}, "),
    ("scores: at-once,", "split: dev, scores: at-once,"),
    ("best}]", "best}, {slug: late, opens: '2026-02-01 00:00 UTC', scores: at-once, official: best}]"),
)


def write_by_split(folder: Path, *further: tuple[str, str]) -> None:
    """Write the task with files in two languages for the split `dev`, and in three for `test`."""
    text = TASK
    for before, after in (*BY_SPLIT, *further):
        assert before in text
        text = text.replace(before, after)
    (folder / "task.yaml").write_text(text)
    (folder / "dev").mkdir()
    for language in ("eng", "deu"):
        (folder / f"dev/{language}.txt").write_bytes((folder / f"items/{language}.txt").read_bytes())
        (folder / f"dev/{language}.csv").write_bytes((folder / f"gold/{language}/labels.csv").read_bytes())


@pytest.fixture
def by_split(folder: Path) -> Definition:
    write_by_split(folder)
    return load_definition(folder)


def test_splits_can_have_different_files(by_split: Definition) -> None:
    assert problems_of_folder(by_split) == []
    assert [len(by_split.paths_of_gold(gold)) for gold in by_split.gold] == [2, 3]
    assert len(by_split.files_of_rules) == 5
    truth = labels(0)
    run = tables(flipped(truth, 0.2, 1))
    del run["pt-BR.csv"]
    each = {language: f1(truth[language], flipped(truth, 0.2, 1)[language]) for language in ("eng", "deu")}
    found = score(by_split, "track-a", packed(run), by_split.gold[0].file, split="dev")
    assert found.report.problems == []
    assert found.scores == pytest.approx(
        {
            "combine:overall": np.mean(list(each.values())),
            "f1_macro_mean@language=eng": each["eng"],
            "f1_macro_mean@language=deu": each["deu"],
            "combine:weighted": np.average(list(each.values()), weights=[3, 2]),
            "exact_match_ratio": found.scores["exact_match_ratio"],
        },
        abs=1e-12,
    )
    report = score(by_split, "track-a", packed(run), by_split.gold[1].file).report
    assert [(one.code, one.places) for one in report] == [("files-missing", ("pt-BR",))]
    late = score(by_split, "track-a", packed(tables(truth)), by_split.gold[1].file)
    assert len(late.scores) == 6
    assert set(late.scores.values()) == {1.0}


def test_an_upload_has_the_files_of_its_split(
    by_split: Definition, stored: Callable[[Mapping[str, bytes]], Path]
) -> None:
    entries = {f"Team_1/pred_{name}": own for name, own in tables(labels(0)).items()}
    path = stored(entries)
    assert check_upload(by_split, path, "runs.zip", "Team").ok
    report = check_upload(by_split, path, "runs.zip", "Team", split="dev").report
    assert [(one.code, one.found, one.expected) for one in report] == [("name-file", "pt-BR", "eng, deu")]
    del entries["Team_1/pred_pt-BR.csv"]
    path = stored(entries)
    assert check_upload(by_split, path, "runs.zip", "Team", split="dev").ok
    assert "files-missing" in {one.code for one in check_upload(by_split, path, "runs.zip", "Team").report}


def test_commands_read_the_files_of_a_split(
    by_split: Definition, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["baselines", "--task", str(folder), "--split", "dev", "--json", "--only", "random"]
    assert main(command) == 0
    written = [Path(one).name for one in json.loads(capsys.readouterr().out)["written"]]
    assert written == ["eng.csv", "deu.csv"]
    run, gold = str(folder / "baselines/dev/track-a/random"), str(by_split.gold[0].file)
    common = ["--task", str(folder), "--split", "dev", "--track", "track-a", "--gold", gold, "--json"]
    for name in ("score", "analyze", "significance"):
        assert main([name, *common, run]) == 0
    assert main(["check", "--task", str(folder), "--split", "test", "--track", "track-a", "--json", run]) == 1


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ("of: {dev: [eng, deu], test:", "of: {test:", "no list of files for the split dev"),
        ("of: {dev: [eng, deu],", "of: {dev: [eng, deu], trial: [eng],", "no items for the split trial"),
        ("of: {dev: [eng, deu],", "of: {dev: [],", "the split dev has no files"),
        ("of: {dev: [eng, deu],", "of: {dev: [eng, ENG],", "differ only in case"),
        ("of: {dev: [eng, deu],", "of: {dev: [eng, eng],", "each entry only once"),
        ("rank_by: combine:overall", "rank_by: f1_macro_mean@language=pt-BR", "that the split dev does not have"),
    ],
)
def test_errors_of_files_by_split(folder: Path, before: str, after: str, word: str) -> None:
    write_by_split(folder, (before, after))
    with pytest.raises(DefinitionError, match=f"(?s).*{word}"):
        load_definition(folder)


ALIASES = "naming:\n  run: '{language}/{team}.csv'\n  aliases: {language: {eng: english, pt-BR: portuguese}}\n"


def with_aliases(folder: Path, aliases: str = ALIASES) -> Definition:
    text = TASK.replace('naming: {run: "{team}_{number}/pred_{language}.csv", number: [1, 2, 3]}\n', aliases)
    assert text != TASK
    (folder / "task.yaml").write_text(text)
    return load_definition(folder)


def test_files_can_have_aliases_in_names(
    folder: Path, tmp_path: Path, stored: Callable[[Mapping[str, bytes]], Path]
) -> None:
    definition, run = with_aliases(folder), tables(labels(0))
    assert problems_of_folder(definition) == []
    entries = {
        "english/Team.csv": run["eng.csv"],
        "deu/Team.csv": run["deu.csv"],
        "portuguese/Team.csv": run["pt-BR.csv"],
    }
    path = stored(entries)
    upload = check_upload(definition, path, "run.zip", "Team")
    assert upload.report.problems == []
    assert [(one.run.name, one.items) for one in upload.runs] == [("{language}/Team.csv", 80)]
    assert read_run(path, upload.runs[0].run.entry) == packed(run)
    for name, content in entries.items():
        (tmp_path / "run" / name).parent.mkdir(parents=True)
        (tmp_path / "run" / name).write_bytes(content)
    result = score(definition, "track-a", tmp_path / "run", definition.gold[0].file)
    assert result.report.problems == []
    assert result.scores["f1_macro_mean@language=pt-BR"] == 1.0


def test_problems_name_files_by_their_aliases(folder: Path, stored: Callable[[Mapping[str, bytes]], Path]) -> None:
    definition, run = with_aliases(folder), tables(labels(0))
    entries = {"eng/Team.csv": run["eng.csv"], "deu/Team.csv": run["deu.csv"]}
    report = check_upload(definition, stored(entries), "run.zip", "Team").report
    assert [(one.code, one.found, one.expected, one.suggestion) for one in report if one.code == "name-file"] == [
        ("name-file", "eng", "english, deu, portuguese", "english/Team.csv")
    ]
    entries = {"english/Team.csv": run["eng.csv"], "deu/Team.csv": run["deu.csv"]}
    report = check_upload(definition, stored(entries), "run.zip", "Team").report
    assert [(one.code, one.places) for one in report] == [("files-missing", ("portuguese",))]


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ("eng: english", "fra: french", "fra is not a value of {language}"),
        ("eng: english", "eng: deu", "eng and deu have the same spelling"),
        ("eng: english", "eng: Portuguese", "eng and pt-BR have the same spelling"),
        ("aliases: {language", "aliases: {languages", "there are no aliases for {languages}"),
    ],
)
def test_errors_of_aliases(folder: Path, before: str, after: str, word: str) -> None:
    with pytest.raises(DefinitionError, match="(?s).*" + word.replace("{", r"\{")):
        with_aliases(folder, ALIASES.replace(before, after))


NESTED = """
      - {combine: both, of: [f1_macro_mean, exact_match_ratio], by: harmonic-mean}
      - {combine: overall, of: ["combine:both"], slices: language, by: mean, columns: true}
      - exact_match_ratio
"""


def nested(folder: Path, missing: str) -> Definition:
    start, _, end = TASK.partition("\n      - {combine")
    text = start + NESTED.rstrip() + end[end.index("\n    rank_by") :]
    text = text.replace("pt-BR]}", "pt-BR], missing: accept}").replace("by: mean", f"by: mean, missing: {missing}")
    (folder / "task.yaml").write_text(text)
    return load_definition(folder)


def both(truth: np.ndarray, run: np.ndarray) -> float:
    """Return the harmonic mean of macro F1 and the share of rows in which all columns are correct."""
    one, other = f1(truth, run), float((truth == run).all(axis=1).mean())
    return 2 / (1 / one + 1 / other) if one and other else 0.0


def test_a_mean_over_files_of_a_harmonic_mean_in_each_file(folder: Path) -> None:
    definition, truth = nested(folder, "zero"), labels(0)
    run = flipped(truth, 0.2, 1)
    each = {language: both(truth[language], run[language]) for language in SIZES}
    whole = (np.vstack(list(cells.values())) for cells in (truth, run))
    exact = [(truth[one] == run[one]).all(axis=1) for one in SIZES]
    expected = {
        "combine:both": both(*whole),
        "combine:overall": np.mean(list(each.values())),
        **{f"combine:both@language={language}": value for language, value in each.items()},
        "exact_match_ratio": np.concatenate(exact).mean(),
    }
    found = score(definition, "track-a", packed(tables(run)), definition.gold[0].file).scores
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-12)
    titles = [describe(spec, definition.tracks[0].slices).title for spec in definition.tracks[0].metrics]
    assert titles[:3] == ["both", "overall", "both, language eng"]


@pytest.mark.slow
@pytest.mark.parametrize(("missing", "wholes"), [("zero", 3), ("skip", 2)])
def test_samples_of_a_mean_over_files_of_a_harmonic_mean(folder: Path, missing: str, wholes: int) -> None:
    """The expected values come from numpy alone. The second run lacks the file for `deu`."""
    definition, truth = nested(folder, missing), labels(0)
    gold, spec = load_gold(definition, "track-a", definition.gold[0].file), definition.tracks[0].metrics[1]
    runs = {"all": flipped(truth, 0.2, 1), "some": flipped(truth, 0.3, 2)}
    del runs["some"]["deu"]
    compared = {}
    for name, run in runs.items():
        answers, _report = run_answers(definition, "track-a", packed(tables(run)), gold)
        assert answers is not None
        compared[name] = compare(gold, answers)
    found = field_of(list(compared.values()), spec).resampled(np.random.default_rng(7), 300)
    rng = np.random.default_rng(7)
    drawn = {language: rng.integers(0, size, (300, size)) for language, size in sorted(SIZES.items())}
    for (name, run), samples in zip(runs.items(), found, strict=True):
        count = 3 if name == "all" else wholes
        expected = [
            sum(both(truth[one][drawn[one][at]], run[one][drawn[one][at]]) for one in run) / count for at in range(300)
        ]
        assert samples.tolist() == pytest.approx(expected, abs=1e-9)
        assert compute(compared[name], spec) == pytest.approx(sum(both(truth[one], run[one]) for one in run) / count)
        assert compute(compared[name], spec.of[0]) is not None
    assert compute(compared["some"], replace(spec.of[0], where=("language", "deu"))) is None
    assert compute(compared["some"], replace(spec.of[0], where=("language", "fra"))) is None
    for interval in intervals(compared, spec, seed=1, rounds=500).values():
        assert interval is not None
        assert interval.low < interval.value < interval.high
    assert {one.name for one in tie_groups(compared, spec, seed=1, rounds=500)} == {"all", "some"}


def test_nested_scores_leave_out_files_that_a_split_lacks(folder: Path) -> None:
    parts = ", ".join(f'"combine:both@language={language}"' for language in SIZES)
    listed = f"- {{combine: weighted, of: [{parts}], weights: [3, 2, 1]}}"
    listed += '\n      - {combine: top, of: ["combine:weighted", "combine:both"]}'
    definition = nested(folder, "zero")
    text = (folder / "task.yaml").read_text().replace("- exact_match_ratio", listed)
    (folder / "task.yaml").write_text(text)
    track = load_definition(folder).tracks[0]
    assert definition.tracks[0].files is not None
    files = replace(definition.tracks[0].files, by_split={"dev": ("eng", "pt-BR")})
    dev = replace(track, files=files).in_split("dev")
    assert [spec.key for spec in dev.metrics] == [
        "combine:both",
        "combine:overall",
        "combine:both@language=eng",
        "combine:both@language=pt-BR",
        "combine:weighted",
        "combine:top",
    ]
    weighted = dev.metrics[4]
    assert [part.key for part in weighted.of] == ["combine:both@language=eng", "combine:both@language=pt-BR"]
    assert weighted.options["weights"] == (3, 1)
    assert dev.metrics[5].of == (weighted, dev.metrics[0])
    assert dev.metrics[5].of[0].options == weighted.options


def test_the_file_with_a_problem_is_quoted(emotions: Definition, stored: Callable[[Mapping[str, bytes]], Path]) -> None:
    files = {f"Lak_1/pred_{language}.csv": table(cells) for language, cells in labels(0).items()}
    files["Lak_1/pred_deu.csv"] = files["Lak_1/pred_deu.csv"].replace(b"\n3,", b"\n3,7", 1)
    report = check_upload(emotions, stored(files), "runs.zip", "Lak").report
    (problem,) = report.errors
    assert problem.file == "Lak_1/pred_deu.csv"
    assert problem.excerpt is not None
    assert (problem.excerpt.line, problem.excerpt.text[:3]) == (4, "3,7")
