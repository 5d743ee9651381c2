"""Subqueries whose SQL is built once select the same rows as the queries themselves, at any time."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from portal.models import Phase
from portal.models.prepared import PreparedSubquery
from tests.portal.world import EVALUATION, RELEASE

pytestmark = pytest.mark.postgres


def test_each_use_has_its_own_time_and_the_sql_is_built_once(tiny):
    calls = []

    def build(at: datetime) -> QuerySet[Any, Any]:
        calls.append(at)
        return Phase.objects.order_by().filter(opens__lte=at).values("pk")

    opened = PreparedSubquery(build)
    for at in (EVALUATION, RELEASE, EVALUATION - timedelta(days=3650)):
        expected = set(Phase.objects.filter(opens__lte=at))
        assert set(Phase.objects.filter(pk__in=opened(at=at))) == expected
        assert set(Phase.objects.exclude(pk__in=opened(at=at))) == set(Phase.objects.all()) - expected
    assert len(calls) == 1


def test_the_embargo_follows_the_time_of_each_statement(tiny):
    def is_visible(at):
        return Phase.objects.with_visible_scores(AnonymousUser(), at).filter(slug="evaluation").exists()

    moment = timedelta(microseconds=1000)
    times = [RELEASE, RELEASE - moment, RELEASE + moment, RELEASE - moment]
    assert [is_visible(at) for at in times] == [True, False, True, False]
