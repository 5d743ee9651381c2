"""Agreement between annotators who marked characters. The characters of each text are the items."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from scoring.gold.agreement import AnnotatorAgreement

NAME = "characters"


def span_agreement(marked: Mapping[str, Sequence[Sequence[int]]], lengths: Mapping[str, int]) -> AnnotatorAgreement:
    """Return the mean pairwise agreement and mean Cohen's kappa of each text's annotators, averaged over the texts.

    Each character is either marked or not. The kappa of two annotators is undefined if both marked nothing or both
    marked everything. Such pairs are left out of the mean kappa, and so are texts that have no other pairs. `items` is
    the number of texts with two or more annotators.

    Args:
        marked: item id → the offsets marked by each annotator.
        lengths: item id → number of characters.

    Raises:
        ValueError: an item has no text, or an offset is outside it.

    Source: Cohen (1960), eq. 1; averaged as described on the page of SemEval-2021 Task 5 (Toxic Spans).
    """
    shares: list[float] = []
    kappas: list[float] = []
    for item, raters in marked.items():
        sets = [frozenset(offsets) for offsets in raters]
        pairs = [_pair(own, other, _length(item, sets, lengths)) for own, other in combinations(sets, 2)]
        defined = [kappa for _share, kappa in pairs if kappa is not None]
        if pairs:
            shares.append(float(np.mean([share for share, _kappa in pairs])))
        if defined:
            kappas.append(float(np.mean(defined)))
    return AnnotatorAgreement(
        name=NAME,
        items=len(shares),
        pairwise=float(np.mean(shares)) if shares else None,
        fleiss=None,
        cohen=float(np.mean(kappas)) if kappas else None,
        alpha=None,
    )


def _length(item: str, sets: Sequence[frozenset[int]], lengths: Mapping[str, int]) -> int:
    if item not in lengths:
        raise ValueError(f"item {item}: there is no text")
    last = max((offset for offsets in sets for offset in offsets), default=-1)
    if last >= lengths[item]:
        raise ValueError(f"item {item}: the offset {last} is outside the text of {lengths[item]} characters")
    return lengths[item]


def _pair(own: frozenset[int], other: frozenset[int], length: int) -> tuple[float, float | None]:
    """Return the share of characters on which the two annotators agree, and Cohen's kappa."""
    if not length:
        return 1.0, None
    observed = 1 - len(own ^ other) / length
    chance = (len(own) * len(other) + (length - len(own)) * (length - len(other))) / length**2
    return observed, (observed - chance) / (1 - chance) if chance < 1 else None
