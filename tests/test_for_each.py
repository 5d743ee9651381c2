"""`for_each` runs all cases and lists each that fails."""

import pytest

from tests.for_each import for_each


def test_all_cases_run_and_each_failure_has_its_name() -> None:
    seen = []

    @for_each(["number"], [pytest.param(number, id=f"case {number}") for number in range(4)])
    def check(number: int, limit: int) -> None:
        seen.append(number)
        if number == 3:
            pytest.fail("three")
        assert number < limit

    with pytest.raises(BaseExceptionGroup, match="2 of 4 cases") as raised:
        check(limit=2)
    assert seen == [0, 1, 2, 3]
    assert [error.__notes__ for error in raised.value.exceptions] == [["case 2"], ["case 3"]]
