"""Checks that a machine has everything that a lane needs. Workers run these checks before they accept messages."""

from collections.abc import Iterator

from django.db import DatabaseError

from portal.evaluation.lanes import Lane
from portal.models import GoldStandard, SharedTask
from portal.models.schema import schema_problems
from portal.models.task import definition_name
from portal.objects.interface import data_objects, gold_objects
from portal.sealing import has_private_key, is_another_pair
from portal.storage import can_open_this_gold

PROBED = 20  # how many of the newest files to look for; any one of them proves that this is the portal's storage


def missing_for(lane: Lane) -> list[str]:
    """List what the machine lacks, as sentences that explain the fix. Empty if a worker can start."""
    try:
        return schema_problems() or [*_storage(), *(() if lane == Lane.MAIL else _key())]
    except DatabaseError as error:
        return [f"The database does not respond ({type(error).__name__}). Check DATABASE_URL."]


def _storage() -> Iterator[str]:
    """Check the storage. If only some definitions are missing, a worker can start: the other tasks still work."""
    try:
        data_objects().probe()
        names = map(definition_name, _newest(SharedTask, "definition_sha256"))
        is_there = [data_objects().has_folder(name) for name in names]
    except OSError as error:
        yield f"Data can't be stored ({error.strerror or type(error).__name__}). Check AGON_STATE or AGON_S3_…"
        return
    if is_there and not any(is_there):
        yield "No shared task definition was found. Check AGON_STATE or AGON_S3_BUCKET."


def _key() -> Iterator[str]:
    if not has_private_key():
        yield "The gold key is missing. Set AGON_GOLD_PRIVATE_KEY_FILE."
        return
    if is_another_pair():
        yield (
            "AGON_GOLD_PUBLIC_KEY_FILE does not belong to AGON_GOLD_PRIVATE_KEY_FILE, so workers could not open new "
            "gold. Use both files of one pair, then restart web and workers."
        )
    newest = _newest(GoldStandard, "sealed_sha256")
    try:
        there = [sealed for sealed in newest if gold_objects().has(sealed)]
        if newest and not there:
            yield ("No gold standard was found. Check AGON_STATE or AGON_S3_GOLD_BUCKET.")
        elif there and not any(map(can_open_this_gold, there)):
            yield (
                "The gold key can't open any gold standard. AGON_GOLD_PRIVATE_KEY_FILE contains another portal’s key."
            )
    except OSError as error:
        yield f"Gold can't be read ({error.strerror or type(error).__name__}). Check AGON_S3_GOLD_…"


def _newest(table: type[SharedTask | GoldStandard], field: str) -> list[str]:
    return list(table.objects.order_by("-pk").values_list(field, flat=True)[:PROBED])
