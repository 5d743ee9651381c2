"""Scores of runs: one evaluation for each gold and scorer version, and which of them appear on a board."""

from datetime import datetime
from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import Exists, F, OuterRef

from portal.models.account import Viewer
from portal.models.gold import GoldStandard
from portal.models.official import official_id
from portal.models.phase import Phase
from portal.models.run import Run
from portal.models.team import Team


class EvaluationQuerySet(models.QuerySet["Evaluation"]):
    """Pages, exports, feeds and mails read scores through `visible_to` and `visible_in_steps` alone.

    Nothing else decides whether a score is shown: callers ask no second rule.
    """

    def visible_to(self, viewer: Viewer, at: datetime) -> Self:
        """Evaluations whose scores that viewer may see as they are at that moment."""
        return self.filter(phase__in=Phase.objects.with_visible_scores(viewer, at))

    def visible_in_steps(self, viewer: Viewer, at: datetime) -> Self:
        """Evaluations of which that viewer may see at most a step of a ladder; see `portal.queries.ladder`."""
        return self.filter(phase__in=Phase.objects.with_visible_steps(viewer, at))

    def visible_at_all(self, viewer: Viewer, at: datetime) -> Self:
        """Evaluations that count on a board which that viewer sees, exact or in steps; to count them, not to read."""
        return self.visible_to(viewer, at) | self.visible_in_steps(viewer, at)

    def on_board(self, phase: Phase, gold: GoldStandard, scorer: str, until: datetime | None = None) -> Self:
        """Those of one gold and one scorer version whose runs were received by then and are not withdrawn.

        Without those of teams that are shut out.
        """
        found = self._not_withdrawn(phase, gold, scorer, until)
        return found.filter(~Exists(Team.objects.shut_out(phase).filter(pk=OuterRef("team"))))

    def _not_withdrawn(self, phase: Phase, gold: GoldStandard, scorer: str, until: datetime | None) -> Self:
        """As `on_board`, of whatever teams."""
        found = self.filter(gold=gold, scorer=scorer, phase=phase, run__withdrawn_at__isnull=True)
        return found if until is None else found.filter(run__received_at__lte=until)

    def official(self, phase: Phase, gold: GoldStandard, scorer: str, until: datetime | None = None) -> Self:
        """Of these, each team's official run: a few steps down an index a team, however many runs it has uploaded."""
        if phase.official == Phase.Official.ALL:
            return self.on_board(phase, gold, scorer, until).filter(team__isnull=False)
        # Which run it is may follow from scores that the viewer must not see: what is returned is filtered, not this.
        here = Evaluation.objects.all()._not_withdrawn(phase, gold, scorer, until)
        if phase.official == Phase.Official.BEST:
            mine = here.filter(team=OuterRef("pk")).annotate(received_at=F("run__received_at"))
            official = official_id(phase.official, mine, "run", until)
        else:
            scored = Exists(here.filter(run=OuterRef("pk")))
            runs = Run.objects.filter(scored, team=OuterRef("pk"), phase=phase, track=gold.track_id)
            official = official_id(phase.official, runs, "pk", until)
        teams = Team.objects.filter(shared_task=phase.shared_task_id).exclude(pk__in=Team.objects.shut_out(phase))
        found = teams.order_by().annotate(official=official).values_list("official", flat=True)
        keys: list[UUID] = [run for run in found if run]
        return self.filter(gold=gold, scorer=scorer, run__in=keys)


class Evaluation(models.Model):
    """The scores of one run against one gold version by one scorer version: written once, never changed.

    `phase` and `team` are the run's, and `rank_key` follows from the scores: together they are the index of the boards.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="evaluations")
    gold = models.ForeignKey(GoldStandard, on_delete=models.PROTECT, related_name="evaluations")
    scorer = models.CharField(max_length=32)  # scoring.__version__
    scores = models.JSONField()  # metric key → value, or null where the metric is undefined
    flags = models.JSONField(default=list)  # what a reader must know, e.g. "constant"
    details = models.JSONField(default=dict)  # by class, confusion, curves: as `scoring.analysis.details` has them
    created_at = models.DateTimeField()
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    rank_key = models.FloatField(null=True)  # see Track.rank_key

    objects = EvaluationQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("run", "gold", "scorer"), name="evaluated_once")]
        indexes = [
            models.Index(fields=("gold", "scorer", "phase", "team", "rank_key"), name="evaluation_best"),
            models.Index(fields=("gold", "scorer", "phase", "rank_key"), name="evaluation_rank"),
        ]

    def __str__(self) -> str:
        return f"{self.run} by {self.gold}, scorer {self.scorer}"
