"""What hostile own scorers try: each attempt fails with a sentence for organizers, and nothing is left behind."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.evaluation.errors import HostError
from portal.evaluation.own_scorers import confined
from portal.evaluation.own_scorers.confined import run_confined, why_not_run
from portal.management.checks import CHECKS
from scoring.definition import Scorer, ScorerColumn
from scoring.own_scorers.process import Job, Output
from scoring.own_scorers.program import Entry, Program, ScorerError
from tests.for_each import for_each

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="own scorers run only on Linux"),
    pytest.mark.slow,
]
SCORER = Scorer(columns=(ScorerColumn(key="quality", range=(0.0, 1.0)),))
WRITE = "import sys\nout = open(sys.argv[2] + '/scores.txt', 'w')\n"
ROOM = 512 * 1024**2


@pytest.fixture
def fresh() -> Iterator[None]:
    """A machine whose answer is not known yet, because a test changes what it depends on."""
    why_not_run.cache_clear()
    yield
    why_not_run.cache_clear()


def ran(code: str, run: bytes = b"[]", seconds: int = 5, memory: int = ROOM, wall: float = 60, **more: bytes) -> Output:
    files = {"score.py": code.encode()} | {f"{name}.py": content for name, content in more.items()}
    program = Program(files, Entry("score.py", ("$input", "$output")))
    return run_confined(Job(program, "main", {"gold.json": b"[1]"}, {"run.json": run}, seconds, memory, wall), SCORER)


def test_a_hostile_scorer_reaches_nothing_here() -> None:
    assert why_not_run() is None
    assert list(CHECKS["own scorers"]()) == []


WITHOUT_SECCOMP = "confinement.seccomp.allow_only_calls_of_scorers = lambda: None"
WITHOUT_LANDLOCK = "confinement.landlock.allow_reading = lambda *_: None"


@for_each(
    ["broken"],
    [
        pytest.param(WITHOUT_SECCOMP, id="system calls are not filtered"),
        pytest.param(WITHOUT_LANDLOCK, id="files are not confined"),
    ],
)
def test_a_machine_that_cannot_confine_says_so_and_runs_none(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None
) -> None:
    launcher = tmp_path / "launch.py"
    checkout = str(Path(confined.__file__).parents[3])
    launcher.write_text(
        f"import sys\nsys.path.insert(0, {checkout!r})\n"
        f"from portal.evaluation import confinement\n{broken}\n"
        "from portal.evaluation.own_scorers import launch\nlaunch.main()\n"
    )
    monkeypatch.setattr(confined, "_LAUNCH", launcher)
    why_not_run.cache_clear()
    said = why_not_run()
    assert said is not None
    assert said.startswith("Own scorers are not run on this machine, because")
    assert list(CHECKS["own scorers"]()) == [said]
    with pytest.raises(HostError, match="not run on this machine"):
        ran(WRITE + "out.write('quality: 1')")
    for folder in ("/dev/shm", "/tmp"):  # the attempts succeed if files are not confined
        Path(folder, "agon-escape").unlink(missing_ok=True)


def test_a_machine_without_the_protections_starts_no_scorer(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    monkeypatch.setattr(confined, "missing_protection", lambda: ["No Landlock."])
    monkeypatch.setattr(confined, "run_scorer", lambda *_: pytest.fail("it ran"))
    with pytest.raises(HostError, match="No Landlock"):
        ran("")


@for_each(
    ["code", "said"],
    [
        pytest.param("while True: pass", "CPU time", id="running forever"),
        pytest.param("x = []\nwhile True: x.append(bytes(10**7))", "MemoryError", id="memory"),
        pytest.param("while True: print('a' * 10**5)", "exit code", id="printing forever"),
        pytest.param(WRITE + "while True: out.write('a' * 10**5)", "File too large", id="filling the disk"),
        pytest.param(WRITE + "open(sys.argv[2] + '/more', 'w')", "can't start programs", id="more files"),
        pytest.param("import os\nos.fork()", "can't start programs", id="fork bomb"),
        pytest.param("import socket\nsocket.socket()", "use the network", id="network"),
        pytest.param("import os\nos.kill(os.getppid(), 9)", "can't start programs", id="killing the worker"),
        pytest.param("open('/etc/passwd')", "PermissionError", id="files of others"),
        pytest.param("import ctypes\nctypes.string_at(0)", "signal 11", id="crash"),
        pytest.param("raise SystemExit('bad gold')", "bad gold", id="its own error"),
        pytest.param("", "neither scores.txt nor scores.json", id="no scores"),
        pytest.param(WRITE + "out.write('other: 1')", "no value for quality; it has other", id="another column"),
        pytest.param(WRITE + "out.write('quality: 2')", "outside its range [0, 1]", id="outside the range"),
        pytest.param(WRITE + "out.write('quality: inf')", "not a finite number", id="infinite"),
        pytest.param(WRITE + "out.write('quality: ' + ' ' * 70000 + '1')", "more than 65,536 bytes", id="long scores"),
        pytest.param("open(__import__('sys').argv[2] + '/scores.json', 'w').write('[' * 9999)", "JSON", id="no JSON"),
        pytest.param("import runs_module", "ModuleNotFoundError", id="imports from the run's folder"),
    ],
)
def test_what_scorers_may_not_do_fails_in_words(code: str, said: str) -> None:
    with pytest.raises(ScorerError) as caught:
        ran(code, seconds=1)
    assert said in str(caught.value), str(caught.value)
    assert len(caught.value.messages) <= 16_384


def test_no_file_of_a_scorer_is_written_outside_its_folder() -> None:
    for name in ("../../left", "/tmp/agon-left"):
        files = {"score.py": b"", name: b""}
        with pytest.raises(ScorerError, match="is not allowed"):
            run_confined(Job(Program(files, Entry("score.py")), "main", {}, {}, 1, ROOM, 9), SCORER)
    assert not Path("/tmp/agon-left").exists()


def test_a_sleeping_scorer_is_ended() -> None:
    with pytest.raises(ScorerError, match=r"took longer than 0\.3 s"):
        ran("import time\ntime.sleep(1000)", wall=0.3)


LEFT = """
import os, pickle, sys
for name in ("/tmp/agon-left", "/dev/shm/agon-left", sys.argv[1] + "/left", sys.argv[2] + "/left"):
    try:
        open(name, "w")
        print("left", name)
    except OSError:
        pass
try:
    pickle.load(open(sys.argv[1] + "/res/run.json", "rb"))
except PermissionError:
    print("the pickle could start no program")
open(sys.argv[2] + "/scores.txt", "w").write("quality: %r" % (hash("a") % 1000 / 1000))
"""


def test_two_runs_are_the_same_and_leave_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGON_GOLD_PRIVATE_KEY_FILE", "/secret")
    pickled = b"cos\nsystem\n(S'touch /tmp/agon-left'\ntR."
    before = set(Path(confined.tempfile.gettempdir()).glob("agon-scorer-*"))
    first, second = ran(LEFT, pickled), ran(LEFT, pickled)
    assert first.scores == second.scores
    assert "left" not in first.messages
    assert not Path("/tmp/agon-left").exists()
    assert set(Path(confined.tempfile.gettempdir()).glob("agon-scorer-*")) == before
    shown = ran("import os\nprint(sorted(os.environ))\n" + WRITE + "out.write('quality: 1')")
    assert "GOLD" not in shown.messages
    assert os.environ["AGON_GOLD_PRIVATE_KEY_FILE"] == "/secret"


CODALAB = """#!/usr/bin/env python
import os.path
import sys
from sklearn.metrics import f1_score
input_dir, output_dir = sys.argv[1:]
truth = [line.strip() for line in open(os.path.join(input_dir, "ref", "truth.txt"))]
answer = [line.strip() for line in open(os.path.join(input_dir, "res", "answer.txt"))]
if not os.path.exists(output_dir):
    os.makedirs(output_dir)
with open(os.path.join(output_dir, "scores.txt"), "w") as output_file:
    output_file.write("quality: %.17g\\n" % f1_score(truth, answer, average="macro"))
"""


def test_a_program_in_the_layout_of_codalab_runs_as_it_is() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    truth, answer = ["a", "b", "a", "c"], ["a", "a", "a", "c"]
    files = {"evaluate.py": CODALAB.encode()}
    program = Program(files, Entry("evaluate.py", ("$input", "$output")))
    gold, run = ({name: "\n".join(lines).encode()} for name, lines in (("truth.txt", truth), ("answer.txt", answer)))
    found = run_confined(Job(program, "main", gold, run, 15, 2 * ROOM, 60), SCORER)
    assert found.scores == {"quality": sklearn.f1_score(truth, answer, average="macro")}
