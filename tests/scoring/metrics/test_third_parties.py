"""A metric from an installed package, found through its entry point."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import pytest
import yaml

PACKAGE = """
from scoring.metrics.metric import LABELS, Metric

ALWAYS = Metric(
    name="ignored", title="Always the same", short="Same", formula="1/2", source="none", kinds=LABELS,
    compute=lambda comparison, spec: 0.5,
)
NO_METRIC = "nothing"
"""
ENTRY_POINTS = """[agon.metrics]
always = tiny_metrics:ALWAYS
accuracy = tiny_metrics:ALWAYS
broken = tiny_metrics:NO_METRIC
"""
METADATA = "Metadata-Version: 2.1\nName: tiny-metrics\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny installed distribution."""
    wheel = tmp_path_factory.mktemp("wheel") / "tiny_metrics-1.0-py3-none-any.whl"
    files = {
        "tiny_metrics.py": PACKAGE,
        "tiny_metrics-1.0.dist-info/entry_points.txt": ENTRY_POINTS,
        "tiny_metrics-1.0.dist-info/METADATA": METADATA,
        "tiny_metrics-1.0.dist-info/WHEEL": WHEEL,
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr("tiny_metrics-1.0.dist-info/RECORD", "".join(f"{name},,\n" for name in files))
    target = tmp_path_factory.mktemp("installed")
    uv = Path(sys.executable).parent / "uv"
    subprocess.run([uv, "pip", "install", "--quiet", "--no-index", "--target", target, wheel], check=True)
    return target


def python(code: str, installed: Path, root: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(installed)])}
    run = subprocess.run(
        [sys.executable, "-c", f"from scoring.metrics import *\n{code}"],
        env=environment,
        capture_output=True,
        text=True,
    )
    return run.stdout.strip() or run.stderr.strip().splitlines()[-1]


@pytest.mark.slow
def test_it_is_found_described_and_computed(installed: Path, root: Path) -> None:
    code = (
        "from scoring.definition import MetricSpec\n"
        "from tests.scoring.metrics.examples import worked\n"
        "spec = MetricSpec('always')\n"
        "print(describe(spec).key, describe(spec).title, compute(worked(get('accuracy').example), spec))"
    )
    assert python(code, installed, root) == "always Always the same 0.5"


@pytest.mark.slow
def test_ours_come_first_and_unknown_names_stay_unknown(installed: Path, root: Path) -> None:
    assert python("print(get('accuracy').title, find('nowhere'))", installed, root) == "Accuracy None"


def run_agon(arguments: list[str], installed: Path, root: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(installed)])}
    command = [sys.executable, "-m", "scoring", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_runs_are_analysed_by_it_and_the_schema_knows_it(installed: Path, root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(root / "tests/portal/tiny_task", folder)
    text = (folder / "task.yaml").read_text(encoding="utf-8")
    text = text.replace("metrics: [accuracy", "metrics: [always, accuracy", 1)
    text = text.replace("rank_by: accuracy", "rank_by: always", 1)
    (folder / "task.yaml").write_text(text, encoding="utf-8")
    gold, run = folder / "gold/one.json", folder / "baselines/one_yes.json"
    arguments = ["analyse", "--task", str(folder), "--track", "one", "--gold", str(gold), str(run)]
    assert "always" in run_agon(arguments, installed, root)
    schema = json.loads(run_agon(["schema"], installed, root))
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(text))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(text.replace("[always", "[allways", 1)))


@pytest.mark.slow
def test_a_slip_in_its_name_is_recognized(installed: Path, root: Path) -> None:
    found = python("get('allways')", installed, root)
    assert found.endswith("there is no metric allways; did you mean always?")


@pytest.mark.slow
def test_what_is_no_metric_is_named(installed: Path, root: Path) -> None:
    found = python("find('broken')", installed, root)
    assert found.startswith("TypeError: tiny_metrics:NO_METRIC is declared under agon.metrics")


@pytest.mark.slow
def test_packages_are_looked_through_only_for_unknown_names(installed: Path, root: Path) -> None:
    code = "import sys; get('accuracy'); print('importlib.metadata' in sys.modules, 'tiny_metrics' in sys.modules)"
    assert python(code, installed, root) == "False False"


@pytest.mark.slow
def test_packages_are_looked_through_only_once(installed: Path, root: Path) -> None:
    code = (
        "import importlib.metadata as packages\n"
        "from scoring.metrics.registry import names\n"
        "calls, entry_points = [], packages.entry_points\n"
        "packages.entry_points = lambda **group: calls.append(group) or entry_points(**group)\n"
        "print([find(name) for name in ('a', 'b', 'c')], 'always' in names(), len(calls))"
    )
    assert python(code, installed, root) == "[None, None, None] True 1"
