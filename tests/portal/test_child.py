"""The child process: it answers or fails with a known kind of error, and it never harms the worker."""

import mmap
import operator
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from portal.evaluation.child import ENVIRONMENT, Child, fork_server, run_limited
from portal.evaluation.errors import ChildError, HostError
from tests.conftest import ROOT
from tests.portal import attempts
from tests.services import children, wait_until

GIBIBYTE = 1024**3


def test_answer_comes_back():
    assert run_limited(os.getpid) != os.getpid()


def test_floats_come_back_bit_for_bit():
    values = [0.1, 1 / 3, 5e-324, 1e308, -0.0]
    assert [value.hex() for value in run_limited(attempts.same, values)] == [value.hex() for value in values]


def test_an_object_lives_in_a_child():
    with Child(attempts.Counter()) as child:
        assert [child.ask("add", 1), child.ask("add", 2)] == [1, 3]
        with pytest.raises(ChildError, match="ValueError at attempts"):
            child.ask("fail")
        assert not child.is_alive


def test_time_limit_kills():
    started = time.monotonic()
    with pytest.raises(HostError, match="timed out"):
        run_limited(time.sleep, 60, seconds=0.2)
    assert time.monotonic() - started < 30


def test_busy_loop_is_killed():
    with pytest.raises((ChildError, HostError)):  # HostError if the machine is too busy to give it CPU time
        run_limited(attempts.spin, seconds=0.2)


@pytest.mark.slow
def test_work_of_an_earlier_question_does_not_count_as_work_of_this_one():
    with Child(attempts.Worker(), seconds=60) as child:
        child.ask("work", 0.5)
        child.grant(0.5)
        with pytest.raises(HostError, match="almost no CPU time"):
            child.ask("wait")


def test_time_is_granted_again():
    with Child(attempts.Worker(), seconds=0.5) as child, pytest.raises(HostError, match="timed out"):
        child.ask("wait")
    with Child(attempts.Worker(), seconds=0.01) as child:
        child.grant(60)
        assert child.ask("work", 0.1) is None


def test_memory_limit_is_a_clean_error():
    with pytest.raises(ChildError, match="MemoryError"):
        run_limited(np.ones, GIBIBYTE, memory=2 * GIBIBYTE)


def test_memory_of_the_parent_does_not_count():
    """A process that has drawn figures, for example, has 33 GB of address space."""
    with mmap.mmap(-1, 33 * GIBIBYTE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ):
        assert run_limited(attempts.answer_of_a_thread) == [1]


def test_error_says_where_but_quotes_nothing():
    with pytest.raises(ChildError, match=r"KeyError at attempts\.py") as caught:
        run_limited(attempts.look_up, "canary")
    assert "canary" not in str(caught.value)


def test_sudden_death_is_noticed():
    with pytest.raises(ChildError, match="exited without an answer"):
        run_limited(os.abort)


def test_value_that_is_no_json_is_an_error():
    with pytest.raises(ChildError, match="ValueError"):
        run_limited(float, "nan")


def test_endless_answer_is_cut():
    with pytest.raises(ChildError, match="too long"):
        run_limited(operator.mul, "x", 32 * 1024**2)


@pytest.mark.parametrize("said", [b"null", b"[]", b"{}", b'{"value": 1}', b'{"cpu_seconds": "1", "value": 1}'])
def test_a_child_that_answers_otherwise_is_an_error(said):
    with pytest.raises(ChildError, match="unexpected answer"):
        run_limited(attempts.say, said + b"\n")


def test_child_writes_no_file(tmp_path):
    with pytest.raises(ChildError, match="Error"):
        run_limited((tmp_path / "file").write_text, "data", readable=[tmp_path])
    assert list(tmp_path.iterdir()) == []


def test_child_may_have_threads():
    assert run_limited(attempts.answer_of_a_thread) == [1]


def test_child_opens_few_files():
    with pytest.raises(ChildError, match="OSError"):
        run_limited(attempts.open_many)


def test_no_descriptor_is_left_open():
    run_limited(os.getpid)
    before = descriptors()
    for failing in (os.getpid, os.abort):
        try:
            run_limited(failing)
        except ChildError:
            continue
    assert descriptors() == before


def descriptors():
    """Return the number of open descriptors in this process and in the fork server."""
    return [len(list(Path(folder).iterdir())) for folder in ("/dev/fd", f"/proc/{fork_server().pid}/fd")]


@pytest.mark.slow
def test_the_parent_of_children_is_small_and_knows_no_secret(monkeypatch):
    """The fork server has loaded neither Django nor the settings, and its environment has no database URL or key."""
    monkeypatch.setenv("AGON_GOLD_PRIVATE_KEY", "secret")
    fork_server().stop()
    loaded = run_limited(attempts.modules)
    assert not [name for name in loaded if name.split(".")[0] in ("django", "celery", "structlog", "psycopg", "pandas")]
    assert not [name for name in loaded if re.match(r"portal\.(?!evaluation)", name)]
    environment = Path(f"/proc/{fork_server().pid}/environ").read_text().rstrip("\0").split("\0")
    assert {line.partition("=")[0] for line in environment} <= {*ENVIRONMENT, "OMP_NUM_THREADS"}


@pytest.mark.slow
def test_another_server_replaces_one_that_died():
    run_limited(os.getpid)
    first = fork_server().pid
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: not fork_server_is(first), "its end is known")
    assert run_limited(attempts.same, 1) == 1


def fork_server_is(pid):
    return fork_server().pid == pid


@pytest.mark.slow
def test_a_server_that_dies_with_a_child_at_work_is_no_error_of_the_content():
    with Child(attempts.Worker()) as child:
        child.ask("work", 0)
        os.kill(fork_server().pid, signal.SIGKILL)
        with pytest.raises(HostError, match="fork server died"):
            child.ask("wait")
    assert run_limited(attempts.same, 1) == 1


WORKER = """
import time
from portal.evaluation.child import Child, fork_server
from tests.portal.attempts import Worker
with Child(Worker(), seconds=300) as child:
    child.ask("work", 0)
    print(fork_server().pid, flush=True)
    time.sleep(300)
"""


@pytest.mark.slow
def test_server_and_child_end_with_a_worker_that_is_killed():
    worker = subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    server = int(worker.stdout.readline())
    (child,) = children(server)
    worker.kill()
    worker.communicate()
    wait_until(lambda: not Path(f"/proc/{server}").exists() and not Path(f"/proc/{child}").exists(), "both have ended")
