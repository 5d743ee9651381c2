"""Thirty payloads in every text field, file name and text of a task's folder have no effect on any page."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import models

from portal.markdown import render
from portal.models import FailedAttempt, OutgoingMail, Run, Submission, Team
from scoring.reports.problems import Problem
from tests.portal.world import EVALUATION, work_off
from tests.security.conftest import World
from tests.security.pages import Answer, answers
from tests.security.payloads import MARKDOWN, PAYLOADS
from tests.security.test_pages import TOKEN, page_problems, parsed

HOSTILE = " ".join(PAYLOADS)
# Columns whose values are chosen by the portal or its settings, not by people.
CHOSEN = re.compile(
    "slug|split|.*sha256|scorer|password|data_password|invitation_code|idempotency_key|day|lane|code|occasion|"
    "time_zone|language|country|entry"
)
NEVER = {"base", "embed", "iframe", "math", "object"}
VALUE = r'\b{}: ("[^"]*"|[^,}}\n]+)'


@pytest.fixture
def gated_folder(gated_folder: Path) -> Path:
    """A task folder whose texts are also hostile."""
    path = gated_folder / "task.yaml"
    text = path.read_text()
    for key in ("label", "licence"):
        text = re.sub(VALUE.format(key), lambda _, key=key: f"{key}: {json.dumps(HOSTILE)}", text)
    short = cycle(PAYLOADS)
    for key in ("title", "subtitle", "venue"):  # limited to 120 characters
        text = re.sub(VALUE.format(key), lambda _, key=key: f"{key}: {json.dumps(next(short))}", text)
    path.write_text(text)
    for page in (gated_folder / "pages").glob("*.md"):
        page.write_text("# A title\n\n" + "\n\n".join(PAYLOADS + MARKDOWN))
    return gated_folder


def poison() -> Iterator[str]:
    """Write the payloads directly into all text columns and yield the columns' names."""
    for model in apps.get_app_config("portal").get_models():
        for field in model._meta.concrete_fields:
            is_text = isinstance(field, models.CharField | models.TextField) and not field.choices
            if is_text and not field.primary_key and not CHOSEN.fullmatch(field.name):
                for row in model._default_manager.all():
                    model._default_manager.filter(pk=row.pk).update(**{field.name: f"{HOSTILE}{row.pk}"})
                yield f"{model.__name__}.{field.name}"


def problem() -> dict[str, Any]:
    return Problem("error", "unknown-id", HOSTILE, HOSTILE, 1, HOSTILE, HOSTILE, HOSTILE, HOSTILE).as_dict()


def test_no_page_runs_a_payload(world: World) -> None:
    assert len(PAYLOADS) == 30
    work_off(EVALUATION)
    poisoned = set(poison())
    assert {"User.name", "Team.name", "Submission.file_name", "Run.description", "Run.link", "Phase.title"} <= poisoned
    Submission.objects.update(problems=[problem()])
    Run.objects.update(problems=[problem()])
    title = re.sub(r"[{}\\]", "", HOSTILE)  # impossible in stored entries: see tests/portal/test_papers.py
    Team.objects.update(
        answers={"use": HOSTILE, "kind": HOSTILE},
        bibtex=f"@misc{{key, author = {{A}}, title = {{{title}}}, year = {{2024}}}}",
    )
    OutgoingMail.objects.update(details={"reason": HOSTILE})
    problems, accepted = [], 0
    for answer in answers(world):
        if answer.is_html:
            problems += [*page_problems(answer), *foreign(answer)]
            accepted += "window.xss" in answer.text
    assert "\n".join(problems) == ""
    assert accepted > 50  # pages that show the payloads as text


def foreign(answer: Answer) -> list[str]:
    return [f"{answer.name}: {problem}" for problem in _foreign(TOKEN.sub("", answer.text))]


@lru_cache(None)  # roles often get the same page
def _foreign(text: str) -> list[str]:
    """Return forbidden elements, and elements with a protocol-relative URL.

    A meta refresh is allowed only if it reloads the same page.
    """
    found = []
    for element in parsed(text)[1].iter():
        addresses = [element.get(name, "") for name in ("href", "src", "action")]
        reloads = element.get("http-equiv") == "refresh" and element.get("content", "").isdecimal()
        name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""  # "" is a comment
        is_active = name in NEVER or (element.get("http-equiv") and not reloads)
        if is_active or any(to.startswith("//") for to in addresses):
            found.append(f"<{name} {element.items()}>")
    return found


@pytest.mark.parametrize("text", PAYLOADS + MARKDOWN)
def test_it_has_no_effect_in_markdown(text: str) -> None:
    html = str(render(text)).lower()
    assert re.search(r"<(script|style|img|svg|iframe|object|base|meta|form|input|body|details|math)\b", html) is None
    assert re.search(r'<[^>]*\b(on\w+\s*=|href="(javascript|data):)', html) is None


def quoted(name: str) -> str:
    """Quote a file name as browsers do."""
    return name.replace('"', "%22")


def test_a_file_name_is_only_words(world: World) -> None:
    client = world.client("captain")
    for name in PAYLOADS:
        FailedAttempt.objects.all().delete()  # otherwise, the person's limit would be exceeded
        said = "".join(
            f"--b\r\nContent-Disposition: form-data; {field}\r\n\r\n{body}\r\n"
            for field, body in (('name="phase"', "post"), (f'name="file"; filename="{quoted(name)}"', "[]"))
        )
        answer = client.generic("POST", "/tasks/gated/submit/", f"{said}--b--\r\n", "multipart/form-data; boundary=b")
        assert answer.status_code in (403, 422), name
        assert [*page_problems(Answer(name, answer)), *foreign(Answer(name, answer))] == []
