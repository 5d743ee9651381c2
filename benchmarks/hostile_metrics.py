"""Tracks with expensive metrics, and valid runs as large as limits allow. `hostile_uploads` adds them to its own."""

import json
from collections.abc import Callable, Iterator
from functools import partial

from scoring import limits
from scoring.metrics.tuple_limits import MOST_STEPS

FEW = [str(500_000 + number) for number in range(2000)]
TEXTS = [str(500_000 + number) for number in range(limits.TEXTS)]  # as many texts as a split can have
COLUMNS = [f"column {number}" for number in range(1000)]
TUPLES = 90  # of each item, three times as many as a definition allows by default
GOLD_TUPLES = int((MOST_STEPS / (len(FEW) * TUPLES)) ** 0.5)  # as many as may be paired with so many
LONGEST = 500  # 2,000 texts of this length have as many characters as METEOR allows

TRACKS = {  # slug → format and one metric
    "task2-bias": ("{kind: json-soft, classes: [toxic]}", '"bnsp_auc:toxic@group=a"'),
    "task2-background": ("{kind: json-soft, classes: [toxic]}", '"bpsn_auc:toxic@group=a"'),
    "task4-rmse": (f"{{kind: table, id: id, columns: {json.dumps(COLUMNS)}, values: number}}", "rmse_columns"),
    "task4-r2": ("{kind: table, id: id, columns: [mood], values: number}", '"r2:mood"'),
    "task4-beta": (
        f"{{kind: table, id: id, columns: {json.dumps(COLUMNS)}, values: [0, 1, 2]}}",
        "{name: f1_macro_all, beta: 2}",
    ),
    "task6-ninety": (
        f"{{kind: tuples, columns: [who, what], most: {TUPLES}}}",
        "{name: tuple_f1_partial, credit: overlap}",
    ),
    "task9-stems": (f"{{kind: text-lines, ids: first, longest: {LONGEST}}}", "{name: rouge_1, stem: porter}"),
    "task9-normal": (f"{{kind: text-lines, ids: first, longest: {LONGEST}}}", "{name: wer, normalize: basic}"),
    "task9-meteor": (f"{{kind: text-lines, ids: first, longest: {LONGEST}}}", "meteor"),
    "task10-rouge": ("{kind: text-lines, ids: first, longest: 20}", "rouge_1"),
    "task10-meteor": ("{kind: text-lines, ids: first, longest: 20}", "meteor"),
    "task10-normal": ("{kind: text-lines, ids: first, longest: 20}", "{name: wer, normalize: basic}"),
}
WITH_SLICES = ("task2-bias", "task2-background")
LARGE = (*WITH_SLICES, "task4-r2", "task10-rouge", "task10-meteor", "task10-normal")
ITEM_FILES = dict.fromkeys(LARGE, "texts.txt")
SLICES = "\n    slices: {group: {items: {test: groups.tsv, dev: groups-dev.tsv}}}"


def files() -> dict[str, str]:
    """Return the item lists and slices that these tracks use, by name."""
    groups = {"groups.tsv": TEXTS, "groups-dev.tsv": [f"dev-{item}" for item in FEW]}
    tables = {
        name: "\n".join(["id\tgroup", *(f"{item}\t{'ab'[at % 2]}" for at, item in enumerate(ids))])
        for name, ids in groups.items()
    }
    return {"texts.txt": "\n".join(TEXTS), **tables}


def uploads(size: int) -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    """Yield a track, a name and a function that returns the content for each upload. `size` is about its bytes."""
    few, many = FEW[: max(2, size // 6000)], TEXTS[: max(2, size // 120)]
    for track in WITH_SLICES:
        yield track, "a share for each of very many items", partial(_shares, many, 3)
    yield "task4-rmse", "a number in each cell", partial(_numbers, few, COLUMNS, 3)
    yield "task4-r2", "a number for each of very many items", partial(_numbers, many, ["mood"], 3)
    yield "task4-beta", "a value in each cell", partial(_values, few, 7)
    yield "task6-ninety", "as many tuples as are scored", partial(_tuples, few, min(TUPLES, max(1, size // 100_000)))
    for track in ("task9-stems", "task9-normal", "task9-meteor"):
        yield track, "long texts in another order", partial(_words, few, 7)
    for track in ("task10-rouge", "task10-meteor", "task10-normal"):
        yield track, "a letter for each of very many items", partial(_letters, many, 7)


def _shares(items: list[str], step: int) -> bytes:
    return json.dumps(
        [{"id": item, "value": {"toxic": at * step % 997 / 997}} for at, item in enumerate(items)]
    ).encode()


def _numbers(items: list[str], columns: list[str], step: int) -> bytes:
    cells = ",".join(f"0.{n * step % 997:03d}" for n in range(2 * len(columns))).split(",")
    rows = (f"{item},{','.join(cells[at % len(columns) :][: len(columns)])}" for at, item in enumerate(items))
    return "\n".join([f"id,{','.join(columns)}", *rows]).encode()


def _values(items: list[str], step: int) -> bytes:
    rows = [",".join(str((n * step + at) % 3) for n in range(len(COLUMNS))) for at in range(3)]
    lines = (f"{item},{rows[at * step % 3]}" for at, item in enumerate(items))
    return "\n".join([f"id,{','.join(COLUMNS)}", *lines]).encode()


def _tuples(items: list[str], count: int) -> bytes:
    texts = [f"who {n} one two" for n in range(count)]
    value = [{"who": text, "what": texts[n * 7 % count]} for n, text in enumerate(texts)]
    return json.dumps([{"id": item, "value": value} for item in items], separators=(",", ":")).encode()


def _words(items: list[str], step: int) -> bytes:
    words = LONGEST // 8
    texts = (" ".join(f"{_word((at + n * step) % 9973)}ing" for n in range(words)) for at in range(len(items)))
    return "\n".join(f"{item}\t{text}" for item, text in zip(items, texts, strict=True)).encode()


def _word(number: int) -> str:
    return "".join(chr(97 + number // 26**at % 26) for at in range(4))


def _letters(items: list[str], step: int) -> bytes:
    return "\n".join(f"{item}\t{chr(97 + at * step % 26)}" for at, item in enumerate(items)).encode()


GOLD: dict[str, Callable[[list[str]], bytes]] = {
    **dict.fromkeys(WITH_SLICES, lambda items: _shares(TEXTS[: 50 * len(items)], 1)),
    "task4-rmse": lambda items: _numbers(items, COLUMNS, 1),
    "task4-r2": lambda items: _numbers(TEXTS[: 50 * len(items)], ["mood"], 1),
    "task4-beta": lambda items: _values(items, 1),
    "task6-ninety": lambda items: _tuples(items, GOLD_TUPLES),
    **dict.fromkeys(("task9-stems", "task9-normal", "task9-meteor"), lambda items: _words(items, 1)),
    **dict.fromkeys(
        ("task10-rouge", "task10-meteor", "task10-normal"), lambda items: _letters(TEXTS[: 50 * len(items)], 1)
    ),
}
