"""The generators: always the same bytes, with the sizes and label counts of the original tasks."""

import csv
import hashlib
import json
from ast import literal_eval
from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

from scoring import Definition, check
from scoring.__main__ import main
from scoring.baselines.linear_svm import margins_of
from scoring.baselines.tfidf import tfidf
from scoring.gold.from_votes import span_gold, table_gold
from scoring.gold.track_votes import agreement_of, columns_of, rules_of, with_none
from scoring.gold.votes_file import read_marks, read_votes
from scoring.score import load_gold
from tasks import GENERATORS, build
from tests.tasks.conftest import Built


def digest(folder: Path) -> str:
    """Return a SHA-256 of the names and contents of all files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = [f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]
    return hashlib.sha256("\n".join(sums).encode()).hexdigest()


def rows(path: Path, separator: str) -> list[list[str]]:
    return [line.split(separator) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("slug", GENERATORS)
def test_the_same_bytes_every_time(slug: str, built: Built, tmp_path: Path) -> None:
    assert digest(build(slug, tmp_path)) == digest(built[slug].folder)


@pytest.mark.slow
@pytest.mark.parametrize("slug", GENERATORS)
def test_another_seed_makes_other_data(slug: str, built: Built, tmp_path: Path) -> None:
    GENERATORS[slug](tmp_path, seed=1)
    assert digest(tmp_path / "gold") != digest(built[slug].folder / "gold")


def test_every_file_of_the_definition_is_there(definition: Definition) -> None:
    files = [file for track in definition.tracks for file in (*track.items.values(), *track.optional_items.values())]
    files += [dataset.file for dataset in definition.datasets] + [gold.file for gold in definition.gold]
    files += list(definition.pages.values())
    assert [str(file) for file in files if not file.is_file()] == []


def test_items_have_a_text_each_and_no_id_twice(definition: Definition) -> None:
    for track in definition.tracks:
        for items in track.items.values():
            ids = items.read_text().split()
            assert len(set(ids)) == len(ids)
    for dataset in definition.datasets:
        if dataset.file.suffix not in (".tsv", ".csv"):
            continue
        text = dataset.file.read_text(encoding="utf-8")
        header, *lines = csv.reader(text.splitlines()) if dataset.file.suffix == ".csv" else rows(dataset.file, "\t")
        assert {len(line) for line in lines} == {len(header)}
        filled = [place for place, name in enumerate(header) if name != "reply_to"]
        assert all(line[place] for line in lines for place in filled)


@pytest.mark.parametrize(
    ("slug", "items", "size"),
    [
        ("exist2024", "data/test/tweets.txt", 2076),
        ("exist2024", "data/dev/tweets.txt", 1038),
        ("exist2024", "data/test/memes.txt", 1053),
        ("detests2022", "data/test.txt", 1812),
        ("hateval2019", "data/test/en.txt", 3000),
        ("hateval2019", "data/test/es.txt", 1600),
        ("toxicspans2021", "data/test/posts.txt", 2000),
        ("toxicspans2021", "data/trial/posts.txt", 690),
        ("ssa2023", "data/en.txt", 300),
        ("ssa2023", "data/pt.txt", 300),
        ("ssa2023", "data/en-labelled.txt", 200),
    ],
)
def test_sizes(built: Built, slug: str, items: str, size: int) -> None:
    assert len((built[slug].folder / items).read_text().split()) == size


def test_exist_languages(built: Built) -> None:
    folder = built["exist2024"].folder
    languages = {
        name: Counter(row[1] for row in rows(folder / f"data/test/{name}.tsv", "\t")[1:])
        for name in ("tweets", "memes")
    }
    assert languages == {"tweets": {"es": 1098, "en": 978}, "memes": {"es": 540, "en": 513}}


def exist_gold(built: Built, name: str) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads((built["exist2024"].folder / f"gold/test/{name}.json").read_text())
    return content


TWEET = ("id_EXIST", "lang", "tweet")
MEME = ("id_EXIST", "lang", "text", "meme", "path_memes")
PEOPLE = (
    "number_annotators",
    "annotators",
    "gender_annotators",
    "age_annotators",
    "ethnicity_annotators",
    "study_level_annotators",
    "country_annotators",
)


@pytest.mark.parametrize(
    ("file", "size", "own", "tasks", "split"),
    [
        ("train/tweets", 6920, TWEET, (1, 2, 3), "TRAIN"),
        ("dev/tweets", 1038, TWEET, (1, 2, 3), "DEV"),
        ("test/tweets", 2076, TWEET, (), "TEST"),
        ("train/memes", 4044, MEME, (4, 5, 6), "TRAIN-MEME"),
        ("test/memes", 1053, MEME, (), "TEST-MEME"),
    ],
)
def test_exist_items_have_the_attributes_of_the_guidelines(
    built: Built, file: str, size: int, own: tuple[str, ...], tasks: tuple[int, ...], split: str
) -> None:
    items = json.loads((built["exist2024"].folder / f"data/{file}.json").read_text(encoding="utf-8"))
    keys = (*own, *PEOPLE, *(f"labels_task{task}" for task in tasks), "split")
    assert len(items) == size
    assert {tuple(one) for one in items.values()} == {keys}
    assert all(item == one["id_EXIST"] for item, one in items.items())
    assert {one["split"] for one in items.values()} == {f"{split}_EN", f"{split}_ES"}
    assert all(
        len(one[key]) == 6 for one in items.values() for key in keys if key.endswith("annotators") and key != PEOPLE[0]
    )
    for task in tasks:
        assert all(len(one[f"labels_task{task}"]) == 6 for one in items.values())


@pytest.mark.slow
def test_exist_memes_have_stand_in_images(built: Built) -> None:
    folder = built["exist2024"].folder
    for split in ("train", "test"):
        items = json.loads((folder / f"data/{split}/memes.json").read_text(encoding="utf-8"))
        with ZipFile(folder / f"data/{split}/images.zip") as images:
            assert images.namelist() == [one["path_memes"] for one in items.values()]
            assert images.read(images.namelist()[0]).startswith(b"\x89PNG")


def test_exist_evaluation_folder_has_gold_and_baselines_of_the_development_set(built: Built) -> None:
    definition = built["exist2024"]
    with ZipFile(definition.folder / "data/dev/evaluation.zip") as folder:
        assert len(folder.namelist()) == 6 + 12
        for task, context in product((1, 2, 3), ("hard", "soft")):
            gold = folder.read(f"evaluation/golds/EXIST2024_dev_task{task}_gold_{context}.json")
            run = folder.read(f"evaluation/baselines/EXIST2024_dev_task{task}_majority_class_{context}.json")
            assert {tuple(one) for one in json.loads(gold)} == {("test_case", "id", "value")}
            assert check(definition, f"task{task}-{context}", run, split="dev").problems == []


@pytest.mark.slow
def test_exist_texts_can_be_learned_from(built: Built) -> None:
    """A linear model on words is correct more often than the most frequent label."""
    folder = built["exist2024"].folder
    texts, labels = {}, {}
    for split in ("train", "dev"):
        items = json.loads((folder / f"data/{split}/tweets.json").read_text(encoding="utf-8")).values()
        texts[split] = [one["tweet"] for one in items]
        labels[split] = np.array([one["labels_task1"].count("YES") > 3 for one in items])
    features, others = tfidf(texts["train"], texts["dev"])
    answers = margins_of(features, labels["train"], others) > 0
    most_frequent = max(labels["dev"].mean(), 1 - labels["dev"].mean())
    assert (answers == labels["dev"]).mean() > most_frequent + 0.05


def test_exist_hard_gold_drops_what_annotators_do_not_agree_on(built: Built) -> None:
    soft = {entry["id"]: entry["value"] for entry in exist_gold(built, "task1_soft")}
    hard = {entry["id"]: entry["value"] for entry in exist_gold(built, "task1_hard")}
    assert Counter(hard.values()) == {"NO": 981, "YES": 827}
    assert {item for item in soft if soft[item]["YES"] == 0.5} == soft.keys() - hard.keys()


def test_exist_intentions_and_types_keep_their_order_of_frequency(built: Built) -> None:
    intentions = Counter(entry["value"] for entry in exist_gold(built, "task2_hard"))
    assert [name for name, _ in intentions.most_common()] == ["NO", "DIRECT", "JUDGEMENTAL", "REPORTED"]
    assert 0.55 < intentions["NO"] / intentions.total() < 0.65
    types = Counter(label for entry in exist_gold(built, "task3_hard") for label in entry["value"])
    assert len(types) == 6
    assert min(types, key=types.__getitem__) == "SEXUAL-VIOLENCE"


def test_detests_categories(built: Built) -> None:
    header, *lines = rows(built["detests2022"].folder / "gold/test.csv", ",")
    sentences = [dict(zip(header, line, strict=True)) for line in lines]
    assert Counter(sentence["stereotype"] for sentence in sentences) == {"0": 1324, "1": 488}
    assert len({sentence["comment_id"] for sentence in sentences}) == 827
    categories = [name for name in header[3:] for sentence in sentences if sentence[name] == "1"]
    assert Counter(categories).most_common(2) == [("migration", 221), ("security", 142)]


def test_detests_training_and_test_have_the_category_counts_of_table_2(built: Built) -> None:
    folder = built["detests2022"].folder
    header, *training = rows(folder / "data/train.csv", ",")
    names, *test = rows(folder / "gold/test.csv", ",")
    counts = {name: sum(line[header.index(name)] == "1" for line in training) for name in names[2:]}
    counts = {name: count + sum(line[names.index(name)] == "1" for line in test) for name, count in counts.items()}
    assert (len(training), len(training) + len(test)) == (3817, 5629)
    assert list(counts.values()) == [1359, 21, 113, 62, 553, 265, 315, 37, 376, 100, 90]
    assert header[-3:] == ["racial_target", "other_target", "implicitness"]


# Pairwise agreement in percent and Fleiss' kappa (Ariza-Casabona et al., 2022, Table 1)
TABLE_1 = {
    "stereotype": (84.36, 0.573),
    "racial_target": (84.05, 0.619),
    "other_target": (98.61, 0.139),
    "implicitness": (81.66, 0.412),
    "xenophobia": (97.65, 0.348),
    "suffering": (94.55, 0.523),
    "economic": (96.86, 0.593),
    "migration": (83.86, 0.669),
    "culture": (90.68, 0.65),
    "benefits": (91.61, 0.764),
    "health": (98.92, 0.744),
    "security": (89.85, 0.735),
    "dehumanisation": (93.43, 0.488),
    "others": (92.74, 0.372),
}


def test_detests_annotators_agree_as_in_table_1(built: Built) -> None:
    definition = built["detests2022"]
    found: dict[str, Any] = {}
    for votes in definition.votes:
        rows = agreement_of(definition.track(votes.track), votes)
        found |= {row.name: row for row in rows if row.name not in found}
    for name, (percent, kappa) in TABLE_1.items():
        assert 100 * found[name].pairwise == pytest.approx(percent, abs=0.15)
        assert found[name].fleiss == pytest.approx(kappa, abs=0.02)


def test_detests_gold_is_what_most_annotators_chose(built: Built) -> None:
    definition = built["detests2022"]
    gold = pd.read_csv(definition.folder / "gold/test.csv")
    gold.index = gold.comment_id.astype(str) + "_" + gold.sentence_pos.astype(str)
    for votes, items in zip(definition.votes, (1812, 488), strict=True):
        track = definition.track(votes.track)
        columns = columns_of(track)
        rules = with_none(rules_of(track, no_vote=votes.also), votes.none)
        made = table_gold(read_votes(votes.file), rules, len(columns)).answers
        assert len(made.ids) == items
        assert made.values.tolist() == gold.loc[list(made.ids), list(columns)].to_numpy().tolist()


def test_detests_slices_are_replies_and_other_sentences(built: Built) -> None:
    folder = built["detests2022"].folder
    sentences = rows(folder / "data/test.csv", ",")[1:]
    replies = ["yes" if replied else "no" for _, _, replied, _ in sentences]
    for gold in built["detests2022"].gold:
        slices = load_gold(built["detests2022"], gold.track, gold.file).slices("reply")
        assert {value: len(items) for value, items in slices.items()} == Counter(replies)
    for line, reply in zip(rows(folder / "data/test-replies.csv", ",")[1:], replies, strict=True):
        assert line[2] == reply


def test_detests_test_sentences_have_no_labels_and_reply_to_earlier_ones(built: Built) -> None:
    header, *lines = rows(built["detests2022"].folder / "data/test.csv", ",")
    assert header == ["comment_id", "sentence_pos", "reply_to", "text"]
    seen: set[str] = set()
    for comment, position, reply_to, _ in lines:
        assert not reply_to or reply_to in seen
        seen.add(f"{comment}_{position}")
    assert 400 < sum(bool(line[2]) for line in lines) < 800


@pytest.mark.slow
@pytest.mark.parametrize("split", ["test", "dev"])
def test_hateval_gold_is_the_majority_of_crowd_and_experts(built: Built, split: str, tmp_path: Path) -> None:
    definition = built["hateval2019"]
    for votes in (one for one in definition.votes if one.split == split):
        out = tmp_path / f"{votes.track}.tsv"
        given = ["votes", "--task", str(definition.folder), "--track", votes.track, "--out", str(out), str(votes.file)]
        assert main(given) == 0
        columns = columns_of(definition.track(votes.track))
        gold = rows(definition.folder / f"gold/{split}/{votes.track[:2]}.tsv", "\t")
        assert rows(out, "\t") == [[line[0], *line[2 : 2 + len(columns)]] for line in gold]


@pytest.mark.parametrize(("language", "hateful"), [("en", 1260), ("es", 660)])
def test_hateval_hateful_tweets(built: Built, language: str, hateful: int) -> None:
    labels = [line[2:] for line in rows(built["hateval2019"].folder / f"gold/test/{language}.tsv", "\t")]
    assert sum(label[0] == "1" for label in labels) == hateful
    assert all(label == ["0", "0", "0"] for label in labels if label[0] == "0")


@pytest.mark.parametrize(("language", "size"), [("en", 9000), ("es", 4500)])
def test_hateval_training_sets(built: Built, language: str, size: int) -> None:
    folder = built["hateval2019"].folder
    header, *train = rows(folder / f"data/train/{language}-labels.tsv", "\t")
    assert (header, len(train)) == (["id", "text", "HS", "TR", "AG"], size)
    hateful = sum(line[2] == "1" for line in train) / size
    assert hateful == pytest.approx({"en": 0.4210, "es": 0.4158}[language], abs=0.0002)  # Tables 1 and 2, both targets
    development = rows(folder / f"data/dev/{language}-labels.tsv", "\t")
    assert development[1:] == rows(folder / f"gold/dev/{language}.tsv", "\t")


# In percent, from Tables 1 and 2 of the overview paper: hateful, individual and aggressive among hateful.
@pytest.mark.parametrize(
    ("language", "target", "shares"),
    [
        ("en", "immigrants", (42.00, 3.33, 59.84)),
        ("en", "women", (42.00, 80.63, 34.44)),
        ("es", "immigrants", (40.50, 32.10, 50.31)),
        ("es", "women", (42.00, 94.94, 92.56)),
    ],
)
def test_hateval_labels_by_target(built: Built, language: str, target: str, shares: tuple[float, ...]) -> None:
    folder = built["hateval2019"].folder
    about = dict(rows(folder / f"data/test/{language}-targets.tsv", "\t")[1:])
    labels = [line[2:] for line in rows(folder / f"gold/test/{language}.tsv", "\t") if about[line[0]] == target]
    hateful = [label for label in labels if label[0] == "1"]
    found = len(hateful) / len(labels), *(sum(one[at] == "1" for one in hateful) / len(hateful) for at in (1, 2))
    assert tuple(round(100 * share, 2) for share in found) == shares


@pytest.mark.parametrize(("split", "empty", "several"), [("test", 394, 199), ("trial", 43, 199)])
def test_toxic_spans_a_post(built: Built, split: str, empty: int, several: int) -> None:
    folder = built["toxicspans2021"].folder
    gold = [json.loads(line[1]) for line in rows(folder / f"gold/{split}/spans.txt", "\t")]
    breaks = [sum(after != before + 1 for before, after in pairwise(post)) for post in gold]
    assert sum(not post for post in gold) == empty
    assert sum(count > 0 for count in breaks) == several


@pytest.mark.slow
@pytest.mark.parametrize("split", ["test", "trial"])
def test_toxic_gold_is_what_most_annotators_marked(built: Built, split: str) -> None:
    definition = built["toxicspans2021"]
    votes = next(votes for votes in definition.votes if votes.split == split)
    gold = span_gold(read_marks(votes.file))
    lines = rows(definition.folder / f"gold/{split}/spans.txt", "\t")
    made = {item: gold.offsets(place) for place, item in enumerate(gold.ids)}
    assert made == {item: json.loads(offsets) for item, offsets in lines}
    (row,) = agreement_of(definition.track("spans"), votes)
    assert row.items == len(lines)
    # The campaign had 0.61 in an experiment with 35 posts.
    assert row.cohen == pytest.approx({"test": 0.617, "trial": 0.709}[split], abs=0.001)


def test_toxic_trial_file_is_read_as_the_campaign_says(built: Built) -> None:
    folder = built["toxicspans2021"].folder
    trial = pd.read_csv(folder / "data/tsd_trial.csv")
    assert (list(trial.columns), len(trial)) == (["spans", "text"], 690)
    spans = trial.spans.apply(literal_eval)
    gold = [json.loads(line[1]) for line in rows(folder / "gold/trial/spans.txt", "\t")]
    assert spans.tolist() == gold
    assert trial.text[0] == rows(folder / "data/trial/posts.tsv", "\t")[1][1]


def test_toxic_spans_are_the_invented_words(built: Built) -> None:
    folder = built["toxicspans2021"].folder
    texts = [line[1] for line in rows(folder / "data/test/posts.tsv", "\t")[1:]]
    gold = [json.loads(line[1]) for line in rows(folder / "gold/test/spans.txt", "\t")]
    marked = ["".join(text[offset] for offset in post) for text, post in zip(texts, gold, strict=True)]
    assert all(post[-1] < len(text) for text, post in zip(texts, gold, strict=True) if post)
    assert Counter(marked).keys() >= {"zib", "vorp", "snibbe", "frobnitzer"}


@pytest.mark.parametrize("split", ["test", "trial"])
def test_toxic_offsets_are_compared_with_the_posts(built: Built, split: str) -> None:
    folder = built["toxicspans2021"].folder
    lines = (folder / f"baselines/{split}/everything.txt").read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].removesuffix("]") + ", 99999]"
    report = check(built["toxicspans2021"], "spans", "\n".join(lines).encode(), split=split)
    assert [(problem.code, problem.severity, problem.count) for problem in report] == [
        ("offset-outside-text", "warning", 1)
    ]


@pytest.mark.parametrize("language", ["en", "es"])
def test_hateval_target_and_aggressiveness_without_hate_are_a_warning(built: Built, language: str) -> None:
    definition = built["hateval2019"]
    lines = [f"{item}\t1\t0\t0" for item in definition.track(f"{language}-b").items["test"].read_text().split()]
    run = "\n".join(lines)
    assert list(check(definition, f"{language}-b", run.encode())) == []
    for cells in ("0\t1\t0", "0\t0\t1", "0\t1\t1"):
        (problem,) = check(definition, f"{language}-b", run.replace("1\t0\t0", cells, 1).encode())
        assert (problem.severity, problem.code, problem.line) == ("warning", "part-without-whole", 1)


@pytest.mark.parametrize(("language", "size"), [("en", 8800), ("pt", 7000)])
def test_ssa_training_sentences_are_balanced_and_each_tuple_has_a_human_label(
    built: Built, language: str, size: int
) -> None:
    folder = built["ssa2023"].folder
    _, *train = rows(folder / f"data/{language}-train.tsv", "\t")
    assert Counter(label for _id, _text, label in train) == {"0": size // 2, "1": size // 2}
    _, *humans = rows(folder / f"data/{language}-humans.tsv", "\t")
    assert len(humans) == 300
    assert {label for _id, label in humans} == {"hateful", "not-hateful"}


@pytest.mark.parametrize("language", ["en", "pt"])
def test_ssa_groups_and_labelled_pairs(built: Built, language: str) -> None:
    _, *lines = rows(built["ssa2023"].folder / f"gold/{language}.csv", ",")
    assert Counter(group for _, group, *_ in lines) == {"gender": 109, "race": 191, "": 200}
    assert all(labels == ["", ""] if group else set(labels) <= {"0", "1"} for _, group, *labels in lines)


@pytest.mark.parametrize("language", ["en", "pt"])
def test_ssa_examples_are_those_of_table_3(built: Built, language: str) -> None:
    definition = built["ssa2023"]
    examples = definition.track(language).examples
    assert examples is not None
    assert examples.columns == ("stereotype", "counter", "human_label")
    rows = [line.split("\t") for line in examples.items["test"].read_text().splitlines()[1:]]
    assert [row[3] for row in rows] == ["not-hateful"] * 3 + ["hateful"] * 4
    public = dict(line.split("\t", 1) for line in (definition.folder / f"data/{language}.tsv").read_text().splitlines())
    assert all(public[row[0]] == "\t".join(row[1:3]) for row in rows)
