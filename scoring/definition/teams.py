"""Teams in task.yaml: names, approval, questions and the data agreement."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from scoring import limits
from scoring.definition.keys import Key, Kind, Values, declare, mapping, part
from scoring.definition.kinds import FILE, FLAG, SLUG, TEXT, WORD, either, limited, many, matching, one_of, whole
from scoring.definition.yaml_values import Value


def _read_regular_expression(value: Value) -> str:
    text = value.text()
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        value.invalid(f"a regular expression ({error})")
        return ""
    return text


_SIMPLE_RULE = re.compile(
    r"(?:\.|\[(?P<ranges>(?:A-Z|a-z|0-9){3})(?P<others>[_.+]*-?)\])\{(?P<least>\d+),(?P<most>\d+)\}"
)

REGULAR_EXPRESSION = Kind(_read_regular_expression, {**TEXT.schema, "format": "regex"}, "regular expression")
DOMAINS = many(
    matching(r"[a-z0-9-]+(\.[a-z0-9-]+)+", "an email domain, such as uni.example", "email domain"),
    most=limits.DOMAINS,
)
APPROVAL: Kind[Any] = either(
    one_of("automatic", "manual"),
    mapping(
        [
            Key(
                "domains",
                DOMAINS,
                "Agon immediately approves a team if its creator has a verified email address in one of these domains.",
            )
        ],
        dict[str, Any],
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that new teams answer.

    If there are `choices`, the answer must be one of them. Otherwise, any text is allowed.
    """

    key: str = declare(SLUG, "Short name that identifies the answer in exports.")
    label: str = declare(TEXT, "Text of the question.")
    required: bool = declare(FLAG, "Whether teams must answer the question.", default=False)
    choices: tuple[str, ...] = declare(
        many(WORD, each_once=True, most=limits.CHOICES),
        "Allowed answers. If omitted, any text is allowed.",
        default=(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRules:
    name: str = declare(
        REGULAR_EXPRESSION,
        "Regular expression that the entire team name must match, without flags, named groups or anchors.",
    )
    approval: Literal["automatic", "manual", "domains"] = declare(
        APPROVAL,
        "Whether new teams are approved automatically or by you. With `{domains: [uni.example]}`, a team is "
        "approved automatically if its creator has a verified email address in one of these domains. You approve "
        "all other teams.",
        default="automatic",
    )
    domains: tuple[str, ...] = ()  # for approval by domains
    questions: tuple[Question, ...] = declare(
        many(part(Question), most=limits.QUESTIONS), "Questions that people answer when they create a team.", default=()
    )
    closes_with: str | None = declare(
        SLUG, "Slug of a phase. Once this phase opens, people can no longer create, join or leave teams.", default=None
    )
    max_members: int | None = declare(
        whole(least=1),
        "Maximum number of members in a team. If omitted, there is no limit. With 1, each team consists of a "
        "single account.",
        default=None,
    )

    @property
    def name_in_words(self) -> str:
        """Describe the rule for team names in words, or as a regular expression if it is unusual."""
        simple = _SIMPLE_RULE.fullmatch(self.name)
        if simple is None or (simple["ranges"] and len({simple["ranges"][at] for at in (0, 3, 6)}) < 3):
            return f"text that matches the regular expression {self.name}"
        length = f"{simple['least']} to {simple['most']} characters"
        if simple["ranges"] is None:
            return length
        *others, last = ["digits", *dict.fromkeys(simple["others"])]
        return f"{length}: {', '.join(['letters (A–Z, a–z)', *others])} and {last}"


def finish_team(_value: Value, values: Values) -> None:
    if isinstance(values["approval"], dict):
        values |= {"approval": "domains", "domains": values["approval"]["domains"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The terms that people sign before downloading data. Everyone must sign each new version."""

    version: str = declare(
        limited(WORD, 40),
        "Version of the agreement. If you change the text, set a new version. Everyone must then sign the "
        "agreement again.",
    )
    file: Path = declare(FILE, "Path to a Markdown file with the text of the agreement.")
