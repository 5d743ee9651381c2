"""A bare Debian in a folder, with nothing but Python, a clone of this checkout and a new user."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import NO_DEBOOTSTRAP, ROOT

# How to reach the package index, copied from this machine.
CONFIGURATION = [Path("/etc/resolv.conf"), Path("/etc/pip.conf")]
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
INHERITED = re.compile(r"PIP_.*INDEX.*|UV_.*INDEX.*|.*_PROXY|.*_proxy")


class Machine:
    """A bare Debian that runs commands in separate mount and process namespaces.

    All processes of a command end when its first process ends.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._environment = {name: value for name, value in os.environ.items() if INHERITED.fullmatch(name)}
        if CERTIFICATES.exists():  # copied under a name that Debian's own package does not overwrite
            shutil.copy(CERTIFICATES, root / "certificates.pem")
            self._environment |= {"PIP_CERT": "/certificates.pem", "SSL_CERT_FILE": "/certificates.pem"}

    def start(
        self, command: str, user: str = "newcomer", network: bool = True, **environment: str
    ) -> subprocess.Popen[str]:
        """Start a shell command in the user's home folder. The output can be read from `stdout`.

        If `network` is False, the command has no network, so all ports are free.
        """
        namespace = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.root}/proc"]
        if not network:
            namespace += ["--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        chroot = ["chroot", f"--userspec={user}:{user}", self.root, "/bin/sh", "-c", f"cd ~ && {command}"]
        home = "/root" if user == "root" else f"/home/{user}"
        return subprocess.Popen(
            [*namespace, *chroot],
            env=self._environment | {"HOME": home, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, command: str, user: str = "newcomer") -> tuple[int, str]:
        """Run a shell command and return its exit code and output."""
        process = self.start(command, user)
        output, _ = process.communicate()
        return process.returncode, output


@pytest.fixture(scope="session")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A bare Debian that every test copies."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip(NO_DEBOOTSTRAP)
    root = tmp_path_factory.mktemp("bare") / "debian"
    subprocess.run(["debootstrap", "--variant=minbase", "--include=python3", "bookworm", root], check=True)
    yield root
    shutil.rmtree(root)


@pytest.fixture
def machine(tmp_path: Path, debian: Path) -> Iterator[Machine]:
    with bare_machine(debian, tmp_path / "debian") as made:
        yield made


@pytest.fixture
def empty_machine(tmp_path: Path, debian: Path) -> Iterator[Machine]:
    """A second machine."""
    with bare_machine(debian, tmp_path / "empty") as made:
        yield made


@contextmanager
def bare_machine(debian: Path, root: Path) -> Iterator[Machine]:
    subprocess.run(["cp", "--archive", "--reflink=auto", debian, root], check=True)
    for file in CONFIGURATION:
        if file.exists():
            (root / file.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / file.relative_to("/"))
    (root / "dev/shm").chmod(0o1777)  # as on a booted machine
    machine = Machine(root)
    machine.run("useradd --create-home --shell /bin/sh newcomer", user="root")
    subprocess.run(["git", "clone", "--quiet", ROOT, root / "home/newcomer/agon"], check=True)
    machine.run("chown -R newcomer: /home/newcomer", user="root")
    yield machine
    shutil.rmtree(root)
