"""Comparing rows, files and evaluations: each kind of difference is reported by name, and nothing else is reported."""

import io
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from portal import jobs
from portal.evaluation.reconcile import STUCK, reconcile
from portal.models import AuditEntry, Evaluation, OutgoingMail, Quota, Run, Submission
from portal.models.clock import database_now
from portal.models.task import _definition, definition_name
from portal.objects.interface import data_objects, gold_objects
from portal.sealing import as_text, public_key
from portal.storage import stored_file, stored_name
from tests.portal.remembered import remembered, stored_files
from tests.portal.world import (
    EVALUATION,
    GOOD,
    archive,
    captain,
    person,
    run_file,
    send,
    send_run,
    without_children,
    work_off,
)

pytestmark = pytest.mark.postgres

DATASETS = """
datasets:
  - {slug: sample, file: data/sample.tsv, access: public}
  - {slug: items, file: data/items.txt, access: public}
"""


@remembered
def scored(meltemi):
    """A team's scored run. The team also has a rejected upload and an archive with two runs."""
    files = {"one_Meltemi_2.json": run_file(GOOD), "two_Meltemi_2.json": run_file(GOOD)}
    send(meltemi, "tiny_Meltemi.zip", archive(files), EVALUATION)
    send_run(meltemi, ["MAYBE"], 3, EVALUATION)
    found = send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    found.refresh_from_db()
    return found


@pytest.fixture
def run(scored, settings, tmp_path):
    """The run `scored`, with copies of all stored files, which tests may damage."""
    usual, own = Path(settings.DATA_ROOT), tmp_path / "data"
    for path in stored_files():
        if path.is_relative_to(usual):
            copy = own / path.relative_to(usual)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    place = {**settings.STORAGES["data"], "OPTIONS": {"location": own}}
    settings.STORAGES = {**settings.STORAGES, "data": place}
    return scored


@pytest.fixture
def tiny_folder(tiny_folder):
    """The tiny task's folder with two more datasets, one of which is used in checks."""
    with (tiny_folder / "task.yaml").open("a") as file:
        file.write(DATASETS)
    (tiny_folder / "data/sample.tsv").write_text("sample\t0123456789\n")
    return tiny_folder


def codes(tiny, at=EVALUATION, **options):
    return {difference.code for difference in reconcile(tiny, at, **options)}


def change(sha256):
    with stored_file(sha256) as path:
        path.chmod(0o600)
        path.write_bytes(path.read_bytes() + b" ")


def sample(run):
    """Return the SHA-256 of the dataset `sample`."""
    return run.track.shared_task.stored_dataset("sample").sha256


def definition(run):
    """Return the path of the task's imported folder."""
    return data_objects().folder(definition_name(run.track.shared_task.definition_sha256))


def change_score(run):
    evaluation = run.evaluations.get()
    value = evaluation.scores["accuracy"]
    Evaluation.objects.filter(pk=evaluation.pk).update(scores=evaluation.scores | {"accuracy": value + 2**-53})


BREAKS = {
    "file-missing": lambda run: data_objects().delete(stored_name(run.file_sha256)),
    "file-changed": lambda run: change(run.file_sha256),
    "file-missing: a dataset": lambda run: data_objects().delete(stored_name(sample(run))),
    "file-changed: a dataset": lambda run: change(sample(run)),
    "definition-missing": lambda run: shutil.rmtree(definition(run)),
    "definition-changed: a page": lambda run: (definition(run) / "pages/overview.md").write_text("# Other"),
    "definition-changed: no page": lambda run: (definition(run) / "pages/overview.md").unlink(),
    "definition-changed: no items": lambda run: (definition(run) / "data/items.txt").unlink(),
    "definition-changed: no rules": lambda run: (definition(run) / "task.yaml").unlink(),
    "gold-missing": lambda run: gold_objects().delete(run.evaluations.get().gold.sealed_sha256),
    "receipt-without-row": lambda run: AuditEntry.objects.create(
        verb="submit", subject="submission gone", shared_task=run.track.shared_task, at=EVALUATION
    ),
    "row-without-receipt": lambda run: AuditEntry.objects.filter(subject=f"submission {run.submission_id}").delete(),
    "states-contradict": lambda run: Submission.objects.filter(pk=run.submission_id).update(state="rejected"),
    "evaluations": lambda run: run.evaluations.all().delete(),
    "quota": lambda run: Quota.objects.filter(team=run.team, used__gt=0).update(used=9),
    "score-differs": change_score,
}


@pytest.mark.slow
def test_all_is_well(run, tiny):
    assert reconcile(tiny, EVALUATION + timedelta(days=1), sample=100) == []
    output = io.StringIO()
    call_command("reconcile", stdout=output)
    assert output.getvalue() == "No differences.\n"


@pytest.mark.slow
@pytest.mark.parametrize("what", BREAKS)
def test_every_kind_of_difference_is_found(run, tiny, what):
    BREAKS[what](run)
    _definition.cache_clear()  # as in a new process
    output = io.StringIO()
    with without_children(), pytest.raises(CommandError, match="difference"):
        call_command("reconcile", sample=100, stdout=output)
    assert what.partition(":")[0] in [line.split(": ")[1] for line in output.getvalue().splitlines()]


@pytest.mark.slow
def test_a_process_without_the_gold_key_says_so_once(run, tiny, settings):
    settings.GOLD_PUBLIC_KEY = as_text(public_key())
    settings.GOLD_PRIVATE_KEYS = []
    (difference,) = reconcile(tiny, EVALUATION, sample=100)
    assert "AGON_GOLD_PRIVATE_KEY" in str(difference)


def test_work_that_no_worker_claims_is_found(meltemi, tiny):
    send_run(meltemi, GOOD, 1, EVALUATION)
    assert "stuck" not in codes(tiny, EVALUATION + STUCK)
    assert "stuck" in codes(tiny, EVALUATION + 3 * STUCK)


@pytest.mark.slow
def test_the_sample_is_what_the_seed_says(run, tiny, monkeypatch):
    seen = []
    monkeypatch.setattr("portal.evaluation.reconcile.compute", lambda run, gold: seen.append(run.pk) or 1 / 0)
    for seed in (1, 1, 2):
        with pytest.raises(ZeroDivisionError):
            reconcile(tiny, EVALUATION, sample=1, seed=seed)
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.slow
def test_the_night_mails_administrators_once(run, tiny, caplog):
    administrator = person("Ada")
    administrator.is_staff = True
    administrator.save()
    BREAKS["quota"](run)
    for _ in range(2):
        jobs.reconcile()
    (mail,) = OutgoingMail.objects.filter(kind="alert")
    assert (mail.user, mail.details["count"]) == (administrator, 2)
    assert "quota" in caplog.text


@pytest.mark.slow
def test_quarantine_is_reported_to_administrators(meltemi, tiny, caplog, poison):
    administrator = person("Ada")
    administrator.is_staff = True
    administrator.save()
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    Run.objects.filter(pk=run.pk).update(state="valid", attempts=0)
    poison(run)
    for hour in range(3):
        work_off(database_now() + timedelta(hours=hour), confined=True)
    run.refresh_from_db()
    (mail,) = OutgoingMail.objects.filter(kind="alert")
    assert (run.state, mail.user) == ("failed", administrator)
    assert mail.details["lines"] == [f"Evaluation failed: run {run.pk}. Child processes that died: 3, leases lost: 0"]
    assert "quarantined" in caplog.text
    assert captain(meltemi).mails.filter(kind="alert").count() == 0
