"""Decorators that declare endpoints."""

from collections.abc import Callable
from typing import Any

from ninja import Router

router = Router()
"""All routes are in one router, because several methods may share a URL."""

PROBLEMS = dict.fromkeys((400, 401, 403, 404, 422, 429))
"""The error responses that every URL can return. `openapi` adds their schema, because Ninja would build it for each."""
ACTION_PROBLEMS = PROBLEMS | dict.fromkeys((409, 413, 415))
"""The error responses of URLs that call actions."""

Declared = Callable[[Callable[..., Any]], Callable[..., Any]]


def operation(methods: list[str], path: str, name: str, text: str, tag: str, **options: Any) -> Declared:
    """Declare an operation. The first line of `text` becomes its summary, and the rest its description."""
    summary, _, rest = text.partition("\n")
    return router.api_operation(
        methods,
        path,
        operation_id=name,
        url_name=name,
        summary=summary.rstrip("."),
        description=rest.strip() or None,
        tags=[tag],
        **options,
    )


def read(tag: str, path: str, answer: Any, **options: Any) -> Declared:
    """Declare a GET endpoint. The function's name becomes the operation's name, and its docstring the description."""

    def declare(view: Callable[..., Any]) -> Callable[..., Any]:
        response = {200: answer, **PROBLEMS}
        name, text = view.__name__, view.__doc__ or ""
        return operation(["GET", "HEAD"], path, name, text, tag, response=response, **options)(view)

    return declare


def file(media_type: str, description: str) -> dict[str, Any]:
    """Return the `openapi_extra` of a response that is a file."""
    text = {"type": "string", "contentMediaType": media_type}
    schema = {"type": "array", "items": {"type": "object"}} if media_type == "application/json" else text
    return {"responses": {200: {"description": description, "content": {media_type: {"schema": schema}}}}}
