"""Asking for the pack of an overview paper."""

from datetime import datetime

from django.utils.translation import gettext as _

from portal import jobs
from portal.actions.errors import NotAllowed
from portal.models import PaperPack, Phase, User, Viewer
from portal.paper.queue import packs_to_build, request_pack


def ask_for_pack(viewer: Viewer, phase: Phase, at: datetime) -> PaperPack:
    """The pack for the boards as they are now, which a worker builds unless that was asked for before.

    Raises:
        NotAllowed: the viewer does not see the phase's scores.
    """
    if not phase.scores_are_visible_to(viewer, at):
        raise NotAllowed("scores_hidden", _("The scores of %(phase)s are not released.") % {"phase": phase.title})
    pack = request_pack(phase, viewer if isinstance(viewer, User) else None, at)
    if pack.state == PaperPack.State.QUEUED:
        jobs.publish_packs(packs_to_build(at))
    return pack
