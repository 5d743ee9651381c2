"""What a team does with a run that is there: choose it as the official one, withdraw it, describe it."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.refusal import Conflict, NotAcceptable, NotAllowed
from portal.actions.texts import checked_field
from portal.models import AuditEntry, Board, Phase, Run, User
from portal.permissions import may_change_run


@dataclass(frozen=True, slots=True)
class RunDescription:
    """What a team says of the system behind a run; the fields of `Described`."""

    method: str = ""
    description: str = ""
    link: str = ""
    system_type: str = ""


@transaction.atomic
def choose_official_run(user: User, run: Run, at: datetime) -> Run:
    """Let the run stand for its team in its track and phase, until the phase closes; once more changes nothing.

    Raises:
        NotAllowed: somebody else's run, the phase does not let teams choose, or it is not open.
        Conflict: the run was withdrawn, refused or given up.
    """
    _require_member(user, run)
    phase = Phase.objects.get(pk=run.phase_id)
    if phase.official != Phase.Official.CHOSEN:
        raise NotAllowed("nothing_to_choose", _("In %(phase)s the rules decide which run is official.") % _names(run))
    if not phase.is_open(at, run.team_id):
        raise NotAllowed(
            "phase_closed", _("%(phase)s is closed: the choice of the official run is final.") % _names(run)
        )
    rivals = _locked(run)
    chosen = next(one for one in rivals if one.pk == run.pk)
    if not chosen.is_eligible:
        message = _("%(run)s was withdrawn or refused and cannot be the official run.")
        raise Conflict("not_eligible", message % _names(run))
    if chosen.chosen_at is None:
        Run.objects.filter(pk__in=[one.pk for one in rivals]).update(chosen_at=None, chosen_by=None)
        Run.objects.filter(pk=run.pk).update(chosen_at=at, chosen_by=user)
        before = next((str(one.pk) for one in rivals if one.chosen_at), None)
        Board.objects.of(run).changed()
        _audit(user, run, "choose_official_run", at, before=before)
    return Run.objects.get(pk=run.pk)


@transaction.atomic
def withdraw_run(user: User, run: Run, reason: str, at: datetime) -> Run:
    """Take a run off the leaderboard for good, with the reason; withdrawing it again changes nothing.

    It keeps its number and keeps counting for the limits. A choice that fell on it is void.

    Raises:
        NotAllowed: somebody else's run, or the results of the phase stand already.
        NotAcceptable: no reason, or one of more than 300 characters.
        Conflict: the run was refused or given up, so that there is nothing to withdraw.
    """
    _require_member(user, run)
    if Phase.objects.get(pk=run.phase_id).is_settled(at):
        message = _("The results of %(phase)s stand: its runs can no longer be withdrawn. Ask the organizers.")
        raise NotAllowed("results_stand", message % _names(run))
    reason = checked_field(reason, Run._meta.get_field("withdrawal_reason"))
    if not reason:
        raise NotAcceptable("no_reason", _("Say why, in a few words; the organizers read it."))
    current = next(one for one in _locked(run) if one.pk == run.pk)
    if current.withdrawn_at is not None:
        return current
    if not current.is_eligible:
        raise Conflict("not_eligible", _("%(run)s was refused: there is nothing to withdraw.") % _names(run))
    current.withdrawn_at, current.withdrawn_by, current.withdrawal_reason = at, user, reason
    current.chosen_at = current.chosen_by = None
    current.save(update_fields=["withdrawn_at", "withdrawn_by", "withdrawal_reason", "chosen_at", "chosen_by"])
    Board.objects.of(run).changed()
    _audit(user, run, "withdraw_run", at, reason=current.withdrawal_reason)
    return current


@transaction.atomic
def describe_run(user: User, run: Run, description: RunDescription, at: datetime) -> Run:
    """Say which system is behind a run, until the results stand; saying the same again changes nothing.

    Raises:
        NotAllowed: somebody else's run, or the results of the phase stand already.
        NotAcceptable: a text is too long, the link is none, or there is no such type.
    """
    _require_member(user, run)
    if Phase.objects.get(pk=run.phase_id).is_settled(at):
        message = _("The results of %(phase)s stand: its runs can no longer be described anew. Ask the organizers.")
        raise NotAllowed("results_stand", message % _names(run))
    wanted = asdict(description)
    for name, value in wanted.items():
        checked_field(value, Run._meta.get_field(name))
    try:
        Run(**wanted).clean_fields(exclude={field.name for field in Run._meta.fields} - set(wanted))
    except ValidationError as error:
        faults = (f"{name}: {' '.join(messages)}" for name, messages in error.message_dict.items())
        raise NotAcceptable("wrong_description", " ".join(faults)) from None
    current = Run.objects.locked().get(pk=run.pk)
    before = {name: getattr(current, name) for name, value in wanted.items() if getattr(current, name) != value}
    if before:
        for name in before:
            setattr(current, name, wanted[name])
        current.save(update_fields=list(before))
        Board.objects.of(run).changed()
        _audit(user, run, "describe_run", at, before=before)
    return current


def _require_member(user: User, run: Run) -> None:
    if not may_change_run(user, run):
        raise NotAllowed("not_your_run", _("Only members of its team may do that with a run."))


def _locked(run: Run) -> list[Run]:
    """The team's runs of that track and phase, held until the transaction ends: two choices at once come in turn."""
    rivals = Run.objects.filter(team=run.team_id, phase=run.phase_id, track=run.track_id)
    return list(rivals.locked())


def _names(run: Run) -> dict[str, str]:
    return {"phase": run.phase.title, "run": run.name}


def _audit(user: User, run: Run, verb: str, at: datetime, **detail: Any) -> None:
    assert run.team is not None
    AuditEntry.objects.create(
        actor=user,
        shared_task=run.track.shared_task,
        verb=verb,
        subject=f"run {run.pk}",
        detail={"team": run.team.name, "track": run.track.slug, "phase": run.phase.slug, **detail},
        at=at,
    )
