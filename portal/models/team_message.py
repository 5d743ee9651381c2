"""Messages from organizers to teams, and to whom each was or will be sent."""

import re
from collections.abc import Mapping
from typing import Self

from django.conf import settings
from django.core.validators import MaxLengthValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from portal.models.account import User
from portal.models.mail import OutgoingMail
from portal.models.task import SharedTask
from portal.models.team import Team

PLACEHOLDERS = ("team", "captain", "runs_left")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")  # characters that Markdown may read as markup


def unknown_placeholders(text: str) -> list[str]:
    """Return the placeholders in the text that do not exist, each once."""
    return [name for name in dict.fromkeys(_PLACEHOLDER.findall(text)) if name not in PLACEHOLDERS]


def filled_in(text: str, values: Mapping[str, str], *, as_markdown: bool = False) -> str:
    """Replace the placeholders by these values, as plain text or so that Markdown shows them as they are."""
    shown = {name: _MARKDOWN.sub(r"\\\1", value) if as_markdown else value for name, value in values.items()}
    return _PLACEHOLDER.sub(lambda found: shown.get(found[1], found[0]), text)


class TeamMessageQuerySet(models.QuerySet["TeamMessage"]):
    def unsent_of(self, user: User, shared_task: SharedTask) -> Self:
        """Select what the person has prepared in the task but not sent."""
        return self.filter(shared_task=shared_task, by=user, sent_at__isnull=True)


class TeamMessage(models.Model):
    """A message in Markdown. Until it is sent, it is only a preview. Then it is never changed."""

    class Audience(models.TextChoices):
        MEMBERS = "members", _("all members")
        CAPTAINS = "captains", _("captains only")

    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, related_name="team_messages")
    subject = models.CharField(_("Subject"), max_length=120)
    text = models.TextField(_("Text"), max_length=8000, validators=[MaxLengthValidator(8000)])
    audience = models.CharField(_("To"), max_length=8, choices=Audience)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    prepared_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)

    objects = TeamMessageQuerySet.as_manager()

    class Meta:
        ordering = ("-prepared_at", "-pk")

    def __str__(self) -> str:
        return self.subject

    @property
    def audit_subject(self) -> str:
        return f"message {self.subject}"

    @property
    def occasion(self) -> str:
        """The occasion of its emails, so that each person gets only one."""
        return f"message {self.pk}"


class MessageRecipient(models.Model):
    """A person to whom a message is or will be sent, as a member of a team. `mail` is None until it is sent."""

    message = models.ForeignKey(TeamMessage, on_delete=models.CASCADE, related_name="recipients")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    mail = models.OneToOneField(OutgoingMail, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ("pk",)
        constraints = [models.UniqueConstraint(fields=("message", "user"), name="one_message_a_person")]

    def __str__(self) -> str:
        return f"{self.message} to {self.user}"
