"""Synthetic EXIST 2024: six simulated annotators label tweets and memes, and their votes determine the gold standards.

The datasets are the same size as in the real campaign. Annotators follow an item's tendency only part of the time.
Therefore, as in the real data, more than a tenth of the items have no majority and are not in the hard gold standard of
tasks 1 and 4.

Each text ends with a color in parentheses that often matches the votes, so that there is something to learn.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring import Definition, load_definition
from scoring.baselines.trivial import majority, minority
from scoring.formats import write_run
from scoring.gold.from_votes import hard_gold, soft_gold
from scoring.gold.votes import Vote, VoteRules

from ..synthetic import neutral_texts, shuffled, write_lines, write_table, write_zip

_ANNOTATORS = 6
_TYPES = (
    "IDEOLOGICAL-INEQUALITY",
    "STEREOTYPING-DOMINANCE",
    "OBJECTIFICATION",
    "SEXUAL-VIOLENCE",
    "MISOGYNY-NON-SEXUAL-VIOLENCE",
)
_TYPE_SHARES = (0.36, 0.46, 0.30, 0.15, 0.24)  # share of each type among sexist items, which may have several
_FAITHFUL = 0.65  # probability that an annotator follows the item's tendency
# The more votes for YES, the more likely the second color.
_MARKS = {"en": ("green", "blue"), "es": ("verde", "azul")}
_STRAY = 0.08  # probability that an annotator sees a type that does not match the item's tendency

# A label is in the hard gold if more annotators than this chose it (for identification, intention and types).
_THRESHOLDS = (3, 2, 1)

Votes = list[list[Vote]]  # the annotators' votes on each item


@dataclass(frozen=True)
class _Set:
    """One medium in one split.

    It has the ids by language, the number of items with each number of YES votes (0 to 6), and the shares of
    intentions. `name` is the value of the attribute `split`. A training set is published with its labels and is not
    scored.
    """

    medium: str
    split: str
    tasks: tuple[int, int, int]
    ids: dict[str, range]
    yes_votes: tuple[int, ...]
    intentions: dict[str, float]
    name: str
    is_training: bool = False


_TWEET_INTENTIONS = {"DIRECT": 0.56, "REPORTED": 0.20, "JUDGEMENTAL": 0.24}
_MEME_INTENTIONS = {"DIRECT": 0.62, "JUDGEMENTAL": 0.38}
_SETS = (
    _Set(
        medium="tweets",
        split="test",
        tasks=(1, 2, 3),
        ids={"es": range(500001, 501099), "en": range(600001, 600979)},
        yes_votes=(430, 310, 241, 268, 240, 257, 330),
        intentions=_TWEET_INTENTIONS,
        name="TEST",
    ),
    _Set(
        medium="tweets",
        split="dev",
        tasks=(1, 2, 3),
        ids={"es": range(300001, 300550), "en": range(400001, 400490)},
        yes_votes=(215, 155, 121, 134, 120, 128, 165),
        intentions=_TWEET_INTENTIONS,
        name="DEV",
    ),
    _Set(
        medium="memes",
        split="test",
        tasks=(4, 5, 6),
        ids={"es": range(310001, 310541), "en": range(410001, 410514)},
        yes_votes=(150, 130, 121, 107, 155, 170, 220),
        intentions=_MEME_INTENTIONS,
        name="TEST-MEME",
    ),
    _Set(
        medium="tweets",
        split="train",
        tasks=(1, 2, 3),
        ids={"es": range(100001, 103661), "en": range(200001, 203261)},
        yes_votes=(1433, 1033, 804, 893, 800, 857, 1100),
        intentions=_TWEET_INTENTIONS,
        name="TRAIN",
        is_training=True,
    ),
    _Set(
        medium="memes",
        split="train",
        tasks=(4, 5, 6),
        ids={"es": range(110001, 112035), "en": range(210001, 212011)},
        yes_votes=(576, 499, 465, 411, 595, 653, 845),
        intentions=_MEME_INTENTIONS,
        name="TRAIN-MEME",
        is_training=True,
    ),
)
# Each item has one annotator for each combination of gender and age group.
_GENDERS = ("F", "F", "F", "M", "M", "M")
_AGES = ("18-22", "23-45", "46+") * 2
_ETHNICITIES = (
    "Black or African America",
    "Hispano or Latino",
    "White or Caucasian",
    "Multiracial",
    "Asian",
    "Asian Indian",
    "Middle Eastern",
)
_STUDY_LEVELS = (
    "Less than high school diploma",
    "High school degree or equivalent",
    "Bachelor's degree",
    "Master's degree",
    "Doctorate",
)
_COUNTRIES = ("Argentina", "Chile", "Italy", "Mexico", "Portugal", "South Africa", "Spain", "United Kingdom")
_COLORS = 64
_PEOPLE = 720  # number of annotators in each set


def generate(folder: Path, seed: int = 2024) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    definition = load_definition(Path(__file__).parent)
    for number, items in enumerate(_SETS):
        rng = np.random.default_rng([seed, number])
        ids = [str(item) for of_language in items.ids.values() for item in of_language]
        languages = [language for language, of_language in items.ids.items() for _ in of_language]
        texts = [text for language, part in items.ids.items() for text in neutral_texts(rng, language, len(part))]
        votes = {
            task: dict(zip(ids, own, strict=True)) for task, own in zip(items.tasks, _annotate(rng, items), strict=True)
        }
        rng = np.random.default_rng([seed, number, 1])
        texts = _marked(rng, texts, languages, votes[items.tasks[0]].values())
        data = folder / "data" / items.split
        if not items.is_training:
            write_lines(data / f"{items.medium}.txt", ids)
            write_table(data / f"{items.medium}.tsv", [ids, languages, texts], ("id", "lang", "text"), "\t")
            for (task, own), threshold in zip(votes.items(), _THRESHOLDS, strict=True):
                _write_task(folder, definition, items.split, task, threshold, own)
        shown = {} if items.split == "test" else votes
        _write_json(data / f"{items.medium}.json", _objects(rng, items, ids, languages, texts, shown))
        if items.medium == "memes":
            _write_images(data / "images.zip", ids)
    _write_evaluation(folder)


def _annotate(rng: np.random.Generator, items: _Set) -> Iterator[Votes]:
    """Yield votes for identification, intention and types of sexism."""
    yes = shuffled(rng, items.yes_votes)
    sexist = rng.permuted(np.arange(_ANNOTATORS) < yes[:, np.newaxis], axis=1)  # (items, annotators)
    yield _in_words(sexist, [["NO"], ["YES"]])

    shares = list(items.intentions.values())
    leaning = rng.choice(len(shares), p=shares, size=(len(yes), 1))
    own = rng.choice(len(shares), p=shares, size=sexist.shape)
    intention = np.where(rng.random(sexist.shape) < _FAITHFUL, leaning, own)
    yield _in_words(sexist * (intention + 1), [["NO"], *([name] for name in items.intentions)])

    leans_to = rng.random((len(yes), 1, len(_TYPES))) < _TYPE_SHARES
    sees = rng.random((*sexist.shape, len(_TYPES))) < np.where(leans_to, _FAITHFUL, _STRAY)
    # An annotator who votes YES must choose a type. If none was drawn, it is the most common one.
    sees[..., np.argmax(_TYPE_SHARES)] |= ~sees.any(axis=2)
    sets = [
        [name for name, seen in zip(_TYPES, row, strict=True) if seen] for row in product((0, 1), repeat=len(_TYPES))
    ]
    number = sees @ (1 << np.arange(len(_TYPES))[::-1])  # encodes each annotator's set of types as a number
    yield _in_words(sexist * number, [["NO"], *sets[1:]])


def _in_words(votes: NDArray[np.int64], labels: Sequence[Vote]) -> Votes:
    """Convert votes with shape (items, annotators) from numbers to `labels`."""
    return [[labels[vote] for vote in item] for item in votes.tolist()]


def _write_task(
    folder: Path, definition: Definition, split: str, task: int, threshold: int, votes: Mapping[str, Sequence[Vote]]
) -> None:
    """Write the votes, and the gold, majority class and minority class for the task's hard and soft tracks."""
    ids = list(votes)
    write_lines(folder / f"gold/{split}/task{task}_votes.json", [json.dumps(votes)])
    for context, gold_of in {"hard": hard_gold, "soft": soft_gold}.items():
        track = definition.track(f"task{task}-{context}")
        rules = VoteRules(track.format.options["classes"], threshold, multi=task in (3, 6))
        gold = gold_of(votes, rules).answers
        write_run(track, gold, folder / f"gold/{split}/task{task}_{context}.json")
        write_run(track, majority(ids, gold), folder / f"baselines/{split}/{track.slug}/majority.json")
        write_run(track, minority(ids, gold), folder / f"baselines/{split}/{track.slug}/minority.json")


def _marked(
    rng: np.random.Generator, texts: Sequence[str], languages: Sequence[str], votes: Iterable[Sequence[Vote]]
) -> list[str]:
    """Add a mark to each text. The more votes for YES, the more likely its color is the second one."""
    share = [sum(vote == ["YES"] for vote in item) / _ANNOTATORS for item in votes]
    is_second = (rng.random(len(texts)) < share).tolist()
    return [
        f"{text} ({_MARKS[language][second]})"
        for text, language, second in zip(texts, languages, is_second, strict=True)
    ]


def _objects(
    rng: np.random.Generator,
    items: _Set,
    ids: Sequence[str],
    languages: Sequence[str],
    texts: Sequence[str],
    votes: Mapping[int, Mapping[str, Sequence[Vote]]],
) -> dict[str, dict[str, Any]]:
    """Return each item's attributes, as in the campaign, by id. The labels come from `votes`, by task."""
    traits = {
        "ethnicity_annotators": rng.choice(_ETHNICITIES, _PEOPLE).tolist(),
        "study_level_annotators": rng.choice(_STUDY_LEVELS, _PEOPLE).tolist(),
        "country_annotators": rng.choice(_COUNTRIES, _PEOPLE).tolist(),
    }
    # Annotators work in groups of six, and each group labels many items.
    groups = rng.integers(_PEOPLE // _ANNOTATORS, size=len(ids)) * _ANNOTATORS
    found = {}
    for item, language, text, group in zip(ids, languages, texts, groups.tolist(), strict=True):
        people = range(group, group + _ANNOTATORS)
        is_meme = items.medium == "memes"
        content = (
            {"text": text, "meme": f"{item}.png", "path_memes": f"memes/{item}.png"} if is_meme else {"tweet": text}
        )
        labels = {f"labels_task{task}": _shown(own[item], task) for task, own in votes.items()}
        found[item] = {
            "id_EXIST": item,
            "lang": language,
            **content,
            "number_annotators": _ANNOTATORS,
            "annotators": [f"Annotator_{person + 1}" for person in people],
            "gender_annotators": _GENDERS,
            "age_annotators": _AGES,
            **{name: [values[person] for person in people] for name, values in traits.items()},
            **labels,
            "split": f"{items.name}_{language.upper()}",
        }
    return found


def _shown(votes: Sequence[Vote], task: int) -> list[Any]:
    """Return the annotators' labels as in the campaign's files, with `-` for `NO` in all tasks but 1 and 4."""
    if task in (1, 4):
        return [label for (label,) in votes]
    labels = [["-"] if vote == ["NO"] else list(vote) for vote in votes]
    return labels if task in (3, 6) else [label for (label,) in labels]


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    write_lines(path, ["{", ",\n".join(f"{encode(item)}: {encode(one)}" for item, one in content.items()), "}"])


def _write_images(path: Path, ids: Sequence[str]) -> None:
    """Write a zip with a placeholder for each meme: a small plain image whose color depends on the id."""
    write_zip(path, {f"memes/{item}.png": _plain_image(int(item) % _COLORS) for item in ids})


@cache
def _plain_image(number: int) -> bytes:
    """Return a PNG of 8 × 8 pixels with one of `_COLORS` colors."""
    color = bytes([number % 8 * 36, number // 8 * 36, 128])
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress((b"\0" + color * 8) * 8)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def _write_evaluation(folder: Path) -> None:
    """Write the evaluation folder: development gold and baselines under the names of the campaign's files."""
    files = {}
    for task, context in product((1, 2, 3), ("hard", "soft")):
        gold = folder / f"gold/dev/task{task}_{context}.json"
        files[f"evaluation/golds/EXIST2024_dev_task{task}_gold_{context}.json"] = gold.read_bytes()
        for name in ("majority", "minority"):
            run = folder / f"baselines/dev/task{task}-{context}/{name}.json"
            files[f"evaluation/baselines/EXIST2024_dev_task{task}_{name}_class_{context}.json"] = run.read_bytes()
    write_zip(folder / "data/dev/evaluation.zip", files)
