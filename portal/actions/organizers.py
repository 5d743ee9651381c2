"""Adding and removing a task's organizers. They are identified by their email address."""

from datetime import datetime
from typing import Annotated

from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid, LimitReached
from portal.actions.base.input import column, passes
from portal.actions.base.roles import ORGANIZERS
from portal.actions.base.waiting import until_fewer
from portal.models import AuditEntry, Board, FailedAttempt, SharedTask, Team, User
from portal.models.failed_attempt import AN_HOUR

ADDRESSES_AN_HOUR = 20  # per person, across all tasks, because each attempt shows whether an address has an account

NO_ACCOUNT = Invalid.declare(
    "no_account", _("There is no account with the address %(address)s. Ask the person to sign up first, then add them.")
)
TOO_MANY_ADDRESSES = LimitReached.declare(
    "too_many_addresses", _("You can enter %(limit)d addresses per hour. Wait a while, then try again.")
)
COMPETES = Conflict.declare(
    "competes",
    _(
        "%(address)s is on the team %(team)s in this task. Organizers see hidden scores, so the team would have no "
        "rank from now on, even if the person stops organizing or leaves the team. Confirm this to add the organizer."
    ),
)
IS_ORGANIZER = Conflict.declare("is_organizer", _("%(address)s is already an organizer of this task."))
NO_SUCH_ORGANIZER = Invalid.declare("no_such_organizer", _("%(address)s is not an organizer of this task."))
LAST_ORGANIZER = Conflict.declare(
    "last_organizer", _("A task needs at least one organizer. Add another organizer before you remove this one.")
)

Address = Annotated[str, column(User, "email", required=True, title="Email address"), passes(validate_email)]


@action(
    who=ORGANIZERS,
    says=_("added an organizer"),
    errors=[NO_ACCOUNT, TOO_MANY_ADDRESSES, IS_ORGANIZER, COMPETES],
    locks=True,
    atomic=False,
)
def add_organizer(call: ActionCall, shared_task: SharedTask, *, address: Address, is_sure: bool = False) -> User:
    """Make another person an organizer of the task. Organizers need a second factor.

    If the person is on a team, `is_sure` confirms that the team has no rank from now on.
    """
    counted = _count_address(call)  # before the address is looked up, so simultaneous requests cannot exceed the limit
    user = User.objects.filter(email__iexact=address, is_active=True).first()
    if user is None:
        raise NO_ACCOUNT(address=address)
    with call.transaction() as shared_task:
        if shared_task.organizers.filter(pk=user.pk).exists():
            raise IS_ORGANIZER(address=address)
        teams = Team.objects.locked().filter(shared_task=shared_task, members=user)
        team = teams.exclude(state=Team.State.WITHDRAWN).first()  # a declined team may still be approved
        if team is not None and not is_sure:
            raise COMPETES(address=address, team=team.name)
        shared_task.organizers.add(user)
        counted.delete()  # from now on, the audit entry is counted instead
        if team is None:
            call.record(account=user.pk)
        else:
            end_ranking(team, call.at)
            call.record(account=user.pk, unranked=team.name)
    return user


def end_ranking(team: Team, at: datetime) -> None:
    """Take the team's rank away, unless it has none. It never gets one again, because a member saw hidden scores."""
    if Team.objects.filter(pk=team.pk, unranked_at=None).update(unranked_at=at):
        Board.objects.filter(track__shared_task=team.shared_task).changed()


def _count_address(call: ActionCall) -> FailedAttempt:
    counted = FailedAttempt.objects.add(call.user, None, FailedAttempt.Kind.ORGANIZER, call.at)
    since = call.at - AN_HOUR
    others = FailedAttempt.objects.filter(user=call.user, kind=FailedAttempt.Kind.ORGANIZER, at__gt=since)
    added = AuditEntry.objects.filter(actor=call.user, verb=add_organizer.name, at__gt=since)
    times = [*others.exclude(pk=counted.pk).values_list("at", flat=True), *added.values_list("at", flat=True)]
    if seconds := until_fewer(times, ADDRESSES_AN_HOUR, AN_HOUR, call.at):
        counted.delete()
        raise TOO_MANY_ADDRESSES(limit=ADDRESSES_AN_HOUR, seconds=seconds)
    return counted


@action(who=ORGANIZERS, says=_("removed an organizer"), errors=[NO_SUCH_ORGANIZER, LAST_ORGANIZER], locks=True)
def remove_organizer(call: ActionCall, shared_task: SharedTask, *, address: Address) -> User:
    """Remove a person, or yourself, from the organizers. The last organizer cannot be removed."""
    user = shared_task.organizers.filter(email__iexact=address).first()
    if user is None:
        raise NO_SUCH_ORGANIZER(address=address)
    if not shared_task.organizers.filter(is_active=True).exclude(pk=user.pk).exists():
        raise LAST_ORGANIZER()
    shared_task.organizers.remove(user)
    call.record(account=user.pk)
    return user
