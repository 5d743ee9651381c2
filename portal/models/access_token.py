"""Access tokens, which let scripts act for a person. Only their SHA-256 is stored.

A token is `agon_`, 30 random letters and digits, and a checksum of 6 more. Secret scanners can recognize leaked tokens
by this format.
"""

import hashlib
import hmac
import re
import string
import zlib
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.models.account import User
from portal.models.audit import AuditEntry
from portal.models.prepared import PreparedQuery
from portal.models.task import SharedTask

SECRET_LENGTH = 30  # letters and digits; 178 bits
_DIGITS = string.digits + string.ascii_letters
_FORM = re.compile(r"agon_([0-9A-Za-z]{30})([0-9A-Za-z]{6})")
_SHOWN = 13  # number of leading characters that are stored, so that the owner can recognize the token
_USES_KEPT_EVERY = timedelta(minutes=1)


def token_text(secret: str) -> str:
    """Return the text of a token with this secret of SECRET_LENGTH random letters and digits."""
    left, digits = zlib.crc32(secret.encode()), ""
    for _place in range(6):
        left, digit = divmod(left, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return f"agon_{secret}{digits}"


def is_well_formed(text: str) -> bool:
    """Return whether the text has the format of a token and its checksum matches."""
    found = _FORM.fullmatch(text)
    return found is not None and token_text(found[1]) == text


class AccessTokenQuerySet(models.QuerySet["AccessToken"]):
    def valid(self, at: datetime) -> Self:
        """Select tokens of active accounts that are neither revoked nor expired."""
        return self.filter(revoked_at__isnull=True, expires_at__gt=at, user__is_active=True)

    def find(self, text: str, at: datetime) -> "AccessToken | None":
        """Return the valid token with this text, or None. The secret part is compared in constant time.

        Every request of a script calls this, so its SQL is prepared.
        """
        if not is_well_formed(text):
            return None
        found = _valid_tokens.first(shown=text[:_SHOWN], at=at)
        if found is None or not hmac.compare_digest(found.sha256, _sha256(text)):
            return None
        return found

    def issue(
        self, user: User, secret: str, at: datetime, *, name: str, scope: str, task: SharedTask | None, days: int
    ) -> tuple["AccessToken", str]:
        """Create a token and return it with its text, which is not stored."""
        text = token_text(secret)
        until = at + timedelta(days=days)
        kept = {"shown": text[:_SHOWN], "sha256": _sha256(text), "created_at": at, "expires_at": until}
        return self.create(user=user, name=name, scope=scope, shared_task=task, **kept), text

    def end(self, at: datetime, reason: str) -> None:
        """Revoke all of these tokens, with an audit entry for each."""
        verb = AuditEntry.Event.REVOKE_TOKEN
        for token in self.filter(revoked_at__isnull=True):
            token.revoke(at)
            AuditEntry.objects.record(token.user, verb, token, at, name=token.name, reason=reason)


class AccessToken(models.Model):
    """A token that lets a script do what its owner may do, limited to `scope` and, if set, to one shared task."""

    class Scope(models.TextChoices):
        """What a token allows. Each scope includes the ones before it."""

        READ = "read", _("Read")
        SUBMIT = "submit", _("Read and take part (submit runs, manage the team)")
        ORGANIZE = "organize", _("Read, take part and organize")

        @property
        def in_words(self) -> str | Promise:
            """What the scope allows, next to its name: `read` (read only)."""
            return _("Read only") if self.value == "read" else self.label

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="access_tokens")
    name = models.CharField(_("Name"), max_length=80)
    scope = models.CharField(_("Scope"), max_length=8, choices=Scope)
    # None means all tasks.
    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, null=True, related_name="+")
    shown = models.CharField(max_length=_SHOWN, unique=True)  # the token's first characters
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = AccessTokenQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.shown}…)"

    @property
    def audit_subject(self) -> str:
        return f"token {self.shown}"

    def allows(self, scope: str) -> bool:
        """Return whether the token's scope includes this one."""
        ladder = AccessToken.Scope.values
        return ladder.index(scope) <= ladder.index(self.scope)

    def is_for(self, shared_task: SharedTask) -> bool:
        """Return whether the token can be used for this shared task."""
        return self.shared_task_id in (None, shared_task.pk)

    def revoke(self, at: datetime) -> None:
        self.revoked_at = at
        self.save(update_fields=["revoked_at"])

    def used(self, at: datetime) -> None:
        """Save the time of last use, at most once a minute."""
        if self.last_used_at is None or self.last_used_at <= at - _USES_KEPT_EVERY:
            AccessToken.objects.filter(pk=self.pk).update(last_used_at=at)


@PreparedQuery
def _valid_tokens(shown: str, at: datetime) -> models.QuerySet[AccessToken]:
    return AccessToken.objects.valid(at).select_related("user", "shared_task").filter(shown=shown)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
