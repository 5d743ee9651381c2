"""Word vectors trained on a shared task's texts with gensim's fastText (the `fasttext` extra)."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from gensim.models import FastText

from scoring.baselines.word_vectors import Vector, words

# fastText's defaults, except for two values that suit thousands of texts and a machine with little memory.
DIMENSIONS = 100
RAREST = 2  # minimum frequency of a word; fastText's default is 5
SUBWORDS = 200_000  # slots for character n-grams; fastText's default is two million, which needs 800 MB


def train_vectors(texts: Sequence[str], others: Sequence[str], seed: int) -> dict[str, Vector]:
    """Train on `texts` and return vectors for the words in both lists.

    The vectors of unseen words come from their character n-grams. Training uses a single thread, so that the same seed
    gives the same vectors.

    Raises:
        ValueError: no word occurs twice in the texts.
    """
    sentences = [[word.lower() for word in words(text)] for text in texts]
    if max(Counter(chain.from_iterable(sentences)).values(), default=0) < RAREST:
        raise ValueError("every word in the texts occurs only once")
    model = FastText(
        sentences, vector_size=DIMENSIONS, min_count=RAREST, bucket=SUBWORDS, sg=1, epochs=5, workers=1, seed=seed
    )
    return {word: model.wv[word] for text in (*texts, *others) for word in map(str.lower, words(text))}
