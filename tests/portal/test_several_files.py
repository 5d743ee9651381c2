"""Runs with several files: uploading, checking, scoring, the board, and corrections to the gold."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from portal.actions.gold import apply_gold, upload_gold
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.compare import compare_board
from portal.models import Board, Evaluation, GoldStandard, Run, SharedTask, Team
from portal.queries.task_folder import folder_zip
from portal.storage import open_gold
from scoring.formats.several import packed
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    NOTE,
    POST,
    RELEASE,
    applied,
    archive,
    board,
    captain,
    gold_path,
    judged,
    new_team,
    organizer_of,
    sealed_file,
    send,
    work_off,
)

ITEMS = {"eng": "abcd", "deu": "ab"}
TASK = """
agon: 1
slug: tiny
title: "Tiny"
year: 2024
languages: [en, de]
tracks:
  - slug: one
    title: "Track one"
    format: {kind: table, id: id, columns: [joy]}
    files: {name: language, of: [eng, deu], missing: accept}
    items: {test: "data/{language}.txt"}
    metrics: [{combine: overall, of: [accuracy], slices: language, missing: zero, columns: true}]
    rank_by: combine:overall
naming: {run: "{team}/run_{number}/{language}.csv", number: [1, 2, 3]}
phases:
  - {slug: post, title: Post-evaluation, opens: "2024-05-01 00:00 UTC", split: test, scores: at-once, official: best}
gold: [{track: one, file: "truth/one_{language}.csv"}]
baselines: [{name: Gold Standard}, {name: All one, files: "baselines/{track}/{language}.csv"}]
"""
PERFECT = {"eng": "1100", "deu": "10"}
GOOD = {"eng": "1101", "deu": "10"}
ENGLISH = {"eng": "1100"}


def table(language: str, cells: str) -> bytes:
    rows = [f"{item},{cell}" for item, cell in zip(ITEMS[language], cells, strict=True)]
    return "\n".join(["id,joy", *rows, ""]).encode()


def reordered(content: bytes) -> bytes:
    """Reverse the order of the rows, because no baseline may be a copy of a gold file."""
    head, *rows = content.splitlines(keepends=True)
    return b"".join([head, *reversed(rows)])


def run(number: int, answers: Mapping[str, str], team: str = "Meltemi") -> dict[str, bytes]:
    return {f"{team}/run_{number}/{language}.csv": table(language, cells) for language, cells in answers.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "several"
    for name in ("data", "truth", "baselines/one"):
        (made / name).mkdir(parents=True)
    (made / "task.yaml").write_text(TASK)
    for language, items in ITEMS.items():
        (made / f"data/{language}.txt").write_text("\n".join([*items, ""]))
        (made / f"truth/one_{language}.csv").write_bytes(table(language, PERFECT[language]))
        (made / f"baselines/one/{language}.csv").write_bytes(reordered(table(language, "1" * len(items))))
    return made


@remembered
def several(folder: Path, db: None) -> SharedTask:
    import_shared_task(None, folder, EVALUATION)
    return SharedTask.objects.get()


@remembered
def team(several: SharedTask) -> Team:
    return new_team(several, "Meltemi")


def scores(of: Run) -> Mapping[str, float | None]:
    found: Mapping[str, float | None] = Evaluation.objects.filter(run=of).latest("pk").scores
    return found


@pytest.mark.slow
def test_an_archive_of_runs_is_scored_by_file_and_together(team: Team, client: Client) -> None:
    submission = send(team, "runs.zip", archive(run(1, PERFECT) | run(2, GOOD)), POST, "post")
    work_off(POST)
    submission.refresh_from_db()
    assert submission.problems == []
    runs = {one.number: one for one in submission.runs.all()}
    assert {number: (one.state, one.items, one.name) for number, one in runs.items()} == {
        1: ("scored", 6, "Meltemi/run_1/{language}.csv"),
        2: ("scored", 6, "Meltemi/run_2/{language}.csv"),
    }
    assert scores(runs[2]) == {
        "combine:overall": 0.875,
        "accuracy@language=eng": 0.75,
        "accuracy@language=deu": 1.0,
    }
    client.force_login(captain(team))
    answer = client.get(f"/runs/{runs[2].pk}/file/")
    assert answer["Content-Disposition"] == 'attachment; filename="Meltemi_run_2_language.zip"'
    assert b"".join(answer) == packed({f"{language}.csv": table(language, cells) for language, cells in GOOD.items()})
    page = client.get(f"/runs/{runs[2].pk}/").content.decode()
    assert "language" in page


@pytest.mark.slow
def test_the_board_has_a_column_for_each_file_and_slices(team: Team, several: SharedTask) -> None:
    send(team, "runs.zip", archive(run(1, PERFECT)), POST, "post")
    other = new_team(several, "Ostro")
    send(other, "english.zip", archive(run(1, ENGLISH, "Ostro")), POST, "post")
    work_off(POST)
    compare_board(Board.objects.get(), RELEASE)
    shown = board(several, RELEASE, phase="post")
    lines = {row.team or row.name: dict(row.scores) for row in shown.rows}
    assert [column.key for column in shown.columns] == [
        "combine:overall",
        "accuracy@language=eng",
        "accuracy@language=deu",
    ]
    assert lines["Meltemi"] == {"combine:overall": 1.0, "accuracy@language=eng": 1.0, "accuracy@language=deu": 1.0}
    assert lines["Ostro"]["combine:overall"] == 0.5
    assert lines["Ostro"]["accuracy@language=deu"] is None
    assert lines["All one"]["combine:overall"] == 0.5
    assert {one.key for one in shown.slices} == {"language=eng", "language=deu"}


def test_the_page_shows_aliases_of_files(folder: Path, db: None, client: Client) -> None:
    text = TASK.replace("number: [1, 2, 3]}", "number: [1, 2, 3], aliases: {language: {deu: german}}}")
    (folder / "task.yaml").write_text(text)
    import_shared_task(None, folder, EVALUATION)
    team = new_team(SharedTask.objects.get(), "Meltemi")
    client.force_login(captain(team))
    assert "eng, german" in client.get("/tasks/tiny/submit/").content.decode()
    named = {name.replace("deu", "german"): own for name, own in run(1, PERFECT).items()}
    submission = send(team, "runs.zip", archive(named), POST, "post")
    work_off(POST)
    submission.refresh_from_db()
    assert submission.problems == []
    assert scores(submission.runs.get())["accuracy@language=deu"] == 1.0


def test_the_page_shows_names_for_all_files(team: Team, client: Client) -> None:
    client.force_login(captain(team))
    text = client.get("/tasks/tiny/submit/").content.decode()
    assert "Meltemi/run_1/{language}.csv" in text
    (files,) = re.findall(r'<span class="second">(.*?)</span>', text, re.DOTALL)
    assert files.strip().endswith(": eng, deu")


def test_problems_name_the_file(team: Team, client: Client) -> None:
    broken = run(1, PERFECT)
    broken["Meltemi/run_1/deu.csv"] = b"id,joy\na,1\nb,7\n"
    submission = send(team, "runs.zip", archive(broken), POST, "post")
    work_off(POST)
    found = submission.runs.get()
    assert (found.state, [one["file"] for one in found.problems]) == ("rejected", ["Meltemi/run_1/deu.csv"])
    assert found.problems[0]["line"] == 3
    client.force_login(captain(team))
    file = SimpleUploadedFile("x.zip", archive({"Meltemi/run_1/fra.csv": b"x"}))
    answer = client.post("/tasks/tiny/submit/", {"file": file, "phase": "post", "key": ""})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "name-file" in answer.content.decode()


def test_no_gold_leaves_the_folder(several: SharedTask) -> None:
    kept = [path.name for path in several.definition.folder.rglob("*") if path.is_file()]
    assert sorted(kept) == ["deu.csv", "deu.txt", "eng.csv", "eng.txt", "task.yaml"]  # the .csv files are baselines
    assert b"truth" not in folder_zip(several).replace(b"truth/one_{language}", b"")
    gold = GoldStandard.objects.get()
    assert gold.counts == (6, 6)
    assert open_gold(gold.sealed_sha256) == packed(
        {f"{language}.csv": table(language, cells) for language, cells in PERFECT.items()}
    )


def test_an_import_adds_gold_only_if_a_file_has_changed(several: SharedTask, folder: Path) -> None:
    import_shared_task(None, folder, EVALUATION)
    assert GoldStandard.objects.count() == 1
    (folder / "truth/one_deu.csv").write_bytes(table("deu", "11"))
    import_shared_task(None, folder, EVALUATION)
    assert GoldStandard.objects.count() == 2


@pytest.mark.slow
def test_gold_is_corrected_by_a_zip(team: Team, several: SharedTask) -> None:
    send(team, "runs.zip", archive(run(1, GOOD)), POST, "post")
    work_off(POST)
    organizer, track = organizer_of(several), several.tracks.get()
    corrected = {f"gold_{language}.csv": table(language, cells) for language, cells in GOOD.items()}
    upload = upload_gold(organizer, track, POST, split="test", sealed=sealed_file(archive(corrected)))
    judged(upload, POST)
    assert (upload.state, upload.problems) == ("ready", [])
    assert upload.preview["changes"]["changed"]["items"] == ["eng/d"]
    apply_gold(organizer, upload, POST, note=NOTE)
    work_off(POST)
    assert scores(Run.objects.get(kind="team"))["combine:overall"] == 1.0


@pytest.mark.slow
def test_one_file_of_the_gold_is_replaced(team: Team, several: SharedTask) -> None:
    send(team, "runs.zip", archive(run(1, GOOD)), POST, "post")
    work_off(POST)
    organizer, track = organizer_of(several), several.tracks.get()
    sent = upload_gold(
        organizer, track, POST, split="test", sealed=sealed_file(archive({"x_eng.csv": table("eng", "1101")}))
    )
    before = sent.sealed_sha256
    upload = applied(sent, POST)
    assert (upload.state, upload.problems, upload.counts) == ("accepted", [], (6, 6))
    assert upload.sealed_sha256 != before
    assert not gold_path(before).exists()
    newest = GoldStandard.objects.latest("version")
    assert open_gold(newest.sealed_sha256) == packed({f"{one}.csv": table(one, cells) for one, cells in GOOD.items()})
    work_off(POST)
    assert scores(Run.objects.get(kind="team"))["combine:overall"] == 1.0


def test_the_same_gold_in_another_zip_is_unchanged(several: SharedTask) -> None:
    organizer, track = organizer_of(several), several.tracks.get()
    for languages in (["eng", "deu"], ["deu"]):
        same = {f"gold/test_{language}.csv": table(language, PERFECT[language]) for language in languages}
        upload = upload_gold(organizer, track, POST, split="test", sealed=sealed_file(archive(same)))
        assert judged(upload, POST).state == "unchanged"
    upload = upload_gold(organizer, track, POST, split="test", sealed=sealed_file(archive({"fra.csv": b"x"})))
    assert judged(upload, POST).state == "rejected"
    assert [one["code"] for one in upload.problems] == ["files-unknown"]


def test_problems_of_gold_name_its_file(several: SharedTask) -> None:
    broken = {"eng.csv": table("eng", "1101"), "deu.csv": b"id,joy\na,1\nb,7\n"}
    organizer, track = organizer_of(several), several.tracks.get()
    upload = upload_gold(organizer, track, POST, split="test", sealed=sealed_file(archive(broken)))
    judged(upload, POST)
    assert (upload.state, [(one["file"], one["line"]) for one in upload.problems]) == ("rejected", [("deu.csv", 3)])


BY_SPLIT = (
    ("of: [eng, deu]", "of: {test: [eng, deu], dev: [eng, hin]}"),
    ('items: {test: "data/{language}.txt"}', 'items: {test: "data/{language}.txt", dev: "dev/{language}.txt"}'),
    (
        "  - {slug: post,",
        '  - {slug: trial, opens: "2024-05-01 00:00 UTC", split: dev, scores: at-once, official: best}\n'
        "  - {slug: post,",
    ),
    ("gold: [", 'gold: [{track: one, split: dev, file: "truth/dev_{language}.csv"}, '),
    ("baselines/{track}/{language}", "baselines/{split}/{language}"),
)


@pytest.fixture
def by_split(folder: Path, db: None) -> SharedTask:
    """A task whose splits have different files."""
    text = TASK
    for before, after in BY_SPLIT:
        assert before in text
        text = text.replace(before, after)
    (folder / "task.yaml").write_text(text)
    for name in ("dev", "baselines/dev"):
        (folder / name).mkdir()
    (folder / "baselines/one").rename(folder / "baselines/test")
    for language, items in {"eng": "abcd", "hin": "ab"}.items():
        (folder / f"dev/{language}.txt").write_text("\n".join([*items, ""]))
        rows = "\n".join(["id,joy", *(f"{item},1" for item in items), ""])
        (folder / f"truth/dev_{language}.csv").write_text(rows)
        (folder / f"baselines/dev/{language}.csv").write_bytes(reordered(rows.encode()))
    import_shared_task(None, folder, EVALUATION)
    return SharedTask.objects.get()


@pytest.mark.slow
def test_a_phase_has_the_files_of_its_split(by_split: SharedTask, client: Client) -> None:
    team = new_team(by_split, "Meltemi")
    trial = {f"Meltemi/run_1/{language}.csv": b"id,joy\na,1\nb,0\n" for language in ("eng", "hin")}
    trial["Meltemi/run_1/eng.csv"] += b"c,1\nd,1\n"
    sent = {
        "trial": send(team, "trial.zip", archive(trial), POST, "trial"),
        "post": send(team, "post.zip", archive(run(1, PERFECT)), POST, "post"),
    }
    work_off(POST)
    expected = {
        "trial": {"combine:overall": 0.625, "accuracy@language=eng": 0.75, "accuracy@language=hin": 0.5},
        "post": {"combine:overall": 1.0, "accuracy@language=eng": 1.0, "accuracy@language=deu": 1.0},
    }
    for phase, submission in sent.items():
        submission.refresh_from_db()
        assert submission.problems == []
        assert scores(submission.runs.get()) == expected[phase]
        compare_board(Board.objects.get(phase__slug=phase), RELEASE)
        shown = board(by_split, RELEASE, phase=phase)
        assert [column.key for column in shown.columns] == list(expected[phase])
        assert {one.key for one in shown.slices} == {f"language={one[-3:]}" for one in list(expected[phase])[1:]}
        assert {row.name for row in shown.rows if not row.team} == {"Gold Standard", "All one"}
    client.force_login(captain(team))
    page = client.get(f"/runs/{sent['trial'].runs.get().pk}/").content.decode()
    assert "(hin)" in page
    assert "(deu)" not in page


@pytest.mark.slow
def test_a_file_of_another_split_is_an_error(by_split: SharedTask, client: Client) -> None:
    client.force_login(captain(new_team(by_split, "Meltemi")))
    page = client.get("/tasks/tiny/submit/").content.decode()
    assert "In trial, one file for each <code>{language}</code>: eng, hin" in page
    assert "In Post-evaluation, one file for each <code>{language}</code>: eng, deu" in page
    file = SimpleUploadedFile("x.zip", archive(run(1, PERFECT)))
    answer = client.post("/tasks/tiny/submit/", {"file": file, "phase": "trial", "key": ""})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "name-file" in answer.content.decode()


def test_gold_of_a_split_needs_its_own_files(by_split: SharedTask) -> None:
    organizer, track = organizer_of(by_split), by_split.tracks.get()
    upload = upload_gold(
        organizer, track, POST, split="dev", sealed=sealed_file(archive({"hin.csv": b"id,joy\na,0\nb,1\n"}))
    )
    judged(upload, POST)
    assert (upload.problems, upload.counts) == ([], (6, 6))
    upload = upload_gold(
        organizer, track, POST, split="dev", sealed=sealed_file(archive({"deu.csv": table("deu", "11")}))
    )
    judged(upload, POST)
    assert [one["code"] for one in upload.problems] == ["files-unknown"]


@pytest.mark.slow
def test_a_score_of_scores_is_a_column_on_every_page(folder: Path, db: None, client: Client) -> None:
    nested = """[
      {combine: both, title: Both, by: product, of: [accuracy, f1_positive]},
      {combine: overall, title: Mean of both, of: ["combine:both"], slices: language, missing: zero, columns: true}]"""
    listed = "[{combine: overall, of: [accuracy], slices: language, missing: zero, columns: true}]"
    (folder / "task.yaml").write_text(TASK.replace(listed, nested))
    import_shared_task(None, folder, EVALUATION)
    task = SharedTask.objects.get()
    team = new_team(task, "Meltemi")
    send(team, "runs.zip", archive(run(1, GOOD)), POST, "post")
    work_off(POST)
    compare_board(Board.objects.get(), RELEASE)
    sent = Run.objects.get(kind="team")
    # English: accuracy 3/4, and F1 = 4/5, as both items with 1 are found and one 1 is incorrect. German: no errors.
    expected = {"combine:both@language=eng": 0.75 * 0.8, "combine:both@language=deu": 1.0, "combine:overall": 0.8}
    assert {key: scores(sent)[key] for key in expected} == pytest.approx(expected)
    shown = board(task, RELEASE, phase="post")
    assert expected.keys() <= {column.key for column in shown.columns}
    for address in ("leaderboard/?phase=post", "insights/one/?phase=post"):
        page = client.get(f"/tasks/tiny/{address}", follow=True).content.decode()
        assert "Mean of both" in page, address
        assert "0.800" in page, address
    client.force_login(captain(team))
    assert "Mean of both" in client.get(f"/runs/{sent.pk}/").content.decode()
    csv = client.get("/tasks/tiny/leaderboard/one/?phase=post&format=csv").content.decode()
    assert "combine:both@language=eng" in csv
