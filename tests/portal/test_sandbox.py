"""Attacks by a compromised child: the kernel prevents each of them, even if the child runs as root.

Each attack runs in a real child and makes plain system calls. The test then checks whether it had an effect.
"""

import ctypes
import fcntl
import mmap
import os
import platform
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from celery.signals import worker_ready
from django.conf import settings

from portal.evaluation import child, confinement, fork_server, landlock
from portal.evaluation.child import ForkServer, run_limited
from portal.evaluation.confinement import missing_protection
from portal.evaluation.errors import ChildError, HostError
from portal.objects.interface import data_objects
from portal.sealing import private_key_file
from portal.storage import stored_name
from tests.portal import attempts
from tests.portal.world import EVALUATION, GOOD, send_run

X86_64 = platform.machine() == "x86_64"
MEMORY = 1 << 46  # bytes; plenty, because a process that has drawn figures has a large address space
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines system calls and files")

# system call numbers on x86-64 and aarch64
CALLS = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "open_tree": (428, 428), "fsopen": (430, 430), "pivot_root": (155, 41), "chroot": (161, 51), "chdir": (80, 49),
    "bpf": (321, 280), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "io_uring_setup": (425, 425), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "memfd_create": (319, 279),
    "execve": (59, 221), "execveat": (322, 281), "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203),
    "bind": (49, 200), "sendto": (44, 206), "openat2": (437, 437), "open_by_handle_at": (304, 265),
    "truncate": (76, 45), "ftruncate": (77, 46), "fallocate": (285, 47), "unlinkat": (263, 35), "renameat2": (316, 276),
    "linkat": (265, 37), "symlinkat": (266, 36), "mkdirat": (258, 34), "mknodat": (259, 33), "fchmodat": (268, 53),
    "fchownat": (260, 54), "utimensat": (280, 88), "setxattr": (188, 5), "sendfile": (40, 71), "setuid": (105, 146),
    "setpriority": (141, 140), "sched_setaffinity": (203, 122), "setrlimit": (160, 164), "prctl": (157, 167),
    "seccomp": (317, 277), "personality": (135, 92), "reboot": (169, 142), "init_module": (175, 105),
    "kexec_load": (246, 104), "acct": (163, 89), "swapon": (167, 224), "settimeofday": (164, 170),
    "quotactl": (179, 60),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "timer_create": (222, 107),
    "inotify_init1": (294, 26), "fanotify_init": (300, 262), "syslog": (103, 116), "ioprio_set": (251, 30),
}  # fmt: skip


def number(name: str) -> int:
    return CALLS[name][0 if X86_64 else 1]


def prevented(attempt: Callable[..., Any], *arguments: Any, readable: Iterable[Path] = ()) -> str:
    """Return the name of the error that the attempt causes in a child. If it succeeds, the test fails."""
    with pytest.raises((ChildError, HostError)) as caught:
        run_limited(attempt, *arguments, readable=readable, memory=MEMORY)
    return str(caught.value).split()[0]


@pytest.fixture
def fork_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A function that makes children fork from a copy of this process, with all its open files at that time."""
    started = []

    def fork() -> None:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                ours.close()
                fork_server.serve(theirs)
            finally:
                os._exit(0)
        theirs.close()
        server = ForkServer(ours)
        started.append((server, pid))
        monkeypatch.setattr(child, "_kept", [server])

    yield fork
    for server, pid in started:
        server.stop()
        os.waitpid(pid, 0)


def test_this_machine_has_all_protection():
    assert missing_protection() == []


@pytest.mark.parametrize("name", CALLS)
def test_system_calls_that_no_evaluation_needs(name):
    nothing = [0] * 6
    assert run_limited(attempts.errno_of, number(name), *nothing) == "Operation not permitted"


def test_the_gold_key(tiny):
    key = private_key_file()
    assert key.read_text()
    assert prevented(key.read_text, readable=[tiny.definition.folder]) == "PermissionError"


def test_sealed_gold_and_other_peoples_runs(meltemi, tiny):
    own, other = (send_run(meltemi, GOOD if number == 1 else GOOD[::-1], number, EVALUATION) for number in (1, 2))
    files = [Path(settings.DATA_ROOT) / stored_name(run.file_sha256) for run in (own, other)]
    assert len(set(files)) == 2
    assert run_limited(files[0].read_text, readable=[files[0]]) == files[0].read_text()
    assert prevented(files[1].read_text, readable=[files[0]]) == "PermissionError"
    for gold in settings.GOLD_ROOT.iterdir():
        assert prevented(attempts.contents, gold) == "PermissionError"
    with data_objects().local(stored_name(own.file_sha256)) as file:
        assert prevented(attempts.contents, file.parent, readable=[file]) == "PermissionError"


@pytest.fixture
def hidden_files(meltemi, tiny) -> dict[str, Path]:
    """Files whose size and times say something: sealed gold, the database, another run, and one of the system."""
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    gold = next(path for path in settings.GOLD_ROOT.rglob("*") if path.is_file())
    run_file = Path(settings.DATA_ROOT) / stored_name(run.file_sha256)
    return {"gold": gold, "database": Path(settings.STATE_ROOT), "run": run_file, "system": Path("/etc/passwd")}


@pytest.mark.parametrize("way", ["stat", "lstat", "relative", "entry", "path only"])
def test_the_size_and_times_of_other_files(hidden_files, way):
    for name, path in hidden_files.items():
        assert path.exists()
        assert prevented(attempts.size, path, way) == "PermissionError", name


def test_the_status_of_other_files_by_system_calls(hidden_files):
    path, buffer = bytes(hidden_files["gold"]), bytes(256)
    here, empty_path = -100, 0x1000
    stat, newfstatat, statx, faccessat, readlinkat = (4, 262, 332, 269, 267) if X86_64 else (-1, 79, 291, 48, 78)
    if X86_64:
        assert run_limited(attempts.errno_of, stat, path, buffer) == "Permission denied"
    for flags in (0, empty_path):
        assert run_limited(attempts.errno_of, newfstatat, here, path, buffer, flags) == "Permission denied"
    assert run_limited(attempts.errno_of, statx, here, path, 0, 0xFFF, buffer) == "Function not implemented"
    assert run_limited(attempts.errno_of, faccessat, here, path, 0, 0) == "Permission denied"
    assert run_limited(attempts.errno_of, readlinkat, here, path, buffer, 256) == "Invalid argument"


def test_a_child_that_replaces_the_handler_only_ends_itself(hidden_files):
    with pytest.raises((ChildError, HostError)):
        run_limited(attempts.status_without_handler, hidden_files["gold"], memory=MEMORY)


def test_the_status_of_files_that_a_child_may_read(tmp_path):
    file = tmp_path / "run.json"
    file.write_bytes(b"12345")
    assert run_limited(attempts.sizes_of_open_files, file, readable=[file]) == [5, 5, 5, 5]


def test_links_lead_nowhere(tmp_path):
    secret, folder = tmp_path / "secret", tmp_path / "folder"
    secret.write_text("hidden")
    folder.mkdir()
    (folder / "link").symlink_to(secret)
    for way in (folder / "link", folder / ".." / "secret", Path("/proc/self/root", *secret.parts[1:])):
        assert prevented(way.read_text, readable=[folder]) == "PermissionError"


@pytest.mark.parametrize("file", ["mem", "environ", "maps", "cmdline", "fd", "root/etc/passwd", "task"])
def test_files_of_worker_and_parent_in_proc(file):
    for process in (os.getpid(), child.fork_server().pid):
        assert prevented(attempts.contents, Path(f"/proc/{process}/{file}")) == "PermissionError"


def test_the_parents_memory(fork_here):
    kept = ctypes.create_string_buffer(b"untouched")
    local = ctypes.create_string_buffer(b"changed!!")
    mine = struct.pack("PN", ctypes.addressof(local), 9)
    theirs = struct.pack("PN", ctypes.addressof(kept), 9)
    fork_here()
    write = (number("process_vm_writev"), os.getpid(), mine, 1, theirs, 1, 0)
    assert run_limited(attempts.errno_of, *write, memory=MEMORY) == "Operation not permitted"
    assert kept.value == b"untouched"


@pytest.mark.parametrize("call", ["kill", "tkill", "tgkill"])
def test_signals_to_the_worker(call):
    received = []
    before = signal.signal(signal.SIGUSR1, lambda *_: received.append(call))
    parent = os.getpid()
    arguments = [parent, parent, signal.SIGUSR1] if call == "tgkill" else [parent, signal.SIGUSR1]
    try:
        assert run_limited(attempts.errno_of, number(call), *map(int, arguments)) == "Operation not permitted"
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert received == []


def test_signals_by_descriptor():
    """`fcntl` can choose a process to be signaled when a descriptor is readable. A child must not do that."""
    assert prevented(fcntl.fcntl, 0, fcntl.F_SETOWN, os.getpid()) == "PermissionError"


@pytest.mark.slow
def test_descriptors_of_the_parent_are_closed(fork_here, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    with secret.open("r+b") as file, mmap.mmap(file.fileno(), 6, access=mmap.ACCESS_READ):
        fork_here()
        assert prevented(os.pread, file.fileno(), 6, 0) == "OSError"
        left = run_limited(attempts.contents, Path("/dev/fd"), readable=[Path("/proc")], memory=MEMORY)
        # standard input, output and error, the worker's socket, and the listing itself
        assert len(left) == 5
    for standard in (0, 1, 2):
        assert run_limited(attempts.device, standard, memory=MEMORY) == Path(os.devnull).stat().st_rdev


ATTEMPTS: dict[str, Callable[[Path], tuple[Any, ...]]] = {
    "truncate": lambda file: (os.truncate, file, 0),
    "open to truncate": lambda file: (os.open, file, os.O_RDONLY | os.O_TRUNC),
    "open to write": lambda file: (os.open, file, os.O_WRONLY),
    "append": lambda file: (os.open, file, os.O_APPEND | os.O_WRONLY),
    "unlink": lambda file: (os.unlink, file),
    "rename": lambda file: (os.rename, file, file.with_name("renamed")),
    "replace": lambda file: (os.replace, file.with_name("other"), file),
    "create": lambda file: (file.with_name("new").touch,),
    "temporary": lambda file: (os.open, file.parent, os.O_TMPFILE | os.O_RDWR),
    "link": lambda file: (os.link, file, file.with_name("linked")),
    "symlink": lambda file: (os.symlink, file, file.with_name("symlink")),
    "mkdir": lambda file: (os.mkdir, file.with_name("folder")),
    "mkfifo": lambda file: (os.mkfifo, file.with_name("fifo")),
    "chmod": lambda file: (os.chmod, file, 0o777),
    "utime": lambda file: (os.utime, file, (0, 0)),
    "setxattr": lambda file: (os.setxattr, file, "user.mark", b"mark"),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_files_are_not_changed_even_where_they_may_be_read(name, tmp_path):
    file, other = tmp_path / "file", tmp_path / "other"
    for path in (file, other):
        path.write_text("as it was")
    before = {path: path.stat() for path in (file, other)}
    assert prevented(*ATTEMPTS[name](file), readable=[tmp_path]) in ("PermissionError", "OSError")
    assert {path: path.stat() for path in tmp_path.iterdir()} == before
    assert file.read_text() == other.read_text() == "as it was"


@pytest.mark.parametrize(
    "attempt",
    [
        (socket.socket,),
        (socket.socketpair,),
        (os.fork,),
        (os.execv, "/bin/true", ["true"]),
        (subprocess.run, ["true"]),
        (os.setsid,),
        (os.nice, -20),
    ],
)
def test_no_network_no_program_no_other_process(attempt):
    assert prevented(*attempt) == "PermissionError"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_protection_holds_without_privileges(fork_here, tmp_path):
    """The parent has no capabilities, as in a container."""
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents:
        if folder.stat().st_uid == os.getuid() and folder != Path("/") and "pytest" in folder.name:
            folder.chmod(0o755)
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    secret.chmod(0o644)
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(65534)
            fork_here()
            prevented(socket.socket)
            prevented(secret.read_text)
            os._exit(0 if run_limited(attempts.same, "fine", memory=MEMORY) == "fine" else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("known", [1, 2, 3, 4, 5, 6, landlock.version()])
def test_older_kernels(known, monkeypatch, fork_here, tmp_path):
    """Try each version of Landlock. A kernel accepts the access rights of its own version and of earlier versions."""
    if known > landlock.version():
        pytest.skip("this kernel's Landlock is older")
    monkeypatch.setattr(confinement, "_LANDLOCK", known)
    fork_here()
    run = tmp_path / "run"
    run.write_text("content")
    assert run_limited(run.read_text, readable=[run], memory=MEMORY) == "content"
    assert prevented(Path("/etc/passwd").read_text, readable=[tmp_path]) == "PermissionError"
    assert prevented(os.truncate, run, 0, readable=[tmp_path]) == "PermissionError"


def test_only_folders_of_libraries_are_readable(tmp_path):
    lines = [
        b"7f00-7f01 r-xp 00000000 08:01 42                         /usr/lib/libm.so.6",
        b"7f00-7f01 r-xp 00000000 08:01 42                         /srv/my venv/site-packages/lib.cpython-313.so",
        b"7f00-7f01 r-xp 00000000 08:01 42                         /opt/caf\xe9/libpython3.13.so.1.0",
        b"7f00-7f01 rw-s 00000000 08:01 42                         /srv/agon.software/state/db.sqlite3-shm",
        b"7f00-7f01 rw-s 00000000 08:01 42                         /srv/sol/notes.song",
        b"7f00-7f01 rw-p 00000000 00:00 0                          [heap]",
        b"7f00-7f01 rw-p 00000000 00:00 0",
    ]
    maps = tmp_path / "maps"
    maps.write_bytes(b"\n".join(lines) + b"\n")
    expected = {b"/usr/lib", b"/srv/my venv/site-packages", b"/opt/caf\xe9"}
    assert {os.fsencode(folder) for folder in confinement._folders_of_libraries(maps)} == expected


def test_what_a_kernel_lacks_is_reported(monkeypatch, fork_here):
    monkeypatch.setattr(confinement, "_LANDLOCK", 0)
    monkeypatch.setattr(confinement, "_HAS_SECCOMP", False)
    assert ["seccomp" in missing_protection()[0], "Landlock" in missing_protection()[1]] == [True, True]
    fork_here()
    assert run_limited(attempts.same, "fine", memory=MEMORY) == "fine"


def test_a_worker_logs_at_its_start_what_its_kernel_lacks(monkeypatch, caplog):
    worker_ready.send(sender=None)
    assert "confined" not in caplog.text
    monkeypatch.setattr(confinement, "_LANDLOCK", 0)
    worker_ready.send(sender=None)
    assert caplog.text.count("Files are not confined") == 1


def test_a_child_that_cannot_be_confined_reads_nothing(monkeypatch, fork_here):
    monkeypatch.setattr(confinement, "_LANDLOCK", 99)

    def fail(*_: Any) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(landlock, "allow_reading", fail)
    fork_here()
    with pytest.raises(HostError, match="OSError at test_sandbox"):
        run_limited(attempts.same, "read", memory=MEMORY)
