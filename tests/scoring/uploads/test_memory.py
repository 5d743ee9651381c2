"""200 MB files, plain or zipped, valid or hostile, are checked within 2 GB of address space, without exceptions."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scoring import Definition
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

ITEMS = 2_000_000
CHILD = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (2 * 1024**3, 2 * 1024**3))
from scoring import check, check_upload, load_definition
task, track, run = load_definition(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
if run.suffix == ".zip":
    report = check_upload(task, run, run.name, None).report
else:
    report = check(task, track, run)
print(report.ok, *(problem.code for problem in report))
"""


def verdict(task: Definition, track: str, run: Path) -> str:
    command = [sys.executable, "-c", CHILD, str(task.folder), track, str(run)]
    environment = {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("track", "entry", "codes"),
    [
        ("task1-hard", b"[],", {"too-many-entries"}),
        ("task1-soft", b"{},", {"too-many-entries"}),
        ("task4-plain", b"1\t1\n", {"too-many-entries"}),
        ("task3-table", b",", {"too-many-entries"}),
        ("task5-spans", b"1,", {"too-many-entries"}),
        ("task4-plain", "i1\t\U0001f600\n".encode() * 20 + b"x" * 1000, {"too-many-entries", "ragged-row"}),
    ],
)
def test_hostile_files_are_rejected(
    tiny: Definition, tmp_path: Path, track: str, entry: bytes, codes: set[str]
) -> None:
    many = [f"i{number}" for number in range(500_000)]  # with fewer items, a file of this size would not be read
    for name in ("items.txt", "pairs.txt"):
        (tiny.folder / name).write_text("\n".join(many), encoding="utf-8")
    run = tmp_path / "run"
    start = b"[" if b"]" in entry or b"}" in entry else b"i1\t[" if track == "task5-spans" else b""
    run.write_bytes(start + entry * (200_000_000 // len(entry)))
    ok, *found = verdict(tiny, track, run).split()
    assert ok == "False"
    assert codes & set(found)


def test_a_file_far_larger_than_runs_of_so_few_items_is_not_read(tiny: Definition, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.write_bytes(b" " * 20_000_000)
    assert verdict(tiny, "task1-hard", run) == "False file-too-large"


def test_a_right_run_of_200_megabytes_is_read_plain_and_from_a_zip(tiny: Definition, tmp_path: Path) -> None:
    ids = [f"tweet-{number:040d}" for number in range(ITEMS)]
    (tiny.folder / "items.txt").write_text("\n".join(ids), encoding="utf-8")
    run = tmp_path / "task1_hard_Lak_NLP_1.json"
    with run.open("w", encoding="utf-8") as file:
        file.write("[")
        file.write(",\n".join(f'{{"test_case": "TINY", "id": "{item}", "value": "A"}}' for item in ids))
        file.write("]")
    assert 150_000_000 < run.stat().st_size < 250_000_000
    assert verdict(tiny, "task1-hard", run) == "True"
    archive = tmp_path / "tiny_Lak_NLP.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        packed.write(run, run.name)
    assert verdict(tiny, "task1-hard", archive) == "True"
