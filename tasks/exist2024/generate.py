"""Synthetic EXIST 2024: six simulated annotators label tweets and memes, and their votes determine the gold standards.

The sizes are the campaign's. Annotators follow an item's tendency only part of the time. As in the real data, more than
a tenth of the items therefore have no majority and are not in the hard gold standard of tasks 1 and 4.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scoring import Definition, load_definition
from scoring.baselines.trivial import majority, minority
from scoring.formats import write_run
from scoring.gold.from_votes import hard_gold, soft_gold
from scoring.gold.votes import Vote, VoteRules

from ..synthetic import neutral_texts, shuffled, write_lines, write_table

_ANNOTATORS = 6
_TYPES = (
    "IDEOLOGICAL-INEQUALITY",
    "STEREOTYPING-DOMINANCE",
    "OBJECTIFICATION",
    "SEXUAL-VIOLENCE",
    "MISOGYNY-NON-SEXUAL-VIOLENCE",
)
_TYPE_SHARES = (0.36, 0.46, 0.30, 0.15, 0.24)  # shares among sexist items, which may have several types
_FAITHFUL = 0.65  # probability that an annotator follows the item's tendency
_STRAY = 0.08  # probability that an annotator sees a type that does not match the item's tendency

# A label is hard gold if it has more votes than this, for identification, intention and types.
_THRESHOLDS = (3, 2, 1)

Votes = list[list[Vote]]  # the votes of each item's annotators


@dataclass(frozen=True)
class _Set:
    """One medium in one split.

    It has the ids by language, the items by their number of YES votes (0 to 6), and the shares of intentions.
    """

    medium: str
    split: str
    tasks: tuple[int, int, int]
    ids: dict[str, range]
    yes_votes: tuple[int, ...]
    intentions: dict[str, float]


_TWEET_INTENTIONS = {"DIRECT": 0.56, "REPORTED": 0.20, "JUDGEMENTAL": 0.24}
_SETS = (
    _Set(
        medium="tweets",
        split="test",
        tasks=(1, 2, 3),
        ids={"es": range(500001, 501099), "en": range(600001, 600979)},
        yes_votes=(430, 310, 241, 268, 240, 257, 330),
        intentions=_TWEET_INTENTIONS,
    ),
    _Set(
        medium="tweets",
        split="dev",
        tasks=(1, 2, 3),
        ids={"es": range(300001, 300550), "en": range(400001, 400490)},
        yes_votes=(215, 155, 121, 134, 120, 128, 165),
        intentions=_TWEET_INTENTIONS,
    ),
    _Set(
        medium="memes",
        split="test",
        tasks=(4, 5, 6),
        ids={"es": range(310001, 310541), "en": range(410001, 410514)},
        yes_votes=(150, 130, 121, 107, 155, 170, 220),
        intentions={"DIRECT": 0.62, "JUDGEMENTAL": 0.38},
    ),
)


def generate(folder: Path, seed: int = 2024) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    definition = load_definition(Path(__file__).parent)
    for number, items in enumerate(_SETS):
        rng = np.random.default_rng([seed, number])
        ids = [str(item) for of_language in items.ids.values() for item in of_language]
        languages = [language for language, of_language in items.ids.items() for _ in of_language]
        texts = [text for language, part in items.ids.items() for text in neutral_texts(rng, language, len(part))]
        data = folder / "data" / items.split
        write_lines(data / f"{items.medium}.txt", ids)
        write_table(data / f"{items.medium}.tsv", [ids, languages, texts], ("id", "lang", "text"), "\t")
        for task, threshold, votes in zip(items.tasks, _THRESHOLDS, _annotate(rng, items), strict=True):
            _write_task(folder, definition, items.split, task, threshold, dict(zip(ids, votes, strict=True)))


def _annotate(rng: np.random.Generator, items: _Set) -> Iterator[Votes]:
    """Yield votes for the identification, the intention and the types of sexism."""
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
    # An annotator who votes YES gives a type. If none was drawn, it is the most common type.
    sees[..., np.argmax(_TYPE_SHARES)] |= ~sees.any(axis=2)
    sets = [
        [name for name, seen in zip(_TYPES, row, strict=True) if seen] for row in product((0, 1), repeat=len(_TYPES))
    ]
    number = sees @ (1 << np.arange(len(_TYPES))[::-1])  # number of the set of types that an annotator sees
    yield _in_words(sexist * number, [["NO"], *sets[1:]])


def _in_words(votes: NDArray[np.int64], labels: Sequence[Vote]) -> Votes:
    """Convert votes of shape (items, annotators) from numbers to `labels`."""
    return [[labels[vote] for vote in item] for item in votes.tolist()]


def _write_task(
    folder: Path, definition: Definition, split: str, task: int, threshold: int, votes: Mapping[str, Sequence[Vote]]
) -> None:
    """Write gold, majority class and minority class of the task's hard and soft tracks."""
    ids = list(votes)
    write_lines(folder / f"gold/{split}/task{task}_votes.json", [json.dumps(votes)])
    for context, gold_of in {"hard": hard_gold, "soft": soft_gold}.items():
        track = definition.track(f"task{task}-{context}")
        rules = VoteRules(track.format.options["classes"], threshold, multi=task in (3, 6))
        gold = gold_of(votes, rules).answers
        write_run(track, gold, folder / f"gold/{split}/task{task}_{context}.json")
        write_run(track, majority(ids, gold), folder / f"baselines/{split}/{track.slug}/majority.json")
        write_run(track, minority(ids, gold), folder / f"baselines/{split}/{track.slug}/minority.json")
