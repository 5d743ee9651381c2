"""What `docker compose up --scale worker=4` requires. `test_native.py` starts four workers."""

import pytest
import yaml

from tests.conftest import ROOT


@pytest.mark.parametrize("name", ["worker", "hidden", "background", "mailer"])
def test_workers_have_nothing_that_only_one_container_can_have(name: str) -> None:
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"][name]
    assert not {"ports", "container_name", "hostname"} & service.keys()
    assert isinstance(service["networks"], list), "a fixed address"
    assert "--hostname" not in service["command"], "a fixed name in the queue"
