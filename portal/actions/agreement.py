"""Signing the data agreement."""

from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid
from portal.actions.base.input import column
from portal.actions.base.roles import SIGNED_IN
from portal.models import SharedTask, Signature
from portal.models.signature import text_sha256
from scoring import Definition

SIGNED_WITH_OTHER_TEXT = Conflict.declare(
    "agreement_signed",
    _(
        "People have already signed version %(version)s of the agreement with a different text. Give the new "
        "text a new version number."
    ),
)
NO_AGREEMENT = Conflict.declare("no_agreement", _("This task has no agreement to sign."))
TEXT_CHANGED = Conflict.declare(
    "agreement_changed", _("The text has changed since you opened it. Read it again, then sign.")
)
NO_FULL_NAME = Invalid.declare("no_name", _("Enter your full name."))


def require_new_version(shared_task: SharedTask, definition: Definition) -> None:
    """Raise Conflict if the text has changed, but people have already signed this version number."""
    agreement = definition.agreement
    if agreement is None:
        return
    signed = Signature.objects.filter(shared_task=shared_task, version=agreement.version)
    if signed.exclude(sha256=text_sha256(agreement.file.read_text(encoding="utf-8"))).exists():
        raise SIGNED_WITH_OTHER_TEXT(version=agreement.version)


@action(
    who=SIGNED_IN,
    says=_("signed the agreement"),
    errors=[NO_AGREEMENT, TEXT_CHANGED, NO_FULL_NAME],
    repeatable=True,
)
def sign_agreement(
    call: ActionCall,
    shared_task: SharedTask,
    *,
    typed_name: Annotated[str, column(Signature, "typed_name", title="Full name")],
    sha256: Annotated[str, Field(title="SHA-256 of the text that was read")],
    address: Annotated[str | None, Field(title="Address of the connection")] = None,
) -> Signature:
    """Sign the agreement text that has this hash. Each version is signed only once."""
    agreement = shared_task.definition.agreement
    if agreement is None:
        raise NO_AGREEMENT()
    text = agreement.file.read_text(encoding="utf-8")
    if text_sha256(text) != sha256:
        raise TEXT_CHANGED()
    if len(typed_name) < 2:
        raise NO_FULL_NAME()
    signature, is_new = Signature.objects.get_or_create(
        user=call.user,
        shared_task=shared_task,
        version=agreement.version,
        defaults={
            "text": text,
            "sha256": sha256,
            "typed_name": typed_name,
            "address": address,
            "signed_at": call.at,
        },
    )
    if is_new:
        call.record(subject=f"agreement version {agreement.version}", sha256=sha256, name=typed_name)
    return signature
