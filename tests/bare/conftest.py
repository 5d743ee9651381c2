"""A bare Debian in a folder, with nothing but Python, a clone of this checkout and a new user."""

import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import NO_DEBOOTSTRAP, ROOT

# Installing Debian and its packages takes over 20 s of CPU time, so the result is kept in pytest's cache. apt installs
# Python in less time than debootstrap.
DEBOOTSTRAP = ("debootstrap", "--variant=minbase", "bookworm")
ADD_PYTHON = "apt-get update && apt-get install --yes --no-install-recommends python3 && apt-get clean"
KEPT_SECONDS = 7 * 24 * 3600
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
def debian_after(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function that returns a tar with a bare Debian after root has run the given commands."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip(NO_DEBOOTSTRAP)

    def debian_after(*commands: str) -> Path:
        digest = hashlib.sha256(repr((DEBOOTSTRAP, *commands)).encode()).hexdigest()
        kept = pytestconfig.cache.mkdir("debian") / f"{digest}.tar"
        if not kept.exists() or time.time() - kept.stat().st_mtime > KEPT_SECONDS:
            *earlier, last = commands
            root = tmp_path_factory.mktemp("bare") / "debian"
            if earlier:
                unpack(debian_after(*earlier), root)
            else:
                subprocess.run([*DEBOOTSTRAP, root], check=True)
                copy_configuration(root)
            code, output = Machine(root).run(last, user="root")
            assert code == 0, output
            draft = root.with_suffix(".tar")
            subprocess.run(["tar", "--create", "--file", draft, "--directory", root, "."], check=True)
            shutil.copy(draft, kept.with_suffix(".draft"))  # the temporary folder may be on another disk
            kept.with_suffix(".draft").rename(kept)
            shutil.rmtree(root.parent)
        return kept

    return debian_after


@pytest.fixture(scope="session")
def debian(debian_after: Callable[..., Path]) -> Path:
    """A tar with a bare Debian, from which every test makes its machine."""
    return debian_after(ADD_PYTHON)


@pytest.fixture
def machine(tmp_path: Path, debian: Path) -> Iterator[Machine]:
    root = tmp_path / "debian"
    unpack(debian, root)
    made = Machine(root)
    made.run("useradd --create-home --shell /bin/sh newcomer", user="root")
    subprocess.run(["git", "clone", "--quiet", ROOT, root / "home/newcomer/agon"], check=True)
    made.run("chown -R newcomer: /home/newcomer", user="root")
    yield made
    shutil.rmtree(root)


@contextmanager
def copied(machine: Machine, root: Path) -> Iterator[Machine]:
    """A second machine with the same files."""
    subprocess.run(["cp", "--archive", "--reflink=auto", machine.root, root], check=True)
    yield Machine(root)
    shutil.rmtree(root)


def unpack(debian: Path, root: Path) -> None:
    root.mkdir()
    subprocess.run(["tar", "--extract", "--numeric-owner", "--file", debian, "--directory", root], check=True)
    copy_configuration(root)
    (root / "dev/shm").chmod(0o1777)  # as on a booted machine


def copy_configuration(root: Path) -> None:
    for file in CONFIGURATION:
        if file.exists():
            (root / file.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / file.relative_to("/"))
