"""`./run check --security`: compare the pinned packages with the package index.

A pin fails if its version was withdrawn ("yanked"), no longer exists, or has files other than those whose hashes are
pinned. Newer releases of the same series are listed, because they may contain security fixes. `./run lock` adopts them.
No service other than the package index is used, so any mirror works.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

UV = Path(sys.executable).with_name("uv")
FILES = (
    "requirements.txt",
    "requirements-production.txt",
    "requirements-small.txt",
    "tests/requirements.txt",
    "requirements-uv.txt",
    "requirements-parquet.txt",
)
AS_WE_INSTALL = ("--no-deps", "--require-hashes", "--only-binary", ":all:")


def problems(file: Path) -> list[str]:
    """Return the problems with the pins in a requirements file, as sentences."""
    command = [UV, "pip", "install", "--python", sys.executable, "--dry-run", "--reinstall", *AS_WE_INSTALL, "-r", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"{file.name}: {done.stderr.strip()}"]
    return [f"{file.name}: {line}" for line in re.findall(r"^warning: (.* is yanked.*)$", done.stderr, re.MULTILINE)]


def newer_releases() -> list[str]:
    """Return newer versions of installed packages that differ only in the last number."""
    command = [UV, "pip", "list", "--python", sys.executable, "--outdated", "--format", "json"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    pairs = ((one["name"], one["version"], one["latest_version"]) for one in found)
    return [f"{name} {ours} → {newest}" for name, ours, newest in pairs if ours.split(".")[:2] == newest.split(".")[:2]]


def main() -> int:
    found = [problem for file in FILES for problem in problems(ROOT / file)]
    for problem in found:
        print(f"failed  {problem}")
    for release in newer_releases():
        print(f"newer   {release}")
    print(f"{len(FILES)} requirements files, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
