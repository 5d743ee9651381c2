"""Read the services of docker-compose.yml, with variables filled in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

VARIABLE = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?:(?P<kind>:[-?])(?P<word>[^}]*))?\})")


class MissingVariable(Exception):
    """A required variable is missing. The text contains its name and purpose."""


@dataclass(frozen=True, slots=True)
class Service:
    """A service: its command, variables and mounted paths."""

    name: str
    image: str
    command: list[str]
    environment: dict[str, str]
    secrets: list[str]
    networks: list[str]
    volumes: dict[str, str]  # path in the container → volume, or folder next to the compose file
    healthcheck: list[str]
    after: list[str]  # services that must have started, or ended successfully, before this one


@dataclass(frozen=True, slots=True)
class Compose:
    services: dict[str, Service]
    secrets: dict[str, Path]

    def in_order(self) -> list[Service]:
        """Return the services in an order where each comes after those that it waits for."""
        found: dict[str, Service] = {}

        def add(name: str) -> None:
            for earlier in self.services[name].after:
                add(earlier)
            found.setdefault(name, self.services[name])

        for name in self.services:
            add(name)
        return list(found.values())


def read(file: Path, variables: Mapping[str, str], *more: Path) -> Compose:
    """Read the services without a profile, which always run. The files in `more` extend the first."""
    content = _filled_in(yaml.safe_load(file.read_text()), variables)
    for other in more:
        content = _merged(content, _filled_in(yaml.safe_load(other.read_text()), variables))
    secrets = {name: file.parent / at["file"] for name, at in content["secrets"].items()}
    services = {name: _service(name, said) for name, said in content["services"].items() if "profiles" not in said}
    return Compose(services, secrets)


def scaled(compose: Compose, numbers: Mapping[str, int]) -> Compose:
    """Return the services that `docker compose up --scale worker=4 --scale backup=0` starts: worker, worker-2 …"""
    copies = {
        f"{name}-{number}": replace(compose.services[name], name=f"{name}-{number}")
        for name, count in numbers.items()
        for number in range(2, count + 1)
    }
    kept = {name: service for name, service in compose.services.items() if numbers.get(name, 1)}
    return replace(compose, services=kept | copies)


def _merged(first: Any, second: Any) -> Any:
    """Merge values as `docker compose` does: mappings by key, and lists by concatenation."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first | {key: _merged(first[key], value) if key in first else value for key, value in second.items()}
    return [*first, *second] if isinstance(first, list) else second


def _service(name: str, said: Mapping[str, Any]) -> Service:
    volumes = (volume.removesuffix(":ro").partition(":") for volume in said.get("volumes", []))
    return Service(
        name=name,
        image=said["image"].partition(":")[0],
        command=said.get("command", []),
        environment={key: str(value) for key, value in said.get("environment", {}).items()},
        secrets=list(dict.fromkeys(said.get("secrets", []))),
        networks=list(said.get("networks", [])),
        volumes={target: source for source, _, target in volumes},
        healthcheck=said.get("healthcheck", {}).get("test", ["CMD"])[1:],
        after=list(said.get("depends_on", [])),
    )


def _filled_in(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled_in(inner, variables) for key, inner in value.items() if not str(key).startswith("x-")}
    if isinstance(value, list):
        return [_filled_in(inner, variables) for inner in value]
    return VARIABLE.sub(lambda found: _value(found, variables), value) if isinstance(value, str) else value


def _value(found: re.Match[str], variables: Mapping[str, str]) -> str:
    name, kind, word = found.group("name", "kind", "word")
    if name is None:
        return "$"
    value = variables.get(name, "")
    if not value and kind == ":?":
        raise MissingVariable(f"{name} is missing: {word}")
    return value or word or ""
