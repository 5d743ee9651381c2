"""Lookup of rows by ids, compared with a dictionary."""

import random
from itertools import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.items.index import MANY, ItemIndex

IDS = st.one_of(
    st.integers(0, 300).map(str),
    st.text("ab\0é", max_size=3),
    st.text("xy", min_size=7, max_size=18),
    st.sampled_from(["z" * 64, "z" * 65]),
)


@pytest.fixture(params=[0, MANY], ids=["words", "dictionary"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.items.index.MANY", request.param)


@pytest.mark.slow
@pytest.mark.usefixtures("way")
@given(st.lists(IDS, min_size=1, unique=True), st.lists(IDS, min_size=1))
def test_rows_are_those_of_a_dictionary(known: list[str], asked: list[str]) -> None:
    index = ItemIndex(known)
    for ids in (asked, known[::-1], known[1:] + asked, known + known):
        rows = {item: row for row, item in enumerate(known)}
        assert index.rows_of(ids).tolist() == list(map(rows.get, ids, repeat(-1)))
        assert index.is_same(ids) == (sorted(ids) == sorted(known))


@pytest.mark.usefixtures("way")
def test_duplicates_are_never_the_same() -> None:
    assert not ItemIndex(["a", "b", "b"]).is_same(["a", "b", "b"])
    assert not ItemIndex(["a", "b", "c"]).is_same(["a", "b", "b"])
    assert ItemIndex([]).is_same([])


def test_rows_are_found_once() -> None:
    known = [f"item {number}" for number in range(100)]
    ids = random.Random(1).sample(known, len(known))
    index = ItemIndex(known)
    assert index.is_same(ids)
    assert index.rows_of(ids) is index.rows_of(ids)
    assert index.rows_of(ids[:3]).tolist() == [known.index(item) for item in ids[:3]]


def test_many_ids_in_any_order() -> None:
    known = [str(number) for number in range(9_000, 9_000 + MANY)]
    places = random.Random(2).sample(range(len(known)), len(known))
    index = ItemIndex(known)
    ids = [known[place] for place in places]
    assert index.rows_of(ids).tolist() == places
    assert index.is_same(ids)
    assert not index.is_same([*ids[1:], "0"])
