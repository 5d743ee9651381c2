"""The task's own fields for runs: declared, entered on upload, changed later, and shown with the run."""

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from agon import frames
from portal.actions.base.errors import Invalid
from portal.actions.runs import describe_run
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.uploads.submit import submit
from portal.export import board_csv, board_json
from portal.models import AuditEntry, Run, SharedTask, Submission, Team, User
from portal.models.clock import database_now
from portal.paper.tables import board_table
from scoring import DefinitionError, load_definition
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.web.conftest import at, sign_in
from tests.portal.world import EVALUATION, GOOD, POST, RELEASE, board, captain, new_team, run_file, send_run, work_off

pytestmark = pytest.mark.postgres

__all__ = ["at", "sign_in"]

FIELDS = """
run_fields:
  - {key: model, label: Model, required: true}
  - {key: dataset, label: Dataset}
"""
GIVEN = {"model": "BERT", "dataset": "OLID"}
NAME = "one_Meltemi_1.json"


@pytest.fixture
def folder(tiny_folder: Path) -> Path:
    path = tiny_folder / "task.yaml"
    text = path.read_text().replace('_yes.json"}', '_yes.json", fields: {model: Rule, dataset: "none ({track})"}}')
    path.write_text(text + FIELDS)
    return tiny_folder


@remembered
def task(db: None, folder: Path) -> SharedTask:
    return import_shared_task(None, folder, EVALUATION).shared_task


@remembered
def team(task: SharedTask) -> Team:
    return new_team(task, "Meltemi")


def sent(team: Team, fields: dict[str, str] | None, phase: str = "evaluation") -> Submission:
    there, moment = team.shared_task.phases.get(slug=phase), POST if phase == "post" else EVALUATION
    return submit(captain(team), there, moment, content=[run_file(GOOD)], file_name=NAME, fields=fields)


def test_all_runs_of_an_upload_have_the_fields(team: Team) -> None:
    run = sent(team, {"model": "  BERT ", "dataset": ""}).runs.get()
    assert run.fields == {"model": "BERT"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (None, "Model is required."),
        ({"dataset": "OLID"}, "Model is required."),
        ({"model": "x" * 121}, "Model has 121 characters. Use at most 120."),
        ({"model": "a\nb"}, "Model: Use a single line of text."),
        (GIVEN | {"modle": "x"}, "modle: unknown run field. Use one of: model, dataset."),
    ],
)
def test_nothing_is_submitted_with_wrong_fields(team: Team, fields: dict[str, str], expected: str) -> None:
    with pytest.raises(Invalid) as error:
        sent(team, fields)
    assert str(error.value.message) == expected
    assert not Submission.objects.exists()


def test_a_task_without_fields_accepts_none(meltemi: Team) -> None:
    with pytest.raises(Invalid, match=r"model: unknown run field\. This task has none\."):
        sent(meltemi, {"model": "BERT"})


def test_a_description_changes_the_fields_that_it_names(team: Team) -> None:
    run = sent(team, GIVEN).runs.get()
    describe_run(captain(team), run, EVALUATION, method="SVM")
    assert Run.objects.get(pk=run.pk).fields == GIVEN
    with pytest.raises(Invalid, match="Model is required"):
        describe_run(captain(team), run, EVALUATION, fields={"model": ""})
    describe_run(captain(team), run, EVALUATION, method="SVM", fields={"dataset": ""})
    assert Run.objects.get(pk=run.pk).fields == {"model": "BERT"}
    assert AuditEntry.objects.filter(verb="describe_run").latest("pk").detail["before"] == {"fields": GIVEN}


@pytest.mark.slow
def test_boards_and_exports_have_a_column_for_each_field(task: SharedTask, team: Team) -> None:
    sent(team, GIVEN)
    work_off(EVALUATION)
    found = board(task, RELEASE)
    rows = {row.label: row for row in found.rows}
    assert (rows["Meltemi"].fields, rows["All yes"].fields) == (GIVEN, {"model": "Rule", "dataset": "none (one)"})
    by_team = {row["team"]: row for row in csv.DictReader(io.StringIO(board_csv(found).decode()))}
    assert (by_team["Meltemi"]["field_model"], by_team["Meltemi"]["field_dataset"]) == ("BERT", "OLID")
    plain = json.loads(board_json(found))
    assert plain["run_fields"] == [{"key": "model", "label": "Model"}, {"key": "dataset", "label": "Dataset"}]
    assert {row["team"]: row["fields"] for row in plain["rows"]}["Meltemi"] == GIVEN
    latex = board_table(found).latex()
    assert "Run & Model & Dataset" in latex
    assert "BERT & OLID" in latex
    frame = frames.board(board_json(found))
    assert frame.set_index("team").loc["Meltemi", "field_dataset"] == "OLID"
    assert list(frame) == [name for name in by_team["Meltemi"] if name not in ("slice", "gold_version", "scorer")]


@pytest.mark.slow
def test_fields_are_hidden_with_the_names(task: SharedTask, team: Team) -> None:
    """A model's name can reveal the team."""
    task.phases.filter(slug="post").update(team_names="on-release", released=POST + timedelta(days=1))
    sent(team, GIVEN, phase="post")
    work_off(POST)
    (before,) = board(task, POST, "post", baselines=False).rows
    assert before.fields == {}
    (own,) = board(task, POST, "post", baselines=False, viewer=captain(team)).rows
    assert own.fields == GIVEN


def test_a_baseline_whose_fields_change_is_not_scored_again(task: SharedTask, folder: Path) -> None:
    baseline = Run.objects.get(name="All yes", track__slug="two", phase__slug="evaluation")
    path = folder / "task.yaml"
    path.write_text(path.read_text().replace("model: Rule", "model: Constant"))
    changes = import_shared_task(None, folder, EVALUATION).changes
    assert "baseline All yes: 6 described" in changes
    baseline.refresh_from_db()
    assert baseline.fields == {"model": "Constant", "dataset": "none (two)"}


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("key: dataset", "key: model", "run_fields[1].key"),
        ("{model: Rule", "{modle: Rule", "baselines[1].fields.modle"),
        (FIELDS, "run_fields: [" + ", ".join(f"{{key: k{n}, label: K}}" for n in range(11)) + "]", "run_fields"),
    ],
)
def test_wrong_declarations(folder: Path, old: str, new: str, place: str) -> None:
    path = folder / "task.yaml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(DefinitionError) as error:
        load_definition(folder)
    assert place in [problem.item for problem in error.value.report.errors]


@pytest.mark.slow
def test_the_upload_page_asks_and_keeps_what_was_entered(team: Team, sign_in: Callable[[User], Client]) -> None:
    sender, address = sign_in(captain(team)), "/tasks/tiny/submit/"
    assert 'name="field-model"' in sender.get(address).content.decode()

    def post(**fields: str) -> Any:
        return sender.post(address, {"file": SimpleUploadedFile(NAME, run_file(GOOD)), "phase": "post", **fields})

    answer = post(**{"field-dataset": "OLID"})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    text = answer.content.decode()
    assert 'value="OLID"' in text
    assert "This field is required." in text
    assert not Submission.objects.exists()
    assert post(**{"field-model": "BERT", "field-dataset": "OLID"}).status_code == HTTPStatus.SEE_OTHER
    run = Run.objects.get(submission__isnull=False)
    assert run.fields == GIVEN
    page = sender.get(f"/runs/{run.pk}/").content.decode()
    assert "<dt>Dataset</dt><dd>OLID</dd>" in page
    form = f"/runs/{run.pk}/describe/"
    assert 'value="BERT"' in sender.get(form).content.decode()
    sender.post(form, {"field-model": "XLM-R", "field-dataset": ""})
    run.refresh_from_db()
    assert run.fields == {"model": "XLM-R"}


def test_a_file_is_validated_without_the_fields(team: Team, sign_in: Callable[[User], Client]) -> None:
    sender, address = sign_in(captain(team)), "/tasks/tiny/validate/"
    fields = {"field-model": "", "field-dataset": "x" * 121}
    given = {"file": SimpleUploadedFile(NAME, run_file(GOOD)), "phase": "post", **fields}
    assert sender.post(address, given).status_code == HTTPStatus.SEE_OTHER
    answer = sender.post(address, {"phase": "post", **fields})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    text = answer.content.decode()
    assert text.count("This field is required.") == 1  # the file
    assert f'value="{"x" * 121}"' in text


@pytest.mark.slow
def test_the_leaderboard_page_shows_the_fields(task: SharedTask, team: Team, client: Client) -> None:
    sent(team, {"model": "<b>BERT"})
    work_off(EVALUATION)
    task.phases.filter(slug="evaluation").update(released=database_now())
    text = client.get("/tasks/tiny/leaderboard/one/?phase=evaluation").content.decode()
    assert '<th scope="col" class="c-field">Model</th>' in text
    assert '<td class="c-field" data-metric="Model">&lt;b&gt;BERT</td>' in text
    assert '<td class="c-field" data-metric="Dataset">none (one)</td>' in text


def test_the_api_asks_for_the_fields_and_returns_them(team: Team) -> None:
    member = Script(captain(team))
    fields = member("/tasks/tiny").json()["run_fields"]
    assert [(one["key"], one["required"]) for one in fields] == [("model", True), ("dataset", False)]
    run = send_with(member, "field=model%3DBERT&field=dataset%3DOLID%3D1").json()["runs"][0]
    assert run["fields"] == {"model": "BERT", "dataset": "OLID=1"}
    described = member(f"/tasks/tiny/runs/{run['id']}/describe", "POST", {"fields": {"dataset": "HateBR"}}).json()
    assert described["fields"] == {"model": "BERT", "dataset": "HateBR"}
    assert send_with(member, "").json()["errors"] == [
        {"field": "fields.model", "code": "required", "detail": "Model is required."}
    ]
    assert send_with(member, "field=BERT").json()["detail"] == "field: Use KEY=TEXT."


def send_with(member: Script, query: str) -> Any:
    address = f"/tasks/tiny/phases/post/submissions?file_name={NAME}&{query}"
    return member(address, "POST", run_file(GOOD))


@pytest.mark.slow
def test_runs_from_before_the_field_stay(tiny_folder: Path, db: None) -> None:
    task = import_shared_task(None, tiny_folder, EVALUATION).shared_task
    meltemi = new_team(task, "Meltemi")
    run = send_run(meltemi, GOOD, 1, POST, "post")
    work_off(POST)
    with (tiny_folder / "task.yaml").open("a") as file:
        file.write(FIELDS)
    import_shared_task(None, tiny_folder, POST)
    assert [row.fields for row in board(task, POST, "post", baselines=False).rows] == [{}]
    assert describe_run(captain(meltemi), run, POST, method="SVM").fields == {}


def test_a_run_can_be_described_after_its_fields_changed(
    folder: Path, team: Team, sign_in: Callable[[User], Client]
) -> None:
    run = sent(team, GIVEN, phase="post").runs.get()
    path = folder / "task.yaml"
    path.write_text(path.read_text().replace("key: dataset", "key: data").replace(", dataset: ", ", data: "))
    import_shared_task(None, folder, EVALUATION)
    with pytest.raises(Invalid, match=r"dataset: unknown run field\. Use one of: model, data\."):
        describe_run(captain(team), run, POST, fields={"dataset": "HateBR"})
    form = {"field-model": "BERT", "field-data": "HateBR"}
    answer = sign_in(captain(team)).post(f"/runs/{run.pk}/describe/", form)
    assert answer.status_code == HTTPStatus.FOUND
    run.refresh_from_db()
    assert run.fields == {"model": "BERT", "data": "HateBR"}
