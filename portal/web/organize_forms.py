"""Forms on the organizers' pages."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from portal.actions.announcements import publish_announcement
from portal.actions.base.input import OUT_OF_RANGE
from portal.actions.datasets import ALREADY_DOWNLOADED, EMPTY, FILE_OF_RULES, SAME_FILE, replace_dataset
from portal.actions.gold import apply_gold
from portal.actions.organizers import COMPETES, add_organizer
from portal.actions.own_scorers import approve_scorer
from portal.actions.phases import grant_extra_time, move_phase
from portal.actions.scores import CHANGED, apply_scores
from portal.actions.task_folder.pushes import UNSURE, apply_push
from portal.models import Phase, SharedTask, User
from portal.models.task import DatasetDefinition
from portal.queries.boards.waiting_scores import WaitingScores
from portal.queries.gold import GoldLine
from portal.queries.records import download_count
from portal.times_and_numbers import AOE, zone_of
from portal.web.action_forms import ActionForm, action_field
from scoring.limits import EARLIEST, LATEST

_INPUT = "%Y-%m-%dT%H:%M"
_NO_SUCH_TIME = _(
    "This time does not exist in the selected time zone because clocks are set forward. Choose an earlier or later "
    "time."
)


def zones(user: User) -> dict[str, tzinfo]:
    """Return the time zones that the person can enter times in, by name."""
    return {"AoE": AOE, "UTC": UTC, user.time_zone: zone_of(user.time_zone)}


class MomentField(forms.DateTimeField):
    """A day and time as entered in a form. `ZonedForm` adds the time zone."""

    widget = forms.DateTimeInput(format=_INPUT, attrs={"type": "datetime-local"})

    def __init__(self, **options: Any) -> None:
        super().__init__(input_formats=[_INPUT, "%Y-%m-%d %H:%M"], **options)

    def to_python(self, value: Any) -> Any:
        """Return the time without the zone that Django adds."""
        moment = super().to_python(value)
        if moment is None:
            return None
        local = moment.replace(tzinfo=None)
        if not EARLIEST.year <= local.year < LATEST.year:
            raise forms.ValidationError(OUT_OF_RANGE)
        return local

    def prepare_value(self, value: Any) -> Any:
        return value.replace(tzinfo=None) if isinstance(value, datetime) else value


class AnnouncementForm(ActionForm):
    """An announcement to publish."""

    title = action_field(publish_announcement, "title", label=_("Title"))
    text = action_field(
        publish_announcement,
        "text",
        label=_("Text"),
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_("Markdown, at most %(limit)s characters. You can’t change it later, but you can delete it."),
    )


class ZonedForm(ActionForm):
    """A form with times in a selectable time zone. Times that the user does not edit stay the same."""

    zone = forms.ChoiceField(
        label=_("Time zone"), help_text=_("This time zone applies only to the times that you change.")
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._zones = zones(user)
        self.fields["zone"].choices = [(name, name) for name in self._zones]
        for name, initial in self.initial.items():
            if isinstance(initial, datetime):
                self.initial[name] = initial.astimezone(AOE)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        zone = self._zones.get(values.pop("zone", ""))
        local_times = {name: value for name, value in values.items() if zone and isinstance(value, datetime)}
        for name, local in local_times.items():
            before = self.initial.get(name)  # in AoE, as the form shows it
            if before is not None and before.replace(tzinfo=None, second=0, microsecond=0) == local:
                values[name] = before.astimezone(UTC)
                continue
            values[name] = moment = local.replace(tzinfo=zone).astimezone(UTC)
            if moment.astimezone(zone).replace(tzinfo=None) != local:
                self.add_error(name, _NO_SUCH_TIME)
        return values


class WindowForm(ZonedForm):
    """A new window for a phase."""

    opens = MomentField(label=_("Opens"))
    closes = MomentField(
        label=_("Closes"),
        required=False,
        help_text=_("Midnight (00:00 AoE) is shown as 23:59 on the previous day."),
    )
    note = action_field(move_phase, "note", label=_("Reason (public)"))
    field_order = ("opens", "closes", "zone", "note")


class ExtraTimeForm(ZonedForm):
    """Extra time for one team or for all teams."""

    team: Any = forms.ModelChoiceField(queryset=None, label=_("Team"), required=False, empty_label=_("All teams"))
    until = MomentField(label=_("Until"))
    reason = action_field(grant_extra_time, "reason", label=_("Reason (public)"))
    field_order = ("team", "until", "zone", "reason")

    def __init__(self, *args: Any, shared_task: SharedTask, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = shared_task.teams.filter(state="approved")


class ReleaseForm(ZonedForm):
    """The time when scores become public. If it is empty, they become public now."""

    when = MomentField(label=_("Release time"), required=False)
    field_order = ("when", "zone")


class DatasetForm(ActionForm):
    """A new file for a dataset."""

    fields_of_errors = {
        ALREADY_DOWNLOADED.code: "is_sure",
        EMPTY.code: "file",
        FILE_OF_RULES.code: "file",
        SAME_FILE.code: "file",
    }

    file = forms.FileField(label=_("New file"), allow_empty_file=True)
    is_sure = action_field(
        replace_dataset, "is_sure", label=_("Replace the file even though people have already downloaded it")
    )


class PushForm(ActionForm):
    """A task folder as a zip."""

    file = forms.FileField(label=_("Zip file of the task folder"), allow_empty_file=True)


class ApplyPushForm(ActionForm):
    """The confirmation of a push that affects runs, deadlines or people."""

    is_sure = action_field(apply_push, "is_sure", label=_("I confirm these effects"))

    def carry_out(self, act: Callable[[dict[str, Any]], object]) -> bool:
        """Apply the push. If the effects must be confirmed, the page lists them, so the error does not repeat them."""
        is_done = super().carry_out(act)
        if self.effects:
            del self.errors[NON_FIELD_ERRORS]
            self.add_error("is_sure", _("Select this box to confirm the effects listed above."))
        return is_done

    @property
    def effects(self) -> list[str]:
        """The effects that were not confirmed. There may be more than when the folder was checked."""
        error = self.action_error
        return error.params["effects"] if error is not None and error.code == UNSURE.code else []


class OrganizerForm(ActionForm):
    """An organizer to add or remove, by email address."""

    address = action_field(
        add_organizer,
        "address",
        label=_("Email address"),
        help_text=_("Enter the email address of the person’s account. Organizers need a second factor."),
    )
    is_sure = action_field(
        add_organizer, "is_sure", label=_("I confirm that the person’s team has no rank from now on")
    )
    fields_of_errors = {COMPETES.code: "is_sure"}

    def carry_out(self, act: Callable[[dict[str, Any]], object]) -> bool:
        """Call the action. The confirmation is asked for only if the person is on a team."""
        is_done = super().carry_out(act)
        if self.action_error is None or self.action_error.code != COMPETES.code:
            del self.fields["is_sure"]
        return is_done


class GoldForm(ActionForm):
    """A gold file for one track and split."""

    target = forms.TypedChoiceField(label=_("Track and split"))
    file = forms.FileField(label=_("Gold file"), allow_empty_file=True)

    def __init__(self, *args: Any, lines: Sequence[GoldLine], **kwargs: Any) -> None:
        """Offer `lines` as choices. `cleaned_data["target"]` is the selected one."""
        super().__init__(*args, **kwargs)
        by_key = {line.key: line for line in lines}
        field = self.fields["target"]
        field.choices = [(line.key, f"{line.track.title} · {line.split}") for line in lines]
        field.coerce = by_key.__getitem__


class NoteForm(ActionForm):
    """The reason for changing the gold standard."""

    note = action_field(
        apply_gold,
        "note",
        label=_("Reason for the change"),
        help_text=_("State a public reason. It appears on released leaderboards and in their exports."),
    )


class ScoresForm(ActionForm):
    """The leaderboards whose new scores are applied, and the reason. `cleaned_data["boards"]` has their lines."""

    boards = forms.TypedMultipleChoiceField(label=_("Leaderboards"))
    note = action_field(
        apply_scores,
        "note",
        label=_("Reason for the change"),
        help_text=_("State a public reason. It appears on the leaderboard and in its exports."),
    )

    def __init__(self, *args: Any, lines: Sequence[WaitingScores], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ready = {line.key: line for line in lines if line.effect is not None}
        field = self.fields["boards"]
        field.choices = [(key, str(line.board)) for key, line in ready.items()]
        field.coerce = ready.__getitem__
        field.error_messages["invalid_choice"] = CHANGED().message


class ScorerForm(ActionForm):
    """The approval of an own scorer. The digest that the page showed is sent along."""

    sha256 = action_field(approve_scorer, "sha256", widget=forms.HiddenInput())


def dataset_form(
    shared_task: SharedTask, dataset: DatasetDefinition, data: Any = None, files: Any = None
) -> DatasetForm:
    """Return a form that asks for confirmation only if someone has downloaded the current file."""
    form = DatasetForm(data, files, auto_id=f"{dataset.slug}-%s")
    stored = shared_task.stored_dataset(dataset.slug)
    downloads = download_count(shared_task, dataset, stored) if stored else 0
    if downloads:
        form.fields["is_sure"].help_text = ngettext(
            "The current file was downloaded %(n)d time. No one is notified, so announce the new version.",
            "The current file was downloaded %(n)d times. No one is notified, so announce the new version.",
            downloads,
        ) % {"n": downloads}
    else:
        form.fields["is_sure"].widget = forms.HiddenInput()
    return form


def window_form(phase: Phase, user: User, data: Any = None) -> WindowForm:
    """Return a form with the current window.

    The ids of its fields include the phase, because the page has a form for each phase.
    """
    window = {"opens": phase.opens, "closes": phase.closes}
    return WindowForm(data, user=user, initial=window, auto_id=f"move-{phase.slug}-%s")


def extra_time_form(phase: Phase, user: User, data: Any = None) -> ExtraTimeForm:
    return ExtraTimeForm(data, user=user, shared_task=phase.shared_task, auto_id=f"extra-time-{phase.slug}-%s")


def release_form(phase: Phase, user: User, at: datetime, data: Any = None) -> ReleaseForm:
    """Return the form. While the phase accepts runs, the time is required, because scores cannot be released now."""
    form = ReleaseForm(data, user=user, auto_id=f"release-{phase.slug}-%s")
    when = form.fields["when"]
    when.required = when.widget.is_required = not phase.has_closed(at)
    when.error_messages["required"] = _("Enter a time after the phase closes.")
    return form
