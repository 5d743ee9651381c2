"""Phrases that are not used in comments and docstrings. Each has a plain alternative."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.test_words import tracked_texts

PHRASES = {  # regular expression → what to say instead
    r"\be\.g\.": "such as",
    r"\bof (ours|theirs)\b|\bour side\b": "internal, of the portal",
    r"\b(is|are) to be\b": "must be, can be",
    r"\bin vain\b|\bcomes? to nothing\b": "without effect",
    r"\blikeness\b": "similarity",
    r"\banother form\b": "a different format",
    r"(^|\. )(Returns|Yields) ": "Return, Yield",
    r"(^|\. )Raises `?[A-Z]": "a section `Raises:`",
}
_ANY = re.compile("|".join(f"(?:{phrase})" for phrase in PHRASES), re.MULTILINE)


def commented(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each docstring, and of each line with a comment."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None:
                yield node.body[0].lineno, " ".join(text.split())
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: ")


def found_phrases(source: str) -> list[str]:
    """Return where comments and docstrings use one of PHRASES, and what to say instead."""
    return [
        f"{line}: {text} (say: {instead})"
        for line, text in commented(source)
        for phrase, instead in PHRASES.items()
        if re.search(phrase, text)
    ]


def test_no_comment_uses_these_phrases() -> None:
    found = [
        f"{name}:{line}"
        for name, text in tracked_texts()
        if name.endswith(".py") and name != "tests/test_comments.py" and _ANY.search(text)
        for line in found_phrases(text)
    ]
    assert "\n".join(found) == ""


@pytest.mark.parametrize(
    "source",
    [
        '"""An error of ours."""',
        'def f():\n    """Set it. Raises OSError if that fails."""',
        "x = 1  # a number, e.g. of runs",
    ],
)
def test_a_phrase_is_found_in_docstrings_and_comments(source: str) -> None:
    assert len(found_phrases(source)) == 1


def test_other_text_may_use_any_phrase() -> None:
    assert found_phrases('x = "e.g. # of ours"\n"""Runs."""\n') == []
