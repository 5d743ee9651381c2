"""A baseline that marks every text that was an entity in the training data."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from scoring.answers import Entities
from scoring.baselines.material import Material
from scoring.formats import in_tokens
from scoring.items.texts import tokens_of

Found = tuple[str, int, int]  # type, begin and end


def most_frequent_types(train: Entities) -> dict[str, str]:
    """Map the text of each training entity to its most frequent type. If there is a tie, use the type seen first."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row, item in enumerate(train.ids):
        text = (train.texts or {})[item]
        parts: Sequence[str] = text if train.lengths is None else tokens_of(text)
        for kind, begin, end in train.of_item(row):
            form = parts[begin:end]
            counts[form if isinstance(form, str) else " ".join(form)][kind] += 1
    return {form: max(kinds, key=kinds.__getitem__) for form, kinds in counts.items()}


def found_again(material: Material, known: Mapping[str, str]) -> Entities:
    """Find the known texts in the material's items, preferring the longest. Matches do not overlap."""
    types, texts = tuple(material.track.format.options["classes"]), material.texts_of(material.ids)
    has_tokens = in_tokens(material.track)
    rows = list(map(list, (_in_tokens if has_tokens else _in_characters)(texts, known)))
    flat = [entity for row in rows for entity in row]
    return Entities(
        ids=list(material.ids),
        types=types,
        kinds=np.array([types.index(kind) for kind, _, _ in flat], np.intp),
        begins=np.array([begin for _, begin, _ in flat], np.int64),
        ends=np.array([end for _, _, end in flat], np.int64),
        starts=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        lengths=np.array([len(tokens_of(text)) for text in texts], np.int64) if has_tokens else None,
        texts=dict(zip(material.ids, texts, strict=True)),
    )


def _in_tokens(texts: Sequence[str], known: Mapping[str, str]) -> Iterator[Iterator[Found]]:
    longest = max((form.count(" ") + 1 for form in known), default=0)
    for text in texts:
        yield _of_sentence(tokens_of(text), known, longest)


def _of_sentence(tokens: Sequence[str], known: Mapping[str, str], longest: int) -> Iterator[Found]:
    at = 0
    while at < len(tokens):
        ends = range(min(at + longest, len(tokens)), at, -1)
        end = next((end for end in ends if " ".join(tokens[at:end]) in known), None)
        if end is not None:
            yield known[" ".join(tokens[at:end])], at, end
        at = at + 1 if end is None else end


def _in_characters(texts: Sequence[str], known: Mapping[str, str]) -> Iterator[Iterator[Found]]:
    forms = "|".join(map(re.escape, sorted(filter(None, known), key=lambda form: (-len(form), form))))
    pattern = re.compile(rf"(?<!\w)(?:{forms})(?!\w)" if forms else r"(?!)")
    for text in texts:
        yield ((known[match[0]], *match.span()) for match in pattern.finditer(text))
