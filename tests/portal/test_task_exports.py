"""Exports for organizers: teams, runs, scores, downloads and the audit log."""

import csv
import hashlib
import io
import json
import zipfile

import pytest
from django.http import HttpResponseBase, StreamingHttpResponse

from portal import task_exports
from portal.models import Evaluation, Run, SharedTask, Team, User
from portal.task_exports import EXPORTS, MANIFEST
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    archive,
    captain,
    organizer_of,
    run_file,
    send,
    send_run,
    stored_path,
    with_teams,
    work_off,
)

pytestmark = pytest.mark.postgres


@remembered
def field(tiny: SharedTask) -> SharedTask:
    return with_teams(tiny, {"Perfect": PERFECT, "Good": GOOD})


@remembered
def organizer(tiny: SharedTask) -> User:
    return organizer_of(tiny)


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def exported(name: str, task: SharedTask, organizer: User) -> bytes:
    content = EXPORTS[name].content(task, organizer, EVALUATION)
    return content if isinstance(content, bytes) else b"".join(content)


@pytest.mark.slow
def test_teams_have_their_members_addresses_and_answers(field: SharedTask, organizer: User) -> None:
    Team.objects.filter(name="Good").update(answers={"use": "=1+1"})
    found = rows(exported("teams.csv", field, organizer))
    assert {(row["team"], row["address"], row["captain"], row["team_runs"]) for row in found} == {
        (name, captain(field.teams.get(name=name)).email, "yes", "1") for name in ("Perfect", "Good")
    }


def test_all_runs_are_in_one_zip_with_a_manifest(field: SharedTask, organizer: User) -> None:
    team = field.teams.get(name="Good")
    packed = archive({"one_Good_2.json": run_file(PERFECT), "one_Good_3.json": run_file(GOOD)})
    send(team, "tiny_Good.zip", packed, EVALUATION)
    work_off(EVALUATION)
    with zipfile.ZipFile(io.BytesIO(exported("runs.zip", field, organizer))) as found:
        manifest = json.loads(found.read(MANIFEST))
        contents = {one["run"]: found.read(one["path"]) for one in manifest["runs"] if one["kind"] == "team"}
        assert {one["path"]: one["sha256"] for one in manifest["runs"]} == {
            name: hashlib.sha256(found.read(name)).hexdigest() for name in found.namelist() if name != MANIFEST
        }
    assert contents["one_Good_1.json"] == contents["one_Good_3.json"] == run_file(GOOD)
    assert contents["one_Good_2.json"] == contents["one_Perfect_1.json"] == run_file(PERFECT)
    assert {one["sha256"] for one in manifest["runs"]} >= set(
        Run.objects.filter(kind="team").values_list("sha256", flat=True)
    )


def test_no_name_leads_out_of_the_zip(field: SharedTask, organizer: User) -> None:
    Team.objects.filter(name="Good").update(name="../../etc")
    Run.objects.filter(kind="team").update(name="../../passwd")
    with zipfile.ZipFile(io.BytesIO(exported("runs.zip", field, organizer))) as found:
        names = found.namelist()
    assert len(set(names)) == len(names) == Run.objects.exclude(kind="gold").count() + 1
    assert [name for name in names if ".." in name.split("/") or name.startswith("/")] == []


def test_a_file_that_is_missing_costs_no_other(field: SharedTask, organizer: User) -> None:
    lost = Run.objects.get(team__name="Good")
    stored_path(lost.file_sha256).unlink()
    with zipfile.ZipFile(io.BytesIO(exported("runs.zip", field, organizer))) as found:
        manifest = json.loads(found.read(MANIFEST))
    problems = {one["id"]: one.get("problem") for one in manifest["runs"]}
    assert problems.pop(str(lost.pk)) == "its file cannot be read"
    assert set(problems.values()) == {None}


@pytest.mark.slow
def test_one_run_is_in_memory_at_a_time(field: SharedTask, organizer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(task_exports, "run_body", lambda run: read.append(run.name) or b"x" * 200_000)
    pieces = EXPORTS["runs.zip"].content(field, organizer, EVALUATION)
    assert not isinstance(pieces, bytes)
    next(pieces)
    assert len(read) == 1


def test_scores_are_exact_and_say_what_made_them(field: SharedTask, organizer: User) -> None:
    send_run(field.teams.get(name="Good"), GOOD, 2, EVALUATION)  # this run is still waiting to be scored
    found = rows(exported("scores.csv", field, organizer))
    kept = {(str(one.run_id), key): value for one in Evaluation.objects.all() for key, value in one.scores.items()}
    assert {(row["run_id"], row["metric"]): float(row["value"]) for row in found} == kept
    assert {(row["gold_version"], row["withdrawn"]) for row in found} == {("1", "no")}
    assert {row["run"] for row in found if row["official"] == "yes"} == {"one_Perfect_1.json", "one_Good_1.json"}


@pytest.mark.slow
def test_the_audit_log_is_whole(field: SharedTask, organizer: User) -> None:
    entries = json.loads(exported("audit.json", field, organizer))
    table = rows(exported("audit.csv", field, organizer))
    assert len(entries) == len(table) == field.audit_entries.count()
    assert [json.loads(row["detail"]) for row in table] == [entry["detail"] for entry in entries]


@pytest.mark.parametrize("name", EXPORTS)
def test_each_is_on_a_page_and_in_the_api(field: SharedTask, organizer: User, client, name: str) -> None:
    client.force_login(organizer)
    assert f'href="/tasks/tiny/organize/{name}"' in client.get("/tasks/tiny/organize/exports/").content.decode()
    script = Script(organizer, "organize")

    def body(answer: HttpResponseBase) -> bytes:
        assert answer["Content-Disposition"] == f'attachment; filename="tiny_{name}"'
        assert answer["Cache-Control"] == "private, no-store"
        if isinstance(answer, StreamingHttpResponse):
            return b"".join(answer.streaming_content)
        return answer.content

    page, api = (body(ask(f"/tasks/tiny/organize/{name}")) for ask in (client.get, script))
    assert page[:40] == api[:40] != b""  # the rest of a zip depends on when it was made
    assert client.head(f"/tasks/tiny/organize/{name}").status_code == 200
