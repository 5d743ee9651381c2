from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.template import Context

from portal.times_and_numbers import span
from portal.web.templatetags.times import closing_day, day, deadline, moment, since, time_left

NOW = datetime(2024, 5, 16, 6, 47, 9, tzinfo=UTC)
CLOSES = datetime(2024, 5, 16, 12, 0, tzinfo=UTC)  # midnight AoE


def context(zone: str = "Europe/Madrid") -> Context:
    return Context({"at": NOW, "user": SimpleNamespace(is_authenticated=True, time_zone=zone)})


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(seconds=59), "less than a minute"),
        (timedelta(minutes=12, seconds=59), "12 min"),
        (timedelta(hours=5, minutes=12), "5 h 12 min"),
        (timedelta(hours=47, minutes=59), "47 h 59 min"),
        (timedelta(days=9), "9 days"),
        (timedelta(days=182), "26 weeks"),
        (timedelta(days=800), "2 years"),
    ],
)
def test_a_duration_is_shown_in_the_units_that_matter(duration: timedelta, text: str) -> None:
    assert span(duration) == text


def test_the_time_left_counts_from_the_page() -> None:
    assert time_left(context(), CLOSES) == "5 h 12 min"
    assert time_left(context(), NOW - timedelta(days=9)) == "9 days"


def test_a_time_is_shown_in_aoe_and_then_in_the_readers_zone() -> None:
    text = moment(context(), CLOSES)
    assert "Thu 16 May, 00:00 AoE" in text
    assert "Thu 16 May, 14:00 in Madrid" in text
    assert text.index("AoE") < text.index("Madrid")


def test_the_dot_between_two_times_is_never_at_the_end_of_a_line() -> None:
    assert ' AoE</time><span class="dot"> ·&nbsp;</span><time ' in moment(context(), CLOSES)


def test_a_deadline_at_midnight_is_the_end_of_the_day_before() -> None:
    text = deadline(context(), CLOSES)
    assert "Wed 15 May, 23:59 AoE" in text
    assert "Thu 16 May, 13:59 in Madrid" in text


def test_the_day_of_a_closing_is_that_of_its_deadline() -> None:
    assert "15 May 2024 AoE" in closing_day(CLOSES)
    assert "16 May 2024 AoE" in closing_day(CLOSES + timedelta(hours=12))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "less than 0.1 s"), (0.05, "0.1 s"), (4.23, "4.2 s"), (59.9, "59.9 s"), (60, "1 min"), (90_000, "")],
)
def test_durations_are_shown_to_the_tenth_and_up_to_a_day(seconds: float, text: str) -> None:
    assert since(NOW + timedelta(seconds=seconds), NOW) == text


def test_a_deadline_at_noon_stays_as_it_is() -> None:
    assert "Thu 16 May, 12:00 AoE" in deadline(context(), CLOSES + timedelta(hours=12))


def test_another_year_is_named() -> None:
    assert "Thu 16 May 2019, 00:00 AoE" in moment(context(), CLOSES.replace(year=2019))


def test_seconds_where_a_receipt_needs_them() -> None:
    assert "Wed 15 May, 18:47:09 AoE" in moment(context(), NOW, "seconds")


@pytest.mark.parametrize("zone", ["UTC", "Mars/Olympus_Mons", "../../etc/passwd"])
def test_without_a_zone_of_their_own_readers_get_utc_and_the_browser_may_say_better(zone: str) -> None:
    text = moment(context(zone), CLOSES)
    assert "Thu 16 May, 12:00 UTC" in text
    assert "data-local" in text


def test_a_chosen_zone_is_left_alone_by_the_browser() -> None:
    assert "data-local" not in moment(context(), CLOSES)


def test_a_day_is_the_readers_day() -> None:
    evening = datetime(2022, 6, 11, 23, 30, tzinfo=UTC)
    assert "12 June 2022" in day(context(), evening)
    assert "12 Jun 2022" in day(context(), evening, "short")
