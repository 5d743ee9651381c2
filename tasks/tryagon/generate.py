"""Synthetic sentences on four topics, each of which can be recognized by a few keywords."""

from pathlib import Path

import numpy as np

from ..synthetic import neutral_texts, shuffled, write_lines, write_table

_TOPICS = {  # phrase in a sentence → topic
    "opened a new room": "construction",
    "changed its timetable": "time",
    "put up a blue sign": "colors",
    "bought fresh paint": "colors",
    "planted two trees": "plants",
}
_SIZES = {"examples": 80, "sentences": 120}
_WRONG = 12  # number of sentences with an incorrect topic in the gold standard


def generate(folder: Path, seed: int = 2026) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    topics = sorted({*_TOPICS.values()})
    for place, (name, size) in enumerate(_SIZES.items()):
        rng = np.random.default_rng([seed, place])
        ids, texts = [f"{name[0]}{number}" for number in range(1, size + 1)], neutral_texts(rng, "en", size)
        labels = [next(topic for words, topic in _TOPICS.items() if words in text) for text in texts]
        if name == "examples":
            write_table(folder / "data/examples.csv", [ids, texts, labels], ("id", "text", "topic"))
            continue
        for row in np.nonzero(shuffled(rng, [size - _WRONG, _WRONG]))[0].tolist():
            labels[row] = topics[(topics.index(labels[row]) + 1) % len(topics)]
        write_lines(folder / "data/items.txt", ids)
        write_table(folder / "data/sentences.csv", [ids, texts], ("id", "text"))
        write_table(folder / "gold/topics.csv", [ids, labels], ("id", "topic"))
        for file in ("data/topics.csv", "baselines/random.csv"):
            write_table(folder / file, [ids, rng.choice(topics, size).tolist()], ("id", "topic"))
