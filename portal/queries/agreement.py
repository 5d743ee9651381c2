"""A task's current data agreement, and whether the reader has signed it."""

from dataclasses import dataclass

from portal.models import SharedTask, Signature, Viewer
from portal.models.signature import text_sha256


@dataclass(frozen=True, slots=True)
class CurrentAgreement:
    version: str
    text: str  # Markdown
    sha256: str
    signature: Signature | None  # the reader's
    signed_earlier: bool  # whether the reader has signed only earlier versions

    @property
    def is_signed(self) -> bool:
        return self.signature is not None


def current_agreement(shared_task: SharedTask, viewer: Viewer) -> CurrentAgreement | None:
    """Return the agreement that people sign now, or None if the task has none."""
    rules = shared_task.definition.agreement
    if rules is None:
        return None
    text = rules.file.read_text(encoding="utf-8")
    signature = Signature.objects.current(viewer, shared_task)
    own = Signature.objects.filter(user=viewer.pk, shared_task=shared_task)
    signed_earlier = signature is None and own.exists()
    return CurrentAgreement(rules.version, text, text_sha256(text), signature, signed_earlier)
