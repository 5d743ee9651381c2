"""The client's requests and types agree with the API's specification, which follows from the actions' declarations."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from msgspec.inspect import (
    AnyType,
    BoolType,
    DateTimeType,
    DateType,
    DictType,
    FloatType,
    IntType,
    ListType,
    NoneType,
    StrType,
    StructType,
    Type,
    UnionType,
    type_info,
)

from agon import answers
from agon.board_row import BoardRow
from portal.api.urls import api
from tests.conftest import ROOT

METHODS = {"read": "get", "items": "get", "pages": "get", "send": "post", "_change": "post", "_upload": "post"}
METHODS |= {"_send_file": "post", "_until_finished": "get", "fetch": "get"}
KEPT_FROM_PAGES = "/.well-known/"
_JSON_TYPES: dict[type[Type], str] = {
    BoolType: "boolean",
    DateTimeType: "string",
    DateType: "string",
    DictType: "object",
    FloatType: "number",
    IntType: "integer",
    ListType: "array",
    NoneType: "null",
    StrType: "string",
    StructType: "object",
}


@dataclass(frozen=True)
class Request:
    """A request in the client's code: `kind` is the type of its response, and `keys` are those of its JSON body."""

    method: str
    path: str
    kind: str
    keys: frozenset[str]


def requests() -> Iterator[Request]:
    for name in ("portal.py", "organizing.py"):
        tree = ast.parse((ROOT / "agon" / name).read_text(encoding="utf-8"))
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            named = dict(one for node in ast.walk(function) for one in _assigned(node))
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    yield from _requests_of(node, named)


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value


def _requests_of(call: ast.Call, named: dict[str, ast.expr]) -> Iterator[Request]:
    verb = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if verb == "ask":
        method = getattr(call.args[0], "value", "").lower() if isinstance(call.args[0], ast.Constant) else ""
    else:
        method = METHODS.get(verb, "")
    kind = re.search(r"\w+(?=\]?$)", ast.unparse(call.args[0])) if call.args else None
    given = [named.get(one.id, one) if isinstance(one, ast.Name) else one for one in call.args]
    body = next((one for one in given if isinstance(one, ast.Dict)), None)
    keys = frozenset(str(key.value) for key in body.keys if isinstance(key, ast.Constant)) if body else frozenset()
    for path in [one for argument in given for one in _paths(argument)] if method else ():
        yield Request(method, path, kind[0] if kind else "", keys)


def _paths(node: ast.expr) -> Iterator[str]:
    """Yield the paths that an expression may give, with `{}` for each value in it."""
    match node:
        case ast.JoinedStr(values=parts):
            path = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
            yield from [path] if path.startswith("/") else []
        case ast.Constant(value=str(path)) if path.startswith("/"):
            yield path
        case ast.IfExp(body=first, orelse=second):
            yield from (*_paths(first), *_paths(second))


FOUND = list(dict.fromkeys(one for one in requests() if not one.path.startswith(KEPT_FROM_PAGES)))


@pytest.fixture(scope="module")
def specification() -> dict[str, Any]:
    found: dict[str, Any] = api.get_openapi_schema()
    return found


def _operation(specification: dict[str, Any], request: Request) -> dict[str, Any]:
    """Return the operation whose path has the same form. A path without values in it comes first."""
    for path, operations in sorted(specification["paths"].items(), key=lambda one: one[0].count("{")):
        form = re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/api/v1"))
        if (_fits(form, request.path) or _fits(request.path, form)) and request.method in operations:
            found: dict[str, Any] = operations[request.method]
            return found
    raise AssertionError(f"{request.method} {request.path} is not in the specification")


def _fits(form: str, path: str) -> bool:
    return re.fullmatch(re.escape(form).replace(r"\{\}", "[^/]+"), path) is not None


def _properties(specification: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of an object or, for a list or a page of a list, of its items."""
    among = [one for one in (*schema.get("anyOf", ()), *schema.get("allOf", ())) if one.get("type") != "null"]
    schema = among[0] if among else schema
    if "$ref" in schema:
        schema = specification["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    inner = schema.get("items") or schema.get("properties", {}).get("items", {})
    found: dict[str, Any] = schema.get("properties", {})
    return _properties(specification, inner) if "$ref" in inner or "$ref" in inner.get("items", {}) else found


def test_the_search_finds_the_client_s_requests() -> None:
    assert Request("post", "/tasks/{}/runs/{}/withdraw", "Run", frozenset({"reason"})) in FOUND
    assert len(FOUND) > 40


@pytest.mark.parametrize("request_", FOUND, ids=lambda one: f"{one.method} {one.path}")
def test_the_specification_has_each_request(request_: Request, specification: dict[str, Any]) -> None:
    operation = _operation(specification, request_)
    if request_.keys:
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        assert request_.keys <= _properties(specification, body).keys()
    kind = getattr(answers, request_.kind, None)
    if kind is None or not issubclass(kind, msgspec.Struct):
        return
    answer = next(one for status, one in operation["responses"].items() if str(status).startswith("2"))
    schema = _of_one(specification, answer["content"]["application/json"]["schema"])
    assert not list(unreadable(type_info(kind), schema, specification, kind.__name__))


def test_a_leaderboard_of_the_client_is_that_of_the_specification(specification: dict[str, Any]) -> None:
    """Its rows have all fields, because they become the columns of a DataFrame."""
    schemas = specification["components"]["schemas"]
    assert not list(unreadable(type_info(answers.Leaderboard), schemas["BoardAnswer"], specification, "Leaderboard"))
    assert {*BoardRow.__struct_fields__} == {*schemas["BoardRow"]["properties"]}


def test_each_difference_between_type_and_specification_is_found(specification: dict[str, Any]) -> None:
    class Row(msgspec.Struct):
        rank: int
        team: int
        method: str
        received_at: str
        flags: list[int]
        scores: dict[str, float]
        place: str
        later: str = ""

    row = specification["components"]["schemas"]["BoardRow"]
    assert [one.partition(":")[0] for one in unreadable(type_info(Row), row, specification, "Row")] == [
        "Row.rank",
        "Row.team",
        "Row.flags[]",
        "Row.scores[]",
        "Row.place",
    ]


def _of_one(specification: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a response or, if it is a list or a page of a list, of one entry."""
    schema = _resolved(specification, schema)
    items = schema.get("items") or schema.get("properties", {}).get("items", {}).get("items")
    return _resolved(specification, items) if items else schema


def _resolved(specification: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = specification["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def unreadable(kind: Type, schema: dict[str, Any], specification: dict[str, Any], place: str) -> Iterator[str]:
    """Yield each value that the schema allows and the client's type cannot be, with its place."""
    schema = _resolved(specification, schema)
    if "anyOf" in schema:
        for one in schema["anyOf"]:
            yield from unreadable(kind, one, specification, place)
        return
    name = schema.get("type", "any")
    if isinstance(kind, UnionType):
        fitting = [one for one in kind.types if _JSON_TYPES[type(one)] == name]
        kind = fitting[0] if fitting else kind
    match kind:
        case AnyType():
            return
        case StructType():
            yield from _unreadable_fields(kind, schema.get("properties", {}), specification, place)
        case ListType(item_type=item) if name == "array":
            yield from unreadable(item, schema["items"], specification, f"{place}[]")
        case DictType(value_type=value) if name == "object":
            values = schema["additionalProperties"]
            yield from unreadable(value, {} if values is True else values, specification, f"{place}[]")
        case DateTimeType() if schema.get("format") != "date-time":
            yield f"{place}: the specification has no time"
        case _ if _JSON_TYPES.get(type(kind)) != name:
            yield f"{place}: the specification allows {name}"


def _unreadable_fields(
    kind: StructType, properties: dict[str, Any], specification: dict[str, Any], place: str
) -> Iterator[str]:
    for field in kind.fields:
        own = f"{place}.{field.encode_name}"
        if field.encode_name in properties:
            yield from unreadable(field.type, properties[field.encode_name], specification, own)
        elif field.required:
            yield f"{own}: the specification lacks it"
