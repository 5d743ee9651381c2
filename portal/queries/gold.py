"""The gold standard of each track and split, and its last upload."""

from collections import defaultdict
from dataclasses import dataclass

from django.utils.translation import gettext as _

from portal.models import GoldStandard, GoldUpload, SharedTask, Track
from scoring.formats import FORMATS


@dataclass(frozen=True, slots=True)
class GoldLine:
    """The gold of one track and split, without its content."""

    track: Track
    split: str
    newest: GoldStandard | None
    upload: GoldUpload | None
    former: list[GoldStandard]  # earlier versions, newest first

    @property
    def key(self) -> str:
        return f"{self.track.slug} {self.split}"

    @property
    def others(self) -> str:
        """How items without gold are treated. Empty if all items have gold, or if this is not known."""
        if self.newest is None or self.newest.counts is None or len({*self.newest.counts}) == 1:
            return ""
        rules = self.track.definition
        if FORMATS[rules.format.kind].leaves_out_empty:
            return _("the other items are empty")
        if rules.items_outside_gold == "count":
            return _("answers to the other items reduce precision")
        return _("the other items are not scored")


def gold_lines(shared_task: SharedTask) -> list[GoldLine]:
    """Return an entry for each track and split that has items, in the task's order."""
    versions: dict[tuple[int, str], list[GoldStandard]] = defaultdict(list)
    for gold in GoldStandard.objects.filter(track__shared_task=shared_task).order_by("-version"):
        versions[gold.track_id, gold.split].append(gold)
    sent = GoldUpload.objects.filter(track__shared_task=shared_task).select_related("gold", "sent_by").defer("preview")
    uploads = {(upload.track_id, upload.split): upload for upload in sent.order_by("received_at")}
    return [
        GoldLine(
            track=track,
            split=split,
            newest=next(iter(versions[track.pk, split]), None),
            upload=uploads.get((track.pk, split)),
            former=versions[track.pk, split][1:],
        )
        for track in shared_task.tracks.select_related("shared_task")
        for split in track.definition.items
    ]
