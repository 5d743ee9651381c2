"""Synthetic emerging entities: invented names in neutral sentences in three languages.

The datasets are as large as those of WNUT 2017.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scoring import load_definition
from scoring.answers import Entities
from scoring.baselines.known_entities import found_again, most_frequent_types
from scoring.baselines.material import Material
from scoring.formats import read_gold, write_run
from scoring.reports.problems import Report

from ..synthetic import neutral_texts, shuffled, write_lines, write_table

_LANGUAGES = ("en", "es", "pt")
_TYPES = ("person", "location", "corporation", "product", "creative-work", "group")

# split → number of sentences, and number of entities of each type in _TYPES
_SETS = {
    "train": (3394, (660, 548, 221, 142, 140, 264)),
    "dev": (1009, (470, 74, 34, 114, 104, 39)),
    "test": (1287, (429, 150, 66, 127, 142, 165)),
}
_AGAIN = 0.2  # share of entities whose names also occur in the training set
_SYLLABLES = ("ba", "dri", "fol", "gu", "ken", "lo", "mi", "nar", "pe", "quo", "ras", "tul", "vi", "zem")
_PATTERNS = {
    "person": ("{}", "{} {}", "{} {}"),
    "location": ("{}", "Port {}", "Mount {} {}"),
    "corporation": ("{}", "{} Ltd", "{} & {}"),
    "product": ("{} 7", "{} Mini", "{}"),
    "creative-work": ("{} of {}", "The {} Song", "{}"),
    "group": ("{} United", "The {}", "{} and the {}"),
}


def generate(folder: Path, seed: int = 2017) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    track = load_definition(Path(__file__).parent).track("entities")
    known: dict[str, list[str]] = {}
    forms: dict[str, str] = {}  # name in the training set → its most frequent type
    for place, (split, (size, counts)) in enumerate(_SETS.items()):
        rng = np.random.default_rng([seed, place])
        names = {
            kind: [
                str(rng.choice(known[kind])) if known and rng.random() < _AGAIN else _name(rng, kind)
                for _ in range(count)
            ]
            for kind, count in zip(_TYPES, counts, strict=True)
        }
        known = known or names
        languages, sentences = _sentences(rng, size, names)
        ids, texts = [str(number) for number in range(1, size + 1)], [" ".join(words) for words, _ in sentences]
        write_lines(folder / f"data/{split}/sentences.txt", ids)
        write_table(folder / f"data/{split}/sentences.tsv", [ids, languages, texts], ("id", "lang", "text"), "\t")
        gold = folder / ("data/train/tags.conll" if split == "train" else f"gold/{split}.conll")
        write_lines(gold, _lines(sentences))
        if split == "train":
            train = read_gold(track, gold.read_bytes(), track.format, Report())
            assert isinstance(train, Entities), "tags were written"
            forms = most_frequent_types(train)
            continue
        material = Material(track, ids, texts=dict(zip(ids, texts, strict=True)))
        write_run(track, found_again(material, {}), folder / f"baselines/{split}/nothing.conll")
        write_run(track, found_again(material, forms), folder / f"baselines/{split}/known-entities.conll")


def _sentences(
    rng: np.random.Generator, size: int, names: dict[str, list[str]]
) -> tuple[list[str], list[tuple[list[str], list[str]]]]:
    """Return the language of each sentence, and the sentences as tokens with tags. Each name occurs in one sentence."""
    languages = np.array(_LANGUAGES)[np.arange(size) % len(_LANGUAGES)].tolist()
    neutral = {language: iter(neutral_texts(rng, language, size)) for language in _LANGUAGES}
    sentences = [(next(neutral[language]).removesuffix(".").split(), list[str]()) for language in languages]
    for words, tags in sentences:
        tags.extend(["O"] * len(words))
    flat = [(name, kind) for kind, own in names.items() for name in own]
    for at in shuffled(rng, [1] * len(flat)).tolist():
        name, kind = flat[at]
        words, tags = sentences[int(rng.integers(size))]
        places = [place for place in range(len(words) + 1) if tags[place : place + 1] in ([], ["O"])]
        tokens, place = name.split(), places[int(rng.integers(len(places)))]
        words[place:place] = tokens
        tags[place:place] = [f"B-{kind}", *[f"I-{kind}"] * (len(tokens) - 1)]
    for words, tags in sentences:
        words.append(".")
        tags.append("O")
    return languages, sentences


def _name(rng: np.random.Generator, kind: str) -> str:
    pattern = str(rng.choice(_PATTERNS[kind]))
    return pattern.format(*("".join(rng.choice(_SYLLABLES, rng.integers(2, 4))).capitalize() for _ in range(2)))


def _lines(sentences: Sequence[tuple[list[str], list[str]]]) -> list[str]:
    """Return a line for each token with its tag, and an empty line after each sentence."""
    lines = []
    for words, tags in sentences:
        lines += [*(f"{word}\t{tag}" for word, tag in zip(words, tags, strict=True)), ""]
    return lines
