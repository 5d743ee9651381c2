"""The versions of a task's own scorer: adding the one in its folder, and going by it once it is approved."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from portal.evaluation.child import run_limited
from portal.evaluation.confined.scorer import findings
from portal.evaluation.notices import alert
from portal.evaluation.rescore import score_again
from portal.models import OwnScorer, SharedTask
from portal.models.own_scorer import program_of_row, row_of
from portal.models.task import engine_of, with_own_scorer
from scoring.definition import Scorer
from scoring.own_scorers.program import Program, program_of


@dataclass(frozen=True, slots=True)
class PreparedScorer:
    """A scorer from a task's folder, as it is stored (`OwnScorer`)."""

    files: Mapping[str, str]
    entry: Mapping[str, Any]
    findings: list[dict[str, Any]]

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Self:
        return cls(kept["files"], kept["entry"], kept["findings"])

    @property
    def sha256(self) -> str:
        return program_of_row(self.files, self.entry).sha256


def prepared(program: Program) -> PreparedScorer:
    """Return a scorer that was read from a folder on the server. A child reads its code for the report."""
    files = row_of(program.files)
    found: list[dict[str, Any]] = run_limited(findings, files)
    return PreparedScorer(files, program.entry.as_dict(), found)


def held_scorer(shared_task: SharedTask, scorer: Scorer) -> PreparedScorer | None:
    """Return the files of the scorer that the task has, with the call that its new task.yaml declares.

    Raises:
        ScorerError: the call does not fit these files.
    """
    row = OwnScorer.objects.of(shared_task).first()
    if row is None:
        return None
    entry = program_of(row.program.files, scorer).entry
    return PreparedScorer(row.files, entry.as_dict(), row.findings)


def change_scorer(shared_task: SharedTask, given: PreparedScorer | None, at: datetime) -> list[str]:
    """Make this the task's own scorer and return one sentence for each change.

    Its version runs only once an administrator has approved it. If it is approved already, or if there is no own scorer
    anymore, all runs are scored again.
    """
    before, after = shared_task.own_scorer_sha256, "" if given is None else given.sha256
    if before == after:
        return []
    shared_task.own_scorer_sha256 = after
    shared_task.save(update_fields=["own_scorer_sha256"])
    is_approved = given is not None and _version(shared_task, given, at).approved_at is not None
    if given is not None and not is_approved:
        line = f"The scorer {after[:12]} of the task {shared_task.slug} waits for approval. See the page “Scorers”."
        alert(shared_task, f"scorer {after}", [line], at)
        return [f"own scorer {after[:12]}: waits for an administrator’s approval, and no runs are scored until then"]
    again = go_by_scorer(shared_task)
    what = "removed" if given is None else f"{after[:12]}, approved before"
    return [f"own scorer: {what}, {again} runs will be rescored" if again else f"own scorer: {what}"]


def _version(shared_task: SharedTask, given: PreparedScorer, at: datetime) -> OwnScorer:
    row, _is_new = OwnScorer.objects.get_or_create(
        shared_task=shared_task,
        sha256=given.sha256,
        defaults={
            "entry": dict(given.entry),
            "files": dict(given.files),
            "findings": given.findings,
            "added_at": at,
        },
    )
    return row


def go_by_scorer(shared_task: SharedTask) -> int:
    """Let the task's scores depend on its own scorer as it is now, and return how many runs will be scored again."""
    if shared_task.scorer == with_own_scorer(engine_of(shared_task.scorer), shared_task.own_scorer_sha256):
        return 0
    again = score_again(shared_task)
    shared_task.scorer = again["scorer"]
    return again["runs"]
