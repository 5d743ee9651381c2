"""Keys that rank a track's runs, made anew when its rules have another ranking metric; released boards stay."""

from django.db.models import Exists, OuterRef, QuerySet

from portal.evaluation.rescore import ask_again
from portal.models import Board, Evaluation, GoldStandard, Run, Track

_BATCH = 500


def rerank(track: Track) -> int:
    """Bring the track's evaluations in line with its ranking metric, in the transaction that changed the rules.

    The boards change at one stroke. What was scored without that metric is scored again, and waits on the boards like
    a new run; returns how many runs do. What an earlier gold standard or scorer gave stays, as undefined.
    """
    unmeasured = _unmeasured(track)
    again = ask_again(Run.objects.filter(Exists(unmeasured.filter(run=OuterRef("pk"))), track=track))
    unmeasured.delete()
    evaluations = list(Evaluation.objects.filter(run__track=track).defer("details", "flags"))
    for one in evaluations:
        one.rank_key = track.rank_key(one.scores)
    Evaluation.objects.bulk_update(evaluations, ["rank_key"], batch_size=_BATCH)
    Board.objects.filter(track=track).changed()
    return again


def _unmeasured(track: Track) -> QuerySet[Evaluation]:
    """Evaluations by the gold standards and the scorer of now that lack the metric."""
    splits = track.gold_standards.values_list("split", flat=True).distinct()
    newest = [GoldStandard.objects.newest(track, split) for split in splits]
    current = Evaluation.objects.filter(gold__in=newest, scorer=track.shared_task.scorer)
    return current.exclude(scores__has_key=track.definition.rank_by)
