"""Ids that a spreadsheet, pandas or a script changed: the change is named, and the first id shows it."""

import json
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from scoring import Definition, check, load_definition
from scoring.formats.changed_ids import changed_ids
from scoring.reports.messages import LANGUAGES, phrase
from scoring.reports.problems import Problem
from tests.scoring.conftest import DEFINITION

LONG = [str(1_290_012_345_678_901_234 + 987_654_321_987_654 * number) for number in range(8)]
ZEROS = [f"{number:04}" for number in range(1, 11)]
NAMES = ["news-01_Ana", "news-02_B\u00e9la", "news-03_Cy", "news-04_Di"]

PAIRS = ["1-1", "1-2", "1-3", "2-1", "2-2"]
MONTHS = ("Jan", "Feb", "Mar")
GENES = {"MARCH1": "1-Mar", "SEPT2": "2-Sep", "DEC10": "10-Dec"}


def excel(item: str) -> str:
    return f"{float(item):.2E}"


LONG_APART = [str((11 + number) * 10**17 + 12_345) for number in range(8)]

CHANGES: dict[str, tuple[list[str], Callable[[str], str], str]] = {
    "lost zeros": (ZEROS, lambda item: str(int(item)), "dtype=str"),
    "decimals": (ZEROS, lambda item: str(float(item)), "dtype=str"),
    "thousands": ([str(n) for n in range(12_001, 12_009)], lambda item: f"{int(item):,}", "dtype=str"),
    "added zeros": ([str(n) for n in range(1, 8)], lambda item: item.zfill(5), "dtype=str"),
    "scientific": (LONG_APART, excel, "rounded"),
    "floats": (LONG, lambda item: str(int(float(item))), "rounded"),
    "float text": (LONG, lambda item: str(float(item)), "rounded"),
    "fifteen digits": (LONG, lambda item: item[:15] + "0" * (len(item) - 15), "rounded"),
    "zeros in names": (NAMES, lambda item: item.replace("-0", "-"), "exactly"),
    "case": (NAMES, str.upper, "case"),
    "extension": (ZEROS, lambda item: f"{item}.json.gz", "without a file extension"),
    "no extension": ([f"{item}.jpg" for item in ZEROS], lambda item: item[:-4], "with their file extension"),
    "folders": (NAMES, lambda item: f"data/test/{item}", "without folders"),
    "folders of Windows": (NAMES, lambda item: f"C:\\data\\{item}", "without folders"),
    "folders and extension": (ZEROS, lambda item: f"test/{item}.txt", "without folders and file extension"),
    "prefix": (ZEROS, lambda item: f"test-{item}", "without test- at"),
    "lost prefix": (NAMES, lambda item: item.removeprefix("news-"), "with news- at"),
    "suffix": (ZEROS, lambda item: f"{item}_pred", "without _pred at"),
    "zero width": (NAMES, lambda item: f"\u200b{item}", "invisible"),
    "byte-order marks": (NAMES, lambda item: f"\ufeff{item}", "invisible"),
    "blanks": (NAMES, lambda item: f" {item}  ", "blanks"),
    "no-break spaces": (NAMES, lambda item: f"{item}\u00a0", "blanks"),
    "quotes": (NAMES, lambda item: f"'{item}'", "quotes"),
    "bytes": (NAMES, lambda item: f"b'{item}'", "quotes"),
    "tensors": (ZEROS, lambda item: f"tensor({item})", "quotes"),
    "full width": (ZEROS, lambda item: "".join(chr(ord(digit) + 0xFEE0) for digit in item), "look-alikes"),
    "separators": (NAMES, lambda item: item.replace("-", "_"), "separators"),
    "dates": (PAIRS, lambda item: f"{item[2]}-{('Jan', 'Feb')[int(item[0]) - 1]}", "dates"),
    "dates, day first": (PAIRS, lambda item: f"{item[0]}. {MONTHS[int(item[2]) - 1]}".replace(".", ""), "dates"),
    "dates with years": (PAIRS, lambda item: f"0{item[0]}/0{item[2]}/2024", "dates"),
    "dates of genes": (["MARCH1", "SEPT2", "DEC10"], lambda item: f"{GENES[item]}", "dates"),
    "dates with times": (["2024/1/2", "2024/1/3"], lambda item: f"2024-01-0{item[-1]} 00:00:00", "dates"),
    "escapes": ([f"{item} x" for item in NAMES], lambda item: item.replace(" ", "%20"), "escapes"),
    "mojibake": ([f"{n}-S\u00ed" for n in range(5)], lambda item: item.replace("\u00ed", "\u00c3\u00ad"), "UTF-8"),
    "several": (NAMES, lambda item: f" 'x/{item.upper()}.TXT'", "exactly"),
    "from 0": ([str(n) for n in range(1, 9)], lambda item: str(int(item) - 1), "from 1"),
    "from 0, with a name": ([f"s{n}" for n in range(1, 9)], lambda item: f"s{int(item[1:]) - 1}", "from 1"),
    "from 1, with zeros": ([f"t-{n:03}" for n in range(12)], lambda item: f"t-{int(item[2:]) + 1:03}", "from 0"),
    "from 1": ([str(n) for n in range(8)], lambda item: str(int(item) + 1), "from 0"),
}


@pytest.fixture
def task(write_task: Callable[[str], Path]) -> Definition:
    return load_definition(write_task(DEFINITION))


def problems(task: Definition, items: list[str], ids: list[str]) -> list[Problem]:
    run = json.dumps([{"id": item, "value": "A", "test_case": "TINY"} for item in ids])
    return list(check(task, "task1-hard", run.encode(), items))


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_one_problem_with_its_fix(task: Definition, change: str) -> None:
    items, changed, words = CHANGES[change]
    (problem,) = problems(task, items, list(map(changed, items)))
    assert problem.code == "ids-changed"
    assert words in (problem.expected or "")
    assert len({phrase(problem.expected or "", language) for language in LANGUAGES}) == len(LANGUAGES)
    if not change.startswith("from "):
        assert problem.count == len(items)
        assert (problem.suggestion or "").endswith(f"→ {items[0]}")
    assert problem.message.isprintable()


def test_ids_in_another_order_are_compared_as_well(task: Definition) -> None:
    items = [f"{number:06}" for number in range(1, 6001)]
    ids = [str(int(item)) for item in items[3000:] + items[:3000]]
    (problem,) = problems(task, items, sorted(ids))
    assert (problem.code, problem.count, problem.suggestion) == ("ids-changed", 6000, "1 → 000001")


def test_ids_that_are_rounded_to_the_same_number_have_no_suggestion(task: Definition) -> None:
    items = [str(1_290_000_000_000_000_000 + number) for number in range(8)]
    found = {problem.code: problem for problem in problems(task, items, list(map(excel, items)))}
    assert found.keys() == {"duplicate-ids", "ids-changed"}
    assert found["ids-changed"].suggestion is None
    assert "rounded" in found["ids-changed"].message


def test_other_unknown_ids_are_still_reported(task: Definition) -> None:
    found = problems(task, ZEROS, [str(int(item)) for item in ZEROS[:8]] + ["total"])
    assert {problem.code: problem.places for problem in found} == {
        "missing-items": ("0009", "0010"),
        "ids-changed": tuple(str(number) for number in range(1, 9)),
        "unknown-ids": ("total",),
    }


@pytest.mark.parametrize("ids", [["x1", "x2", "x3"], ["A1", "a1", "b2"], ["11", "12", "13"]])
def test_ids_that_no_change_explains_are_unknown(task: Definition, ids: list[str]) -> None:
    found = {problem.code for problem in problems(task, ["a1", "b7", "c9", "d4"], ids)}
    assert "ids-changed" not in found
    assert "unknown-ids" in found


@pytest.mark.parametrize(
    "found", ["A0.TXT/x'{}'", "(((((((((({}", "{}.0", "{}/a.b.c.d.e", "-_-_-_-_{}", "%41%41{}&amp;", "\u00e9{}"]
)
def test_many_ids_take_linear_time(found: str) -> None:
    unknown = [found.format(number) for number in range(40_000)]
    items = [f"Item {number:06}.TXT" for number in range(40_000)]
    seconds = []
    for count in (10_000, 40_000):
        start = process_time()
        changed_ids(unknown[:count], items[:count], count)
        seconds.append(process_time() - start)
    assert seconds[1] < 12 * seconds[0] + 0.1
