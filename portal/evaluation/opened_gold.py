"""A cache of decrypted gold standards in the worker's memory, pickled for the children that score.

Thanks to the cache, gold is not decrypted and parsed again for every run. All cached gold has been checked in a
confined child.
"""

import pickle
from collections import OrderedDict

from portal.evaluation.errors import HostError, description
from portal.evaluation.limits import GOLD_BYTES_KEPT
from portal.models import GoldStandard, GoldUpload
from portal.sealing import unseal
from portal.storage import sealed_gold
from scoring import Definition
from scoring.analysis.details import details
from scoring.metrics import LoadedGold
from scoring.score import accepted_gold, score_gold

_kept: OrderedDict[tuple[str, str], bytes] = OrderedDict()  # least recently used first


def opened_gold(gold: GoldStandard | GoldUpload, definition: Definition, definition_sha256: str) -> bytes:
    """Return a pickled `LoadedGold`, which is created once per gold standard and definition.

    Raises:
        OSError: the gold cannot be read or decrypted. The message says where, without quoting the gold.
    """
    key = gold.sealed_sha256, definition_sha256
    if key not in _kept:
        sealed = sealed_gold(gold.sealed_sha256)
        try:
            opened = _open(sealed, definition, gold.track.slug, gold.split)
            _kept[key] = pickle.dumps(opened, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise HostError(description(error)) from None
    _kept.move_to_end(key)
    # The gold that was just requested stays, even if it alone exceeds the limit.
    while len(_kept) > 1 and sum(map(len, _kept.values())) > GOLD_BYTES_KEPT:
        _kept.popitem(last=False)
    return _kept[key]


def _open(sealed: bytes, definition: Definition, track: str, split: str) -> LoadedGold:
    """Decrypt and load the gold. Scoring it against itself computes everything derived from it in advance."""
    opened = accepted_gold(definition, track, unseal(sealed), split)
    if comparison := score_gold(definition, track, opened, split).comparison:
        details(comparison, definition.track(track, split).metrics)
    return opened
