"""A shared task with run formats of every family, and a team that uploads hostile files over HTTP."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import FailedAttempt, Quota, Run, SharedTask, Submission, Team, Validation
from portal.models.clock import database_now
from tests.portal.world import EVALUATION, captain, new_team, work_off

SECONDS = 2  # maximum CPU time in seconds for any rejection
TASK = """
agon: 1
slug: hostile
title: "Hostile"
year: 2024
languages: [en]
team: {name: "[A-Za-z0-9_-]{2,30}", approval: automatic}
pages: {overview: pages/overview.md}
tracks:
  - slug: labels
    title: "Labels"
    format: {kind: json-labels, classes: ["YES", "NO"]}
    items: {test: data/items.txt}
    metrics: [accuracy]
    rank_by: accuracy
  - slug: shares
    title: "Shares"
    format: {kind: json-soft, classes: ["YES", "NO"], sum: 1}
    items: {test: data/items.txt}
    metrics: [cross_entropy]
    rank_by: cross_entropy
  - slug: table
    title: "Table"
    format: {kind: table, header: required, id: id, columns: [label]}
    items: {test: data/items.txt}
    metrics: [accuracy]
    rank_by: accuracy
naming:
  archive: "hostile_{team}"
  run: "{track}_{team}_{number}"
  number: [1, 2, 3]
phases:
  - {slug: open, title: Open, opens: "2024-05-01 00:00 UTC", split: test, runs_per_track: 3, scores: at-once,
     official: best}
gold:
  - {track: labels, split: test, file: gold/labels.json}
  - {track: shares, split: test, file: gold/shares.json}
  - {track: table, split: test, file: gold/table.csv}
"""
LABELS = [{"id": item, "value": "YES"} for item in "abcd"]
SHARES = [{"id": item, "value": {"YES": 0.75, "NO": 0.25}} for item in "abcd"]
TABLE = "id,label\na,1\nb,0\nc,1\nd,1\n"


def used() -> float:
    """Return the CPU seconds used by this process and its children, which do not depend on the machine's load."""
    return sum(os.times()[:4])


def _problems(response: Any) -> list[dict[str, Any]]:
    """Return the problems on the page of a rejected upload. Other pages list none."""
    upload = response.context.get("upload")
    return list(upload.rejection.problems) if upload and upload.rejection else []


def dump(content: Any) -> bytes:
    return json.dumps(content).encode()


def hostile_task(folder: Path) -> SharedTask:
    shutil.copytree(Path(__file__).parents[1] / "portal/tiny_task", folder)
    shutil.rmtree(folder / "baselines")  # one of them would equal the gold of `labels`
    (folder / "task.yaml").write_text(TASK)
    (folder / "gold/labels.json").write_bytes(dump(LABELS))
    (folder / "gold/shares.json").write_bytes(dump(SHARES))
    (folder / "gold/table.csv").write_text(TABLE)
    return import_shared_task(None, folder, EVALUATION).shared_task


@dataclass(frozen=True)
class Answer:
    """The result of an upload: status, listed problems and CPU seconds."""

    status: int
    problems: list[dict[str, Any]]
    seconds: float

    @property
    def codes(self) -> set[str]:
        return {problem["code"] for problem in self.problems if problem["severity"] == "error"}


class Desk:
    """The captain of a team, who validates and submits files."""

    def __init__(self, shared_task: SharedTask) -> None:
        self.team: Team = new_team(shared_task, "Bora")
        self.client = Client()
        self.client.force_login(captain(self.team))
        self._kept = self.files()
        self.check("labels_Bora_1", dump(LABELS))  # the first request of a process compiles its templates

    def check(self, name: str, body: bytes) -> Answer:
        """Validate a file, have a worker check it, and return the result. The status is 422 if the file is invalid."""
        started = used()
        response = self._post("validate", name, body)
        assert response.status_code == 303
        work_off(database_now(), confined=True)
        report = self.client.get(response["Location"]).context["report"]
        seconds = used() - started
        runs = [problem for run in report.runs for problem in run.problems]
        return Answer(200 if report.is_valid else 422, [*report.problems, *runs], seconds)

    def rejected(self, name: str, body: bytes) -> Answer:
        """Submit a file that is rejected immediately, and return the result."""
        started = used()
        response = self._post("submit", name, body)
        seconds = used() - started
        assert response.status_code >= 400, "was taken"
        work_off(database_now(), confined=True)  # the worker also checks the content
        return Answer(response.status_code, _problems(response), seconds)

    def accepted(self, name: str, body: bytes) -> tuple[Submission, Answer]:
        """Submit a file that is accepted, and have a worker check it. Return the submission and the result."""
        started = used()
        response = self._post("submit", name, body)
        assert response.status_code == 303, _problems(response)
        work_off(database_now(), confined=True)
        seconds = used() - started
        submission = Submission.objects.get(pk=response["Location"].split("/")[-2])
        report = self.client.get(f"{response['Location']}report.json").json()
        return submission, Answer(response.status_code, report["problems"], seconds)

    def _post(self, page: str, name: str, body: bytes) -> Any:
        for limited in (Validation.objects, FailedAttempt.objects):
            limited.all().delete()
        file = SimpleUploadedFile("replaced", body)
        file.name = name
        response = self.client.post(f"/tasks/hostile/{page}/", {"file": file, "phase": "open"})
        assert b"Traceback" not in response.content
        return response

    def files(self) -> set[Path]:
        """Return all stored files."""
        return {path for path in Path(settings.DATA_ROOT).rglob("*") if path.is_file()}

    def new_files(self) -> set[str]:
        """Return the names of new files. A file is not new if an earlier test stored the same content."""
        return {path.name for path in self.files() - self._kept}

    @property
    def used(self) -> int:
        return sum(Quota.objects.filter(team=self.team).values_list("used", flat=True))

    @property
    def runs(self) -> list[Run]:
        return list(Run.objects.filter(team=self.team))
