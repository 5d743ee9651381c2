#!/usr/bin/python3
"""A stand-in for `systemctl` on a machine without systemd.

It runs a unit's command as the unit's user, with the unit's variables, and restarts the command when it ends.
"""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

UNITS = Path("/etc/systemd/system")
STARTED = Path("/run/started")  # the process groups of the units


def unit(name: str) -> list[tuple[str, str]]:
    """Return the keys and values of the unit's service section and of the drop-in, with specifiers filled in."""
    stem, at, instance = name.partition("@")
    text = (UNITS / f"{stem}{at}.service").read_text().partition("[Service]")[2].partition("[Install]")[0]
    text += (UNITS / "agon-.service.d/all.conf").read_text()
    text = text.replace("%i", instance).replace("%d", f"/run/credentials/{name}.service")
    text = text.replace("%N", name).replace("%C", "/var/cache")
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
            folder.mkdir(parents=True, exist_ok=True)
            (folder / credential).write_bytes(Path(source).read_bytes())
            subprocess.run(["chown", "-R", dict(said)["User"], folder], check=True)
            folder.chmod(0o500)
        elif key == "CacheDirectory":
            subprocess.run(["install", "-d", "-o", dict(said)["User"], "-m", "700", f"/var/cache/{value}"], check=True)
    process = subprocess.Popen([__file__, "--keep", name], env=variables, start_new_session=True)
    STARTED.mkdir(exist_ok=True)
    (STARTED / name).write_text(str(process.pid))


def stop(name: str) -> None:
    """Stop what keeps the service running, then the service, and wait until it has ended."""
    keeper = int((STARTED / name).read_text())
    os.kill(keeper, signal.SIGKILL)
    os.killpg(keeper, signal.SIGTERM)
    while any(_group(path) == keeper for path in Path("/proc").glob("[0-9]*")):
        time.sleep(0.1)


def _group(process: Path) -> int | None:
    """Return the process group of a process that has not ended."""
    try:
        state, _parent, group = (process / "stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return None
    return None if state == "Z" else int(group)


def keep(name: str) -> None:
    """Run the service. Whenever it ends, restart it as the unit says."""
    one = dict(unit(name))
    become = ["setpriv", f"--reuid={one['User']}", f"--regid={one['Group']}", "--init-groups"]
    command = ["sh", "-c", f'umask {one["UMask"]}; exec "$@"', "sh", *become, *shlex.split(one["ExecStart"])]
    with Path(f"/var/log/{name}.log").open("ab") as log:
        while True:
            done = subprocess.run(command, cwd=one["WorkingDirectory"], stdout=log, stderr=log, check=False)
            log.write(f"systemctl: {name} ended with {done.returncode}\n".encode())
            log.flush()
            if one["Restart"] != "always":
                return
            time.sleep(float(one["RestartSec"]))


def main(verb: str, *names: str) -> None:
    for name in names:
        if name.startswith("--") or (verb == "enable" and "--now" not in names):
            continue
        if name.endswith(".timer"):
            unit(name.removesuffix(".timer"))
            assert (UNITS / name).exists()
        elif (UNITS / f"{name.partition('@')[0]}{'@' * ('@' in name)}.service").exists():
            if verb == "restart":
                stop(name)
            start(name)
        else:
            subprocess.run(["service", name, verb], check=True)


if __name__ == "__main__":
    os.chdir("/")
    keep(sys.argv[2]) if sys.argv[1] == "--keep" else main(*sys.argv[1:])
