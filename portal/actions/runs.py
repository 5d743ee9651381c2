"""A team's actions on a run: making it official, withdrawing it, describing its system, and notes."""

from typing import Annotated, Any, Literal

from django.utils.translation import gettext_lazy as _

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, NotAllowed
from portal.actions.base.input import column, passes
from portal.actions.base.roles import MEMBERS
from portal.actions.uploads.run_fields import RunFields, checked_run_fields
from portal.models import Board, Phase, Run
from portal.models.run import one_line
from portal.models.team import web_address

NOTHING_TO_CHOOSE = NotAllowed.declare(
    "nothing_to_choose", _("You can’t choose the official run in %(phase)s. The phase’s rules determine it.")
)
PHASE_CLOSED = NotAllowed.declare("phase_closed", _("%(phase)s is closed, so the choice of the official run is final."))
RESULTS_FINAL = NotAllowed.declare(
    "results_final",
    _("The results of %(phase)s are final, so its runs can no longer be changed or withdrawn. Contact the organizers."),
)
NOT_ELIGIBLE = Conflict.declare(
    "not_eligible", _("%(run)s can’t be official because it was rejected, failed or was withdrawn.")
)


@action(
    who=MEMBERS,
    says=_("chose the official run"),
    errors=[NOTHING_TO_CHOOSE, PHASE_CLOSED, NOT_ELIGIBLE],
    repeatable=True,
)
def choose_official_run(call: ActionCall, run: Run) -> Run:
    """Make the run the team's official run in its track and phase. Possible until the phase closes."""
    phase = Phase.objects.get(pk=run.phase_id)
    if phase.official != Phase.Official.CHOSEN:
        raise NOTHING_TO_CHOOSE(phase=phase.title)
    if not phase.is_open(call.at, run.team_id):
        raise PHASE_CLOSED(phase=phase.title)
    rivals = _locked(run)
    chosen = next(one for one in rivals if one.pk == run.pk)
    if not chosen.is_eligible:
        raise NOT_ELIGIBLE(run=run.name)
    if chosen.chosen_at is None:
        Run.objects.filter(pk__in=[one.pk for one in rivals]).update(chosen_at=None, chosen_by=None)
        Run.objects.filter(pk=run.pk).update(chosen_at=call.at, chosen_by=call.user)
        before = next((str(one.pk) for one in rivals if one.chosen_at), None)
        Board.objects.of(run).changed()
        call.record(**_place(run), before=before)
    return Run.objects.get(pk=run.pk)


@action(who=MEMBERS, says=_("withdrew a run"), errors=[RESULTS_FINAL, NOT_ELIGIBLE], repeatable=True)
def withdraw_run(
    call: ActionCall,
    run: Run,
    *,
    reason: Annotated[str, column(Run, "withdrawal_reason", required=True, title="Reason")],
) -> Run:
    """Withdraw a run from the leaderboard permanently.

    The run keeps its number and still counts toward the quota, but is no longer official.
    """
    _require_unsettled(call, run)
    current = next(one for one in _locked(run) if one.pk == run.pk)
    if current.withdrawn_at is not None:
        return current
    if not current.is_eligible:
        raise NOT_ELIGIBLE(run=run.name)
    current.withdrawn_at, current.withdrawn_by, current.withdrawal_reason = call.at, call.user, reason
    current.chosen_at = current.chosen_by = None
    current.save(update_fields=["withdrawn_at", "withdrawn_by", "withdrawal_reason", "chosen_at", "chosen_by"])
    Board.objects.of(run).changed()
    call.record(**_place(run), reason=reason)
    return current


@action(who=MEMBERS, says=_("described a run"), errors=[RESULTS_FINAL], repeatable=True)
def describe_run(
    call: ActionCall,
    run: Run,
    *,
    method: Annotated[str, column(Run, "method"), passes(one_line)] = "",
    description: Annotated[str, column(Run, "description")] = "",
    link: Annotated[str, column(Run, "link"), passes(web_address)] = "",
    system_type: Run.SystemType | Literal[""] = "",
    fields: RunFields | None = None,
) -> Run:
    """Describe the system behind a run. Possible until the results are final. Everyone sees it after the release.

    Run fields that are not in `fields` keep their texts.
    """
    _require_unsettled(call, run)
    current = Run.objects.locked().get(pk=run.pk)
    wanted: dict[str, Any] = {"method": method, "description": description, "link": link, "system_type": system_type}
    if fields:
        wanted["fields"] = checked_run_fields(run.track.shared_task, fields, stored=current.fields)
    before = {name: getattr(current, name) for name, value in wanted.items() if getattr(current, name) != value}
    if not current.description_is_public:
        current.description_is_public = True
        current.save(update_fields=["description_is_public"])
    if before:
        for name in before:
            setattr(current, name, wanted[name])
        current.save(update_fields=list(before))
        Board.objects.of(run).changed()
        call.record(**_place(run), before=before)
    return current


@action(who=MEMBERS, repeatable=True)
def note_run(call: ActionCall, run: Run, *, note: Annotated[str, column(Run, "note")]) -> Run:
    """Write a note on a run that only the members of its team see. Possible at any time."""
    Run.objects.filter(pk=run.pk).update(note=note)
    return Run.objects.get(pk=run.pk)


def _require_unsettled(call: ActionCall, run: Run) -> None:
    phase = Phase.objects.get(pk=run.phase_id)
    if phase.is_settled(call.at):
        raise RESULTS_FINAL(phase=phase.title)


def _locked(run: Run) -> list[Run]:
    """Lock the team's runs in this track and phase, so that simultaneous choices are made one at a time."""
    rivals = Run.objects.filter(team=run.team_id, phase=run.phase_id, track=run.track_id)
    return list(rivals.locked())


def _place(run: Run) -> dict[str, Any]:
    assert run.team is not None
    return {"team": run.team.name, "track": run.track.slug, "phase": run.phase.slug}
