"""Deleting an account: personal data is erased, but the team's work is kept."""

from collections.abc import Mapping
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict
from portal.actions.base.roles import OWN_ACCOUNT
from portal.actions.team_members import end_membership, invite_by_mail, leave_team
from portal.models import AccessToken, AuditEntry, FailedAttempt, OutgoingMail, Team, User, Validation
from portal.queries.personal_data import addresses_of, any_of, teams_to_hand_over

HAND_OVER_FIRST = Conflict.declare(
    "hand_over_first",
    _("Before you delete your account, choose a new captain for these teams or withdraw them: %(teams)s."),
)
LAST_ADMINISTRATOR = Conflict.declare(
    "last_administrator", _("You are the last administrator. Make someone else an administrator first.")
)


@action(who=OWN_ACCOUNT, says=_("deleted the account"), errors=[HAND_OVER_FIRST, LAST_ADMINISTRATOR])
def delete_account(call: ActionCall, account: User) -> None:
    """Delete an account and erase its personal data. Runs and signed agreements are kept without the name.

    Teams without other members are withdrawn.
    """
    teams = list(Team.objects.locked().filter(members=account).order_by("pk"))  # lock order: teams before accounts
    # FOR UPDATE, because the email address, which is a key, will change
    user = User.objects.select_for_update().get(pk=account.pk)
    _require_free(user)
    for team in teams:
        leave_team.record(call.actor, team, call.at)
        end_membership(call, team)
    _forget_traces(user)
    _forget_keys(user)
    _anonymize(user)
    call.record()


def _require_free(user: User) -> None:
    teams = teams_to_hand_over(user)
    if teams:
        raise HAND_OVER_FIRST(teams=", ".join(team.name for team in teams))
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if user.is_superuser and not others.exists():
        raise LAST_ADMINISTRATOR()


def _forget_traces(user: User) -> None:
    """Remove the person from team and task records that repeat account data."""
    name, address = _placeholder(user)
    addresses = addresses_of(user)
    names = {user.name, *user.signatures.values_list("typed_name", flat=True)}
    names |= set(user.earlier_names.values_list("text", flat=True))
    user.signatures.update(typed_name=name, address=None)
    user.downloads.update(address=None)
    _forget_invitations(user, name)
    own_mails = OutgoingMail.objects.filter(Q(user=user) | any_of("address", addresses))
    own_mails.filter(state=OutgoingMail.State.QUEUED).update(state=OutgoingMail.State.CANCELED)
    own_mails.update(address=address, details={})
    known = {text.casefold(): name for text in names} | dict.fromkeys(addresses, address)
    _forget_details(AuditEntry.objects.filter(Q(actor=user) | Q(subject=user.audit_subject)), known)
    _forget_details(AuditEntry.objects.filter(any_of("detail__address", addresses)), dict.fromkeys(addresses, address))
    accounts = ContentType.objects.get_for_model(User)
    LogEntry.objects.filter(content_type=accounts, object_id=str(user.pk)).update(object_repr=name)


def _forget_invitations(user: User, name: str) -> None:
    """Replace the person's name, which may have changed since, in the invitations that they sent."""
    entries = AuditEntry.objects.filter(actor=user, verb=invite_by_mail.name)
    for at, address in entries.values_list("at", "detail__address"):
        mails = OutgoingMail.objects.filter(kind=OutgoingMail.Kind.INVITATION, queued_at=at, address=address)
        for mail in mails:
            mail.details |= {"inviter": name}
            mail.save(update_fields=["details"])


def _forget_details(entries: QuerySet[AuditEntry], known: Mapping[str, str]) -> None:
    """Replace texts in the details of audit entries, in lists too. `known` has them in lower case."""
    changed = []
    for entry in entries:
        detail = _replaced(entry.detail, known)
        if detail != entry.detail:
            entry.detail = detail
            changed.append(entry)
    AuditEntry.objects.bulk_update(changed, ["detail"], batch_size=500)


def _replaced(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(part, known) for key, part in value.items()}
    if isinstance(value, list):
        return [_replaced(part, known) for part in value]
    return known.get(value.casefold(), value) if isinstance(value, str) else value


def _forget_keys(user: User) -> None:
    for session in UserSession.objects.filter(user=user):
        session.end()
    for keys in (EmailAddress.objects, Authenticator.objects, SocialAccount.objects):
        keys.filter(user=user).delete()
    for own in (AccessToken.objects, Validation.objects, FailedAttempt.objects):
        own.filter(user=user).delete()
    user.organized_tasks.clear()
    user.groups.clear()
    user.user_permissions.clear()


def _anonymize(user: User) -> None:
    user.name, user.email = _placeholder(user)
    user.affiliation = user.country = ""
    user.named_on_team_pages = False
    user.time_zone = "UTC"
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()
    user.earlier_names.all().delete()


def _placeholder(user: User) -> tuple[str, str]:
    """Return a placeholder name and address for a deleted account. Email to `.invalid` cannot be delivered."""
    return f"Deleted account {user.pk}", f"deleted-{user.pk}@deleted.invalid"
