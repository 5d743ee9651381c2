"""The examples of responses in the OpenAPI specification."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic_core import to_jsonable_python

from portal.api.examples import EXAMPLES
from portal.api.urls import api
from tests.portal.script import Script
from tests.portal.world import EVALUATION, GOOD, captain, organizer_of, send_run, work_off


def json_answers() -> dict[str, dict[str, Any]]:
    """Return the JSON of each operation's successful response: its schema, and its example if there is one."""
    operations = [one for methods in api.get_openapi_schema()["paths"].values() for one in methods.values()]
    return {
        one["operationId"]: answer["content"]["application/json"]
        for one in operations
        for status, answer in one["responses"].items()
        if int(status) < 400 and "application/json" in answer.get("content", {})
    }


def test_every_successful_json_response_has_an_example():
    answers = json_answers()
    assert not [name for name, answer in answers.items() if "example" not in answer]
    assert not EXAMPLES.keys() - answers.keys()


def test_examples_of_responses_are_valid_and_have_all_fields():
    components = {"components": strict(api.get_openapi_schema()["components"])}
    problems = [
        f"{name}: {error.json_path}: {error.message}"
        for name, answer in json_answers().items()
        for error in Draft202012Validator(
            strict(answer["schema"]) | components, format_checker=Draft202012Validator.FORMAT_CHECKER
        ).iter_errors(answer.get("example"))
    ]
    assert not problems


def strict(schema: Any) -> Any:
    """Return the schema, changed so that objects must have all properties that it lists, and no others."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(value) for key, value in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        found |= {"additionalProperties": False, "required": list(schema["properties"])}
    return found


def test_examples_without_a_schema_have_the_keys_of_real_responses(tiny, meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    receipt = Script(captain(meltemi))(f"/tasks/tiny/submissions/{run.submission_id}/receipt").json()
    shown = to_jsonable_python(EXAMPLES)
    assert list(shown["receipt"]) == list(receipt)
    assert list(shown["receipt"]["runs"][0]) == list(receipt["runs"][0])
    audit = Script(organizer_of(tiny), "organize")("/tasks/tiny/organize/audit.json").json()
    assert list(shown["export_audit_json"][0]) == list(audit[0])


@pytest.mark.slow
def test_metrics_scores_and_problems_are_those_of_the_engine(tiny, meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    invalid = send_run(meltemi, ["YES", "Yes", "NO", "NO"], 2, EVALUATION)
    work_off(EVALUATION)
    organizer, shown = Script(organizer_of(tiny), "organize"), to_jsonable_python(EXAMPLES)
    tracks = organizer("/tasks/tiny").json()["tracks"]
    assert [one["metrics"] for one in shown["task"]["tracks"]] == [one["metrics"] for one in tracks]
    found = organizer(f"/tasks/tiny/runs/{run.pk}").json()
    same = ("name", "number", "track", "phase", "team", "items", "state", "is_finished", "slot", "scores", "flags")
    assert [shown["run"][key] for key in same] == [found[key] for key in same]
    report = organizer(f"/tasks/tiny/submissions/{invalid.submission_id}/report").json()
    assert shown["report"] == report
