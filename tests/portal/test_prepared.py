"""Statements whose SQL is built once do the same as the ORM's own."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db.models import F, QuerySet

from portal.models import Run, Submission
from portal.models.prepared import PreparedQuery, PreparedUpdate
from tests.portal.world import EVALUATION, GOOD, send_run

pytestmark = pytest.mark.postgres


@PreparedQuery
def uploads(team: int, name: str, since: datetime) -> QuerySet[Any, Any]:
    return Submission.objects.filter(team=team, file_name=name, received_at__gte=since).values_list("pk")


def test_each_call_uses_its_own_values(meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    asked = {"team": meltemi.pk, "name": "one_Meltemi_1.json", "since": EVALUATION}
    assert len(uploads(**asked)) == 1
    for name, other in {
        "team": meltemi.pk + 1,
        "name": "other.json",
        "since": EVALUATION + timedelta(seconds=1),
    }.items():
        assert uploads(**asked | {name: other}) == [], name
    assert len(uploads(**asked)) == 1


def test_the_sql_is_built_once(meltemi):
    calls = []

    def build(team: int) -> QuerySet[Any, Any]:
        calls.append(team)
        return Submission.objects.filter(team=team).values_list("pk")

    query = PreparedQuery(build)
    assert query(team=meltemi.pk) == query(team=meltemi.pk) == []
    assert len(calls) == 1


@PreparedQuery
def runs_from(team: int, since: datetime) -> QuerySet[Run]:
    return Run.objects.filter(team=team, received_at__gte=since).select_related("submission__team").order_by("number")


def test_rows_are_objects_as_the_queryset_returns_them(meltemi, django_assert_num_queries):
    for number in (1, 2):
        send_run(meltemi, GOOD, number, EVALUATION)
    Run.objects.filter(number=1).update(fields={"model": "first"})
    for _ in range(2):
        with django_assert_num_queries(1):
            first, second = runs_from(team=meltemi.pk, since=EVALUATION)
            assert (first.number, first.fields, first.received_at) == (1, {"model": "first"}, EVALUATION)
            assert (second.number, second.submission.team) == (2, meltemi)
    assert runs_from.first(team=meltemi.pk, since=EVALUATION) == first
    assert runs_from.first(team=meltemi.pk, since=EVALUATION + timedelta(seconds=1)) is None


def test_an_update_changes_only_the_rows_of_its_values(meltemi):
    @PreparedUpdate
    def lose_leases(team: int, name: str, count: int) -> tuple[QuerySet[Submission], dict[str, Any]]:
        rows = Submission.objects.filter(team=team, file_name=name)
        return rows, {"leases_lost": F("leases_lost") + count}

    for number in (1, 2):
        send_run(meltemi, GOOD, number, EVALUATION)
    assert lose_leases(team=meltemi.pk, name="one_Meltemi_1.json", count=2) == 1
    assert lose_leases(team=meltemi.pk, name="one_Meltemi_1.json", count=3) == 1
    assert lose_leases(team=meltemi.pk + 1, name="one_Meltemi_1.json", count=3) == 0
    assert dict(Submission.objects.values_list("file_name", "leases_lost")) == {
        "one_Meltemi_1.json": 5,
        "one_Meltemi_2.json": 0,
    }


@pytest.mark.django_db
def test_a_parameter_must_be_used_as_it_is():
    def build(team: int, at: datetime) -> QuerySet[Any, Any]:
        return Submission.objects.filter(team=team, received_at__gt=at - timedelta(hours=1)).values_list("pk")

    with pytest.raises(TypeError, match="build changes at"):
        PreparedQuery(build)(team=1, at=EVALUATION)
