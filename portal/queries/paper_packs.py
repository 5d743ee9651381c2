"""The paper pack for the current boards."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from portal.models import Board, BoardChange, CombinedBoard, PaperPack, Phase, Viewer
from portal.queries.papers import papers_of_all
from portal.storage import has_pack
from scoring import __version__ as engine_version


@dataclass(frozen=True, slots=True)
class BoardsState:
    """What a pack is made from: its audience, a digest of everything in it, and the sum of the boards' revisions."""

    audience: PaperPack.Audience
    digest: str
    revisions: int


def boards_state(phase: Phase, at: datetime) -> BoardsState:
    """Return the current state, which changes whenever a new pack would differ."""
    is_public = phase.scores_are_public(at)
    boards = list(
        Board.objects.filter(phase=phase).order_by("track__position").values_list("pk", "revision", "gold", "scorer")
    )
    combined = list(CombinedBoard.objects.filter(phase=phase).order_by("pk").values_list("pk", "revision"))
    changes = BoardChange.objects.filter(board__phase=phase).order_by("pk")
    papers = [(team.pk, team.name, team.bibtex, team.paper) for team in papers_of_all(phase.shared_task)]
    shown = (
        engine_version,
        phase.shared_task.definition_sha256,
        (phase.title, phase.released, phase.names_are_public(at), phase.step_at(at)),
        boards,
        combined,
        list(changes.values_list("pk", flat=True)),
        papers,
    )
    return BoardsState(
        PaperPack.Audience.PUBLIC if is_public else PaperPack.Audience.ORGANIZERS,
        hashlib.sha256(repr(shown).encode()).hexdigest(),
        sum(revision for _pk, revision, _gold, _scorer in boards) + sum(revision for _pk, revision in combined),
    )


def current_pack(phase: Phase, viewer: Viewer, at: datetime) -> PaperPack | None:
    """Return the pack for the current boards, whether finished or not, if the viewer may see it."""
    state = boards_state(phase, at)
    packs = PaperPack.objects.visible_to(viewer, at)
    found = packs.filter(phase=phase, audience=state.audience, boards=state.digest).first()
    return None if found is None or is_lost(found) else found


def is_lost(pack: PaperPack) -> bool:
    """Return whether the finished pack's file no longer exists, for example after a restore."""
    return pack.state == PaperPack.State.READY and not has_pack(pack.sha256)
