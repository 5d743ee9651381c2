"""The outbox: emails to send, and a record of the emails sent. Each row is one message."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from portal.models.account import User
from portal.models.lease import Leased, LeaseQuerySet
from portal.models.phase import Phase
from portal.models.run import Run, Submission
from portal.models.task import SharedTask
from portal.models.team import Team


class OutgoingMailQuerySet(LeaseQuerySet["OutgoingMail"]):
    def notify(self, user: User, kind: str, occasion: str, at: datetime, **about: Any) -> None:
        """Queue an email to the person unless they turned off this kind of email.

        A person gets only one email of each kind for each occasion.
        """
        mail = OutgoingMail(user=user, address=user.email, kind=kind, occasion=occasion, queued_at=at, **about)
        if mail.is_wished_for:
            OutgoingMail.objects.bulk_create([mail], ignore_conflicts=True)

    def untried(self) -> "OutgoingMailQuerySet":
        """Select emails that no worker has begun to send."""
        return self.filter(state=OutgoingMail.State.QUEUED, attempts=0, token=None)

    def resend(self) -> list[uuid.UUID]:
        """Queue all emails whose delivery failed as if they were new, and return their keys."""
        failed = self.filter(state=OutgoingMail.State.FAILED)
        found = list(failed.values_list("pk", flat=True))
        failed.filter(pk__in=found).release(state=OutgoingMail.State.QUEUED, attempts=0, error="")
        return found


class OutgoingMail(Leased):
    """One message to one address.

    The text is created when the message is sent. Rows store neither the text nor secrets such as passwords.
    """

    class Kind(models.TextChoices):
        TEAM_APPROVED = "team_approved", _("team approved")
        TEAM_DECLINED = "team_declined", _("team declined")
        TEAM_WAITING = "team_waiting", _("team awaiting approval")
        INVITATION = "invitation", _("invitation")
        DATA_PASSWORD = "data_password", _("new data password")
        AGREEMENT_CHANGED = "agreement_changed", _("agreement changed")
        RUNS_ACCEPTED = "runs_accepted", _("upload accepted")
        RUNS_REJECTED = "runs_rejected", _("upload rejected")
        RUNS_SCORED = "runs_scored", _("upload scored")
        RUNS_FAILED = "runs_failed", _("failed on our side")
        DEADLINE_72 = "deadline_72", _("deadline in 72 hours")
        DEADLINE_24 = "deadline_24", _("deadline in 24 hours")
        RELEASED = "released", _("leaderboard released")
        MESSAGE = "message", _("message from organizers")
        ALERT = "alert", _("alert to administrators")
        ACCOUNT = "account", _("about an account")

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        SENT = "sent", _("sent")
        FAILED = "failed", _("could not be sent")
        CANCELED = "canceled", _("canceled")

    # kind → the field of `User` that turns it off. All other emails are always sent, because people need them in order
    # to continue.
    WISHES: Mapping[str, str] = {
        Kind.RUNS_ACCEPTED: "mails_about_runs",
        Kind.RUNS_REJECTED: "mails_about_runs",
        Kind.RUNS_SCORED: "mails_about_runs",
        Kind.RUNS_FAILED: "mails_about_runs",
        Kind.DEADLINE_72: "mails_about_deadlines",
        Kind.DEADLINE_24: "mails_about_deadlines",
        Kind.RELEASED: "mails_about_results",
        Kind.TEAM_WAITING: "mails_about_teams",
    }

    # Values of `details["letter"]` for emails that confirm an address.
    CONFIRMATIONS = ("email_confirmation", "email_confirmation_signup")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=20, choices=Kind)
    # Emails about an account do not belong to a task.
    shared_task: "models.ForeignKey[SharedTask | None, SharedTask]" = models.ForeignKey(  # type: ignore[misc]
        SharedTask, on_delete=models.CASCADE, null=True, related_name="mails"
    )
    team = models.ForeignKey(Team, on_delete=models.CASCADE, null=True, related_name="mails")  # None for organizers
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="mails")
    address = models.EmailField()  # address of the user or of the person invited
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, null=True, related_name="mails")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, null=True, related_name="mails")
    occasion = models.CharField(max_length=120, blank=True)  # a person gets one email of each kind per occasion
    details = models.JSONField(default=dict)  # other facts for the text, such as a reason; no secrets
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    error = models.CharField(max_length=80, blank=True)  # class of the last error
    queued_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)

    objects = OutgoingMailQuerySet.as_manager()

    class Meta:
        ordering = ("-queued_at",)
        constraints = [
            models.UniqueConstraint(
                fields=("user", "kind", "occasion"), condition=~Q(occasion=""), name="one_mail_an_occasion"
            )
        ]
        indexes = [models.Index(fields=("state", "lease_ends"), name="mail_work")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, to {self.address}"

    @property
    def language(self) -> str:
        """The recipient's language or, for an invitation, the language of the person who sent it."""
        return self.user.language if self.user else self.details.get("language", settings.LANGUAGE_CODE)

    @property
    def asks_to_confirm(self) -> bool:
        """Whether the email contains the link that confirms an email address."""
        return self.kind == self.Kind.ACCOUNT and self.details["letter"] in self.CONFIRMATIONS

    @property
    def wish(self) -> str:
        """The field of `User` that turns off this kind of email, or an empty string if it cannot be turned off."""
        return self.WISHES.get(self.kind, "")

    @property
    def is_wished_for(self) -> bool:
        return not self.wish or bool(getattr(self.user, self.wish))


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in an upload, in the recipient's language."""

    place: str
    message: str
    code: str


@dataclass(frozen=True, slots=True)
class MailedResult:
    """A run and its scores as text. `scores` is empty if only organizers may see them."""

    run: Run
    scores: Sequence[tuple[str, str]]  # the metric's short name, and the formatted value
    flags: Sequence[str] = ()  # why scores are undefined, in the email's language


@dataclass(frozen=True, slots=True)
class MailedMessage:
    """A message from organizers with its placeholders filled in: as plain text, and as safe HTML."""

    subject: str
    text: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class MailFacts:
    """Facts for an email's text that are not in its row. They are read when the email is sent."""

    receipt: Mapping[str, Any] | None = None
    findings: Sequence[Finding] = ()
    findings_left_out: int = 0
    results: Sequence[MailedResult] = ()
    message: MailedMessage | None = None
