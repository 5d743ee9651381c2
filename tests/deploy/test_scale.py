"""`docker compose up --scale worker=4`: four workers score uploads, also after one of them is killed."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml

from tests.conftest import ROOT
from tests.deploy.production import Production, production
from tests.portal.world import GOOD, run_file
from tests.services import postgres_programs, wait_until

WORKERS = ("worker", "worker-2", "worker-3", "worker-4")
RUNS = 12
SCORED = """SELECT count(*), count(DISTINCT e.run_id) FROM portal_run r JOIN portal_evaluation e ON e.run_id = r.id
    WHERE r.kind = 'team' AND r.state = 'scored'"""


@pytest.fixture(scope="module")
def services() -> Iterator[Production]:
    if shutil.which("nginx", path="/usr/sbin:/usr/bin") is None:
        pytest.skip("no nginx is installed")
    if postgres_programs() is None:
        pytest.skip("no PostgreSQL server is installed")
    scale = {"worker": 4, "backup": 0, "mailer": 0}  # without services that the test does not need
    with tempfile.TemporaryDirectory(prefix="agon-scale-") as folder, production(Path(folder), **scale) as services:
        yield services


def test_four_workers_score_every_run_once_even_if_one_is_killed(services: Production) -> None:
    assert all(services.is_healthy(name) for name in WORKERS)
    captain = services.captain()
    for number in range(1, RUNS + 1):
        captain.upload("tiny", "post", f"one_Meltemi_{number}.json", run_file(GOOD))
        if number == RUNS // 2:
            services.stop("worker-3", signal.SIGKILL)
    wait_until(lambda: scored(services) == (RUNS, RUNS), "every run is scored once")


def scored(services: Production) -> tuple[int, int]:
    """Return the number of scores of teams' runs, and of runs that have one."""
    address, password = services.address("postgres"), services.secrets["database_password"]
    with psycopg.connect(host=address, user="agon", password=password, dbname="agon") as connection:
        scores, runs = connection.execute(SCORED).fetchone() or (0, 0)
    return scores, runs


@pytest.mark.parametrize("name", ["worker", "background", "mailer"])
def test_workers_have_nothing_that_only_one_container_can_have(name: str) -> None:
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"][name]
    assert not {"ports", "container_name", "hostname"} & service.keys()
    assert isinstance(service["networks"], list), "a fixed address"
    assert "--hostname" not in service["command"], "a fixed name in the queue"
