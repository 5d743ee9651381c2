"""Migrating data from the first release."""

from datetime import UTC, datetime

import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model

from portal.actions.base.errors import Conflict
from portal.actions.teams import register_team
from portal.models import AuditEntry, ExtraTime, GoldStandard, OutgoingMail, Quota, Run, Submission, Team
from tests.portal.world import EVALUATION, GOOD, POST, captain, person, send_run, work_off

pytestmark = pytest.mark.django_db(transaction=True)


def counted():
    return sorted(Quota.objects.values_list("team", "user", "phase", "track", "day", "used"), key=str)


@pytest.mark.slow
def test_runs_teams_and_gold_of_the_first_release_come_through(meltemi, capsys):
    """Team names that are too similar are kept and reported. One test shows both, because migrating takes seconds."""
    send_run(meltemi, GOOD, 1, EVALUATION)
    send_run(meltemi, GOOD, 1, POST, "post")
    send_run(meltemi, ["Yes"], 2, POST, "post")
    work_off(EVALUATION)
    codes = sorted(Submission.objects.values_list("pk", "problem_codes"))
    assert any(text for _pk, text in codes)
    limits, runs = counted(), list(Run.objects.order_by("pk").values())
    assert OutgoingMail.objects.update(state=OutgoingMail.State.CANCELED)
    assert Quota.objects.filter(user=captain(meltemi)).count() == 3  # two phases, and one day
    try:
        MigrationExecutor(connection).migrate([("portal", "0002_cache_table")])
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM portal_quota")
            assert cursor.fetchone() == (3,)  # only the team's quota
            cursor.execute("SELECT DISTINCT state FROM portal_outgoingmail")
            assert cursor.fetchall() == [("needless",)]
        before_keys = MigrationExecutor(connection).migrate([("portal", "0013_mails_about_teams")])
        register_without_keys(before_keys.apps.get_model("portal", "Team"), meltemi)
    finally:
        call_command("migrate", "portal", verbosity=0)
    assert set(OutgoingMail.objects.values_list("state", flat=True)) == {"canceled"}
    assert (counted(), list(Run.objects.order_by("pk").values())) == (limits, runs)
    assert sorted(Submission.objects.values_list("pk", "problem_codes")) == codes
    assert all(GoldStandard.objects.values_list("is_imported", flat=True))
    assert Team.objects.get(pk=meltemi.pk).name_key == meltemi.name_key
    assert "tiny: these team names are easily mistaken for each other: CaseTeam0, caseteam0" in capsys.readouterr().out
    teams = meltemi.shared_task.teams
    assert sorted(teams.values_list("name", flat=True)) == ["CaseTeam0", "Meltemi", "Other", "caseteam0"]
    with pytest.raises(Conflict):
        register_team(person("Third"), meltemi.shared_task, EVALUATION, name="CASETEAM0")


def register_without_keys(old_team: type[Model], meltemi: Team) -> None:
    """Add teams to the task as a release did that allowed similar names."""
    for code, name in enumerate(["CaseTeam0", "caseteam0", "Other"]):
        created = datetime(2024, 5, 1 + code, tzinfo=UTC)
        old_team._base_manager.create(
            shared_task_id=meltemi.shared_task_id, name=name, created_at=created, invitation_code=f"code{code}"
        )


@pytest.mark.slow
def test_extra_time_in_the_audit_log_has_the_current_name(meltemi: Team) -> None:
    """The table stays the same, for earlier versions that are still running."""
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    given = phase.extra_times.create(until=POST, reason="x", granted_by=captain(meltemi), granted_at=EVALUATION)
    for verb in ("grant_extra_time", "revoke_extra_time"):
        AuditEntry.objects.record(None, verb, phase, EVALUATION)
    ContentType.objects.get_for_model(ExtraTime)
    try:
        old = MigrationExecutor(connection).migrate([("portal", "0037_dates")]).apps
        assert old.get_model("portal", "Grace").objects.get().phase.graces.get().pk == given.pk
        verbs = set(old.get_model("portal", "AuditEntry").objects.values_list("verb", flat=True))
        assert {"grant_grace", "revoke_grace"} <= verbs
        assert {name for name in verbs if "extra" in name} == set()
    finally:
        call_command("migrate", "portal", verbosity=0)
    assert ExtraTime.objects.get() == given
    verbs = set(AuditEntry.objects.values_list("verb", flat=True))
    assert {name for name in verbs if "gra" in name} == {"grant_extra_time"}
    assert "revoke_extra_time" in verbs
    names = ContentType.objects.filter(app_label="portal").values_list("model", flat=True)
    assert ("grace" in names, "extratime" in names) == (False, True)
