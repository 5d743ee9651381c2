"""Run all checks and all suites: `./run test`. If test paths are given, run only these tests, on SQLite.

    --quick       run the tests of engine, client, portal and tasks, except slow ones and those that start programs
    --durations   run everything, then list the time of each suite and the slowest tests
    --checks      run only the checks

Suites that start programs spend most of their time waiting for them, so they run in parallel with the others, as do the
checks. The others have the lowest priority: workers lower their own, so they would starve next to them. A PostgreSQL
server is started for the suites and stopped afterwards; tests that need Valkey start their own. In CI, a test that
cannot run counts as failed unless only `../shared`, debootstrap or network namespaces are missing.
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
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import NO_DEBOOTSTRAP, NO_NAMESPACES, NO_SHARED, ROOT
from tests.services import chromium, postgres, postgres_programs

CI = os.environ.get("CI") == "true"
BIN = Path(sys.executable).parent

CHECKS = {
    "style": [BIN / "ruff", "check", "--quiet"],
    "format": [BIN / "ruff", "format", "--check", "--quiet"],
    "templates": [BIN / "djlint", "--check", "--lint", "templates"],
    "types": [BIN / "mypy", "--no-error-summary"],
    "imports": [BIN / "lint-imports", "--no-logo"],
    "migrations": [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"],
    "compose file": [BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml"],
}
# A process that has finished its share takes over tests of the others, because some tests take minutes.
IN_PARALLEL = ("-n", str(min(os.cpu_count() or 1, 4)), "--dist", "worksteal")
# Suites that start programs and wait for them.
WITH_PROGRAMS = {
    "SQLite, installations": (
        "tests/bare",
        "tests/deploy/test_native.py",
        "tests/deploy/test_docker_guide.py",
        "tests/upgrade",
    ),
    "SQLite, faults": ("tests/faults",),
    "SQLite, browser": ("tests/browser",),
}
# Tests that run a second time, on PostgreSQL. In `tests/portal`, these are tests with several transactions, and modules
# that are marked `postgres`. The last one requests every page and everything that the API can read, in several roles.
AGAIN_ON_POSTGRES = ("tests/portal", "tests/security/test_statements.py")
# The other suites with programs have their own databases.
PROGRAMS_ON_POSTGRES = (
    "tests/faults/test_broker.py",
    "tests/faults/test_worker.py",
)
QUICK = ("--quick", *IN_PARALLEL, "tests/scoring", "tests/agon", "tests/portal", "tests/tasks")
MEMORY = Path("/dev/shm")
SLOWEST = 25  # number of tests listed by --durations
# By default, numerical libraries start a thread per core in each process. The cores are already busy with other tests,
# so waiting for each other takes a third of the CPU time of simulations.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
LOWEST_PRIORITY = 19
TEARDOWN_SECONDS = 60  # time allowed for tearing down the fixtures of a suite that is stopped early
# Debian packages that the suites need, and how to find out whether each is installed.
PROGRAMS = {
    "postgresql": lambda: postgres_programs() is not None,
    "iproute2": lambda: shutil.which("ip") is not None,
    "faketime": lambda: shutil.which("faketime") is not None,
    "chromium-headless-shell": lambda: chromium() is not None,
    "pgbouncer": lambda: shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin") is not None,
    "systemd": lambda: shutil.which("systemd-analyze") is not None,
    "binutils": lambda: shutil.which("strip") is not None,
    "nginx-light": lambda: shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") is not None,
    "prometheus": lambda: shutil.which("promtool") is not None,
    "texlive-latex-recommended": lambda: shutil.which("pdflatex") is not None,
    "lmodern": lambda: (
        shutil.which("pdflatex") is None
        or subprocess.run(["kpsewhich", "lmodern.sty"], capture_output=True, check=False).returncode == 0
    ),
    "debootstrap": lambda: shutil.which("debootstrap", path=f"{os.environ['PATH']}:/usr/sbin") is not None,
}


@dataclass
class Tally:
    """The results so far."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)  # reason → number of tests
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)  # suite → wall-clock and CPU time
    # (seconds including setup and teardown, name of the test)
    cases: list[tuple[float, str]] = field(default_factory=list)

    def skip(self, reason: str, allowed: bool = False) -> None:
        if CI and not allowed:
            self.failed.append(f"could not run: {reason}")
        else:
            self.skipped[reason] += 1

    def add_checks(self, passed: Mapping[str, Future[bool]]) -> None:
        self.passed += sum(check.result() for check in passed.values())
        self.failed += [f"check: {name}" for name, check in passed.items() if not check.result()]

    def add_junit(self, report: Path, suite: str) -> None:
        root = ET.parse(report).getroot()
        self.seconds[suite] = sum(float(one.get("time", 0)) for one in root.iter("testsuite")), self.seconds[suite][1]
        for case in root.iter("testcase"):
            name = f"{suite}: {case.get('classname')}::{case.get('name')}"
            self.cases.append((float(case.get("time", 0)), name))
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed.append(name)
            elif skipped is None:
                self.passed += 1
            else:
                reason = skipped.get("message", "")
                self.skip(reason, allowed=any(one in reason for one in (NO_SHARED, NO_DEBOOTSTRAP, NO_NAMESPACES)))

    def print_durations(self) -> None:
        print("\nWhere the time went:")
        for suite, (seconds, cpu) in self.seconds.items():
            print(f"  {seconds:7.1f} s  {suite}, {cpu:.0f} s of CPU")
        for seconds, name in sorted(self.cases, reverse=True)[:SLOWEST]:
            print(f"  {seconds:7.1f} s  {name}")

    def print(self, seconds: float) -> None:
        print(f"\nAfter {seconds:.0f} s:")
        for name in self.failed:
            print(f"  failed   {name}")
        for reason, count in self.skipped.items():
            print(f"  skipped  {count}: {reason}")
        print(f"{self.passed} passed, {len(self.failed)} failed, {self.skipped.total()} skipped")


@contextmanager
def running_checks() -> Iterator[dict[str, Future[bool]]]:
    """Run the checks one after another in the background. Once the context ends, no more checks are started."""
    pool = ThreadPoolExecutor(1)
    try:
        yield {name: pool.submit(_passes, name, command) for name, command in CHECKS.items()}
    finally:
        pool.shutdown(cancel_futures=True)


def _passes(name: str, command: list[Path | str]) -> bool:
    """Run a check and print its output if it fails. Return whether it passes."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="agon-check-") as state:
        environment = os.environ | {"AGON_STATE": state}
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
            is_passed, said = done.returncode == 0, f"{done.stdout}{done.stderr}\n"
        except OSError as error:
            is_passed, said = False, f"{error}\n"
    result, said = ("ok", "") if is_passed else ("failed", said)
    print(f"{name} ... {result} ({time.monotonic() - started:.1f} s)\n{said}", end="", flush=True)
    return is_passed


@dataclass(frozen=True, slots=True)
class Suite:
    """One run of pytest. `environment` is added to this process's environment."""

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


class PytestRun:
    """A running suite. `finish` waits until it ends and counts its results."""

    def __init__(self, suite: Suite, folder: Path, is_live: bool = True) -> None:
        print(f"\n== {suite.name}{'' if is_live else ' (starts in the background)'}", flush=True)
        self._suite, self._started = suite, time.monotonic()
        self._report, self._log = folder / f"{suite.name}.xml", None if is_live else folder / f"{suite.name}.log"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={self._report}", *suite.arguments]
        with ExitStack() as files:
            log = None if self._log is None else files.enter_context(self._log.open("wb"))
            environment = os.environ | suite.environment
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
            )

        if is_live:
            _lower_priority(self._process.pid)

    def end(self) -> None:
        """Interrupt the suite, so that its fixtures stop what they have started. If it does not end in time, kill it.

        Ctrl-C reaches only this process, because each suite has its own session.
        """
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(TEARDOWN_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()

    def finish(self, tally: Tally) -> None:
        _, status, usage = os.wait4(self._process.pid, 0)
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        tally.seconds[self._suite.name] = time.monotonic() - self._started, usage.ru_utime + usage.ru_stime
        if self._log is not None:
            print(f"\n== {self._suite.name}\n{self._log.read_text(errors='replace')}", flush=True)
        if self._report.exists():
            tally.add_junit(self._report, self._suite.name)
        if code not in (0, 1):  # neither "all passed" nor "some failed"
            tally.failed.append(f"{self._suite.name}: pytest ended with {code}")


def _lower_priority(leader: int) -> None:
    """Give the session of the process `leader` the lowest priority.

    If Linux schedules by session (autogroups), priorities of processes have an effect only within a session.
    """
    os.setpriority(os.PRIO_PROCESS, leader, LOWEST_PRIORITY)
    with suppress(OSError):  # fails on other systems and on kernels without autogroups
        Path(f"/proc/{leader}/autogroup").write_text(str(LOWEST_PRIORITY))


def run_suites(tally: Tally) -> None:
    memory = {"TMPDIR": str(MEMORY)} if in_memory() else {}
    ignored = [f"--ignore={path}" for paths in WITH_PROGRAMS.values() for path in paths]
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="agon-reports-")))
        checks = cleanup.enter_context(running_checks())

        def start(suite: Suite, is_live: bool = False) -> PytestRun:
            run = PytestRun(suite, folder, is_live)
            cleanup.callback(run.end)
            return run

        behind = [start(Suite(name, paths)) for name, paths in WITH_PROGRAMS.items()]
        start(Suite("SQLite", (*IN_PARALLEL, "tests", *ignored), memory), is_live=True).finish(tally)
        if postgres_programs() is None:
            tally.skip("everything on PostgreSQL: no server is installed")
        else:
            data = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="agon-postgres-")))
            url = {"DATABASE_URL": cleanup.enter_context(postgres(data))}
            behind.append(start(Suite("PostgreSQL, programs", PROGRAMS_ON_POSTGRES, url)))
            portal = Suite("PostgreSQL", (*IN_PARALLEL, *AGAIN_ON_POSTGRES), memory | url)
            start(portal, is_live=True).finish(tally)
        for run in behind:
            run.finish(tally)
        tally.add_checks(checks)


def in_memory() -> bool:
    """Return whether the suites' files fit into `MEMORY`, where no disk slows them down."""
    return os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 * 1024**3


def install_programs() -> None:
    """As root, install missing Debian packages: in CI without asking, in a terminal after confirmation.

    Otherwise, print the command that installs them.
    """
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
    os.environ.update(ONE_THREAD)
    if arguments[:1] == ["--quick"]:
        arguments = [*QUICK, *arguments[1:]]
    if arguments and arguments not in (["--checks"], ["--durations"]):
        memory = {"TMPDIR": str(MEMORY)} if in_memory() else {}
        os.chdir(ROOT)
        os.execve(sys.executable, [sys.executable, "-m", "pytest", *arguments], os.environ | memory)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are stopped as after Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's background job and its children ignore it
    started = time.monotonic()
    tally = Tally()
    if arguments == ["--checks"]:
        with running_checks() as checks:
            tally.add_checks(checks)
    else:
        install_programs()
        run_suites(tally)
    if arguments == ["--durations"]:
        tally.print_durations()
    tally.print(time.monotonic() - started)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)  # the exit code that shells use after Ctrl-C
