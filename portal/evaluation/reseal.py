"""Resealing gold after a key change. Only workers can do this, because only they have the private keys."""

from django.db import transaction

from portal.models import GoldStandard, GoldUpload
from portal.objects.interface import gold_objects
from portal.storage import reseal_gold


def reseal_all() -> int:
    """Reseal all files that are sealed for an older key with the newest key, and return their number."""
    names = {*GoldStandard.objects.values_list("sealed_sha256", flat=True)}
    names |= {*GoldUpload.objects.exclude(sealed_sha256="").values_list("sealed_sha256", flat=True)}
    return sum(_reseal(name) for name in sorted(names) if gold_objects().has(name))


def _reseal(name: str) -> bool:
    """Reseal one file.

    Rows are updated before the old file is deleted. A reader that still looks for the old file tries again.
    """
    renewed = reseal_gold(name)
    if renewed is None:
        return False
    with transaction.atomic():
        for model in (GoldStandard, GoldUpload):
            model.objects.filter(sealed_sha256=name).update(sealed_sha256=renewed)
    gold_objects().delete(name)
    return True
