"""docs/problem-codes.md, from `python -m scoring.reports.messages.table > docs/problem-codes.md`."""

import re

from scoring.reports.messages import LANGUAGES, sentence
from scoring.reports.messages.en import MESSAGES

INTRODUCTION = """# Codes of problems

Every problem of a run, an upload or a definition has a code that never changes its meaning, and a sentence in English,
Spanish and Portuguese (`agon check --lang es`). What a report fills in is in italics: `found`, `expected`, `places`
(the first twenty of them, with `--all` every one, and how many more there are). The table is generated from the code.
"""


def as_markdown() -> str:
    """The table, one row per code in the order of checks."""
    rows = [INTRODUCTION, f"| code | {' | '.join(LANGUAGES)} |", f"| --- |{' --- |' * len(LANGUAGES)}"]
    for code in MESSAGES:
        sentences = [_cell(sentence(code, language)) for language in LANGUAGES]
        rows += [f"| `{code}` | {' | '.join(sentences)} |"]
    return "\n".join(rows) + "\n"


def _cell(sentence: str) -> str:
    return re.sub(r"\{(\w+)(![a-z])?\}", r"*\1*", sentence).replace("|", r"\|")


if __name__ == "__main__":
    print(as_markdown(), end="")  # noqa: T201
