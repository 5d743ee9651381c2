"""Teams in task.yaml: names, approval, questions and the data agreement."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from scoring.definition.keys import Key, Kind, Values, declare, mapping, part
from scoring.definition.kinds import FILE, FLAG, SLUG, TEXT, WORD, WORDS, either, limited, many, matching, one_of
from scoring.definition.yaml_values import Value


def _read_regular_expression(value: Value) -> str:
    text = value.text()
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        value.invalid(f"a regular expression ({error})")
        return ""
    return text


REGULAR_EXPRESSION = Kind(_read_regular_expression, {**TEXT.schema, "format": "regex"}, "regular expression")
DOMAINS = many(matching(r"[a-z0-9-]+(\.[a-z0-9-]+)+", "a mail domain, as uni.example", "mail domain"))
APPROVAL: Kind[Any] = either(
    one_of("automatic", "manual"),
    mapping(
        [Key("domains", DOMAINS, "Teams of people with mail addresses there are approved at once.")], dict[str, Any]
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to new teams; with `choices` the answer is one of them, else any text."""

    key: str = declare(SLUG, "Short name of the answer in exports.")
    label: str = declare(TEXT, "The question as people read it.")
    required: bool = declare(FLAG, "Whether a team must answer.", default=False)
    choices: tuple[str, ...] = declare(
        WORDS, "The answers to choose from. Without them any text is an answer.", default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRules:
    name: str = declare(REGULAR_EXPRESSION, "What a team's name must match in full.")
    approval: Literal["automatic", "manual", "domains"] = declare(
        APPROVAL,
        "Whether new teams are approved automatically or by you. `{domains: [uni.example]}` approves teams of people "
        "with mail addresses there automatically, and leaves the others to you.",
        default="automatic",
    )
    domains: tuple[str, ...] = ()  # with approval by domains
    questions: tuple[Question, ...] = declare(many(part(Question)), "Questions for each new team.", default=())
    closes_with: str | None = declare(
        SLUG, "Phase from whose opening on no one can create or join a team.", default=None
    )


def finish_team(_value: Value, values: Values) -> None:
    if isinstance(values["approval"], dict):
        values |= {"approval": "domains", "domains": values["approval"]["domains"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The terms to sign before downloading data. A new version must be signed again."""

    version: str = declare(
        limited(WORD, 40), "Version of the text. A changed text needs a new version, and people sign again."
    )
    file: Path = declare(FILE, "The text, in Markdown.")
