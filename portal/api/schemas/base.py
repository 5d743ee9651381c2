"""The base of the API's responses."""

from typing import Any

from pydantic import BaseModel, ConfigDict

Problems = list[dict[str, Any]]  # lists of `scoring.reports.problems.Problem.as_dict` values


class Answer(BaseModel):
    """A response that is read from the attributes with the same names in a query's result."""

    model_config = ConfigDict(from_attributes=True)
