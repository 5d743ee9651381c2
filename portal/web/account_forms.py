"""The forms by which people open an account and say who they are."""

from itertools import groupby
from typing import Any
from zoneinfo import available_timezones

from allauth.account.forms import LoginForm as AllauthLoginForm
from allauth.account.forms import SignupForm as AllauthSignupForm
from allauth.socialaccount.forms import SignupForm as AllauthConnectedSignupForm
from django import forms
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language_from_request
from django.utils.translation import gettext_lazy as _

from portal.models import User

_PLACES = ("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


class LoginForm(AllauthLoginForm):
    """Mail address and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["remember"].label = _("Keep me signed in for two weeks")


class PersonForm(forms.ModelForm):
    """Who somebody is to teams and organizers."""

    class Meta:
        model = User
        fields: tuple[str, ...] = ("name", "affiliation", "country")
        labels = {"name": _("Your name"), "affiliation": _("Affiliation"), "country": _("Country")}
        help_texts = {
            "affiliation": _("University or company, if you like. The organizers of your tasks see it."),
            "country": _("If you like. The organizers of your tasks see it."),
        }
        widgets = {
            "name": forms.TextInput(attrs={"autocomplete": "name"}),
            "affiliation": forms.TextInput(attrs={"autocomplete": "organization"}),
        }


class SignupForm(AllauthSignupForm):
    """Mail address, password, and who somebody is."""

    name, affiliation, country = (PersonForm.base_fields[field] for field in PersonForm.Meta.fields)
    field_order = ("name", "email", "password1", "password2", "affiliation", "country")

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """An address that is taken gets the same answer, by another mail, and after as long a time."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        found: tuple[User | None, HttpResponse | None] = super().try_save(request)
        return found

    def save(self, request: HttpRequest) -> User:
        user: User = super().save(request)
        return _introduced(user, self.cleaned_data, request)


class ConnectedSignupForm(AllauthConnectedSignupForm):
    """The same for people who come by ORCID or GitHub: no password."""

    name, affiliation, country = (PersonForm.base_fields[field] for field in PersonForm.Meta.fields)
    field_order = ("name", "email", "affiliation", "country")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].initial = self.sociallogin.account.extra_data.get("name")

    def save(self, request: HttpRequest) -> User:
        user: User = super().save(request)
        return _introduced(user, self.cleaned_data, request)


def _introduced(user: User, given: dict[str, Any], request: HttpRequest) -> User:
    """A new person gets mails in the language that the browser asks for, where we have it."""
    for field in PersonForm.Meta.fields:
        setattr(user, field, given[field])
    user.language = get_language_from_request(request)
    user.save(update_fields=[*PersonForm.Meta.fields, "language"])
    return user


def time_zones() -> list[tuple[str, Any]]:
    """UTC, by which pages follow the browser's own zone, and the places of the world by continent."""
    places = sorted(zone for zone in available_timezones() if zone.startswith(_PLACES) and "/" in zone)
    groups = groupby(places, key=lambda zone: zone.partition("/")[0])
    names = [(part, [(zone, zone.partition("/")[2].replace("_", " ")) for zone in zones]) for part, zones in groups]
    return [("UTC", _("as the browser says, or else UTC")), *names]


class SettingsForm(PersonForm):
    """Who a person is and what the portal should do about it."""

    time_zone = forms.ChoiceField(
        label=_("Time zone"), choices=time_zones, help_text=_("Times stand in it, and in AoE, on pages and in mails.")
    )

    class Meta(PersonForm.Meta):
        fields = (
            *PersonForm.Meta.fields, "time_zone", "language",
            "mails_about_runs", "mails_about_deadlines", "mails_about_results", "mails_about_teams",
        )  # fmt: skip
        labels = PersonForm.Meta.labels | {
            "language": _("Language"),
            "mails_about_runs": _("What became of the runs that I send"),
            "mails_about_deadlines": _("A deadline comes near and nothing valid is in"),
            "mails_about_results": _("Scores and leaderboards are released"),
            "mails_about_teams": _("A team awaits approval in a task that I organize"),
        }
        help_texts = PersonForm.Meta.help_texts | {
            "name": _("Your teams and their organizers know you by it."),
            "language": _("Of the mails that you get."),
        }

    @property
    def mail_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name.startswith("mails_")]

    @property
    def person_fields(self) -> list[forms.BoundField]:
        return [field for field in self if not field.name.startswith("mails_")]
