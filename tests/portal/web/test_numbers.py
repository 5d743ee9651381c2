import pytest

from portal.times_and_numbers import count, file_size, score
from portal.web.templatetags.numbers import digest


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (-0.238, 4, "−0.2380"),
        (1.6676, 4, "1.6676"),
        (-36.31616, 4, "−36.3162"),
        (1234.5, 3, "1,234.500"),
        (-0.00001, 4, "0.0000"),  # not −0.0000
        (None, 4, "–"),
    ],
)
def test_a_score_has_fixed_decimals_and_a_true_minus(value: float | None, decimals: int, text: str) -> None:
    assert score(value, decimals) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (1812, "1,812"), (-3, "−3"), (None, "–")])
def test_a_count_has_commas(value: int | None, text: str) -> None:
    assert count(value) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1024, "1 KiB"),
        (1_840_000, "1.75 MiB"),
        (64 * 1024 * 1024, "64 MiB"),
        (1_048_500, "1 MiB"),
        (12_345_678_901, "11.5 GiB"),
        (None, "–"),
    ],
)
def test_a_size_has_three_digits_and_a_unit(size: int | None, text: str) -> None:
    assert file_size(size) == text


def test_a_hash_is_in_groups_of_eight() -> None:
    assert digest("0123456789abcdef" * 4) == " ".join(["01234567", "89abcdef"] * 4)
