"""The child process: an answer, or a fault of a known kind, and never a harm to its parent."""

import os
import time
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from django.db import connection

from portal.evaluation.child import ChildError, HostError, run_limited

GIBIBYTE = 1024**3


def test_answer_comes_back():
    assert run_limited(lambda: {"pid": os.getpid()})["pid"] != os.getpid()


def test_floats_come_back_bit_for_bit():
    values = [0.1, 1 / 3, 5e-324, 1e308, -0.0]
    assert [value.hex() for value in run_limited(lambda: values)] == [value.hex() for value in values]


def test_time_limit_kills():
    started = time.monotonic()
    with pytest.raises(HostError, match="in time"):
        run_limited(lambda: time.sleep(60), seconds=0.2)
    assert time.monotonic() - started < 30


def test_busy_loop_is_killed():
    def spin():
        while True:
            pass

    with pytest.raises((ChildError, HostError)):  # on a busy machine it hardly runs
        run_limited(spin, seconds=0.2)


def test_memory_limit_is_a_clean_error():
    with pytest.raises(ChildError, match="MemoryError"):
        run_limited(lambda: np.ones(GIBIBYTE).sum(), memory=2 * GIBIBYTE)


def test_error_says_where_but_quotes_nothing():
    with pytest.raises(ChildError, match=r"KeyError at test_child\.py") as caught:
        run_limited(lambda: {}["canary"])
    assert "canary" not in str(caught.value)


def test_sudden_death_is_noticed():
    with pytest.raises(ChildError, match="died"):
        run_limited(os.abort)


def test_value_that_is_no_json_is_an_error():
    with pytest.raises(ChildError, match="ValueError"):
        run_limited(lambda: float("nan"))


def test_endless_answer_is_cut():
    with pytest.raises(ChildError, match="too long"):
        run_limited(lambda: "x" * 32 * 1024**2)


def test_child_writes_no_file(tmp_path):
    with pytest.raises(ChildError, match="Error"):
        run_limited(lambda: (tmp_path / "file").write_text("data"), [tmp_path])
    assert list(tmp_path.iterdir()) == []


def open_descriptors():
    return len(list(Path("/dev/fd").iterdir()))


@pytest.mark.django_db
def test_parents_connections_survive_the_child():
    connection.ensure_connection()
    descriptors = open_descriptors()

    def break_what_is_inherited():
        connection.close()
        return True

    run_limited(break_what_is_inherited)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert open_descriptors() == descriptors


def test_child_may_have_threads():
    def ask():
        found = []
        thread = Thread(target=lambda: found.append(1))
        thread.start()
        thread.join()
        return found

    assert run_limited(ask) == [1]


def test_child_opens_few_files():
    with pytest.raises(ChildError, match="OSError"):
        run_limited(lambda: [os.dup(0) for _ in range(100)])
