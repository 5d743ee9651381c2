"""Generate docs/problem-codes.md: `python -m scoring.reports.messages.table > docs/problem-codes.md`."""

import re

from scoring.reports.messages import LANGUAGES, sentence
from scoring.reports.messages.en import MESSAGES

INTRODUCTION = """# Problem codes

Every problem in a run, an upload or a definition has a code whose meaning never changes, and a message in English,
Spanish and Portuguese (`agon check --lang es`). Values that a report fills in are in italics: `found`, `expected` and
`places` (the first twenty places and the number of others, or with `--all`, every place). The table is generated from
the code.
"""


def as_markdown() -> str:
    """Return the table with one row per code, in the order of the checks."""
    rows = [INTRODUCTION, f"| code | {' | '.join(LANGUAGES)} |", f"| --- |{' --- |' * len(LANGUAGES)}"]
    for code in MESSAGES:
        sentences = [_cell(sentence(code, language)) for language in LANGUAGES]
        rows += [f"| `{code}` | {' | '.join(sentences)} |"]
    return "\n".join(rows) + "\n"


def _cell(sentence: str) -> str:
    return re.sub(r"\{(\w+)(![a-z])?\}", r"*\1*", sentence).replace("|", r"\|")


if __name__ == "__main__":
    print(as_markdown(), end="")  # noqa: T201
