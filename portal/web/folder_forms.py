"""Forms for editing a task's folder."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.actions.task_folder.apply_definition import SLUG_TAKEN
from portal.actions.task_folder.folder_edits import (
    BAD_PATH,
    CODE_FILE,
    FILE_BYTES,
    SECRET_FILE,
    SET_APART,
    edit_file,
)
from portal.actions.task_folder.start import BAD_DAY, BAD_SLUG, NO_SOURCE, TEMPLATES, start_task
from portal.queries.working_copy import EDITABLE_BYTES, bytes_of
from portal.web.action_forms import ActionForm, action_field
from scoring.limits import MEBIBYTE

_OF_PATH = {error.code: "path" for error in (BAD_PATH, CODE_FILE, SECRET_FILE, SET_APART)}


class TextForm(ActionForm):
    """The text of a file in the working copy."""

    text = forms.CharField(
        label=_("Text"),
        required=False,
        strip=False,
        max_length=EDITABLE_BYTES,
        widget=forms.Textarea(attrs={"rows": 26, "spellcheck": "false"}),
    )
    base = action_field(edit_file, "base", required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, before: bytes, is_prose: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._before = before
        if not is_prose:
            self.fields["text"].widget.attrs["wrap"] = "off"

    def see(self, base: str) -> None:
        """Take note that the person now sees the content with this SHA-256. Saving again keeps their own text."""
        self.data = {**self.data.dict(), "base": base}  # type: ignore[attr-defined]

    @property
    def content(self) -> bytes:
        """The text as the file's content."""
        return bytes_of(self.cleaned_data["text"], self._before)


class AddFileForm(ActionForm):
    """A file to add to the working copy, or to put in place of another one."""

    fields_of_errors = _OF_PATH

    path = action_field(
        edit_file,
        "path",
        label=_("Path"),
        help_text=_("For example pages/faq.md. A file that is already there is replaced."),
    )
    file = forms.FileField(
        label=_("File"),
        required=False,
        allow_empty_file=True,
        help_text=_("At most %(limit)d MiB. Leave this empty to write a new text in the browser.")
        % {"limit": FILE_BYTES // MEBIBYTE},
    )


class StartForm(ActionForm):
    """A new task, made from a template or an earlier task."""

    fields_of_errors = {
        NO_SOURCE.code: "source",
        BAD_SLUG.code: "slug",
        SLUG_TAKEN.code: "slug",
        BAD_DAY.code: "first_day",
    }

    source: Any = forms.ChoiceField(label=_("Start from"))
    title = action_field(start_task, "title", label=_("Title"))
    slug = action_field(
        start_task,
        "slug",
        label=_("Address"),
        help_text=_("The last part of the task’s address, such as my-task-2027."),
    )
    first_day = forms.DateField(
        label=_("First day"),
        required=False,
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
        help_text=_(
            "The first phase opens on this day, and all other dates move with it. If you enter no day, the dates stay."
        ),
    )

    def __init__(self, *args: Any, own: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        templates = [(f"template:{name}", text) for name, text in TEMPLATES.items()]
        tasks = [(f"task:{slug}", title) for slug, title in own]
        self.fields["source"].choices = [(_("Templates"), templates), *([(_("My tasks"), tasks)] if tasks else [])]
