"""Forms on a shared task's pages."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.actions.base.errors import Invalid
from portal.actions.papers import BIBTEX, set_paper
from portal.actions.runs import describe_run, note_run, withdraw_run
from portal.actions.teams import ANSWER_LENGTH, NAME_TAKEN, TEAM_NAME, check_team_name, register_team
from portal.actions.uploads.submit import submit
from portal.models import Phase, SharedTask, Team
from portal.models.run import one_line
from portal.web.action_forms import ActionForm, action_field
from scoring.limits import RUN_FIELD_CHARACTERS
from scoring.receipts import RECEIPT_BYTES


class RunFieldsForm(ActionForm):
    """A form with an input for each of the task's run fields."""

    def __init__(self, *args: Any, shared_task: SharedTask, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._run_fields = shared_task.definition.run_fields
        for run_field in self._run_fields:
            self.fields[f"field-{run_field.key}"] = forms.CharField(
                label=run_field.label,
                required=run_field.required,
                max_length=RUN_FIELD_CHARACTERS,
                validators=[one_line],
            )

        self.order_fields(f"field-{run_field.key}" for run_field in self._run_fields)

    def clean(self) -> dict[str, Any]:
        """Collect the values of run fields in `fields`, by key."""
        values = super().clean() or {}
        return values | {
            "fields": {run_field.key: values.pop(f"field-{run_field.key}", "") for run_field in self._run_fields}
        }

    @property
    def run_fields(self) -> list[forms.BoundField]:
        """The inputs of the run fields."""
        return [self[f"field-{run_field.key}"] for run_field in self._run_fields]


class UploadForm(RunFieldsForm):
    """A file to upload for one of the phases."""

    file = forms.FileField(
        label=_("Run file or zip archive"),
        allow_empty_file=True,
        max_length=submit.length_of("file_name"),
    )
    phase = forms.ChoiceField(label=_("Phase"))
    slot = action_field(submit, "slot", label=_("Run type"))
    key = action_field(submit, "key")  # a double click sends the same key twice, which counts as one upload

    def __init__(self, *args: Any, phases: list[Phase], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["phase"].choices = [(phase.slug, phase.title) for phase in phases]

    @property
    def other_errors(self) -> list[str]:
        """The errors that are not about run fields."""
        own = {field.name for field in self.run_fields}
        return [str(error) for name, errors in self.errors.items() if name not in own for error in errors]


class ValidationForm(UploadForm):
    """A file to validate for one of the phases. Run fields keep what was entered, but are not checked."""

    def full_clean(self) -> None:
        super().full_clean()
        for field in self.run_fields:
            self.errors.pop(field.name, None)


class WithdrawalForm(ActionForm):
    """The reason for withdrawing a run."""

    reason = action_field(
        withdraw_run, "reason", help_text=_("Explain in a few words. Your team and the organizers can read the reason.")
    )


class DescriptionForm(RunFieldsForm):
    """A description of the system that produced a run."""

    method = action_field(
        describe_run,
        "method",
        help_text=_("A short name for the leaderboard, for example “XLM-T, threshold tuned on dev”."),
    )
    description = action_field(
        describe_run,
        "description",
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=_("At most %(limit)s characters."),
    )
    link = action_field(
        describe_run,
        "link",
        forms.URLField,
        assume_scheme="https",
        help_text=_("Link to code, a model card or a paper."),
    )
    system_type = action_field(describe_run, "system_type", label=_("System type"))


class NoteForm(ActionForm):
    """A note on a run, for its team."""

    note = action_field(note_run, "note", widget=forms.Textarea(attrs={"rows": 2}), required=False)


class ReceiptForm(forms.Form):
    """A receipt as text or as a file. `content` holds its bytes."""

    text = forms.CharField(
        label=_("Paste the receipt"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 8})
    )
    file = forms.FileField(label=_("Or choose the receipt file"), required=False, allow_empty_file=True)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        file = values.get("file")
        values["content"] = file.read(RECEIPT_BYTES + 1) if file else values.get("text", "").encode(errors="replace")
        if not values["content"].strip():
            raise forms.ValidationError(_("Paste a receipt, or choose the receipt file that you saved."))
        return values


class TeamForm(ActionForm):
    """A new team. The action checks whether the name is free."""

    fields_of_errors = {TEAM_NAME.code: "name", NAME_TAKEN.code: "name"}

    name = action_field(
        register_team,
        "name",
        label=_("Team name"),
        help_text=_(
            "The name appears in file names and on leaderboards exactly as you type it. You can’t change it later."
        ),
    )
    affiliation = action_field(
        register_team,
        "affiliation",
        label=_("Affiliation"),
        help_text=_("University or company. Leave it empty if you have none."),
    )

    def __init__(self, *args: Any, shared_task: SharedTask, **kwargs: Any) -> None:
        """Add the organizers' own questions at the end."""
        super().__init__(*args, **kwargs)
        self._shared_task = shared_task
        self._rule = _("Use %(rule)s.") % {"rule": shared_task.definition.team.name_in_words}
        self.fields["name"].help_text += f" {self._rule}"
        self._questions = shared_task.definition.team.questions
        for question in self._questions:
            options: dict[str, Any] = {"label": question.label, "required": question.required}
            if question.choices:
                choices = [("", "–"), *((choice, choice) for choice in question.choices)]
                field: forms.Field = forms.ChoiceField(choices=choices, **options)
            else:
                field = forms.CharField(max_length=ANSWER_LENGTH, **options)
            self.fields[f"answer-{question.key}"] = field

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        try:
            check_team_name(self._shared_task, name)
        except Invalid as error:
            if self._rule in error.message:  # no need to show it twice
                self["name"].help_text = type(self).base_fields["name"].help_text
            raise forms.ValidationError(error.message) from None
        return name

    def clean(self) -> dict[str, Any]:
        """Collect the answers in `answers`, by question key."""
        values = super().clean() or {}
        return values | {
            "answers": {question.key: values.pop(f"answer-{question.key}", "") for question in self._questions}
        }


class PaperForm(ActionForm):
    """A team's paper. The action checks whether the entry is valid."""

    fields_of_errors = {BIBTEX.code: "bibtex"}

    bibtex = action_field(
        set_paper,
        "bibtex",
        label=_("BibTeX entry"),
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text=_(
            "One entry with author, title and year, for example @inproceedings{…}. To remove the reference, leave this "
            "field empty."
        ),
    )
    link = action_field(set_paper, "link", forms.URLField, label=_("Or a link to the paper"), assume_scheme="https")


class AgainForm(TeamForm):
    """The details that a declined team can change before it requests approval again. The name cannot change."""

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        given = {f"answer-{key}": answer for key, answer in team.answers.items()}
        initial = {"affiliation": team.affiliation, **given}
        super().__init__(*args, shared_task=team.shared_task, initial=initial, **kwargs)
        del self.fields["name"]
