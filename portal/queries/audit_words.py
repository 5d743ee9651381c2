"""The audit log as text: events, their subjects, and labeled details."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.models import AuditEntry

ActionWords = Mapping[str, str | Promise]  # declared with the actions; passed in by the caller

_EVENTS = dict(AuditEntry.Event.choices)
_LABELS = {
    "address": _("to"),
    "bibtex": "BibTeX",
    "captain": _("new captain, account"),
    "definition": _("definition"),
    "opens": _("opens"),
    "closes": _("closes"),
    "replaced_by": _("replaced by"),
    "returned_to": _("as version"),
    "runs": _("number of runs"),
    "scorer_before": _("previous scorer"),
    "sealed_sha256": _("encrypted file"),
    "sha256": "SHA-256",
    "size": _("bytes"),
    "state": _("state"),
    "upload": _("upload"),
}
_FEW = 3  # maximum number of values in a list that are shown inline
_DIGEST = re.compile(r"[0-9a-f]{64}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Detail:
    """A labeled detail: `text`, a `moment`, a `long_id` to abbreviate, or several texts in `many`."""

    label: str
    text: str = ""
    moment: datetime | None = None
    long_id: str = ""
    many: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditLine:
    """A row of the log. If the subject contains a long id, it is in `subject_id` instead of `subject`."""

    at: datetime
    actor: str
    event: str
    subject: str
    subject_id: str
    details: list[Detail]


def event_words(verb: str, actions: ActionWords) -> str:
    """Return the words for an event, such as "approved the team" for approve_team."""
    return str(actions.get(verb) or _EVENTS.get(verb) or verb.replace("_", " "))


def audit_line(entry: AuditEntry, actions: ActionWords) -> AuditLine:
    found = _UUID.search(entry.subject)
    return AuditLine(
        at=entry.at,
        actor=str(entry.actor) if entry.actor else "",
        event=event_words(entry.verb, actions),
        subject=_UUID.sub("", entry.subject).strip(),
        subject_id=found[0] if found else "",
        details=list(_details("", entry.detail)),
    )


def _details(label: str, value: Any) -> Iterator[Detail]:
    """Yield nested values one by one, each with its label. Empty values are left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            own = str(_LABELS.get(key, key.replace("_", " ")))
            yield from _details(f"{label}, {own}" if label else own, inner)
    elif isinstance(value, list) and len(value) > _FEW:
        yield Detail(label, many=tuple(map(str, value)))
    elif isinstance(value, list):
        for inner in value:
            yield from _details(label, inner)
    elif value not in (None, ""):
        yield _detail(label, str(value))


def _detail(label: str, text: str) -> Detail:
    if _DIGEST.fullmatch(text) or _UUID.fullmatch(text):
        return Detail(label, long_id=text)
    with suppress(ValueError):
        if "T" in text and (moment := datetime.fromisoformat(text)).tzinfo:
            return Detail(label, moment=moment)
    return Detail(label, text)
