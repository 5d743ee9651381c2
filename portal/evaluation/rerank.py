"""Recompute ranking keys when a track's ranking metric changes. Released boards are not affected."""

from django.db.models import Exists, OuterRef, QuerySet

from portal.evaluation.rescore import ask_again
from portal.models import Board, Evaluation, GoldStandard, Run, Track

_BATCH = 500


def rerank(track: Track) -> int:
    """Update the ranking keys of the track's evaluations, in the transaction that changed the rules.

    Return the number of runs that will be scored again. The boards change immediately. Runs that were scored without
    the new metric are scored again and shown as waiting, like new runs. Evaluations with earlier gold or an earlier
    scorer are kept. If they lack the metric, they have no ranking key.
    """
    unmeasured = _unmeasured(track)
    again = ask_again(Run.objects.filter(Exists(unmeasured.filter(run=OuterRef("pk"))), track=track))
    # Deleted only now, because the query above finds the runs by these rows.
    unmeasured.delete()
    evaluations = list(Evaluation.objects.filter(run__track=track).defer("details", "flags"))
    for evaluation in evaluations:
        evaluation.rank_key = track.rank_key(evaluation.scores)
    Evaluation.objects.bulk_update(evaluations, ["rank_key"], batch_size=_BATCH)
    Board.objects.filter(track=track).changed()
    return again


def _unmeasured(track: Track) -> QuerySet[Evaluation]:
    """Return the evaluations with the current gold and scorer that lack the metric."""
    splits = track.gold_standards.values_list("split", flat=True).distinct()
    newest = [GoldStandard.objects.newest(track, split) for split in splits]
    current = Evaluation.objects.filter(gold__in=newest, scorer=track.shared_task.scorer)
    return current.exclude(scores__has_key=track.definition.rank_by)
