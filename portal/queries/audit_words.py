"""The audit log in words: what was done, to what, and the details as labelled values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from portal.models import AuditEntry

_DEEDS = {
    "add_gold_standard": _("took a gold standard into use"),
    "admin_change": _("changed in the administration"),
    "admin_delete": _("deleted in the administration"),
    "apply_scores": _("applied new scores"),
    "approve_team": _("approved the team"),
    "ask_again": _("asked again for the team"),
    "choose_official_run": _("chose the official run"),
    "close_papers": _("closed the list of papers"),
    "decline_team": _("declined the team"),
    "delete_account": _("deleted the account"),
    "describe_run": _("described a run"),
    "give_paper": _("said how to cite the team"),
    "give_password": _("gave the data password"),
    "grant_grace": _("granted grace"),
    "hand_over": _("handed the team over"),
    "import_shared_task": _("imported the shared task"),
    "invite_by_mail": _("invited by mail"),
    "join_team": _("joined the team"),
    "leave_team": _("left the team"),
    "move_phase": _("moved a phase"),
    "open_papers": _("opened the list of papers again"),
    "publish_announcement": _("published an announcement"),
    "put_release_back": _("put a release back"),
    "register_team": _("registered the team"),
    "release_scores": _("released scores"),
    "revoke_grace": _("revoked extra time"),
    "renew_password": _("renewed the data password"),
    "replace_dataset": _("replaced a dataset"),
    "retry_failed": _("let what had failed be evaluated again"),
    "rescore": _("asked for all scores again"),
    "sign_agreement": _("signed the agreement"),
    "submit": _("sent an upload"),
    "take_back_announcement": _("took an announcement back"),
    "take_back_release": _("took a release back"),
    "upload_gold": _("uploaded a gold file"),
    "withdraw_run": _("withdrew a run"),
    "withdraw_team": _("withdrew the team"),
}
_LABELS = {
    "address": _("to"),
    "bibtex": "BibTeX",
    "captain": _("new captain, account"),
    "definition": _("definition"),
    "opens": _("opens"),
    "closes": _("closes"),
    "returned_to": _("as version"),
    "runs": _("number of runs"),
    "scorer_before": _("scorer before"),
    "sealed_sha256": _("sealed file"),
    "sha256": "SHA-256",
    "size": _("bytes"),
    "state": _("state"),
    "upload": _("upload"),
}
_FEW = 3  # of a list, stand side by side
_DIGEST = re.compile(r"[0-9a-f]{64}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Detail:
    """One value: `text`, or a `moment`, or a `long_id` of which the beginning is enough to read on; or `many` texts."""

    label: str
    text: str = ""
    moment: datetime | None = None
    long_id: str = ""
    many: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditLine:
    """A row of the log; `subject_id` is the long id that stood in its subject, if one did."""

    at: datetime
    actor: str
    deed: str
    subject: str
    subject_id: str
    details: list[Detail]


def deed_words(verb: str) -> str:
    """approve_team → approved the team"""
    return str(_DEEDS.get(verb, verb.replace("_", " ")))


def audit_line(entry: AuditEntry) -> AuditLine:
    found = _UUID.search(entry.subject)
    return AuditLine(
        at=entry.at,
        actor=str(entry.actor) if entry.actor else "",
        deed=deed_words(entry.verb),
        subject=_UUID.sub("", entry.subject).strip(),
        subject_id=found[0] if found else "",
        details=list(_details("", entry.detail)),
    )


def _details(label: str, value: Any) -> Iterator[Detail]:
    """Nested values one by one, each under the words of its way there; empty ones are left out."""
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
    if "T" in text:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return Detail(label, text)
        return Detail(label, moment=moment) if moment.tzinfo else Detail(label, text)
    return Detail(label, text)
