"""The papers that teams want others to cite."""

from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from portal.models import Evaluation, SharedTask, Team

HAS_PAPER = ~Q(bibtex="") | ~Q(paper="")


def public_papers(shared_task: SharedTask, at: datetime) -> list[Team]:
    """Return the teams that have a paper and are named on a public board, sorted by name."""
    phases = [phase for phase in shared_task.phases.all() if phase.names_are_public(at)]
    shown = set[int]()
    on_boards = Evaluation.objects.visible_at_all(AnonymousUser(), at)
    for phase in phases:
        listed = on_boards.filter(phase=phase, run__withdrawn_at__isnull=True, team__isnull=False)
        shown |= set(listed.exclude(team__in=Team.objects.shut_out(phase)).values_list("team", flat=True))
    return list(papers_of_all(shared_task).filter(pk__in=shown))


def papers_of(shared_task: SharedTask, names: Collection[str]) -> list[Team]:
    """Return the teams with these names that have a paper, sorted by name."""
    return list(papers_of_all(shared_task).filter(name__in=names))


def papers_of_all(shared_task: SharedTask) -> QuerySet[Team]:
    """Return all teams with a paper, sorted by name."""
    return Team.objects.filter(HAS_PAPER, shared_task=shared_task).select_related("shared_task")
