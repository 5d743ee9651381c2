"""All leaderboards with public scores, for readers who look for results."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Page, Paginator
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from portal.models import Board, Evaluation, Phase, Team
from portal.models.task import definition_of
from scoring.metrics import describe

PAGE_SIZE = 50
MOST_METRICS = 200  # boards whose metrics are searched, because each may require reading a definition
MOST_WORDS = 4
_ORDER = ("-track__shared_task__year", "track__shared_task__title", "-phase__position", "track__position")


@dataclass(frozen=True, slots=True)
class ResultLine:
    """A leaderboard that everyone can see, and the title of the metric that ranks it."""

    board: Board

    @property
    def metric(self) -> str:
        return _metric_of(self.board)[0]

    @property
    def languages(self) -> list[str]:
        return list(self.board.track.shared_task.languages)


@dataclass(frozen=True, slots=True)
class Results:
    """A page of the leaderboards, newest first, and the languages of all of them."""

    page: Page[ResultLine]
    languages: list[str]


def results(at: datetime, words: str = "", language: str = "", page: str = "1") -> Results:
    """Return the public leaderboards that match the words and the language. The number of queries is constant.

    Each word is part of a task's or track's name, of the name of a team on the board, or, among the newest boards, of
    the ranking metric.
    """
    boards = public_boards(at)
    related = boards.select_related("track__shared_task", "phase").defer("comparison")
    lines = [ResultLine(board) for board in related.order_by(F("phase__released").desc(nulls_last=True), *_ORDER)]
    languages = sorted({code for line in lines for code in line.languages})
    if language:
        lines = [line for line in lines if language in line.languages]
    for word in words.casefold().split()[:MOST_WORDS]:
        with_team = set(_with_team(boards, word, at).values_list("pk", flat=True))
        by_metric = _with_metric(lines[:MOST_METRICS], word)
        lines = [line for line in lines if word in _text(line) or line.board.pk in with_team | by_metric]
    return Results(Paginator(lines, PAGE_SIZE).get_page(page), languages)


def public_boards(at: datetime) -> QuerySet[Board]:
    """Return the leaderboards that show exact scores to everyone and have a run by a team."""
    by_team = Evaluation.objects.visible_to(AnonymousUser(), at).filter(
        phase=OuterRef("phase"), gold=OuterRef("gold"), scorer=OuterRef("scorer"), team__isnull=False
    )
    phases = Phase.objects.with_visible_scores(AnonymousUser(), at)
    return Board.objects.filter(Exists(by_team), phase__in=phases, gold__isnull=False)


def _with_team(boards: QuerySet[Board], word: str, at: datetime) -> QuerySet[Board]:
    """Select boards that name a team with this word. Teams that no longer take part are never found."""
    named = Q(phase__team_names=Phase.TeamNames.SHOWN) | Q(phase__released__lte=at)
    teams = Team.objects.filter(name__icontains=word, state=Team.State.APPROVED, reason="", withdrawn_at__isnull=True)
    here = {"phase": OuterRef("phase"), "gold": OuterRef("gold"), "scorer": OuterRef("scorer")}
    rows = Evaluation.objects.visible_to(AnonymousUser(), at).filter(
        **here, team__in=teams, run__withdrawn_at__isnull=True
    )
    return boards.filter(named, Exists(rows))


def _with_metric(lines: Sequence[ResultLine], word: str) -> set[int]:
    return {line.board.pk for line in lines if word in " ".join(_metric_of(line.board)).casefold()}


def _metric_of(board: Board) -> tuple[str, str, str]:
    """Return the ranking metric's title, short name and key."""
    task = board.track.shared_task
    return _metric(task.definition_sha256, board.track.slug)


@lru_cache(maxsize=2000)
def _metric(definition_sha256: str, track: str) -> tuple[str, str, str]:
    rules = definition_of(definition_sha256).track(track)
    info = describe(next(spec for spec in rules.metrics if spec.key == rules.rank_by), rules.slices)
    return info.title, info.short, info.key


def _text(line: ResultLine) -> str:
    track, task = line.board.track, line.board.track.shared_task
    return " ".join(
        (task.title, task.subtitle, task.venue, task.slug, str(task.year), track.title, track.slug)
    ).casefold()
