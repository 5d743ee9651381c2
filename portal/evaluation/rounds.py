"""Phases that repeat in rounds: when a deadline passes, the deadline of the next round is set."""

from datetime import datetime

from portal.models import AuditEntry, Phase


def start_rounds(at: datetime) -> None:
    """Set the deadline of the current round in each phase whose round has ended.

    Nothing else depends on it: these phases remain open, and their limits follow `Phase.round_end`. If the deadline is
    changed at the same time, that change is kept.
    """
    for phase in Phase.objects.filter(round_days__isnull=False, closes__lte=at).select_related("shared_task"):
        before, after = phase.closes, phase.round_end(at)
        assert before is not None
        assert after is not None
        if Phase.objects.filter(pk=phase.pk, closes=before, round_days=phase.round_days).update(closes=after):
            details = {"before": before.isoformat(), "closes": after.isoformat()}
            AuditEntry.objects.record(None, AuditEntry.Event.START_ROUND, phase, at, **details)
