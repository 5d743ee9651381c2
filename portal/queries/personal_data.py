"""All data that the portal has about a person, and what prevents deleting an account."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from allauth.account.models import EmailAddress
from django.db.models import Exists, ForeignObjectRel, ManyToManyRel, Model, OuterRef, Q, QuerySet

from portal.models import AuditEntry, Membership, OutgoingMail, Run, Team, User

# Columns of each table whose rows refer to a person. A row may also contain what the person may not see, such as the
# preview of a gold standard after they have stopped organizing, so new columns are left out until they are listed here.
# Passwords, keys, codes and leases are never listed, nor is anything that depends on scoring.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "account.EmailAddress": ("email", "verified", "primary"),
    "admin.LogEntry": ("action_time", "content_type", "action_flag"),
    "mfa.Authenticator": ("type", "created_at", "last_used_at"),
    "portal.AccessToken": (
        "name", "scope", "shared_task", "shown", "created_at", "expires_at", "last_used_at", "revoked_at",
    ),
    "portal.Announcement": ("shared_task", "title", "text", "at"),
    "portal.AuditEntry": ("at", "shared_task", "verb", "subject"),
    "portal.BoardChange": ("board", "note", "at"),
    "portal.DeviceLogin": ("name", "address", "scope", "task", "state", "created_at", "expires_at"),
    "portal.Download": ("shared_task", "dataset", "team", "address", "at"),
    "portal.EarlierName": ("text",),
    "portal.ExtraRuns": ("phase", "team", "runs", "reason", "granted_at"),
    "portal.ExtraTime": ("phase", "team", "until", "reason", "granted_at"),
    "portal.FailedAttempt": ("team", "kind", "at"),
    "portal.FolderEdit": ("shared_task", "path", "size", "edited_at"),
    "portal.GoldStandard": ("track", "split", "version", "created_at", "note"),
    "portal.GoldUpload": ("track", "split", "received_at"),
    "portal.Membership": ("team", "shared_task", "is_captain", "joined_at"),
    "portal.MessageRecipient": ("message", "team"),
    "portal.OutgoingMail": ("kind", "shared_task", "team", "address", "queued_at", "sent_at"),
    "portal.OwnScorer": ("shared_task", "sha256", "approved_at"),
    "portal.PaperPack": ("phase", "requested_at"),
    "portal.PhaseChange": ("phase", "opens_before", "opens_after", "closes_before", "closes_after", "note", "at"),
    "portal.Quota": ("team", "phase", "track", "day", "used"),
    "portal.RejectedUpload": ("shared_task", "phase", "team", "file_name", "size", "received_at"),
    "portal.Run": (
        "name", "track", "phase", "team", "number", "file_sha256", "sha256", "received_at", "method", "description",
        "note", "link", "system_type", "fields", "chosen_at", "withdrawn_at", "withdrawal_reason",
    ),
    "portal.Signature": ("shared_task", "version", "text", "sha256", "typed_name", "address", "signed_at"),
    "portal.Submission": ("shared_task", "phase", "team", "file_name", "size", "sha256", "slot", "received_at"),
    "portal.TaskPush": ("shared_task", "is_first", "size", "received_at", "applied_at"),
    "portal.TeamMessage": ("shared_task", "subject", "text", "prepared_at", "sent_at"),
    "portal.TeamNote": ("team", "text", "at"),
    "portal.User": (
        "email", "name", "affiliation", "country", "time_zone", "language", "mails_about_runs",
        "mails_about_deadlines", "mails_about_results", "mails_about_teams", "named_on_team_pages",
        "may_create_tasks", "is_staff", "is_superuser", "is_active", "date_joined", "last_login",
    ),
    "portal.Validation": ("phase", "team", "slot", "file_name", "size", "sha256", "received_at"),
    "socialaccount.SocialAccount": ("provider", "uid", "extra_data", "date_joined", "last_login"),
    "usersessions.UserSession": ("created_at", "last_seen_at", "ip", "user_agent"),
}  # fmt: skip

# Column → further rows that its text names, so that they need no queries of their own.
_NAMED: Mapping[str, tuple[str, ...]] = defaultdict(
    tuple,
    track=("track__shared_task",),
    phase=("phase__shared_task",),
    board=("board__track__shared_task", "board__phase__shared_task"),
)


def personal_data(user: User) -> dict[str, Any]:
    """Return the account and the rows that refer to it, by kind, each with its columns in `COLUMNS`."""
    found: dict[str, Any] = {"account": _fields(user)}
    for relation in relations_to_people():
        rows = relation.related_model._default_manager.filter(**{relation.field.name: user.pk})
        name = f"{relation.related_model._meta.verbose_name_plural}, {relation.field.verbose_name}"
        found[name] = [str(row) for row in rows] if isinstance(relation, ManyToManyRel) else _lines(rows)
    found["runs that you uploaded"] = _lines(Run.objects.filter(submission__sent_by=user))
    addresses = addresses_of(user)
    found["emails to your addresses"] = _lines(OutgoingMail.objects.filter(any_of("address", addresses)))
    others = AuditEntry.objects.filter(any_of("detail__address", addresses)).exclude(actor=user)
    found["audit entries that contain your addresses"] = [
        line | {"address": entry.detail["address"]} for entry, line in zip(others, _lines(others), strict=True)
    ]
    return found


def relations_to_people() -> list[ForeignObjectRel]:
    """Return the columns of other tables that refer to accounts."""
    fields = User._meta.get_fields(include_hidden=True)
    found = [field for field in fields if isinstance(field, ForeignObjectRel)]
    return [relation for relation in found if not relation.related_model._meta.auto_created]


def addresses_of(user: User) -> set[str]:
    """Return all email addresses that the account has or had, as far as they are known."""
    own = [user.email, *EmailAddress.objects.filter(user=user).values_list("email", flat=True)]
    earlier = [text for text in user.earlier_names.values_list("text", flat=True) if "@" in text]
    mailed = OutgoingMail.objects.filter(user=user).values_list("address", flat=True).distinct()
    return {address.casefold() for address in (*own, *earlier, *mailed)}


def teams_to_hand_over(user: User) -> list[Team]:
    """Return the teams that have this person as captain and also have other members."""
    others = Membership.objects.filter(team=OuterRef("pk")).exclude(user=user)
    own = Team.objects.filter(Exists(others), memberships__user=user, memberships__is_captain=True)
    return list(own.select_related("shared_task"))


def any_of(column: str, texts: Iterable[str]) -> Q:
    """Return a condition: the column is one of these texts, in any case."""
    return Q(*((f"{column}__iexact", text) for text in texts), _connector=Q.OR)


def _lines(rows: QuerySet[Any]) -> list[dict[str, Any]]:
    related = [path for name in _related(rows.model, COLUMNS[rows.model._meta.label]) for path in (name, *_NAMED[name])]
    return [_fields(row) for row in rows.select_related(*related)]


def _related(model: type[Model], columns: Iterable[str]) -> list[str]:
    return [field.name for field in model._meta.concrete_fields if field.is_relation and field.name in columns]


def _fields(row: Model) -> dict[str, Any]:
    wanted = COLUMNS[row._meta.label]
    return {
        str(field.verbose_name): _words(getattr(row, field.name)) if field.is_relation else field.value_from_object(row)
        for field in row._meta.concrete_fields
        if field.name in wanted
    }


def _words(row: Model | None) -> str | None:
    return None if row is None else str(row)
