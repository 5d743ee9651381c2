"""Pagination.

Each page has the URL of the next one, which starts after the last row even if rows are added in the meantime.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext as _
from pydantic import BaseModel, Field

from portal.actions.base.input import NOT_VALID, is_text
from portal.api.requests import ApiRequest
from scoring.limits import EARLIEST, LATEST

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


class Paging(BaseModel):
    """The requested part of a list."""

    cursor: Annotated[str, Field(max_length=500, description="Value from `next` on the previous page")] = ""
    limit: Annotated[int, Field(ge=1, le=200, description="Items per page")] = 50


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next: str | None = Field(description="URL of the next page, or null on the last page")


def page_of(request: ApiRequest, rows: QuerySet[Row], order: Sequence[str], paging: Paging) -> list[Row]:
    """Return the rows of the page, and store the URL of the next page on the request.

    `order` lists columns that are unique together. Descending columns start with `-`.
    """
    names = [name.lstrip("-") for name in order]
    if paging.cursor:
        rows = rows.filter(_after(rows, order, _read(rows, names, paging.cursor)))
    found = list(rows.order_by(*order)[: paging.limit + 1])
    if len(found) > paging.limit:
        found.pop()
        note_next(request, _written([getattr(found[-1], name) for name in names]))
    return found


def note_next(request: ApiRequest, cursor: str) -> None:
    """Store the next page's URL, which is added to the answer and its `Link` header."""
    query = request.GET.copy()
    query["cursor"] = cursor
    request.next_page = f"{settings.PUBLIC_URL}{request.path}?{query.urlencode()}"


def as_page(request: ApiRequest, items: Sequence[Any]) -> dict[str, Any]:
    """Return the response for a page of a list. Items are converted to their type during serialization."""
    return {"items": items, "next": getattr(request, "next_page", None)}


def bad_cursor() -> Exception:
    return NOT_VALID(label="cursor", reason=_("Use the URL in “next” from the previous page."))


def _after(rows: QuerySet[Row], order: Sequence[str], values: Sequence[Any]) -> Q:
    after, same = Q(), Q()
    for name, value in zip(order, values, strict=True):
        column, step = name.lstrip("-"), "lt" if name.startswith("-") else "gt"
        after |= same & Q(**{f"{column}__{step}": value})
        same &= Q(**{column: value})
    return after


def _written(values: Sequence[Any]) -> str:
    plain = [value.isoformat() if isinstance(value, datetime) else str(value) for value in values]
    return urlsafe_b64encode(json.dumps(plain).encode()).decode().rstrip("=")


def _read(rows: QuerySet[Row], names: Sequence[str], cursor: str) -> list[Any]:
    try:
        plain = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not (isinstance(plain, list) and all(isinstance(text, str) and is_text(text) for text in plain)):
            raise bad_cursor()
        values = [_column(rows, name).to_python(text) for name, text in zip(names, plain, strict=True)]
    except (ValueError, TypeError, OverflowError, ValidationError):
        raise bad_cursor() from None
    if not all(_is_comparable(value) for value in values):
        raise bad_cursor()
    return values


def _is_comparable(value: Any) -> bool:
    """Return whether every database can compare its rows with the value."""
    if isinstance(value, datetime):
        return value.tzinfo is not None and EARLIEST <= value < LATEST
    return value is not None


def _column(rows: QuerySet[Row], name: str) -> Any:
    meta = rows.model._meta
    return meta.pk if name == "pk" else meta.get_field(name)
