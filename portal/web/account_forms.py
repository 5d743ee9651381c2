"""Forms for creating an account and for personal settings."""

from itertools import groupby
from typing import Any

from allauth.account.forms import ChangePasswordForm as AllauthChangePasswordForm
from allauth.account.forms import LoginForm as AllauthLoginForm
from allauth.account.forms import ResetPasswordKeyForm as AllauthResetPasswordKeyForm
from allauth.account.forms import SignupForm as AllauthSignupForm
from allauth.socialaccount.forms import SignupForm as AllauthConnectedSignupForm
from django import forms
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest, HttpResponse
from django.utils.text import format_lazy
from django.utils.translation import get_language_from_request, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from portal.actions.access_tokens import create_token
from portal.actions.account_settings import change_settings
from portal.actions.base.roles import NO_SECOND_FACTOR
from portal.models import AccessToken, SharedTask, User
from portal.models.account import languages, time_zones
from portal.models.clock import database_now
from portal.web.action_forms import ActionForm, action_field


class LoginForm(AllauthLoginForm):
    """Email address and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["remember"].label = _("Keep me signed in for two weeks")


_NEW_PASSWORD = {"password1": _("New password"), "password2": _("New password (again)")}


class ChangePasswordForm(AllauthChangePasswordForm):
    """The current password and a new one, with labels in sentence case."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _label(self, oldpassword=_("Current password"), **_NEW_PASSWORD)


class ResetPasswordKeyForm(AllauthResetPasswordKeyForm):
    """A new password, after the link in the email was opened."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _label(self, **_NEW_PASSWORD)


def _label(form: forms.Form, **labels: Any) -> None:
    for name, label in labels.items():
        form.fields[name].label = label


class PersonForm(ActionForm):
    """Personal data that teams and organizers can see."""

    name = action_field(
        change_settings, "name", label=_("Your name"), widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    affiliation = action_field(
        change_settings,
        "affiliation",
        label=_("Affiliation"),
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
        help_text=_(
            "University or company (optional). The organizers of your tasks can see it, and everyone can if you are "
            "named on team pages."
        ),
    )
    country = User._meta.get_field("country").formfield(
        label=_("Country"),
        help_text=_(
            "Optional. The organizers of your tasks can see it, and everyone can if you are named on team pages."
        ),
    )


class SignupForm(AllauthSignupForm):
    """Email address, password, and personal data."""

    name, affiliation, country = PersonForm.base_fields.values()
    field_order = ("name", "email", "password1", "password2", "affiliation", "country")

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Create the account. If the address already has one, neither the response nor its timing reveals this."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        found: tuple[User | None, HttpResponse | None] = super().try_save(request)
        return found

    def save(self, request: HttpRequest) -> User:
        user: User = super().save(request)
        return _introduced(user, self.cleaned_data, request)


class ConnectedSignupForm(AllauthConnectedSignupForm):
    """The form for people who sign up with ORCID or GitHub. It has no password."""

    name, affiliation, country = PersonForm.base_fields.values()
    field_order = ("name", "email", "affiliation", "country")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].initial = self.sociallogin.account.extra_data.get("name")

    def save(self, request: HttpRequest) -> User:
        user: User = super().save(request)
        return _introduced(user, self.cleaned_data, request)


def _introduced(user: User, given: dict[str, Any], request: HttpRequest) -> User:
    """Save the personal data, and use the browser's language for emails if the portal supports it."""
    kept = {name: getattr(user, name) for name in change_settings.Input.model_fields}
    new = {name: given[name] for name in PersonForm.base_fields} | {"language": get_language_from_request(request)}
    change_settings(user, user, database_now(), **kept | new)
    user.refresh_from_db(fields=list(new))
    return user


def _zones_by_continent() -> list[tuple[str, Any]]:
    """Return the choices of time zones, grouped by continent.

    The first choice is UTC, which pages replace with the browser's time zone.
    """
    utc, *places = time_zones()
    groups = groupby(places, key=lambda zone: zone.partition("/")[0])
    names = [(part, [(zone, zone.partition("/")[2].replace("_", " ")) for zone in zones]) for part, zones in groups]
    return [(utc, _("Browser time zone, or UTC")), *names]


class SettingsForm(PersonForm):
    """A person's settings: personal data, time zone, language and emails."""

    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=_zones_by_continent,
        help_text=_("Pages and emails show times in this time zone and in AoE."),
    )
    language = forms.ChoiceField(
        label=_("Language"), choices=languages, help_text=_("Language of the emails that you receive.")
    )
    mails_about_runs = action_field(change_settings, "mails_about_runs", label=_("Results of your uploads"))
    mails_about_deadlines = action_field(
        change_settings, "mails_about_deadlines", label=_("A deadline is approaching and your team has no valid run")
    )
    mails_about_results = action_field(
        change_settings, "mails_about_results", label=_("Scores and leaderboards are released")
    )
    mails_about_teams = action_field(
        change_settings, "mails_about_teams", label=_("A team is waiting for approval in a task that I organize")
    )

    named_on_team_pages = action_field(
        change_settings,
        "named_on_team_pages",
        label=_("Name me on the pages of my teams"),
        help_text=_(
            "Everyone can see these pages once results with your team’s name are public. If you agree, they show your "
            "name, affiliation and country."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].help_text = _("Your teams and the organizers can see your name.")

    @property
    def mail_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name.startswith("mails_")]

    @property
    def person_fields(self) -> list[forms.BoundField]:
        return [field for field in self if not field.name.startswith("mails_")]


_LIFETIMES = (7, 30, 90, 365)  # days


class TokenForm(ActionForm):
    """A new access token: its purpose, its scope, and how long it is valid."""

    fields_of_errors = {NO_SECOND_FACTOR.code: "scope"}
    name = action_field(
        create_token, "name", label=_("Name"), help_text=_("What the token is for, such as “CI pipeline”")
    )
    scope = forms.ChoiceField(
        choices=[(scope.value, format_lazy("{}: {}", scope.value, scope.in_words)) for scope in AccessToken.Scope],
        label=_("Scope"),
        help_text=_("The “organize” scope requires a second factor."),
    )
    shared_task = forms.ModelChoiceField(
        SharedTask.objects.none(),
        to_field_name="slug",
        label=_("Only for this task"),
        required=False,
        empty_label=_("All tasks"),
    )
    days = forms.TypedChoiceField(
        label=_("Expires after"),
        choices=[(days, ngettext_lazy("%d day", "%d days", days) % days) for days in _LIFETIMES],
        coerce=int,
        initial=90,
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["shared_task"].queryset = SharedTask.objects.visible_to(user)
