"""User accounts, each identified by an email address."""

from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar
from zoneinfo import available_timezones

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, BaseUserManager, PermissionsMixin
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from django_countries.fields import CountryField

from portal.models.clock import database_now

if TYPE_CHECKING:
    from portal.models.access_token import AccessToken

# Types of allauth's `Authenticator`. Recovery codes are not listed: an account has them only in addition to one of
# these.
SECOND_FACTORS = ("totp", "webauthn")


_PLACES = ("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


@cache  # reading their names takes as long as most requests
def time_zones() -> list[str]:
    """Return UTC and all time zones that are named after places."""
    return ["UTC", *sorted(zone for zone in available_timezones() if zone.startswith(_PLACES) and "/" in zone)]


def languages() -> list[tuple[str, str]]:
    """Return the portal's languages. This is a function so that adding a language needs no migration."""
    return [(code, str(name)) for code, name in settings.LANGUAGES]


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def with_second_factor(self, user: "Viewer") -> models.QuerySet["User"]:
        """Select the user if their session has a second factor.

        It is enough to check that the account has one: each of its sessions either used a second factor or set up the
        first one (see `portal.web.second_factors`). A token that may organize counts as such a session. The demo
        requires no second factor, because its passwords are public.
        """
        if user.pk is None or (user.token is not None and not user.token.allows("organize")):
            return self.none()
        found = self.filter(pk=user.pk)
        return found if settings.DEMO else found.filter(authenticator__type__in=SECOND_FACTORS)


class User(AbstractBaseUser, PermissionsMixin):
    email = models.EmailField(_("email address"), unique=True)
    name = models.CharField(_("name"), max_length=120)
    affiliation = models.CharField(_("affiliation"), max_length=200, blank=True)
    country = CountryField(_("country"), blank=True, blank_label="–")
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    language = models.CharField(_("language"), max_length=16, choices=languages, default=settings.LANGUAGE_CODE)
    # Kinds of email that a person can turn off. Emails that people need in order to continue (verification, approval,
    # invitation) are always sent.
    mails_about_runs = models.BooleanField(_("emails about runs"), default=True)
    mails_about_deadlines = models.BooleanField(_("emails about deadlines"), default=True)
    mails_about_results = models.BooleanField(_("emails about results"), default=True)
    mails_about_teams = models.BooleanField(_("emails about teams"), default=True)  # for organizers
    # Whether everyone may see the person's name, affiliation and country on the public pages of their teams.
    named_on_team_pages = models.BooleanField(_("named on team pages"), default=False, db_default=False)
    may_create_tasks = models.BooleanField(_("may create tasks"), default=False, db_default=False)
    is_staff = models.BooleanField(_("administrator"), default=False)
    is_active = models.BooleanField(_("active"), default=True)
    date_joined = models.DateTimeField(_("joined"), auto_now_add=True)

    objects: ClassVar[UserManager] = UserManager()

    _password: str | None  # the new password until the account is saved; set by Django
    token: "AccessToken | None" = None  # the token used for this request, or None in a session

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name or self.email

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the account. If its password changed or it is deactivated, end its tokens and pending logins."""
        reason = "deactivated" if not self.is_active else "password" if self._password is not None else ""
        is_known = self.pk is not None
        if is_known and {"name", "email"} & set(kwargs.get("update_fields") or ("name", "email")):
            EarlierName.objects.note(self, self.name, self.email)
        super().save(*args, **kwargs)
        if reason and is_known:
            self.end_tokens(database_now(), reason)

    def end_tokens(self, at: datetime, reason: str) -> None:
        """Revoke all access tokens, and delete command-line logins whose token has not been collected yet."""
        self.access_tokens.end(at, reason)
        self.device_logins.all().delete()

    @property
    def audit_subject(self) -> str:
        return f"account {self.pk}"

    @property
    def has_second_factor(self) -> bool:
        """Whether a second factor is set up. Unlike `with_second_factor`, this makes no exception for the demo."""
        return User.objects.filter(pk=self.pk, authenticator__type__in=SECOND_FACTORS).exists()

    @property
    def origin(self) -> str:
        """Affiliation and country. Either may be missing."""
        return ", ".join(filter(None, (self.affiliation, str(self.country.name))))

    def get_short_name(self) -> str:
        return self.name


class EarlierNameManager(models.Manager["EarlierName"]):
    def note(self, user: User, *texts: str) -> None:
        """Keep the name and email address in the database, unless they are among the new texts."""
        stored = User.objects.filter(pk=user.pk).values_list("name", "email").first() or ()
        earlier = [EarlierName(user=user, text=text) for text in stored if text and text not in texts]
        self.bulk_create(earlier, ignore_conflicts=True)


class EarlierName(models.Model):
    """A name or email address that an account had, so that deleting the account can erase it everywhere."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="earlier_names")
    text = models.CharField(max_length=254)

    objects = EarlierNameManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("user", "text"), name="one_earlier_name")]

    def __str__(self) -> str:
        return self.text


Viewer = User | AnonymousUser
"""The person who is looking at a page."""


def is_time_zone(zone: str) -> None:
    """Raise ValidationError unless the name is one of `time_zones`."""
    if zone not in time_zones():
        raise ValidationError(_("Choose a time zone from the list, for example Europe/Madrid."))


def is_language(code: str) -> None:
    """Raise ValidationError unless the code is one of `languages`."""
    User._meta.get_field("language").validate(code, None)


def is_country(code: str) -> None:
    """Raise ValidationError unless the text is a two-letter country code."""
    User._meta.get_field("country").validate(code, None)
