#!/usr/bin/env python
"""A stand-in for `docker` that needs no Docker engine and supports only what docs/for-administrators.md uses.

`build` follows the Dockerfile's last stage: the files that it copies, its variables and its user. `run` starts a
command as that user in a separate root folder, in which only the user's own files can be written. `compose up` starts
docker-compose.yml with `deploy.native`.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

CLONE = Path.cwd()
IMAGE = CLONE.parent / "image"
SYSTEM = ("bin", "etc", "lib", "lib64", "sbin", "usr")
UID = "10001"


def last_stage(clone: Path) -> list[tuple[str, list[str]]]:
    text = (clone / "Dockerfile").read_text().rpartition("\nFROM ")[2].replace("\\\n", " ")
    lines = (line.partition(" ") for line in text.splitlines()[1:] if line.strip())
    return [(word, shlex.split(rest)) for word, _, rest in lines]


def variables() -> dict[str, str]:
    """Return the variables set by ENV. ARGs are replaced by an empty string."""
    said = [pair.partition("=") for word, words in last_stage(CLONE) if word == "ENV" for pair in words]
    return {name: re.sub(r"\$\w+", "", value) if name != "PATH" else value for name, _, value in said}


def copy_sources(clone: Path, agon: Path) -> None:
    """Copy the files of the checkout `clone` that the image has, without bytecode, as .dockerignore says."""
    without_bytecode = shutil.ignore_patterns("__pycache__")
    for word, words in last_stage(clone):
        if word == "COPY" and not words[0].startswith("--from"):
            for name in words[:-1]:
                source, target = clone / name, agon / words[-1]
                if source.is_dir():
                    shutil.copytree(source, target, ignore=without_bytecode)
                else:
                    shutil.copy(source, target)


def build() -> None:
    agon = IMAGE / "agon"
    agon.mkdir(parents=True)
    copy_sources(CLONE, agon)
    for word, words in last_stage(CLONE):
        if word == "RUN" and "install --directory --owner=agon" in shlex.join(words):
            for folder in (name for name in words if name.startswith("/")):
                (IMAGE / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
                shutil.chown(IMAGE / folder.lstrip("/"), int(UID), int(UID))


def run(words: list[str]) -> None:
    """Run `--rm --volume ./FOLDER:/PLACE IMAGE COMMAND…`."""
    source, _, target = words[words.index("--volume") + 1].partition(":")
    command = words[words.index("agon") + 1 :]
    python = Path(sys.base_prefix)
    mounts = [(Path("/") / name, IMAGE / name) for name in SYSTEM if (Path("/") / name).exists()]
    mounts += [(Path("/dev"), IMAGE / "dev"), (python, IMAGE / python.relative_to("/"))]
    mounts += [(Path(sys.prefix).resolve(), IMAGE / "agon/.venv"), (CLONE / source, IMAGE / target.lstrip("/"))]
    lines = []
    for there, here in mounts:
        lines += [f"mkdir -p {here}", f"mount --bind {there} {here}"]
    own = {"PATH": "/usr/bin:/bin"} | variables()
    environment = [f"{name}={value}".replace("$PATH", "/usr/bin:/bin") for name, value in own.items()]
    inside = ["env", "-i", *environment, "sh", "-c", 'cd /agon && exec "$@"', "sh", *command]
    lines.append(shlex.join(["chroot", f"--userspec={UID}:{UID}", str(IMAGE), *inside]))
    subprocess.run(["unshare", "--mount", "sh", "-eu", "-c", "\n".join(lines)], check=True)


def compose(words: list[str]) -> None:
    log = CLONE.parent / "native.log"
    if words[0] == "up":
        with log.open("wb") as file:
            command = [sys.executable, "-u", "-m", "deploy.native", str(CLONE.parent / "native")]
            process = subprocess.Popen(command, cwd=CLONE, stdout=file, stderr=file, start_new_session=True)
        (CLONE.parent / "native.pid").write_text(str(process.pid))
        while "All services run" not in log.read_text():
            if process.poll() is not None:
                sys.exit(log.read_text())
            time.sleep(0.2)
    print(log.read_text())


if __name__ == "__main__":
    os.umask(0o022)
    verb, *rest = sys.argv[1:]
    {"build": lambda: build(), "run": lambda: run(rest), "compose": lambda: compose(rest)}[verb]()
