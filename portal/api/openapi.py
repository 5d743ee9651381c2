"""The OpenAPI specification: the one that ninja generates, corrected to match the actual responses."""

from typing import Any

from portal.api.problems import MEDIA_TYPE

_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "An access token, created under Settings → Access tokens. Public endpoints need no token.",
}
READS = ("get", "head")
_PARTS = ("You", "Tasks", "Data", "Leaderboards", "Team", "Submissions", "Runs", "Organizers")


def specification(found: dict[str, Any]) -> dict[str, Any]:
    """Add the problems' media type and the token to the specification, and remove HEAD."""
    for methods in found["paths"].values():
        methods.pop("head", None)
        for method, operation in methods.items():
            operation["security"] = [{}, {"token": []}] if method in READS else [{"token": []}]
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    answer["content"] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    found["components"]["securitySchemes"] = {"token": _TOKEN}
    found["tags"] = [{"name": name} for name in _PARTS]  # the order of the sections
    return found
