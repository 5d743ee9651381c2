"""Migrating the data of the first release."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from portal.models import GoldStandard, OutgoingMail, Quota, Run, Team
from tests.portal.world import EVALUATION, GOOD, POST, captain, send_run, work_off

pytestmark = pytest.mark.django_db(transaction=True)


def counted():
    return sorted(Quota.objects.values_list("team", "user", "phase", "track", "day", "used"), key=str)


@pytest.mark.slow
def test_runs_teams_and_gold_of_the_first_release_come_through(meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    send_run(meltemi, GOOD, 1, POST, "post")
    work_off(EVALUATION)
    limits, runs = counted(), list(Run.objects.values())
    assert OutgoingMail.objects.update(state=OutgoingMail.State.CANCELED)
    assert Quota.objects.filter(user=captain(meltemi)).count() == 3  # two phases, and one day
    try:
        MigrationExecutor(connection).migrate([("portal", "0002_cache_table")])
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM portal_quota")
            assert cursor.fetchone() == (3,)  # those of the team
            cursor.execute("SELECT DISTINCT state FROM portal_outgoingmail")
            assert cursor.fetchall() == [("needless",)]
    finally:
        call_command("migrate", "portal", verbosity=0)
    assert set(OutgoingMail.objects.values_list("state", flat=True)) == {"canceled"}
    assert (counted(), list(Run.objects.values())) == (limits, runs)
    assert all(GoldStandard.objects.values_list("is_imported", flat=True))
    assert Team.objects.get().name_key == meltemi.name_key
