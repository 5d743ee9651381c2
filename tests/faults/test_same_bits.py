"""A process with a different hash seed, locale and number of threads computes bit-identical scores."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from portal.evaluation.score import score_run
from portal.models import Evaluation, Run, Submission
from portal.models.clock import database_now
from tests.conftest import ROOT
from tests.faults.conftest import own_environment
from tests.portal.world import check_submission


@pytest.mark.parametrize(("seed", "locale", "threads"), [("0", "C", "1"), ("4711", "tr_TR.UTF-8", "4")])
def test_scores_are_made_again_bit_by_bit(
    send: Callable[[int], Submission], seed: str, locale: str, threads: str
) -> None:
    for submission in (send(1), send(2)):
        check_submission(submission.pk, database_now())
    for run in Run.objects.all():
        score_run(run.pk, database_now())
    assert Evaluation.objects.count() == Run.objects.count() > 2
    environment = own_environment() | {"PYTHONHASHSEED": seed, "LC_ALL": locale, "OMP_NUM_THREADS": threads}
    command = [sys.executable, "manage.py", "reconcile", "--sample", "100"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "No differences.\n"), done.stdout + done.stderr
