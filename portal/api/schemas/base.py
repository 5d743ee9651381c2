"""The base of the API's responses."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict

Problems = list[dict[str, Any]]  # lists of `scoring.reports.problems.Problem.as_dict` values


class Answer(BaseModel):
    """A response. Most of its fields have the same names as attributes of a query's result."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def read(cls, source: object, **values: Any) -> Self:
        """Create the response from `values`, with the attributes of `source` for all other fields."""
        others = cls.model_fields.keys() - values.keys()
        return cls(**values, **{name: getattr(source, name) for name in others})
