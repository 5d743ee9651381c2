"""Scores of runs: one evaluation for each gold and scorer version, and which evaluations a board shows."""

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
    """A queryset of evaluations. Pages, exports, feeds and emails read scores only through its `visible_…` methods.

    Only `visible_to` and `visible_in_steps` decide whether a score is shown.
    """

    def visible_to(self, viewer: Viewer, at: datetime) -> Self:
        """Select evaluations whose exact scores the viewer may see now."""
        return self.filter(phase__in=Phase.objects.with_visible_scores(viewer, at))

    def visible_in_steps(self, viewer: Viewer, at: datetime) -> Self:
        """Select evaluations that the viewer may see only in a ladder's steps (`portal.queries.boards.ladder`)."""
        return self.filter(phase__in=Phase.objects.with_visible_steps(viewer, at))

    def visible_at_all(self, viewer: Viewer, at: datetime) -> Self:
        """Select evaluations on boards that the viewer may see, exactly or in steps.

        Use this only for counting, not for reading scores.
        """
        return self.visible_to(viewer, at) | self.visible_in_steps(viewer, at)

    def on_board(self, phase: Phase, gold: GoldStandard, scorer: str, until: datetime | None = None) -> Self:
        """Select the evaluations made with this gold and scorer version, for runs on the board.

        A run is on the board if it was received by `until`, has not been withdrawn, and its team is not excluded from
        the board.
        """
        found = self._not_withdrawn(phase, gold, scorer, until)
        return found.filter(~Exists(Team.objects.shut_out(phase).filter(pk=OuterRef("team"))))

    def references(self, phase: Phase, gold: GoldStandard, scorer: str, until: datetime | None = None) -> Self:
        """Select the evaluations on the board that belong to no team: those of baselines and the gold standard."""
        return self._not_withdrawn(phase, gold, scorer, until).filter(team__isnull=True)

    def _not_withdrawn(self, phase: Phase, gold: GoldStandard, scorer: str, until: datetime | None) -> Self:
        """Select the evaluations of `on_board`, including those of excluded teams."""
        found = self.filter(gold=gold, scorer=scorer, phase=phase, run__withdrawn_at__isnull=True)
        return found if until is None else found.filter(run__received_at__lte=until)

    def official(self, phase: Phase, gold: GoldStandard, scorer: str, until: datetime | None = None) -> Self:
        """Select the evaluations of each team's official run. The query needs only a few index lookups per team."""
        if phase.official == Phase.Official.ALL:
            return self.on_board(phase, gold, scorer, until).filter(team__isnull=False)
        # Which run is official may depend on scores that the viewer must not see, so all scores are compared here. Only
        # the result is restricted to `self`.
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
    """The scores of one run with one gold and one scorer version. Rows are written once and never changed.

    `phase` and `team` are copied from the run, and `rank_key` is derived from the scores, because the indexes for
    boards need them.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="evaluations")
    gold = models.ForeignKey(GoldStandard, on_delete=models.PROTECT, related_name="evaluations")
    scorer = models.CharField(max_length=32)  # scoring.__version__
    scores = models.JSONField()  # metric key → value, or null where the metric is undefined
    flags = models.JSONField(default=list)  # notes on the scores for readers, such as "constant"
    # Results by class, confusion matrix and curves, from `scoring.analysis.details`.
    details = models.JSONField(default=dict)
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
        return f"{self.run} scored with {self.gold}, scorer {self.scorer}"
