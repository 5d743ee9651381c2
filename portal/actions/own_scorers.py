"""Approving organizers' own scorers. Only an administrator can, and only exactly the files that they have seen."""

from typing import Annotated

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal import jobs
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict
from portal.actions.base.roles import ADMINISTRATORS
from portal.evaluation.limits import RUNS_AT_ONCE
from portal.evaluation.own_scorers.versions import go_by_scorer
from portal.models import OwnScorer, Run, SharedTask

OTHER_SCORER = Conflict.declare(
    "other_scorer", _("This is not the scorer that the page showed. Reload the page and read the files again.")
)
ALREADY_APPROVED = Conflict.declare("scorer_approved", _("This scorer has already been approved."))


@action(
    who=ADMINISTRATORS,
    says=_("approved an own scorer"),
    errors=[OTHER_SCORER, ALREADY_APPROVED],
    locks=True,
)
def approve_scorer(
    call: ActionCall, scorer: OwnScorer, *, sha256: Annotated[str, Field(min_length=64, max_length=64, title="SHA-256")]
) -> OwnScorer:
    """Let exactly these files run, confined, for the runs of their task. `sha256` is the digest that the page showed.

    If they are the ones in the task's folder, its runs are scored with them from now on.
    """
    shared_task = SharedTask.objects.select_for_update(no_key=True).get(pk=scorer.shared_task_id)
    scorer = OwnScorer.objects.select_for_update(of=("self",), no_key=True).get(pk=scorer.pk)
    if sha256 != scorer.sha256 or scorer.program.sha256 != sha256:
        raise OTHER_SCORER()
    if scorer.approved_at is not None:
        raise ALREADY_APPROVED()
    scorer.approved_at, scorer.approved_by = call.at, call.user
    scorer.save(update_fields=["approved_at", "approved_by"])
    is_own = shared_task.organizers.filter(pk=call.user.pk).exists()
    call.record(scorer_sha256=sha256, of_own_task=is_own)
    if shared_task.own_scorer_sha256 == sha256:
        go_by_scorer(shared_task)
        waiting = Run.objects.filter(track__shared_task=shared_task, state=Run.State.VALID).scorable()
        runs = list(waiting.values_list("pk", flat=True)[:RUNS_AT_ONCE])
        transaction.on_commit(lambda: jobs.publish_first_scores(runs))
    return scorer
