"""Reads what a definition says about teams: names, approval, questions, and when they close."""

import re
from collections.abc import Callable
from typing import Literal

from scoring.definition import Question, TeamRules
from scoring.definition.yaml_values import Value, one_of


def read_team(value: Value) -> TeamRules:
    """The key `team` of task.yaml."""
    keys = value.keys()
    team = TeamRules(
        name=keys.need("name", _regular_expression, ""),
        approval=keys.read("approval", _approval, "automatic"),
        domains=keys.read("approval", _domains, ()),
        questions=keys.read("questions", _questions, ()),
        closes_with=keys.read("closes_with", Value.slug, None),
    )
    keys.close()
    return team


def _approval(value: Value) -> Literal["automatic", "manual", "domains"]:
    """`automatic`, `manual`, or a mapping with the mail domains whose people need no approval."""
    if not value.is_scalar:
        return "domains"
    read: Callable[[Value], Literal["automatic", "manual"]] = one_of("automatic", "manual")
    return read(value)


def _domains(value: Value) -> tuple[str, ...]:
    if value.is_scalar:
        return ()
    keys = value.keys()
    domains = keys.need("domains", Value.values, [])
    keys.close()
    return tuple(entry.matching(r"[a-z0-9-]+(\.[a-z0-9-]+)+", "a mail domain, as uni.example") for entry in domains)


def _questions(value: Value) -> tuple[Question, ...]:
    return tuple(_question(entry) for entry in value.values())


def _question(value: Value) -> Question:
    keys = value.keys()
    question = Question(
        key=keys.need("key", Value.slug, ""),
        label=keys.need("label", Value.text, ""),
        required=keys.read("required", Value.flag, False),
        choices=keys.read("choices", Value.texts, ()),
    )
    keys.close()
    return question


def _regular_expression(value: Value) -> str:
    text = value.text()
    try:
        re.compile(text)
    except re.error as error:
        value.wrong(f"a regular expression ({error})")
        return ""
    return text
