"""The generators: the same bytes every time, with the sizes and label counts of the original tasks."""

import hashlib
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scoring import Definition, check
from tasks import GENERATORS, build
from tests.tasks.conftest import Built


def digest(folder: Path) -> str:
    """Return a SHA-256 over the names and contents of all files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = [f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]
    return hashlib.sha256("\n".join(sums).encode()).hexdigest()


def rows(path: Path, separator: str) -> list[list[str]]:
    return [line.split(separator) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("slug", GENERATORS)
def test_the_same_bytes_every_time(slug: str, built: Built, tmp_path: Path) -> None:
    assert digest(build(slug, tmp_path)) == digest(built[slug].folder)


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
        header, *lines = rows(dataset.file, "\t")
        assert {len(line) for line in lines} == {len(header)}
        assert all(cell for line in lines for cell in line)


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


@pytest.mark.parametrize(("language", "hateful"), [("en", 1260), ("es", 660)])
def test_hateval_hateful_tweets(built: Built, language: str, hateful: int) -> None:
    labels = [line[2:] for line in rows(built["hateval2019"].folder / f"gold/test/{language}.tsv", "\t")]
    assert sum(label[0] == "1" for label in labels) == hateful
    assert all(label == ["0", "0", "0"] for label in labels if label[0] == "0")


@pytest.mark.parametrize(("split", "empty", "several"), [("test", 394, 199), ("trial", 43, 199)])
def test_toxic_spans_a_post(built: Built, split: str, empty: int, several: int) -> None:
    folder = built["toxicspans2021"].folder
    gold = [json.loads(line[1]) for line in rows(folder / f"gold/{split}/spans.txt", "\t")]
    breaks = [sum(after != before + 1 for before, after in pairwise(post)) for post in gold]
    assert sum(not post for post in gold) == empty
    assert sum(count > 0 for count in breaks) == several


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


@pytest.mark.parametrize("language", ["en", "pt"])
def test_ssa_groups_and_labelled_pairs(built: Built, language: str) -> None:
    _, *lines = rows(built["ssa2023"].folder / f"gold/{language}.csv", ",")
    assert Counter(group for _, group, *_ in lines) == {"gender": 109, "race": 191, "": 200}
    assert all(labels == ["", ""] if group else set(labels) <= {"0", "1"} for _, group, *labels in lines)
