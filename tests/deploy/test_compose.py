"""docker-compose.yml and the Dockerfile compared with the settings."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.compose import Compose, MissingVariable, read
from deploy.native import Native
from portal import settings
from tests.conftest import ROOT
from tests.deploy.production import BEGIN, VARIABLES
from tests.services import S3

FILE = ROOT / "docker-compose.yml"
WITH_S3 = ROOT / "docker-compose.s3.yml"
IN_BUCKET = {**VARIABLES, "AGON_S3_BUCKET": "data", "AGON_S3_GOLD_BUCKET": "gold"}
AGON = ("web", "web2", "worker", "hidden", "background", "mailer", "beat", "backup", "migrate")
# Variables that are for a developer's machine or the demo, set by the image, or derived from a different variable.
NOT_IN_PRODUCTION = {"DEBUG", "AGON_DEMO", "FORCE_COLOR", "AGON_REVISION", "EMAIL_USE_SSL"}


def variables(environment: dict[str, str]) -> set[str]:
    return {name.removesuffix("_FILE") for name in environment}


def test_every_variable_is_one_of_the_settings_and_none_is_left_out() -> None:
    given = set().union(*(variables(read(FILE, IN_BUCKET, WITH_S3).services[name].environment) for name in AGON))
    assert given == settings.env.asked - NOT_IN_PRODUCTION


def test_who_has_the_private_key_to_gold() -> None:
    services = read(FILE, VARIABLES).services
    holders = {name for name, service in services.items() if "gold_private_key" in service.secrets}
    assert holders == {"worker", "hidden", "background"}
    assert {
        name for name, service in services.items() if "AGON_GOLD_PRIVATE_KEY_FILE" in service.environment
    } == holders
    assert all("gold" not in service.volumes.values() for name, service in services.items() if name == "proxy")


def test_each_secret_that_is_named_is_mounted() -> None:
    for service in read(FILE, IN_BUCKET, WITH_S3).services.values():
        named = {value.rpartition("/")[2] for name, value in service.environment.items() if name.endswith("_FILE")}
        assert named <= set(service.secrets), service.name


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(MissingVariable, match="AGON_URL is missing: the public address"):
        read(FILE, {**VARIABLES, "AGON_URL": ""})


def test_mail_and_hidden_scores_have_workers_of_their_own() -> None:
    commands = {name: service.command for name, service in read(FILE, VARIABLES).services.items()}
    lanes = {name: words[words.index("--queues") + 1] for name, words in commands.items() if "--queues" in words}
    assert lanes == {"worker": "scoring", "hidden": "hidden", "background": "bulk", "mailer": "mail"}


def test_who_uploads_comes_before_scores_and_scores_before_the_rest() -> None:
    services = yaml.safe_load(FILE.read_text())["services"]
    everybody = 1024  # Docker's default
    shares = {name: service["cpu_shares"] for name, service in services.items() if "cpu_shares" in service}
    assert shares.keys() == {"worker", "mailer", "hidden", "background", "backup"}
    assert (
        everybody > shares["worker"] > shares["mailer"] > shares["background"] == shares["hidden"] == shares["backup"]
    )


def test_the_image_holds_what_the_portal_is_made_of() -> None:
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    copied = [name for line in lines for name in line.split()]
    ignored = {"benchmarks", "deploy", "docs", "tests"}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))}
    assert folders - ignored <= set(copied)
    assert all(Path(ROOT / name).exists() for name in copied)


def test_the_images_are_those_that_tests_run_natively() -> None:
    images = set(re.findall(r"image: (\S+)", FILE.read_text()))
    assert images == {"agon", "nginx:1.28.0", "postgres:15.14", "valkey/valkey:9.0.0"}
    bases = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:\d+\.\d+\.\d+-slim", base) for base in bases)


def services() -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load(FILE.read_text())["services"])


def test_every_service_is_limited_and_writes_to_its_volumes_alone() -> None:
    for name, said in services().items():
        assert said["read_only"] is True, name
        assert {"mem_limit", "pids_limit"} <= said.keys(), name
        assert said["tmpfs"], name
        assert said["cap_drop"] == ["ALL"], name


def test_only_databases_have_rights_of_root() -> None:
    assert {name for name, said in services().items() if "cap_add" in said} == {"postgres", "valkey"}


def test_every_service_that_goes_on_has_a_health_check() -> None:
    assert {name for name, said in services().items() if "healthcheck" not in said} == {"migrate"}


def test_who_uses_the_bucket_reaches_it() -> None:
    """The worker, which reads uploads, cannot reach other machines unless there is a bucket."""
    assert read(FILE, VARIABLES).services["worker"].networks == ["inside"]
    with_bucket = read(FILE, IN_BUCKET, WITH_S3).services
    users = [name for name, service in with_bucket.items() if "AGON_S3_BUCKET" in service.environment]
    assert users == ["web", "web2", "worker", "hidden", "background", "mailer", "backup"]
    assert all("outside" in with_bucket[name].networks for name in users)


def test_the_accounts_of_the_bucket_are_files() -> None:
    with_bucket = read(FILE, IN_BUCKET, WITH_S3)
    assert {name for name in with_bucket.secrets if name.startswith("s3")} == {
        "s3_key", "s3_secret", "s3_gold_key", "s3_gold_secret",
    }  # fmt: skip
    for service in with_bucket.services.values():
        assert not {name for name in service.environment if name.endswith(("_KEY", "_SECRET"))} & {
            "AGON_S3_KEY", "AGON_S3_SECRET", "AGON_S3_GOLD_KEY", "AGON_S3_GOLD_SECRET",
        }  # fmt: skip


def test_the_worker_stores_in_the_bucket_by_the_accounts_in_files(tmp_path: Path, s3: S3) -> None:
    bucket = s3.new_bucket()
    # Use a host name, because `Native` replaces 127.0.0.1 with each service's own address.
    endpoint = bucket["endpoint"].replace("127.0.0.1", "localhost")
    chosen = {"AGON_S3_BUCKET": bucket["name"], "AGON_S3_ENDPOINT": endpoint, "AGON_S3_REGION": bucket["region"]}
    compose = read(FILE, VARIABLES | chosen, WITH_S3)
    secrets = {name: tmp_path / "secrets" / name for name in compose.secrets}
    make = [sys.executable, "manage.py", "make_secrets", tmp_path / "secrets"]
    subprocess.run(make, cwd=ROOT, env={"AGON_STATE": str(tmp_path / "make")}, check=True, stdout=subprocess.DEVNULL)
    for part in ("key", "secret"):
        secrets[f"s3_{part}"].write_text(bucket[part] + "\n")
    program = "from portal.objects.interface import data_objects as d; d().probe(); print(type(d()).__name__)"
    services = Native(tmp_path / "native", Compose(compose.services, secrets))
    assert services.run("worker", ["python", "-c", BEGIN + program]).stdout.strip() == "Bucket"


def test_what_production_keeps_next_to_the_compose_file_gets_into_neither_git_nor_image() -> None:
    mounted = {place.partition(":")[0] for said in services().values() for place in said.get("volumes", [])}
    kept = {place.removeprefix("./") for place in mounted if place.startswith("./")} - {"deploy/proxy"}
    kept |= {".env", "secrets"}
    assert kept == {".env", "secrets", "backups", "certificates", "acme"}
    assert kept <= set((ROOT / ".dockerignore").read_text().splitlines())
    names = [f"{name}/file" if name != ".env" else name for name in kept]
    ignored = subprocess.run(["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert set(ignored.stdout.split()) == set(names)


def test_the_upgrade_restarts_every_service_of_the_image() -> None:
    guide = (ROOT / "docs/for-administrators.md").read_text().partition("## Upgrade")[2].partition("\n## ")[0]
    lines = re.findall(r"^docker compose (?:up|run|restart) (.*)$", guide, re.MULTILINE)
    named = {word for line in lines for word in line.split() if not word.startswith("--")}
    assert named == {*AGON, "proxy"}
