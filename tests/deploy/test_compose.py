"""What docker-compose.yml and the Dockerfile say, and what the settings ask for."""

import re
from pathlib import Path

import pytest
import yaml

from deploy.compose import MissingVariable, read
from portal import settings
from tests.conftest import ROOT
from tests.deploy.production import VARIABLES

FILE = ROOT / "docker-compose.yml"
AGON = ("web", "web2", "worker", "background", "mailer", "beat", "migrate")
# For a developer's machine or the demo; or the image has it.
NOT_IN_PRODUCTION = {"DEBUG", "AGON_DEMO", "FORCE_COLOR", "AGON_REVISION"}


def variables(environment: dict[str, str]) -> set[str]:
    return {name.removesuffix("_FILE") for name in environment}


def test_every_variable_is_one_of_the_settings_and_none_is_left_out() -> None:
    given = set().union(*(variables(read(FILE, VARIABLES).services[name].environment) for name in AGON))
    assert given == settings.env.asked - NOT_IN_PRODUCTION


def test_who_has_the_private_key_to_gold() -> None:  # D46
    services = read(FILE, VARIABLES).services
    holders = {name for name, service in services.items() if "gold_private_key" in service.secrets}
    assert holders == {"worker", "background"}
    assert {
        name for name, service in services.items() if "AGON_GOLD_PRIVATE_KEY_FILE" in service.environment
    } == holders
    assert all("gold" not in service.volumes.values() for name, service in services.items() if name == "proxy")


def test_each_secret_that_is_named_is_mounted() -> None:
    for service in read(FILE, VARIABLES).services.values():
        named = {value.rpartition("/")[2] for name, value in service.environment.items() if name.endswith("_FILE")}
        assert named <= set(service.secrets), service.name


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(MissingVariable, match="AGON_URL is missing: the address that people type"):
        read(FILE, {**VARIABLES, "AGON_URL": ""})


def test_mail_has_a_worker_of_its_own() -> None:
    commands = {name: service.command for name, service in read(FILE, VARIABLES).services.items()}
    lanes = {name: words[words.index("--queues") + 1] for name, words in commands.items() if "--queues" in words}
    assert lanes == {"worker": "scoring", "background": "bulk", "mailer": "mail"}


def test_who_uploads_comes_before_scores_and_scores_before_the_rest() -> None:
    services = yaml.safe_load(FILE.read_text())["services"]
    everybody = 1024  # where nothing is said
    shares = {name: service["cpu_shares"] for name, service in services.items() if "cpu_shares" in service}
    assert shares.keys() == {"worker", "mailer", "background"}
    assert everybody > shares["worker"] > shares["mailer"] > shares["background"]


def test_the_image_holds_what_the_portal_is_made_of() -> None:
    copied = re.findall(r"^COPY (?!--from)(\S+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    ignored = {"agon", "benchmarks", "deploy", "docs", "tests"}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))}
    assert folders - ignored <= set(copied)
    assert all(Path(ROOT / name).exists() for name in copied)


def test_the_images_are_those_that_tests_run_natively() -> None:
    images = set(re.findall(r"image: (\S+)", FILE.read_text()))
    assert images == {"agon", "nginx:1.28", "postgres:15", "valkey/valkey:9"}
