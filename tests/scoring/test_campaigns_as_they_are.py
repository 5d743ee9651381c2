"""Definitions of campaigns with synthetic data: a run in the campaign's own shape gets the value of its own formula.

The formulas are written here again, from the campaigns' pages and scorers, without the engine's metrics.
"""

import json
import re
import string
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scoring import Definition, check_upload, load_definition, score
from scoring.uploads.inspection import read_run

FRAME = """
agon: 1
slug: campaign
title: Campaign
year: 2027
languages: [en]
naming: {{run: "{name}"}}
phases: [{{slug: test, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}}]
gold: [{{track: main, file: "{gold}"}}]
tracks:
  - slug: main
{track}
"""


class Campaign:
    """A task folder with a single track, whose gold file is in the format of runs unless the track says otherwise."""

    def __init__(
        self, folder: Path, track: str, items: Sequence[str], name: str = "{team}", gold: str = "gold"
    ) -> None:
        self.folder, self.gold = folder, folder / gold
        indented = "\n".join(f"    {line.strip()}" if line.strip() else "" for line in track.strip().split("\n"))
        (folder / "task.yaml").write_text(FRAME.format(name=name, gold=gold, track=indented), encoding="utf-8")
        (folder / "items.txt").write_text("".join(f"{item}\n" for item in items), encoding="utf-8")

    @property
    def definition(self) -> Definition:
        return load_definition(self.folder)

    def scores(self, gold: bytes, run: bytes) -> Mapping[str, float | None]:
        """Check a run as an upload, without any problem, and score it."""
        self.gold.write_bytes(gold)
        upload = self.folder / "Lak"
        upload.write_bytes(run)
        found = check_upload(self.definition, upload, "Lak", "Lak")
        assert [problem.message for problem in found.report] == []
        return score(self.definition, "main", run, self.gold).scores


def json_lines(entries: Sequence[object]) -> bytes:
    return "".join(f"{json.dumps(entry)}\n" for entry in entries).encode()


def correlation(one: Sequence[float], other: Sequence[float]) -> float:
    return float(np.corrcoef(one, other)[0, 1])


def midranks(values: Sequence[float]) -> list[float]:
    return [1 + sum(other < value for other in values) + (list(values).count(value) - 1) / 2 for value in values]


def f1(gold: Sequence[bool], run: Sequence[bool]) -> float:
    both = sum(left and right for left, right in zip(gold, run, strict=True))
    return 2 * both / (sum(gold) + sum(run))


def normalized(text: str) -> list[str]:
    bare = "".join(char for char in text.lower() if char not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def test_squad(tmp_path: Path) -> None:
    """SQuAD 1.1: an object by question id, exact match and the best word F1 over the references."""
    campaign = Campaign(
        tmp_path,
        """
        format: {kind: json-texts, keys: {by_id: true}}
        items: items.txt
        metrics: [exact_match, token_f1]
        rank_by: token_f1
        """,
        ["q17", "q18", "q19"],
    )
    gold = {"q17": ["in Rome", "Rome"], "q18": ["the Normans"], "q19": ["10th and 11th centuries", "10th century"]}
    run = {"q17": "Rome.", "q18": "Norman dukes", "q19": "In the 10th century"}

    def word_f1(answer: str, reference: str) -> float:
        left, right = Counter(normalized(answer)), Counter(normalized(reference))
        return 2 * sum((left & right).values()) / (sum(left.values()) + sum(right.values()))

    exact = [any(normalized(run[q]) == normalized(text) for text in texts) for q, texts in gold.items()]
    words = [max(word_f1(run[q], text) for text in texts) for q, texts in gold.items()]
    scores = campaign.scores(json.dumps(gold).encode(), json.dumps(run).encode())
    assert scores == {"exact_match": sum(exact) / 3, "token_f1": pytest.approx(sum(words) / 3, abs=1e-12)}


def test_machine_generated_text(tmp_path: Path) -> None:
    """SemEval-2024 task 8: `{"id": 3, "label": 1}` on each line; accuracy, and the mean distance of boundaries."""
    campaign = Campaign(
        tmp_path,
        """
        format: {kind: json-labels, classes: ["0", "1"], value: label, lines: true,
        keys: {ids: [number], values: [number]}}
        items: items.txt
        metrics: [accuracy]
        rank_by: accuracy
        """,
        [str(number) for number in range(5)],
    )
    gold, run = (
        json_lines([{"id": n, "label": int(label)} for n, label in enumerate(own)]) for own in ("01101", "01110")
    )
    assert campaign.scores(gold, run) == {"accuracy": 3 / 5}
    boundaries = Campaign(
        tmp_path,
        """
        format: {kind: table, id: id, columns: {label: {kind: number, low: 0}}, json: {lines: true}}
        items: items.txt
        metrics: [mae]
        rank_by: mae
        """,
        ["a", "b"],
    )
    gold, run = (
        json_lines([{"id": n, "label": own[n]} for n in own]) for own in ({"a": 12, "b": 0}, {"a": 10, "b": 7})
    )
    assert boundaries.scores(gold, run) == {"mae": (2 + 7) / 2}


def test_generative_authorship(tmp_path: Path) -> None:
    """PAN 2025, Voight-Kampff: probabilities on each line; the mean of ROC AUC, Brier, C@1, F1 and F0.5u."""
    names = ["roc_auc", "brier_complement", "c_at_1", "f_beta_decided", "f_05_u"]
    campaign = Campaign(
        tmp_path,
        f"""
        format: {{kind: table, id: id, columns: {{label: {{kind: number, low: 0, high: 1}}}}, json: {{lines: true}}}}
        items: items.txt
        metrics: [{", ".join(names)}, {{combine: mean, of: [{", ".join(names)}], by: mean}}]
        rank_by: combine:mean
        """,
        list("abcdefg"),
    )
    truth = np.array([1, 1, 1, 0, 0, 0, 1])
    given = np.array([0.9, 0.5, 0.3, 0.2, 0.6, 0.5, 0.8])
    gold, run = (
        json_lines([{"id": item, "label": value} for item, value in zip("abcdefg", own.tolist(), strict=True)])
        for own in (truth, given)
    )
    pairs = [(p > n) + (p == n) / 2 for p in given[truth == 1] for n in given[truth == 0]]
    right, undecided = int(((given > 0.5) == (truth == 1))[given != 0.5].sum()), int((given == 0.5).sum())
    tp = int(((given > 0.5) & (truth == 1)).sum())
    fp = int(((given > 0.5) & (truth == 0)).sum())
    fn = int(((given < 0.5) & (truth == 1)).sum())
    expected = [
        float(np.mean(pairs)),
        1 - float(np.mean((given - truth) ** 2)),
        (right + undecided * right / 7) / 7,
        2 * tp / (2 * tp + fp + fn),
        1.25 * tp / (1.25 * tp + 0.25 * (fn + undecided) + fp),
    ]
    scores = campaign.scores(gold, run)
    assert list(scores.values()) == pytest.approx([*expected, sum(expected) / 5], abs=1e-12)


def test_advertisement_detection(tmp_path: Path) -> None:
    """Touché 2025, advertisement in generated responses: `{"id": …, "label": 1, "tag": …}`, F1 of the class 1."""
    campaign = Campaign(
        tmp_path,
        """
        format: {kind: json-labels, classes: ["0", "1"], value: label, lines: true,
        keys: {values: [number], extra: ignore}}
        items: items.txt
        metrics: ["precision:1", "recall:1", "f1:1"]
        rank_by: "f1:1"
        """,
        ["r1", "r2", "r3", "r4", "r5"],
    )
    gold, run = [1, 0, 1, 1, 0], [1, 1, 0, 1, 0]
    scores = campaign.scores(
        json_lines([{"id": f"r{n}", "label": label} for n, label in enumerate(gold, 1)]),
        json_lines([{"id": f"r{n}", "label": label, "tag": "team-run"} for n, label in enumerate(run, 1)]),
    )
    expected = f1([value == 1 for value in gold], [value == 1 for value in run])
    assert scores == {"precision:1": 2 / 3, "recall:1": 2 / 3, "f1:1": pytest.approx(expected, abs=1e-12)}


def test_emotion_intensity(tmp_path: Path) -> None:
    """SemEval-2025 task 11, track B: a file per language, the mean of Pearson's r over emotions and then languages.

    The English data have one emotion less. The scorer returns 1 for a constant emotion that is predicted exactly, and 0
    for other constants and missing files.
    """
    emotions = {"eng": ["anger", "joy"], "deu": ["anger", "joy", "disgust"], "rus": ["anger", "joy", "disgust"]}
    columns = ", ".join(f"{{name: 'pearson:{emotion}', undefined: exact}}" for emotion in emotions["deu"])
    campaign = Campaign(
        tmp_path,
        f"""
        format: {{kind: table, id: id, columns: [anger, joy, disgust], values: [0, 1, 2, 3], optional: [disgust]}}
        files: {{name: language, of: [eng, deu, rus], missing: accept}}
        items: "items_{{language}}.txt"
        metrics:
        - {{combine: pearson, of: [{columns}], by: mean, missing: skip}}
        - {{combine: average, of: ["combine:pearson"], slices: language, missing: zero}}
        rank_by: combine:average
        """,
        [],
        name="{team}/track_b/pred_{language}.csv",
        gold="gold_{language}.csv",
    )
    gold = {"eng": ["0123", "0000"], "deu": ["3210", "0010", "0110"], "rus": ["0101", "1010", "0011"]}
    run = {"eng": ["0133", "0000"], "deu": ["3120", "0110", "0000"]}

    def table(language: str, values: Sequence[str]) -> bytes:
        rows = [f"s{row},{','.join(own[row] for own in values)}" for row in range(4)]
        return "\n".join([f"id,{','.join(emotions[language])}", *rows, ""]).encode()

    def official(left: str, right: str) -> float:
        one, other = (list(map(float, values)) for values in (left, right))
        if np.std(one) == 0 or np.std(other) == 0:
            return 1.0 if one == other else 0.0
        return correlation(one, other)

    for language, values in gold.items():
        (tmp_path / f"items_{language}.txt").write_text("s0\ns1\ns2\ns3\n")
        (tmp_path / f"gold_{language}.csv").write_bytes(table(language, values))
    upload = tmp_path / "runs.zip"
    with zipfile.ZipFile(upload, "w") as archive:
        for language, values in run.items():
            archive.writestr(f"Lak/track_b/pred_{language}.csv", table(language, values))
    found = check_upload(campaign.definition, upload, "runs.zip", "Lak")
    assert [problem.code for problem in found.report.errors] == []
    content = read_run(upload, found.runs[0].run.entry)
    scores = score(campaign.definition, "main", content, tmp_path / "gold_{language}.csv").scores
    languages = [np.mean([official(*pair) for pair in zip(gold[name], run[name], strict=True)]) for name in run]
    assert scores["combine:average"] == pytest.approx(sum(languages) / 3, abs=1e-12)


def test_plausibility_of_word_senses(tmp_path: Path) -> None:
    """SemEval-2026 task 5: `{"id": "1", "prediction": 4}` on each line, Spearman's rank correlation."""
    campaign = Campaign(
        tmp_path,
        """
        format: {kind: table, id: id, columns: {prediction: {kind: number, low: 1, high: 5}}, json: {lines: true}}
        items: items.txt
        metrics: [spearman]
        rank_by: spearman
        """,
        list("012345"),
    )
    gold, run = [3.2, 4.8, 1.0, 2.4, 4.8, 3.0], [3, 5, 2, 2, 4, 1]
    files = (json_lines([{"id": str(n), "prediction": value} for n, value in enumerate(own)]) for own in (gold, run))
    expected = correlation(midranks(gold), midranks([float(value) for value in run]))
    assert campaign.scores(*files) == {"spearman": pytest.approx(expected, abs=1e-12)}


def test_sexism_by_annotators(tmp_path: Path) -> None:
    """GermEval 2024, GerMS subtask 1: five strategies to combine annotations, the mean of their macro F1."""
    columns = {"bin_maj": 2, "bin_one": 2, "bin_all": 2, "multi_maj": 5, "disagree_bin": 2}
    declared = ", ".join(f"{name}: {{kind: ordinal, values: {list(range(count))}}}" for name, count in columns.items())
    of = ", ".join(f'"f1_macro:{name}"' for name in columns)
    campaign = Campaign(
        tmp_path,
        f"""
        format: {{kind: table, id: id, separator: tab, columns: {{{declared}}}}}
        items: items.txt
        metrics: [{of}, {{combine: score, of: [{of}], by: mean}}]
        rank_by: combine:score
        """,
        [f"p{row}" for row in range(8)],
    )
    rng = np.random.default_rng(11)
    gold, run = ({name: rng.integers(0, count, 8) for name, count in columns.items()} for _ in range(2))
    for name, count in columns.items():
        gold[name][:count] = range(count)  # each class occurs in the gold, as in the campaign

    def table(values: Mapping[str, Any]) -> bytes:
        rows = [f"p{row}\t" + "\t".join(str(own[row]) for own in values.values()) for row in range(8)]
        return "\n".join(["\t".join(["id", *values]), *rows]).encode()

    def macro(name: str, count: int) -> float:
        return float(np.mean([f1(list(gold[name] == value), list(run[name] == value)) for value in range(count)]))

    expected = float(np.mean([macro(name, count) for name, count in columns.items()]))
    assert campaign.scores(table(gold), table(run))["combine:score"] == pytest.approx(expected, abs=1e-12)


def test_readability(tmp_path: Path) -> None:
    """BAREC 2025: `Sentence ID,Prediction`; quadratic kappa, accuracy, accuracy within one level, mean distance."""
    levels = list(range(1, 20))
    campaign = Campaign(
        tmp_path,
        f"""
        format: {{kind: table, id: Sentence ID, columns: {{Prediction: {{kind: ordinal, values: {levels}}}}}}}
        items: items.txt
        metrics: [kappa_quadratic, accuracy, accuracy_within, mae]
        rank_by: kappa_quadratic
        """,
        [str(number) for number in range(8)],
    )
    gold, run = np.array([1, 5, 7, 12, 19, 12, 8, 3]), np.array([2, 5, 9, 12, 16, 11, 8, 7])
    files = (
        "\n".join(["Sentence ID,Prediction", *(f"{n},{value}" for n, value in enumerate(own.tolist()))]).encode()
        for own in (gold, run)
    )
    chance = np.mean([(one - other) ** 2 for one in gold for other in run])
    expected = [
        1 - float(np.mean((gold - run) ** 2) / chance),
        float(np.mean(gold == run)),
        float(np.mean(np.abs(gold - run) <= 1)),
        float(np.mean(np.abs(gold - run))),
    ]
    assert list(campaign.scores(*files).values()) == pytest.approx(expected, abs=1e-12)


def test_polarization(tmp_path: Path) -> None:
    """SemEval-2026 task 9: a column of zeros and ones for each type of polarization, macro F1 over the types."""
    types = ["political", "racial", "religious"]
    campaign = Campaign(
        tmp_path,
        f"""
        format: {{kind: table, id: id, columns: [{", ".join(types)}]}}
        items: items.txt
        metrics: [f1_positive_mean]
        rank_by: f1_positive_mean
        """,
        list("abcde"),
    )
    gold, run = (
        np.array([[1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [1, 1, 0, 0, 0]]),
        np.array([[1, 0, 0, 1, 1], [0, 1, 1, 0, 1], [0, 1, 0, 0, 0]]),
    )
    files = (
        "\n".join(
            [
                f"id,{','.join(types)}",
                *(f"{item},{','.join(map(str, row))}" for item, row in zip("abcde", own.T.tolist(), strict=True)),
            ]
        ).encode()
        for own in (gold, run)
    )
    expected = np.mean([f1(list(left == 1), list(right == 1)) for left, right in zip(gold, run, strict=True)])
    assert campaign.scores(*files) == {"f1_positive_mean": pytest.approx(expected, abs=1e-12)}


def test_semantic_similarity(tmp_path: Path) -> None:
    """STS: a number on each line, in the order of the sentence pairs, Pearson's correlation."""
    campaign = Campaign(
        tmp_path,
        """
        format: {kind: table, ids: numbers, header: none, columns: {score: {kind: number, low: 0, high: 5}}}
        items: items.txt
        metrics: [pearson]
        rank_by: pearson
        """,
        list("12345"),
    )
    gold, run = [0.0, 5.0, 2.4, 3.8, 1.2], [0.4, 4.1, 3.0, 3.9, 0.1]
    files = ("\n".join(map(str, own)).encode() for own in (gold, run))
    assert campaign.scores(*files) == {"pearson": pytest.approx(correlation(gold, run), abs=1e-12)}


def test_discourse_relations(tmp_path: Path) -> None:
    """DISRPT, relations: the rows of the data with a predicted label, in the order of the file, accuracy."""
    campaign = Campaign(
        tmp_path,
        """
        format: {kind: table-labels, ids: numbers, same_text: unit1_txt, separator: tab, quotes: none, label: label,
        classes: [causal, contrast, elaboration], extra_columns: ignore}
        items: items.txt
        texts: texts.tsv
        metrics: [accuracy]
        rank_by: accuracy
        """,
        list("123"),
    )
    units = ['He said "no"', "because", "it rained"]
    rows = [f"{number}\t{unit}" for number, unit in enumerate(units, 1)]
    (tmp_path / "texts.tsv").write_text("\n".join(["id\ttext", *rows]), encoding="utf-8")
    files = (
        "\n".join(
            ["doc\tunit1_txt\tlabel", *(f"d\t{unit}\t{label}" for unit, label in zip(units, own, strict=True))]
        ).encode()
        for own in (["causal", "contrast", "causal"], ["causal", "elaboration", "causal"])
    )
    assert campaign.scores(*files) == {"accuracy": 2 / 3}


def test_educational_materials(tmp_path: Path) -> None:
    """AmericasNLP 2025, subtask 2: a table with the changed sentence in a column, the share of exact sentences."""
    campaign = Campaign(
        tmp_path,
        """
        format: {kind: table-texts, id: ID, text: Predicted Target, separator: tab, quotes: none, extra_columns: ignore}
        items: items.txt
        metrics: [{name: exact_match, normalize: none}]
        rank_by: exact_match
        """,
        ["Maya_1", "Maya_2", "Maya_3"],
    )
    header = "ID\tSource\tChange\tPredicted Target"

    def table(*targets: str) -> bytes:
        return "\n".join([header, *(f"Maya_{n}\ts\tTYPE:NEG\t{text}" for n, text in enumerate(targets, 1))]).encode()

    gold, run = table("ma' in wohel", "ka jach", "ko'oten"), table("ma' in wohel", "ka  jach", "Ko'oten")
    assert campaign.scores(gold, run) == {"exact_match": 2 / 3}  # blanks don't count


def test_hallucinated_spans(tmp_path: Path) -> None:
    """SemEval-2025 task 3: hard labels as pairs of offsets on each line, the mean of their IoU; nothing found is 1."""
    campaign = Campaign(
        tmp_path,
        """
        format: {kind: spans, file: json, lines: true, spans: pairs, value: hard_labels, keys: {extra: ignore}}
        items: items.txt
        metrics: [span_iou]
        rank_by: span_iou
        """,
        ["val-en-1", "val-en-2", "val-en-3", "val-en-4"],
    )
    gold = [[[0, 10], [20, 25]], [], [], [[3, 6]]]
    run = [[[5, 22]], [], [[1, 4]], []]

    def lines(spans: Sequence[Any]) -> bytes:
        return json_lines(
            [{"id": f"val-en-{n}", "hard_labels": own, "soft_labels": []} for n, own in enumerate(spans, 1)]
        )

    def iou(left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]) -> float:
        one, other = ({place for start, end in own for place in range(start, end)} for own in (left, right))
        return len(one & other) / len(one | other) if one or other else 1.0

    expected = np.mean([iou(*pair) for pair in zip(gold, run, strict=True)])
    assert campaign.scores(lines(gold), lines(run)) == {"span_iou": pytest.approx(expected, abs=1e-12)}


def test_job_titles(tmp_path: Path) -> None:
    """TalentCLEF 2025, task A: TREC runs and relevance judgments, mean average precision."""
    campaign = Campaign(
        tmp_path,
        """
        format: {kind: trec-run, depth: 10}
        items: items.txt
        metrics: [map]
        rank_by: map
        """,
        ["q1", "q2"],
    )
    gold = b"q1 0 d1 1\nq1 0 d4 1\nq2 0 d2 1\n"
    ranked = {"q1": ["d1", "d2", "d4"], "q2": ["d1", "d3", "d2"]}
    run = "\n".join(
        f"{query} Q0 {document} {rank} {10 - rank} lak"
        for query, own in ranked.items()
        for rank, document in enumerate(own, 1)
    )
    assert campaign.scores(gold, run.encode()) == {"map": pytest.approx(((1 + 2 / 3) / 2 + 1 / 3) / 2, abs=1e-12)}
