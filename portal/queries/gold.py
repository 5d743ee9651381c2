"""Which gold standard each track and split has, and what became of the file that was sent last."""

from dataclasses import dataclass

from portal.models import GoldStandard, GoldUpload, SharedTask, Track


@dataclass(frozen=True, slots=True)
class GoldLine:
    """One track's gold for one split; nothing in it comes from the gold itself."""

    track: Track
    split: str
    newest: GoldStandard | None
    upload: GoldUpload | None

    @property
    def key(self) -> str:
        return f"{self.track.slug} {self.split}"


def gold_lines(shared_task: SharedTask) -> list[GoldLine]:
    """One entry a track and split that has items, in the task's order."""
    versions = GoldStandard.objects.filter(track__shared_task=shared_task).order_by("version")
    newest = {(gold.track_id, gold.split): gold for gold in versions}
    sent = GoldUpload.objects.filter(track__shared_task=shared_task).select_related("gold", "sent_by")
    uploads = {(upload.track_id, upload.split): upload for upload in sent.order_by("received_at")}
    return [
        GoldLine(track, split, newest.get((track.pk, split)), uploads.get((track.pk, split)))
        for track in shared_task.tracks.select_related("shared_task")
        for split in track.definition.items
    ]
