"""The edits of TER are those of sacrebleu, for all kinds of pairs, but without its cost for long texts."""

import random
from time import process_time

import pytest
from sacrebleu.metrics.lib_ter import translation_edit_rate

from scoring.metrics.edit_rate import MOST_SHIFTS, edits_of

Pair = tuple[list[str], list[str]]
SECONDS = 10.0  # sacrebleu needs far more for these pairs, and this module less than a second


def drawn(source: random.Random, words: int, kinds: int) -> list[str]:
    return [f"w{source.randrange(kinds)}" for _ in range(words)]


def edited(source: random.Random, words: list[str]) -> list[str]:
    """Return the words with some phrases moved, and some words removed, added or replaced."""
    found = list(words)
    for _ in range(source.randrange(6)):
        at, length = source.randrange(len(found) or 1), source.randrange(1, 12)
        phrase, rest = found[at : at + length], found[:at] + found[at + length :]
        to = source.randrange(len(rest) + 1)
        found = rest[:to] + phrase + rest[to:]
    for _ in range(source.randrange(6)):
        at = source.randrange(len(found) + 1)
        found[at : at + source.randrange(2)] = [f"x{source.randrange(5)}"] * source.randrange(2)
    return found


def pairs_of(seed: int) -> list[Pair]:
    source, pairs = random.Random(seed), list[Pair]()
    for length in (0, 1, 2, 5, 13, 24, 25, 26, 36):
        for kinds in (2, 20, 1000):
            reference = drawn(source, length, kinds)
            turn = source.randrange(length + 1)
            others = drawn(source, source.choice([0, 1, length, 2 * length]), kinds)
            longer = drawn(source, source.randrange(45), kinds) + reference
            outputs = (edited(source, reference), reference[turn:] + reference[:turn], others, longer)
            pairs.append((source.choice(outputs), reference))
    return pairs


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_edits_are_those_of_sacrebleu(seed: int) -> None:
    pairs = pairs_of(seed)
    assert edits_of(pairs) == [translation_edit_rate(output, reference)[0] for output, reference in pairs]


def test_words_moved_in_texts_longer_than_the_beam() -> None:
    """The beam has 25 words on each side, so it finds 24 words that were moved to the end, but not 25."""
    source, pairs = random.Random(3), list[Pair]()
    for own, wanted, turn in ((60, 60, 24), (60, 60, 25), (40, 70, 25), (75, 45, 25)):
        reference = [f"w{at}" for at in range(wanted)]
        output = [*reference, *(f"x{at}" for at in range(own - wanted))][:own]
        for at in source.sample(range(own - 1), 5):
            output[at : at + 2] = output[at + 1], output[at]
        pairs.append((output[turn:] + output[:turn], reference))
    assert edits_of(pairs) == [translation_edit_rate(output, reference)[0] for output, reference in pairs]


def test_outputs_that_are_far_shorter_than_the_reference_have_a_wider_beam() -> None:
    source = random.Random(0)
    pairs = [(drawn(source, own, 3), drawn(source, wanted, 3)) for own, wanted in ((1, 60), (2, 140), (3, 200))]
    assert edits_of(pairs) == [translation_edit_rate(output, reference)[0] for output, reference in pairs]


def test_pairs_with_too_many_shifts_are_left_as_they_are() -> None:
    output, reference = ["a", "b"] * 30, ["b", "b", "a"] * 20
    assert len(output) * len(reference) > MOST_SHIFTS
    assert edits_of([(output, reference)]) == [translation_edit_rate(output, reference)[0]]


@pytest.mark.slow
def test_long_texts_are_not_expensive() -> None:
    """Compare texts of 2,000 characters whose words are in another order."""
    source = random.Random(1)
    pairs = []
    for _ in range(40):
        reference = drawn(source, 350, 200)
        pairs.append((source.sample(reference, len(reference)), reference))
    began = process_time()
    edits_of(pairs)
    assert process_time() - began < SECONDS
