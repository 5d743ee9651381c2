"""Each alert, evaluated by Prometheus's promtool: it fires when it should, and only then."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

RULES = ROOT / "deploy/monitoring/alerts.yml"
DAY = 24 * 3600

# alert → series that make it fire after an hour, and series that do not, in promtool's notation with a value per minute
CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "AgonDown": ({'up{job="agon"}': "0x60"}, {'up{job="agon"}': "1x60"}),
    "AgonWorkerSilent": (  # for a worker that never started, the age is that of the portal
        {'agon_heartbeat_age_seconds{lane="bulk"}': "0+60x60"},
        {'agon_heartbeat_age_seconds{lane="bulk"}': "40x60"},
    ),
    "AgonWorkerNotReady": (
        {'agon_workers_not_ready{lane="scoring"}': "0x10 1x50"},
        {'agon_workers_not_ready{lane="scoring"}': "0x60"},
    ),
    "AgonClockOff": (
        {'agon_clock_offset_seconds{host="a",lane="bulk"}': "-300x60"},
        {'agon_clock_offset_seconds{host="a",lane="bulk"}': "-2x60"},
    ),
    "AgonQueueOld": (
        {'agon_queue_age_seconds{work="check"}': "0+60x60"},
        {'agon_queue_age_seconds{work="check"}': "30x60"},
    ),
    "AgonRunsFailed": (
        {'agon_runs{state="failed"}': "0x50 1x10"},  # the first failure ever
        {'agon_runs{state="failed"}': "3x60", 'agon_runs{state="received"}': "0+1x60"},
    ),
    "AgonPushesFailed": (
        {'agon_pushes{state="failed"}': "0x50 1x10"},
        {'agon_pushes{state="failed"}': "3x60", 'agon_pushes{state="received"}': "0+1x60"},
    ),
    "AgonMailsGivenUp": ({'agon_mails{state="failed"}': "0x50 1x10"}, {'agon_mails{state="queued"}': "9x60"}),
    "AgonDiskFull": ({"agon_disk_free_bytes": "4000000000x60"}, {"agon_disk_free_bytes": "6000000000x60"}),
    "AgonManyRefusals": (
        {'agon_refusals_total{code="missing-item"}': "0+4x60"},
        {'agon_refusals_total{code="missing-item"}': "0+3x60"},
    ),
    "AgonServerErrors": (
        {'agon_answers_total{status="5xx"}': "0x40 0+1x20", 'agon_answers_total{status="2xx"}': "0+90x60"},
        {'agon_answers_total{status="5xx"}': "0x59 4", 'agon_answers_total{status="2xx"}': "0+90x60"},
    ),
    "AgonSlow": (
        {'agon_answered_seconds_bucket{le="2.5"}': "0+9x60", 'agon_answered_seconds_bucket{le="5.0"}': "0+10x60"}
        | {'agon_answered_seconds_bucket{le="+Inf"}': "0+10x60"},
        {'agon_answered_seconds_bucket{le="2.5"}': "0+97x60", 'agon_answered_seconds_bucket{le="+Inf"}': "0+100x60"},
    ),
    "AgonCertificateExpires": (
        {"agon_certificate_seconds": f"{13 * DAY}x130"},
        {"agon_certificate_seconds": f"{20 * DAY}x130"},
    ),
    "AgonDatabaseConnections": (
        {'agon_database_connections{kind="used"}': "81x60", 'agon_database_connections{kind="limit"}': "100x60"},
        {'agon_database_connections{kind="used"}': "79x60", 'agon_database_connections{kind="limit"}': "100x60"},
    ),
    "AgonBackupOld": (
        {'agon_work_age_seconds{work="backup"}': f"{27 * 3600}x60"},
        {
            'agon_work_age_seconds{work="backup"}': f"{25 * 3600}x60",
            'agon_work_age_seconds{work="restore"}': "94000x60",
        },
    ),
    "AgonBackupDamaged": (
        {'agon_work_problems{work="restore"}': "1x60"},
        {'agon_work_problems{work="restore"}': "0x60", 'agon_work_problems{work="reconcile"}': "1x60"},
    ),
    "AgonRestoreNotTried": (
        {'agon_work_age_seconds{work="restore"}': f"{10 * DAY}x130"},
        {'agon_work_age_seconds{work="restore"}': f"{8 * DAY}x130"},
    ),
    "AgonDifferences": (
        {'agon_work_problems{work="reconcile"}': "2x60"},
        {'agon_work_problems{work="reconcile"}': "0x60"},
    ),
    "AgonNotReconciled": (
        {'agon_work_age_seconds{work="reconcile"}': f"{51 * 3600}x130"},
        {'agon_work_age_seconds{work="reconcile"}': f"{49 * 3600}x130"},
    ),
}
SQLITE = {'agon_database_connections{kind="used"}': "0x60", 'agon_database_connections{kind="limit"}': "0x60"}


def alerts() -> list[dict[str, str]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def test_every_alert_has_a_case_and_says_where_to_begin() -> None:
    assert {rule["alert"] for rule in alerts()} == CASES.keys()
    assert all(rule["annotations"].keys() == {"summary", "fix"} for rule in alerts())


def firing(alert: str, series: dict[str, str], count: int) -> dict[str, object]:
    return {
        "name": f"{alert} {'fires' if count else 'is quiet'}",
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertname="{alert}", alertstate="firing"}}) or vector(0)',
                "eval_time": "121m" if any("x130" in values for values in series.values()) else "60m",
                "exp_samples": [{"labels": "{}", "value": count}],
            }
        ],
    }


def test_each_fires_on_what_it_is_for_and_on_nothing_less(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("no promtool is installed")
    tests = [firing("AgonDatabaseConnections", SQLITE, 0)]
    for alert, (bad, good) in CASES.items():
        tests += [firing(alert, bad, 1), firing(alert, good, 0)]
    file = tmp_path / "alerts.yml"
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests}))
    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_understands_the_scrape_configuration() -> None:
    if shutil.which("promtool") is None:
        pytest.skip("no promtool is installed")
    command = ["promtool", "check", "config", "--syntax-only", RULES.with_name("prometheus.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
