"""Computing ranking keys again when a track's ranking metric changes. Released boards are not affected."""

from django.db.models import Exists, OuterRef, QuerySet

from portal.evaluation.rescore import ask_again
from portal.models import Board, Evaluation, GoldStandard, Run, Track

_BATCH = 500


def rerank(track: Track) -> int:
    """Update the track's evaluations to its ranking metric, in the transaction that changed the rules.

    The boards change immediately. Runs that were scored without that metric are scored again and wait on the boards
    like new runs. Their number is returned. Evaluations by earlier gold or scorers remain, with undefined scores.
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
    """Return the evaluations by the current gold and scorer that lack the metric."""
    splits = track.gold_standards.values_list("split", flat=True).distinct()
    newest = [GoldStandard.objects.newest(track, split) for split in splits]
    current = Evaluation.objects.filter(gold__in=newest, scorer=track.shared_task.scorer)
    return current.exclude(scores__has_key=track.definition.rank_by)
