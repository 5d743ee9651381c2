"""Extra runs that organizers grant to one team in a phase, for example after an error on their side."""

from django.conf import settings
from django.db import models

from portal.models.phase import Phase
from portal.models.team import Team


class ExtraRuns(models.Model):
    """Runs in each track that a team can upload in addition to the phase's limit. They also count for its uploaders."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    runs = models.PositiveSmallIntegerField()
    reason = models.CharField(max_length=300)
    granted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    granted_at = models.DateTimeField()

    class Meta:
        ordering = ("-granted_at",)
        constraints = [models.UniqueConstraint(fields=("phase", "team"), name="one_extra_runs_a_team")]

    def __str__(self) -> str:
        return f"{self.runs} extra runs of {self.team} in {self.phase}"
