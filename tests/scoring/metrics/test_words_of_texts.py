"""Stems, METEOR's pairs of words, and normalized texts. The peers of `test_texts` cover random texts."""

import pytest

from scoring.answers import Texts
from scoring.definition import MetricSpec
from scoring.metrics import METRICS
from scoring.metrics.porter import stem
from scoring.metrics.text_distance import normalized
from scoring.metrics.text_limits import report_long_texts
from scoring.reports.problems import Report
from tests.scoring.metrics.answers import value
from tests.scoring.metrics.test_texts import texts

# As in NLTK 3.10.4, whose stems of 46,918 words with all suffixes of the rules are the same.
STEMS = (
    "caresses caress, ponies poni, flies fli, dies die, died die, agreed agre, feed feed, plastered plaster, "
    "bled bled, motoring motor, sing sing, conflated conflat, troubled troubl, hopping hop, falling fall, "
    "filing file, happy happi, enjoy enjoy, by by, relational relat, conditional condit, vietnamization "
    "vietnam, hopefully hope, geology geolog, triplicate triplic, hopefulness hope, adoption adopt, controller"
    " control, rate rate, cease ceas, controll control, roll roll, skies sky, news news, at at, sky sky, 日本s "
    "日本, yyyy yyyi"
)


def test_stems() -> None:
    assert [(word, stem(word)) for word, _ in map(str.split, STEMS.split(", "))] == [
        (word, expected) for word, expected in map(str.split, STEMS.split(", "))
    ]


def test_meteor_pairs_each_word_once_and_from_the_right() -> None:
    gold, run = texts([["a b a"]]), texts(["a"])
    assert value("meteor", gold, run) == pytest.approx(1 / 3 / (0.9 + 0.1 / 3) * 0.5)
    assert value("meteor", texts([["run"]]), texts(["Running runs"]), gamma="0") == pytest.approx(0.5 / (0.45 + 0.1))
    assert value("meteor", texts([["x", "cats"]]), texts(["cat"]), gamma="0") == 1
    assert value("meteor", texts([[""]]), texts([""])) == 0


def test_short_words_are_not_stemmed_in_rouge() -> None:
    assert value("rouge_1", texts([["cats is"]]), texts(["cat is"])) == 1 / 2
    assert value("rouge_1", texts([["cats is"]]), texts(["cat is"]), stem="porter") == 1
    assert value("rouge_1", texts([["ads"]]), texts(["ad"]), stem="porter") == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [laugh] b (aside) <unk> c", "a b c"),
        ("a (b", "a b"),
        ("[a] (b", "b"),
        ("() a", "a"),
        ("It's 3.14 %, ½ ﬁne!", "it s 3 14 1 2 fine"),
        ("ﷺ", "ﷺ"),  # 18 characters in NFKC
        ("[" * 100_000, ""),
        ("(" * 100_000, ""),
        ("\tA\u3000b\n", "a b"),
    ],
)
def test_normalized(text: str, expected: str) -> None:
    assert normalized(text) == expected


def test_an_error_rate_of_normalized_texts() -> None:
    gold, run = texts([["Hello, World!"]]), texts(["hello world"])
    assert value("wer", gold, run) == 1
    assert value("wer", gold, run, normalize="basic") == value("cer", gold, run, normalize="basic") == 0
    assert value("wer", texts([["!"]]), run, normalize="basic") is None


@pytest.mark.parametrize(("name", "options"), [("wer", {"normalize": "basic"}), ("rouge_l", {"stem": "porter"})])
def test_options_that_take_longer_have_lower_limits(name: str, options: dict[str, str]) -> None:
    most = METRICS[name].most_characters
    assert most is not None
    for length, given, errors in ((most // 4, options, 0), (most // 4 + 4000, options, 1), (most // 2, {}, 0)):
        report = Report()
        answers = Texts([str(n) for n in range(length // 4000)], [("x" * 4000,)] * (length // 4000))
        report_long_texts(answers, [MetricSpec(name, None, given)], report)
        assert len(list(report)) == errors
