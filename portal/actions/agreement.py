"""Signing the data agreement."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.errors import Conflict, Invalid
from portal.actions.texts import checked_field
from portal.models import AuditEntry, SharedTask, Signature, User
from portal.models.signature import text_sha256
from scoring import Definition


def require_new_version(shared_task: SharedTask, definition: Definition) -> None:
    """Conflict where the text was changed under a version that people have signed."""
    agreement = definition.agreement
    if agreement is None:
        return
    signed = Signature.objects.filter(shared_task=shared_task, version=agreement.version)
    if signed.exclude(sha256=text_sha256(agreement.file.read_text(encoding="utf-8"))).exists():
        message = _("Version %(version)s of the agreement was signed with another text: give this text a new version.")
        raise Conflict("agreement_signed", message % {"version": agreement.version})


@transaction.atomic
def sign_agreement(
    user: User, shared_task: SharedTask, typed_name: str, sha256: str, address: str | None, at: datetime
) -> Signature:
    """Sign the text with that hash, which the person has read; signing again gives the same signature.

    Raises:
        Invalid: no name was typed, or one of more than 120 characters.
        Conflict: there is nothing to sign, or the text has changed since it was read.
    """
    agreement = shared_task.definition.agreement
    if agreement is None:
        raise Conflict("no_agreement", _("This task has no agreement to sign."))
    text = agreement.file.read_text(encoding="utf-8")
    if text_sha256(text) != sha256:
        raise Conflict("agreement_changed", _("The text has changed since you opened it. Read it again, then sign."))
    name = checked_field(typed_name, Signature._meta.get_field("typed_name"))
    if len(name) < 2:
        raise Invalid("no_name", _("Type your full name."))
    signature, is_new = Signature.objects.get_or_create(
        user=user,
        shared_task=shared_task,
        version=agreement.version,
        defaults={
            "text": text,
            "sha256": sha256,
            "typed_name": name,
            "address": address,
            "signed_at": at,
        },
    )
    if is_new:
        AuditEntry.objects.create(
            actor=user,
            shared_task=shared_task,
            verb="sign_agreement",
            subject=f"agreement version {agreement.version}",
            detail={"sha256": sha256, "name": signature.typed_name},
            at=at,
        )
    return signature
