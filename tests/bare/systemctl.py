#!/usr/bin/python3
"""Stands in for systemd where no init runs: starts what a unit says, as its user, with its variables."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

UNITS = Path("/etc/systemd/system")


def unit(name: str) -> list[tuple[str, str]]:
    """The lines of the unit's service, with its specifiers filled in."""
    stem, at, instance = name.partition("@")
    text = (UNITS / f"{stem}{at}.service").read_text().partition("[Service]")[2].partition("[Install]")[0]
    text = text.replace("%i", instance).replace("%d", f"/run/credentials/{name}.service")
    return [(key, value) for key, _, value in (line.partition("=") for line in text.splitlines() if "=" in line)]


def start(name: str) -> None:
    said = unit(name)
    variables = {"PATH": "/usr/bin:/bin"}
    for key, value in said:
        if key == "EnvironmentFile":
            variables |= dict(line.split("=", 1) for line in shlex.split(Path(value).read_text()))
        elif key == "Environment":
            variables |= dict([value.split("=", 1)])
        elif key == "LoadCredential":
            credential, _, source = value.partition(":")
            folder = Path(f"/run/credentials/{name}.service")
            folder.mkdir(parents=True)
            (folder / credential).write_bytes(Path(source).read_bytes())
            subprocess.run(["chown", "-R", "agon", folder], check=True)
    one = dict(said)
    become = ["setpriv", f"--reuid={one['User']}", f"--regid={one['Group']}", "--init-groups"]
    with Path(f"/var/log/{name}.log").open("wb") as log:
        subprocess.Popen(
            [*become, *shlex.split(one["ExecStart"])],
            cwd=one["WorkingDirectory"],
            env=variables,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def main(verb: str, *names: str) -> None:
    for name in names:
        if name.startswith("--"):
            continue
        if name.endswith(".timer"):
            unit(name.removesuffix(".timer"))
            assert (UNITS / name).exists()
        elif (UNITS / f"{name.partition('@')[0]}{'@' * ('@' in name)}.service").exists():
            start(name)
        else:
            subprocess.run(["service", name, verb], check=True)


if __name__ == "__main__":
    os.chdir("/")
    main(*sys.argv[1:])
