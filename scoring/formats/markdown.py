"""Tables drawn with vertical bars and hyphens, as in Markdown and as `to_markdown` of pandas writes them."""

import re

from scoring.formats.delimited import SEPARATORS
from scoring.formats.reading import Reading, is_too_much

CELL_END = "\x01"  # the separator in the text that is read on: no other character that may be in a cell
HEAD_LINES = 3  # lines in which the first row of hyphens must be
LONGEST_HEAD = 10_000  # characters of these lines
_BAR = re.compile(r"(?<!\\)\|")


def without_markdown(text: str, separator: str, reading: Reading) -> tuple[str, str] | None:
    """Return the cells of a drawn table, and the separator between them. Return other text with its own separator.

    Drawn tables are an error. Lines keep their numbers: rows of hyphens become blank lines. If there are far too many
    cells, report that and return None.
    """
    head = text[:LONGEST_HEAD].lstrip("\n").split("\n", HEAD_LINES)[:HEAD_LINES]
    rules = {line.strip() for line in head if _is_rule(line)}
    rows = [line for line in head if not _is_rule(line)]
    is_drawn = bool(rows) and _BAR.search(rows[0]) if rules else separator != "|" and all(map(_is_framed, rows))
    if not is_drawn or not rows:
        return text, separator
    if is_too_much(text, "|", reading):
        return None
    number = len(text) - len(text.lstrip("\n")) + 1
    reading.report.error("markdown-table", line=number, expected=SEPARATORS.get(separator, separator))
    lines = text.split("\n")
    return "\n".join("" if line.strip() in rules else _cells(line) for line in lines), CELL_END


def _is_rule(line: str) -> bool:
    return ("-" in line or "=" in line) and ("|" in line or "+" in line) and not line.strip(" \t|+-:=")


def _is_framed(line: str) -> bool:
    line = line.strip()
    return len(_BAR.findall(line)) > 2 and line.startswith("|") and line.endswith("|")


def _cells(line: str) -> str:
    line = line.strip()
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    cells = _BAR.split(line.removeprefix("|"))
    return CELL_END.join(cell.strip().replace("\\|", "|") for cell in cells)
