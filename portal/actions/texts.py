"""What people type, checked by the actions: pages, API and command line meet the same limits."""

from django.db.models import Field, ForeignObjectRel
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.actions.errors import Invalid


def checked_text(text: str, label: str, limit: int) -> str:
    """The text without space at its ends; `limit` in characters.

    Raises:
        Invalid: it is too long, or has a character that no database stores.
    """
    text = text.strip()
    if len(text) > limit:
        message = ngettext(
            "%(label)s has %(length)d character. Use at most %(limit)d.",
            "%(label)s has %(length)d characters. Use at most %(limit)d.",
            len(text),
        )
        raise Invalid("too_long", message % {"label": label, "length": len(text), "limit": limit})
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        message = _("%(label)s contains a character that cannot be stored. Type the text again.")
        raise Invalid("not_text", message % {"label": label})
    return text


def checked_field(text: str, field: Field | ForeignObjectRel) -> str:
    """As `checked_text`, with the model field's name and length."""
    assert isinstance(field, Field)
    assert field.max_length is not None
    return checked_text(text, capfirst(str(field.verbose_name)), field.max_length)
