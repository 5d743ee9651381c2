"""Examples in the documentation match what the engine reads."""

import itertools
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from scoring import DefinitionError, load_definition
from scoring.formats import FORMATS
from tests.conftest import ROOT

RUNTIME_FOLDERS = {"data/", "definitions/", "files/", "gold/", "packs/", "validations/"}  # in AGON_STATE


def examples(page: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def test_the_example_of_a_definition_is_one(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(examples("docs/for-organizers.md")[0])
    definition = load_definition(tmp_path)
    assert [track.slug for track in definition.tracks] == ["main-hard"]


def test_the_examples_of_all_keys_fit_together(tmp_path: Path) -> None:
    """The examples of all sections form one definition. Each run format is inserted into its track in turn."""
    whole: dict[str, Any] = {}
    kinds = []
    for example in map(yaml.safe_load, examples("docs/task-yaml.md")):
        if "format" not in example:
            assert not whole.keys() & example.keys()
            whole |= example
    (tmp_path / "task.yaml").write_text(yaml.safe_dump(whole))
    load_definition(tmp_path)
    for example in map(yaml.safe_load, examples("docs/task-yaml.md")):
        if "format" in example:
            kinds.append(example["format"]["kind"])
            whole["tracks"][0] |= example
            (tmp_path / "task.yaml").write_text(yaml.safe_dump(whole))
            codes = {"definition-rule"}  # the track's metrics need different answers
            try:
                load_definition(tmp_path)
            except DefinitionError as error:
                codes = {problem.code for problem in error.report}
            assert codes == {"definition-rule"}
    assert kinds == list(FORMATS)


def test_every_package_has_its_line() -> None:
    named = (ROOT / "docs/dependencies.md").read_text().lower()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    packages = {re.split(r"[\[>= ]", line)[0].lower() for line in wanted} - {"agon"}
    assert {package for package in packages if package not in named} == set()


def test_links_between_documents_lead_somewhere() -> None:
    """Check that linked files exist, and that linked headings do, too."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^):]+)\)", page.read_text()):
            name, _hash, heading = target.partition("#")
            linked = page.parent / name if name else page
            assert linked.exists() or "docs/images/" in name, f"{page.name}: {target}"
            assert not heading or heading in anchors(linked), f"{page.name}: {target}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, named as on code forges."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ["architecture.md", "how-it-works.md"])
def test_the_map_names_only_files_that_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text().partition("## Rooms for what comes next")[0]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [f"/{path}" for path in tracked.splitlines()]
    missing = {
        name
        for name in re.findall(r"`([a-z_]+(?:/[a-z_-]+)*(?:/|\.(?:py|md|html|css)))`", text)
        if name not in RUNTIME_FOLDERS and not any(f"/{name}" in path for path in paths)
    }
    assert missing == set()
