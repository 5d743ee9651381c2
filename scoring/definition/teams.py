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
DOMAINS = many(matching(r"[a-z0-9-]+(\.[a-z0-9-]+)+", "an email domain, such as uni.example", "email domain"))
APPROVAL: Kind[Any] = either(
    one_of("automatic", "manual"),
    mapping(
        [Key("domains", DOMAINS, "Teams of people with an email address in these domains are approved immediately.")],
        dict[str, Any],
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to new teams. With `choices`, the answer must be one of them. Otherwise, any text is allowed."""

    key: str = declare(SLUG, "Short name of the answer in exports.")
    label: str = declare(TEXT, "Text of the question.")
    required: bool = declare(FLAG, "Whether a team must answer.", default=False)
    choices: tuple[str, ...] = declare(WORDS, "Allowed answers. Without them, any text is allowed.", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRules:
    name: str = declare(REGULAR_EXPRESSION, "Regular expression that a team name must fully match.")
    approval: Literal["automatic", "manual", "domains"] = declare(
        APPROVAL,
        "Whether new teams are approved automatically or by you. `{domains: [uni.example]}` automatically approves "
        "teams of people with an email address in these domains. You approve the other teams.",
        default="automatic",
    )
    domains: tuple[str, ...] = ()  # used with approval by domains
    questions: tuple[Question, ...] = declare(
        many(part(Question)), "Questions that each new team is asked.", default=()
    )
    closes_with: str | None = declare(
        SLUG, "Slug of a phase. When it opens, teams can no longer be created or joined.", default=None
    )


def finish_team(_value: Value, values: Values) -> None:
    if isinstance(values["approval"], dict):
        values |= {"approval": "domains", "domains": values["approval"]["domains"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The terms to sign before downloading data. Everyone must sign a new version again."""

    version: str = declare(
        limited(WORD, 40),
        "Version of the text. If the text changes, set a new version, which everyone must sign again.",
    )
    file: Path = declare(FILE, "Path to the agreement's text, a Markdown file.")
