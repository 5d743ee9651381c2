"""Text metrics match sacrebleu, jiwer, rouge-score, NLTK and SQuAD's function to within 1e-9, or values by hand."""

import re
import string
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scoring import load_definition, score
from scoring.analysis.details import details
from scoring.analysis.item_answers import item_answers
from scoring.answers import Texts
from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare, compute, contributions, describe
from scoring.metrics.metric import TEXTS
from scoring.metrics.registry import METRICS
from scoring.score import load_gold
from scoring.significance import intervals, tie_groups
from tests.conftest import ROOT
from tests.scoring.metrics.answers import value
from tests.scoring.metrics.conftest import Evaluate
from tests.scoring.metrics.examples import read_answers

WORDS = (
    "the cat sat on a mat , The Mat . it's 3.14 % über ñandú said 日本 naïve-ly and didn't go cats sitting sits "
    "relational (aside) [noise] <unk] (open ] ﬁne ½ İ"
)


def sentence(rng: np.random.Generator, least: int = 0) -> str:
    return " ".join(rng.choice(WORDS.split(), rng.integers(least, 14)))


def near(rng: np.random.Generator, text: str) -> str:
    """Replace, drop and move some of the text's words."""
    words = [
        str(rng.choice(WORDS.split())) if rng.random() < 0.2 else word for word in text.split() if rng.random() < 0.9
    ]
    cut = int(rng.integers(0, len(words) + 1))
    return " ".join(words[cut:] + words[:cut] if rng.random() < 0.3 else words)


def corpus(seed: int, most: int) -> dict[str, Any]:
    """Return outputs that are similar to their references. Each output has up to `most` references."""
    rng = np.random.default_rng(seed)
    references = [[sentence(rng, 1) for _ in range(rng.integers(1, most + 1))] for _ in range(rng.integers(1, 25))]
    return {"references": references, "outputs": [near(rng, str(rng.choice(own))) for own in references]}


def texts(rows: list[list[str]] | list[str]) -> Texts:
    own = [(row,) if isinstance(row, str) else tuple(row) for row in rows]
    return Texts([str(row) for row in range(len(own))], own)


def spec_of(key: str) -> MetricSpec:
    name, *options = key.split()
    return MetricSpec(name, None, dict(option.split("=") for option in options))


@pytest.mark.slow
def test_peers(text_peers: Evaluate, capsys: pytest.CaptureFixture[str]) -> None:
    batch = [corpus(seed, 1) for seed in range(60)] + [corpus(seed, 3) for seed in range(40)]
    batch.append({"references": [["a b"], ["c d"]], "outputs": ["", "x y"]})
    largest = Counter[str]()
    for given, theirs in zip(batch, text_peers(batch), strict=True):
        comparison = compare(LoadedGold(texts(given["references"])), texts(given["outputs"]))
        for key, expected in theirs.items():
            if isinstance(expected, float):
                own = compute(comparison, spec_of(key))
                assert own == pytest.approx(expected, rel=0, abs=1e-9), (key, given)
                largest[key] = max(largest[key], abs(own - expected))
    with capsys.disabled():
        print("\nlargest differences:", ", ".join(f"{key} {most:.1e}" for key, most in largest.items()))
    assert {"wer", "cer normalize=basic", "rouge_l stem=porter", "meteor", "ter", "bleu", "chrf_pp"} <= largest.keys()


@pytest.mark.slow
def test_the_signature_is_the_librarys(text_peers: Evaluate) -> None:
    (theirs,) = text_peers([corpus(0, 1)])
    for key in (key for key in theirs if key.startswith("signature ")):
        shown = describe(spec_of(key.removeprefix("signature "))).source
        assert shown.endswith(f"signature {str(theirs[key]).removeprefix('nrefs:1|')}")


def squad_f1(prediction: str, truth: str) -> float:
    """Compute F1 as the scorer of SQuAD 1.1 does."""

    def normalized(text: str) -> str:
        bare = "".join(one for one in text.lower() if one not in set(string.punctuation))
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())

    own, wanted = normalized(prediction).split(), normalized(truth).split()
    same = sum((Counter(own) & Counter(wanted)).values())
    if same == 0:
        return float(own == wanted)
    precision, recall = same / len(own), same / len(wanted)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("seed", range(20))
def test_words_as_in_squad(seed: int) -> None:
    given = corpus(seed, 3)
    pairs = list(zip(given["outputs"], given["references"], strict=True))
    expected = np.mean([max(squad_f1(output, one) for one in own) for output, own in pairs])
    assert value("token_f1", texts(given["references"]), texts(given["outputs"])) == pytest.approx(expected, abs=1e-12)


def test_the_closest_reference_counts() -> None:
    gold, run = texts([["a b c d", "x y"]]), texts(["x z"])
    assert value("wer", gold, run) == 1 / 2
    assert value("cer", gold, run) == 1 / 3
    assert value("edit_distance", gold, run) == 1
    assert value("edit_distance", gold, run, scale="longer") == 1 / 3


def test_words_of_other_alphabets_count_if_wanted() -> None:
    gold, run = texts([["más ágil"]]), texts(["más lento"])
    assert value("rouge_1", gold, run) == pytest.approx(2 * 2 / (3 + 3))  # words: m, s, gil; m, s, lento
    assert value("rouge_1", gold, run, words="unicode") == 1 / 2
    assert value("rouge_1", gold, texts(["más"]), words="unicode", measure="recall") == 1 / 2


def test_case_and_normalization_are_options() -> None:
    gold, run = texts([["The Cat"]]), texts(["the cat"])
    assert value("wer", gold, run) == 1
    assert value("wer", gold, run, case="lc") == 0
    assert value("exact_match", gold, run) == 1
    assert value("exact_match", gold, run, normalize="none") == 0


@pytest.mark.slow
def test_samples_of_the_counts_are_those_of_the_texts() -> None:
    """The expected values come from drawing texts at random and scoring them as a corpus."""
    given = corpus(7, 2)
    gold, run = texts(given["references"]), texts(given["outputs"])
    for name in ("bleu", "chrf", "chrf_pp", "ter", "wer"):
        parts = contributions(compare(LoadedGold(gold), run), MetricSpec(name))
        assert parts is not None
        for seed in range(5):
            rows = np.random.default_rng(seed).integers(0, len(gold.ids), len(gold.ids))
            drawn = [texts([list(side.texts[row]) for row in rows]) for side in (gold, run)]
            weights = np.bincount(rows, minlength=len(gold.ids))
            assert parts.combine(weights @ parts.values) == pytest.approx(value(name, *drawn), abs=1e-9)


@pytest.mark.slow
def test_the_engine_starts_without_the_libraries() -> None:
    code = "import sys, scoring, scoring.score, scoring.metrics; print([*{'sacrebleu', 'rapidfuzz'} & {*sys.modules}])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sacrebleu.metrics", "rapidfuzz.distance"):
        monkeypatch.setitem(sys.modules, name, None)
    for key, package in (("chrf", "sacrebleu"), ("wer", "rapidfuzz")):
        with pytest.raises(ImportError, match=f"-m pip install {package}"):
            value(key, texts([["a"]]), texts(["a"]))


TASK = """
agon: 1
slug: verses
title: Verses
year: 2027
languages: [en]
tracks:
  - slug: lines
    format: {kind: text-lines}
    items: items.txt
    slices: {kind: {column: kind, items: kinds.csv}}
    metrics: [bleu, chrf_pp, ter, rouge_l, wer, {combine: both, of: [chrf, token_f1]}, "chrf@kind=long"]
    rank_by: chrf_pp
  - slug: json
    format: {kind: json-texts, lines: true, value: output}
    items: items.txt
    metrics: [exact_match]
    rank_by: exact_match
naming: {run: "{track}_{team}"}
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""
GOLD = "the cat sat on the mat\ta cat sat there\n\t\tit rained\nañadió sal\n".encode()


def test_from_the_definition_to_intervals_and_groups(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "items.txt").write_text("1\n2\n3\n", encoding="utf-8")
    (tmp_path / "kinds.csv").write_text("id,kind\n1,long\n2,short\n3,short\n", encoding="utf-8")
    task = load_definition(tmp_path)
    gold = load_gold(task, "lines", GOLD)
    assert gold.texts.texts == [("the cat sat on the mat", "a cat sat there"), ("it rained",), ("añadió sal",)]
    results = {
        name: score(task, "lines", run.encode(), gold)
        for name, run in {"good": "a cat sat there\nit rains\nañadió sal\n", "poor": "x\n\ny\r\n"}.items()
    }
    assert results["good"].report.ok
    assert results["good"].scores["wer"] == 1 / 8
    assert results["good"].scores["chrf@kind=long"] == pytest.approx(100)
    runs = {name: result.comparison for name, result in results.items() if result.comparison is not None}
    assert details(runs["good"], ()) == {"slices": details(runs["good"], ())["slices"]}
    shown = item_answers(runs["good"])
    assert (shown.run[1], shown.gold[0]) == (("it rains",), gold.texts.texts[0])
    assert shown.values == [1, 1 / 2, 1]
    for spec in task.track("lines").metrics:
        for interval in intervals(runs, spec, seed=1, rounds=200).values():
            assert interval is not None
            assert interval.low <= interval.value <= interval.high
        assert tie_groups(runs, spec, seed=1, rounds=200)
    short = score(task, "lines", b"one\ntwo\n", gold).report
    assert [problem.code for problem in short.errors] == ["line-count"]
    several = b'{"id": "1", "value": ["a", "The b"]}\n{"id": "2", "value": "c"}\n{"id": "3", "value": "d"}\n'
    run = b'{"id": "1", "output": "b"}\n{"id": "2", "output": "x"}\n{"id": "3", "output": "D."}\n'
    assert score(task, "json", run, several.replace(b"value", b"output")).scores == {"exact_match": 2 / 3}


def test_every_metric_of_texts_has_references() -> None:
    given = [name for name, metric in METRICS.items() if metric.kinds == TEXTS]
    gold = read_answers("texts", {"1": "far away | a b c d e"})
    for name in given:
        assert value(name, gold, texts(["x"]).select(np.array([0]), ["1"])) != value(
            name, gold, texts(["a b c d e"]).select(np.array([0]), ["1"])
        )
