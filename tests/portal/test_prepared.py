"""Queries whose SQL is built once give the same rows as the queries themselves."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db.models import QuerySet

from portal.models import Submission
from portal.models.prepared import PreparedQuery
from tests.portal.world import EVALUATION, GOOD, send_run


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


@pytest.mark.django_db
def test_a_parameter_must_be_used_as_it_is():
    def build(team: int, at: datetime) -> QuerySet[Any, Any]:
        return Submission.objects.filter(team=team, received_at__gt=at - timedelta(hours=1)).values_list("pk")

    with pytest.raises(TypeError, match="build changes at"):
        PreparedQuery(build)(team=1, at=EVALUATION)
