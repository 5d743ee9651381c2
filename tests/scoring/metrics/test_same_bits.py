"""The same input gives bit-for-bit the same values with any hash seed, locale and number of threads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scoring.metrics.test_registry import EVERY, answers, of_run, score

SETTINGS = [
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
    {"PYTHONHASHSEED": "4242", "LC_ALL": "tr_TR.UTF-8", "OPENBLAS_NUM_THREADS": "7", "OMP_NUM_THREADS": "7"},
]
ITEMS = 20_000  # enough for a linear-algebra library to use several threads
FEWER = 500  # for the kinds of answers whose metrics use no linear algebra and would take most of the time
WITHOUT_ALGEBRA = {"entities", "rankings", "texts", "tuples"}


def every_value() -> list[str]:
    """Return each metric's exact value on random answers, in hexadecimal."""
    values = []
    for entry in EVERY:
        metric, kind = entry.values
        items = FEWER if kind in WITHOUT_ALGEBRA else ITEMS
        value = score(metric, kind, answers(kind, 1, items), of_run(answers(kind, 2, items)))
        values.append(f"{metric.name} {kind} {value.hex() if value is not None else None}")
    return values


@pytest.mark.slow
def test_under_any_hash_seed_locale_and_number_of_threads(root: Path) -> None:
    printed = [
        subprocess.run(
            [sys.executable, "-m", "tests.scoring.metrics.test_same_bits"],
            cwd=root,
            env={**os.environ, **setting},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for setting in SETTINGS
    ]
    assert len(printed[0]) == len(EVERY)
    assert printed[1] == printed[0]
    assert printed[2] == printed[0]


if __name__ == "__main__":
    print("\n".join(every_value()))
