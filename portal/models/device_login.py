"""Command-line logins that a person allows in a browser (device authorization, RFC 8628).

The command line knows the device code, of which only the SHA-256 is stored. The person sees a different, shorter code.
"""

import hashlib
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models

from portal.models.access_token import AccessToken
from portal.models.account import User
from portal.models.task import SharedTask

LIFETIME = timedelta(minutes=10)
INTERVAL = 5  # minimum seconds between polls; each poll that comes too early adds this many
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, so that codes do not spell words
CODE_LENGTH = 8


def digest(device_code: str) -> str:
    return hashlib.sha256(device_code.encode()).hexdigest()


def normalized(code: str) -> str:
    """Return the code in the form in which it is stored. People may type lowercase letters, spaces or hyphens."""
    return "".join(letter for letter in code.upper() if letter in LETTERS)


class DeviceLoginQuerySet(models.QuerySet["DeviceLogin"]):
    def alive(self, at: datetime) -> Self:
        return self.filter(expires_at__gt=at)

    def waiting(self, code: str, at: datetime) -> Self:
        """Select the login with this code if no one has allowed or denied it yet."""
        return self.alive(at).filter(code=normalized(code), state=DeviceLogin.State.WAITING)


class DeviceLogin(models.Model):
    """A command line's request for an access token. `user` is the person who allowed or denied it."""

    class State(models.TextChoices):
        WAITING = "waiting"
        ALLOWED = "allowed"
        DENIED = "denied"

    sha256 = models.CharField(max_length=64, unique=True)  # hash of the device code
    code = models.CharField(max_length=CODE_LENGTH, unique=True)
    name = models.CharField(max_length=80)  # the computer's name, as the computer reports it
    address = models.GenericIPAddressField(null=True)  # network address of the request
    scope = models.CharField(max_length=8, choices=AccessToken.Scope)
    # As requested. The person who allows the login must be able to see the task.
    task = models.SlugField(max_length=50, blank=True)
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="device_logins"
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    interval = models.PositiveIntegerField(default=INTERVAL)  # seconds
    next_poll_at = models.DateTimeField()

    objects = DeviceLoginQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=("address", "expires_at"), name="device_logins_of_an_address")]

    def __str__(self) -> str:
        return f"{self.name}, {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def shown_code(self) -> str:
        half = CODE_LENGTH // 2
        return f"{self.code[:half]}-{self.code[half:]}"

    def task_for(self, user: User) -> SharedTask | None:
        """Return the task that the token is limited to. None if no task was requested or this person cannot see it."""
        return SharedTask.objects.visible_to(user).filter(slug=self.task).first() if self.task else None

    def poll(self, at: datetime) -> bool:
        """Count a poll. If it comes too early, increase the interval and return False."""
        own = DeviceLogin.objects.filter(pk=self.pk)
        if own.filter(next_poll_at__lte=at).update(next_poll_at=at + timedelta(seconds=self.interval)):
            return True
        longer = self.interval + INTERVAL
        own.update(interval=longer, next_poll_at=at + timedelta(seconds=longer))
        return False
