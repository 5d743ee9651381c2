"""The base of the portal's responses."""

from typing import Any

import msgspec


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A response, parsed from JSON. `as_dict` converts it back."""

    def as_dict(self) -> dict[str, Any]:
        """Return the response as JSON values."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain
