"""Adding and removing a task's organizers, who are identified by their email address."""

from typing import Annotated

from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _

from portal.actions.action import Act, action
from portal.actions.errors import Conflict, Invalid
from portal.actions.input import column, passes
from portal.actions.roles import ORGANIZERS
from portal.models import SharedTask, User

NO_ACCOUNT = Invalid.declare(
    "no_account", _("No account has the address %(address)s. Ask that person to sign up first, then add them.")
)
IS_ORGANIZER = Conflict.declare("is_organizer", _("%(address)s organizes this task already."))
NO_SUCH_ORGANIZER = Invalid.declare("no_such_organizer", _("%(address)s does not organize this task."))
LAST_ORGANIZER = Conflict.declare(
    "last_organizer", _("A task needs an organizer. Add someone else before you remove the last one.")
)

Address = Annotated[str, column(User, "email", required=True, title="Mail address"), passes(validate_email)]


@action(who=ORGANIZERS, says=_("added an organizer"), errors=[NO_ACCOUNT, IS_ORGANIZER], locks=True)
def add_organizer(act: Act, shared_task: SharedTask, *, address: Address) -> User:
    """Make another person an organizer of the task. Organizers need a second factor."""
    user = User.objects.filter(email__iexact=address, is_active=True).first()
    if user is None:
        raise NO_ACCOUNT(address=address)
    if shared_task.organizers.filter(pk=user.pk).exists():
        raise IS_ORGANIZER(address=address)
    shared_task.organizers.add(user)
    act.record(account=user.pk)
    return user


@action(who=ORGANIZERS, says=_("removed an organizer"), errors=[NO_SUCH_ORGANIZER, LAST_ORGANIZER], locks=True)
def remove_organizer(act: Act, shared_task: SharedTask, *, address: Address) -> User:
    """Remove a person, or yourself, from the organizers. At least one remains."""
    user = shared_task.organizers.filter(email__iexact=address).first()
    if user is None:
        raise NO_SUCH_ORGANIZER(address=address)
    if not shared_task.organizers.filter(is_active=True).exclude(pk=user.pk).exists():
        raise LAST_ORGANIZER()
    shared_task.organizers.remove(user)
    act.record(account=user.pk)
    return user
