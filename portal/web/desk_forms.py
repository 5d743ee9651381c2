"""Forms of the organizers' desk: filters of its tables, which are in the address, and inputs of actions."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from portal.actions.desk.decisions import decline_teams
from portal.actions.desk.extra_runs import MOST, grant_extra_runs
from portal.actions.desk.messages import UNKNOWN_PLACEHOLDER, prepare_message
from portal.actions.desk.notes import add_note
from portal.actions.desk.pause import pause_uploads
from portal.models import SharedTask, Team, TeamMessage
from portal.queries.desk.team_filter import Seen, TeamFilter, YesNo
from portal.queries.desk.uploads import UploadFilter, UploadState, codes_of
from portal.web.action_forms import ActionForm, action_field


class FilterForm(forms.Form):
    """Filters of a table. Values are taken as they are: an unknown one selects no rows."""

    def __init__(self, query: QueryDict) -> None:
        super().__init__({name: query.get(name, "").strip() for name in self.base_fields}, auto_id="filter-%s")
        for field in self.fields.values():
            field.widget.attrs["class"] = "form-select" if isinstance(field, forms.ChoiceField) else "form-control"

    @property
    def wanted(self) -> dict[str, str]:
        """The values by name."""
        return dict(self.data)

    @property
    def query(self) -> str:
        """The values as a query, without empty ones."""
        return urlencode({name: value for name, value in self.wanted.items() if value})

    def offer(self, name: str, choices: list[tuple[Any, Any]], everything: Any) -> None:
        """Set the choices of a field, after one that selects all rows."""
        self.fields[name].choices = [("", everything), *choices]  # type: ignore[attr-defined]


class UploadFilterForm(FilterForm):
    """Filters of the table of uploads."""

    search = forms.CharField(label=_("File, team or person"), required=False)
    state = forms.ChoiceField(label=_("State"), choices=[("", _("All states")), *UploadState.choices])
    code = forms.ChoiceField(label=_("Problem"))
    track = forms.ChoiceField(label=_("Track"))
    phase = forms.ChoiceField(label=_("Phase"))
    team = forms.CharField(label=_("Team"), required=False)

    def __init__(self, query: QueryDict, shared_task: SharedTask) -> None:
        super().__init__(query)
        codes = sorted({*codes_of(shared_task), self.wanted["code"]} - {""})
        self.offer("code", [(code, code) for code in codes], _("All problems"))
        self.offer("track", [(track.slug, track.slug) for track in shared_task.tracks.all()], _("All tracks"))
        self.offer("phase", [(phase.slug, phase.title) for phase in shared_task.phases.all()], _("All phases"))

    @property
    def filter(self) -> UploadFilter:
        return UploadFilter(**self.wanted)


class TeamFilterForm(FilterForm):
    """Filters of the table of teams."""

    search = forms.CharField(label=_("Team or person"), required=False)
    state = forms.ChoiceField(label=_("State"), choices=[("", _("All states")), *Team.State.choices])
    answer = forms.ChoiceField(label=_("Answer"))
    signed = forms.ChoiceField(label=_("Agreement signed"), choices=[("", "–"), *YesNo.choices])
    downloaded = forms.ChoiceField(label=_("Downloaded data"), choices=[("", "–"), *YesNo.choices])
    uploaded = forms.ChoiceField(label=_("Uploaded"), choices=[("", "–"), *YesNo.choices])
    valid = forms.ChoiceField(label=_("Valid run"), choices=[("", "–"), *YesNo.choices])
    phase = forms.ChoiceField(label=_("Uploads and runs in"))
    seen = forms.ChoiceField(label=_("Last seen"), choices=[("", "–"), *Seen.choices])

    def __init__(self, query: QueryDict, shared_task: SharedTask) -> None:
        super().__init__(query)
        self.offer("phase", [(phase.slug, phase.title) for phase in shared_task.phases.all()], _("any phase"))
        answers = [
            (f"{question.key}={choice}", f"{question.label} {choice}")
            for question in shared_task.definition.team.questions
            for choice in question.choices
        ]
        self.offer("answer", answers, _("All answers"))
        if not answers:
            del self.fields["answer"]
        if shared_task.definition.agreement is None:
            del self.fields["signed"]

    @property
    def filter(self) -> TeamFilter:
        return TeamFilter(**self.wanted)


class DeclineTeamsForm(ActionForm):
    """The reason to decline all selected teams."""

    reason = action_field(
        decline_teams, "reason", label=_("Reason (shown to the teams)"), widget=forms.Textarea(attrs={"rows": 4})
    )


class TeamNoteForm(ActionForm):
    """A note about a team."""

    text = action_field(
        add_note,
        "text",
        label=_("New note"),
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Only organizers see it. At most %(limit)s characters."),
    )


class MessageForm(ActionForm):
    """A message to teams."""

    fields_of_errors = {UNKNOWN_PLACEHOLDER.code: "text"}

    audience = action_field(
        prepare_message, "audience", label=_("To"), required=True, initial=TeamMessage.Audience.MEMBERS
    )
    subject = action_field(
        prepare_message,
        "subject",
        label=_("Subject"),
        help_text=_("The title of the task comes first. At most %(limit)s characters."),
    )
    text = action_field(
        prepare_message,
        "text",
        label=_("Text"),
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text=_(
            "Markdown, at most %(limit)s characters. {team} stands for the team’s name, {captain} for its captain, and "
            "{runs_left} for the runs left in the open phase."
        ),
    )


class PauseForm(ActionForm):
    """What teams read while uploads are paused."""

    message = action_field(
        pause_uploads,
        "message",
        label=_("Message to teams"),
        help_text=_("Say why, and until when. At most %(limit)s characters."),
    )


class ExtraRunsForm(ActionForm):
    """Extra runs for one team."""

    phase: Any = forms.ModelChoiceField(queryset=None, to_field_name="slug", label=_("Phase"), empty_label=None)
    runs = forms.IntegerField(label=_("Extra runs in each track"), min_value=0, max_value=MOST)
    reason = action_field(grant_extra_runs, "reason", label=_("Reason"))

    def __init__(self, *args: Any, shared_task: SharedTask, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limited = shared_task.phases.filter(runs_per_track__isnull=False, contrastive__isnull=True)
        self.fields["phase"].queryset = limited
        self.fields["phase"].label_from_instance = lambda phase: phase.title
