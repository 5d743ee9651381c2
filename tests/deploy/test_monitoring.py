"""The dashboard and the alerts use only existing metrics."""

import json
import re
from collections.abc import Iterator

import pytest
import yaml
from django.db.models import Model

from portal.models import Heartbeat, OutgoingMail, Reading, Run, TaskPush, Team
from portal.models.clock import database_now
from portal.queries.metrics import metrics
from tests.conftest import ROOT
from tests.portal.world import EVALUATION, GOOD, send_run, work_off

FOLDER = ROOT / "deploy/monitoring"


@pytest.fixture
def given(meltemi: Team) -> dict[str, set[str]]:
    """The labels of each metric, by name."""
    send_run(meltemi, GOOD, 1, EVALUATION)
    send_run(meltemi, ["MAYBE"], 2, EVALUATION)
    work_off(EVALUATION)
    Heartbeat.objects.beat("scoring", database_now())
    Reading.objects.note(Reading.CERTIFICATE, database_now(), database_now().timestamp())
    samples = (sample for family in metrics(database_now()) for sample in family.samples)
    return {sample.name: set(sample.labels) for sample in samples}


def expressions() -> Iterator[str]:
    dashboard = json.loads((FOLDER / "grafana-dashboard.json").read_text())
    yield from (target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
    alerts = yaml.safe_load((FOLDER / "alerts.yml").read_text())
    yield from (rule["expr"] for group in alerts["groups"] for rule in group["rules"])


def test_every_figure_that_is_asked_for_is_given(given: dict[str, set[str]]) -> None:
    asked = list(expressions())
    assert len(asked) > 15
    for expression in asked:
        names = re.findall(r"\bagon_\w+", expression)
        assert set(names) <= set(given), expression
        labels = re.findall(r'(\w+)="', expression) + re.findall(r"by \((\w+)\)", expression)
        assert all(label in set().union(*(given[name] for name in names)) for label in labels if label != "job"), (
            expression
        )


def test_every_state_of_an_alert_is_one(given: dict[str, set[str]]) -> None:
    def states(model: type[Model]) -> set[str]:
        return {value for value, _ in model._meta.get_field("state").choices or ()}

    for expression in expressions():
        for name, state in re.findall(r'agon_(runs|mails|pushes)\{state="(\w+)"', expression):
            assert state in states({"runs": Run, "mails": OutgoingMail, "pushes": TaskPush}[name])


def test_every_figure_is_on_the_dashboard(given: dict[str, set[str]]) -> None:
    """Every metric is used by the dashboard or an alert."""
    shown = " ".join(expressions())
    endings = ("_count", "_sum", "_created")
    assert {name for name in given if not name.endswith(endings) and name not in shown} == set()
