"""Command-line logins that a person allows in a browser: device authorization as in RFC 8628.

The command line has the device code, and only its SHA-256 is stored. The person sees a different, short code.
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
INTERVAL = 5  # minimum seconds between two polls; each early poll adds as many
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # without vowels, so that codes do not spell words
CODE_LENGTH = 8


def digest(device_code: str) -> str:
    return hashlib.sha256(device_code.encode()).hexdigest()


def normalized(code: str) -> str:
    """Return the code as it is stored. People may type lowercase letters, spaces and hyphens."""
    return "".join(letter for letter in code.upper() if letter in LETTERS)


class DeviceLoginQuerySet(models.QuerySet["DeviceLogin"]):
    def alive(self, at: datetime) -> Self:
        return self.filter(expires_at__gt=at)

    def waiting(self, code: str, at: datetime) -> Self:
        """The login with that code, if no one has decided about it yet."""
        return self.alive(at).filter(code=normalized(code), state=DeviceLogin.State.WAITING)


class DeviceLogin(models.Model):
    """A command line's request for an access token. `user` is the person who decided about it."""

    class State(models.TextChoices):
        WAITING = "waiting"
        ALLOWED = "allowed"
        DENIED = "denied"

    sha256 = models.CharField(max_length=64, unique=True)  # hash of the device code
    code = models.CharField(max_length=CODE_LENGTH, unique=True)
    name = models.CharField(max_length=80)  # name of the computer, given by itself
    address = models.GenericIPAddressField(null=True)  # network address of the request
    scope = models.CharField(max_length=8, choices=AccessToken.Scope)
    task = models.SlugField(max_length=50, blank=True)  # as requested; who allows it must be able to see the task
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
        """Return the only task that the token is for, or None if that person cannot see it."""
        return SharedTask.objects.visible_to(user).filter(slug=self.task).first() if self.task else None

    def poll(self, at: datetime) -> bool:
        """Count a poll. Return False if it comes too early; then the interval grows."""
        own = DeviceLogin.objects.filter(pk=self.pk)
        if own.filter(next_poll_at__lte=at).update(next_poll_at=at + timedelta(seconds=self.interval)):
            return True
        longer = self.interval + INTERVAL
        own.update(interval=longer, next_poll_at=at + timedelta(seconds=longer))
        return False
