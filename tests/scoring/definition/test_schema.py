"""The exported schema: kept up to date, true to the readers, and satisfied by the tasks that ship."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from scoring.definition import schema
from scoring.definition.yaml_values import parse_document
from scoring.formats import FORMATS
from scoring.metrics import table as metrics_table
from scoring.reports.messages.table import as_markdown
from scoring.reports.problems import Report
from tests.conftest import ROOT

TASKS = sorted(ROOT.glob("tasks/*/task.yaml"))


def test_the_documents_made_of_the_code_are_up_to_date() -> None:
    hint = "python -m scoring schema > docs/task.schema.json"
    assert (ROOT / "docs/task.schema.json").read_text(encoding="utf-8") == schema.as_text(), hint
    hint = "python -m scoring.reports.messages.table > docs/problem-codes.md"
    assert (ROOT / "docs/problem-codes.md").read_text(encoding="utf-8") == as_markdown(), hint
    hint = "python -m scoring.metrics.table > docs/metrics.md"
    assert (ROOT / "docs/metrics.md").read_text(encoding="utf-8") == metrics_table.as_markdown(), hint


@pytest.mark.parametrize("kind", FORMATS)
def test_each_format_has_the_options_that_its_reader_asks_for(kind: str) -> None:
    asked = set()
    for file in ("plain", "table", "json") if kind == "spans" else ("",):
        root = parse_document(f"{{file: {file}}}" if file else "{}", Report())
        assert root is not None
        keys = root.keys()
        FORMATS[kind].read_options(keys)
        asked |= keys._asked
    needed, further = schema.KINDS[kind]
    assert asked == {*needed, *further}
    assert schema.KINDS.keys() == FORMATS.keys()


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.parent.name)
def test_the_tasks_that_ship_satisfy_it(path: Path) -> None:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema.schema()).validate(document)
    document["tracks"][0]["metrics"] = ["no_such_metric"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema.schema()).validate(document)


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema.as_text()))
