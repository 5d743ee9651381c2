"""Consistency checks of a shared task's rows, files and evaluations."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q

from portal.evaluation.errors import ChildError
from portal.evaluation.limits import LEASE_SECONDS
from portal.evaluation.score import compute
from portal.models import AuditEntry, Evaluation, GoldStandard, Quota, Run, SharedTask, Submission
from portal.models.own_scorer import without_approval
from portal.models.quota import quota_day, whole_phase
from portal.models.run import RunQuerySet
from portal.models.task import definition_name
from portal.objects.interface import data_objects
from portal.sealing import has_private_key
from portal.storage import file_sha256, folder_sha256, sealed_gold, stored_file
from scoring import DefinitionError
from scoring import __version__ as scorer_version

STUCK = timedelta(seconds=20 * LEASE_SECONDS)  # by then, the sweep would have found it many times
_COUNTED = (*Run.UNFINISHED, Run.State.SCORED, Run.State.UNSCORABLE)
_FITTING: dict[str, set[str]] = {  # state of an upload → allowed states of its runs
    Submission.State.RECEIVED: {Run.State.RECEIVED},
    Submission.State.CHECKING: {Run.State.RECEIVED},
    Submission.State.ACCEPTED: {*_COUNTED, Run.State.FAILED},
    Submission.State.REJECTED: {Run.State.REJECTED},
    Submission.State.FAILED: {Run.State.FAILED},
}


@dataclass(frozen=True, slots=True)
class Difference:
    """An inconsistency. `code` is its kind, and `subject` is the affected object, such as `run 0f3c…`.

    The text never contains scores or gold.
    """

    code: str
    subject: str
    words: str

    def __str__(self) -> str:
        return f"{self.code}: {self.subject}: {self.words}"


def reconcile(shared_task: SharedTask, at: datetime, sample: int = 20, seed: int = 0) -> list[Difference]:
    """Return all differences. A sample of the current evaluations is computed again and must match bit for bit.

    Rows may change between two queries because work continues. Therefore a difference is reported only if it is found
    twice.
    """
    found = _differences(shared_task, at, sample, seed)
    again = set(_differences(shared_task, at, sample, seed)) if found else set()
    return [difference for difference in found if difference in again]


def _differences(shared_task: SharedTask, at: datetime, sample: int, seed: int) -> list[Difference]:
    return [
        *_files(shared_task),
        *_definition(shared_task),
        *_receipts(shared_task),
        *_states(shared_task),
        *_evaluations(shared_task),
        *_stuck(shared_task, at),
        *_quotas(shared_task, at),
        *_sampled(shared_task, sample, seed),
    ]


def _files(shared_task: SharedTask) -> Iterator[Difference]:
    """Check each file once, no matter how many rows refer to it."""
    wanted: dict[str, str] = {}
    for run in _runs(shared_task).exclude(file_sha256=""):
        wanted.setdefault(run.file_sha256, f"run {run.pk}")
    for submission in shared_task.submissions.all():
        wanted[submission.sha256] = f"submission {submission.pk}"
    for slug in shared_task.dataset_files:
        stored = shared_task.stored_dataset(slug)
        assert stored is not None
        wanted[stored.sha256] = f"dataset {slug}"
    for sha256, subject in wanted.items():
        try:
            with stored_file(sha256) as path:
                if file_sha256(path) != sha256:
                    yield Difference("file-changed", subject, f"the content of the file {sha256} has changed")
        except OSError as error:
            yield Difference("file-missing", subject, f"the file {sha256} cannot be read: {type(error).__name__}")
    for gold in GoldStandard.objects.filter(track__shared_task=shared_task):
        try:
            sealed_gold(gold.sealed_sha256)
        except OSError as error:
            yield Difference("gold-missing", f"gold {gold.pk}", f"it cannot be read: {type(error).__name__}")


def _definition(shared_task: SharedTask) -> Iterator[Difference]:
    """Check the imported folder: its rules, items and pages, and the datasets of the import."""
    subject = f"definition {shared_task.definition_sha256}"
    name = definition_name(shared_task.definition_sha256)
    if not data_objects().has_folder(name):
        yield Difference("definition-missing", subject, "the folder does not exist")
        return
    folder = data_objects().folder(name)
    files = [path for path in folder.rglob("*") if path.is_file()]
    contents = {path.relative_to(folder).as_posix(): file_sha256(path) for path in files}
    try:
        definition = shared_task.definition
    except DefinitionError:
        yield Difference("definition-changed", subject, "its task.yaml is invalid")
        return
    for dataset in definition.datasets:
        stored = shared_task.stored_dataset(dataset.slug)
        if stored is not None and dataset.file not in definition.files_of_rules:
            file = dataset.file.relative_to(definition.folder).as_posix()
            contents[file] = stored.instead_of or stored.sha256
    if folder_sha256(contents) != shared_task.definition_sha256:
        yield Difference("definition-changed", subject, "a file in the folder is missing, new or changed")


def _receipts(shared_task: SharedTask) -> Iterator[Difference]:
    """Check that receipts match the audit log, which was written in the transaction of the upload."""
    audited = AuditEntry.objects.filter(shared_task=shared_task, verb=AuditEntry.Event.SUBMIT)
    receipts: dict[str, Any] = dict(audited.values_list("subject", "detail"))
    submissions = shared_task.submissions.order_by().values_list("pk", "sha256", Count("runs"))
    rows = {f"submission {key}": (sha256, runs) for key, sha256, runs in submissions}
    for subject in receipts.keys() - rows.keys():
        yield Difference("receipt-without-row", subject, "it has a receipt, but the upload does not exist")
    for subject, row in rows.items():
        receipt = receipts.get(subject, {})
        if (receipt.get("sha256"), receipt.get("runs")) != row:
            yield Difference(
                "row-without-receipt",
                subject,
                "the audit log has no entry, or one with a different file or number of runs",
            )


def _states(shared_task: SharedTask) -> Iterator[Difference]:
    for run in _runs(shared_task).filter(submission__isnull=False).select_related("submission"):
        assert run.submission is not None
        if run.state not in _FITTING[Submission.State(run.submission.state)]:
            yield Difference(
                "states-contradict",
                f"run {run.pk}",
                f"the run is {run.state}, but its upload is {run.submission.state}",
            )


def _evaluations(shared_task: SharedTask) -> Iterator[Difference]:
    """Check that each scored run has exactly one current evaluation, and that rejected runs have none."""
    for run in _runs(shared_task).filter(state=Run.State.SCORED).select_related("track", "phase"):
        gold = GoldStandard.objects.newest(run.track, run.phase.split)
        mine = run.evaluations.filter(gold=gold, scorer=shared_task.scorer)
        if (count := mine.count()) != 1:
            yield Difference(
                "evaluations", f"run {run.pk}", f"{count} scores with the current gold and scorer, expected 1"
            )
    for run in _runs(shared_task).filter(state=Run.State.REJECTED, evaluations__isnull=False).distinct():
        yield Difference("evaluations", f"run {run.pk}", "the run was rejected but has scores")


def _stuck(shared_task: SharedTask, at: datetime) -> Iterator[Difference]:
    long_ago = Q(received_at__lt=at - STUCK) & (Q(lease_ends__lt=at - STUCK) | Q(lease_ends__isnull=True, attempts=0))
    for submission in shared_task.submissions.unchecked().filter(long_ago):
        yield Difference(
            "stuck", f"submission {submission.pk}", "no worker has claimed it. Check that beat and workers are running"
        )
    runs = _runs(shared_task).exclude(without_approval()).unfinished()
    for run in runs.filter(long_ago, lease_ends__isnull=False):
        yield Difference("stuck", f"run {run.pk}", "no worker has claimed it. Check that beat and workers are running")


def _quotas(shared_task: SharedTask, at: datetime) -> Iterator[Difference]:
    """Compare the used quota of each team and person with the number of their runs.

    Quotas for rounds that have ended are left out. They no longer limit anything, and the length of rounds may have
    changed since then.
    """
    used: Counter[tuple[int | None, int | None, int, int, str]] = Counter()
    counted = (
        _runs(shared_task)
        .filter(kind=Run.Kind.TEAM, state__in=_COUNTED, submission__replaced_by__isnull=True)
        .select_related("submission", "phase")
    )
    for run in counted:
        assert run.submission is not None
        for team, user in ((run.team_id, None), (None, run.submission.sent_by_id)):
            for day in (whole_phase(run.phase, run.received_at), quota_day(run.received_at)):
                used[team, user, run.phase_id, run.track_id, day] += 1
    for quota in Quota.objects.filter(phase__shared_task=shared_task).select_related("phase"):
        if quota.is_of_round and quota.day != whole_phase(quota.phase, at):
            continue
        runs = used[quota.team_id, quota.user_id, quota.phase_id, quota.track_id, quota.day]
        if quota.used != runs:
            owner = f"team {quota.team_id}" if quota.team_id else f"account {quota.user_id}"
            subject = f"{owner}, phase {quota.phase_id}, track {quota.track_id}, day {quota.day or 'all'}"
            yield Difference("quota", subject, f"the quota counts {quota.used} runs, but there are {runs}")


def _sampled(shared_task: SharedTask, sample: int, seed: int) -> Iterator[Difference]:
    """Compute a sample of evaluations again, if this process has the scorer that produced them and the gold key."""
    if not has_private_key():
        words = "no scores were recomputed, because this process lacks AGON_GOLD_PRIVATE_KEY, which only workers have"
        yield Difference("scores-not-checked", "gold", words)
        return
    ours = Evaluation.objects.filter(run__track__shared_task=shared_task, scorer=scorer_version)
    keys = sorted(ours.exclude(run__state=Run.State.FAILED).values_list("pk", flat=True))
    chosen = random.Random(seed).sample(keys, min(sample, len(keys)))  # noqa: S311 - a sample, no secret
    related = ("run__track__shared_task", "run__phase", "gold")
    for evaluation in Evaluation.objects.filter(pk__in=chosen).select_related(*related):
        subject = f"run {evaluation.run_id} with gold {evaluation.gold.version}"
        try:
            again = compute(evaluation.run, evaluation.gold)
        except (ChildError, DefinitionError, OSError) as error:
            yield Difference("score-not-repeated", subject, str(error))
            continue
        if _bits(again.scores) != _bits(evaluation.scores):
            yield Difference("score-differs", subject, "recomputing it gave different scores")


def _bits(scores: dict[str, float | None]) -> dict[str, str | None]:
    return {key: None if value is None else float(value + 0.0).hex() for key, value in scores.items()}


def _runs(shared_task: SharedTask) -> RunQuerySet:
    return Run.objects.filter(track__shared_task=shared_task)
