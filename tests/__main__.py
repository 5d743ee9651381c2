"""All checks and all suites: `./run test`; with paths, only those, quickly, on SQLite; `--checks`: no tests.

Starts a real PostgreSQL and stops it again; tests that need a Valkey start their own. In CI a test that cannot run
counts as failed, unless all it lacks is `../shared` or debootstrap.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import NO_DEBOOTSTRAP, NO_SHARED, ROOT
from tests.services import postgres, postgres_programs

CI = os.environ.get("CI") == "true"
BIN = Path(sys.executable).parent

CHECKS = {
    "style": [BIN / "ruff", "check", "--quiet"],
    "format": [BIN / "ruff", "format", "--check", "--quiet"],
    "types": [BIN / "mypy", "--no-error-summary"],
    "imports": [BIN / "lint-imports", "--no-logo"],
    "migrations": [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"],
    "compose file": [BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml"],
}
# What the suites need from the system, and the Debian package that brings it.
PROGRAMS = {
    "postgresql": lambda: postgres_programs() is not None,
    "chromium": lambda: shutil.which("chromium") is not None,
    "nginx-light": lambda: shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") is not None,
    "texlive-latex-recommended": lambda: shutil.which("pdflatex") is not None,
    "lmodern": lambda: (
        shutil.which("pdflatex") is None
        or subprocess.run(["kpsewhich", "lmodern.sty"], capture_output=True, check=False).returncode == 0
    ),
    "debootstrap": lambda: shutil.which("debootstrap", path=f"{os.environ['PATH']}:/usr/sbin") is not None,
}


@dataclass
class Tally:
    """What came of everything so far."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)  # reason → tests

    def skip(self, reason: str, allowed: bool = False) -> None:
        if CI and not allowed:
            self.failed.append(f"could not run: {reason}")
        else:
            self.skipped[reason] += 1

    def add_junit(self, report: Path, suite: str) -> None:
        for case in ET.parse(report).getroot().iter("testcase"):
            name = f"{suite}: {case.get('classname')}::{case.get('name')}"
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed.append(name)
            elif skipped is None:
                self.passed += 1
            else:
                reason = skipped.get("message", "")
                self.skip(reason, allowed=NO_SHARED in reason or NO_DEBOOTSTRAP in reason)

    def print(self, seconds: float) -> None:
        print(f"\nAfter {seconds:.0f} s:")
        for name in self.failed:
            print(f"  failed   {name}")
        for reason, count in self.skipped.items():
            print(f"  skipped  {count}: {reason}")
        print(f"{self.passed} passed, {len(self.failed)} failed, {self.skipped.total()} skipped")


def run_checks(tally: Tally) -> None:
    with tempfile.TemporaryDirectory(prefix="agon-check-") as state:
        for name, command in CHECKS.items():
            print(f"{name} ... ", end="", flush=True)
            started = time.monotonic()
            environment = os.environ | {"AGON_STATE": state}
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
            print(f"{'failed' if done.returncode else 'ok'} ({time.monotonic() - started:.1f} s)")
            if done.returncode:
                print(done.stdout + done.stderr)
                tally.failed.append(f"check: {name}")
            else:
                tally.passed += 1


def run_pytest(tally: Tally, suite: str, *arguments: str, **environment: str) -> None:
    print(f"\n== {suite}", flush=True)
    with tempfile.TemporaryDirectory(prefix="agon-report-") as folder:
        report = Path(folder) / "junit.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments]
        code = subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False).returncode
        if report.exists():
            tally.add_junit(report, suite)
    if code not in (0, 1):  # neither "all passed" nor "some failed"
        tally.failed.append(f"{suite}: pytest ended with {code}")


def run_suites(tally: Tally) -> None:
    parallel = ("-n", str(min(os.cpu_count() or 1, 4)))
    # They start programs of their own and wait for them.
    alone = ["tests/browser", "tests/faults", "tests/bare", "tests/deploy/test_native.py"]
    run_pytest(tally, "SQLite", *parallel, "tests", *(f"--ignore={folder}" for folder in alone))
    run_pytest(tally, "SQLite, programs and browser", *alone)
    if postgres_programs() is None:
        tally.skip("everything on PostgreSQL: no server is installed")
        return
    with tempfile.TemporaryDirectory(prefix="agon-postgres-") as folder, postgres(Path(folder)) as url:
        run_pytest(tally, "PostgreSQL", *parallel, "tests/portal", DATABASE_URL=url)
        again = [
            "tests/faults/test_broker.py",
            "tests/faults/test_worker.py",
        ]  # the others bring a database of their own
        run_pytest(tally, "PostgreSQL, programs", *again, DATABASE_URL=url)


def install_programs() -> None:
    """Brings what is missing from Debian's packages: in CI at once, at a terminal after a yes, else it says how."""
    missing = [package for package, is_there in PROGRAMS.items() if not is_there()]
    if not missing or not shutil.which("apt-get"):
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *missing]
    line = " ".join(command if os.geteuid() == 0 else ["sudo", *command])
    if os.geteuid() == 0 and (CI or (sys.stdin.isatty() and input(f"Run `{line}`? [y/N] ").lower() == "y")):
        subprocess.run(["apt-get", "update"], check=False)
        subprocess.run(command, check=False, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
    else:
        print(f"Some tests will be skipped; for all of them: {line}")


def main(arguments: list[str]) -> int:
    if arguments and arguments != ["--checks"]:
        return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False).returncode
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end as on Ctrl-C
    started = time.monotonic()
    tally = Tally()
    run_checks(tally)
    if not arguments:
        install_programs()
        run_suites(tally)
    tally.print(time.monotonic() - started)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
