"""Synthetic data-to-text: triples and sentences about invented places.

The datasets are as large as the English ones of WebNLG 2020.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..synthetic import write_lines, write_table

_SIZES = {"test": 1779, "dev": 1667}
_SUBJECTS = {
    "seen": ("the library", "the bakery", "the station", "the market", "the museum"),
    "unseen": ("the harbour", "the lighthouse", "the theatre"),
}

# predicate → values, and three phrasings
_FACTS: dict[str, tuple[tuple[str, ...], tuple[str, str, str]]] = {
    "openingYear": (("1901", "1954", "1987", "2003"), ("opened in {}", "has been open since {}", "dates from {}")),
    "street": (("Mill Lane", "River Road", "Bridge Street"), ("is on {}", "can be found on {}", "has its door on {}")),
    "color": (("blue", "green", "white", "yellow"), ("is {}", "has {} walls", "was painted {}")),
    "architect": (("Ada Stone", "Bo Woods", "Cy Hill"), ("was designed by {}", "was drawn by {}", "is a work of {}")),
    "floors": (("two", "three", "four"), ("has {} floors", "is {} floors high", "rises to {} floors")),
}


def generate(folder: Path, seed: int = 2020) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    for place, (split, size) in enumerate(_SIZES.items()):
        rng = np.random.default_rng([seed, place])
        items = [_item(rng) for _ in range(size)]
        ids = [str(number) for number in range(1, size + 1)]
        kinds, triples, references, naive = (list(column) for column in zip(*items, strict=True))
        write_lines(folder / f"data/{split}/en.txt", ids)
        write_table(folder / f"data/{split}/en.tsv", [ids, kinds, triples], ("id", "category", "triples"), "\t")
        write_lines(folder / f"gold/{split}/en.txt", ["\t".join(own) for own in references])
        write_lines(folder / f"baselines/{split}/en/triples.txt", naive)


def _item(rng: np.random.Generator) -> tuple[str, str, list[str], str]:
    """Return the category, the triples, up to three references, and the triples as one text."""
    kind = "seen" if rng.random() < 0.7 else "unseen"
    subject = str(rng.choice(_SUBJECTS[kind]))
    names = rng.permutation(list(_FACTS))[: rng.integers(1, 4)].tolist()
    facts = [(name, str(rng.choice(_FACTS[name][0]))) for name in names]
    ways = rng.permutation(3)[: rng.integers(1, 4)].tolist()
    triples = " && ".join(f"{subject} | {name} | {value}" for name, value in facts)
    naive = " ".join(f"{subject} {name} {value}." for name, value in facts)
    return kind, triples, [_sentence(subject, facts, way) for way in ways], naive


def _sentence(subject: str, facts: Sequence[tuple[str, str]], way: int) -> str:
    said = [_FACTS[name][1][way].format(value) for name, value in facts]
    joined = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    return f"{subject[0].upper()}{subject[1:]} {joined}."
