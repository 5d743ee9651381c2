"""Teams and their runs as everyone can see them, once boards with their names and scores are public."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import Combinable

from portal.models import Board, Evaluation, Phase, Run, SharedTask, Team, User
from portal.queries.runs import RunLine, official_among, run_lines

PAGE_SIZE = 50
_READER = AnonymousUser()


@dataclass(frozen=True, slots=True)
class RunsInTask:
    """A team's public runs in one task, newest first. `team` is the team in that task."""

    team: Team
    lines: list[RunLine]


@dataclass(frozen=True, slots=True)
class PublicTeam:
    """A team's page. Teams of the same name in other tasks are included if the teams have a member in common."""

    team: Team
    members: Sequence[User]  # those who agreed
    runs: list[RunsInTask]  # the team's own task comes first
    official: set[UUID]
    page: Page[UUID]  # of the runs

    @property
    def has_agreed(self) -> bool:
        """Whether the team's affiliation may be shown, because a member agreed to be named."""
        return bool(self.members)

    @property
    def countries(self) -> list[str]:
        return list(dict.fromkeys(str(member.country.name) for member in self.members if member.country))

    @property
    def with_papers(self) -> list[Team]:
        return [found.team for found in self.runs if found.team.bibtex or found.team.paper]


def public_runs(phases: Iterable[Phase], at: datetime) -> QuerySet[Run]:
    """Return the teams' runs on those boards of the phases whose exact scores and team names everyone may see."""
    named: Q | Combinable = Q(pk__in=())
    for phase in phases:
        if phase.names_are_public(at):
            is_shut_out = Exists(Team.objects.shut_out(phase).filter(pk=OuterRef("team")))
            named |= Q(phase=phase.pk) & ~is_shut_out
    board = Board.objects.filter(track=OuterRef(OuterRef("track")), phase=OuterRef("phase"), gold=OuterRef("gold"))
    shown = Evaluation.objects.visible_to(_READER, at).filter(run=OuterRef("pk"))
    on_board = shown.filter(Exists(board.filter(scorer=OuterRef("scorer"))))
    return Run.objects.eligible().filter(named, Exists(on_board), kind=Run.Kind.TEAM)


def has_public_rows(shared_task: SharedTask, phase: Phase, at: datetime) -> bool:
    """Return whether the teams and runs on the phase's boards have public pages. This is the rule of `public_runs`."""
    is_exact = phase.scores_are_public(at) and phase.step_at(at) is None
    return is_exact and phase.names_are_public(at) and shared_task.state == SharedTask.State.OPEN


def public_run(pk: UUID, at: datetime) -> Run | None:
    """Return a team's run that everyone may see now, or None."""
    related = ("track__shared_task", "phase__shared_task", "team__shared_task", "submission")
    run = Run.objects.filter(pk=pk, kind=Run.Kind.TEAM).select_related(*related).first()
    if run is None or not public_runs([run.phase], at).filter(pk=pk).exists():
        return None
    return run


def public_team(pk: int, at: datetime, page: str = "1") -> PublicTeam | None:
    """Return a team with its public runs, or None if no board shows its name and scores to everyone."""
    team = Team.objects.filter(pk=pk).select_related("shared_task").first()
    if team is None:
        return None
    teams = [team, *_same_elsewhere(team)]
    tasks = SharedTask.objects.filter(pk__in={found.shared_task_id for found in teams})
    phases = Phase.objects.filter(shared_task__in=tasks).select_related("shared_task")
    runs = public_runs(phases, at).filter(team__in=teams)
    found = list(runs.order_by("-received_at", "name").values_list("pk", "team"))
    if not any(owner == team.pk for _run, owner in found):
        return None
    order = {owner.pk: place for place, owner in enumerate(teams)}
    found.sort(key=lambda row: order[row[1] or 0])
    shown = Paginator([run for run, _owner in found], PAGE_SIZE).get_page(page)
    lines = run_lines(Run.objects.filter(pk__in=shown.object_list), _READER, at)
    members = User.objects.filter(memberships__team=team, is_active=True, named_on_team_pages=True)
    return PublicTeam(
        team=team,
        members=list(members.order_by("-memberships__is_captain", "memberships__joined_at")),
        runs=[RunsInTask(owner, own) for owner in teams if (own := _lines_of(owner, lines))],
        official=official_among(lines, _READER, at),
        page=shown,
    )


def _same_elsewhere(team: Team) -> list[Team]:
    """Return the teams of the same name in other tasks that have a member of this team, newest first."""
    members = team.memberships.values("user")
    same = Team.objects.filter(name_key=team.name_key, memberships__user__in=members).exclude(pk=team.pk)
    return list(same.select_related("shared_task").order_by("-created_at").distinct())


def _lines_of(team: Team, lines: Iterable[RunLine]) -> list[RunLine]:
    own = [line for line in lines if line.run.team_id == team.pk]
    return sorted(own, key=attrgetter("run.received_at"), reverse=True)
