"""Requesting paper files: the tables and figures for an overview paper."""

from django.utils.translation import gettext_lazy as _

from portal import jobs
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import NotAllowed
from portal.actions.base.roles import ANYONE
from portal.models import PaperPack, Phase
from portal.paper.queue import packs_to_build, request_pack

SCORES_HIDDEN = NotAllowed.declare("scores_hidden", _("The scores of %(phase)s have not been released yet."))


@action(who=ANYONE, errors=[SCORES_HIDDEN], atomic=False)
def request_paper_files(call: ActionCall, phase: Phase) -> PaperPack:
    """Request paper files for the leaderboards in their current state, unless they already exist."""
    if call.viewer is None or not phase.scores_are_visible_to(call.viewer, call.at):
        raise SCORES_HIDDEN(phase=phase.title)
    pack = request_pack(phase, call.actor, call.at)
    if pack.state == PaperPack.State.QUEUED:
        jobs.publish_packs(packs_to_build(call.at))
    return pack
